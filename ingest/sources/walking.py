"""Paths → the files at and under them, as sources. Pipes, devices and system folders that could block or have no end are not read."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ingest.sources.excluding import IGNORE_FILE, Excluding
from ingest.sources.files import Source
from ingest.sources.pipes import is_null, not_a_file, read_pipe, read_standard_input
from schemas.errors import InputUnreadable

STANDARD_INPUT = Path("-")
"""The path that means standard input."""

SYSTEM_FOLDERS = ("/proc", "/sys")
"""Folders whose files the system generates as they are read, some of them without end."""

_DANGLING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_OTHERS = ((stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISSOCK, "a socket"))


class _Found(NamedTuple):
    """A file and its status; no status for standard input."""

    path: Path
    status: os.stat_result | None


class _Folder(NamedTuple):
    """A folder that is being listed: its device, and its remaining entries."""

    device: int
    entries: Iterator[os.DirEntry[str]]


def find_files(paths: Iterable[Path], excluding: Excluding | None = None) -> Iterator[Path | InputUnreadable]:
    """The files at and under the given paths, folders in name order, each folder once (links may loop); none is read yet.

    A path that cannot be read comes out as the error that says so; the others go on. `excluding`: what is left out, besides what ignore
    files in the folders name.
    """
    for found in _found(paths, excluding or Excluding()):
        yield found.path if isinstance(found, _Found) else found


def read_paths(paths: Iterable[Path], excluding: Excluding | None = None) -> Iterator[Source | InputUnreadable]:
    """The same files as sources; none is opened yet. `-` is standard input. It and pipes are read to their end first."""
    for found in _found(paths, excluding or Excluding()):
        yield found if isinstance(found, InputUnreadable) else _source(found.path, found.status)


def _source(path: Path, status: os.stat_result | None) -> Source | InputUnreadable:
    name = _name(path)
    if status is None:
        return read_standard_input()
    if stat.S_ISFIFO(status.st_mode):
        return read_pipe(path, name)
    if is_null(status):
        return Source(name, b"")
    try:
        return Source.of_file(name, path, status)
    except (OSError, ValueError, OverflowError) as error:
        return _unreadable(path, error)


def _found(paths: Iterable[Path], excluding: Excluding) -> Iterator[_Found | InputUnreadable]:
    seen: set[tuple[int, int]] = set()
    for path in paths:
        yield from (_Found(path, None),) if path == STANDARD_INPUT else _walk(path, seen, excluding)


def _walk(path: Path, seen: set[tuple[int, int]], excluding: Excluding) -> Iterator[_Found | InputUnreadable]:
    """The files at and under a path. Open folders are kept in a list and not in recursive calls, however deep they are nested."""
    try:
        status = path.stat()
        refused = _refused(path, status)
    except (OSError, ValueError) as error:
        yield _unreadable(path, error)
        return
    if refused or not stat.S_ISDIR(status.st_mode):
        if refused or not excluding.leaves_out_file(str(path)):
            yield refused or _Found(path, status)
        return
    inside: list[_Folder] = []
    yield from _enter(path, status, seen, inside)
    while inside:
        if (child := next(inside[-1].entries, None)) is None:
            inside.pop()
        elif child.name != IGNORE_FILE:
            yield from _child(str(path), child, seen, inside, excluding)


def _refused(path: Path, status: os.stat_result) -> InputUnreadable | None:
    """The error for a given path that cannot be a log; None for one that is read. Pipes are read wherever they are: `/dev/fd/63`."""
    if stat.S_ISFIFO(status.st_mode) or is_null(status):
        return None
    what = next((what for is_so, what in _OTHERS if is_so(status.st_mode)), None)
    return not_a_file(_name(path), what) if what else _in_system_folder(path)


def _in_system_folder(path: Path) -> InputUnreadable | None:
    place = os.path.realpath(path)
    folder = next((each for each in SYSTEM_FOLDERS if f"{place}/".startswith(f"{each}/")), None)
    if folder is None:
        return None
    why = f"{folder} is a virtual file system and has no logs"
    return InputUnreadable(f"cannot read {_name(path)}: {why}", "Name the folder that the logs are in.")


def _child(
    root: str, child: os.DirEntry[str], seen: set[tuple[int, int]], inside: list[_Folder], excluding: Excluding
) -> Iterator[_Found | InputUnreadable]:
    path = Path(child.path)
    try:
        status = child.stat()
    except OSError as error:
        if not (child.is_symlink() and error.errno in _DANGLING):  # a dangling link is no log
            yield _unreadable(path, error)
        return
    is_folder, is_file = stat.S_ISDIR(status.st_mode), stat.S_ISREG(status.st_mode)
    if not (is_folder or is_file):  # reading a pipe, a socket or a device in a folder could block for ever
        return
    is_out = excluding.leaves_out(root, child.path, is_folder=is_folder)
    for problem in excluding.problems:
        yield InputUnreadable(f"{problem.message.rstrip('.')}: it leaves nothing out.", problem.hint)
    excluding.problems.clear()
    if is_out:
        return
    if status.st_dev != inside[-1].device and (refused := _in_system_folder(path)):
        yield refused
    elif is_folder:
        yield from _enter(path, status, seen, inside)
    else:
        yield _Found(path, status)


def _enter(folder: Path, status: os.stat_result, seen: set[tuple[int, int]], inside: list[_Folder]) -> Iterator[InputUnreadable]:
    """Put the entries of a folder on top of the list, in name order, unless the folder was seen before."""
    place = (status.st_dev, status.st_ino)
    if place in seen:
        return
    seen.add(place)
    try:
        with os.scandir(folder) as entries:
            inside.append(_Folder(status.st_dev, iter(sorted(entries, key=lambda entry: entry.name))))
    except OSError as error:
        yield _unreadable(folder, error)


def _name(path: Path) -> str:
    return os.fsencode(path).decode(errors="replace")  # a name need not be UTF-8


def _unreadable(path: Path, error: Exception) -> InputUnreadable:
    said = getattr(error, "strerror", None) or error
    return InputUnreadable(f"cannot read {_name(path)}: {said}")
