"""What a source is known by: the hash of exactly those bytes that were read, and which earlier sources it begins with.

A log may grow, shrink or be replaced while it is read. What is appended is no part of the source: it is as long as it was when its
reading began. What changes in that part shows in the hash, or is told.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from ingest.sources.files import Source
from ingest.sources.portions import Limited, Portion

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Earlier:
    """The beginning that a source may have in common with one read before: its length in bytes and its source_id."""

    bytes: int
    source_id: str


@dataclass(frozen=True)
class Identity:
    """`begins_with`: source_ids of earlier sources whose bytes it begins with. `checksums`: of each portion it is read in."""

    source_id: str
    begins_with: tuple[str, ...] = ()
    checksums: tuple[int, ...] = ()


class Fingerprint:
    """sha256 of bytes as they pass, and of the beginnings that earlier sources may be."""

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
        """Of what has passed."""
        return Identity(self._hash.hexdigest(), tuple(self._begins_with))


class Checksum:
    """A quick sum of bytes as they pass: it shows that a portion was changed between two readings."""

    def __init__(self) -> None:
        self.value = 0

    def update(self, data: bytes) -> None:
        """The next bytes."""
        self.value = zlib.crc32(data, self.value)


class Passing:
    """A stream whose bytes are shown to somebody as they pass."""

    def __init__(self, stream: BinaryIO, show: Callable[[bytes], None]) -> None:
        self._stream = stream
        self._show = show

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        data = self._stream.read(size)
        self._show(data)
        return data

    def pass_rest(self) -> None:
        """Read what nobody asked for."""
        while self.read(_BLOCK):
            pass


def identify(source: Source, earlier: Sequence[Earlier] = ()) -> Identity:
    """The identity of a source as it is now, read for that alone. Raises OSError, InputUnreadable."""
    if source.data is not None:
        return identity_of(source.data, source.source_id, earlier)
    fingerprint = Fingerprint(earlier)
    with source.open() as stream:
        Passing(stream, fingerprint.update).pass_rest()
    return fingerprint.identity()


def identify_in_portions(source: Source, earlier: Sequence[Earlier], portions: Sequence[Portion]) -> Identity:
    """The same of a source that is read in portions, each with its checksum. Raises OSError, InputUnreadable."""
    fingerprint = Fingerprint(earlier)
    with source.open() as stream:
        checksums = tuple(_checksum(Limited(stream, portion), fingerprint) for portion in portions)
    return replace(fingerprint.identity(), checksums=checksums)


def identity_of(data: bytes, source_id: str, earlier: Sequence[Earlier]) -> Identity:
    """The identity of bytes in memory whose hash is known."""
    begins_with = (
        each.source_id for each in earlier if each.bytes < len(data) and hashlib.sha256(data[: each.bytes]).hexdigest() == each.source_id
    )
    return Identity(source_id, tuple(begins_with))


def _checksum(portion: Limited, fingerprint: Fingerprint) -> int:
    checksum = Checksum()
    while block := portion.read(_BLOCK):
        fingerprint.update(block)
        checksum.update(block)
    return checksum.value
