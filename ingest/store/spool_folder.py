"""The folder of the spool, made before anything is read: this imports neither readers nor Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.system.held_folder import held_folder
from schemas.errors import StoreError

if TYPE_CHECKING:  # it needs DuckDB
    from ingest.store.database import Store


@contextmanager
def spool_folder(store: Store) -> Iterator[Path]:
    """A folder for the spool, on the store's disk where that is a file; folders of killed ingests are removed. Raises StoreError."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(held_folder(store.folder, store.spool_prefix))
        except OSError as error:
            raise StoreError(f"cannot write beside {store.location}: {error.strerror}", "Choose another place with --db.") from error
        yield folder
