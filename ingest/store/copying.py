"""A whole store copied into another: from one kind of place to another.

What was copied before an interruption is not copied again.

Rows go over in parts, a transaction for each. A part is known by its number of rows and the sum of
their hashes: the same sums mean the same rows, of all columns. Until all parts agree, the copy has
the table version INCOMPLETE, so that nobody reads or writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import NamedTuple

import duckdb
import pyarrow as pa

from ingest.store.database import Store, Writer
from schemas.errors import StoreError, UsageError
from schemas.rows.tables import TABLES, arrow_schema
from schemas.store_version import INCOMPLETE, SCHEMA_VERSION

_PART_ROWS, _MOST_PARTS = 50_000, 64
"""Approximate rows of a part, and the most parts of a table: each part costs one scan of the whole
table.
"""


_COPIED = tuple(name for name in TABLES if name != "store_meta")

Sums = dict[int, tuple[int, str]]


class TablePart(NamedTuple):
    """Rows of a table that meet an SQL condition."""

    table: str
    condition: str


@dataclass(frozen=True)
class Copied:
    """Totals of both stores after the copy.

    `rows`: of all tables; `copied_rows`: written by this copy; `cost_usd`: reported cost of all
    runs.
    """

    runs: int
    sources: int
    cost_usd: Decimal | None
    rows: int
    copied_rows: int


class _Target(Store):
    """The store that is written: new, empty, or an incomplete copy."""

    versions = (SCHEMA_VERSION, INCOMPLETE)


def copy_store(
    source: Store,
    location: str,
    wait_seconds: float,
    on_wait: Callable[[str], object] | None = None,
) -> Copied:
    """Copy every row of a store to another place.

    Raises UsageError if that holds other rows, and StoreError.
    """
    target = _Target(location, wait_seconds, on_wait)
    if target.location == source.location:
        raise UsageError("a store cannot be copied onto itself.", "Name another place.")
    with source.reading() as reading:
        reading.begin()  # one state of the store, although somebody writes to it meanwhile
        written = 0
        if target.write(lambda writer: _begin(writer, reading, target.location)):
            with target.reading() as copy:
                parts = list(_differing_parts(reading, copy))
            written = sum(
                target.write(partial(_copy_part, reading=reading, part=part)) for part in parts
            )
            target.write(lambda writer: _complete(writer, reading, target.location))
        facts = (
            "select (select count(*) from runs), (select count(*) from sources), (select "
            "sum(cost_own_usd) from runs)"
        )
        [(runs, sources, cost)] = reading.execute(facts).fetchall()
        return Copied(
            runs, sources, cost, sum(_count(reading, table) for table in _COPIED), written
        )


def _begin(writer: Writer, reading: duckdb.DuckDBPyConnection, location: str) -> bool:
    """Mark the target as an incomplete copy. Returns False if it is complete already.

    Raises UsageError if it holds other rows.
    """
    connection = writer.connection
    [(version,)] = connection.execute("select max(schema_version) from store_meta").fetchall()
    if version == SCHEMA_VERSION and any(_count(connection, table) for table in _COPIED):
        if _differing(reading, connection):
            raise UsageError(f"{location} has runs of its own.", "Copy to a new or an empty store.")
        return False
    connection.execute(f"update store_meta set schema_version = {INCOMPLETE}")
    return True


def _differing_parts(
    reading: duckdb.DuckDBPyConnection, copy: duckdb.DuckDBPyConnection
) -> Iterator[TablePart]:
    for table in _COPIED:
        parts = min(_MOST_PARTS, 1 + _count(reading, table) // _PART_ROWS)
        wanted, found = _sums(reading, table, parts), _sums(copy, table, parts)
        for part in sorted(wanted.keys() | found.keys()):
            if wanted.get(part) != found.get(part):
                yield TablePart(table, f"hash({_key(table)}) % {parts} = {part}")


def _copy_part(writer: Writer, reading: duckdb.DuckDBPyConnection, part: TablePart) -> int:
    """Replace one part, in one transaction. Returns its number of rows."""
    writer.connection.execute(f'delete from "{part.table}" where {part.condition}')
    rows = 0
    for batch in reading.sql(
        f'select * from "{part.table}" where {part.condition}'
    ).to_arrow_reader(2_000):
        writer.insert_table(part.table, pa.Table.from_batches([batch]))
        rows += batch.num_rows
    return rows


def _complete(writer: Writer, reading: duckdb.DuckDBPyConnection, location: str) -> None:
    if differing := _differing(reading, writer.connection):
        raise StoreError(
            f"{location}: the table {differing} differs from the original.",
            "Copy again: only what differs is copied.",
        )
    writer.connection.execute("delete from store_meta")
    writer.insert_table("store_meta", reading.sql("select * from store_meta").to_arrow_table())


def _differing(reading: duckdb.DuckDBPyConnection, copy: duckdb.DuckDBPyConnection) -> str | None:
    return next(
        (table for table in _COPIED if _sums(reading, table, 1) != _sums(copy, table, 1)), None
    )


def _sums(connection: duckdb.DuckDBPyConnection, table: str, parts: int) -> Sums:
    rows = connection.execute(
        f"select hash({_key(table)}) % {parts} as part, count(*), "
        "sum(hash(copied)::hugeint)::varchar"
        f' from "{table}" as copied group by part'
    ).fetchall()
    return {int(part): (int(count), str(hashes)) for part, count, hashes in rows}


def _key(table: str) -> str:
    """Return the column that assigns a row to a part."""
    return f'"{arrow_schema(TABLES[table]).names[0]}"'


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    [(rows,)] = connection.execute(f'select count(*) from "{table}"').fetchall()
    return int(rows)
