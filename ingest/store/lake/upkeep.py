"""Creating a lake, and its upkeep: status, merging small files, dropping old snapshots.

Any machine may do it while others write.

Files that nothing needs any more are deleted only after a day: a reader that began before may still
read them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import duckdb

from ingest.store.database import arrow
from ingest.store.lake import access
from ingest.store.lake.place import Lake
from ingest.store.opening import ALIAS, TransactionLost, Wait, stored_version
from ingest.system.secrets import without_secrets
from schemas.errors import StoreMissing, UsageError


@dataclass(frozen=True)
class TableFiles:
    """Files of one table. `deletes`: files that list deleted rows; bytes are of both kinds."""

    name: str
    rows: int
    files: int
    deletes: int
    bytes: int


@dataclass(frozen=True)
class Status:
    """State of a lake.

    `ducklake_version`: of its format; `schema_version`: of our tables; `first`, `last`: its
    snapshots' times (UTC).
    """

    location: str
    data_path: str
    ducklake_version: str
    schema_version: int
    tables: tuple[TableFiles, ...]
    snapshots: int
    first: datetime
    last: datetime

    @property
    def files(self) -> int:
        """Number of files of all tables."""
        return sum(table.files + table.deletes for table in self.tables)

    @property
    def bytes(self) -> int:
        """Bytes of all tables."""
        return sum(table.bytes for table in self.tables)


@dataclass(frozen=True)
class Upkeep:
    """The lake before and after an upkeep. `deleted`: files that nothing needed any more."""

    before: Status
    after: Status
    deleted: int


def make_lake(location: str, data_path: str = "") -> bool:
    """Make the lake at a location, with its data in a folder or an object storage.

    Returns whether it is new.

    Raises UsageError, StoreError.
    """
    lake = Lake(location)
    with access.lake_engine(lake.catalog) as connection:
        try:
            lake.attach(connection, read_only=False)
        except StoreMissing:
            lake.make(connection, _place_of_data(lake, data_path))
        with lake.in_words():
            connection.execute(f"use {ALIAS}")
            try:
                stored_version(connection, lake)
            except StoreMissing:  # a lake without tables was begun by somebody who was interrupted
                lake.make_tables(connection)
                return True
    return False


def _place_of_data(lake: Lake, given: str) -> str:
    """Return the data path, ending in a slash.

    A folder becomes absolute, since all machines must find it.
    """
    place = given or access.settings().get(access.DATA_VARIABLE, "")
    if not place and lake.is_in_postgresql:
        raise UsageError(
            "where shall the data of the lake lie?",
            (
                "Give --data s3://BUCKET/PREFIX, or a folder that all machines share; or set "
                f"${access.DATA_VARIABLE}."
            ),
        )
    if not place:
        place = f"{lake.catalog.removeprefix('sqlite:')}.files"
    return f"{place if access.is_remote(place) else os.path.realpath(place)}".rstrip("/") + "/"


def status(location: str) -> Status:
    """Return the state of a lake. Raises UsageError, StoreError."""
    with _opened(location, read_only=True) as (connection, lake):
        return _status(connection, lake)


def compact(location: str, wait_seconds: float, on_wait: Callable[[str], object]) -> Upkeep:
    """Write inlined rows to files, drop deleted rows from files, and merge small files.

    Raises UsageError, StoreError.
    """
    return _kept_up(
        location,
        (
            f"call ducklake_flush_inlined_data('{ALIAS}')",
            # from this share of deleted rows on
            f"call ducklake_rewrite_data_files('{ALIAS}', delete_threshold => 0.1)",
            f"call ducklake_merge_adjacent_files('{ALIAS}')",
        ),
        Wait(without_secrets(location), wait_seconds, on_wait),
    )


def expire(
    location: str, keep: timedelta, wait_seconds: float, on_wait: Callable[[str], object]
) -> Upkeep:
    """Drop older snapshots and the files that only they need. The last one always stays.

    Raises UsageError, StoreError.
    """
    return _kept_up(
        location,
        (f"call ducklake_expire_snapshots('{ALIAS}', older_than => $before::timestamptz)",),
        Wait(without_secrets(location), wait_seconds, on_wait),
        datetime.now(UTC) - keep,
    )


def _kept_up(
    location: str, steps: Sequence[str], wait: Wait, before: datetime | None = None
) -> Upkeep:
    with _opened(location, read_only=False) as (connection, lake):

        def repeated(step: str, values: Mapping[str, str] | None) -> int:
            """Run one step until no other writer interferes.

            Returns its number of rows: files, or snapshots.
            """
            while True:
                try:
                    with lake.in_words():
                        return int(
                            arrow(connection, step, values).num_rows
                        )  # fetchall would need pytz for times
                except TransactionLost as lost:
                    wait.lost(lost)

        found = _status(connection, lake)
        for step in steps:
            repeated(step, {"before": before.isoformat()} if before else None)
        # How long a file stays after the last snapshot that needs it, for readers that began
        # before.
        old = {"before": (datetime.now(UTC) - timedelta(days=1)).isoformat()}
        deleted = sum(
            repeated(f"call ducklake_{step}('{ALIAS}', older_than => $before::timestamptz)", old)
            for step in ("cleanup_old_files", "delete_orphaned_files")
        )
        return Upkeep(found, _status(connection, lake), deleted)


@contextmanager
def _opened(location: str, *, read_only: bool) -> Iterator[tuple[duckdb.DuckDBPyConnection, Lake]]:
    lake = Lake(location)
    with access.lake_engine(lake.catalog) as connection:
        lake.attach(connection, read_only=read_only)
        with lake.in_words():
            connection.execute(f"use {ALIAS}")
            yield connection, lake


def _status(connection: duckdb.DuckDBPyConnection, lake: Lake) -> Status:
    options = dict(
        connection.execute(
            f"select option_name, value from {ALIAS}.options() where scope = 'GLOBAL'"
        ).fetchall()
    )
    snapshots_sql = (
        "select count(*), epoch_us(min(snapshot_time)), epoch_us(max(snapshot_time)) from "
        f"ducklake_snapshots('{ALIAS}')"
    )
    [(snapshots, first, last)] = connection.execute(snapshots_sql).fetchall()
    files_sql = f"""select table_name, file_count, file_size_bytes, delete_file_count,
                        delete_file_size_bytes
                    from ducklake_table_info('{ALIAS}') order by 1"""
    tables = []
    for name, files, size, deletes, deletes_size in connection.execute(files_sql).fetchall():
        [(rows,)] = connection.execute(f'select count(*) from {ALIAS}."{name}"').fetchall()
        tables.append(TableFiles(name, int(rows), files, deletes, size + deletes_size))
    return Status(
        lake.location,
        without_secrets(options["data_path"]),
        options["version"],
        stored_version(connection, lake),
        tuple(tables),
        snapshots,
        datetime.fromtimestamp(first / 1e6, UTC),
        datetime.fromtimestamp(last / 1e6, UTC),
    )
