"""The protocol of a measuring tool: which files are its own, and what they measured."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ingest.context.small_files import json_object
from ingest.measurements.bounds import MOST_JSON_VALUES, MOST_VALUES, TooManyValues
from ingest.measurements.measured import Measured

_QUOTED = re.compile(r"""^[ \t]*+(?:```|~~~|\.\. code)|\"{3}|'{3}""", re.MULTILINE)
_BLANKS = re.compile(r"\s*+")
_LINE = re.compile(r"([^\r\n]*+)(?:\r\n?+|\n)|[^\r\n]++")


@dataclass(frozen=True)
class MeasuredFile:
    """A file that may hold measurements.

    `name`: path as the source is called; folders may say variant, agent or commit. `neighbour`: where another file lies, by its path from
    the folder of this one; None where there is none.
    """

    name: str
    text: str
    neighbour: Callable[[str], Path | None] = lambda _: None

    @property
    def documents(self) -> list[Any]:
        """Its JSON objects or arrays: the file itself, or several one after another (JSONL, appended objects). Empty for any other text.

        NaN and Infinity are read as Python's floats, since several tools write them. Raises TooManyValues.
        """
        if isinstance(self._parsed, TooManyValues):
            raise self._parsed
        return self._parsed

    @cached_property
    def _parsed(self) -> list[Any] | TooManyValues:
        found: list[Any] = []
        decoder, text = json.JSONDecoder(), self.text.lstrip("\ufeff")
        if not self.is_json:
            return []
        if sum(map(text.count, "[{,")) > MOST_JSON_VALUES:
            return TooManyValues(f"it may hold more than {MOST_JSON_VALUES:,} values")
        at = _end_of_blanks(text, 0)
        try:
            while at < len(text):
                if len(found) == MOST_VALUES:
                    return TooManyValues(f"it holds more than {MOST_VALUES:,} JSON documents")
                value, at = decoder.raw_decode(text, at)
                at = _end_of_blanks(text, at)
                found.append(value)
        except (ValueError, RecursionError):
            return []
        return found

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins like a JSON object or array."""
        return self.text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")

    @property
    def lines(self) -> Iterator[str]:
        """Its lines, one at a time: a list of millions takes gigabytes."""
        return lines_of(self.text)

    @cached_property
    def objects(self) -> list[dict[str, Any]]:
        """Its JSON values where all of them are objects, else none."""
        return self.documents if all(isinstance(value, dict) for value in self.documents) else []

    @cached_property
    def object(self) -> dict[str, Any]:
        """Its only JSON value where that is an object, else an empty one."""
        return self.objects[0] if len(self.objects) == 1 else {}

    @cached_property
    def is_page(self) -> bool:
        """Whether it is a page or source code, which may quote the output of a tool: it has a block of code, or a text in three quotes."""
        return _QUOTED.search(self.text) is not None

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """The names of its folders, the outermost first; of a member of an archive with those inside."""
        return tuple(self.name.replace("!", "/").split("/")[:-1])

    @cached_property
    def file_name(self) -> str:
        """Its name without folders."""
        return self.name.replace("!", "/").rsplit("/", 1)[-1]

    @cached_property
    def _named_most(self) -> dict[tuple[str, ...], str | None]:
        return {}

    def named_most(self, words: tuple[str, ...]) -> str | None:
        """The word that its text has most often, None where it has none of them. The text is searched once, whoever asks how often."""
        if words not in self._named_most:
            most = max(words, key=self.text.count)
            self._named_most[words] = most if most in self.text else None
        return self._named_most[words]

    def beside(self, name: str) -> Mapping[str, Any]:
        """The object in another JSON file, `name` from the folder of this one: `sample.json`, `../benchmarks.json`.

        Empty where there is none, and where it has over 64 MB. Raises nothing.
        """
        place = self.neighbour(name)
        return _object_in(place) if place else {}


def lines_of(text: str) -> Iterator[str]:
    """The lines of a text without their ends, which are those of any system: what a terminal would overwrite is a line of its own."""
    return (found[1] if found[1] is not None else found[0] for found in _LINE.finditer(text))


def _end_of_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _object_in(path: Path) -> Mapping[str, Any]:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return {}
    return _object_as_of(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _object_as_of(path: Path, _changed_ns: int, _size: int) -> Mapping[str, Any]:
    """Kept for the next files: thousands of results may share one list of their benchmarks."""
    return json_object(path)


@dataclass(frozen=True)
class Tool:
    """A measuring tool.

    `name`: `measurements.format`. `marks`: words of which a file of this tool has all within its first megabyte; cheap, so that most
    files are never parsed. `recognises`: whether the file is the tool's own, by content. `read`: its values; raises
    `ValueError` with a reason for people where the file is the tool's own and cannot be read. `read` sees only files it recognises.
    `marks_suffice`: whether broken JSON with all marks is surely a file of this tool, and is refused as one; else it is passed over.
    """

    name: str
    marks: tuple[str, ...]
    recognises: Callable[[MeasuredFile], bool]
    read: Callable[[MeasuredFile], Iterable[Measured]]
    marks_suffice: bool = True
