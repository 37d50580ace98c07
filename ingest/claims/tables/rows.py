"""The figures of a row: that before against that after, as the heads of the columns tell, with the change that is theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.tables.cells import Cell, Row, with_unit
from ingest.claims.tables.header_cells import GAINING, Columns
from ingest.claims.words.change_words import Sense


def pairs_by_heads(row: Row, columns: Columns) -> list[Effect]:
    """The pairs of the columns before and after; where several are after, those that the change of the row is of."""
    if columns.before is None or columns.before >= len(row):
        return []
    options = [pairs for column in columns.after if column < len(row) and (pairs := list(_pairs(row, columns, column)))]
    agreeing = [pairs for pairs in options if any(pair.change and agrees(pair, pair.change) for pair in pairs)]
    return (agreeing[-1:] or options[:1] or [[]])[0]


def _pairs(row: Row, columns: Columns, column: int) -> Iterator[Effect]:
    """The figure before with that after; each with its like where the cells hold several, `367 ms / 15 MB`."""
    assert columns.before is not None
    first, second = figures(row, columns, columns.before), figures(row, columns, column)
    several = len(first) == len(second) > 1 and "/" in row[columns.before].words and "/" in row[column].words
    if not first and not second and _LOAD.search(row[0].words):
        first, second = _shares(row[columns.before]), _shares(row[column])
    for before, after in zip(first, second, strict=True) if several else zip(first[:1], second[:1], strict=False):
        pair = Effect(min(before.start, after.start), max(before.end, after.end), before, after)
        whole = _with_change(pair, row, columns, column, must_agree=several)
        is_proven = before.kind is after.kind and whole.change is not None and agrees(pair, whole.change)
        if before.low == after.low == 0:  # `0 B | 0 B` tells of nothing
            continue
        if _is_like(before, after, columns) or (is_proven and before.unit is after.unit is None):
            yield whole


_LOAD = re.compile(r"\b(?:cpu|processor|ram|mem(?:ory)?|heap)\b(?! util)", re.IGNORECASE)
"""Labels of rows whose percentages say how much of a machine is taken."""


def _shares(cell: Cell) -> list[Quantity]:
    """The percentage that a cell holds and nothing else: of a processor, say."""
    return [share for share in cell.quantities if len(cell.quantities) == 1 and not share.sign]


def figures(row: Row, columns: Columns, column: int) -> list[Quantity]:
    head = columns.heads[column] if column < len(columns.heads) else ""
    corner = columns.heads[0] if columns.heads and not row[0].quantities else ""
    return [with_unit(figure, head, row[0].words, corner) for figure in row[column].figures]


def _is_like(before: Quantity, after: Quantity, columns: Columns) -> bool:
    if before.kind is not after.kind:
        return False
    if before.unit and after.unit:
        return before.unit.metric is after.unit.metric
    return not columns.is_learnt  # that the columns of another row are before and after says nothing of bare numbers


def _with_change(pair: Effect, row: Row, columns: Columns, column: int, *, must_agree: bool) -> Effect:
    """The pair with its change: behind the figure or in a cell of its own."""
    own = [quantity for quantity in row[column].quantities if quantity.start >= pair.end and quantity.kind is not Kind.VALUE]
    stated = [*own, *changes(row, columns.change, columns.heads)]
    change = next((change for change in stated if change.start > pair.start and agrees(pair, change)), None)
    if change is None and stated and not must_agree and stated[0].start > pair.start:
        change = stated[0]
    if change is None:
        return pair
    gains = GAINING.search(columns.heads[columns.change]) if columns.change is not None else None
    whole = pair._replace(end=max(pair.end, change.end), change=change)
    is_bare = pair.before is not None and pair.before.unit is None and agrees(pair, change)
    if not (gains and (is_bare or change.kind is Kind.TIMES)) and not (is_bare and change in own and change.kind is Kind.TIMES):
        return whole
    is_loss = change.high < 1 if change.kind is Kind.TIMES else change.sign == "-"
    return whole._replace(swaps=is_loss, sense=Sense.LOSS if is_loss else Sense.GAIN, word=gains[0].lower() if gains else "")


def changes(row: Row, column: int | None, heads: tuple[str, ...]) -> list[Quantity]:
    if column is None or column >= len(row):
        return []
    found = row[column].quantities
    if len(found) == 1 and found[0].kind is Kind.VALUE and found[0].unit is None and _OF_FACTORS.match(heads[column] if heads else ""):
        return [found[0]._replace(kind=Kind.TIMES)]
    return [quantity for quantity in found if quantity.kind is not Kind.VALUE]


_OF_FACTORS = re.compile(r"speed-?ups?(?! ?\(?%)", re.IGNORECASE)
"""The head of a column of factors, which may leave the `x` out."""


def each_against_first(text: str, row: Row, columns: Columns) -> list[Effect]:
    """`Baseline | Warm | Cold`, `25 s | 2 s (12x faster) | 6 s (4x faster)`: several cells, each with the change it is of that before."""
    if columns.before is None or columns.before >= len(row) or sum(len(cell.quantities) > 1 for cell in row) < 2:
        return []
    before = figures(row, columns, columns.before)[:1]
    found: list[Effect] = []
    for cell in row[columns.before + 1 :] if before else ():
        after, *stated = cell.quantities or (None,)
        if after is None or after.kind is not before[0].kind or not _is_like(before[0], after, columns):
            continue
        pair = Effect(after.start if found else before[0].start, after.end, before[0], after)
        own = [change for change in stated if change.kind is not Kind.VALUE and agrees(pair, change)]
        found += [pair._replace(end=closed(text, change.end), change=change) for change in own[:1]]
    return found if len(found) > 1 else []


_CLOSES = re.compile(r"[^()|\n]{0,30}\)")


def closed(text: str, end: int) -> int:
    """Where the bracket ends that a change stands in."""
    bar = max(0, text.rfind("|", 0, end))
    is_open = text.rfind("(", bar, end) > text.rfind(")", bar, end)
    found = _CLOSES.match(text, end) if is_open else None
    return found.end() if found else end
