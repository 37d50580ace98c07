"""The protocol of a measuring tool, its input file, and the limits per file."""

from __future__ import annotations

import csv
import json
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ingest.context.small_files import json_object
from ingest.literals import LiteralSearch
from ingest.measurements.measured import MOST_VALUES, Judgement, Measured, TooManyValues
from ingest.measurements.words import snake_case
from schemas.errors import RejectReason
from schemas.rows.tables import WrongValue

MOST_JSON_VALUES = 1 << 22
"""Maximum number of values in the JSON of one file: so many take less than half a gigabyte."""

_LONGEST_HEADER = 1 << 20
_HEADER = re.compile(r"[\ufeff\r\n]*+((?![ \t]*+[{[])[^\r\n]++)[\r\n]")
"""The first line, unless it begins like JSON."""

_QUOTED = re.compile(r"""^[ \t]*+(?:```|~~~|\.\. code)|\"{3}|'{3}""", re.MULTILINE)
_BLANKS = re.compile(r"\s*+")
_LINE = re.compile(r"([^\r\n]*+)(?:\r\n?+|\n)|[^\r\n]++")

csv.field_size_limit(sys.maxsize)  # a cell may hold a log: the file as a whole is bounded


class TableLine(NamedTuple):
    """A row of a table. `number`: its last line in the file, from 1.

    `cells`: the non-empty ones, by column name.
    """

    number: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class MeasuredFile:
    """A file that may contain measurements.

    `name`: the path of the source; its folders may name variant, agent or commit. `neighbour`:
    finds another file by its path relative to the folder of this one, or returns None. `nearby`:
    returns the files for a pattern of such paths, such as `logs/*/journal.json`. `value`: its text
    as JSON, if it was parsed before.
    """

    name: str
    text: str
    neighbour: Callable[[str], Path | None] = lambda _: None
    nearby: Callable[[str], Sequence[Path]] = lambda _: ()
    value: Any = None

    @property
    def documents(self) -> list[Any]:
        """Return its JSON objects or arrays: one, or several one after another (JSONL).

        Empty for any other text. Raises TooManyValues.

        NaN and Infinity are parsed as Python's floats, since several tools write them.
        """
        if isinstance(self._parsed, TooManyValues):
            raise self._parsed
        return self._parsed

    @cached_property
    def _parsed(self) -> list[Any] | TooManyValues:
        if self.value is not None:
            return [self.value]
        found: list[Any] = []
        decoder, text, at = json.JSONDecoder(), self.text.lstrip("\ufeff \t\r\n"), 0
        if not self.is_json:
            return []
        if sum(map(text.count, "[{,")) > MOST_JSON_VALUES:
            return TooManyValues(f"it may hold more than {MOST_JSON_VALUES:,} values")
        try:
            while at < len(text):
                if len(found) == MOST_VALUES:
                    return TooManyValues(f"it holds more than {MOST_VALUES:,} JSON documents")
                value, at = decoder.raw_decode(text, at)
                found.append(value)
                if blanks := _BLANKS.match(text, at):
                    at = blanks.end()
        except (ValueError, RecursionError):
            return []
        return found

    @cached_property
    def is_json(self) -> bool:
        """Return whether it begins like a JSON object or array."""
        return begins_json(self.text)

    @cached_property
    def objects(self) -> list[dict[str, Any]]:
        """Return its JSON values if all of them are objects, else nothing."""
        return self.documents if all(isinstance(value, dict) for value in self.documents) else []

    @cached_property
    def object(self) -> dict[str, Any]:
        """Return its only JSON value if that is an object, else an empty one."""
        return self.objects[0] if len(self.objects) == 1 else {}

    @property
    def lines(self) -> Iterator[str]:
        """Yield its lines one at a time: a list of millions takes gigabytes."""
        return lines_of(self.text)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names in the first line, in snake_case."""
        return columns_of(self.text)

    @property
    def rows(self) -> Iterator[TableLine]:
        """Yield the rows below the header.

        Raises ValueError for a row longer than the header, TooManyValues for too many rows.
        """
        header = _HEADER.match(self.text[:_LONGEST_HEADER])
        if not header:
            return
        names, before = self.columns, self.text.count("\n", 0, header.start(1))
        reader = _reader(self.text[header.start(1) :], header[1])
        for count, cells in enumerate(islice(reader, 1, None)):
            number = before + reader.line_num
            if count == MOST_VALUES:
                raise TooManyValues(f"it has more than {MOST_VALUES:,} lines")
            if any(cells[len(names) :]):
                raise ValueError(
                    f"line {number} has {len(cells)} cells, and the header {len(names)}"
                )
            yield TableLine(
                number,
                {
                    name: cell.strip()
                    for name, cell in zip(names, cells, strict=False)
                    if cell.strip()
                },
            )

    @cached_property
    def is_page(self) -> bool:
        """Return whether it is a page or source code, which may quote a tool's output.

        It has a code block, or a text in three quotes.
        """
        return _QUOTED.search(self.text) is not None

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """Return the names of its folders, outermost first, including those in an archive."""
        return tuple(self.name.replace("!", "/").split("/")[:-1])

    @cached_property
    def file_name(self) -> str:
        """Return its name without folders."""
        return self.name.replace("!", "/").rsplit("/", 1)[-1]

    @cached_property
    def _most_frequent(self) -> dict[tuple[str, ...], str | None]:
        return {}

    def most_frequent(self, words: tuple[str, ...]) -> str | None:
        """Return the most frequent of these words in its text, or None.

        The text is searched once for all calls.
        """
        if words not in self._most_frequent:
            most = max(words, key=self.text.count)
            self._most_frequent[words] = most if most in self.text else None
        return self._most_frequent[words]

    def beside(self, name: str) -> Mapping[str, Any]:
        """Return the object in another JSON file, `name` from the folder of this one.

        `sample.json`, `../benchmarks.json`.

        Empty if there is no such file, or it has over 64 MB. Never raises.
        """
        place = self.neighbour(name)
        try:
            status = place.stat() if place else None
        except (OSError, ValueError):
            return {}
        return _json_object(place, status.st_mtime_ns, status.st_size) if place and status else {}


@lru_cache(maxsize=4)
def _json_object(path: Path, _changed_ns: int, _size: int) -> Mapping[str, Any]:
    """Parse a file; cached, since thousands of results may share one list of their benchmarks."""
    return json_object(path)


def refusal(error: Exception) -> tuple[str, RejectReason]:
    """Return why a file cannot be read: the error's own words for people, else its place."""
    reason = str(error)
    if isinstance(error, MemoryError | TooManyValues):
        return reason or "it takes more memory than there is", RejectReason.TOO_MUCH
    if type(error) not in (ValueError, WrongValue) or not reason:
        [*_, place] = traceback.extract_tb(error.__traceback__)
        where = f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
        reason = f"a value has an unexpected form ({where}: {error})"
    return reason if len(reason) <= 300 else f"{reason[:300]}…", RejectReason.INVALID_RECORD


def begins_json(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a text without their ends, of any system.

    Text that a terminal would overwrite is a line of its own.
    """
    return (found[1] if found[1] is not None else found[0] for found in _LINE.finditer(text))


def columns_of(text: str) -> tuple[str, ...]:
    """Return the names in a table's first line, in snake_case.

    None if that line is too long for a header.
    """
    header = _HEADER.match(text[:_LONGEST_HEADER])
    return tuple(map(snake_case, next(_reader(header[1], header[1])))) if header else ()


def _reader(text: str, header: str) -> Any:
    """Return a reader of rows with any line ends.

    The separator is the most frequent one in the header.
    """
    return csv.reader(
        (f"{line}\n" for line in lines_of(text)),
        delimiter=max(",;\t", key=header.count),
        skipinitialspace=True,
    )


@dataclass(frozen=True)
class Tool:
    """A measuring tool.

    `name`: `measurements.format`. `marks`: words within the first megabyte of every file of this
    tool, the rarest first; cheap, so that most files are never parsed. `recognises`: whether the
    content is the tool's. `read`: the values of a recognised file; raises `ValueError` with a
    reason for people if it cannot be read. `marks_suffice`: broken JSON with all marks is refused
    as a file of this tool, otherwise skipped. `looks`: whether the beginning of a file with the
    marks looks like the tool's, for tools without marks.
    """

    name: str
    marks: tuple[str, ...]
    recognises: Callable[[MeasuredFile], bool]
    read: Callable[[MeasuredFile], Iterable[Measured | Judgement]]
    marks_suffice: bool = True
    looks: Callable[[str], bool] = lambda _: True

    @cached_property
    def is_json(self) -> bool:
        """Return whether its files are JSON: its marks have a name in quotes."""
        return any(mark.startswith('"') for mark in self.marks)

    @property
    def searched(self) -> tuple[str, ...]:
        return self.marks[:1]

    def may_read(self, beginning: str, met: frozenset[str]) -> bool:
        """Return whether a file with this beginning has all of its marks."""
        return (
            met.issuperset(self.marks[:1])
            and all(mark in beginning for mark in self.marks[1:])
            and self.looks(beginning)
        )


class MarkedReader(Protocol):
    """A reader of files without a run: that of a map, a loop's log, a tool's results.

    `searched`: marks, one of which its files have, if it has any. `is_json`: its files are JSON.
    """

    @property
    def searched(self) -> tuple[str, ...]: ...

    @property
    def is_json(self) -> bool: ...

    def may_read(self, beginning: str, met: frozenset[str]) -> bool:
        """Return whether it may read a file with this beginning. `met`: marks in it, of any."""


_Reader = TypeVar("_Reader", bound=MarkedReader)


class MarkedReaders(Generic[_Reader]):
    """Readers in the order in which they are asked.

    A file is searched for the marks of all at once: logs have megabytes, and few marks.
    """

    def __init__(self, readers: Sequence[_Reader]) -> None:
        texts = [reader for reader in readers if not reader.is_json]
        self._of_json = {False: (texts, _search(texts)), True: (readers, _search(readers))}

    def possible(self, beginning: str) -> list[_Reader]:
        """Return the readers that may read a file with this beginning, in order."""
        readers, search = self._of_json[begins_json(beginning)]
        met = search.words_in(beginning)
        return [reader for reader in readers if reader.may_read(beginning, met)]


def _search(readers: Sequence[MarkedReader]) -> LiteralSearch:
    marks = {mark for reader in readers for mark in reader.searched}
    return LiteralSearch(sorted(marks, key=len, reverse=True), leftmost=True)
