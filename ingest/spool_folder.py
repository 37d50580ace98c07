"""The folder of an ingest under way: kept while it lives, gone with it, and if it was killed, cleared away by the next.

Whether it lives, a lock says: the system lets go of it however the process ends, and another container or host that shares the disk
sees it too, where a process id would mean nothing.
"""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ingest.interrupts import put_off
from ingest.store import Store
from schemas.errors import StoreError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOCK = "lock"
_UNLOCKED_SECONDS = 86_400
"""Where files cannot be locked, a folder in which nothing was written for so long is nobody's any more."""


@contextmanager
def spool_folder(store: Store) -> Iterator[Path]:
    """A folder for the spool, on the store's disk where that is a file; what killed ingests left there goes. Raises StoreError."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(held_folder(store.folder, store.spool_prefix))
        except OSError as error:
            raise StoreError(f"cannot write beside {store.location}: {error.strerror}", "Choose another place with --db.") from error
        yield folder


@contextmanager
def held_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder of this process in `parent`, gone with the block. Those of its prefix whose process was killed go. Raises OSError."""
    for left in parent.glob(f"{glob.escape(prefix)}[0-9]*-*"):
        _clear(left)
    with ExitStack() as stack:
        with put_off():
            folder = _made(parent, prefix, stack)
        yield folder


def _made(parent: Path, prefix: str, stack: ExitStack) -> Path:
    """A folder that is ours, and gone at the end of the stack. One that another process cleared before we held its lock is no loss."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=parent))
        with ExitStack() as mine:
            mine.callback(shutil.rmtree, folder, ignore_errors=True)
            if _locked(folder, mine) is not False and folder.exists():
                stack.push(mine.pop_all())
                return folder


def _clear(folder: Path) -> None:
    """Remove the folder of an ingest that lives no more."""
    with ExitStack() as stack:
        is_ours = _locked(folder, stack)
        if is_ours or (is_ours is None and _is_old(folder)):
            shutil.rmtree(folder, ignore_errors=True)


def _locked(folder: Path, stack: ExitStack) -> bool | None:
    """Hold the folder's lock to the end of the stack. False where somebody else holds it, None where there are no locks."""
    if fcntl is None:
        return None
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):  # or it is gone: whoever cleared it held it
        return False
    except OSError:
        return None
    return True


def _is_old(folder: Path) -> bool:
    with suppress(OSError):
        return time.time() - folder.stat().st_mtime > _UNLOCKED_SECONDS
    return False
