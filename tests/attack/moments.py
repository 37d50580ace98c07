"""When to strike: at random, or just as something changes in the folder of the store."""

from __future__ import annotations

import ctypes
import os
import random
import select
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.forks import Running

_CHANGES = 0x2 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200
"""Of inotify(7): a file was written to, closed after writing, renamed from or to a name, made,
removed.
"""

_EVENT = struct.Struct("iIII")
_libc = ctypes.CDLL(None, use_errno=True)


class Watch:
    """Counts the changes of the files in a folder: each write, each new or vanished name.

    Needs Linux.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.changes = 0

    def until(self, running: Running, change: int, seconds: float) -> None:
        """Return at the `change`-th change, at the command's end, or after so many seconds."""
        deadline = time.monotonic() + seconds
        while self.changes < change and (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([self._descriptor, running.fileno()], [], [], left)
            if self._descriptor in ready:
                self.changes += self._events()
            elif ready:
                return

    def _events(self) -> int:
        told = os.read(self._descriptor, 1 << 16)
        place = number = 0
        while place < len(told):
            place += _EVENT.size + _EVENT.unpack_from(told, place)[3]
            number += 1
        return number


@contextmanager
def watch(folder: Path) -> Iterator[Watch]:
    """Count the changes in the folder from now on."""
    descriptor = _libc.inotify_init1(os.O_CLOEXEC)
    try:
        if descriptor < 0 or _libc.inotify_add_watch(descriptor, os.fsencode(folder), _CHANGES) < 0:
            raise OSError(ctypes.get_errno(), "cannot watch", str(folder))
        yield Watch(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class Moment:
    """A moment in the life of a command.

    So many seconds after the `change`-th change of the folder, or after its start (0).
    """

    seconds: float
    change: int = 0

    def wait(self, running: Running, watch: Watch, most_seconds: float) -> None:
        """Return at the moment, when the command has ended, or after `most_seconds`."""
        if self.change:
            watch.until(running, self.change, most_seconds)
        select.select([running], [], [], self.seconds)

    def __str__(self) -> str:
        after = f"change {self.change} of the store's folder" if self.change else "its start"
        return f"{self.seconds * 1000:.1f} ms after {after}"


def chosen(chance: random.Random, seconds: float, changes: int, earliest: float = 0.0) -> Moment:
    """A moment of a command that takes so many seconds and changes its folder so often.

    Half of them at a change.
    """
    if changes and chance.random() < 0.5:
        return Moment(
            chance.choice((0.0, 0.0, chance.uniform(0, 0.003))), chance.randint(1, changes)
        )
    return Moment(chance.uniform(earliest, seconds))
