"""One document as it was found: a JSON object, or a log that is text, with its place in the source.

Parsed on demand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Self

from ingest.sources.decoding import Readable
from ingest.sources.files import Unreadable
from schemas.errors import RejectReason
from schemas.marks import RESULT_START
from schemas.numbers import WrittenFloat

EXCERPT_CHARACTERS = 300

RESULT_BYTES = RESULT_START.encode()
_LONGEST_TEXT_LINE = 1 << 20
_RECORD_END = re.compile(rb'"uuid":"[0-9a-f-]{36}"\}$')


def parse(text: str, parse_float: Callable[[str], Any] | None = None) -> Any:
    """Return the JSON value of a text; a string may hold a line break.

    `parse_float`: makes a number of its digits. Raises ValueError.
    """
    try:
        return json.loads(text, parse_float=parse_float, parse_constant=parse_float, strict=False)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deep") from error


@dataclass
class Document:
    """One JSON object. `position` says where in the source it starts, in words.

    `content`: its text, or the undecoded bytes, as most records go from the file through the
    validator to the store. `logged_at`: the time that the log wrote in front of it on its line.
    `is_refused`: it became a reject, so a run that ends with it counts as one more document.
    """

    ordinal: int
    position: str
    content: str | bytes
    logged_at: datetime | None = None
    is_refused: bool = False

    @cached_property
    def text(self) -> str:
        """The object as text, with invalid UTF-8 replaced."""
        return (
            self.content
            if isinstance(self.content, str)
            else self.content.decode("utf-8", "replace")
        )

    def starts_with(self, beginning: str) -> bool:
        """Return whether the object begins like this, without decoding it."""
        return (
            self.content.startswith(beginning)
            if isinstance(self.content, str)
            else self.content.startswith(beginning.encode())
        )

    @property
    def is_result(self) -> bool:
        """Whether the object begins as a result record does in newer versions."""
        content = self.content
        return (
            content.startswith(RESULT_START)
            if isinstance(content, str)
            else content.startswith(RESULT_BYTES)
        )

    def contains(self, text: str) -> bool:
        """Return whether the object contains a text, without decoding it; searched from the end."""
        found = (
            self.content.rfind(text)
            if isinstance(self.content, str)
            else self.content.rfind(text.encode())
        )
        return found >= 0

    @cached_property
    def value(self) -> Any:
        """Parsed JSON, repaired if log text was injected. Raises ValueError for invalid JSON."""
        return parse(self.text)

    @cached_property
    def written(self) -> Any:
        """The value with numbers that keep all their digits (`WrittenFloat`).

        Plain `value` if the text alone is no JSON.
        """
        try:
            return parse(self.text, WrittenFloat)
        except ValueError:
            return self.value

    def parsed_as(self, value: Any) -> Document:
        """Return the document with its parsed value, to save parsing it again."""
        self.__dict__["value"] = value
        return self

    def beginning(self) -> Document:
        """Return the document truncated to the text that a reject keeps."""
        return Document(
            self.ordinal, self.position, self.content[: 4 * EXCERPT_CHARACTERS + 4]
        )  # UTF-8 has up to 4 bytes a character

    def moved(self, places: int) -> Self:
        """Return the document with its number increased."""
        if not places:
            return self
        other = copy(self)
        other.ordinal += places
        return other

    def refused(self, reason: RejectReason, detail: str) -> Unreadable:
        """Return a reject of the document, which is JSON but no run."""
        self.is_refused = True
        return Unreadable(self.ordinal, self.position, reason, detail, excerpt(self.text))


@dataclass
class TextDocument(Document):
    """A log that is no JSON. `content` is its beginning; `lines` reads it to its end, once."""

    lines: Iterator[str] = field(default_factory=lambda: iter(()))

    @property
    def value(self) -> Any:
        """An empty object, since a text log has no fields."""
        return {}

    def beginning(self) -> TextDocument:
        """Return the document without its lines."""
        return TextDocument(self.ordinal, self.position, self.content[: 4 * EXCERPT_CHARACTERS + 4])


def text_lines(stream: Readable) -> Iterator[str]:
    """Yield the lines of a stream, each up to a megabyte, with at most that much in memory.

    Raises Broken.
    """
    rest = b""
    while block := stream.read(1 << 20):
        *lines, rest = (rest + block).split(b"\n")
        rest = rest[:_LONGEST_TEXT_LINE]
        for line in lines:
            yield line[:_LONGEST_TEXT_LINE].decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")


@dataclass
class Events:
    """Documents that are events on consecutive lines, the first on line `line`.

    `end`: the byte at which the last line ends. `ordinal`: the number of the first document.
    `place_of`: (line, byte) → position. A document of its own is made when it is needed.
    """

    line: int
    starts: list[int]
    texts: list[bytes]
    values: list[dict[str, Any]]
    end: int
    ordinal: int = 0
    place_of: Callable[[int, int], str] = "line {}, byte {}".format

    def document(self, place: int) -> Document:
        """Return one of the events as a document."""
        start = self.starts[place]
        position = self.place_of(self.line + place, start)
        document = Document(self.ordinal + place, position, self.texts[place])
        return document.parsed_as(self.values[place])


def excerpt(text: str) -> str:
    """Return the beginning of a text, for a reject."""
    return text if len(text) <= EXCERPT_CHARACTERS else text[: EXCERPT_CHARACTERS - 1] + "…"


def is_whole_record(line: bytes) -> bool:
    """Return whether a line is one result record, judged by beginning and end without parsing."""
    if (
        not line.startswith(RESULT_BYTES)
        or not line.endswith(b"}")
        or line.find(b'{"type":', 1) >= 0
    ):
        return False
    return _RECORD_END.match(line, max(0, len(line) - 46)) is not None or line.count(
        b"{"
    ) == line.count(b"}")
