"""The upkeep of a lake: what lies in it, merging small files, and dropping old snapshots. Any machine may do it while others write.

Files that nothing needs any more are deleted only after a day: a reader that began before may still read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import duckdb

from ingest.store.database import arrow, stored_version
from ingest.store.lake.attaching import Lake
from ingest.store.lake.errors import Overtaken
from ingest.store.lake.turns import Turns
from ingest.store.opening.attaching import ALIAS
from ingest.store.opening.engines import connected
from ingest.store.statements import run
from ingest.system.locations import is_lake, without_secrets
from schemas.errors import UsageError

GRACE = timedelta(days=1)
"""For so long a file stays after the last snapshot that needs it, for readers that began before."""

MUCH_DELETED = 0.1
"""From this share of deleted rows on a file is written again without them."""

_TABLES = f"select table_name, file_count, file_size_bytes, delete_file_count, delete_file_size_bytes from ducklake_table_info('{ALIAS}')"
_SNAPSHOTS = f"select count(*), epoch_us(min(snapshot_time)), epoch_us(max(snapshot_time)) from ducklake_snapshots('{ALIAS}')"
_OPTIONS = f"select option_name, value from {ALIAS}.options() where scope = 'GLOBAL'"

_FLUSH = f"call ducklake_flush_inlined_data('{ALIAS}')"
_MERGE = f"call ducklake_merge_adjacent_files('{ALIAS}')"
_REWRITE = f"call ducklake_rewrite_data_files('{ALIAS}', delete_threshold => {MUCH_DELETED})"
_EXPIRE = f"call ducklake_expire_snapshots('{ALIAS}', older_than => $before::timestamptz)"
_CLEAN = f"call ducklake_cleanup_old_files('{ALIAS}', older_than => $before::timestamptz)"
_ORPHANS = f"call ducklake_delete_orphaned_files('{ALIAS}', older_than => $before::timestamptz)"


@dataclass(frozen=True)
class TableFiles:
    """The files of one table. `deletes`: those that list deleted rows; bytes are of both."""

    name: str
    rows: int
    files: int
    deletes: int
    bytes: int


@dataclass(frozen=True)
class Status:
    """A lake as it is. `ducklake_version`: of its format; `schema_version`: of our tables; `first`, `last`: its snapshots' times (UTC)."""

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
        """Files of all tables."""
        return sum(table.files + table.deletes for table in self.tables)

    @property
    def bytes(self) -> int:
        """Their size."""
        return sum(table.bytes for table in self.tables)


@dataclass(frozen=True)
class Upkeep:
    """What was done: the lake before and after. `deleted`: files that nothing needed any more."""

    before: Status
    after: Status
    deleted: int


def status(location: str) -> Status:
    """What lies in a lake. Raises UsageError, StoreError."""
    with _opened(location, read_only=True) as (connection, lake):
        return _status(connection, lake)


def compact(location: str, wait_seconds: float, on_wait: Callable[[str], object]) -> Upkeep:
    """Write rows out of the catalog, files without their deleted rows, and small files as larger ones. Raises UsageError, StoreError."""
    return _kept_up(location, (_FLUSH, _REWRITE, _MERGE), Turns(without_secrets(location), wait_seconds, on_wait))


def expire(location: str, keep: timedelta, wait_seconds: float, on_wait: Callable[[str], object]) -> Upkeep:
    """Drop the snapshots that are older, and the files that only they need. The last one always stays. Raises UsageError, StoreError."""
    return _kept_up(location, (_EXPIRE,), Turns(without_secrets(location), wait_seconds, on_wait), datetime.now(UTC) - keep)


def _kept_up(location: str, steps: tuple[str, ...], turns: Turns, before: datetime | None = None) -> Upkeep:
    with _opened(location, read_only=False) as (connection, lake):
        found = _status(connection, lake)
        for step in steps:
            _again(connection, lake, step, {"before": before.isoformat()} if before else {}, turns)
        old = {"before": (datetime.now(UTC) - GRACE).isoformat()}
        deleted = sum(_again(connection, lake, step, old, turns) for step in (_CLEAN, _ORPHANS))
        return Upkeep(found, _status(connection, lake), deleted)


def _again(connection: duckdb.DuckDBPyConnection, lake: Lake, step: str, values: dict[str, str], turns: Turns) -> int:
    """Run one step until no other writer was first. Returns the number of rows that it tells of: files, or snapshots."""
    while True:
        try:
            with lake.told():
                return int(arrow(connection, step, values or None).num_rows)  # fetchall would need pytz for times
        except Overtaken as overtaken:
            turns.wait(overtaken)


@contextmanager
def _opened(location: str, *, read_only: bool) -> Iterator[tuple[duckdb.DuckDBPyConnection, Lake]]:
    if not is_lake(location):
        raise UsageError(f"{without_secrets(location)} is not a lake.", "A lake's location begins with ducklake:")
    lake = Lake(location, without_secrets(location))
    with connected(ALIAS) as connection:
        lake.attach(connection, ALIAS, read_only=read_only)
        with lake.told():
            connection.execute(f"use {ALIAS}")
            yield connection, lake


def _status(connection: duckdb.DuckDBPyConnection, lake: Lake) -> Status:
    options = dict(run(connection, _OPTIONS).fetchall())
    [(snapshots, first, last)] = run(connection, _SNAPSHOTS).fetchall()
    files = run(connection, f"{_TABLES} order by 1").fetchall()
    return Status(
        lake.location,
        without_secrets(options["data_path"]),
        options["version"],
        stored_version(connection, lake.location),
        tuple(TableFiles(name, _rows(connection, name), files, deletes, of + more) for name, files, of, deletes, more in files),
        snapshots,
        datetime.fromtimestamp(first / 1e6, UTC),
        datetime.fromtimestamp(last / 1e6, UTC),
    )


def _rows(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    [(rows,)] = connection.execute(f'select count(*) from {ALIAS}."{table}"').fetchall()
    return int(rows)
