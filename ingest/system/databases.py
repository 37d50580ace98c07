"""Tables of a stranger's SQLite database, read from a copy by a killable process (`children`).

A view or a virtual table of it may run for ever, inside the library, so that only what has pages of
its own is read. What was written last is in `…-wal` beside the database, at first all of it.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from ingest.system.bounds import TooMuch
from ingest.system.children import Cannot, in_child

WRITE_AHEAD = "-wal"
LARGEST_DATABASE = 4 << 30


class DatabaseTable(NamedTuple):
    """A table: its wanted columns, and its rows, with null for what is no text and no number."""

    columns: list[str]
    rows: list[list[Any]]


Columns = Sequence[str] | Mapping[str, str]
"""Wanted columns of a table, perhaps each with the SQL expression that is read in its place."""


def parts_of(place: Path) -> list[Path]:
    """Return the files of the database at a place: itself, then its write-ahead log."""
    both = (place, place.with_name(place.name + WRITE_AHEAD))
    return [each for each in both if each.is_file()]


def contain(parts: Sequence[Path], *names: bytes) -> bool:
    """Return whether one of the files contains all names: other databases are not copied."""
    for path in parts:
        missing, end = set(names), b""
        with path.open("rb") as opened:
            while missing and (block := opened.read(1 << 20)):
                missing = {name for name in missing if name not in end + block}
                end = block[-64:]
        if not missing:
            return True
    return False


def read_tables(
    parts: Sequence[Path], wanted: Mapping[str, Columns], most: int
) -> dict[str, DatabaseTable | None]:
    """Return the wanted tables that a database has, with those of the wanted columns that exist.

    None for a view, which is not read. `parts`: its files, the database first. They are copied:
    opening the database would take locks, and move its write-ahead log into it. Raises TooMuch,
    also for a table of more than `most` rows, and ValueError for a damaged or too large database.
    Without wanted columns, a table has all; without wanted tables, all are returned.
    """
    from ingest.system.files import temporary_folder  # noqa: PLC0415  not in the child

    size = sum(each.stat().st_size for each in parts)
    if size > LARGEST_DATABASE:
        raise ValueError(f"it has more than {LARGEST_DATABASE >> 30} GiB")
    expressions = {
        name: dict(columns if isinstance(columns, Mapping) else zip(columns, columns, strict=True))
        for name, columns in wanted.items()
    }
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as folder:
        for each in parts:  # the database first: what is moved into it meanwhile is in both
            shutil.copyfile(each, Path(folder, each.name))
        copy = str(Path(folder, parts[0].name))
        found = in_child(__name__, copy, json.dumps(expressions), str(most), size=size)
    return {name: table and DatabaseTable(*table) for name, table in found.items()}


def main(
    is_orphaned: Callable[[], bool], arguments: Sequence[str]
) -> dict[str, DatabaseTable | None]:
    """Read the tables, in the child."""
    path, wanted, most = arguments[0], json.loads(arguments[1]), int(arguments[2])
    try:
        with closing(sqlite3.connect(path)) as database:
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1 << 26)
            # Steps of SQLite's machine, some milliseconds, between two looks at whether the parent
            # is gone.
            database.set_progress_handler(is_orphaned, 100_000)
            database.execute("pragma trusted_schema = off")
            database.execute("pragma query_only = on")
            database.text_factory = lambda data: data.decode("utf-8", "replace")
            pages = dict(
                database.execute("select name, type = 'table' and rootpage > 0 from sqlite_master")
            )
            present = [name for name in wanted or pages if name in pages]
            return {
                name: _table(database, name, wanted.get(name, {}), most) if pages[name] else None
                for name in present
            }
    except (sqlite3.Error, UnicodeDecodeError) as error:  # its message may quote a damaged schema
        raise Cannot(f"SQLite cannot read it: {error}") from error


def _table(
    database: sqlite3.Connection, name: str, columns: Mapping[str, str], most: int
) -> DatabaseTable:
    table = _quoted(name)
    present = [
        column for _, column, *_ in database.execute(f"pragma table_info({table})")
    ]  # without generated columns
    listed = [column for column in columns or present if column in present]
    chosen = ", ".join(columns.get(column) or _quoted(column) for column in listed)
    rows = (
        list(map(list, database.execute(f"select {chosen} from {table} limit {most + 1}")))
        if listed
        else []
    )
    if len(rows) > most:
        raise TooMuch(f"its table {name} has more than {most:,} rows")
    return DatabaseTable(listed, rows)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
