"""The errors of a store, in words: it is missing, locked by another process, full, or no store at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import duckdb

from ingest.store.lake.errors import missing as missing_lake
from ingest.system.command_lines import command_line
from ingest.system.locations import is_lake, scrubbed
from schemas.errors import NotAStore, StoreError, StoreMissing, StoreVersionMismatch, UsageError
from schemas.store_version import INCOMPLETE, SCHEMA_VERSION

FAILURES = (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.FatalException, duckdb.TransactionException)
"""Errors of DuckDB for a full or broken disk (the last one: at a commit). Any other error of DuckDB is a mistake of ours."""

INTERRUPTED = "Query interrupted"
"""The message of the RuntimeError that DuckDB raises for Ctrl-C."""

_NO_MEMORY, _ADVICE = "failed to allocate", "Possible solutions"
"""What DuckDB says where its limit of memory is reached, and the beginning of its advice, which is for those who write SQL."""

_NO_SUCH_FILE = ("database does not exist", "No such file or directory")


def missing(location: str) -> StoreMissing:
    """There is no store yet."""
    if is_lake(location):
        return missing_lake(location)
    hint = f"Create it with `{command_line('ingest PATH', location)}`, or choose another store with --db."
    return StoreMissing(f"There is no store at {location} yet.", hint)


@contextmanager
def told_at(location: str, at: datetime | None) -> Iterator[None]:
    """A block in which what a store lacks is told as of the time `at` which it is read, if any."""
    try:
        yield
    except StoreMissing as error:
        if not at:
            raise
        raise UsageError(f"the lake at {location} had no runs yet at {_time(at)}.", "Choose a later --at.") from error
    except StoreVersionMismatch as error:
        if not at:
            raise
        raise UsageError(
            f"{error.message.rstrip('.')}: so it was at {_time(at)}.", "Use the Tachograph of that time, or a later --at."
        ) from error


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def failed(location: str, error: duckdb.Error | OSError) -> StoreError:
    """The store was opened, but cannot be read or written."""
    reason = str(error.strerror if isinstance(error, OSError) else _reason(error))
    if _NO_MEMORY in reason:
        return StoreError(f"{location} failed: {reason.partition(_ADVICE)[0].rstrip()}", "Memory is short: ingest fewer files at a time.")
    return StoreError(
        f"{location} failed: {reason}",
        f"Check that the disk has room and the folder is writable. To check the store: `{command_line('doctor', location)}`",
    )


def unusable(location: str, error: duckdb.Error) -> StoreError:
    """The store cannot be opened."""
    reason = _reason(error)
    if any(words in reason for words in _NO_SUCH_FILE):
        return missing(location)
    if "newer version of DuckDB" in str(error):
        message = f"{location} was written by a newer DuckDB than the one that is installed here, {duckdb.__version__}."
        hint = f"Where it was written, `{command_line('rebuild', location)}` makes a file that can be read here."
        return StoreVersionMismatch(message, hint)
    return NotAStore(f"{location} cannot be used as a store: {reason}", "Choose another file with --db.")


def unreachable(location: str, error: OSError | ValueError) -> StoreError:
    """The file system does not say whether the store exists."""
    said = getattr(error, "strerror", None) or error
    return StoreError(f"{location} cannot be used as a store: {said}.", "Choose another file with --db.")


def other_version(location: str, found: int) -> StoreVersionMismatch:
    """The tables of the store are of another version."""
    if found == INCOMPLETE:
        return StoreVersionMismatch(f"{location} is an incomplete copy of another store.", "Run the same `tachograph copy FROM TO` again.")
    if found > SCHEMA_VERSION:
        return StoreVersionMismatch(
            f"{location} was written by a newer Tachograph (tables of version {found}; this program knows {SCHEMA_VERSION}).",
            "Upgrade Tachograph, or choose another store with --db.",
        )
    return StoreVersionMismatch(
        f"{location} has tables of version {found}; this program needs {SCHEMA_VERSION}.",
        f"Rebuild them from the raw records, which are kept: `{command_line('rebuild', location)}`",
    )


def _reason(error: duckdb.Error) -> str:
    return scrubbed(str(error).partition("Error: ")[2] or str(error))
