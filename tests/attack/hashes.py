"""One hash of every table of a store, over all columns and rows, for any order of rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

CLOCKED = ("sources", "store_meta", "ingests", "price_files")
"""Tables whose times are of the clock of the ingest, and not of the logs: two ingests of the same
logs differ in them.
"""

FILE_TIME = "modified_ns"
"""A column of sources that is empty where the file was read just after it was written."""

HISTORY, NUMBERS = "ingests", ("ingest_id", "last_ingest")
"""The table of what came when, and the columns with its numbers: the same logs in more or fewer
ingests differ in them.
"""


@dataclass(frozen=True)
class TableHash:
    """`exact` is over all columns.

    `timeless` leaves out the times that our own clock gave, and the numbers of ingests.
    """

    rows: int
    exact: int
    timeless: int


@dataclass(frozen=True)
class State:
    """What a store holds: table → hash. Empty without a store, or for a file without a table."""

    tables: dict[str, TableHash] = field(default_factory=dict)

    def is_same(self, other: State) -> bool:
        """Nothing was done in between."""
        return self == other

    def is_like(self, other: State) -> bool:
        """Both hold the same, though it may have been written at different times."""
        return self.timeless() == other.timeless()

    def timeless(self) -> dict[str, tuple[int, int]]:
        """Rows and hash of each table, without our own times and without the history of ingests."""
        return {
            name: (table.rows, table.timeless)
            for name, table in self.tables.items()
            if name != HISTORY
        }

    def __str__(self) -> str:
        return (
            ", ".join(f"{name} {table.rows}" for name, table in self.tables.items() if table.rows)
            or "nothing"
        )


def differences(state: State, other: State) -> str:
    """The tables in which two states differ, with their rows."""
    names = sorted({*state.tables, *other.tables})
    mine, others = state.timeless(), other.timeless()
    return ", ".join(
        f"{name} {mine.get(name)} is not {others.get(name)}"
        for name in names
        if mine.get(name) != others.get(name)
    )


class Hasher:
    """Hashes stores.

    One engine for all of them: to start one takes longer than to read a small store.
    """

    def __init__(self) -> None:
        self._engine = duckdb.connect(config={"threads": 1})

    def state(self, store: Path) -> State:
        """What the store holds. Reads every block of it; raises duckdb.Error if one is corrupt."""
        if not store.exists() or _is_header_only(store):
            return State()
        with self._attached(store):
            return State(
                {name: self._hash(name, columns) for name, columns in self._columns().items()}
            )

    def rows(self, store: Path, sql: str) -> list[tuple[Any, ...]]:
        """The answer of a query."""
        with self._attached(store):
            return self._engine.execute(sql).fetchall()

    @contextmanager
    def _attached(self, store: Path) -> Iterator[None]:
        self._engine.execute(f"attach '{store}' as attacked (type duckdb, read_only)")
        try:
            self._engine.execute("use attacked")
            yield
        finally:
            self._engine.execute("use memory; detach attacked")

    def _columns(self) -> dict[str, list[tuple[str, str]]]:
        """Table → its columns, each with its type."""
        found: dict[str, list[tuple[str, str]]] = {}
        for table, column, type_ in self._engine.execute(_COLUMNS).fetchall():
            found.setdefault(table, []).append((column, type_))
        return found

    def _hash(self, table: str, columns: list[tuple[str, str]]) -> TableHash:
        """Of each row as it is and as text: to `hash`, an empty list is as good as none."""
        names = [f'"{name}"' for name, _ in columns]
        clocked = [
            name
            for name, type_ in columns
            if table in CLOCKED and (type_.startswith("TIMESTAMP") or name == FILE_TIME)
        ]
        lasting = [f'"{name}"' for name, _ in columns if name not in (*clocked, *NUMBERS)]
        sums = ", ".join(
            f"coalesce(sum(hash(row({row}), row({row})::varchar)::hugeint), 0)"
            for row in map(", ".join, (names, lasting))
        )
        [(rows, exact, timeless)] = self._engine.execute(
            f'select count(*), {sums} from attacked."{table}"'
        ).fetchall()
        return TableHash(rows, int(exact), int(timeless))


_COLUMNS = """
    select table_name, column_name, data_type
    from duckdb_columns() join duckdb_tables() using (database_name, schema_name, table_name)
    where database_name = 'attacked' order by table_name, column_index"""

HEADER_BYTES = 3 * 4096
"""A database file of this size holds its headers and no block."""


def _is_header_only(store: Path) -> bool:
    """Whether the engine only began to make the file.

    Whether the program copes with such a file, its next ingest shows.
    """
    return store.stat().st_size <= HEADER_BYTES and not Path(f"{store}.wal").exists()
