"""Snapshots of folders: what changed since the last look, for file systems without events and as a net under those with them.

Links are followed and pipes, devices and system folders left out, as in `ingest.sources.walking`, which it does not import: an idle
watcher must stay small.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

SYSTEM_FOLDERS = ("/proc", "/sys")

UNSETTLED_NS = 2_000_000_000
"""A file that was modified less than this before a look may change again without another time: the next look tells of it again."""

_UNSETTLED = 0
"""The mark of such a file."""

SHARE = 20
"""Where nobody says how often to look, a look is followed by a pause of so many times its length."""

LEAST_SECONDS = 2.0
"""The shortest such pause."""


def files(roots: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    """The files at and under the roots, each folder once. What cannot be looked into is left out: `ingest` says so."""
    seen: set[tuple[int, int]] = set()
    waiting = list(reversed(list(roots)))
    while waiting:
        place = waiting.pop()
        with suppress(OSError, ValueError):
            status = os.stat(place)  # noqa: PTH116  a quarter of the time of Path.stat
            if stat.S_ISREG(status.st_mode):
                yield place, status
            elif stat.S_ISDIR(status.st_mode) and not _is_seen(status, seen):
                yield from _listed(place, waiting)


def _is_seen(status: os.stat_result, seen: set[tuple[int, int]]) -> bool:
    key = (status.st_dev, status.st_ino)
    if key in seen:
        return True
    seen.add(key)
    return False


def _listed(folder: str, waiting: list[str]) -> Iterator[tuple[str, os.stat_result]]:
    """The files of a folder; its folders are added to those that wait."""
    if folder in SYSTEM_FOLDERS:
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                status = entry.stat()
                if stat.S_ISREG(status.st_mode):
                    yield entry.path, status
                elif stat.S_ISDIR(status.st_mode):
                    waiting.append(entry.path)


def mark(status: os.stat_result, now_ns: int) -> int:
    """A number that changes with the bytes of a file; _UNSETTLED where it might not."""
    is_settled = 0 <= status.st_mtime_ns < now_ns - UNSETTLED_NS
    return hash((status.st_size, status.st_mtime_ns, status.st_ino)) or 1 if is_settled else _UNSETTLED


class Snapshot:
    """The files at and under some roots as they were at the last look. 240 bytes for each file."""

    def __init__(self) -> None:
        self._marks: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._marks)

    def note(self, paths: Iterable[str]) -> None:
        """Files that are known before the next look, which tells of them again."""
        for path in paths:
            self._marks.setdefault(path, _UNSETTLED)

    def changes(self, found: Iterable[tuple[str, os.stat_result]], now_ns: int) -> Iterator[str]:
        """The files that are new or not as they were, or of which that cannot be told yet. What is gone is forgotten."""
        before, self._marks = self._marks, {}
        for path, status in found:
            current = mark(status, now_ns)
            if current == _UNSETTLED or before.pop(path, None) != current:
                yield path
            self._marks[path] = current


class Polls:
    """A thread that looks at folders every so many seconds, and tells of each file that changed.

    `seconds`: the pause between two looks; None for twenty times what a look takes.
    """

    def __init__(self, roots: Callable[[], list[str]], tell: Callable[[str], object], seconds: float | None) -> None:
        self._roots, self._tell, self.seconds = roots, tell, seconds
        self._snapshot = Snapshot()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="polls", daemon=True)
        self.took = 0.0

    @property
    def known(self) -> int:
        """How many files there were at the last look."""
        return len(self._snapshot)

    def note(self, paths: Iterable[str]) -> None:
        """Files that something else told of."""
        self._snapshot.note(paths)

    def start(self) -> None:
        """Look once, telling nothing; then go on in the background."""
        self._look(lambda _path: None)
        self._thread.start()

    def stop(self) -> None:
        """End the thread, at once between two looks."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(5)

    @property
    def pause(self) -> float:
        """Seconds to the next look."""
        return max(LEAST_SECONDS, SHARE * self.took) if self.seconds is None else self.seconds

    def _run(self) -> None:
        while not self._ending.wait(self.pause):
            self._look(self._tell)

    def _look(self, tell: Callable[[str], object]) -> None:
        began = time.thread_time()
        for path in self._snapshot.changes(files(self._roots()), time.time_ns()):
            if self._ending.is_set():
                return
            tell(path)
        self.took = time.thread_time() - began
