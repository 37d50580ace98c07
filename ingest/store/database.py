"""The store: opening it, reading it and writing to it. Nothing else opens it.

A store is whatever DuckDB can attach, under the alias `tachograph`. It is opened late and closed
early, since a process that writes keeps all others out. A reader or writer that finds it locked
waits, says so, and gives up after a while (`opening`).
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from ingest.store.opening import (
    ALIAS,
    SPOOL,
    Attached,
    OwnFiles,
    StorePlace,
    TransactionLost,
    Wait,
    detach,
    engine,
    has_leftovers,
    is_path,
    make_store,
    make_tables,
    sql_of,
    stored_version,
)  # fmt: skip
from ingest.system.files import held_folder
from ingest.system.signals import put_off
from schemas.errors import StoreError, StoreMissing, UsageError
from schemas.store_version import SCHEMA_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

    from schemas.rows.row import Row

DEFAULT_WAIT_SECONDS = 30.0
WRITING_MEGABYTES = 900
"""A commit streams from the spool and needs no more memory than this for a million records;
DuckDB's default is most of the machine's.
"""

warnings.filterwarnings(
    "ignore", "Arrow output on a DB-API result makes an extra copy", UserWarning
)  # see `arrow`: answers are small

T = TypeVar("T")


def place_of(location: str, at: datetime | None = None) -> StorePlace:
    """Return the kind of place that a location names.

    Raises UsageError if `at` is given and the place keeps no history.
    """
    if location.startswith("ducklake:"):
        from ingest.store.lake.place import Lake

        return Lake(location, at)
    place = StorePlace(location) if is_path(location) else Elsewhere(location)
    if at:
        raise UsageError(
            f"{place.location} keeps no history: only a lake can be read as it was.",
            "Leave out --at.",
        )
    return place


class Store:
    """One store at one location.

    Holds no connection: every use opens the store and closes it again.

    `wait_seconds`: how long to wait for one process that holds the store; the time restarts with
    each new holder. `on_wait` is called with a message about each. `at`: read the store as of that
    time, if it keeps its history.
    """

    versions: tuple[int, ...] = (SCHEMA_VERSION,)

    def __init__(
        self,
        location: str | Path,
        wait_seconds: float = DEFAULT_WAIT_SECONDS,
        on_wait: Callable[[str], object] | None = None,
        at: datetime | None = None,
    ) -> None:
        self._place = place_of(str(location), at)
        self.location = self._place.location
        """The location as it may be shown, without secrets."""
        self.at = at
        self._wait_seconds, self._on_wait = wait_seconds, on_wait or (lambda _: None)
        self._own_files = OwnFiles(self._place.path)
        self.has_written = False
        """Whether a transaction of this object was committed: an interrupt can no longer undo it.
        """

    @property
    def is_file(self) -> bool:
        """Whether the location is a path (and not, for instance, `md:…`)."""
        return self._place.is_file

    def owns(self, path: Path) -> bool:
        """Return whether a file belongs to the store.

        Such files are neither ingested nor replaced by exports.
        """
        return self.is_file and path in self._own_files

    @property
    def has_leftovers(self) -> bool:
        """Whether a writer's files are beside the store; the next writer recovers or drops them."""
        return self.is_file and has_leftovers(self._place.path)

    def exists(self) -> bool:
        """Return whether there is a store. Any location that is not a path is assumed to have one.

        Raises StoreError.
        """
        return self._place.exists()

    @contextmanager
    def spool_folder(self) -> Iterator[Path]:
        """Yield a folder for the rows of an ingest, on the store's disk if that is a file.

        Removes those of killed ingests.

        Raises StoreError.
        """
        with ExitStack() as stack:
            try:
                beside = self._folder() if self.is_file else Path(tempfile.gettempdir())
                prefix = f"{Path(self._place.path).name if self.is_file else 'tachograph'}{SPOOL}"
                folder = stack.enter_context(held_folder(beside, prefix))
            except OSError as error:
                raise StoreError(
                    f"cannot write beside {self.location}: {error.strerror}",
                    "Choose another place with --db.",
                ) from error
            yield folder

    def _folder(self) -> Path:
        """Return the folder of a store in a file. Raises StoreError if it does not exist."""
        folder = Path(self._place.path).parent
        if not folder.is_dir():
            raise StoreError(
                f"cannot create a store at {self.location}: the folder {folder} does not exist.",
                "Create it, or choose another --db.",
            )
        return folder

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a read-only connection with the store's tables and views. Raises StoreError."""
        if not self.exists():
            raise self._place.missing()
        with self._attached(read_only=True) as attached:
            self._require_version(attached.connection)
            yield attached.connection

    def write(self, change: Callable[[Writer], T], *, make: bool = True) -> T:
        """Call `change` in one transaction, and return its value.

        `change` is called again in a new transaction if another writer committed first, which a
        place with many writers allows. Otherwise as `writing`.
        """
        wait = self._wait()
        while True:
            try:
                with self.writing(make=make) as writer:
                    done = change(writer)
                return done  # noqa: RET504  the transaction is committed before
            except TransactionLost as lost:
                wait.lost(lost)

    @contextmanager
    def writing(self, *, make: bool = True) -> Iterator[Writer]:
        """Yield one transaction, committed at the end and rolled back on any error.

        `make`: create the store if there is none.

        After an error, no new store is left. Raises StoreError.
        """
        if not make and not self.exists():
            raise self._place.missing()
        if self.is_file:
            self._folder()
        with self._attached(read_only=False) as attached:
            connection = attached.connection
            is_empty = attached.new is not None or self._is_empty(connection)
            if is_empty and not (make and self._place.is_made_by_writing):
                raise self._place.missing()
            connection.execute(
                f"set memory_limit = '{WRITING_MEGABYTES}MB'; set preserve_insertion_order = false"
            )
            try:
                self._place.begin(connection)
                if is_empty:
                    if attached.new is None:
                        make_tables(connection)
                    make_store(connection)
                writer = Writer(connection)
                yield writer
                with put_off():
                    self.has_written |= self._place.commit(attached, is_needless=writer.is_needless)
            except BaseException:
                with (
                    put_off(),
                    suppress(duckdb.Error),
                ):  # after a commit, even a failed one, there is nothing to roll back
                    connection.rollback()
                raise

    @contextmanager
    def replacing(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, Writer]]:
        """Yield (cursor on the `previous` store, writer of a new one).

        The new store replaces this one at the end.

        The previous store may have any earlier version. It is locked meanwhile, and unchanged by an
        error.
        """
        if not self.exists():
            raise self._place.missing()

        def require_whole(connection: duckdb.DuckDBPyConnection) -> None:
            """Raise unless this is a complete store of this or an earlier version.

            A later version has columns that would be lost.
            """
            if (found := stored_version(connection, self._place)) > SCHEMA_VERSION:
                raise self._place.other_version(found)

        def done() -> None:
            self.has_written = True

        with (
            self._in_words(),
            self._place.replaced(self._wait(), require_whole, done) as connection,
        ):
            connection.execute(
                f"set memory_limit = '{WRITING_MEGABYTES}MB'; set preserve_insertion_order = false"
            )
            with closing(connection.cursor()) as previous:
                yield previous, Writer(connection)

    def _wait(self) -> Wait:
        return Wait(self.location, self._wait_seconds, self._on_wait)

    def _require_version(self, connection: duckdb.DuckDBPyConnection) -> None:
        found = stored_version(connection, self._place)
        if found not in self.versions:
            raise self._place.other_version(found)

    def _is_empty(self, connection: duckdb.DuckDBPyConnection) -> bool:
        """Return whether an attached database has no tables yet.

        Raises StoreError if it has tables other than those of this version.
        """
        try:
            self._require_version(connection)
        except StoreMissing:
            return True
        return False

    @contextmanager
    def _attached(self, *, read_only: bool) -> Iterator[Attached]:
        with self._in_words(), self._place.attached(self._wait(), read_only=read_only) as attached:
            yield attached

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn DuckDB's errors into StoreErrors.

        Its errors of an interrupt become KeyboardInterrupt again.
        """
        try:
            with self._place.in_words():
                yield
        except (RuntimeError, duckdb.Error) as error:
            # What DuckDB says of an interrupt while it runs a query, and while it asks Python for
            # a table of Arrow. As an error of the data, the latter would make a reject of the
            # source.
            if any(
                words in str(error) for words in ("Query interrupted", "failed: KeyboardInterrupt")
            ):
                raise KeyboardInterrupt from error
            raise


class Elsewhere(StorePlace):
    """A store that is no file, such as `md:…`.

    Only DuckDB knows how to reach it, and it isolates its users itself.
    """

    is_file = False

    def __init__(self, given: str) -> None:
        super().__init__(given)
        self.path = given

    def exists(self) -> bool:
        return True

    @contextmanager
    def attached(self, wait: Wait, *, read_only: bool, alias: str = ALIAS) -> Iterator[Attached]:
        del wait
        with engine() as connection:
            try:
                connection.execute(
                    f"attach '{self.path.replace(chr(39), chr(39) * 2)}' as "
                    f"{alias}{' (read_only)' if read_only else ''}"
                )
                connection.execute(f"reset threads; use {alias}")
                yield Attached(connection)
            finally:
                detach(connection)

    @contextmanager
    def replaced(
        self,
        wait: Wait,
        require: Callable[[duckdb.DuckDBPyConnection], object],
        done: Callable[[], object],
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """Raise StoreError: a store of this kind cannot be replaced."""
        del wait, require, done
        raise StoreError(
            f"{self.location} is no file and no lake: it cannot be rebuilt.",
            "Ingest the logs into a new store.",
        )


class Writer:
    """Writes inside the transaction of `Store.writing`.

    `who`: the author, empty for the user of this process. `is_needless`: nothing of consequence was
    written, so a place with a history gets no snapshot.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.who = ""
        self.is_needless = False

    def insert(self, table: str, rows: Sequence[Row]) -> None:
        from schemas.rows.tables import (
            TABLES,
            arrow_table,
        )  # the models of all tables, which only a writer needs

        self.insert_table(table, arrow_table(TABLES[table], rows))

    def insert_table(self, table: str, rows: pa.Table) -> None:
        if rows.num_rows:
            with registered(self.connection, given=rows):
                self.connection.execute(f"insert into {table} by name select * from given")


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, **tables: pa.Table) -> Iterator[None]:
    """Let SQL read these Arrow tables by name within the block."""
    for name, table in tables.items():
        connection.register(name, table)
    try:
        yield
    finally:
        for name in tables:
            connection.unregister(name)


def run_step(
    connection: duckdb.DuckDBPyConnection, step: str, parameters: Mapping[str, object] | None = None
) -> list[tuple[Any, ...]]:
    """Run one file of `sql/`, for instance "commit/01_chosen".

    Returns the rows of its last statement (for a write, the count).
    """
    return connection.execute(sql_of(step), parameters).fetchall()


def made(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    query: str,
    parameters: Mapping[str, object] | None = None,
) -> int:
    """Make a temporary table from a query. Returns its number of rows."""
    [(rows,)] = connection.execute(
        f"create or replace temp table {table} as {query}", parameters
    ).fetchall()
    return int(rows)


def arrow(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None
) -> pa.Table:
    """Return the rows of a query as Arrow.

    Needs a connection for reading: one for writing would lose their order.

    `connection.sql` would bind the query twice, which takes a third of the time of a small answer.
    """
    return connection.execute(sql, parameters).to_arrow_table()


def source_counts(
    connection: duckdb.DuckDBPyConnection, source_ids: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the counts of sources read before, by source_id.

    Their accepted records now count as duplicates.
    """
    if not source_ids:
        return {}
    columns = ("kind", "ingest_id", "documents", "accepted", "duplicates", "rejected", "ignored")
    rows = connection.execute(
        "select source_id, kind, ingest_id, documents, 0, accepted + duplicates, rejected, ignored "
        "from sources where source_id in (select unnest($source_ids::varchar[]))",
        {"source_ids": list(source_ids)},
    ).fetchall()
    return {source_id: dict(zip(columns, counts, strict=True)) for source_id, *counts in rows}


def shown_loops(connection: duckdb.DuckDBPyConnection, source_ids: Sequence[str]) -> int:
    """Return how many loops of the sources are no copies or versions of others."""
    sql = "select count(*) from v_loops where source_id in (select unnest($source_ids::varchar[]))"
    [(count,)] = connection.execute(sql, {"source_ids": list(source_ids)}).fetchall()
    return int(count)


def restamp(connection: duckdb.DuckDBPyConnection, times: Mapping[tuple[str, str], int]) -> None:
    """Write when files of known sources were modified: (source_id, name) → ns."""
    if not times:
        return
    ids, names = zip(*times, strict=True)
    given = {"ids": ids, "names": names, "times": list(times.values())}
    for table in ("sources", "found_files"):
        connection.execute(
            f"update {table} set modified_ns = given.now from (select unnest($ids::varchar[]) as "
            "source_id, unnest($names::varchar[]) as name, unnest($times::bigint[]) as now) as "
            f"given where {table}.source_id = given.source_id and {table}.name = given.name",
            given,
        )
