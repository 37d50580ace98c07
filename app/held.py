"""A store held open while one screen is drawn: its queries share a connection, and what one read from disk the next finds in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import duckdb

from ingest.store import Store


class HeldStore(Store):
    """Opened by the first query, closed by `release`; for one thread. Writers wait for it as for any reader."""

    def __init__(self, location: str, wait_seconds: float) -> None:
        super().__init__(location, wait_seconds)
        self._open = ExitStack()
        self._connection: duckdb.DuckDBPyConnection | None = None

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The connection, made when there is none. Raises StoreError."""
        if self._connection is None:
            self._connection = self._open.enter_context(super().reading())
        yield self._connection

    def release(self) -> None:
        """Close the connection; the next query makes a new one."""
        self._connection = None
        self._open.close()
