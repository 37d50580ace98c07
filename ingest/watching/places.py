"""Places that can be watched: what a path stands for, and file systems that tell of no changes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

WITHOUT_EVENTS = (
    "9p", "afs", "ceph", "cifs", "coda", "davfs", "drvfs", "fuse", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
    "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
)  # fmt: skip
"""Types of file systems on which another machine, or a host outside of this one, writes: the kernel hears nothing of it."""

_MOUNTS = Path("/proc/self/mountinfo")
_MOST_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")


@dataclass(frozen=True)
class Place:
    """A file or folder to watch. `shown`: the absolute path as it was given; files are named by it. `real`: without links."""

    shown: str
    real: str
    is_folder: bool

    @property
    def folder(self) -> str:
        """The real folder whose events tell of it: a file may be replaced by another, its folder stays."""
        return self.real if self.is_folder else os.path.dirname(self.real)  # noqa: PTH120

    def named(self, path: str) -> str:
        """The path of an event as it is shown; empty where it is not of this place."""
        if path == self.real:
            return self.shown
        return self.shown + path[len(self.real) :] if self.is_folder and path.startswith(self.real.rstrip("/") + "/") else ""

    @property
    def mark(self) -> tuple[int, int] | None:
        """Which folder lies there now: another number after it was replaced, None where there is none."""
        try:
            status = os.stat(self.folder)  # noqa: PTH116
        except OSError:
            return None
        return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def place_of(path: str) -> Place:
    """The place of a path. What is not there yet counts as a file."""
    shown = os.path.abspath(path)  # noqa: PTH100  links stay in the names of files
    return Place(shown, os.path.realpath(shown), os.path.isdir(shown))  # noqa: PTH112


def file_system(path: str, mounts: Iterable[str]) -> str:
    """The type of the file system of a real path, from the lines of /proc/self/mountinfo; empty where they do not say."""
    found, longest = "", -1
    for line in mounts:
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ", 1)[0]
        if len(fields) > 4 and _is_within(path, mount := fields[4].encode().decode("unicode_escape")) and len(mount) >= longest:
            found, longest = kind, len(mount)
    return found


def _is_within(path: str, mount: str) -> bool:
    return path == mount or path.startswith(mount.rstrip("/") + "/")


def tells_nothing(kind: str) -> bool:
    """Whether changes on a file system of this type may come without events."""
    return kind.partition(".")[0] in WITHOUT_EVENTS


def without_events(places: Iterable[Place]) -> str:
    """Why these places must be polled; empty where the system tells of changes."""
    mounts = _lines(_MOUNTS)
    kinds = ((place, file_system(place.folder, mounts)) for place in places)
    return next((f"{place.shown} is on a file system ({kind}) without events" for place, kind in kinds if tells_nothing(kind)), "")


def too_many_folders(places: Iterable[Place]) -> str:
    """Why the system would not tell of all folders: each takes one of its watches. Empty where there are enough, or as many as wanted."""
    most = next((int(line) for line in _lines(_MOST_WATCHES) if line.strip().isdigit()), None)
    if most is None:
        return ""
    count = sum(1 for place in places if place.is_folder for _ in _folders(place.real))
    return f"{count:,} folders are more than this system watches at once (fs.inotify.max_user_watches = {most:,})" if count > most else ""


def _folders(root: str) -> Iterator[str]:
    return (folder for folder, _, _ in os.walk(root))


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(errors="replace").splitlines()
    except OSError:
        return []
