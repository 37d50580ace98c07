"""Watching files: changed paths, when each may be ingested, and the one watcher of a store.

`watchfiles` listens to the file system and gathers changes until they pause; where events are
missing, it polls.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from watchfiles import Change, watch

from ingest.system.locks import WATCHING, LockFile
from schemas.errors import StoreBusy, StoreError

BACK_OFF_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Pauses after one, two … failures in a row; an unreadable file is tried as often before its next
change.
"""


NET_SECONDS = 600.0
"""Everything is ingested again so long after a change: a full queue of the kernel loses events."""

UNSETTLED_SECONDS = 2.5
"""A file that changed this recently is ingested twice while polling, which compares times by the
second.
"""

WITHOUT_EVENTS = frozenset(
    [
        "9p",
        "afs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "drvfs",
        "fuse",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "prl_fs",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
    ]
)
"""Types of file systems that another machine may write to without an event for our kernel."""


class Pending:
    """Changed paths, and the time from which each may be ingested."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}
        self._tries: Counter[str] = Counter()
        self._not_before = 0.0
        self._failures = 0

    def __len__(self) -> int:
        return len(self._due)

    def changed(self, paths: Iterable[str], at: float = 0.0) -> None:
        for path in paths:
            self._due[path] = min(at, self._due.get(path, at))
            del self._tries[path]

    def take(self, now: float) -> list[str]:
        """Return and forget the paths that are due, oldest change first."""
        taken = (
            [path for path, at in self._due.items() if at <= now] if now >= self._not_before else []
        )
        for path in taken:
            del self._due[path]
        return taken

    def ingested(self, now: float, seconds: float, unread: Iterable[str] = ()) -> None:
        """Rest as long as a long ingest took; retry unread files.

        Each reading of a growing transcript may take seconds.
        """
        self._failures = 0
        self._not_before = now + (min(seconds, 10.0) if seconds >= 1.0 else 0.0)
        for path in unread:
            if self._tries[path] < len(BACK_OFF_SECONDS):
                self._due.setdefault(path, now + BACK_OFF_SECONDS[self._tries[path]])
            self._tries[path] += 1

    def failed(self, now: float, paths: Sequence[str]) -> None:
        """Let the paths of a failed ingest wait again, longer after each failure."""
        self._due = {**dict.fromkeys(paths, 0.0), **self._due}
        self._not_before = now + BACK_OFF_SECONDS[min(self._failures, len(BACK_OFF_SECONDS) - 1)]
        self._failures += 1


def changes(roots: Sequence[str], poll_seconds: float | None) -> Iterator[set[str]]:
    """Yield changed paths several times a second, also none.

    First the roots themselves, and all of them again after one was replaced.
    """
    while True:
        marks = {root: _mark(root) for root in roots}
        there = {root for root, mark in marks.items() if mark}
        if not there:
            yield there
            time.sleep(1.0)
            continue
        unread = there
        for found in watch(
            *there, watch_filter=None, debounce=400, step=100, rust_timeout=200, yield_on_timeout=True,  # noqa: E501
            ignore_permission_denied=True, force_polling=poll_seconds is not None, poll_delay_ms=int((poll_seconds or 0) * 1000),  # noqa: E501
        ):  # fmt: skip
            # The roots come with the first answer, when the system reports changes already: what is
            # written while they are ingested is not missed. A modified folder also has events of
            # its files.
            yield unread | {
                path
                for change, path in found
                if change is Change.added or (change is Change.modified and not os.path.isdir(path))  # noqa: PTH112
            }
            unread = set()
            if {root: _mark(root) for root in roots} != marks:
                break


def _mark(path: str) -> tuple[int, int] | None:
    """Return the identity of the file or folder at a path, which changes when it is replaced.

    None if there is none.
    """
    with suppress(OSError, ValueError):
        status = os.stat(path)  # noqa: PTH116
        return status.st_dev, status.st_ino
    return None


def polled(roots: Sequence[str]) -> str:
    """Return why the roots must be polled: a file system without events; "" if all have events."""
    with suppress(OSError):
        mounts = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
        kinds = {root: file_system(os.path.realpath(root), mounts) for root in roots}
        return next(
            (
                f"{root} is on {kind}"
                for root, kind in kinds.items()
                if kind.partition(".")[0] in WITHOUT_EVENTS
            ),
            "",
        )
    return ""


def file_system(path: str, mounts: Iterable[str]) -> str:
    """Return the file system type of a real path, from the lines of /proc/self/mountinfo.

    "" if unknown.
    """
    found, longest = "", -1
    for line in mounts:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        mount = fields[4].encode().decode("unicode_escape") if len(fields) > 4 else ""
        if (
            mount
            and len(mount) >= longest
            and (path == mount or path.startswith(mount.rstrip("/") + "/"))
        ):
            found, longest = after.split(" ", 1)[0], len(mount)
    return found


def our_outputs() -> list[os.stat_result]:
    """Return where our own output goes.

    A log of ours in a watched folder would be a change, which makes a line, for ever.
    """
    found = []
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            found.append(os.fstat(stream.fileno()))
    return found


@contextmanager
def sole_watcher(location: str, watched: str) -> Iterator[None]:
    """Be the only watcher of a store for the block.

    `watched`: shown to whoever tries to be a second one. Raises StoreBusy, StoreError.
    """
    lock = LockFile(f"{os.path.realpath(location)}{WATCHING}")
    try:
        is_ours = lock.take()
    except OSError as error:
        raise StoreError(
            f"cannot watch for a store at {location}: {error.strerror}.",
            "Check its folder and the permissions.",
        ) from error
    if not is_ours:
        raise StoreBusy(
            f"{location} has a watcher already: {lock.read() or watched}.",
            "Stop it, or let it watch these paths, too.",
        )
    try:
        since = f"{datetime.now().astimezone():%Y-%m-%d %H:%M}"
        lock.write(f"pid {os.getpid()} on {platform.node()}, since {since}, of {watched}"[:4096])
        yield
    finally:
        lock.leave()
