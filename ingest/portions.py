"""A big file of records, line by line, as portions that can be read side by side."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import BinaryIO

from ingest.sources import Source

BIG_BYTES = 32 << 20
PORTION_BYTES = 8 << 20

_BLOCK = 1 << 20
_BOUNDARY = b"\n{"


@dataclass(frozen=True)
class Portion:
    """A part of a file, in bytes: it begins where a line begins."""

    offset: int
    length: int


class Limited(io.RawIOBase):
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
    """The portions of a source: several where it is a big file whose first line is a result record, else one with all of it."""
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
    return [Portion(start, end - start) for start, end in zip(offsets, [*offsets[1:], size], strict=True)]


def _is_record(line: bytes) -> bool:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("type") == "result"


def _boundary(stream: BinaryIO, at: int) -> int | None:
    """Where the first line at or behind `at` begins that begins with a brace."""
    stream.seek(at)
    before = b""
    while block := stream.read(_BLOCK):
        found = (before + block).find(_BOUNDARY)
        if found >= 0:
            return at - len(before) + found + 1
        at += len(block)
        before = block[-1:]
    return None
