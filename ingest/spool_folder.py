"""The folder of an ingest under way: kept while it lives, gone with it, and if it was killed, cleared away by the next.

Whether it lives, a lock says (`ingest.file_locks`).
"""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ingest.interrupts import put_off
from ingest.leftovers import clear, hold
from ingest.store import Store
from schemas.errors import StoreError


@contextmanager
def spool_folder(store: Store) -> Iterator[Path]:
    """A folder for the spool, on the store's disk where that is a file; what killed ingests left there goes. Raises StoreError."""
    for left in store.folder.glob(f"{glob.escape(store.spool_prefix)}[0-9]*-*"):
        clear(left)
    with ExitStack() as stack:
        with put_off():
            folder = _made(store, stack)
        yield folder


def _made(store: Store, stack: ExitStack) -> Path:
    """A folder that is ours, and gone at the end of the stack. One that another ingest cleared before we held its lock is no loss."""
    while True:
        try:
            folder = Path(tempfile.mkdtemp(prefix=f"{store.spool_prefix}{os.getpid()}-", dir=store.folder))
        except OSError as error:
            raise StoreError(f"cannot write beside {store.location}: {error.strerror}", "Choose another place with --db.") from error
        with ExitStack() as mine:
            mine.callback(shutil.rmtree, folder, ignore_errors=True)
            if hold(folder, mine) is not False and folder.exists():
                stack.push(mine.pop_all())
                return folder
