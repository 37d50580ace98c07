"""Standard input and pipes: they can be read only once, so they are copied first, up to a bound."""

from __future__ import annotations

import atexit
import contextlib
import os
import stat
import sys
import time
from pathlib import Path
from typing import BinaryIO, cast

from ingest.sources.files import Source, spooled
from schemas.errors import InputUnreadable

ITS_NAME = "stdin"
"""The name of standard input as a source."""

MOST_BYTES = 4 << 30
"""The most bytes that are copied from a pipe."""

WRITER_SECONDS = 10.0
"""How long to wait for the first byte from a named pipe."""

_BLOCK = 1 << 16
_LOOK_AGAIN_SECONDS = 0.02
_NAME_A_FILE = "Name a file or a folder, or pipe something in: COMMAND | tachograph ingest -"
_WRITE_A_FILE = "Write it to a file and ingest that: files may have any size."


def standard_input() -> BinaryIO:
    """The bytes of the standard input. Raises InputUnreadable where there is none (`<&-`, a service)."""
    if sys.stdin is None:
        raise InputUnreadable("cannot read the standard input: it is closed.", "Name a file, or pipe something in.")
    return sys.stdin.buffer


def read_standard_input() -> Source | InputUnreadable:
    """Standard input, to its end: a pipe, a file, a socket or a terminal."""
    try:
        stream = standard_input()
        if is_device(stream):
            return not_a_file(ITS_NAME, "a device")
        return _copied(stream, ITS_NAME)
    except InputUnreadable as error:
        return error


def is_device(stream: BinaryIO) -> bool:
    """Whether a stream is a device that may be endless; a terminal and the null device are not."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):  # a stream in memory
        return False
    return stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not stream.isatty() and not is_null(status))


def is_null(status: os.stat_result) -> bool:
    """Whether it is the null device."""
    if not stat.S_ISCHR(status.st_mode):  # as every file of a folder
        return False
    with contextlib.suppress(OSError):
        return status.st_rdev == Path(os.devnull).stat().st_rdev
    return False


def not_a_file(name: str, what: str) -> InputUnreadable:
    """The error for a path that cannot be a log: a device, a socket."""
    return InputUnreadable(f"cannot read {name}: it is {what}, not a file", _NAME_A_FILE)


def read_pipe(path: Path, name: str) -> Source | InputUnreadable:
    """A named pipe, to its end."""
    try:
        with _Pipe(path, name) as pipe:
            return _copied(cast("BinaryIO", pipe), name)
    except OSError as error:
        return InputUnreadable(f"cannot read {name}: {error.strerror or error}")
    except InputUnreadable as error:
        return error


class _Pipe:
    """An open pipe. Raises OSError, and InputUnreadable where it is a named pipe that nobody writes to for WRITER_SECONDS."""

    def __init__(self, path: Path, name: str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self._first = self._wait(path, name)
            os.set_blocking(self._descriptor, True)
        except BaseException:
            os.close(self._descriptor)
            raise

    def __enter__(self) -> _Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        if self._first:
            given, self._first = self._first[:size], self._first[size:]
            return given
        return os.read(self._descriptor, size)

    def _wait(self, path: Path, name: str) -> bytes:
        """The first bytes; none where the writer has written nothing yet. Waits for a writer only where the pipe has a name."""
        has_name = os.path.lexists(os.path.realpath(path))
        deadline = time.monotonic() + WRITER_SECONDS
        while True:
            try:
                first = os.read(self._descriptor, _BLOCK)
            except BlockingIOError:
                return b""
            if first or not has_name:
                return first
            if time.monotonic() > deadline:
                raise InputUnreadable(f"cannot read {name}: nothing was written to this pipe for {WRITER_SECONDS:g} s", _NAME_A_FILE)
            time.sleep(_LOOK_AGAIN_SECONDS)


def _copied(stream: BinaryIO, name: str) -> Source | InputUnreadable:
    """All bytes of a pipe. The temporary file stays until this process exits: sources are gathered before they are read."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    try:
        return stack.enter_context(spooled(cast("BinaryIO", _Bounded(stream, name)), name))
    except OSError as error:
        hint = f"Pipes are copied to a temporary file. {_WRITE_A_FILE} Or set $TMPDIR to a folder with more room."
        return InputUnreadable(f"cannot read {name}: {error.strerror or error}", hint)


class _Bounded:
    """A stream that raises InputUnreadable once more than MOST_BYTES are read."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._left = MOST_BYTES

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            bound = f"{MOST_BYTES >> 30} GB" if MOST_BYTES >= 1 << 30 else f"{MOST_BYTES} bytes"
            raise InputUnreadable(f"cannot read {self._name}: a pipe may have at most {bound}", _WRITE_A_FILE)
        return data
