"""Named bytes, wherever they lie: files and folders, standard input, memory. Nothing is read before it is asked for."""

from __future__ import annotations

import atexit
import contextlib
import errno
import hashlib
import io
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from schemas.errors import InputUnreadable, RejectReason

STANDARD_INPUT, ITS_NAME = Path("-"), "stdin"
"""How standard input is asked for, and what it is called as a source."""

IN_MEMORY_BYTES = 64 << 20
"""What is larger than this, and is no file yet, waits in a temporary file."""

_COPIED_BYTES = 1 << 20
_DANGLING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


@dataclass(frozen=True)
class Source:
    """Named bytes: in memory (`data`) or in a file (`path`).

    `modified_at` is the time (UTC) a file or an archive's member says it was changed, where one does. `temporary` marks a file
    of ours that only holds the bytes: its path says nothing about them, and that of an archive's member is gone once the next
    member is asked for.
    """

    name: str
    data: bytes | None = None
    path: Path | None = None
    modified_at: datetime | None = None
    temporary: bool = False

    @cached_property
    def source_id(self) -> str:
        """sha256 of the bytes, hex. Raises OSError where the file cannot be read any more."""
        if self.data is not None:
            return hashlib.sha256(self.data).hexdigest()
        with self.open() as stream:
            return hashlib.file_digest(cast("io.BufferedReader", stream), "sha256").hexdigest()

    @cached_property
    def size(self) -> int:
        """Bytes, as they lie there (compressed if the file is)."""
        return len(self.data) if self.data is not None else self.path.stat().st_size if self.path else 0

    def open(self) -> BinaryIO:
        """The bytes as they are. Raises OSError."""
        return self.path.open("rb") if self.path and self.data is None else io.BytesIO(self.data or b"")

    def loaded(self) -> Source:
        """The same with its bytes in memory, so that a small file is opened once. Raises OSError."""
        if self.path is None or self.data is not None:
            return self
        return Source(self.name, _file_bytes(self.path, self.size), self.path, self.modified_at, self.temporary)

    def __reduce__(self) -> tuple[Callable[..., Source], tuple[object, ...]]:
        """Sources go to the processes that read by the hundred thousand: as few and plain values as will do."""
        path = None if self.path is None else str(self.path)
        plain = (self.name, self.data, None if path == self.name else path, path == self.name, self.modified_at, self.temporary, self.size)
        return _restored, plain


@dataclass(frozen=True)
class Unreadable:
    """A part of a source that is no document: becomes a row of `rejects`.

    `certain`: whether it looked like a part of a run. What did not is rejected only beside something that did.
    """

    ordinal: int
    position: str
    reason: RejectReason
    detail: str
    excerpt: str = ""
    certain: bool = True


def _restored(
    name: str, data: bytes | None, path: str | None, named_by_path: bool, modified_at: datetime | None, temporary: bool, size: int
) -> Source:
    path = name if named_by_path else path
    source = Source(name, data, None if path is None else Path(path), modified_at, temporary)
    source.__dict__["size"] = size
    return source


def _file_bytes(path: Path, expected: int) -> bytes:
    """All of a small file, at two thirds of what `Path.read_bytes` costs. It may have grown meanwhile. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        blocks = []
        while block := os.read(descriptor, expected + 1):
            blocks.append(block)
    finally:
        os.close(descriptor)
    return b"".join(blocks)


def find_files(paths: Iterable[Path]) -> Iterator[Path | InputUnreadable]:
    """The files at and under the given paths, folders in name order, each folder once (links may loop); none is read yet.

    A path that cannot be read comes out as the error that says so; the others go on.
    """
    for found in _found(paths):
        yield found.path if isinstance(found, _Found) else found


def read_paths(paths: Iterable[Path]) -> Iterator[Source | InputUnreadable]:
    """The same files as sources; none is opened yet. `-` is standard input; a pipe is read to its end first, as that is."""
    for found in _found(paths):
        if not isinstance(found, _Found):
            yield found
        elif found.status is None:
            yield _read_standard_input()
        elif stat.S_ISREG(found.status.st_mode):
            yield _file(found.path, found.status)
        else:
            yield _read_pipe(found.path)


class _Found(NamedTuple):
    """A file, and what was asked about it on the way; no status where it is the standard input."""

    path: Path
    status: os.stat_result | None


def _found(paths: Iterable[Path]) -> Iterator[_Found | InputUnreadable]:
    seen: set[tuple[int, int]] = set()
    for path in paths:
        yield from (_Found(path, None),) if path == STANDARD_INPUT else _walk(path, seen)


def _file(path: Path, status: os.stat_result) -> Source | InputUnreadable:
    try:
        changed = datetime.fromtimestamp(status.st_mtime, UTC)
    except (OSError, ValueError, OverflowError) as error:
        return _unreadable(path, error)
    source = Source(_name(path), path=path, modified_at=changed)
    source.__dict__["size"] = status.st_size  # known already, and the file may be gone when somebody asks
    return source


@contextlib.contextmanager
def spooled(stream: BinaryIO, name: str, modified_at: datetime | None = None) -> Iterator[Source]:
    """What a stream holds, to its end, as a source: in memory, or in a temporary file that goes away afterwards."""
    data = _read_up_to(stream, IN_MEMORY_BYTES + 1)
    if len(data) <= IN_MEMORY_BYTES:
        yield Source(name, data, modified_at=modified_at)
        return
    with tempfile.NamedTemporaryFile(prefix="tachograph-") as file:
        file.write(data)
        del data
        while block := stream.read(_COPIED_BYTES):
            file.write(block)
        file.flush()
        yield Source(name, path=Path(file.name), modified_at=modified_at, temporary=True)


def _read_up_to(stream: BinaryIO, most: int) -> bytes:
    read = bytearray()
    while len(read) < most and (block := stream.read(min(_COPIED_BYTES, most - len(read)))):
        read += block
    return bytes(read)


def standard_input() -> BinaryIO:
    """The bytes of the standard input. Raises InputUnreadable where there is none (`<&-`, a service)."""
    if sys.stdin is None:
        raise InputUnreadable("cannot read the standard input: it is closed.", "Name a file, or pipe something in.")
    return sys.stdin.buffer


def _read_standard_input() -> Source | InputUnreadable:
    try:
        return _spool_pipe(standard_input(), ITS_NAME)
    except InputUnreadable as error:
        return error


def _read_pipe(path: Path) -> Source | InputUnreadable:
    try:
        with path.open("rb") as stream:
            return _spool_pipe(stream, _name(path))
    except OSError as error:
        return _unreadable(path, error)


def _spool_pipe(stream: BinaryIO, name: str) -> Source | InputUnreadable:
    """What a pipe holds. Its temporary file stays until we exit: sources are gathered before they are read."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    try:
        return stack.enter_context(spooled(stream, name))
    except OSError as error:
        hint = f"More than {IN_MEMORY_BYTES >> 20} MB wait in a temporary file: its folder ($TMPDIR, else the system's) must have room."
        return InputUnreadable(f"cannot read {name}: {error.strerror or error}", hint)


def _walk(path: Path, seen: set[tuple[int, int]]) -> Iterator[_Found | InputUnreadable]:
    """What lies at and under a path. However deep the folders are, the ones we are in are a list, not calls within calls."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        yield _unreadable(path, error)
        return
    if not stat.S_ISDIR(status.st_mode):
        yield _Found(path, status)
        return
    inside: list[Iterator[os.DirEntry[str]]] = []
    yield from _enter(path, status, seen, inside)
    while inside:
        if (child := next(inside[-1], None)) is None:
            inside.pop()
        else:
            yield from _child(child, seen, inside)


def _child(
    child: os.DirEntry[str], seen: set[tuple[int, int]], inside: list[Iterator[os.DirEntry[str]]]
) -> Iterator[_Found | InputUnreadable]:
    path = Path(child.path)
    try:
        status = child.stat()
    except OSError as error:
        if not (child.is_symlink() and error.errno in _DANGLING):  # a link that leads nowhere is nobody's log
            yield _unreadable(path, error)
    else:
        if stat.S_ISDIR(status.st_mode):
            yield from _enter(path, status, seen, inside)
        elif stat.S_ISREG(status.st_mode):  # a pipe or socket in a folder would hold us up for ever
            yield _Found(path, status)


def _enter(
    folder: Path, status: os.stat_result, seen: set[tuple[int, int]], inside: list[Iterator[os.DirEntry[str]]]
) -> Iterator[InputUnreadable]:
    """Put what a folder holds on top of the list, in name order, unless it was seen."""
    place = (status.st_dev, status.st_ino)
    if place in seen:
        return
    seen.add(place)
    try:
        with os.scandir(folder) as entries:
            inside.append(iter(sorted(entries, key=lambda entry: entry.name)))
    except OSError as error:
        yield _unreadable(folder, error)


def _name(path: Path) -> str:
    return os.fsencode(path).decode(errors="replace")  # a name need not be UTF-8


def _unreadable(path: Path, error: Exception) -> InputUnreadable:
    said = getattr(error, "strerror", None) or error
    return InputUnreadable(f"cannot read {_name(path)}: {said}")
