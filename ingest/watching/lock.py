"""One watcher for each store: a locked file beside it that says whose it is. The lock of a killed watcher is released at once."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from ingest.store.opening import WATCHING
from ingest.system.files import NoLocks, lock
from schemas.errors import StoreBusy, StoreError

_MOST_BYTES = 4_096


@contextmanager
def sole_watcher(location: str, watched: str) -> Iterator[None]:
    """Be the only watcher of the store at `location` for the block. `watched`: what is watched, for others to read.

    Raises StoreBusy where there is one, StoreError where the store's folder is not there or takes no file.
    """
    file = Path(f"{os.path.realpath(location)}{WATCHING}")
    descriptor = _taken(file, location)
    try:
        if descriptor is not None:
            told = f"pid {os.getpid()} on {platform.node()}, since {datetime.now().astimezone():%Y-%m-%d %H:%M}\n{watched}"
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, told.encode(errors="replace")[:_MOST_BYTES], 0)
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                file.unlink()
            os.close(descriptor)


def _taken(file: Path, location: str) -> int | None:
    """The descriptor of the locked file; None where files cannot be locked. A file that was removed meanwhile is made again."""
    if not file.parent.is_dir():
        raise StoreError(f"cannot watch for a store at {location}: the folder {file.parent} does not exist.", "Create it first.")
    while True:
        try:
            descriptor = lock(file)
        except NoLocks as error:
            if isinstance(error.__cause__, PermissionError):
                raise StoreError(f"cannot watch for {location}: no file can be made beside it.", "Check the permissions.") from error
            return None
        if descriptor is None:
            if file.exists():
                raise _busy(file, location)
            continue
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), file.stat()):
                return descriptor
        os.close(descriptor)


def _busy(file: Path, location: str) -> StoreBusy:
    with suppress(OSError, UnicodeDecodeError):
        who, _, watched = file.read_text(encoding="utf-8").partition("\n")
        if who:
            return StoreBusy(f"{location} has a watcher already: {who}, of {watched}.", "Stop it, or let it watch these paths, too.")
    return StoreBusy(f"{location} has a watcher already.", "Stop it, or let it watch these paths, too.")
