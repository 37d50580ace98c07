"""What killed processes left beside a store: found by its name, and removed once nobody holds it any more."""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from ingest.file_locks import NoLocks, lock
from ingest.store_files import MAKING, REBUILDING, SPOOL, WRITE_AHEAD_LOGS

_LOCK = "lock"
_UNLOCKED_SECONDS = 86_400
"""Where files cannot be locked, what was not written to for so long is nobody's any more."""

_LOGS = f"({'|'.join(map(re.escape, WRITE_AHEAD_LOGS))})?"
_STORES = re.compile(rf"({re.escape(REBUILDING)}|{re.escape(MAKING)}\d+-[0-9a-f]+){_LOGS}", re.ASCII)
_FOLDERS = re.compile(rf"{re.escape(SPOOL)}\d+-.+", re.ASCII | re.DOTALL)


def sweep(place: str, keep: Path | None, *, is_our_turn: bool) -> None:
    """Remove what killed writers of the store at `place` left beside it, but not the new store `keep`, which is ours.

    `is_our_turn`: whether the queue says that nobody else writes, so that no unfinished store beside ours has an owner that lives.
    """
    folder, name = os.path.split(place)
    with suppress(OSError):
        for entry in os.scandir(folder):
            end = entry.name.removeprefix(name)
            if end == entry.name:
                continue
            if _FOLDERS.fullmatch(end):
                clear(Path(entry.path))
            elif _STORES.fullmatch(end) and not (keep and entry.path.startswith(str(keep))) and (is_our_turn or _is_old(Path(entry.path))):
                Path(entry.path).unlink(missing_ok=True)


def hold(folder: Path, stack: ExitStack) -> bool | None:
    """Hold the folder's lock to the end of the stack. False where somebody else holds it, None where there are no locks."""
    try:
        descriptor = lock(folder / _LOCK)
    except NoLocks:
        return None
    if descriptor is None:
        return False
    stack.callback(os.close, descriptor)
    return True


def clear(folder: Path) -> None:
    """Remove a folder whose owner lives no more."""
    with ExitStack() as stack:
        is_ours = hold(folder, stack)
        if is_ours or (is_ours is None and _is_old(folder)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_old(path: Path) -> bool:
    with suppress(OSError):
        return time.time() - path.stat().st_mtime > _UNLOCKED_SECONDS
    return False
