"""One document as it was found: a JSON object, or a log that is text, with its place in the source; parsed on demand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol, Self

from ingest.sources.broken_json import parse
from ingest.sources.decoding import Readable
from ingest.sources.files import Unreadable
from schemas.errors import RejectReason
from schemas.marks import RESULT_START
from schemas.numbers import WrittenFloat

EXCERPT_CHARACTERS = 300
"""The most that a reject keeps of the text it is about."""

RESULT_BYTES = RESULT_START.encode()
_LONGEST_TEXT_LINE = 1 << 20
_RECORD_END = re.compile(rb'"uuid":"[0-9a-f-]{36}"\}$')
_RECORD_END_BYTES = 46


@dataclass
class Document:
    """One JSON object. `position` says where in the source it starts, in words.

    `content`: its text, or the undecoded bytes, as most records go from the file through the validator to the store. `logged_at`: the time
    that the log wrote in front of it on its line. `is_refused`: it became a reject; a run that ends with it is then a document more.
    """

    ordinal: int
    position: str
    content: str | bytes
    logged_at: datetime | None = None
    is_refused: bool = False

    @cached_property
    def text(self) -> str:
        """The object as text; bytes that are no UTF-8 are replaced."""
        return self.content if isinstance(self.content, str) else self.content.decode("utf-8", "replace")

    def starts_with(self, beginning: str) -> bool:
        """Whether the object begins like this, without decoding it."""
        return self.content.startswith(beginning) if isinstance(self.content, str) else self.content.startswith(beginning.encode())

    @property
    def is_result(self) -> bool:
        """Whether the object begins as a result record does in newer versions."""
        content = self.content
        return content.startswith(RESULT_START) if isinstance(content, str) else content.startswith(RESULT_BYTES)

    def contains(self, text: str) -> bool:
        """Whether a text is in the object, without decoding it; searched from the end."""
        found = self.content.rfind(text) if isinstance(self.content, str) else self.content.rfind(text.encode())
        return found >= 0

    @cached_property
    def value(self) -> Any:
        """The parsed JSON, repaired if log text was injected. Raises ValueError if the text is no JSON."""
        return parse(self.text)

    @cached_property
    def written(self) -> Any:
        """The same value with numbers that keep all their digits (`WrittenFloat`). If the text alone is no JSON, as `value`."""
        try:
            return parse(self.text, WrittenFloat)
        except ValueError:
            return self.value

    def parsed_as(self, value: Any) -> Document:
        """The same document with its parsed value, so that it is not parsed again."""
        self.__dict__["value"] = value
        return self

    def beginning(self) -> Document:
        """The same place in the source with no more text than a reject keeps."""
        return Document(self.ordinal, self.position, self.content[: 4 * EXCERPT_CHARACTERS + 4])  # UTF-8 has up to 4 bytes a character

    def moved(self, places: int) -> Self:
        """The same document with a higher number."""
        if not places:
            return self
        other = copy(self)
        other.ordinal += places
        return other

    def refused(self, reason: RejectReason, detail: str) -> Unreadable:
        """A reject of the document, which is JSON but no run."""
        self.is_refused = True
        return Unreadable(self.ordinal, self.position, reason, detail, excerpt(self.text))


@dataclass
class TextDocument(Document):
    """A log that is no JSON. `content` is its beginning; `lines` reads it to its end, once."""

    lines: Iterator[str] = field(default_factory=lambda: iter(()))

    @property
    def value(self) -> Any:
        """No JSON: an object without fields."""
        return {}

    def beginning(self) -> TextDocument:
        """The same without its lines."""
        return TextDocument(self.ordinal, self.position, self.content[: 4 * EXCERPT_CHARACTERS + 4])


def text_lines(stream: Readable) -> Iterator[str]:
    """The lines of a stream, each up to a megabyte, without more than that in memory. Raises Broken."""
    rest = b""
    while block := stream.read(1 << 20):
        *lines, rest = (rest + block).split(b"\n")
        rest = rest[:_LONGEST_TEXT_LINE]
        for line in lines:
            yield line[:_LONGEST_TEXT_LINE].decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")


class TakesLines(Protocol):
    """Takes lines of a source as bytes that need not be parsed, since so little of them is needed."""

    def look_at(self, data: bytes) -> None:
        """The bytes whose lines come next."""

    def takes(self, start: int, end: int) -> bool:
        """Take the line from `start` to `end` of these bytes, without its line feed. False, and nothing changed: it must be parsed."""


@dataclass
class Events:
    """Documents that are events on lines of their own, one behind the other, the first on the line numbered `line`.

    `count`: all of them; `numbers`: those that were parsed, counted from 0, with their places, texts and values. The others were taken by
    a `TakesLines`; `taken`: place and text of the last one, if it was taken. `end`: the byte at which the last line ends.
    `ordinal`: the number of the first document. `place_of`: (line, byte) → position. A document of its own is made when it is needed.
    """

    line: int
    count: int
    numbers: Sequence[int]
    starts: list[int]
    texts: list[bytes]
    values: list[dict[str, Any]]
    taken: tuple[int, bytes] | None
    end: int
    ordinal: int = 0
    place_of: Callable[[int, int], str] = "line {}, byte {}".format

    def document(self, place: int) -> Document:
        """One of the events that were parsed."""
        return self._document(self.numbers[place], self.starts[place], self.texts[place]).parsed_as(self.values[place])

    def last_taken(self) -> Document | None:
        """The last document, if it was taken."""
        return self._document(self.count - 1, *self.taken) if self.taken else None

    def _document(self, number: int, start: int, text: bytes) -> Document:
        return Document(self.ordinal + number, self.place_of(self.line + number, start), text)


def excerpt(text: str) -> str:
    """The beginning of a text, for a reject."""
    return text if len(text) <= EXCERPT_CHARACTERS else text[: EXCERPT_CHARACTERS - 1] + "…"


def is_whole_record(line: bytes) -> bool:
    """Whether a line is one result record, judged by how it begins and ends, without parsing it."""
    if not line.startswith(RESULT_BYTES) or not line.endswith(b"}") or line.find(b'{"type":', 1) >= 0:
        return False
    return _RECORD_END.match(line, max(0, len(line) - _RECORD_END_BYTES)) is not None or line.count(b"{") == line.count(b"}")
