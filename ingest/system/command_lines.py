"""Commands that messages and screens print: each runs as printed, on the store that the reader is looking at."""

from __future__ import annotations

import os
import shlex

from ingest.system.locations import without_secrets
from schemas.errors import UsageError

DEFAULT_STORE = "tachograph.duckdb"
"""The store of a command without `--db`, unless $TACHOGRAPH_DB names another."""


def on_disk(location: str) -> str:
    """The location of a store that somebody named. Raises UsageError for one that would be gone with the process."""
    if not location.strip() or location.startswith(":memory:"):
        raise UsageError(f"{location!r} is not a store on disk.", "Give a file, e.g. runs.duckdb.")
    return location


def command_line(words: str, location: str) -> str:
    """`tachograph WORDS`, with `--db` unless the store at `location` is the one that the command takes without it.

    `words` are quoted for a shell already. The store is not opened and need not exist.
    """
    shown = without_secrets(location)
    return f"tachograph {words}{'' if is_default(location) else f' --db {shlex.quote(shown)}'}"


def is_default(location: str) -> bool:
    """Whether a command in this folder uses this store without `--db`, in a shell with our $TACHOGRAPH_DB and in one without it."""
    given = os.environ.get("TACHOGRAPH_DB") or DEFAULT_STORE
    return all(os.path.realpath(name) == os.path.realpath(location) for name in (given, DEFAULT_STORE))
