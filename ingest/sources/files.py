"""Named bytes, in a file or in memory. Nothing is read before it is needed."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
"""Temporary files leave this many bytes of their disk free, or on a small disk this share of it."""

SETTLED_NS = 2_000_000_000
"""A file that was modified less than this before it was looked at may be modified again without another time: file systems count in steps,
some of two seconds."""

_COPIED_BYTES = 1 << 20
_GROWN_BYTES = 1 << 20
_BUFFER_BYTES = 1 << 16
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
"""Opening must not block, even where the file was replaced by a pipe meanwhile."""


@dataclass(frozen=True)
class Source:
    """Named bytes, in memory (`data`) or in a file (`path`). Of a file, the bytes that it had when its size was first read.

    `modified_at`: time of change (UTC) of the file or archive member, where known. `temporary`: the file is a copy made by us. Its path
    says nothing about the bytes, and the file of an archive member is gone once the next member is requested. `modified_ns`: when a file
    was modified, in ns since 1970, where a later change of its bytes gives it another time.
    """

    name: str
    data: bytes | None = None
    path: Path | None = None
    modified_at: datetime | None = None
    temporary: bool = False
    modified_ns: int | None = None

    @classmethod
    def of_file(cls, name: str, path: Path, status: os.stat_result) -> Source:
        """A file whose status is known, so that its size is known even if it is deleted meanwhile. Raises ValueError, OSError."""
        modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
        return cls(name, path=path, modified_at=modified_at, modified_ns=_settled_time(status))._of_size(status.st_size)

    @cached_property
    def source_id(self) -> str:
        """sha256 of the bytes, hex. Raises OSError, InputUnreadable where the file cannot be read any more."""
        if self.data is not None:
            return hashlib.sha256(self.data).hexdigest()
        with self.open() as stream:
            return hashlib.file_digest(cast("io.BufferedReader", stream), "sha256").hexdigest()

    @cached_property
    def size(self) -> int:
        """Number of bytes, not decompressed."""
        return len(self.data) if self.data is not None else self.path.stat().st_size if self.path else 0

    def open(self) -> BinaryIO:
        """The raw bytes, always `size` of them. Raises OSError, and InputUnreadable where the file became shorter."""
        if self.path is None or self.data is not None:
            return io.BytesIO(self.data or b"")
        return io.BufferedReader(_Beginning(self.path, self.size, self.name), _BUFFER_BYTES)

    def as_it_is_now(self) -> Source:
        """The same source with all bytes that were appended to its file so far. Raises OSError."""
        if self.path is None or self.data is not None or self.temporary:
            return self
        status = self.path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size == self.size:
            return self
        changed = datetime.fromtimestamp(status.st_mtime, UTC) if self.modified_at else None
        return Source(self.name, path=self.path, modified_at=changed, modified_ns=_settled_time(status))._of_size(status.st_size)

    def loaded(self) -> Source:
        """The same source with its bytes in memory, so that a small file is opened only once. Raises OSError."""
        if self.path is None or self.data is not None:
            return self
        return Source(self.name, _file_bytes(self.path, self.size), self.path, self.modified_at, self.temporary, self.modified_ns)

    def _of_size(self, size: int) -> Source:
        self.__dict__["size"] = size
        return self

    def __reduce__(self) -> tuple[Callable[..., Source], tuple[object, ...]]:
        """Pickled by the hundred thousand for the worker processes: as few and simple values as possible."""
        path = None if self.path is None else str(self.path)
        place = (None, True) if path == self.name else (path, False)
        return _restored, (self.size, place, self.name, self.data, self.modified_at, self.temporary, self.modified_ns)


@dataclass(frozen=True)
class Unreadable:
    """A part of a source that is no document: becomes a row of `rejects`.

    `certain`: whether it looked like a part of a run. An uncertain part is rejected only in a source that has runs.
    """

    ordinal: int
    position: str
    reason: RejectReason
    detail: str
    excerpt: str = ""
    certain: bool = True

    def row(self, source_id: str) -> RejectRow:
        """The row of `rejects`."""
        from schemas.rows.source import RejectRow  # the models of rows, which take longer than an ingest that finds nothing new

        return RejectRow(
            source_id=source_id,
            ordinal=self.ordinal,
            position=self.position,
            reason=self.reason,
            detail=self.detail,
            excerpt=self.excerpt,
        )


class _Beginning(io.RawIOBase):
    """The first bytes of a file. Raises OSError where it cannot be opened, InputUnreadable where it ends before them."""

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
            raise changed(self._name, _SHORTER)
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


CHANGED = "it changed while it was being read"
_SHORTER = "it became shorter while it was being read"


def changed(name: str, how: str) -> InputUnreadable:
    """The error for a file that was changed while it was read."""
    return InputUnreadable(f"cannot read {name}: {how}", "Nothing from it was ingested. Try again when it is no longer being written.")


def _restored(size: int, place: tuple[str | None, bool], name: str, data: bytes | None, *others: Any) -> Source:
    path = name if place[1] else place[0]
    return Source(name, data, None if path is None else Path(path), *others)._of_size(size)


def _settled_time(status: os.stat_result) -> int | None:
    """`Source.modified_ns` of a file that has this status now; none for a file of the future."""
    return status.st_mtime_ns if 0 <= status.st_mtime_ns < time.time_ns() - SETTLED_NS else None


def _file_bytes(path: Path, expected: int) -> bytes:
    """The bytes of a small file, in two thirds of the time of `Path.read_bytes`. If it grew meanwhile, up to a bound. Raises OSError."""
    left = max(expected, _GROWN_BYTES)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | _AT_ONCE)
    try:
        blocks = []
        while left and (block := os.read(descriptor, min(left, expected + 1))):
            blocks.append(block)
            left -= len(block)
            if len(block) == expected and len(blocks) == 1:  # one byte more was asked for: the file ends here, and need not be asked again
                break
    finally:
        os.close(descriptor)
    return b"".join(blocks)


@contextlib.contextmanager
def spooled(stream: BinaryIO, name: str, modified_at: datetime | None = None) -> Iterator[Source]:
    """All bytes of a stream as a source: in memory, or in a temporary file that is removed afterwards.

    Raises OSError, with ENOSPC where it would not leave enough of the disk free.
    """
    data = _read_up_to(stream, IN_MEMORY_BYTES + 1)
    if len(data) <= IN_MEMORY_BYTES:
        yield Source(name, data, modified_at=modified_at)
        return
    with tempfile.NamedTemporaryFile(dir=temporary_folder()) as file:
        while data:
            _leave_room(file.name)
            file.write(data)
            data = stream.read(_COPIED_BYTES)
        file.flush()
        yield Source(name, path=Path(file.name), modified_at=modified_at, temporary=True)


def _leave_room(place: str) -> None:
    disk = shutil.disk_usage(place)
    least = min(LEFT_FREE_BYTES, int(disk.total * LEFT_FREE_SHARE))
    if disk.free < least:
        raise OSError(errno.ENOSPC, f"less than {least >> 20} MB would be left free on the disk of {tempfile.gettempdir()}")


def _read_up_to(stream: BinaryIO, most: int) -> bytes:
    read = bytearray()
    while len(read) < most and (block := stream.read(min(_COPIED_BYTES, most - len(read)))):
        read += block
    return bytes(read)
