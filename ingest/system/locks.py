"""Lock files. The system releases a lock however its process ends.

Other containers and hosts that share the disk see it, where a process id would mean nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.system.signals import put_off

if TYPE_CHECKING:
    from filelock import FileLock

WATCHING = ".watching"
"""Suffix to a store's name: lock of its watcher."""


class LockFile:
    """A lock file. Its text, for those who find it locked, names the holder."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock: FileLock | None = None

    def exists(self) -> bool:
        """Return whether the file exists. A killed process leaves it behind."""
        return os.path.exists(self._path)  # noqa: PTH110  called at every reading

    def take(self) -> bool:
        """Lock the file, made if it is missing. Returns False if another holder has it.

        Raises OSError if files cannot be locked or made here.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415  10 ms that a reader mostly does not need

        with put_off():
            lock = FileLock(self._path, thread_local=False, fallback_to_soft=False)
            try:
                lock.acquire(blocking=False)
            except Timeout:
                return False
            self._lock = lock
            return True

    @property
    def is_ours(self) -> bool:
        return self._lock is not None

    def write(self, text: str) -> None:
        """Write the text of the holder, if the lock is ours."""
        if self._lock:
            with suppress(OSError):
                self._path.write_text(text, encoding="utf-8", errors="replace")

    def read(self) -> str:
        """Return the text of the holder; "" for a file just now made or removed."""
        with suppress(OSError):
            return self._path.read_text(encoding="utf-8", errors="replace")
        return ""

    def leave(self) -> None:
        """Remove and unlock the file. Others who have it open notice that and open it again."""
        with put_off():
            lock, self._lock = self._lock, None
            if lock:
                with suppress(OSError):
                    self._path.unlink()
                with suppress(OSError):
                    lock.release()
