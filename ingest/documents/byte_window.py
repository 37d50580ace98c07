"""A window that moves over a stream: what lies before is let go, what comes is read when it is asked for."""

from __future__ import annotations

import re

from ingest.sources.decoding import Broken, Readable

WINDOW_BYTES = 4 << 20
_COUNTED = 1 << 20
_UNDECODED = re.compile("[\udc80-\udcff]")
LOOK_BACK = 128
"""Bytes before the place we are at that stay in the window."""


class Window:
    """The bytes of a stream that are in sight. Places are offsets into `data`; `base` is that of `data` in the stream."""

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
        """Let go of what lies before `at`, and read on. Returns where `at` is now."""
        gone = max(0, at - LOOK_BACK)
        self.line_at(max(gone, self._counted))
        self._counted -= gone
        self.data = self.data[gone:]
        self.base += gone
        self._read(self._size)
        return at - gone

    def reach(self, until: int) -> None:
        """Have the bytes up to `until` in sight, or all there are."""
        if until > len(self.data) and not self.ended:
            self._read(max(until - len(self.data), self._size))

    def text(self, start: int, size: int) -> str:
        """The text of so many bytes, or all there are; bytes that are no UTF-8 stay in it as halves of surrogate pairs."""
        self.reach(start + size)
        return str(memoryview(self.data)[start : start + size], "utf-8", "surrogateescape")

    def line_at(self, place: int) -> int:
        """The number of the line that a place is in. Of a place before the last one: that one's."""
        if place > self._counted:
            self._line += self.data.count(b"\n", self._counted, place)
            self._counted = place
        return self._line

    def pass_line(self, start: int, end: int) -> None:
        """Take note that there is no line feed from `start` to `end`, so that none is looked for."""
        self.line_at(start)
        self._counted = end

    def line_end(self, start: int, most: int) -> int:
        """Where the line ends that is at `start`: at its line feed or the stream's end, or -1 where it is longer than `most`."""
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
            self.reach(searched + max(1, searched - start))  # as much again: what is read is put together with what is there

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
    """How many bytes a text of a window has."""
    if text.isascii():
        return len(text)
    parts = (text[at : at + _COUNTED] for at in range(0, len(text), _COUNTED))  # not a second copy of a text of a hundred megabytes
    return sum(len(part.encode("utf-8", "surrogateescape")) for part in parts)


def clean(text: str) -> str:
    """A text of a window without bytes that were no UTF-8."""
    if text.isascii() or not _UNDECODED.search(text):
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
