"""The store: opening it, reading it and writing to it. Nothing else opens it.

A store is whatever DuckDB can attach, under the alias `tachograph`. It is opened late and closed early, since a process that
writes keeps all others out. A reader or writer that finds it locked waits in a queue, says so, and gives up after a while.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import duckdb

from ingest.store.errors import FAILURES, INTERRUPTED, failed, missing, other_version, told_at, unreachable, unusable
from ingest.store.lake.attaching import Lake
from ingest.store.lake.errors import Overtaken
from ingest.store.lake.replacing import copy_aside, drop_all, require_unchanged
from ingest.store.lake.tables import as_lake_sql
from ingest.store.lake.turns import Turns, lock_catalog, take_turn
from ingest.store.opening.attaching import ALIAS, FILE_OPTIONS, NEW_FILE_OPTIONS, attach_sql, write_out
from ingest.store.opening.engines import MANY_BYTES, connected, use_all_cores
from ingest.store.opening.new_store import NewStore, discard, is_blank
from ingest.store.opening.own_files import REBUILDING, SPOOL, OwnFiles, has_leftovers, is_path, remove_database, remove_leftovers
from ingest.store.opening.queue import Queue
from ingest.store.opening.tables import TablesAhead, make_tables
from ingest.store.opening.waiting import StoreHeld, Wait, holder_in, is_held
from ingest.store.statements import run, sql_of
from ingest.system.command_lines import DEFAULT_STORE
from ingest.system.locations import is_lake, without_secrets
from ingest.system.signals import put_off
from ingest.system.temporary import temporary_folder
from schemas.errors import NotAStore, StoreError, StoreMissing, UsageError
from schemas.store_version import SCHEMA_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

    from schemas.rows.row import Row

PREVIOUS = "previous"
DEFAULT_WAIT_SECONDS = 30.0
WRITING_MEGABYTES = 900
_WRITING = f"set memory_limit = '{WRITING_MEGABYTES}MB'; set preserve_insertion_order = false"
"""A commit streams from the spool to the store, in any order, and needs no more memory for a million records; without a limit DuckDB would
take most of the machine's."""

warnings.filterwarnings("ignore", "Arrow output on a DB-API result makes an extra copy", UserWarning)  # see `arrow`: answers are small


T = TypeVar("T")


class _Attached(NamedTuple):
    """A connection with the store attached; the `new` store, if there was none; callbacks for `after` the connection is closed."""

    connection: duckdb.DuckDBPyConnection
    new: NewStore | None
    after: ExitStack


class Store:
    """One store at one location. Holds no connection: every use opens the store and closes it again.

    `wait_seconds`: how long to wait for one process that holds the store; when another one takes over, the time starts again. `on_wait`
    is called with a message on each of them. `at`: read the store as it was at that time, which only a lake can.
    """

    versions: tuple[int, ...] = (SCHEMA_VERSION,)
    """Versions of the tables that it may have."""

    def __init__(
        self,
        location: str | Path,
        wait_seconds: float = DEFAULT_WAIT_SECONDS,
        on_wait: Callable[[str], object] | None = None,
        at: datetime | None = None,
    ) -> None:
        given = str(location)
        self.location = without_secrets(given)
        """As it may be shown."""
        self.at = at
        self._wait_seconds = wait_seconds
        self._on_wait = on_wait or (lambda _: None)
        self._lake = Lake(given, self.location, at) if is_lake(given) else None
        if at and not self._lake:
            raise UsageError(f"{self.location} keeps no history: only a lake can be read as it was.", "Leave out --at.")
        self._place = os.path.realpath(given) if self.is_file else given
        self._own_files = OwnFiles(self._place)
        self._queue = Queue(self._place if self.is_file else self._lake.catalog_file if self._lake else None)
        self._tables_ahead = TablesAhead()
        self.has_written = False
        """Whether a transaction of this object was committed, so that an interrupt cannot undo it."""

    @property
    def is_file(self) -> bool:
        """Whether the location is a path (and not `md:…`, `ducklake:…`)."""
        return is_path(self.location)

    @property
    def folder(self) -> Path:
        """The folder for files beside the store: its own, or that of temporary files. Raises StoreError where it does not exist."""
        if not self.is_file:
            return Path(tempfile.gettempdir())
        folder = Path(self._place).parent
        if not os.path.isdir(folder):  # noqa: PTH112  False where Path.is_dir() raises: a folder without permission
            raise StoreError(
                f"cannot create a store at {self.location}: the folder {folder} does not exist.", "Create it, or choose another --db."
            )
        return folder

    @property
    def spool_prefix(self) -> str:
        """Prefix of the spool folders of running ingests in `folder`."""
        return f"{Path(self._place).name if self.is_file else 'tachograph'}{SPOOL}"

    def owns(self, path: Path) -> bool:
        """Whether a file is the store, or one that belongs to it: such files are not ingested, and no export replaces them."""
        return self.is_file and path in self._own_files

    @property
    def has_leftovers(self) -> bool:
        """Whether files of a writer are beside the store, which the next writer takes up or removes."""
        return self.is_file and has_leftovers(self._place)

    def exists(self) -> bool:
        """Whether there is a store. A location that is not a path is assumed to have one; an empty file is not a store.

        Raises StoreError where it is a folder, and where the file system does not say.
        """
        if self.is_file and os.path.isdir(self._place):  # noqa: PTH112  as above
            raise NotAStore(f"{self.location} is a folder, and not a store.", f"Name a file in it: --db {self.location}/{DEFAULT_STORE}")
        try:
            return not self.is_file or not is_blank(self._place)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, ValueError) as error:
            raise unreachable(self.location, error) from error

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection with the tables and views of the store. Raises StoreError."""
        if not self.exists():
            raise missing(self.location)
        with self._attached(read_only=True) as (connection, _, _):
            with told_at(self.location, self.at):
                self._require_version(connection)
            yield connection

    def write(self, change: Callable[[Writer], T], *, make: bool = True) -> T:
        """Call `change` in one transaction, and return its value.

        Of a lake, it is called again in a new transaction where another writer committed meanwhile. Otherwise as `writing`.
        """
        turns = Turns(self.location, self._wait_seconds, self._on_wait)
        while True:
            try:
                with self.writing(make=make) as writer:
                    done = change(writer)
                return done  # noqa: RET504  the transaction is committed before
            except Overtaken as overtaken:
                turns.wait(overtaken)

    @contextmanager
    def writing(self, *, make: bool = True) -> Iterator[Writer]:
        """One transaction, committed at the end and rolled back on any error. `make`: create the store if there is none.

        After an error, a store that did not exist before does not exist. Raises StoreError.
        """
        if not make and not self.exists():
            raise missing(self.location)
        _ = self.folder
        with self._attached(read_only=False) as (connection, new, _):
            is_empty = new is not None or self._is_empty(connection)
            if is_empty and (self._lake or not make):
                raise missing(self.location)
            connection.begin()
            try:
                if self._lake:
                    take_turn(connection)
                if is_empty:
                    create_schema(connection, has_tables=new is not None)
                writer = Writer(connection)
                yield writer
                with put_off():
                    if self._lake and writer.is_needless:
                        connection.rollback()
                        return
                    connection.commit()
                    if new:
                        write_out(connection)
                        self._done(new.put_in_place)
                    self.has_written = True
            except BaseException:
                with put_off(), suppress(duckdb.Error):  # after a commit, even a failed one, there is nothing to roll back
                    connection.rollback()
                raise

    @contextmanager
    def replacing(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, Writer]]:
        """A new store, built beside this one and moved to its place at the end: (cursor on the `previous` store, writer of the new one).

        The previous store may have any earlier version. It is locked meanwhile, and unchanged after an error.
        """
        if not self.exists():
            raise missing(self.location)
        if not self.is_file:
            with self._replacing_tables() as both:
                yield both
            return
        aside = Path(f"{self._place}{REBUILDING}")
        with self._attached(read_only=False, alias=PREVIOUS) as (connection, _, after):
            self._require_whole(connection)
            connection.execute(f"checkpoint {PREVIOUS}")  # otherwise its write-ahead log would end up beside the new store
            self._done(partial(remove_database, aside))  # left by a killed process: a living one would hold the lock on the store
            after.callback(discard, aside)
            connection.execute(attach_sql(str(aside), ALIAS, NEW_FILE_OPTIONS))
            connection.execute(f"use {ALIAS}")
            connection.begin()
            create_schema(connection)
            yield connection.cursor(), Writer(connection)
            with put_off():
                connection.commit()
                write_out(connection)
                self._done(partial(aside.replace, self._place))
                self.has_written = True

    @contextmanager
    def _replacing_tables(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, Writer]]:
        """The same of a lake: its tables are copied aside, then dropped and made again in one transaction."""
        if not self._lake:
            raise StoreError(f"{self.location} is no file and no lake: it cannot be rebuilt.", "Ingest the logs into a new store.")
        with TemporaryDirectory(dir=temporary_folder()) as folder, self._attached(read_only=False) as (connection, _, after):
            self._require_whole(connection)
            after.callback(_detach, connection, PREVIOUS)
            connection.execute(attach_sql(f"{folder}/previous.duckdb", PREVIOUS, NEW_FILE_OPTIONS))
            snapshot = copy_aside(connection, ALIAS, PREVIOUS)
            connection.begin()
            take_turn(connection)
            require_unchanged(connection, ALIAS, snapshot, self.location)
            drop_all(connection, ALIAS)
            create_schema(connection, as_lake_sql)
            yield connection.cursor(), Writer(connection)
            with put_off():
                connection.commit()
                self.has_written = True

    @contextmanager
    def making_tables(self, folder: Path) -> Iterator[None]:
        """Where there is no store yet, make its tables in a file in `folder` during the block. `writing` takes them from there."""
        with self._tables_ahead.making(folder) if self.is_file and not self.exists() else nullcontext():
            yield

    def _require_version(self, connection: duckdb.DuckDBPyConnection) -> None:
        found = stored_version(connection, self.location)
        if found not in self.versions:
            raise other_version(self.location, found)

    def _require_whole(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Whatever earlier version it has: no incomplete copy, and none of a later program, whose store has more than we would keep.

        Raises StoreError.
        """
        if (found := stored_version(connection, self.location)) > SCHEMA_VERSION:
            raise other_version(self.location, found)

    def _is_empty(self, connection: duckdb.DuckDBPyConnection) -> bool:
        """Whether an attached database has no tables yet. Raises StoreError where it has others than a store of this version."""
        try:
            self._require_version(connection)
        except StoreMissing:
            return True
        return False

    def _done(self, change: Callable[[], object]) -> None:
        """Call `change`, which changes files. Raises StoreError."""
        try:
            change()
        except OSError as error:
            raise failed(self.location, error) from error

    @contextmanager
    def _attached(self, *, read_only: bool, alias: str = ALIAS) -> Iterator[_Attached]:
        """A connection with the store attached until the end of the block; with a new store, where there is none and it is written to."""
        kept_as = self._lake.kept_as if self._lake and read_only else ""
        with ExitStack() as after, connected(alias, kept_as) as connection:
            try:
                new = self._attach(connection, alias, after, read_only=read_only)
                run(connection, f"use {alias}" if read_only else f"use {alias}; {_WRITING}")
                with self._sole_writing(connection, alias, read_only=read_only):
                    yield _Attached(connection, new, after)
            except duckdb.Error as error:
                if self._lake:
                    with self._lake.told():
                        raise
                if isinstance(error, FAILURES):
                    raise failed(self.location, error) from error
                raise
            except RuntimeError as error:
                if INTERRUPTED in str(error):
                    raise KeyboardInterrupt from error
                raise

    def _sole_writing(self, connection: duckdb.DuckDBPyConnection, alias: str, *, read_only: bool) -> AbstractContextManager[object]:
        """The block in which no other writer commits to the lake; of a file, the lock of DuckDB says so."""
        if read_only or not (self._lake and self._lake.is_in_postgresql):
            return nullcontext()
        return lock_catalog(connection, alias, Wait(self.location, self._wait_seconds, self._on_wait))

    def _attach(self, connection: duckdb.DuckDBPyConnection, alias: str, after: ExitStack, *, read_only: bool) -> NewStore | None:
        """Wait in the queue, then attach the store or a new one. Raises StoreError."""
        attach = partial(self._attach_now, connection, alias, after, read_only=read_only)
        if read_only and self._queue.is_empty():
            with suppress(StoreHeld):
                return attach()
        wait = Wait(self.location, self._wait_seconds, self._on_wait)
        with ExitStack() as attaching:  # a reader leaves the queue at once: DuckDB's lock keeps writers away
            ticket = (attaching if read_only else after).enter_context(self._queue.ticket("reader" if read_only else "writer"))
            wait.wait_for_turn(ticket)
            new = wait.repeat(attach, ticket)
        if ticket and not read_only:
            ticket.tell_ours()
        if self.is_file and not read_only:
            remove_leftovers(self._place, new.path if new else None, is_our_turn=ticket is not None)
        return new

    def _attach_now(self, connection: duckdb.DuckDBPyConnection, alias: str, after: ExitStack, *, read_only: bool) -> NewStore | None:
        """Attach the store without waiting. Raises StoreHeld, StoreError."""
        if self._lake:
            self._lake.attach(connection, alias, read_only=read_only)
            use_all_cores(connection)
            return None
        with put_off():  # an interrupt here could leave a file that nobody removes
            new = None if read_only or self.exists() else self._begin_new(after)
            try:
                options = ("read_only",) if read_only else NEW_FILE_OPTIONS if new else FILE_OPTIONS
                connection.execute(attach_sql(str(new.path) if new else self._place, alias, options))
            except duckdb.Error as error:
                if is_held(error):
                    raise StoreHeld(holder_in(error, read_only=read_only)) from error
                raise unusable(self.location, error) from error
        with suppress(OSError):
            if not self.is_file or (not new and Path(self._place).stat().st_size >= MANY_BYTES):
                use_all_cores(connection)
        return new

    def _begin_new(self, after: ExitStack) -> NewStore:
        try:
            new = NewStore(self._place)
        except BlockingIOError as error:
            raise StoreHeld(None) from error
        except OSError as error:
            raise unreachable(self.location, error) from error
        after.callback(new.discard)
        self._done(partial(self._tables_ahead.put, new.path))
        return new


class Writer:
    """Writes inside the transaction of `Store.writing`.

    `who` writes, empty for the user of this process. `is_needless`: nothing was written that matters; a lake then gets no snapshot.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.who = ""
        self.is_needless = False

    def insert(self, table: str, rows: Sequence[Row]) -> None:
        """Add rows to a table."""
        from schemas.rows.tables import TABLES, arrow_table  # the models of all tables, which only a writer needs

        self.insert_table(table, arrow_table(TABLES[table], rows))

    def insert_table(self, table: str, rows: pa.Table) -> None:
        """Add rows that are an Arrow table already."""
        if rows.num_rows:
            with _registered(self.connection, rows) as name:
                run(self.connection, f"insert into {table} by name select * from {name}")


_COUNTS = ("kind", "documents", "accepted", "duplicates", "rejected", "ignored")
_COUNTED = """
select source_id, kind, documents, 0, accepted + duplicates, rejected, ignored
from sources
where source_id in (select unnest($source_ids::varchar[]))"""


def _detach(connection: duckdb.DuckDBPyConnection, alias: str) -> None:
    with suppress(duckdb.Error):
        connection.execute(f"detach {alias}")


def create_schema(connection: duckdb.DuckDBPyConnection, dialect: Callable[[str], str] = str, *, has_tables: bool = False) -> None:
    """Make tables and views, unless it has them, and the row of `store_meta`, which makes the database a store.

    `dialect`: what turns the SQL of a file into that of another store.
    """
    from schemas.rows.source import StoreMetaRow

    if not has_tables:
        make_tables(connection, dialect)
    meta = StoreMetaRow(schema_version=SCHEMA_VERSION, created_by=version("tachograph"), created_at=datetime.now(UTC))
    Writer(connection).insert("store_meta", [meta])


def run_step(connection: duckdb.DuckDBPyConnection, step: str, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
    """Run one file of `sql/`, for instance "commit/01_chosen". Returns the rows of its last statement: where it writes, their number."""
    return run(connection, sql_of(step), parameters).fetchall()


def made(connection: duckdb.DuckDBPyConnection, table: str, query: str, parameters: Mapping[str, object] | None = None) -> int:
    """Make a temporary table of the rows of a query. Returns their number."""
    [(rows,)] = run(connection, f"create or replace temp table {table} as {query}", parameters).fetchall()
    return int(rows)


def arrow(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None) -> pa.Table:
    """The rows of a query, on a connection for reading: one for writing would lose their order.

    `connection.sql` would bind the query twice, which takes a third of the time of a small answer.
    """
    return run(connection, sql, parameters).to_arrow_table()


def source_counts(connection: duckdb.DuckDBPyConnection, source_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The counts of sources that were read before, by source_id: accepted records count as duplicates now."""
    if not source_ids:
        return {}
    rows = run(connection, _COUNTED, {"source_ids": list(source_ids)}).fetchall()
    return {source_id: dict(zip(_COUNTS, counts, strict=True)) for source_id, *counts in rows}


def restamp(connection: duckdb.DuckDBPyConnection, times: Mapping[str, int]) -> None:
    """Note when files of known sources were modified (source_id → ns)."""
    if times:
        import pyarrow as pa  # here: a file is seldom touched

        table = pa.table({"source_id": pa.array(times.keys(), pa.string()), "now": pa.array(times.values(), pa.int64())})
        with _registered(connection, table):
            run(connection, "update sources set modified_ns = given.now from given where sources.source_id = given.source_id")


@contextmanager
def _registered(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> Iterator[str]:
    connection.register("given", table)
    try:
        yield "given"
    finally:
        connection.unregister("given")


def stored_version(connection: duckdb.DuckDBPyConnection, location: str) -> int:
    """Schema version of an attached store. Raises StoreMissing where it has no tables, NotAStore where they are not ours."""
    try:
        [(found,)] = run(connection, "select coalesce(max(schema_version), 0) from store_meta").fetchall()
    except duckdb.CatalogException:  # to list the tables of every store that is opened would take longer than to ask ours
        if not connection.execute("select 1 from duckdb_tables() where database_name = current_database() limit 1").fetchone():
            raise missing(location) from None
        raise NotAStore(f"{location} is a DuckDB database, but not a Tachograph store.", "Choose another file with --db.") from None
    return int(found)
