"""A lake as DuckDB sees it: attached for reading or writing, now or as of a time.

And how its writers avoid conflicts.

DuckLake lets two writers commit at once if they only add rows, so two writers that miss the same
run would both add it. Therefore every transaction first updates the one row of `store_meta`: of two
at once DuckLake refuses the later one, which is repeated from the spool.

That is correct, but of six simultaneous writers five work in vain. So a writer of a PostgreSQL
catalog first takes a lock there, which ends with its connection. The lock only saves time;
correctness does not depend on it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory

import duckdb

from ingest.store.lake import access
from ingest.store.lake.access import quoted
from ingest.store.opening import (
    ALIAS,
    MANY_BYTES,
    NEW_FILE_OPTIONS,
    PREVIOUS,
    Attached,
    Holder,
    StoreHeld,
    StorePlace,
    TransactionLost,
    Wait,
    attach_sql,
    detach,
    held,
    in_turn,
    make_store,
    make_tables,
    other_version,
    sql_of,
    use_all_cores,
)  # fmt: skip
from ingest.system.files import temporary_folder
from ingest.system.secrets import without_secrets
from ingest.system.signals import put_off
from schemas.errors import StoreError, TachographError, UsageError

LAKE = "ducklake:"


_LOCK = 0x7461_6368_6F
"""Key of the advisory lock, in the catalog's database."""

_TRY_LOCK = f"""
from postgres_query('__ducklake_metadata_{ALIAS}', $$
    select
        pg_try_advisory_xact_lock({_LOCK}) as is_ours,
        (
            select pid || coalesce(' on ' || host(client_addr), '')
            from pg_locks join pg_stat_activity using (pid)
            where locktype = 'advisory' and granted and (classid::bigint << 32) + objid::bigint =
                {_LOCK}
            limit 1
        ) as holder,
        extract(epoch from clock_timestamp())::float8 as now
$$)"""
"""Returns whether the lock is ours now, who held it before, and the catalog's time in seconds since
1970.
"""


_CATALOG = f"__ducklake_metadata_{ALIAS}"

_BYTES = f"select coalesce(sum(file_size_bytes), 0) from {_CATALOG}.ducklake_table_stats"

_NEVER_FILLED = f"""
select table_name from {_CATALOG}.ducklake_table
left join {_CATALOG}.ducklake_table_stats using (table_id)
group by table_name having count(record_count) = 0"""
"""The tables that never had a row, under no id: a rebuild gives a table another one."""


def as_lake_sql(sql: str) -> str:
    """Adapt the SQL of tables and views to a lake: compression is set for the whole lake."""
    return sql.replace(" using compression zstd", "")


def _roll_back(locking: duckdb.DuckDBPyConnection) -> None:
    """Release the catalog's lock; no effect if the connection has ended."""
    with suppress(duckdb.Error):
        locking.rollback()


class Lake(StorePlace):
    """The lake at one location. `given`: the location as entered, possibly with a password.

    `at`: read the snapshot of that time; None: the last one.
    """

    is_file = False
    is_made_by_writing = False

    def __init__(self, given: str, at: datetime | None = None) -> None:
        if not given.startswith(LAKE):
            raise UsageError(
                f"{without_secrets(given)} is not a lake.",
                (
                    "A lake's location begins with ducklake:, e.g. --db "
                    "'ducklake:postgres:dbname=runs'."
                ),
            )
        super().__init__(given)
        self.at = at
        self.path = given
        self.catalog = given.removeprefix(LAKE)
        self.is_in_postgresql = self.catalog.startswith("postgres:")
        self.catalog_file = (
            None
            if self.is_in_postgresql
            else os.path.realpath(self.catalog.removeprefix("sqlite:"))
        )

    def exists(self) -> bool:
        """Return True: only DuckDB could tell."""
        return True

    def missing(self) -> TachographError:
        """Return the error that there is no lake yet, or was none at the requested time."""
        if not self.at:
            return access.missing(self.location)
        return UsageError(
            f"the lake at {self.location} had no runs yet at {self._shown_time()}.",
            "Choose a later --at.",
        )

    def other_version(self, found: int) -> TachographError:
        """Return the error that the tables have another version, or had at the requested time."""
        error = other_version(self.location, found)
        if not self.at:
            return error
        message = f"{error.message.rstrip('.')}: so it was at {self._shown_time()}."
        return UsageError(message, "Use the Tachograph of that time, or a later --at.")

    def _shown_time(self) -> str:
        assert self.at
        return f"{self.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"

    @contextmanager
    def in_words(self) -> Iterator[None]:
        """Turn DuckDB's errors within the block into messages without secrets."""
        with access.in_words(self.location, self.path):
            yield

    @contextmanager
    def attached(self, wait: Wait, *, read_only: bool, alias: str = ALIAS) -> Iterator[Attached]:
        """Attach the existing lake for the block.

        A writer of a PostgreSQL catalog also holds the catalog's lock.
        """
        with access.lake_engine(self.catalog) as connection, ExitStack() as stack:
            stack.callback(detach, connection)

            def attach() -> None:
                self.attach(connection, read_only=read_only)

            if self.catalog_file:
                stack.enter_context(in_turn(self.catalog_file, wait, attach, read_only=read_only))
            else:
                attach()
            if connection.execute(_BYTES).fetchall() >= [(MANY_BYTES,)]:
                use_all_cores(connection)
            connection.execute(f"use {alias}")
            if self.is_in_postgresql and not read_only:
                locking = stack.enter_context(closing(connection.cursor()))
                wait.repeat(lambda: self._lock(locking))
                stack.callback(_roll_back, locking)
            yield Attached(connection)

    def attach(self, connection: duckdb.DuckDBPyConnection, *, read_only: bool) -> None:
        """Attach the lake.

        Raises StoreError, and StoreHeld if its catalog is a file that another process holds.
        """
        options = ["create_if_not_exists false", *(["read_only"] if read_only else [])]
        if self.at:
            options.append(f"snapshot_time '{self.at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}+00'")
        self._attach_with(connection, options)

    def make(self, connection: duckdb.DuckDBPyConnection, data_path: str) -> None:
        """Attach the lake, creating one without tables if needed. Raises StoreError."""
        if access.is_remote(data_path):
            access.use_storage(connection)
            with self.in_words():  # so that a bucket that is not there is missed now
                connection.execute(f"from glob('{quoted(data_path)}*')")
        self._attach_with(connection, [f"data_path '{quoted(data_path)}'"])

    def make_tables(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Create the tables of a store in an empty lake, in one transaction."""
        # Options of a new lake. Texts of records shrink to a fifth with zstd. Up to so many rows
        # of a table per commit go into the catalog instead of a file, until `compact` writes them.
        for name, value in {
            "parquet_compression": "zstd",
            "data_inlining_row_limit": 100,
        }.items():  # before its views: DuckLake 1.0 crashes otherwise
            connection.execute(f"call {ALIAS}.set_option('{name}', '{value}')")
        connection.begin()
        make_tables(connection, as_lake_sql)
        make_store(connection)
        connection.commit()

    def _attach_with(self, connection: duckdb.DuckDBPyConnection, options: list[str]) -> None:
        access.load(connection, *access.extensions_for(self.catalog))
        access.give_to_postgresql()
        if access.has_keys():
            access.use_storage(connection)
        attach = f"attach '{quoted(self.path)}' as {ALIAS} ({', '.join(options)})"
        with self.in_words():
            try:
                connection.execute(attach)
            except duckdb.Error as error:
                if self.catalog_file and (busy := held(error, read_only="read_only" in options)):
                    raise busy from None
                if access.OBJECT_STORAGE not in str(error):
                    raise
                access.use_storage(connection)
                connection.execute(attach)

    def _lock(self, locking: duckdb.DuckDBPyConnection) -> None:
        """Take the lock of the catalog, in a transaction of its own.

        Raises StoreHeld, and StoreError if the clock is wrong.

        Snapshots have the time of the machine that commits: with a wrong one `--at` would find the
        wrong ones.
        """
        locking.begin()
        [(is_ours, holder, now)] = locking.execute(_TRY_LOCK).fetchall()
        ahead_seconds = time.time() - now
        # A writer is refused if its clock differs by more from the catalog's: object storages
        # allow 900, Kerberos 300.
        if abs(ahead_seconds) > 300:
            off, how = (
                timedelta(seconds=round(abs(ahead_seconds))),
                "ahead of" if ahead_seconds > 0 else "behind",
            )
            raise StoreError(
                f"{self.location}: the clock of this machine is {off} (hours:minutes:seconds) "
                f"{how} that of the catalog: nothing was written.",
                (
                    "Set the clock, of this machine or of the catalog's: the times of snapshots "
                    "would be wrong."
                ),
            )
        if not is_ours:
            locking.rollback()
            raise StoreHeld(Holder(f"pid {holder}", "writing") if holder else None)

    def begin(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.begin()
        connection.execute("update store_meta set last_ingest = last_ingest")

    def stand_in_for_empty(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Hide tables that never had a row behind empty temporary ones, also from views.

        To plan a query of such a table, DuckLake 1.5 looks for its statistics in the catalog twice
        per column: a report took 1.8 s of CPU instead of 1.1. Call it after the first query of a
        transaction: a table that is still empty then was empty in its snapshot.
        """
        schema = as_lake_sql(sql_of("schema"))
        made = dict(re.findall(r"^create table (\w+) (\(.*?^\);)", schema, re.M | re.S))
        empty = connection.execute(_NEVER_FILLED).fetchall()
        tables = (f"create temp table {name} {made[name]}" for (name,) in empty if name in made)
        connection.execute("\n".join(tables) or "select 1")

    def commit(self, attached: Attached, *, is_needless: bool) -> bool:
        """Commit unless `is_needless`: each commit is a snapshot."""
        if is_needless:
            attached.connection.rollback()
            return False
        attached.connection.commit()
        return True

    @contextmanager
    def replaced(
        self,
        wait: Wait,
        require: Callable[[duckdb.DuckDBPyConnection], object],
        done: Callable[[], object],
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """Copy every table to a local file as `previous`, then drop and recreate them.

        Dropping and recreating are one transaction.

        Earlier snapshots keep the old data. Raises TransactionLost if somebody committed since the
        copy.
        """
        snapshot_sql = f"select id from ducklake_current_snapshot('{ALIAS}')"

        def names(kind: str) -> list[str]:
            listed = (
                f"select {kind}_name from duckdb_{kind}s() where database_name = '{ALIAS}' and "
                "not internal order by 1"
            )
            return [str(name) for (name,) in connection.execute(listed).fetchall()]

        with (
            TemporaryDirectory(dir=temporary_folder()) as folder,
            self.attached(wait, read_only=False) as attached,
        ):
            connection = attached.connection
            require(connection)
            connection.execute(attach_sql(f"{folder}/previous.duckdb", PREVIOUS, *NEW_FILE_OPTIONS))
            connection.begin()
            copied = connection.execute(snapshot_sql).fetchall()
            for name in names("table"):
                connection.execute(f'create table {PREVIOUS}."{name}" as from {ALIAS}."{name}"')
            connection.commit()
            self.begin(connection)
            if connection.execute(snapshot_sql).fetchall() != copied:
                message = (
                    f"another writer of {self.location} committed meanwhile: nothing was changed."
                )
                raise TransactionLost(message, "Run the command again.")
            for kind in ("view", "table"):
                for name in names(kind):
                    connection.execute(f'drop {kind} {ALIAS}."{name}"')
            make_tables(connection, as_lake_sql)
            make_store(connection)
            yield connection
            with put_off():
                connection.commit()
                done()
