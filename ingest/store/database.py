"""The store: the only place that opens it, and the only writer.

A store is whatever DuckDB can attach, under the alias `tachograph`. It is opened late and closed early, since a process that
writes shuts out every other one: a reader or writer that finds it held waits its turn in a queue, says so, and gives up after a bound.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from ingest.store.errors import FAILURES, INTERRUPTED, failed, is_held, missing, other_version, unreachable, unusable
from ingest.store.new_store import NewStore, discard, is_blank
from ingest.store.own_files import REBUILDING, SPOOL, OwnFiles, is_path, remove_database, sweep
from ingest.store.queue import Queue
from ingest.store.waiting import Held, Patience, keeper_in
from ingest.system.signals import put_off
from schemas.errors import NotAStore, StoreError
from schemas.rows.row import Row
from schemas.rows.source import StoreMetaRow
from schemas.rows.tables import SCHEMA_VERSION, TABLES, arrow_table

ALIAS = "tachograph"
FORMER = "former"
DEFAULT_WAIT_SECONDS = 30.0
_FILE_OPTIONS = ("row_group_size 16384", *(("storage_version 'latest'",) if duckdb.__version__.startswith("1.") else ()))
"""How a new store is made. Row groups of this size are compressed in parallel and written while inserting; a batch in groups of the
default size would pass through the write-ahead log first, uncompressed (measured: 5.3 s against 0.7 s for 100,000 runs). DuckDB 1.x
keeps text with zstd only in its latest storage version."""

_WRITING = "set memory_limit = '1GB'"
"""A commit streams from the spool to the store: it needs no more, whatever its size, and would otherwise take what it finds."""

_SQL = resources.files("ingest.store") / "sql"
_SETTINGS = "set timezone = 'UTC'; set preserve_insertion_order = false; set checkpoint_threshold = '1MB'"


class _Attached(NamedTuple):
    """A connection with the store attached, the `new` one if there was none, and what is to be done `after` the connection is closed."""

    connection: duckdb.DuckDBPyConnection
    new: NewStore | None
    after: ExitStack


class Store:
    """One store at one location. Holds no connection: every use attaches anew.

    `wait_seconds`: how long the same process may keep the store from us. `on_wait` is told who keeps it, in words, and again when that
    is another one.
    """

    def __init__(
        self, location: str | Path, wait_seconds: float = DEFAULT_WAIT_SECONDS, on_wait: Callable[[str], object] | None = None
    ) -> None:
        self.location = str(location)
        self._wait_seconds = wait_seconds
        self._on_wait = on_wait or (lambda _: None)
        self._place = os.path.realpath(self.location) if self.is_file else self.location
        self._own_files = OwnFiles(self._place)
        self._queue = Queue(self._place if self.is_file else None)
        self.has_written = False
        """Whether a transaction of this object was committed: what an interrupt can no longer undo."""

    @property
    def is_file(self) -> bool:
        """Whether the location is a path (and not `md:…`, `ducklake:…`)."""
        return is_path(self.location)

    @property
    def folder(self) -> Path:
        """Where things may lie beside the store: its own folder, or that of temporary files. Raises StoreError where there is none."""
        if not self.is_file:
            return Path(tempfile.gettempdir())
        folder = Path(self._place).parent
        if not os.path.isdir(folder):  # noqa: PTH112  False, where Path.is_dir() fails over a folder that may not be looked into
            raise StoreError(
                f"cannot make a store at {self.location}: the folder {folder} does not exist.", "Make it, or choose another --db."
            )
        return folder

    @property
    def spool_prefix(self) -> str:
        """What the names of the folders begin with that ingests under way have in `folder`."""
        return f"{Path(self._place).name if self.is_file else 'tachograph'}{SPOOL}"

    def owns(self, path: Path) -> bool:
        """Whether a file is the store itself or something of ours beside it, and so nobody's log and no place to write to."""
        return self.is_file and path in self._own_files

    def exists(self) -> bool:
        """Whether something is there; a location that is no path is taken to be. A blank file is nothing: it holds nothing yet.

        Raises StoreError where that cannot be told.
        """
        try:
            return not self.is_file or not is_blank(self._place)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, ValueError) as error:
            raise unreachable(self.location, error) from error

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection with the store's tables and views in reach. Raises StoreError."""
        if not self.exists():
            raise missing(self.location)
        with self._attached(read_only=True) as (connection, _, _):
            _require_version(connection, self.location)
            yield connection

    @contextmanager
    def writing(self, *, make: bool = True) -> Iterator[Writer]:
        """One transaction, committed at the end and rolled back on any error; makes the store if there is none and it is to `make` one.

        On an error, what was not there before is not there afterwards. Raises StoreError.
        """
        if not make and not self.exists():
            raise missing(self.location)
        _ = self.folder
        with self._attached(read_only=False) as (connection, new, _):
            connection.begin()
            try:
                if make and not _tables(connection):
                    create_schema(connection)
                _require_version(connection, self.location)
                yield Writer(connection)
                with put_off():
                    connection.commit()
                    if new:
                        _finish(connection)
                        self._done(new.put_in_place)
                    self.has_written = True
            except BaseException:
                with put_off(), suppress(duckdb.Error):  # after a commit, also one that failed, there is nothing to roll back
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
            raise missing(self.location)
        aside = Path(f"{self._place}{REBUILDING}")
        with self._attached(read_only=False, alias=FORMER) as (connection, _, after):
            stored_version(connection, self.location)
            connection.execute(f"checkpoint {FORMER}")  # or its log would lie beside the new store, to which it does not belong
            self._done(partial(remove_database, aside))  # whoever left it lives no more: the store would be locked
            after.callback(discard, aside)
            connection.execute(_attach_sql(str(aside), ALIAS, read_only=False))
            connection.execute(f"use {ALIAS}")
            connection.begin()
            create_schema(connection)
            yield connection.cursor(), Writer(connection)
            with put_off():
                connection.commit()
                _finish(connection)
                self._done(partial(aside.replace, self._place))
                self.has_written = True

    def _done(self, change: Callable[[], object]) -> None:
        """Change files. Raises StoreError."""
        try:
            change()
        except OSError as error:
            raise failed(self.location, error) from error

    @contextmanager
    def _attached(self, *, read_only: bool, alias: str = ALIAS) -> Iterator[_Attached]:
        """The store in reach of a connection, or where there is none a new one to write to; ours until the end of the block."""
        with ExitStack() as after, closing(duckdb.connect()) as connection:
            try:
                new = self._attach(connection, alias, after, read_only=read_only)
                connection.execute(f"use {alias}")
                connection.execute(_SETTINGS)
                connection.execute("set temp_directory = $folder", {"folder": tempfile.gettempdir()})
                if not read_only:
                    connection.execute(_WRITING)
                yield _Attached(connection, new, after)
            except FAILURES as error:
                raise failed(self.location, error) from error
            except RuntimeError as error:
                if INTERRUPTED in str(error):
                    raise KeyboardInterrupt from error
                raise

    def _attach(self, connection: duckdb.DuckDBPyConnection, alias: str, after: ExitStack, *, read_only: bool) -> NewStore | None:
        """Attach the store, or a new one, once it is our turn. Raises StoreError."""
        attach = partial(self._attach_now, connection, alias, after, read_only=read_only)
        if read_only and self._queue.is_empty():
            with suppress(Held):
                return attach()
        patience = Patience(self.location, self._wait_seconds, self._on_wait)
        with ExitStack() as attaching:  # whoever reads lets the next one in at once: DuckDB's lock keeps writers away
            ticket = (attaching if read_only else after).enter_context(self._queue.ticket("reader" if read_only else "writer"))
            patience.wait_for_turn(ticket)
            new = patience.repeat(attach, ticket)
        if ticket and not read_only:
            ticket.tell_ours()
        if self.is_file and not read_only:
            sweep(self._place, new.path if new else None, is_our_turn=ticket is not None)
        return new

    def _attach_now(self, connection: duckdb.DuckDBPyConnection, alias: str, after: ExitStack, *, read_only: bool) -> NewStore | None:
        """Attach it without waiting. Raises Held, StoreError."""
        with put_off():  # or it might make a file of which nobody knows
            new = None if read_only or self.exists() else self._begin_new(after)
            try:
                connection.execute(_attach_sql(str(new.path) if new else self._place, alias, read_only=read_only))
            except duckdb.Error as error:
                if is_held(error):
                    raise Held(keeper_in(error, read_only=read_only)) from error
                raise unusable(self.location, error) from error
        return new

    def _begin_new(self, after: ExitStack) -> NewStore:
        try:
            new = NewStore(self._place)
        except BlockingIOError as error:
            raise Held(None) from error
        except OSError as error:
            raise unreachable(self.location, error) from error
        after.callback(new.discard)
        return new


class Writer:
    """Writes inside the one transaction of `Store.writing`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def source_counts(self, source_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What became of sources read before: what was accepted then is a duplicate now."""
        sql = """select source_id, kind, documents, 0 as accepted, accepted + duplicates as duplicates, rejected, ignored
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


def _finish(connection: duckdb.DuckDBPyConnection) -> None:
    """Close the new store so that its file alone is whole. Detaching writes everything too, but says nothing where the disk is full."""
    connection.execute(f"checkpoint {ALIAS}; use memory; detach {ALIAS}")


def create_schema(connection: duckdb.DuckDBPyConnection) -> None:
    """Make tables, comments and views, and the row of `store_meta`."""
    run_step(connection, "schema")
    for view in sorted((_SQL / "views").iterdir(), key=lambda file: file.name):
        connection.execute(view.read_text())
    meta = StoreMetaRow(schema_version=SCHEMA_VERSION, created_by=version("tachograph"), created_at=datetime.now(UTC))
    Writer(connection).insert("store_meta", [meta])


def run_step(connection: duckdb.DuckDBPyConnection, step: str, parameters: Mapping[str, object] | None = None) -> None:
    """Run one file of `sql/`, for instance "commit/01_chosen"."""
    connection.execute((_SQL / f"{step}.sql").read_text(), parameters)


@contextmanager
def _registered(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> Iterator[str]:
    connection.register("given", table)
    try:
        yield "given"
    finally:
        connection.unregister("given")


def _attach_sql(location: str, alias: str, *, read_only: bool) -> str:
    place = location.replace("'", "''")
    of_file = ["type duckdb"] if is_path(location) else []  # or a file called `runs.json` would be read as data, and written to nowhere
    options = [*of_file, "read_only"] if read_only else [*of_file, *_FILE_OPTIONS] if of_file else []
    listed = f" ({', '.join(options)})" if options else ""
    return f"attach '{place}' as {alias}{listed}"


def _tables(connection: duckdb.DuckDBPyConnection, alias: str | None = None) -> set[str]:
    """The tables of the database attached under the alias, of the current one by default."""
    sql = "select table_name from duckdb_tables() where database_name = coalesce($alias, current_database())"
    rows = connection.execute(sql, {"alias": alias}).fetchall()
    return {str(name) for (name,) in rows}


def stored_version(connection: duckdb.DuckDBPyConnection, location: str) -> int:
    """Schema version of an attached store. Raises StoreMissing where it has no tables, NotAStore where they are somebody else's."""
    tables = _tables(connection)
    if not tables:
        raise missing(location)
    if "store_meta" not in tables:
        raise NotAStore(f"{location} is a DuckDB database, but not one of Tachograph's.", "Choose another file with --db.")
    [(found,)] = connection.execute("select coalesce(max(schema_version), 0) from store_meta").fetchall()
    return int(found)


def _require_version(connection: duckdb.DuckDBPyConnection, location: str) -> None:
    found = stored_version(connection, location)
    if found != SCHEMA_VERSION:
        raise other_version(location, found)
