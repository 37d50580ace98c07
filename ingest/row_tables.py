"""The rows of many records → one Arrow table for each table of the store, column by column.

The facts of a summary come without their run and their number: both follow from their places, and are added here for all at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.base import CHILD_TABLES, FACTS, Rows
from schemas.tables import TABLES, arrow_columns, arrow_table


class RowTable(NamedTuple):
    """Rows of one table. `records`: of each row, the place of its record among those that were given (int64)."""

    name: str
    rows: pa.Table
    records: pa.Array


def tables_of(made: Sequence[Rows]) -> Iterator[RowTable]:
    """What the records become, a table at a time, but those without rows. Raises pydantic's ValidationError."""
    runs = arrow_table(TABLES["runs"], [rows.run for rows in made])
    yield RowTable("runs", runs, pa.array(range(len(made)), pa.int64()))
    run_ids = runs["run_id"].combine_chunks()
    for name in CHILD_TABLES:
        parts = [getattr(rows, name) for rows in made]
        rows = list(chain.from_iterable(parts))
        if rows:
            records, numbers = _places(parts)
            is_bare = name in FACTS
            table = _facts(name, rows, run_ids.take(records), numbers) if is_bare else arrow_table(TABLES[name], rows)
            yield RowTable(name, table, records)


def _facts(name: str, facts: Sequence[tuple[Any, ...]], run_ids: pa.Array, numbers: pa.Array) -> pa.Table:
    given = (run_ids, numbers) if FACTS[name] else (run_ids,)
    return arrow_columns(TABLES[name], (*given, *zip(*facts, strict=True)))


def _places(parts: Sequence[Sequence[Any]]) -> tuple[pa.Array, pa.Array]:
    """Of each item of the parts: the place of its part, from 0, and its number in it, from 1."""
    starts = pa.array(accumulate(map(len, parts), initial=0), pa.int32())
    items = pa.array(range(1, starts[-1].as_py() + 1), pa.int64())
    places = pc.list_parent_indices(pa.ListArray.from_arrays(starts, items))
    return places, pc.subtract(items, starts.take(places))
