"""What is no file, and can be read only once: standard input, pipes. It is copied first, and no more of it than the disk bears."""

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
"""What standard input is called as a source."""

MOST_BYTES = 4 << 30
"""No more than this is copied of what comes through a pipe."""

WRITER_SECONDS = 10.0
"""How long a pipe that lies in a folder waits for somebody to write to it."""

_BLOCK = 1 << 16
_LOOK_AGAIN_SECONDS = 0.02
_NAME_A_FILE = "Name a file or a folder, or pipe something in: COMMAND | tachograph ingest -"
_WRITE_A_FILE = "Write it to a file and name that: a file is read where it lies, whatever its size."


def standard_input() -> BinaryIO:
    """The bytes of the standard input. Raises InputUnreadable where there is none (`<&-`, a service)."""
    if sys.stdin is None:
        raise InputUnreadable("cannot read the standard input: it is closed.", "Name a file, or pipe something in.")
    return sys.stdin.buffer


def read_standard_input() -> Source | InputUnreadable:
    """Standard input to its end: a pipe, a file, a socket, what is typed on a terminal."""
    try:
        stream = standard_input()
        if is_device(stream):
            return not_a_file(ITS_NAME, "a device")
        return _copied(stream, ITS_NAME)
    except InputUnreadable as error:
        return error


def is_device(stream: BinaryIO) -> bool:
    """Whether a stream is a device that may be endless: no terminal, where somebody types, and not the one that is always empty."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):  # a stream in memory
        return False
    return stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not stream.isatty() and not is_null(status))


def is_null(status: os.stat_result) -> bool:
    """Whether it is the device that is always empty."""
    with contextlib.suppress(OSError):
        null = Path(os.devnull).stat()
        return stat.S_ISCHR(status.st_mode) and status.st_rdev == null.st_rdev
    return False


def not_a_file(name: str, what: str) -> InputUnreadable:
    """What is said of that which cannot hold a log."""
    return InputUnreadable(f"cannot read {name}: it is {what}, and no file", _NAME_A_FILE)


def read_pipe(path: Path, name: str) -> Source | InputUnreadable:
    """A pipe that has a path, to its end."""
    try:
        with _Pipe(path, name) as pipe:
            return _copied(cast("BinaryIO", pipe), name)
    except OSError as error:
        return InputUnreadable(f"cannot read {name}: {error.strerror or error}")
    except InputUnreadable as error:
        return error


class _Pipe:
    """A pipe, opened. Raises OSError, and InputUnreadable where it lies in a folder and nobody writes to it for WRITER_SECONDS."""

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
        """The first bytes; none where there is a writer who has said nothing yet. One without a place in a folder has none to come."""
        may_come = os.path.lexists(os.path.realpath(path))
        deadline = time.monotonic() + WRITER_SECONDS
        while True:
            try:
                first = os.read(self._descriptor, _BLOCK)
            except BlockingIOError:
                return b""
            if first or not may_come:
                return first
            if time.monotonic() > deadline:
                raise InputUnreadable(f"cannot read {name}: nobody has written to this pipe for {WRITER_SECONDS:g} s", _NAME_A_FILE)
            time.sleep(_LOOK_AGAIN_SECONDS)


def _copied(stream: BinaryIO, name: str) -> Source | InputUnreadable:
    """What a pipe holds. Its temporary file stays until we exit: sources are gathered before they are read."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    try:
        return stack.enter_context(spooled(cast("BinaryIO", _Bounded(stream, name)), name))
    except OSError as error:
        hint = f"It is copied to a temporary file first. {_WRITE_A_FILE} Or name a folder with more room in $TMPDIR."
        return InputUnreadable(f"cannot read {name}: {error.strerror or error}", hint)


class _Bounded:
    """A stream of which no more than MOST_BYTES are read. Raises InputUnreadable where it holds more."""

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
            raise InputUnreadable(f"cannot read {self._name}: more than {bound} came, and no more than that is copied", _WRITE_A_FILE)
        return data
