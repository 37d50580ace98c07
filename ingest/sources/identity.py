"""The identity of a source: the hash of exactly the bytes that were read, and the earlier sources it begins with.

A log may grow, shrink or be replaced while it is read. Appended bytes are no part of the source, whose length is fixed when its reading
begins. A change in that part changes the hash, or is an error.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from ingest.sources.files import Source
from ingest.sources.portions import Portion, PortionStream

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Earlier:
    """A source that was read before, and may be the beginning of one that has grown since: its length in bytes and its source_id."""

    bytes: int
    source_id: str


@dataclass(frozen=True)
class Identity:
    """`begins_with`: source_ids of earlier sources that are a beginning of this one. `checksums`: of each portion."""

    source_id: str
    begins_with: tuple[str, ...] = ()
    checksums: tuple[int, ...] = ()


def last_part(name: str) -> str:
    """The name of a file without its folders."""
    return name.replace("\\", "/").rpartition("/")[2]


class Fingerprint:
    """sha256 of the bytes that are given to `update`, and of each beginning that has the length of an earlier source."""

    def __init__(self, earlier: Sequence[Earlier] = ()) -> None:
        self._hash = hashlib.sha256()
        self._passed = 0
        self._earlier = sorted(earlier, key=lambda each: each.bytes, reverse=True)
        self._begins_with: list[str] = []

    def update(self, data: bytes) -> None:
        """The next bytes."""
        view = memoryview(data)
        while self._earlier and self._earlier[-1].bytes < self._passed + len(view):
            earlier = self._earlier.pop()
            until = earlier.bytes - self._passed
            self._add(view[:until])
            view = view[until:]
            if self._hash.hexdigest() == earlier.source_id:
                self._begins_with.append(earlier.source_id)
        self._add(view)

    def _add(self, view: memoryview) -> None:
        self._hash.update(view)
        self._passed += len(view)

    def identity(self) -> Identity:
        """The identity of all bytes so far."""
        return Identity(self._hash.hexdigest(), tuple(self._begins_with))


class Checksum:
    """A CRC-32 of the bytes that are given to `update`: it shows whether a portion was changed between two readings."""

    def __init__(self) -> None:
        self.value = 0

    def update(self, data: bytes) -> None:
        """The next bytes."""
        self.value = zlib.crc32(data, self.value)


class TeeStream:
    """A stream that calls `show` with all bytes that are read from it."""

    def __init__(self, stream: BinaryIO, show: Callable[[bytes], None]) -> None:
        self._stream = stream
        self._show = show

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        data = self._stream.read(size)
        self._show(data)
        return data

    def read_rest(self) -> None:
        """Read to the end."""
        while self.read(_BLOCK):
            pass


def identify(source: Source, earlier: Sequence[Earlier] = ()) -> Identity:
    """The identity of a source. Reads all of it. Raises OSError, InputUnreadable."""
    if source.data is not None:
        return identity_of(source.data, source.source_id, earlier)
    fingerprint = Fingerprint(earlier)
    with source.open() as stream:
        TeeStream(stream, fingerprint.update).read_rest()
    return fingerprint.identity()


def identify_in_portions(source: Source, earlier: Sequence[Earlier], portions: Sequence[Portion]) -> Identity:
    """The identity of a source that is read in portions, with the checksum of each. Raises OSError, InputUnreadable."""
    fingerprint = Fingerprint(earlier)
    with source.open() as stream:
        checksums = tuple(_checksum(PortionStream(stream, portion), fingerprint) for portion in portions)
    return replace(fingerprint.identity(), checksums=checksums)


def identity_of(data: bytes, source_id: str, earlier: Sequence[Earlier]) -> Identity:
    """The identity of bytes in memory whose hash is known."""
    begins_with = (
        each.source_id for each in earlier if each.bytes < len(data) and hashlib.sha256(data[: each.bytes]).hexdigest() == each.source_id
    )
    return Identity(source_id, tuple(begins_with))


def _checksum(portion: PortionStream, fingerprint: Fingerprint) -> int:
    checksum = Checksum()
    while block := portion.read(_BLOCK):
        fingerprint.update(block)
        checksum.update(block)
    return checksum.value
