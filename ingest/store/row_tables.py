"""The rows of many records → one Arrow table for each table of the store, column by column.

The facts of a summary come without their run and their number: both follow from their places, and are added here for all at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa

from ingest.agents.base import CHILD_TABLES, FACTS, Rows
from schemas.rows.tables import TABLES, arrow_columns, arrow_table


class RowTable(NamedTuple):
    """Rows of one table. `records`: of each row, the place of its record among those that were given."""

    name: str
    rows: pa.Table
    records: Sequence[int]


def tables_of(made: Sequence[Rows]) -> Iterator[RowTable]:
    """What the records become, a table at a time, but those without rows. Raises pydantic's ValidationError."""
    yield RowTable("runs", arrow_table(TABLES["runs"], [rows.run for rows in made]), range(len(made)))
    for name in CHILD_TABLES:
        parts = [getattr(rows, name) for rows in made]
        if records := [place for place, part in enumerate(parts) for _ in part]:
            values = list(chain.from_iterable(parts))
            if name in FACTS:
                table = arrow_columns(TABLES[name], (*_given(name, made, parts, records), *zip(*values, strict=True)))
            else:
                table = arrow_table(TABLES[name], values)
            yield RowTable(name, table, records)


def _given(name: str, made: Sequence[Rows], parts: Sequence[Sequence[Any]], records: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """The columns that stand before the values of a fact: its run and, where it has one, its number in it."""
    run_ids = [rows.run.run_id for rows in made]
    yield tuple([run_ids[place] for place in records])
    if FACTS[name]:
        yield tuple([number for part in parts for number in range(1, len(part) + 1)])
