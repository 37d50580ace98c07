"""The protocol of a measuring tool: which files are its own, and what they measured."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ingest.context.small_files import json_object
from ingest.measurements.measured import Measured

_QUOTED = re.compile(r"""^[ \t]*(?:```|~~~|\.\. code)|\"{3}|'{3}""", re.MULTILINE)


@dataclass(frozen=True)
class MeasuredFile:
    """A file that may hold measurements.

    `name`: path as the source is called; folders may say variant, agent or commit. `neighbour`: where another file lies, by its path from
    the folder of this one; None where there is none.
    """

    name: str
    text: str
    neighbour: Callable[[str], Path | None] = lambda _: None

    @cached_property
    def documents(self) -> list[Any]:
        """Its JSON values: the file itself, or several one after another (JSONL, appended objects). Empty for text that is no JSON.

        NaN and Infinity are read as Python's floats, since several tools write them.
        """
        found, at, decoder = [], 0, json.JSONDecoder()
        text = self.text.lstrip("\ufeff")
        try:
            while at < len(text):
                if text[at].isspace():
                    at += 1
                    continue
                value, at = decoder.raw_decode(text, at)
                found.append(value)
        except (ValueError, RecursionError):
            return []
        return found

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

    def beside(self, name: str) -> Mapping[str, Any]:
        """The object in another JSON file, `name` from the folder of this one: `sample.json`, `../benchmarks.json`.

        Empty where there is none, and where it has over 64 MB. Raises nothing.
        """
        place = self.neighbour(name)
        return _object_in(place) if place else {}


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
