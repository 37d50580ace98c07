"""How writers of a lake keep out of each other's way: nothing is written twice, and nobody waits for ever.

DuckLake lets two writers commit at once as long as they only add rows. Two that find the same run missing would both add it. So every
transaction first updates the one row of `store_meta`: of two at once DuckLake refuses the later one, which is done again from the spool.

That alone is right, but of six writers at once five do their work in vain. So a writer of a catalog in PostgreSQL first takes a lock
there, which ends with its connection, however it ends. Without the lock nothing goes wrong, it only takes longer.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta

import duckdb

from ingest.store.lake.attaching import METADATA
from ingest.store.lake.errors import Overtaken
from ingest.store.opening.queue import Holder
from ingest.store.opening.waiting import StoreHeld, Wait
from ingest.store.statements import run
from schemas.errors import StoreBusy, StoreError

_TAKE = "update store_meta set last_ingest = last_ingest"
_FIRST_SECONDS, _LONGEST_SECONDS = 0.05, 2.0
MOST_TURNS = 40
"""Commits of others that a writer gives way to. With twenty writers at once the last one gives way nineteen times."""


_LOCK = 0x7461_6368_6F
"""The number of the lock: of our own, in the database of the catalog."""

_TRY_LOCK = f"""
from postgres_query('{METADATA}{{alias}}', $$
    select
        pg_try_advisory_xact_lock({_LOCK}) as is_ours,
        (
            select pid || coalesce(' on ' || host(client_addr), '')
            from pg_locks join pg_stat_activity using (pid)
            where locktype = 'advisory' and granted and (classid::bigint << 32) + objid::bigint = {_LOCK}
            limit 1
        ) as holder,
        extract(epoch from clock_timestamp())::float8 as now
$$)"""
"""Whether we have the lock now, who had it before, and the time of the catalog in seconds since 1970."""

MOST_SKEW_SECONDS = 300
"""A writer whose clock differs by more from the catalog's is refused: an object storage takes 900, Kerberos 300."""

_AHEAD = 30
"""As if so many waited before us: a question every tenth of a second on the average."""


@contextmanager
def lock_catalog(connection: duckdb.DuckDBPyConnection, alias: str, wait: Wait) -> Iterator[None]:
    """The lock of the catalog for the block, in a transaction of its own. Raises StoreBusy, and StoreError where the clock is wrong."""
    with closing(connection.cursor()) as locking:
        wait.repeat(lambda: _lock(locking, alias, wait.location), None, _AHEAD)
        yield
        locking.rollback()


def _lock(locking: duckdb.DuckDBPyConnection, alias: str, location: str) -> None:
    locking.begin()
    [(is_ours, holder, now)] = run(locking, _TRY_LOCK.format(alias=alias)).fetchall()
    _require_clock(location, time.time() - now)
    if not is_ours:
        locking.rollback()
        raise StoreHeld(Holder(f"pid {holder}", f"pid {holder}", "writing") if holder else None)


def _require_clock(location: str, ahead_seconds: float) -> None:
    """Snapshots have the time of the machine that commits: `--at` would find the wrong ones. Raises StoreError."""
    if abs(ahead_seconds) > MOST_SKEW_SECONDS:
        off = timedelta(seconds=round(abs(ahead_seconds)))
        how = "ahead of" if ahead_seconds > 0 else "behind"
        message = f"{location}: the clock of this machine is {off} (hours:minutes:seconds) {how} that of the catalog: nothing was written."
        raise StoreError(message, "Set the clock, of this machine or of the catalog's: the times of snapshots would be wrong.")


def take_turn(connection: duckdb.DuckDBPyConnection) -> None:
    """Touch the row that every commit touches. First in each transaction that writes."""
    run(connection, _TAKE)


class Turns:
    """Counts how often another writer was first, and for how long we waited for one."""

    def __init__(self, location: str, seconds: float, on_wait: Callable[[str], object]) -> None:
        self._location = location
        self._seconds = seconds
        self._on_wait = on_wait
        self._lost = 0

    def wait(self, overtaken: Overtaken) -> None:
        """Sleep for a short random time after another one was first. Raises StoreBusy after MOST_TURNS, or at once without any patience."""
        self._lost += 1
        if not self._seconds:
            raise overtaken
        if self._lost > MOST_TURNS:
            raise StoreBusy(
                f"{self._location}: other writers committed {MOST_TURNS} times while this one tried; nothing was written.",
                "Run the command again when fewer of them write.",
            )
        self._on_wait(f"Waiting for {self._location}: another writer was first, so this one begins its commit again")
        longest = min(_FIRST_SECONDS * 2**self._lost, _LONGEST_SECONDS)
        time.sleep(random.uniform(0, longest))  # noqa: S311
