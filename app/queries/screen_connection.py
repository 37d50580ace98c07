"""A store held open while one screen is drawn: its queries share a connection, and what one read from disk the next finds in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import duckdb

from app.queries.filters import SEARCH, Filters, where, with_found
from ingest.store.database import Store


class HeldStore(Store):
    """Opened by the first query, closed by `release`; for one thread. Writers wait for it as for any reader.

    It never waits: whoever asks it waits for the store and hands it on open (`open_by`).
    """

    def __init__(self, location: str) -> None:
        super().__init__(location, wait_seconds=0)
        self._open = ExitStack()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._searched: set[str] = set()

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The connection, made when there is none. Raises StoreError."""
        if self._connection is None:
            self._connection = self._open.enter_context(super().reading())
        yield self._connection

    def open_by(self, patient: Store) -> None:
        """Open it as `patient`, a store of the same place, waits for it. Raises StoreError."""
        self._connection = self._open.enter_context(patient.reading())

    def looked_up(self, filters: Filters) -> Filters:
        """The filters for queries of this store: each text is looked for in all summaries once, not by every query. Raises StoreError."""
        for text in filters.values(SEARCH):
            if text not in self._searched:
                self._search(text)
        return with_found(filters)

    def _search(self, text: str) -> None:
        condition = where(Filters(((SEARCH, (text,)),)))
        with self.reading() as connection:
            connection.execute("create temp table if not exists found (text varchar, place bigint)")
            runs = f"select $text, place from v_runs where {condition.sql}"
            connection.execute(f"insert into found {runs}", condition.parameters | {"text": text})
        self._searched.add(text)

    def release(self) -> None:
        """Close the connection; the next query makes a new one."""
        self._connection = None
        self._searched.clear()
        self._open.close()
