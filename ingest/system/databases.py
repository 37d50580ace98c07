"""Tables of a stranger's SQLite database, read from a copy by a killable process (`children`).

A view or a virtual table of it may run for ever, inside the library, so that only what has pages of
its own is read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from ingest.system.bounds import TooMuch
from ingest.system.children import Cannot, in_child


class DatabaseTable(NamedTuple):
    """A table: its wanted columns, and its rows, with null for what is no text and no number."""

    columns: list[str]
    rows: list[list[Any]]


def read_tables(
    path: Path, wanted: Mapping[str, Sequence[str]], most: int
) -> dict[str, DatabaseTable | None]:
    """Return the wanted tables that a database has, with the wanted columns.

    None for a view, which is not read.

    The database may be written to: its write-ahead log is moved into it. Raises TooMuch, also for a
    table of more than `most` rows, and ValueError for a damaged database.
    """
    size = sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))
    found = in_child(
        __name__,
        str(path),
        json.dumps({name: list(columns) for name, columns in wanted.items()}),
        str(most),
        size=size,
    )
    return {name: table and DatabaseTable(*table) for name, table in found.items()}


def main(
    is_orphaned: Callable[[], bool], arguments: Sequence[str]
) -> dict[str, DatabaseTable | None]:
    """Read the tables, in the child."""
    path, wanted, most = arguments[0], json.loads(arguments[1]), int(arguments[2])
    try:
        with closing(sqlite3.connect(path)) as database:
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1 << 26)
            # Steps of SQLite's machine, some milliseconds, between two looks at whether the parent
            # is gone.
            database.set_progress_handler(is_orphaned, 100_000)
            database.execute("pragma trusted_schema = off")
            database.execute("pragma query_only = on")
            database.text_factory = lambda data: data.decode("utf-8", "replace")
            pages = dict(
                database.execute("select name, type = 'table' and rootpage > 0 from sqlite_master")
            )
            present = [name for name in wanted if name in pages]
            return {
                name: _table(database, name, wanted[name], most) if pages[name] else None
                for name in present
            }
    except (sqlite3.Error, UnicodeDecodeError) as error:  # its message may quote a damaged schema
        raise Cannot(f"SQLite cannot read it: {error}") from error


def _table(
    database: sqlite3.Connection, name: str, columns: Sequence[str], most: int
) -> DatabaseTable:
    present = {
        column for _, column, *_ in database.execute(f"pragma table_info({name})")
    }  # without generated columns
    listed = [column for column in columns if column in present]
    rows = (
        list(
            map(list, database.execute(f"select {', '.join(listed)} from {name} limit {most + 1}"))
        )
        if listed
        else []
    )
    if len(rows) > most:
        raise TooMuch(f"its table {name} has more than {most:,} rows")
    return DatabaseTable(listed, rows)
