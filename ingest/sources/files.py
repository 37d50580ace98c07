"""Named bytes in a file or in memory, their identity, and the portions of big files.

Nothing is read before it is needed.

A log may grow, shrink or be replaced while it is read. The length of a source is fixed when its
reading begins, so appended bytes are for the next ingest. A change in the part before changes the
hash, or is an error.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import shutil
import stat
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from ingest.system.files import temporary_folder
from schemas.errors import InputUnreadable, RejectReason

if TYPE_CHECKING:
    from schemas.rows.source import RejectRow

IN_MEMORY_BYTES = 64 << 20
"""A stream with more bytes than this is copied to a temporary file."""

LEFT_FREE_BYTES, LEFT_FREE_SHARE = 1 << 30, 1 / 20
"""Temporary files leave this many bytes of their disk free, or this share of a small disk."""


BIG_BYTES = 32 << 20
"""A larger file is a task of its own, and read in portions if each of its lines is a record."""

PORTION_BYTES = 8 << 20

_BLOCK = 1 << 20
_AT_ONCE = getattr(
    os, "O_NONBLOCK", 0
)  # opening must not block, even if the file was replaced by a pipe meanwhile
CHANGED = "it changed while it was being read"


@dataclass(frozen=True)
class Source:
    """Named bytes, in memory (`data`) or in a file (`path`).

    `modified_at`: time of change (UTC) of the file or archive member. `modified_ns`: the same of a
    file in ns since 1970, if any later change must alter it. `temporary`: the file is a copy made
    by us, so its path means nothing; the copy of an archive member is deleted when the next member
    is requested.
    """

    name: str
    data: bytes | None = None
    path: Path | None = None
    modified_at: datetime | None = None
    temporary: bool = False
    modified_ns: int | None = None

    @classmethod
    def of_file(cls, name: str, path: Path, status: os.stat_result) -> Source:
        """Return a file with the size in its status, even if it is deleted meanwhile.

        Raises ValueError, OSError.
        """
        # A file modified more recently than this may change again with the same time: some file
        # systems count in steps of two seconds.
        is_settled = (
            0 <= status.st_mtime_ns < time.time_ns() - 2_000_000_000
        )  # a file of the future is not
        modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
        source = cls(
            name,
            path=path,
            modified_at=modified_at,
            modified_ns=status.st_mtime_ns if is_settled else None,
        )
        return source._of_size(status.st_size)

    @cached_property
    def source_id(self) -> str:
        if self.data is not None:
            return hashlib.sha256(self.data).hexdigest()
        with self.open() as stream:
            return hashlib.file_digest(cast("io.BufferedReader", stream), "sha256").hexdigest()

    @cached_property
    def size(self) -> int:
        return (
            len(self.data)
            if self.data is not None
            else self.path.stat().st_size
            if self.path
            else 0
        )

    def open(self) -> BinaryIO:
        """Open the raw bytes, always `size` of them.

        Raises OSError, and InputUnreadable if the file became shorter.
        """
        if self.path is None or self.data is not None:
            return io.BytesIO(self.data or b"")
        return io.BufferedReader(_Beginning(self.path, self.size, self.name), 1 << 16)

    def as_it_is_now(self) -> Source:
        """Return the source with all bytes appended to its file so far. Raises OSError."""
        if self.path is None or self.data is not None or self.temporary:
            return self
        status = self.path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size == self.size:
            return self
        return Source.of_file(self.name, self.path, status)

    def loaded(self) -> Source:
        """Return the source with its bytes in memory, so that a small file is opened only once.

        Raises OSError.

        This takes two thirds of the time of `Path.read_bytes`. If the file grew meanwhile, at most
        a megabyte is read.
        """
        if self.path is None or self.data is not None:
            return self
        left = max(self.size, 1 << 20)
        descriptor = os.open(
            self.path,
            os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | _AT_ONCE,
        )
        try:
            blocks = []
            while left and (block := os.read(descriptor, min(left, self.size + 1))):
                blocks.append(block)
                left -= len(block)
                if (
                    len(block) == self.size and len(blocks) == 1
                ):  # one byte more was asked for: the file ends here
                    break
        finally:
            os.close(descriptor)
        return Source(
            self.name,
            b"".join(blocks),
            self.path,
            self.modified_at,
            self.temporary,
            self.modified_ns,
        )

    def _of_size(self, size: int) -> Source:
        self.__dict__["size"] = size
        return self

    def __reduce__(self) -> tuple[Callable[..., Source], tuple[object, ...]]:
        """Pickle as few, simple values without repeated names.

        Workers get them by the hundred thousand.
        """
        path = None if self.path is None else str(self.path)
        place = True if path == self.name else path
        return _restored, (
            self.size,
            place,
            self.name,
            self.data,
            self.modified_at,
            self.temporary,
            self.modified_ns,
        )


def _restored(
    size: int, path: str | bool | None, name: str, data: bytes | None, *others: Any
) -> Source:
    path = name if path is True else path
    return Source(name, data, Path(path) if path else None, *others)._of_size(size)


@dataclass(frozen=True)
class Unreadable:
    """A part of a source that is no document: becomes a row of `rejects`.

    `certain`: it looked like a part of a run. An uncertain part is rejected only in a source that
    has runs.
    """

    ordinal: int
    position: str
    reason: RejectReason
    detail: str
    excerpt: str = ""
    certain: bool = True

    def row(self, source_id: str) -> RejectRow:
        from schemas.rows.source import (
            RejectRow,
        )  # the models of rows take longer than an ingest that finds nothing new

        return RejectRow(
            source_id=source_id,
            ordinal=self.ordinal,
            position=self.position,
            reason=self.reason,
            detail=self.detail,
            excerpt=self.excerpt,
        )


class _Beginning(io.RawIOBase):
    """The first bytes of a file.

    Raises OSError if it cannot be opened, InputUnreadable if it is shorter.
    """

    def __init__(self, path: Path, length: int, name: str) -> None:
        self._length = length
        self._name = name
        self._place = 0
        self._file = io.FileIO(path, opener=lambda place, flags: os.open(place, flags | _AT_ONCE))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        wanted = min(len(buffer), self._length - self._place)
        if wanted <= 0:
            return 0
        count = self._file.readinto(memoryview(buffer)[:wanted])
        if not count:
            raise changed(self._name, "it became shorter while it was being read")
        self._place += count
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._length}[whence]
        self._place = self._file.seek(max(0, start + offset))
        return self._place

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def changed(name: str, how: str) -> InputUnreadable:
    """Return the error for a file that changed while it was read."""
    return InputUnreadable(
        f"cannot read {name}: {how}",
        "Nothing from it was ingested. Try again when it is no longer being written.",
    )


@contextlib.contextmanager
def spooled(stream: BinaryIO, name: str, modified_at: datetime | None = None) -> Iterator[Source]:
    """Yield all bytes of a stream as a source.

    In memory, or in a temporary file that is removed afterwards.

    Raises OSError, with ENOSPC if it would not leave enough of the disk free.
    """
    read = bytearray()
    while len(read) <= IN_MEMORY_BYTES and (
        block := stream.read(min(_BLOCK, IN_MEMORY_BYTES + 1 - len(read)))
    ):
        read += block
    data = bytes(read)
    if len(data) <= IN_MEMORY_BYTES:
        yield Source(name, data, modified_at=modified_at)
        return
    with tempfile.NamedTemporaryFile(dir=temporary_folder()) as file:
        while data:
            disk = shutil.disk_usage(file.name)
            least = min(LEFT_FREE_BYTES, int(disk.total * LEFT_FREE_SHARE))
            if disk.free < least:
                raise OSError(
                    errno.ENOSPC,
                    (
                        f"less than {least >> 20} MB would be left free on the disk of "
                        f"{tempfile.gettempdir()}"
                    ),
                )
            file.write(data)
            data = stream.read(_BLOCK)
        file.flush()
        yield Source(name, path=Path(file.name), modified_at=modified_at, temporary=True)


@dataclass(frozen=True)
class Earlier:
    """An earlier source that may be the beginning of a grown one.

    Its length in bytes and its source_id.
    """

    bytes: int
    source_id: str


@dataclass(frozen=True)
class Identity:
    """The hash of a source. `begins_with`: source_ids of earlier sources that it begins with."""

    source_id: str
    begins_with: tuple[str, ...] = ()


class Fingerprint:
    """Hashes the bytes given to `update`.

    Sha256 of all, and of each prefix as long as an earlier source.
    """

    def __init__(self, earlier: Sequence[Earlier] = ()) -> None:
        self._hash = hashlib.sha256()
        self._passed = 0
        self._earlier = sorted(earlier, key=lambda each: each.bytes, reverse=True)
        self._begins_with: list[str] = []

    def update(self, data: bytes) -> None:
        view = memoryview(data)
        while self._earlier and self._earlier[-1].bytes < self._passed + len(view):
            earlier = self._earlier.pop()
            until = earlier.bytes - self._passed
            self._hash.update(view[:until])
            self._passed += until
            view = view[until:]
            if self._hash.hexdigest() == earlier.source_id:
                self._begins_with.append(earlier.source_id)
        self._hash.update(view)
        self._passed += len(view)

    def identity(self) -> Identity:
        """Return the identity of all bytes so far."""
        return Identity(self._hash.hexdigest(), tuple(self._begins_with))


def identify(source: Source, earlier: Sequence[Earlier] = ()) -> Identity:
    """Return the identity of a source, reading all of it. Raises OSError, InputUnreadable."""
    if source.data is None:
        fingerprint = Fingerprint(earlier)
        with source.open() as stream:
            while block := stream.read(_BLOCK):
                fingerprint.update(block)
        return fingerprint.identity()
    known = (each for each in earlier if each.bytes < source.size)
    begins_with = (
        each.source_id
        for each in known
        if hashlib.sha256(source.data[: each.bytes]).hexdigest() == each.source_id
    )
    return Identity(source.source_id, tuple(begins_with))


@dataclass(frozen=True)
class Portion:
    """A range of bytes of a file that begins at a line.

    `whole`: the identity of the file. `checksum`: the CRC-32 of the range.
    """

    offset: int
    length: int
    whole: Identity | None = None
    checksum: int = 0


class PortionStream(io.RawIOBase):
    """The bytes of a portion of a seekable stream."""

    def __init__(self, stream: BinaryIO, portion: Portion) -> None:
        self._stream = stream
        self._left = portion.length
        stream.seek(portion.offset)

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data


def portions(source: Source) -> list[Portion]:
    """Return the portions of a source.

    Several for a big file with one result record per line, else a single one. Raises OSError.

    A stream is never divided, since its events belong to the results behind them: an event among
    the first lines of any portion shows one.
    """
    size = source.size
    whole = [Portion(0, size)]
    if size <= BIG_BYTES:
        return whole
    with source.open() as stream:
        if object_of(stream.readline(_BLOCK)).get("type") != "result":
            return whole
        offsets = [0]
        while True:  # the first line from there on that begins with a brace
            at = stream.seek(offsets[-1] + PORTION_BYTES)
            before = b""
            while (block := stream.read(_BLOCK)) and (found := (before + block).find(b"\n{")) < 0:
                at += len(block)
                before = block[-1:]
            if not block:
                break
            offsets.append(at - len(before) + found + 1)
        for offset in offsets:
            stream.seek(offset)
            if any(
                object_of(stream.readline(_BLOCK)).get("type", "result") != "result"
                for _ in range(16)
            ):
                return whole
    return [
        Portion(start, end - start)
        for start, end in zip(offsets, [*offsets[1:], size], strict=True)
    ]


def identified(
    source: Source, earlier: Sequence[Earlier], parts: Sequence[Portion]
) -> list[Portion]:
    """Return the portions with the identity of their file, and their checksums.

    Raises OSError, InputUnreadable.
    """
    fingerprint = Fingerprint(earlier)
    checksums = []
    with source.open() as stream:
        for part in parts:
            bytes_of_part, checksum = PortionStream(stream, part), 0
            while block := bytes_of_part.read(_BLOCK):
                fingerprint.update(block)
                checksum = zlib.crc32(block, checksum)
            checksums.append(checksum)
    whole = fingerprint.identity()
    return [
        replace(part, whole=whole, checksum=checksum)
        for part, checksum in zip(parts, checksums, strict=True)
    ]


def object_of(line: bytes) -> dict[str, Any]:
    """Return the JSON object on a line, or {} for anything else."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
