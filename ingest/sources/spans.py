"""What a scanner finds: single objects, and events that are whole lines, many at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from schemas.errors import RejectReason


class Span(NamedTuple):
    """An object from byte `start` to `end` of the stream.

    `value` is None where it is broken (`reason` and `error` say how, `text` is its beginning), and where it is a result record that is
    a whole line (`line_bytes`), which is neither decoded nor parsed here: its reader validates it.
    """

    start: int
    end: int
    line: int
    text: str
    value: Any = None
    reason: RejectReason | None = None
    error: str = ""
    line_bytes: bytes = b""
    line_before: bytes = b""
    """The last bytes of the text in front of it on its line: a log prefix, mostly."""
    has_marks: bool = False
    """Of a broken object: whether it has marks of a record or of an agent's event."""


@dataclass(frozen=True)
class EventLines:
    """Events that are whole lines, one behind the other, from the line of that number on. Fields as in `Events`.

    `starts`: the byte of the stream of each; `end`: where the last line ends.
    """

    line: int
    count: int
    numbers: list[int]
    starts: list[int]
    texts: list[bytes]
    values: list[dict[str, Any]]
    taken: tuple[int, bytes] | None
    end: int

    def spans(self) -> Iterator[Span]:
        """Each event by itself."""
        for number, start, text, value in zip(self.numbers, self.starts, self.texts, self.values, strict=True):
            yield Span(start, start + len(text), self.line + number, "", value, line_bytes=text)
