"""Zips that are one log: a member that describes all others, and those behind it. And members that are compressed with Zstandard."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, BinaryIO, cast
from zipfile import BadZipFile, ZipFile, ZipInfo

from schemas.marks import ZIPPED_LOGS

ZSTANDARD = 93
"""The compression method, which Python reads from 3.14 on only."""

_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MAGIC = b"PK\x03\x04"


def parts_of_log(entries: Sequence[ZipInfo]) -> list[ZipInfo]:
    """The members of a log in a zip, the one that describes the others first; none where the zip is no log.

    Of members with one name the last one counts, as in any zip.
    """
    last = {entry.filename: entry for entry in entries}
    for heads, beginning in ZIPPED_LOGS:
        head = next((last[name] for name in heads if name in last), None)
        parts = [entry for name, entry in last.items() if name.startswith(beginning)]
        if head and parts:
            return [head, *parts]
    return []


class Joined:
    """Pieces of bytes as one stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none only at the end."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._rest = piece
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


@contextmanager
def opened_member(archive: ZipFile, stream: BinaryIO, entry: ZipInfo) -> Iterator[IO[bytes]]:
    """The bytes of a member; of one that is compressed with Zstandard as they are in the archive, since any reader unpacks such bytes.

    Raises the errors of `zipfile`.
    """
    if entry.compress_type == ZSTANDARD:
        yield cast("IO[bytes]", _compressed(stream, entry))
        return
    with archive.open(entry) as member:
        yield member


def _compressed(stream: BinaryIO, entry: ZipInfo) -> _Slice:
    stream.seek(entry.header_offset)
    header = stream.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size or not header.startswith(_LOCAL_MAGIC):
        raise BadZipFile("a member does not begin with its header")
    _, name, extra = _LOCAL_HEADER.unpack(header)
    return _Slice(stream, entry.header_offset + _LOCAL_HEADER.size + name + extra, entry.compress_size)


class _Slice:
    """Some bytes of a stream, read at their own place."""

    def __init__(self, stream: BinaryIO, start: int, length: int) -> None:
        self._stream = stream
        self._at = start
        self._end = start + length

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none only at the end."""
        self._stream.seek(self._at)
        data = self._stream.read(min(size, self._end - self._at))
        self._at += len(data)
        return data
