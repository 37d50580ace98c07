"""The tables and views of a new store: made before its first transaction, or in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import duckdb

from ingest.store.opening.attaching import ALIAS, NEW_FILE_OPTIONS, attach_sql, write_out
from ingest.store.opening.engines import connected
from ingest.store.statements import run, sql_of

VIEWS = ("v_runs", "v_model_rows", "v_measurements", "v_measured_runs", "v_speedups", "v_quadrants", "v_verdicts")
"""The files of `sql/views/`, each behind those that it reads."""

_VIEW_OPTIONS = "" if duckdb.__version__.startswith("1.") else " with (defer_binding)"
"""Options of the views of a new store. Views that read views are bound again with each: a third of the time that a new store takes. They
are bound when they are used. DuckDB 1.x cannot defer it."""


def make_tables(connection: duckdb.DuckDBPyConnection, dialect: Callable[[str], str] = str) -> None:
    """Make tables, comments and views. `dialect`: what turns the SQL of a file into that of another store."""
    run(connection, dialect(sql_of("schema")))
    for view in VIEWS:
        run(connection, dialect(view_sql(view)))


def view_sql(view: str) -> str:
    """The statement that makes one of VIEWS, with its comments."""
    return sql_of(f"views/{view}").replace(f" view {view} as\n", f" view {view}{_VIEW_OPTIONS} as\n")


def tables_in(place: Path, /) -> Path:
    """Make a file with the tables of a store, but without the row of `store_meta` that makes it one. Raises duckdb.Error.

    It may run in a thread while others import, so it imports nothing.
    """
    with connected(ALIAS) as connection:
        connection.execute(attach_sql(str(place), ALIAS, NEW_FILE_OPTIONS))
        connection.execute(f"use {ALIAS}")
        connection.begin()
        make_tables(connection)
        connection.commit()
        write_out(connection)
    return place


class TablesAhead:
    """The tables of a new store, made in a thread while its first records are read.

    That takes 0.15 s, in which DuckDB leaves the interpreter to the reader.
    """

    def __init__(self) -> None:
        self._made: Future[Path] | None = None

    @contextmanager
    def making(self, folder: Path) -> Iterator[None]:
        """Make them during the block, in a file in `folder`, which is on the disk of the store."""
        with ThreadPoolExecutor(1) as thread:
            self._made = thread.submit(tables_in, folder / "tables.duckdb")
            try:
                yield
            finally:
                self._made = None

    def put(self, place: Path) -> None:
        """Move the file to this place; where none was made ahead, make it there. Raises OSError, duckdb.Error."""
        made, self._made = self._made, None
        if made and not made.exception():
            made.result().rename(place)
        else:
            tables_in(place)
