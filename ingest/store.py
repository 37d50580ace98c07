"""The store: the only place that opens it, and the only writer.

A store is whatever DuckDB can attach, under the alias `tachograph`. It is opened late and closed early, since a process that
writes shuts out every other one: a reader or writer that finds it held waits, says so, and gives up after a bound.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from schemas.errors import NotAStore, StoreBusy, StoreError, StoreMissing, StoreVersionMismatch
from schemas.row import Row
from schemas.source import StoreMetaRow
from schemas.tables import SCHEMA_VERSION, TABLES, arrow_table

ALIAS = "tachograph"
FORMER = "former"
DEFAULT_WAIT_SECONDS = 30.0
_FILE_OPTIONS = ("row_group_size 16384", *(("storage_version 'latest'",) if duckdb.__version__.startswith("1.") else ()))
"""How a new store is made. Row groups of this size are compressed in parallel and written while inserting; a batch in groups of the
default size would pass through the write-ahead log first, uncompressed (measured: 5.3 s against 0.7 s for 100,000 runs). DuckDB 1.x
keeps text with zstd only in its latest storage version."""

_WRITING = "set memory_limit = '1GB'"
"""A commit streams from the spool to the store: it needs no more, whatever its size, and would otherwise take what it finds."""

_SETTINGS = "set timezone = 'UTC'; set preserve_insertion_order = false; set checkpoint_threshold = '1MB'"
_HELD = ("Could not set lock", "Conflicting lock", "Unique file handle conflict", "different configuration")
_FAILURES = (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.FatalException)
"""What a full or broken disk looks like; any other error of DuckDB's is a mistake of ours."""

_NO_SUCH_FILE = ("database does not exist", "No such file or directory")


class Store:
    """One store at one location. Holds no connection: every use attaches anew.

    `on_wait` is told once, in words, when another process holds the store and we wait for it.
    """

    def __init__(
        self, location: str | Path, wait_seconds: float = DEFAULT_WAIT_SECONDS, on_wait: Callable[[str], None] | None = None
    ) -> None:
        self.location = str(location)
        self._wait_seconds = wait_seconds
        self._on_wait = on_wait or (lambda _: None)

    @property
    def is_file(self) -> bool:
        """Whether the location is a path (and not `md:…`, `ducklake:…`)."""
        return _is_path(self.location)

    @property
    def folder(self) -> Path:
        """Where things may lie beside the store: its own folder, or that of temporary files. Raises StoreError where there is none."""
        if not self.is_file:
            return Path(tempfile.gettempdir())
        folder = Path(self.location).parent
        if not folder.is_dir():
            raise StoreError(
                f"cannot make a store at {self.location}: the folder {folder} does not exist.", "Make it, or choose another --db."
            )
        return folder

    def owns(self, path: Path) -> bool:
        """Whether a file is the store itself or something of ours beside it, and so nobody's log."""
        place, mine = os.path.abspath(path), os.path.abspath(self.location)  # noqa: PTH100 - pathlib takes ten times as long
        return self.is_file and place.startswith(mine)

    def exists(self) -> bool:
        """Whether something is there; a location that is no path is taken to be."""
        return not self.is_file or Path(self.location).exists()

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection with the store's tables and views in reach. Raises StoreError."""
        if not self.exists():
            raise _missing(self.location)
        with self._attached(read_only=True) as connection:
            _require_version(connection, self.location)
            yield connection

    def known_sources(self, *, without_rejects: bool = False) -> frozenset[str]:
        """The source_ids the store has, none where there is no store. Raises StoreError.

        `without_rejects`: only those of which nothing was rejected, and no archive (no document is its own): a member may be at fault.
        """
        try:
            with self.reading() as connection:
                condition = "where rejected = 0 and documents > 0" if without_rejects else ""
                return frozenset(str(found) for (found,) in connection.execute(f"select source_id from sources {condition}").fetchall())
        except StoreMissing:
            return frozenset()

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """One transaction, committed at the end and rolled back on any error; makes the store if there is none."""
        _ = self.folder
        with self._attached(read_only=False) as connection:
            connection.begin()
            try:
                if not _tables(connection):
                    create_schema(connection)
                _require_version(connection, self.location)
                yield Writer(connection)
                connection.commit()
            except BaseException:
                connection.rollback()
                raise

    @contextmanager
    def replacing(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, Writer]]:
        """A new store built beside this one, put in its place at the end: (a cursor that reads the `former`, the new one's writer).

        The former store is locked meanwhile, whatever its version, and stays as it is on any error.
        """
        if not self.is_file:
            raise StoreError(f"{self.location} is no file: only a store in a file can be rebuilt.", "Ingest the logs into a new store.")
        if not self.exists():
            raise _missing(self.location)
        aside = Path(f"{self.location}.rebuilding")
        _remove(aside)
        try:
            with self._attached(read_only=False, alias=FORMER) as connection:
                stored_version(connection, self.location)
                connection.execute(_attach_sql(str(aside), ALIAS, read_only=False))
                connection.execute(f"use {ALIAS}")
                connection.begin()
                create_schema(connection)
                yield connection.cursor(), Writer(connection)
                connection.commit()
                connection.execute(f"use memory; detach {ALIAS}")
                aside.replace(self.location)
        finally:
            _remove(aside)

    @contextmanager
    def _attached(self, *, read_only: bool, alias: str = ALIAS) -> Iterator[duckdb.DuckDBPyConnection]:
        connection = duckdb.connect()
        try:
            self._attach(connection, alias, read_only=read_only)
            connection.execute(f"use {alias}")
            connection.execute(_SETTINGS)
            connection.execute("set temp_directory = $folder", {"folder": tempfile.gettempdir()})
            if not read_only:
                connection.execute(_WRITING)
            yield connection
        except _FAILURES as error:
            raise StoreError(
                f"{self.location} failed: {_reason(error)}", "Check the disk; `tachograph doctor` checks the store."
            ) from error
        finally:
            connection.close()

    def _attach(self, connection: duckdb.DuckDBPyConnection, alias: str, *, read_only: bool) -> None:
        deadline = time.monotonic() + self._wait_seconds
        told = False
        while True:
            try:
                connection.execute(_attach_sql(self.location, alias, read_only=read_only))
                return
            except duckdb.Error as error:
                if not any(words in str(error) for words in _HELD):
                    raise _unusable(self.location, error) from error
                if time.monotonic() >= deadline:
                    raise _busy(self.location, self._wait_seconds, error) from error
            if not told and time.monotonic() > deadline - self._wait_seconds + 0.5:
                self._on_wait(f"{self.location} is in use by another process; waiting up to {self._wait_seconds:g} s for it")
                told = True
            time.sleep(random.uniform(0.005, 0.05))  # noqa: S311 (so that two waiters do not meet again and again)


class Writer:
    """Writes inside the one transaction of `Store.writing`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def cards(self, source_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What became of sources read before: what was accepted then is a duplicate now."""
        sql = """select source_id, documents, 0 as accepted, accepted + duplicates as duplicates, rejected, ignored
                 from sources semi join given using (source_id)"""
        with _registered(self.connection, pa.table({"source_id": pa.array(source_ids, pa.string())})):
            rows = self.connection.sql(sql).to_arrow_table().to_pylist()
        return {row.pop("source_id"): row for row in rows}

    def insert(self, table: str, rows: Sequence[Row]) -> None:
        """Add rows to the table that holds their kind."""
        self.insert_table(table, arrow_table(TABLES[table], rows))

    def insert_table(self, table: str, rows: pa.Table) -> None:
        """Add rows that are an Arrow table already."""
        if rows.num_rows:
            with _registered(self.connection, rows) as name:
                self.connection.execute(f"insert into {table} by name select * from {name}")


def create_schema(connection: duckdb.DuckDBPyConnection) -> None:
    """Make tables, comments and views, and the store's own card."""
    sql = resources.files("ingest") / "sql"
    connection.execute((sql / "schema.sql").read_text())
    for view in sorted((sql / "views").iterdir(), key=lambda file: file.name):
        connection.execute(view.read_text())
    card = StoreMetaRow(schema_version=SCHEMA_VERSION, created_by=version("tachograph"), created_at=datetime.now(UTC))
    Writer(connection).insert("store_meta", [card])


@contextmanager
def _registered(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> Iterator[str]:
    connection.register("given", table)
    try:
        yield "given"
    finally:
        connection.unregister("given")


def _is_path(location: str) -> bool:
    """Two letters and more before a colon name a kind of store (`md:…`); one is a drive."""
    return not re.match(r"[A-Za-z][\w+.-]+:", location)


def _attach_sql(location: str, alias: str, *, read_only: bool) -> str:
    place = location.replace("'", "''")
    options = ["read_only"] if read_only else list(_FILE_OPTIONS) if _is_path(location) else []
    listed = f" ({', '.join(options)})" if options else ""
    return f"attach '{place}' as {alias}{listed}"


def _remove(database: Path) -> None:
    for file in (database, Path(f"{database}.wal")):
        file.unlink(missing_ok=True)


def _tables(connection: duckdb.DuckDBPyConnection) -> set[str]:
    rows = connection.execute("select table_name from duckdb_tables() where database_name = current_database()").fetchall()
    return {str(name) for (name,) in rows}


def stored_version(connection: duckdb.DuckDBPyConnection, location: str) -> int:
    """Schema version of an attached store. Raises StoreMissing where it has no tables, NotAStore where they are somebody else's."""
    tables = _tables(connection)
    if not tables:
        raise _missing(location)
    if "store_meta" not in tables:
        raise NotAStore(f"{location} is a DuckDB database, but not one of Tachograph's.", "Choose another file with --db.")
    [(found,)] = connection.execute("select coalesce(max(schema_version), 0) from store_meta").fetchall()
    return int(found)


def _require_version(connection: duckdb.DuckDBPyConnection, location: str) -> None:
    found = stored_version(connection, location)
    if found > SCHEMA_VERSION:
        raise StoreVersionMismatch(
            f"{location} was written by a newer Tachograph (tables of version {found}; this program knows {SCHEMA_VERSION}).",
            "Upgrade with `pip install -U tachograph`, or choose another store with --db.",
        )
    if found < SCHEMA_VERSION:
        raise StoreVersionMismatch(
            f"{location} has tables of version {found}; this program needs {SCHEMA_VERSION}.",
            "Run `tachograph rebuild`: it makes them anew from the raw records, which are kept.",
        )


def _missing(location: str) -> StoreMissing:
    return StoreMissing(f"There is no store at {location} yet.", "Make one with `tachograph ingest PATH`, or choose another with --db.")


def _busy(location: str, seconds: float, error: duckdb.Error) -> StoreBusy:
    holder = str(error).partition("Conflicting lock is held in ")[2].partition(". See")[0]
    by = f" by {holder}" if holder else ""
    return StoreBusy(
        f"{location} is held{by}; gave up after {seconds:g} s.", "Close the other program, or wait longer with --wait SECONDS."
    )


def _reason(error: duckdb.Error) -> str:
    return str(error).partition("Error: ")[2] or str(error)


def _unusable(location: str, error: duckdb.Error) -> StoreError:
    reason = _reason(error)
    if any(words in reason for words in _NO_SUCH_FILE):
        return _missing(location)
    return NotAStore(f"{location} cannot be used as a store: {reason}", "Choose another file with --db.")
