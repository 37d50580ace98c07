"""A temporary folder that is locked by its process and removed at its end. The folder of a killed process is removed by the next one.

The lock (`ingest.system.file_locks`) shows whether the process still lives.
"""

from __future__ import annotations

import glob
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ingest.system.file_locks import NoLocks, lock
from ingest.system.signals import put_off

_LOCK = "lock"
_UNLOCKED_SECONDS = 86_400
"""Where files cannot be locked, a folder without writes for so long is taken as abandoned."""


@contextmanager
def held_folder(within: Path, prefix: str) -> Iterator[Path]:
    """A new folder `<prefix><process id>-<random>`; folders of killed processes with the same prefix are removed. Raises OSError."""
    for left in within.glob(f"{glob.escape(prefix)}[0-9]*-*"):
        clear(left)
    with ExitStack() as stack:
        with put_off():
            folder = _made(within, prefix, stack)
        yield folder


def clear(folder: Path) -> None:
    """Remove a folder that no living process holds."""
    if not _is_our_folder(folder):
        return
    with ExitStack() as stack:
        is_ours = _hold(folder, stack)
        if is_ours or (is_ours is None and is_old(folder)):
            shutil.rmtree(folder, ignore_errors=True)


def is_old(path: Path) -> bool:
    """Whether nothing was written to it for a day."""
    with suppress(OSError):
        return time.time() - path.stat().st_mtime > _UNLOCKED_SECONDS
    return False


def _made(within: Path, prefix: str, stack: ExitStack) -> Path:
    """A new locked folder, removed at the end of the stack. If another process clears it before it is locked, one more is made."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=within))
        with ExitStack() as mine:
            mine.callback(shutil.rmtree, folder, ignore_errors=True)
            if _hold(folder, mine) is not False and folder.exists():
                stack.push(mine.pop_all())
                return folder


def _is_our_folder(folder: Path) -> bool:
    """Whether it is a folder of this user, and no link: everybody may write to the system's temporary folder."""
    with suppress(OSError):
        status = folder.lstat()
        return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())
    return False


def _hold(folder: Path, stack: ExitStack) -> bool | None:
    """Hold the folder's lock to the end of the stack. False where another process holds it, None where there are no locks."""
    try:
        descriptor = lock(folder / _LOCK)
    except NoLocks:
        return None
    if descriptor is None:
        return False
    stack.callback(os.close, descriptor)
    return True
