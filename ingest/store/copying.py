"""A whole store copied into another: from a file into a lake, or back. What was copied before an interruption is not copied again.

Rows go over in parts, a transaction for each. A part is known by its number of rows and the sum of their hashes: the same sums mean the
same rows, of all columns. Until all parts agree, the copy has the table version INCOMPLETE, so that nobody reads or writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

import duckdb
import pyarrow as pa

from ingest.store.database import Store, Writer
from ingest.store.statements import run
from schemas.errors import StoreError, UsageError
from schemas.rows.tables import TABLES, arrow_schema
from schemas.store_version import INCOMPLETE, SCHEMA_VERSION

_PART_ROWS, _MOST_PARTS = 50_000, 64
"""Rows of a part, about, and most parts of a table: each is a reading of the whole table."""

_BATCH_ROWS = 2_000
"""Rows in memory."""

_COPIED = tuple(name for name in TABLES if name != "store_meta")

_COUNT = 'select count(*) from "{table}"'
_SUMS = """
select hash({key}) % {parts} as part, count(*) as rows, sum(hash(copied)::hugeint)::varchar as hashes
from "{table}" as copied
group by part
"""
_ROWS = 'select * from "{table}" where hash({key}) % {parts} = {part}'
_DELETED = 'delete from "{table}" where hash({key}) % {parts} = {part}'
_FACTS = "select (select count(*) from runs), (select sum(cost_own_usd) from runs), (select count(*) from sources)"

Sums = dict[int, tuple[int, str]]
"""part → its number of rows, and the sum of their hashes."""


@dataclass(frozen=True)
class Copied:
    """What both stores have now. `rows`: of all tables; `copied_rows`: those written now; `cost_usd`: the reported cost of all runs."""

    runs: int
    sources: int
    cost_usd: Decimal | None
    rows: int
    copied_rows: int


class _Target(Store):
    """The store that is written: a new one, an empty one, or an incomplete copy."""

    versions = (SCHEMA_VERSION, INCOMPLETE)


def copy_store(source: Store, location: str, wait_seconds: float, on_wait: Callable[[str], object] | None = None) -> Copied:
    """Copy every row of a store to another place. Raises UsageError where that holds other rows, and StoreError."""
    target = _Target(location, wait_seconds, on_wait)
    if target.location == source.location:
        raise UsageError("a store cannot be copied onto itself.", "Name another place.")
    with source.reading() as reading:
        reading.begin()  # one state of the store, although somebody writes to it meanwhile
        if not _begin(target, reading):
            return _copied(reading, 0)
        written = sum(_copy_part(reading, target, part) for part in _differing_parts(reading, target))
        _complete(reading, target)
        return _copied(reading, written)


def _begin(target: _Target, reading: duckdb.DuckDBPyConnection) -> bool:
    """Mark the target as an incomplete copy. Returns False where it has all rows already. Raises UsageError where it has others."""

    def marked(writer: Writer) -> bool:
        connection = writer.connection
        [(version,)] = run(connection, "select max(schema_version) from store_meta").fetchall()
        if version == SCHEMA_VERSION and any(_count(connection, table) for table in _COPIED):
            if _differing(reading, connection):
                raise UsageError(f"{target.location} has runs of its own.", "Copy to a new or an empty store.")
            return False
        run(connection, f"update store_meta set schema_version = {INCOMPLETE}")
        return True

    return target.write(marked)


def _differing_parts(reading: duckdb.DuckDBPyConnection, target: _Target) -> list[Mapping[str, object]]:
    """The parts of all tables that are not the same in both, each by what names it in SQL."""
    differing: list[Mapping[str, object]] = []
    with target.reading() as connection:
        for table in _COPIED:
            parts = min(_MOST_PARTS, 1 + _count(reading, table) // _PART_ROWS)
            wanted, found = _sums(reading, table, parts), _sums(connection, table, parts)
            unlike = sorted(part for part in wanted.keys() | found.keys() if wanted.get(part) != found.get(part))
            differing += [_names(table, parts) | {"part": part} for part in unlike]
    return differing


def _copy_part(reading: duckdb.DuckDBPyConnection, target: _Target, names: Mapping[str, object]) -> int:
    """Replace one part, in one transaction. Returns its number of rows."""

    def written(writer: Writer) -> int:
        writer.connection.execute(_DELETED.format(**names))
        rows = 0
        for batch in _batches(reading, _ROWS.format(**names)):
            writer.insert_table(str(names["table"]), batch)
            rows += batch.num_rows
        return rows

    return target.write(written)


def _complete(reading: duckdb.DuckDBPyConnection, target: _Target) -> None:
    """Compare all tables, then let the copy be a store. Raises StoreError where they differ."""

    def completed(writer: Writer) -> None:
        if differing := _differing(reading, writer.connection):
            raise StoreError(
                f"{target.location}: the table {differing} differs from the original.", "Copy again: only what differs is copied."
            )
        writer.connection.execute("delete from store_meta")
        writer.insert_table("store_meta", reading.sql("select * from store_meta").to_arrow_table())

    target.write(completed)


def _differing(reading: duckdb.DuckDBPyConnection, copy: duckdb.DuckDBPyConnection) -> str | None:
    """The first table that is not the same in both, None where all are."""
    return next((table for table in _COPIED if _sums(reading, table, 1) != _sums(copy, table, 1)), None)


def _sums(connection: duckdb.DuckDBPyConnection, table: str, parts: int) -> Sums:
    rows = connection.execute(_SUMS.format(**_names(table, parts))).fetchall()
    return {int(part): (int(count), str(hashes)) for part, count, hashes in rows}


def _names(table: str, parts: int) -> dict[str, object]:
    return {"table": table, "key": f'"{arrow_schema(TABLES[table]).names[0]}"', "parts": parts}


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    [(rows,)] = connection.execute(_COUNT.format(table=table)).fetchall()
    return int(rows)


def _batches(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[pa.Table]:
    for batch in connection.sql(sql).to_arrow_reader(_BATCH_ROWS):
        yield pa.Table.from_batches([batch])


def _copied(connection: duckdb.DuckDBPyConnection, written: int) -> Copied:
    [(runs, cost, sources)] = run(connection, _FACTS).fetchall()
    return Copied(runs, sources, cost, sum(_count(connection, table) for table in _COPIED), written)
