"""A window that moves forward over a stream: bytes before it are dropped, bytes behind it are read on demand."""

from __future__ import annotations

import re

from ingest.sources.decoding import Broken, Readable

WINDOW_BYTES = 4 << 20
_COUNTED = 1 << 20
_UNDECODED = re.compile("[\udc80-\udcff]")
LOOK_BACK = 128
"""Bytes before the current place that stay in the window."""


class Window:
    """The bytes of a stream that are in memory. Places are offsets into `data`; `base` is the offset of `data` in the stream."""

    def __init__(self, stream: Readable, size: int = WINDOW_BYTES) -> None:
        self.data = b""
        self.base = 0
        self.ended = False
        self.broken: Broken | None = None
        self._stream = stream
        self._size = max(size, 1)
        self._line = 1
        self._counted = 0

    def move(self, at: int) -> int:
        """Drop the bytes before `at`, and read on. Returns the new offset of `at`."""
        gone = max(0, at - LOOK_BACK)
        self.line_at(max(gone, self._counted))
        self._counted -= gone
        self.data = self.data[gone:]
        self.base += gone
        self._read(self._size)
        return at - gone

    def reach(self, until: int) -> None:
        """Read up to the offset `until`, or to the end of the stream."""
        if until > len(self.data) and not self.ended:
            self._read(max(until - len(self.data), self._size))

    def text(self, start: int, size: int) -> str:
        """The text of `size` bytes, or of all there are. Bytes that are no UTF-8 become lone surrogates."""
        self.reach(start + size)
        return str(memoryview(self.data)[start : start + size], "utf-8", "surrogateescape")

    def line_at(self, place: int) -> int:
        """The number of the line at an offset. Offsets must not decrease: for an earlier one the number of the last one is returned."""
        if place > self._counted:
            self._line += self.data.count(b"\n", self._counted, place)
            self._counted = place
        return self._line

    def pass_line(self, start: int, end: int) -> None:
        """Note that there is no line feed from `start` to `end`, so that these bytes are not searched again."""
        self.line_at(start)
        self._counted = end

    def line_end(self, start: int, most: int) -> int:
        """The offset at which the line at `start` ends: its line feed or the end of the stream; -1 where it is longer than `most`."""
        searched = start
        while True:
            found = self.data.find(b"\n", searched, start + most)
            if found >= 0:
                return found
            searched = len(self.data)
            if searched >= start + most:
                return -1
            if self.ended:
                return searched
            self.reach(searched + max(1, searched - start))  # twice as much each time: every read copies the whole window

    def _read(self, count: int) -> None:
        blocks = [self.data]
        try:
            while count > 0 and (block := self._stream.read(count)):
                blocks.append(block)
                count -= len(block)
        except Broken as error:
            self.broken = error
        self.ended = count > 0
        self.data = b"".join(blocks)


def bytes_of(text: str) -> int:
    """The number of bytes of a text of a window."""
    if text.isascii():
        return len(text)
    parts = (text[at : at + _COUNTED] for at in range(0, len(text), _COUNTED))  # in parts: a text of a hundred megabytes is not copied
    return sum(len(part.encode("utf-8", "surrogateescape")) for part in parts)


def clean(text: str) -> str:
    """A text of a window with U+FFFD for bytes that were no UTF-8."""
    if text.isascii() or not _UNDECODED.search(text):
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
