"""A big file with one record per line → portions that can be read in parallel."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any, BinaryIO

from ingest.sources.files import Source

BIG_BYTES = 32 << 20
"""A larger file is a task by itself, and read in portions where each of its lines is a record."""

PORTION_BYTES = 8 << 20

_BLOCK = 1 << 20
_BOUNDARY = b"\n{"

_LOOKED_AT = 16
"""Lines read at the beginning of each portion. An event among them shows that the file is a stream, which is read in one piece."""


@dataclass(frozen=True)
class Portion:
    """A part of a file, in bytes: it begins where a line begins."""

    offset: int
    length: int


class PortionStream(io.RawIOBase):
    """The bytes of a portion of a stream that can be positioned."""

    def __init__(self, stream: BinaryIO, portion: Portion) -> None:
        self._stream = stream
        self._left = portion.length
        stream.seek(portion.offset)

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes."""
        data = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data


def portions(source: Source) -> list[Portion]:
    """The portions of a source: several for a big file with one result record per line, else one with all of it.

    A stream is never divided: its events belong to the results behind them.
    """
    size = source.size
    whole = [Portion(0, size)]
    if size <= BIG_BYTES:
        return whole
    with source.open() as stream:
        if not _is_record(stream.readline(_BLOCK)):
            return whole
        offsets = [0]
        while (next_ := _boundary(stream, offsets[-1] + PORTION_BYTES)) is not None:
            offsets.append(next_)
        if any(_holds_event(stream, offset) for offset in offsets):
            return whole
    return [Portion(start, end - start) for start, end in zip(offsets, [*offsets[1:], size], strict=True)]


def _is_record(line: bytes) -> bool:
    return object_of(line).get("type") == "result"


def _holds_event(stream: BinaryIO, offset: int) -> bool:
    """Whether one of the first lines at `offset` is an object with a type that is no result."""
    stream.seek(offset)
    values = [object_of(stream.readline(_BLOCK)) for _ in range(_LOOKED_AT)]
    return any(value.get("type", "result") != "result" for value in values)


def object_of(line: bytes) -> dict[str, Any]:
    """The JSON object that a line is; an empty one where it is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _boundary(stream: BinaryIO, at: int) -> int | None:
    """The offset of the first line from `at` on that begins with a brace."""
    stream.seek(at)
    before = b""
    while block := stream.read(_BLOCK):
        found = (before + block).find(_BOUNDARY)
        if found >= 0:
            return at - len(before) + found + 1
        at += len(block)
        before = block[-1:]
    return None
