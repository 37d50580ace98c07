"""A new store of a test begins as a copy of empty tables: to make them takes time."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import duckdb

from ingest.store.opening import ALIAS, FILE_OPTIONS, attach_sql, begin_file, engine, write_out


def write_empty(path: Path) -> Path:
    """Write a file with the tables of a store and no row, as the program makes it."""
    with engine() as connection:
        begin_file(connection, path)
        write_out(connection)
    return path


def begin_as_copy_of(
    empty: Callable[[], Path],
) -> Callable[[duckdb.DuckDBPyConnection, Path], None]:
    """In place of `ingest.store.opening.begin_file`.

    Attaches a copy of a file with these tables, which is asked for with the first one.
    """
    found = cache(empty)

    def begin(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        shutil.copy(found(), path)
        connection.execute(attach_sql(str(path), ALIAS, *FILE_OPTIONS))
        connection.execute(f"use {ALIAS}")

    return begin
