"""The read transaction of one request: all its queries see one state of the store, although somebody ingests meanwhile.

Requests are a command, one run of a screen, and a download. Each runs its queries on the store that `read_transaction` yields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

import duckdb

from app.queries.filters.chosen import Filters, with_found
from app.queries.filters.registry import SEARCH
from app.queries.search import note_found
from app.queries.textless import ExportedStore
from ingest.store.database import Store
from ingest.store.opening.attaching import ALIAS
from ingest.store.statements import run, sql_of

_SMALL_BYTES = 8 << 20
"""A store of this size has some thousand runs; one without any has 3 MB."""

_SMALL_TEXTS = "select coalesce(sum(bytes), 0) < 4 * $small_bytes from sources"
"""Whether it was made of small files. Texts that repeat themselves take no room in the store, but would in memory."""

_SECOND = 2
"""The query of a transaction from which on it pays to have the rows of `v_runs` at hand."""

_AT_HAND = f"create temp table if not exists {{view}} as from {ALIAS}.{{view}}"
"""Queries find a temporary table before a view, and during the transaction both hold the same. To plan `v_runs` takes ten times as long as
to read so few rows: a query takes 0.5 ms instead of 6, the table 10 ms once."""

_WITHOUT_IDS = "reading/v_runs"
"""The same view for a larger store, by row numbers: a query that needs little else of a million runs takes 9 ms of a processor instead of
42, which are what reading and joining their ids takes."""


class ReadTransaction(Store):
    """A store whose queries share one connection and one transaction: begun by the first of them, ended by `end`.

    Writers wait from `begin` to `end`, as for any reader. Threads take turns: a DuckDB connection mixes up the answers of several.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store.location)
        self._store = store
        self._open = ExitStack()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._searched: set[str] = set(self._found_before)
        self._at_hand: set[str] = set()
        self._kept: dict[tuple[str, str], str] = {}
        self._turn = RLock()
        self._queries = 0

    @property
    def _found_before(self) -> frozenset[str]:
        """Searches that the store did itself."""
        return (self._store.searched or frozenset()) if isinstance(self._store, ExportedStore) else frozenset()

    @property
    def _has_stand_ins(self) -> bool:
        """Whether other views than those of the store are read already."""
        return isinstance(self._store, ExportedStore) and self._store.searched is not None

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The connection of the transaction. Raises StoreError."""
        with self._turn:
            connection = self._connection or self.begin(self._store)
            self._queries += 1
            self._prepare(connection)
            yield connection

    def _prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let a cheaper stand-in take the place of `v_runs`: at once in a large store, in a small one where it pays."""
        if self._has_stand_ins:
            return
        has_small_file = _has_small_file(self.location)
        if self._queries == 1 and not has_small_file:
            run(connection, sql_of(_WITHOUT_IDS))
        elif self._queries == _SECOND and has_small_file and _has_small_texts(connection):
            run(connection, _AT_HAND.format(view="v_runs"))

    def begin(self, store: Store) -> duckdb.DuckDBPyConnection:
        """Open the store, waiting for it as `store` does. Raises StoreError."""
        self._connection = self._open.enter_context(store.reading()).begin()
        return self._connection

    def end(self) -> None:
        """Close the connection. A later query begins another transaction."""
        self._connection = None
        self._queries = 0
        self._searched = set(self._found_before)
        self._at_hand.clear()
        self._kept.clear()
        self._open.close()

    def searched(self, filters: Filters) -> Filters:
        """The filters with each search replaced by the runs it found: texts are read once, not by every query. Raises StoreError."""
        for text in filters.values(SEARCH):
            if text not in self._searched:
                self._search(text)
        return with_found(filters)

    def judge_within(self, band: float) -> None:
        """Call ratios of measured values up to this distance from 1 the same, such as 0.05. Before the first query on verdicts."""
        with self.reading() as connection:
            connection.execute(f"set variable band = {float(band)!r}")

    def have_at_hand(self, view: str) -> None:
        """Read a view that takes long once, not in every query: a temporary table stands in for it. Raises StoreError."""
        if view not in self._at_hand and not self._has_stand_ins:
            with self.reading() as connection:
                connection.execute(_AT_HAND.format(view=view))
            self._at_hand.add(view)

    def keep(self, sql: str, parameters: Mapping[str, Any]) -> str:
        """The name of a temporary table with the answer to a query: several questions read it, and it is asked once. Raises StoreError."""
        question = sql, repr(sorted(parameters.items()))
        with self._turn:
            if question not in self._kept:
                name = f"kept_{len(self._kept)}"
                with self.reading() as connection:
                    connection.execute(f"create temp table {name} as {sql}", dict(parameters))
                self._kept[question] = name
            return self._kept[question]

    def _search(self, text: str) -> None:
        with self.reading() as connection:
            note_found(connection, text)
        self._searched.add(text)


def _has_small_file(location: str) -> bool:
    try:
        return Path(location).stat().st_size < _SMALL_BYTES
    except (OSError, ValueError):  # no file, or one that was moved meanwhile
        return False


def _has_small_texts(connection: duckdb.DuckDBPyConnection) -> bool:
    return connection.execute(_SMALL_TEXTS, {"small_bytes": _SMALL_BYTES}).fetchall() == [(True,)]


@contextmanager
def read_transaction(store: Store) -> Iterator[ReadTransaction]:
    """A transaction on the store until the end of the block; the request's own where `store` is one already. Raises StoreError."""
    if isinstance(store, ReadTransaction):
        yield store
        return
    transaction = ReadTransaction(store)
    with transaction._open:  # so that an error of DuckDB in the block becomes a StoreError there
        yield transaction
