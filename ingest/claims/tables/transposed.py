"""Tables that lie on their side: a row before, a row after, a column for each metric."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind
from ingest.claims.tables.cells import Row, with_unit
from ingest.claims.tables.header_cells import role_of

_MEAN = re.compile(r"mean|avg|average|median", re.IGNORECASE)
_SPREAD = re.compile(r"min|max|σ|std|range|relative|samples|runs", re.IGNORECASE)
"""Columns that tell how far figures lie from their mean, and no figure of another thing."""


def transposed(heads: Row, rows: list[Row]) -> Iterator[tuple[Effect, str]]:
    """The figures of each row labelled after against those of the row before, with a row of changes below it."""
    roles = [role_of(row[0].words) if row else None for row in rows]
    for index, role in enumerate(roles[1:], 1):
        if role == "after" and roles[index - 1] == "before":
            changes = rows[index + 1] if roles[index + 1 : index + 2] == ["change"] else ()
            yield from _columns(heads, rows[index - 1], rows[index], changes)


def _columns(heads: Row, before: Row, after: Row, changes: Row) -> Iterator[tuple[Effect, str]]:
    has_mean = any(_MEAN.match(head.words) for head in heads)
    for column in range(1, min(len(before), len(after))):
        if has_mean and column < len(heads) and _SPREAD.match(heads[column].words):
            continue
        head = heads[column].words if column < len(heads) else ""
        if not before[column].figures or not after[column].figures or role_of(head) == "change":
            continue
        first, second = (with_unit(row[column].figures[0], head, row[0].words) for row in (before, after))
        if not first.kind is second.kind is Kind.VALUE or first.metric is not second.metric:
            continue
        pair = Effect(first.start, second.end, first, second)
        stated = changes[column].quantities if column < len(changes) else ()
        change = next((change for change in stated if change.kind is not Kind.VALUE and agrees(pair, change)), None)
        yield pair._replace(end=change.end, change=change) if change else pair, f"{before[0].words} | {head}"
