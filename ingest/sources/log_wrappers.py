"""Logs whose writer wraps each line (Docker's json-file, `journalctl -o json`, the CRI log files of Kubernetes) → the lines themselves.

All three cut a long line into pieces, and mark the pieces. The time of a line is put in front of it, where `times` looks for it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ingest.sources.decoding import Broken, Readable
from ingest.sources.portions import object_of
from ingest.sources.times import unix_time

LONGEST_LINE = 1 << 24
"""Bytes. Of a longer line the part that was read is given out; so are all begun lines once they have this many bytes together."""

_BLOCK = 1 << 20


class Piece(NamedTuple):
    """A line, or a piece of one. `stream`: who wrote it; `ended`: the line ends with it; `left_out`: its text is not in the log."""

    stream: str
    time: str
    text: bytes
    ended: bool
    left_out: bool = False


Read = Callable[[bytes], Piece | None]
_OF_DOCKER = {"log", "stream", "attrs", "time"}
_OF_CRI = re.compile(rb"(20\d\d-\d\d-\d\dT\S{9,40}) (stdout|stderr) ([FP])(?::\S+)? (.*)", re.DOTALL)


def _docker(line: bytes) -> Piece | None:
    value = object_of(line)
    text, time = value.get("log"), value.get("time")
    if not isinstance(text, str) or not isinstance(time, str) or not value.keys() <= _OF_DOCKER:
        return None
    return Piece(str(value.get("stream")), time, _bytes(text.removesuffix("\n")), text.endswith("\n"))


def _journal(line: bytes) -> Piece | None:
    value = object_of(line)
    text, stamp = value.get("MESSAGE"), value.get("__REALTIME_TIMESTAMP")
    left_out = text is None and "MESSAGE" in value
    data = b"" if left_out else _bytes(text) if isinstance(text, str) else _of_numbers(text)
    if data is None:
        return None
    time = unix_time(int(stamp) / 1_000_000) if isinstance(stamp, str) and re.fullmatch(r"\d{1,18}", stamp, re.ASCII) else None
    stream = str(value.get("_STREAM_ID") or value.get("_PID"))
    return Piece(stream, time.isoformat() if time else "", data, value.get("_LINE_BREAK") != "line-max", left_out)


def _cri(line: bytes) -> Piece | None:
    found = _OF_CRI.fullmatch(line)
    if not found:
        return None
    time, stream, tag, text = found.groups()
    return Piece(stream.decode(), time.decode("ascii", "replace"), text.removesuffix(b"\n"), tag == b"F")


def _of_numbers(value: object) -> bytes | None:
    """Bytes that journalctl writes as a list of numbers, since they are not plain text; None for any other value."""
    try:
        return bytes(value) if isinstance(value, list) else None
    except (TypeError, ValueError, OverflowError):
        return None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


_KINDS: tuple[tuple[bytes, re.Pattern[bytes], Read], ...] = (
    (b'"log"', re.compile(rb'\{"log": ?"(?:[^"\\]|\\.)*+(?:\Z|", ?"(?:stream|attrs|time)")'), _docker),
    (b'"MESSAGE"', re.compile(rb'\{(?=[^\n]*"MESSAGE" ?:)[^\n]*"__REALTIME_TIMESTAMP" ?:'), _journal),
    (b" std", _OF_CRI, _cri),
)
"""A string at the beginning of such a log, which is searched first because that is cheap; a pattern of the beginning; the line reader."""


def wrapper_of(head: bytes) -> Read | None:
    """The reader for the lines of a log that begins like this; None for a log without wrappers."""
    return next((read for mark, begins, read in _KINDS if mark in head and begins.match(head)), None)


class WrappedLog:
    """The original lines of a wrapped log, as a readable stream. A line without a wrapper is passed on unchanged.

    Counts so far: `left_out`, lines whose text is not in the log; `cut`, wrappers that were cut off.
    """

    def __init__(self, stream: Readable, read: Read) -> None:
        self.left_out = 0
        self.cut = 0
        self._stream = stream
        self._piece = read
        self._begun: dict[str, list[Piece]] = defaultdict(list)
        self._waiting = 0
        self._given = filter(None, self._texts())

    def read(self, _: int, /) -> bytes:
        """Some bytes; none at the end. Raises Broken."""
        return next(self._given, b"")

    def _texts(self) -> Iterator[bytes]:
        try:
            for line in _lines(self._stream):
                yield self._text(line)
        except Broken:
            yield self._rest()
            raise
        yield self._rest()

    def _text(self, line: bytes) -> bytes:
        """The text of a line; empty while more pieces of it are to come."""
        piece = self._piece(line)
        if piece is None:
            self.cut += line.startswith(b'{"') and not object_of(line)
            return line
        self.left_out += piece.left_out
        self._begun[piece.stream].append(piece)
        if piece.ended:
            return _joined(self._begun.pop(piece.stream))
        self._waiting += len(line)
        return self._rest() if self._waiting > LONGEST_LINE else b""

    def _rest(self) -> bytes:
        """The text of all lines whose end is missing."""
        begun, self._begun, self._waiting = self._begun, defaultdict(list), 0
        return b"".join(map(_joined, begun.values()))


def _joined(pieces: list[Piece]) -> bytes:
    time = pieces[0].time
    return b"".join([_bytes(f"{time} ") if time else b"", *(piece.text for piece in pieces), b"\n"])


def _lines(stream: Readable) -> Iterator[bytes]:
    rest = b""
    try:
        while block := stream.read(_BLOCK):
            *whole, rest = (rest + block).split(b"\n")
            yield from (line + b"\n" for line in whole)
            if len(rest) > LONGEST_LINE:
                yield rest
                rest = b""
    except Broken:
        yield rest + b"\n"
        raise
    if rest:
        yield rest + b"\n"
