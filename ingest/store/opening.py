"""Opening a store: the engine, waiting for other processes, a new store, and errors in words.

A new store gets its tables.

DuckDB locks a store: any number of processes read it, or one writes to it
(https://duckdb.org/docs/stable/connect/concurrency). A lock file beside the store keeps the order.
A writer holds it from before the store is opened until it is closed. Readers take it briefly before
they open the store, so they cannot starve a writer. The system releases the lock of a killed
process at once. Where files cannot be locked, DuckDB's lock alone decides.

A new store is made under a temporary name and renamed when it is complete.
"""

from __future__ import annotations

import os
import platform
import random
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, TypeVar

import duckdb

from ingest.system.command_lines import DEFAULT_STORE, command_line
from ingest.system.files import cache_file, clear, is_old, write_cache
from ingest.system.locks import WATCHING, LockFile
from ingest.system.secrets import scrubbed, without_secrets
from ingest.system.signals import put_off
from schemas.errors import (
    NotAStore,
    StoreBusy,
    StoreError,
    StoreMissing,
    StoreVersionMismatch,
    TachographError,
)
from schemas.store_version import INCOMPLETE, SCHEMA_VERSION

ALIAS = "tachograph"
PREVIOUS = "previous"

REBUILDING, MAKING, SPOOL, LOCK = ".rebuilding", ".making-", ".ingest-", ".lock"
"""Suffixes to a store's name: new store of a rebuild, first store until complete, spool folder of
an ingest, lock of the writer.
"""

# `.checkpoint` has commits during a checkpoint, `.recovery` a log that is being mended:
# https://github.com/duckdb/duckdb/pull/24260
WRITE_AHEAD_LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")

T = TypeVar("T")


# The engine, and how a store is attached to it


MANY_BYTES = 16 << 20
"""From this size of the store, or of the texts to write, several threads pay (`use_all_cores`).

With 3,000 runs, 6 MB, one thread takes three quarters of the time of two; with 10,000, 10 MB, it
takes as long.
"""

FILE_OPTIONS = ("row_group_size 16384",)
"""Options of a store. Row groups of this size are compressed in parallel and written during the
insert; with the default size a batch would go through the write-ahead log first, uncompressed
(measured: 5.3 s against 0.7 s for 100,000 runs).
"""

NEW_FILE_OPTIONS = (*FILE_OPTIONS, "storage_version 'v1.5.0'")
"""Options of a new store. The storage version is the first with zstd for text, and DuckDB 1.5 reads
it (for `copy`). Views avoid `if(…)`: DuckDB 1.5 cannot read what 2.0 stores for it.
"""


@contextmanager
def engine(**options: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield an in-memory DuckDB with one thread, to which a store can be attached.

    Everything attached is closed at the end. `options`: more settings of DuckDB.
    """
    connection = duckdb.connect(
        config={
            "checkpoint_threshold": "1MB",
            "enable_external_file_cache": False,  # of files of the spool, which are read once
            "temp_directory": tempfile.gettempdir(),
            "threads": 1,
            **options,
        }
    )
    try:
        connection.execute("set timezone = 'UTC'")
        yield connection
    finally:
        with put_off():
            connection.close()


def detach(
    connection: duckdb.DuckDBPyConnection, aliases: Sequence[str] = (ALIAS, PREVIOUS)
) -> None:
    """Close the attached stores, even if cursors and answers keep the engine alive for a moment."""
    with put_off():
        for statement in (
            "rollback",
            "use memory",
            *(f"detach database if exists {alias}" for alias in aliases),
        ):
            with suppress(duckdb.Error):
                connection.execute(statement)


def use_all_cores(connection: duckdb.DuckDBPyConnection) -> None:
    """Use as many threads as there are cores.

    The default is one, which has no synchronization cost.
    """
    connection.execute("reset threads")


def attach_sql(path: str, alias: str, *options: str) -> str:
    """Return the statement that attaches a file under an alias.

    Without the type, DuckDB would read a file called `runs.json` as data.
    """
    place = path.replace("'", "''")
    return f"attach '{place}' as {alias} ({', '.join(('type duckdb', *options))})"


def write_out(connection: duckdb.DuckDBPyConnection) -> None:
    """Flush everything into the file of a new store.

    Detaching does so too, but raises nothing if the disk is full.
    """
    connection.execute(f"checkpoint {ALIAS}; use memory; detach {ALIAS}")


# The tables of a store

VIEWS = (
    "v_runs",
    "v_model_rows",
    "v_measurements",
    "v_published",
    "v_measured_runs",
    "v_judged",
    "v_speedups",
    "v_quadrants",
    "v_verdicts",
    "v_loops",
)

_VIEW_OPTIONS = "" if duckdb.__version__.startswith("1.") else " with (defer_binding)"
"""Binding views eagerly rebinds them with every view that reads them, a third of the time of making
a store. DuckDB 1.x cannot defer it.
"""


@cache
def sql_of(step: str) -> str:
    """Return the text of one file of `sql/`, for instance "commit/01_chosen"."""
    return (resources.files("ingest.store") / "sql" / f"{step}.sql").read_text()


def bound_late(view: str) -> str:
    """Return the SQL that creates a view, so that the view is bound when it is read."""
    return re.sub(r"( view \w+) as\n", rf"\1{_VIEW_OPTIONS} as\n", view, count=1)


def make_tables(connection: duckdb.DuckDBPyConnection, dialect: Callable[[str], str] = str) -> None:
    """Create tables and views. `dialect` adapts the SQL to another kind of store."""
    connection.execute(dialect(sql_of("schema")))
    for view in VIEWS:
        connection.execute(dialect(bound_late(sql_of(f"views/{view}"))))


def make_store(connection: duckdb.DuckDBPyConnection) -> None:
    """Write the row of `store_meta`, which makes a database with our tables a store."""
    connection.execute(
        (
            "insert into store_meta by name select $version as schema_version, $by as "
            "created_by, now() as created_at, 0 as last_ingest"
        ),
        {"version": SCHEMA_VERSION, "by": version("tachograph")},
    )


def begin_file(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Attach a new file with the tables of a store, but not yet the row that makes it one.

    It begins as a copy of an empty one in the user's cache: to make the tables takes as long as to
    read a hundred records.
    """
    texts = [sql_of(step) for step in ("schema", *(f"views/{view}" for view in VIEWS))]
    with suppress(OSError, duckdb.Error):
        empty = cache_file("empty.duckdb", duckdb.__version__, *NEW_FILE_OPTIONS, *texts)
        if not empty.exists():
            write_cache(empty, partial(_make_file, connection))
        shutil.copyfile(empty, path)
        connection.execute(attach_sql(str(path), ALIAS, *FILE_OPTIONS))
        connection.execute(f"use {ALIAS}")
        return
    # no home, no room there, or something else wrote into the cache
    detach(connection, [ALIAS])
    remove_database(path)
    _attach_tables(connection, path)


def _make_file(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    _attach_tables(connection, path)
    write_out(connection)


def _attach_tables(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    connection.execute(attach_sql(str(path), ALIAS, *NEW_FILE_OPTIONS))
    connection.execute(f"use {ALIAS}; begin")
    make_tables(connection)
    connection.commit()


def stored_version(connection: duckdb.DuckDBPyConnection, place: StorePlace) -> int:
    """Return the version of an attached store's tables.

    Raises StoreMissing if it has no tables, NotAStore if they are not ours.
    """
    try:
        [(found,)] = connection.execute(
            "select coalesce(max(schema_version), 0) from store_meta"
        ).fetchall()
    except (
        duckdb.CatalogException
    ):  # to list the tables of every store that is opened would take longer than to ask ours
        if not connection.execute(
            "select 1 from duckdb_tables() where database_name = current_database() limit 1"
        ).fetchone():
            raise place.missing() from None
        raise NotAStore(
            f"{place.location} is a DuckDB database, but not a Tachograph store.",
            "Choose another file with --db.",
        ) from None
    return int(found)


# Waiting for other processes


class Holder(NamedTuple):
    """The process that holds a store. `does`: its activity, for messages."""

    who: str
    does: str


class StoreHeld(Exception):
    """Another process holds the store. `holder`: which one, if known."""

    def __init__(self, holder: Holder | None) -> None:
        super().__init__()
        self.holder = holder


class TransactionLost(StoreBusy):
    """Another writer committed first, so our transaction was rolled back and can be retried."""


class Wait:
    """Patience with one process that holds the store. Restarts with each new holder."""

    TOLD_AFTER_SECONDS = 0.3
    """Delay before a message is shown: with the start of a command, within a second."""

    SHORTEST_SECONDS, LONGEST_SECONDS = 0.005, 0.1
    """Sleep between attempts; it grows with each one."""

    MOST_LOST = 40
    """Commits of others that a writer gives way to. Among twenty writers the last one gives way
    nineteen times.
    """

    def __init__(self, location: str, seconds: float, on_wait: Callable[[str], object]) -> None:
        self.location, self.seconds, self.on_wait = location, seconds, on_wait
        self._lost = 0
        self._began = self._counted_from = time.monotonic()
        self._pause = self.SHORTEST_SECONDS
        self._holder: Holder | None = None
        self._shown = ""

    def repeat(
        self, attempt: Callable[[], T], on_held: Callable[[Holder], object] = lambda _: None
    ) -> T:
        """Call `attempt` until it no longer raises StoreHeld. `on_held` is called with each holder.

        Raises StoreBusy.
        """
        while True:
            try:
                return attempt()
            except StoreHeld as held:
                if held.holder:
                    on_held(held.holder)
                self._sleep(held.holder)

    def _sleep(self, holder: Holder | None) -> None:
        """Sleep before the next attempt.

        Raises StoreBusy if the same process has held the store for too long.
        """
        now = time.monotonic()
        if holder and self._holder and holder.who != self._holder.who:
            self._counted_from, self._pause = now, self.SHORTEST_SECONDS
        self._holder = holder or self._holder
        who = self._holder.who if self._holder else ""
        if now - self._counted_from >= self.seconds:
            raise StoreBusy(
                (
                    f"{self.location} is locked by {who or 'another process'}; timed out after "
                    f"{self.seconds:g} s."
                ),
                "Close the other program, or wait longer with --wait SECONDS.",
            )
        if now - self._began >= min(self.TOLD_AFTER_SECONDS, self.seconds):
            subject = (
                "another request of this process"
                if who.partition(",")[0] == f"pid {os.getpid()}"
                else "another process"
            )
            does = self._holder.does if self._holder else "using it"
            message = (
                f"Waiting up to {self.seconds:g} s for {self.location}: {subject} is "
                f"{does}{f' ({who})' if who else ''}"
            )
            if message != self._shown:
                self._shown = message
                self.on_wait(message)
        time.sleep(self._pause * random.uniform(0.5, 1.5))  # noqa: S311
        self._pause = min(self._pause * 1.3, self.LONGEST_SECONDS)

    def lost(self, lost: TransactionLost) -> None:
        """Sleep for a short random time after losing to another writer.

        Raises StoreBusy after MOST_LOST, or if there is no patience.
        """
        self._lost += 1
        if not self.seconds:
            raise lost
        if self._lost > self.MOST_LOST:
            raise StoreBusy(
                (
                    f"{self.location}: other writers committed {self.MOST_LOST} times while this "
                    "one tried; nothing was written."
                ),
                "Run the command again when fewer of them write.",
            )
        self.on_wait(
            f"Waiting for {self.location}: another writer was first, so this one begins its "
            "commit again"
        )
        time.sleep(random.uniform(0, min(0.05 * 2**self._lost, 2.0)))  # noqa: S311


def held(error: duckdb.Error, *, read_only: bool) -> StoreHeld | None:
    """Return DuckDB's error as StoreHeld if another process holds the store, else None."""
    if not any(
        words in str(error)
        for words in (
            "Could not set lock",
            "Conflicting lock",
            "Unique file handle conflict",
            "different configuration",
            "database is locked",
        )
    ):
        return None
    found = re.search(
        r"held in (?P<program>.+?) \(PID (?P<pid>\d+)\)", str(error)
    )  # no process is named where it is this one
    who = f"pid {found['pid']}, {Path(found['program']).name}" if found else f"pid {os.getpid()}"
    return StoreHeld(Holder(who, "writing" if read_only else "using it"))


def _take(lock: LockFile) -> None:
    """Take the lock file of a store. Raises StoreHeld if another process has it.

    Does nothing if files cannot be locked or made.
    """
    with suppress(OSError):
        if lock.take():
            return
        who, _, rest = lock.read().partition("\t")
        does, _, host = rest.partition("\t")
        on = "" if host == platform.node() else f" on {host}"
        raise StoreHeld(Holder(f"{who}{on}", does) if host else None)


@contextmanager
def in_turn(place: str, wait: Wait, attach: Callable[[], T], *, read_only: bool) -> Iterator[T]:
    """Call `attach` when no other process holds the store at `place`.

    A writer holds the lock file to the end of the block.

    `attach` raises StoreHeld if it cannot. Yields its value. Raises StoreBusy.
    """
    lock = LockFile(f"{place}{LOCK}")

    def attach_to_read() -> T:
        with put_off():
            try:
                if lock.exists():
                    _take(lock)
                return attach()
            finally:
                lock.leave()

    def on_held(holder: Holder) -> None:
        lock.write("\t".join((*holder, platform.node())))

    if read_only:
        yield wait.repeat(attach_to_read)
        return
    try:
        wait.repeat(lambda: _take(lock))
        ours = Holder(f"pid {os.getpid()}, tachograph", "writing")
        on_held(ours)
        _remove_leftovers(place, is_our_turn=lock.is_ours)
        attached = wait.repeat(attach, on_held)
        on_held(ours)
        yield attached
    finally:
        lock.leave()


# The files of a store

_WAL = rf"({'|'.join(map(re.escape, WRITE_AHEAD_LOGS))})?"
_UNFINISHED = rf"({re.escape(REBUILDING)}|{re.escape(MAKING)}\d+-[0-9a-f]+)"
_LEFT_DATABASE = re.compile(rf"{_UNFINISHED}{_WAL}", re.ASCII)
_BESIDE = re.compile(
    rf"{_UNFINISHED}?{_WAL}|{re.escape(LOCK)}|{re.escape(WATCHING)}|{re.escape(SPOOL)}\d+-[^/\\]+([/\\].*)?",
    re.ASCII | re.DOTALL,
)


def is_path(location: str) -> bool:
    """Return whether a location is a path.

    Two or more letters before a colon name a kind of store (`md:…`); one letter is a drive.
    """
    return not re.match(r"[A-Za-z][\w+.-]+:", location)


class OwnFiles:
    """Files of the store at `place` (a real path): the store, DuckDB's files beside it and ours."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._name = os.path.basename(place)  # noqa: PTH119

    def __contains__(self, path: Path) -> bool:
        """Return whether the path is one of them. Called for every file of an ingest."""
        if self._name not in os.fspath(path) and not os.path.islink(path):  # noqa: PTH114
            return False
        place = os.path.realpath(path)
        return (
            place.startswith(self._place) and _BESIDE.fullmatch(place, len(self._place)) is not None
        )


def has_leftovers(place: str) -> bool:
    """Return whether a write-ahead log or incomplete store is beside the store at `place`.

    It is of an active or killed writer.
    """
    folder, name = os.path.split(place)
    try:
        ends = [
            entry.name.removeprefix(name)
            for entry in os.scandir(folder)
            if entry.name.startswith(name)
        ]
    except OSError:
        return True
    return any(end in WRITE_AHEAD_LOGS or _LEFT_DATABASE.fullmatch(end) for end in ends)


def _remove_leftovers(place: str, *, is_our_turn: bool) -> None:
    """Remove the files that killed writers left beside the store at `place`.

    `is_our_turn`: nobody else writes.
    """
    folder, name = os.path.split(place)
    with suppress(OSError):
        for entry in os.scandir(folder):
            end, path = entry.name.removeprefix(name), Path(entry.path)
            if end == entry.name:
                continue
            if re.fullmatch(rf"{re.escape(SPOOL)}\d+-.+", end, flags=re.ASCII | re.DOTALL):
                clear(path)
            elif _LEFT_DATABASE.fullmatch(end) and (is_our_turn or is_old(path)):
                path.unlink(missing_ok=True)


def remove_database(place: Path) -> None:
    """Remove a database and its write-ahead logs, if any."""
    for end in ("", *WRITE_AHEAD_LOGS):
        Path(f"{place}{end}").unlink(missing_ok=True)


# A place of a store


@dataclass(frozen=True)
class Attached:
    """A connection with a store attached. `new`: the temporary file of a new store."""

    connection: duckdb.DuckDBPyConnection
    new: Path | None = None


class StorePlace:
    """A place of a store: here a file; subclasses are other kinds that DuckDB can attach.

    `location`: without secrets, for messages. `path`: the real path.
    """

    is_file = True
    is_made_by_writing = True

    def __init__(self, given: str) -> None:
        self.location = without_secrets(given)
        self.path = os.path.realpath(given)

    def exists(self) -> bool:
        """Return whether there is a store; an empty file is none.

        Raises StoreError for a folder, and if the file system gives no answer.
        """
        if os.path.isdir(self.path):  # noqa: PTH112  False where Path.is_dir() raises: a folder without permission
            raise NotAStore(
                f"{self.location} is a folder, and not a store.",
                f"Name a file in it: --db {self.location}/{DEFAULT_STORE}",
            )
        try:
            return os.stat(self.path).st_size > 0  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, ValueError) as error:
            raise _unreachable(self.location, error) from error

    def missing(self) -> TachographError:
        """Return the error that there is no store yet."""
        hint = (
            f"Create it with `{command_line('ingest PATH', self.location)}`, or choose another "
            "store with --db."
        )
        return StoreMissing(f"There is no store at {self.location} yet.", hint)

    def other_version(self, found: int) -> TachographError:
        return other_version(self.location, found)

    @contextmanager
    def in_words(self) -> Iterator[None]:
        """Turn DuckDB's errors within the block into messages. Raises StoreError."""
        # DuckDB's errors for a full or broken disk (the last one at a commit). Any other error of
        # DuckDB is a bug of ours.
        try:
            yield
        except (
            duckdb.IOException,
            duckdb.OutOfMemoryException,
            duckdb.FatalException,
            duckdb.TransactionException,
        ) as error:
            raise failed(self.location, error) from error

    @contextmanager
    def attached(self, wait: Wait, *, read_only: bool, alias: str = ALIAS) -> Iterator[Attached]:
        """Attach the store for the block. A writer creates a missing one. Raises StoreError."""
        if read_only and not (self.exists() or LockFile(f"{self.path}{LOCK}").exists()):
            raise self.missing()  # to start the engine takes 15 ms of a first ingest
        making = Path(f"{self.path}{MAKING}{os.getpid()}-{secrets.token_hex(4)}")
        with engine() as connection:

            def attach() -> bool:
                with put_off():
                    return self._attach(connection, alias, making, read_only=read_only)

            try:
                with in_turn(self.path, wait, attach, read_only=read_only) as is_new:
                    try:
                        if self._is_large():
                            use_all_cores(connection)
                        connection.execute(f"use {alias}")
                        yield Attached(connection, making if is_new else None)
                    finally:
                        detach(connection)
            finally:
                with put_off():
                    detach(
                        connection
                    )  # once more: an interrupt may have come just after it was attached
                    if not read_only:
                        with suppress(OSError):
                            remove_database(making)

    def _is_large(self) -> bool:
        try:
            return os.stat(self.path).st_size >= MANY_BYTES  # noqa: PTH116
        except OSError:
            return False

    def _attach(
        self, connection: duckdb.DuckDBPyConnection, alias: str, making: Path, *, read_only: bool
    ) -> bool:
        """Attach the store, or a new one in the file `making`. Returns whether it is new.

        Raises StoreHeld, StoreError.
        """
        try:
            if read_only or self.exists():
                connection.execute(
                    attach_sql(self.path, alias, *(("read_only",) if read_only else FILE_OPTIONS))
                )
                return False
            for (
                end
            ) in WRITE_AHEAD_LOGS:  # of a deleted store: DuckDB would apply them to the new one
                Path(f"{self.path}{end}").unlink(missing_ok=True)
        except OSError as error:
            raise _unreachable(self.location, error) from error
        except duckdb.Error as error:
            raise held(error, read_only=read_only) or _unusable(self, error) from error
        begin_file(connection, making)
        return True

    def begin(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.begin()

    def stand_in_for_empty(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Hide empty tables from the queries of a read transaction, if this is faster: not here."""

    def commit(self, attached: Attached, *, is_needless: bool) -> bool:
        """Commit, and move a new store to its place. Returns whether anything was written.

        `is_needless`: it contains nothing of consequence. Raises StoreBusy if another process
        created a store meanwhile.
        """
        del is_needless
        attached.connection.commit()
        if attached.new is None:
            return True
        write_out(attached.connection)
        if self.exists():  # made by a program that knows of no lock file
            raise StoreBusy(
                f"another process created a store at {self.path} meanwhile: nothing was written.",
                "Run the command again to add to it.",
            )
        try:
            attached.new.replace(self.path)
        except OSError as error:
            raise failed(self.location, error) from error
        return True

    @contextmanager
    def replaced(
        self,
        wait: Wait,
        require: Callable[[duckdb.DuckDBPyConnection], object],
        done: Callable[[], object],
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a connection to a new store and the `previous` store.

        The previous one is beside the new one, and is replaced at the end.

        `require` checks the previous one; `done` is called after the replacement.
        """
        aside = Path(f"{self.path}{REBUILDING}")
        with self.attached(wait, read_only=False, alias=PREVIOUS) as attached:
            connection = attached.connection
            require(connection)
            connection.execute(
                f"checkpoint {PREVIOUS}"
            )  # otherwise its write-ahead log would end up beside the new store
            try:
                remove_database(aside)
                begin_file(connection, aside)
                connection.begin()
                make_store(connection)
                yield connection
                with put_off():
                    connection.commit()
                    write_out(connection)
                    aside.replace(self.path)
                    done()
            except OSError as error:
                raise failed(self.location, error) from error
            finally:
                detach(connection)
                with put_off(), suppress(OSError):
                    remove_database(aside)


# What goes wrong, in words


def failed(location: str, error: duckdb.Error | OSError) -> StoreError:
    reason = str(error.strerror if isinstance(error, OSError) else _reason(error))
    if (
        "failed to allocate" in reason
    ):  # DuckDB's limit of memory; its advice is for those who write SQL
        reason = reason.partition("Possible solutions")[0].rstrip()
        return StoreError(
            f"{location} failed: {reason}", "Memory is short: ingest fewer files at a time."
        )
    return StoreError(
        f"{location} failed: {reason}",
        (
            "Check that the disk has room and the folder is writable. To check the store: "
            f"`{command_line('doctor', location)}`"
        ),
    )


def other_version(location: str, found: int) -> StoreVersionMismatch:
    if found == INCOMPLETE:
        return StoreVersionMismatch(
            f"{location} is an incomplete copy of another store.",
            "Run the same `tachograph copy FROM TO` again.",
        )
    if found > SCHEMA_VERSION:
        return StoreVersionMismatch(
            (
                f"{location} was written by a newer Tachograph (tables of version {found}; this "
                f"program knows {SCHEMA_VERSION})."
            ),
            "Upgrade Tachograph, or choose another store with --db.",
        )
    return StoreVersionMismatch(
        f"{location} has tables of version {found}; this program needs {SCHEMA_VERSION}.",
        f"Rebuild them from the raw records, which are kept: `{command_line('rebuild', location)}`",
    )


def _unusable(place: StorePlace, error: duckdb.Error) -> TachographError:
    reason = _reason(error)
    if "database does not exist" in reason or "No such file or directory" in reason:
        return place.missing()
    if "newer version of DuckDB" in str(error):
        message = (
            f"{place.location} was written by a newer DuckDB than the one that is installed "
            f"here, {duckdb.__version__}."
        )
        hint = (
            f"Where it was written, `{command_line('rebuild', place.location)}` makes a file "
            "that can be read here."
        )
        return StoreVersionMismatch(message, hint)
    return NotAStore(
        f"{place.location} cannot be used as a store: {reason}", "Choose another file with --db."
    )


def _unreachable(location: str, error: OSError | ValueError) -> StoreError:
    reason = getattr(error, "strerror", None) or error
    return StoreError(
        f"{location} cannot be used as a store: {reason}.", "Choose another file with --db."
    )


def _reason(error: duckdb.Error) -> str:
    return scrubbed(str(error).partition("Error: ")[2] or str(error))
