"""One moment of a store, held for several queries: the parts of a report agree although somebody ingests meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from ingest.store.database import Store


class Moment(Store):
    """A store that is open already. Every query of it reads in one transaction."""

    def __init__(self, location: str, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(location)
        self._connection = connection

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The connection held."""
        yield self._connection


@contextmanager
def held(store: Store) -> Iterator[Store]:
    """The store as it is now, until the end of the block. Writers wait meanwhile. Raises StoreError."""
    with store.reading() as connection:
        connection.begin()
        try:
            yield Moment(store.location, connection)
        finally:
            connection.rollback()
