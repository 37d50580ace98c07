"""How a file is attached as a store, and written out at the end."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from ingest.store.opening.own_files import is_path
from ingest.store.statements import run

ALIAS = "tachograph"
FILE_OPTIONS = ("row_group_size 16384",)
"""Options of a store. Row groups of this size are compressed in parallel and written during the insert; with the default size a
batch would go through the write-ahead log first, uncompressed (measured: 5.3 s against 0.7 s for 100,000 runs)."""

NEW_FILE_OPTIONS = (*FILE_OPTIONS, "storage_version 'v1.5.0'")
"""Options of a new store. The storage version is the first that keeps text with zstd, and is read by the DuckDB that lakes need: `copy`
takes a file of the main install to a lake. So the views have no `if(…)`: DuckDB 1.5 does not find in them what 2.0 wrote for it."""


def attach_sql(location: str, alias: str, options: Sequence[str]) -> str:
    """The statement that attaches a store under an alias."""
    place = location.replace("'", "''")
    # without the type, DuckDB would read a file called `runs.json` as data; what is no file has no options of files
    options = ("type duckdb", *options) if is_path(location) else [option for option in options if option == "read_only"]
    listed = f" ({', '.join(options)})" if options else ""
    return f"attach '{place}' as {alias}{listed}"


def write_out(connection: duckdb.DuckDBPyConnection) -> None:
    """Write everything into the file of the new store. Detaching does that too, but without an error where the disk is full."""
    run(connection, f"checkpoint {ALIAS}; use memory; detach {ALIAS}")
