"""Paths → the files at and under them, as sources, without those left out by patterns.

Ignore files leave out files too.

Pipes and standard input can be read only once, so they are copied first, up to a bound. Devices,
sockets and system folders, which could block or have no end, are not read.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from ingest.sources.files import Source, spooled
from schemas.errors import InputUnreadable, UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

STANDARD_INPUT = Path("-")

ITS_NAME = "stdin"

IGNORE_FILE = ".tachographignore"

MOST_BYTES = 4 << 30

WRITER_SECONDS = 10.0


MOST_STARS = 2
"""Stars in one segment of a pattern: each further one multiplies the time for a name that does not
match by the name's length.
"""

_HARD = re.compile(rf"(?:\*(?!\*)[^/*]*){{{MOST_STARS + 1}}}|(?:\*\*.*){{3}}")
_NAME_A_FILE = "Name a file or a folder, or pipe something in: COMMAND | tachograph ingest -"
_WRITE_A_FILE = "Write it to a file and ingest that: files may have any size."

Specs = tuple[tuple[str, "GitIgnoreSpec"], ...]


class Excluding:
    """Files that one call excludes.

    By its own patterns, and by ignore files in folders, as git reads `.gitignore`.

    `count`: excluded files and folders. `problems`: unreadable ignore files; the caller reports and
    removes them.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """Raises UsageError for a pattern that cannot be read."""
        self._given = _spec(patterns, "--exclude")
        self._of_folders: dict[tuple[str, str], Specs] = {}
        self.count = 0
        self.problems: list[UsageError] = []

    def leaves_out(self, root: str, path: str, *, is_folder: bool = False) -> bool:
        """Return whether a path under the folder `root` is excluded, and count it.

        Of several matching patterns, the nearest one decides.
        """
        specs = self._specs(root, os.path.dirname(path)) if path != root else ()  # noqa: PTH120
        if not specs and not self._given:
            return False
        end = "/" if is_folder else ""
        for folder, spec in (*([(root, self._given)] if self._given else []), *specs):
            if (is_out := spec.check_file(os.path.relpath(path, folder) + end).include) is not None:
                self.count += is_out
                return is_out
        return False

    def leaves_out_file(self, path: str) -> bool:
        """Return whether a file named on the command line is excluded.

        By its name, and by the patterns of the call alone.
        """
        is_out = bool(self._given and self._given.match_file(os.path.basename(path)))  # noqa: PTH119
        self.count += is_out
        return is_out

    def leaves_out_below(self, root: str, path: str) -> bool:
        """Return whether a changed path, or a folder between it and `root`, is excluded.

        A root may be a file.
        """
        if path == root:
            return os.path.isfile(path) and self.leaves_out_file(path)  # noqa: PTH113
        parts = Path(os.path.relpath(path, root)).parts
        places = [os.path.join(root, *parts[:count]) for count in range(1, len(parts) + 1)]  # noqa: PTH118
        return any(self.leaves_out(root, place, is_folder=place != path) for place in places)

    def _specs(self, root: str, folder: str) -> Specs:
        """Return the ignore files of a folder and those above it up to `root`, the nearest first.

        Each is read once.
        """
        if (known := self._of_folders.get((root, folder))) is not None:
            return known
        above = os.path.dirname(folder)  # noqa: PTH120
        found = self._specs(root, above) if folder not in (root, above) else ()
        try:
            spec = _ignore_file(os.path.join(folder, IGNORE_FILE))  # noqa: PTH118
            found = ((folder, spec), *found) if spec else found
        except UsageError as error:
            self.problems.append(error)
        self._of_folders[root, folder] = found
        return found


def _ignore_file(file: str) -> GitIgnoreSpec | None:
    try:
        status = os.stat(file)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    if status.st_size > (1 << 20):
        raise UsageError(f"{file} is larger than a megabyte.", "Mend it, or take it away.")
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {error.strerror}.", "Mend it, or take it away."
        ) from error
    return _spec(lines, file)


def _spec(patterns: Iterable[str], source: str) -> GitIgnoreSpec | None:
    given = [line for line in patterns if line.strip() and not line.startswith("#")]
    for line in given:
        if _HARD.search(line):
            raise UsageError(
                f"the pattern {line!r} of {source} has too many stars.",
                f"Use {MOST_STARS} in a segment at most, and ** twice at most.",
            )
    if not given:
        return None
    from pathspec import GitIgnoreSpec  # few calls exclude anything

    try:
        return GitIgnoreSpec.from_lines(given)
    except ValueError as error:
        raise UsageError(
            f"{source} has a pattern that cannot be read: {error}.",
            "Patterns are written as in .gitignore.",
        ) from error


class _Found(NamedTuple):
    """A file and its status; no status for standard input."""

    path: Path
    status: os.stat_result | None


class _Folder(NamedTuple):
    """A folder that is being listed: its device, and its remaining entries."""

    device: int
    entries: Iterator[os.DirEntry[str]]


def read_paths(
    paths: Iterable[Path], excluding: Excluding | None = None
) -> Iterator[Source | InputUnreadable]:
    """Yield the files at and under the given paths as unopened sources, folders in name order.

    Each folder comes once, since links may loop.

    Standard input (`-`) and pipes are copied to their end first. For an unreadable path the error
    is yielded, and the others go on.
    """
    for found in _found(paths, excluding or Excluding()):
        if isinstance(found, InputUnreadable):
            yield found
            continue
        path, status = found
        name = _name(path)
        if status is None:
            yield read_standard_input()
        elif stat.S_ISFIFO(status.st_mode):
            yield read_pipe(path, name)
        elif is_null(status):
            yield Source(name, b"")
        else:
            try:
                source = Source.of_file(name, path, status)
            except (OSError, ValueError, OverflowError) as error:
                yield _unreadable(path, error)
            else:
                yield source


def _found(paths: Iterable[Path], excluding: Excluding) -> Iterator[_Found | InputUnreadable]:
    """Yield the files. Open folders are in a list instead of recursive calls, for any depth."""
    seen: set[tuple[int, int]] = set()
    for path in paths:
        if path == STANDARD_INPUT:
            yield _Found(path, None)
            continue
        try:
            status = path.stat()
            refused = _refused(path, status)
        except (OSError, ValueError) as error:
            yield _unreadable(path, error)
            continue
        if refused or not stat.S_ISDIR(status.st_mode):
            if refused or not excluding.leaves_out_file(str(path)):
                yield refused or _Found(path, status)
            continue
        inside: list[_Folder] = []
        yield from _enter(path, status, seen, inside)
        while inside:
            if (child := next(inside[-1].entries, None)) is None:
                inside.pop()
            elif child.name != IGNORE_FILE:
                yield from _child(str(path), child, seen, inside, excluding)


def _refused(path: Path, status: os.stat_result) -> InputUnreadable | None:
    """Return the error for a given path that cannot be a log.

    Pipes are read wherever they are: `/dev/fd/63`.
    """
    if stat.S_ISFIFO(status.st_mode) or is_null(status):
        return None
    if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
        return not_a_file(_name(path), "a device")
    if stat.S_ISSOCK(status.st_mode):
        return not_a_file(_name(path), "a socket")
    return _in_system_folder(path)


def _in_system_folder(path: Path) -> InputUnreadable | None:
    place = os.path.realpath(path)
    # Folders whose files the system generates on reading, some endlessly.
    folder = next((each for each in ("/proc", "/sys") if f"{place}/".startswith(f"{each}/")), None)
    if folder is None:
        return None
    why = f"{folder} is a virtual file system and has no logs"
    return InputUnreadable(
        f"cannot read {_name(path)}: {why}", "Name the folder that the logs are in."
    )


def _child(
    root: str,
    child: os.DirEntry[str],
    seen: set[tuple[int, int]],
    inside: list[_Folder],
    excluding: Excluding,
) -> Iterator[_Found | InputUnreadable]:
    path = Path(child.path)
    try:
        status = child.stat()
    except OSError as error:
        if not (
            child.is_symlink() and error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        ):  # a dangling link is no log
            yield _unreadable(path, error)
        return
    is_folder, is_file = stat.S_ISDIR(status.st_mode), stat.S_ISREG(status.st_mode)
    if not (
        is_folder or is_file
    ):  # reading a pipe, a socket or a device in a folder could block for ever
        return
    is_out = excluding.leaves_out(root, child.path, is_folder=is_folder)
    for problem in excluding.problems:
        yield InputUnreadable(
            f"{problem.message.rstrip('.')}: it leaves nothing out.", problem.hint
        )
    excluding.problems.clear()
    if is_out:
        return
    if status.st_dev != inside[-1].device and (refused := _in_system_folder(path)):
        yield refused
    elif is_folder:
        yield from _enter(path, status, seen, inside)
    else:
        yield _Found(path, status)


def _enter(
    folder: Path, status: os.stat_result, seen: set[tuple[int, int]], inside: list[_Folder]
) -> Iterator[InputUnreadable]:
    """Push a folder's entries on the list, in name order, unless the folder was seen before."""
    place = (status.st_dev, status.st_ino)
    if place in seen:
        return
    seen.add(place)
    try:
        with os.scandir(folder) as entries:
            inside.append(
                _Folder(status.st_dev, iter(sorted(entries, key=lambda entry: entry.name)))
            )
    except OSError as error:
        yield _unreadable(folder, error)


def _name(path: Path) -> str:
    name = str(path)
    return (
        name if name.isascii() else os.fsencode(name).decode(errors="replace")
    )  # a name need not be UTF-8


def _unreadable(path: Path, error: Exception) -> InputUnreadable:
    return InputUnreadable(
        f"cannot read {_name(path)}: {getattr(error, 'strerror', None) or error}"
    )


def not_a_file(name: str, what: str) -> InputUnreadable:
    """Return the error for a path that cannot be a log: a device, a socket."""
    return InputUnreadable(f"cannot read {name}: it is {what}, not a file", _NAME_A_FILE)


def is_null(status: os.stat_result) -> bool:
    if not stat.S_ISCHR(status.st_mode):  # as every file of a folder
        return False
    with contextlib.suppress(OSError):
        return status.st_rdev == Path(os.devnull).stat().st_rdev
    return False


def standard_input() -> BinaryIO:
    """Return the binary standard input. Raises InputUnreadable without one (`<&-`, a service)."""
    if sys.stdin is None:
        raise InputUnreadable(
            "cannot read the standard input: it is closed.", "Name a file, or pipe something in."
        )
    return sys.stdin.buffer


def is_device(stream: BinaryIO) -> bool:
    """Return whether a stream is a device that may be endless.

    A terminal and the null device are not.
    """
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):  # a stream in memory
        return False
    return stat.S_ISBLK(status.st_mode) or (
        stat.S_ISCHR(status.st_mode) and not stream.isatty() and not is_null(status)
    )


def read_standard_input() -> Source | InputUnreadable:
    """Read standard input to its end: a pipe, a file, a socket or a terminal."""
    try:
        stream = standard_input()
        return (
            not_a_file(ITS_NAME, "a device")
            if is_device(stream)
            else _copied(_Bounded(stream.read, ITS_NAME), ITS_NAME)
        )
    except InputUnreadable as error:
        return error


def read_pipe(path: Path, name: str) -> Source | InputUnreadable:
    """Read a named pipe to its end; an error if nobody writes within WRITER_SECONDS.

    An unnamed one (`<(command)`) always has a writer.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return InputUnreadable(f"cannot read {name}: {error.strerror or error}")
    try:
        has_name = os.path.lexists(os.path.realpath(path))
        deadline = time.monotonic() + WRITER_SECONDS
        first = b""
        with contextlib.suppress(BlockingIOError):  # there is a writer, who has written nothing yet
            while not (first := os.read(descriptor, 1 << 16)) and has_name:
                if time.monotonic() > deadline:
                    waited = f"nothing was written to this pipe for {WRITER_SECONDS:g} s"
                    return InputUnreadable(f"cannot read {name}: {waited}", _NAME_A_FILE)
                time.sleep(0.02)
        os.set_blocking(descriptor, True)
        return _copied(_Bounded(lambda size: os.read(descriptor, size), name, first), name)
    except OSError as error:
        return InputUnreadable(f"cannot read {name}: {error.strerror or error}")
    except InputUnreadable as error:
        return error
    finally:
        os.close(descriptor)


class _Bounded:
    """A stream that raises InputUnreadable once more than MOST_BYTES are read.

    `first`: bytes that were read before.
    """

    def __init__(self, read: Callable[[int], bytes], name: str, first: bytes = b"") -> None:
        self._read = read
        self._name = name
        self._first = first
        self._left = MOST_BYTES

    def read(self, size: int) -> bytes:
        if self._first:
            data, self._first = self._first[:size], self._first[size:]
        else:
            data = self._read(size)
        self._left -= len(data)
        if self._left < 0:
            bound = f"{MOST_BYTES >> 30} GB" if MOST_BYTES >= 1 << 30 else f"{MOST_BYTES} bytes"
            raise InputUnreadable(
                f"cannot read {self._name}: a pipe may have at most {bound}", _WRITE_A_FILE
            )
        return data


def _copied(stream: _Bounded, name: str) -> Source | InputUnreadable:
    """Copy all bytes of a pipe.

    The temporary file stays until this process exits: sources are gathered before they are read.
    """
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    try:
        return stack.enter_context(spooled(cast("BinaryIO", stream), name))
    except OSError as error:
        hint = (
            f"Pipes are copied to a temporary file. {_WRITE_A_FILE} Or set $TMPDIR to a folder "
            "with more room."
        )
        return InputUnreadable(f"cannot read {name}: {error.strerror or error}", hint)
