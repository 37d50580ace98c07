"""Tables: which columns hold the figure before, the figure after and the change; one row of one metric is one effect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ingest.claims.effect import Effect
from ingest.claims.grammar import effects
from ingest.claims.lexicon import AFTER, BEFORE, CHANGE, RECIPROCAL_HEADS, Sense
from ingest.claims.quantities import Kind, Quantity, quantities
from ingest.claims.ratios import agrees
from ingest.claims.units import unit


class Cell(NamedTuple):
    """A cell of a table, and the quantities in it."""

    start: int
    end: int
    words: str
    quantities: tuple[Quantity, ...]


class Columns(NamedTuple):
    """Which columns hold what, by their heads."""

    before: int | None = None
    after: int | None = None
    change: int | None = None
    is_reciprocal: bool = False
    heads: tuple[str, ...] = ()


_CELLS = 40
"""Cells of a row beyond which it is data."""

_RULE = re.compile(r"[ \t]*\|[\s:|-]+$")
_COLUMN = re.compile(
    rf"[*_`\s]*(?:\w+\s+){{0,2}}?(?:.*[(\s])?(?:(?P<before>{BEFORE})|(?P<after>{AFTER})|(?P<change>{CHANGE}))\b", re.IGNORECASE
)
_UNIT_OF_HEAD = re.compile(r"[(\[,]\s*(?P<unit>[A-Za-zµμ]{1,8}(?:/[A-Za-z]{1,8})?)[)\]]?$")
"""`Before (ms)`: the unit that the figures of the column leave out."""

_BASE_ROW = re.compile(r"baseline|reference", re.IGNORECASE)


def row_effects(text: str, start: int, end: int) -> Iterator[tuple[Effect, str]]:
    """The effects of the table's rows, each with the words of its row and of the heads that tell what it measures."""
    lines = list(_lines(text, start, end))
    ruled = next((index for index, (low, high) in enumerate(lines) if _RULE.match(text[low:high])), None)
    heads = cells(text, *lines[ruled - 1]) if ruled else ()
    columns = _columns(heads)
    for low, high in lines[ruled + 1 if ruled is not None else 0 :]:
        if text.count("|", low, high) > _CELLS:
            continue
        row = cells(text, low, high)
        for effect in _effects(text, row, columns):
            yield effect, _words(row, columns, effect)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Rows; a line that is no row belongs to the row above it."""
    low = start
    for match in re.compile(r"\n(?=[ \t]*\|)").finditer(text, start, end):
        yield low, match.start()
        low = match.end()
    yield low, end


def cells(text: str, start: int, end: int) -> tuple[Cell, ...]:
    """The cells of a row."""
    bounds = [start - 1, *(match.start() for match in re.compile(r"\|").finditer(text, start, end)), end]
    spans = zip((bound + 1 for bound in bounds), bounds[1:], strict=False)
    found = [Cell(low, high, text[low:high].strip(" *_`"), tuple(quantities(text, low, high))) for low, high in spans]
    return tuple(found[1:] if found and not found[0].words else found)


def _columns(heads: tuple[Cell, ...]) -> Columns:
    found: dict[str, int] = {}
    for index, head in enumerate(heads):
        role = _COLUMN.match(head.words)
        if role and role.lastgroup and index:
            found.setdefault(role.lastgroup, index)
    change = found.get("change")
    reciprocal = change is not None and bool(RECIPROCAL_HEADS.search(heads[change].words))
    return Columns(found.get("before"), found.get("after"), change, reciprocal, tuple(head.words for head in heads))


def _effects(text: str, row: tuple[Cell, ...], columns: Columns) -> Iterator[Effect]:
    inline = [effect for cell in row for effect in effects(text, list(cell.quantities), cell.start, cell.end)]
    pairs = [effect for effect in inline if effect.is_pair]
    if pairs:
        yield from (_with_next_cell(effect, row) for effect in pairs)
    elif (effect := _by_heads(row, columns) or _by_agreement(row)) is not None:
        yield effect
    elif inline:
        yield from inline
    elif (effect := _change_alone(row, columns)) is not None:
        yield effect


def _with_next_cell(effect: Effect, row: tuple[Cell, ...]) -> Effect:
    """A pair in a cell, with the change in the next cell."""
    following = next((cell for cell in row if cell.start > effect.end), None)
    change = following.quantities[0] if following and following.quantities else None
    return effect._replace(end=change.end, change=change) if change and agrees(effect, change) else effect


def _figure(row: tuple[Cell, ...], columns: Columns, column: int | None) -> Quantity | None:
    if column is None or column >= len(row):
        return None
    found = next((quantity for quantity in row[column].quantities if quantity.kind is not Kind.PERCENT), None)
    in_head = _UNIT_OF_HEAD.search(columns.heads[column]) if found and found.kind is Kind.VALUE and found.unit is None else None
    return found._replace(unit=unit(in_head["unit"])) if found and in_head else found


def _by_heads(row: tuple[Cell, ...], columns: Columns) -> Effect | None:
    before, after = _figure(row, columns, columns.before), _figure(row, columns, columns.after)
    if before is None or after is None or before.kind is not after.kind:
        return None
    if before.unit and after.unit and before.unit.metric is not after.unit.metric:
        return None
    pair = Effect(min(before.start, after.start), max(before.end, after.end), before, after)
    change = _change(row, columns.change)
    return pair._replace(end=max(pair.end, change[1]), change=change[0]) if change and change[0].start > pair.start else pair


def _change(row: tuple[Cell, ...], column: int | None) -> tuple[Quantity, int] | None:
    if column is None or column >= len(row):
        return None
    cell = row[column]
    quantity = next((quantity for quantity in cell.quantities if quantity.kind is not Kind.VALUE), None)
    return (quantity, quantity.end) if quantity else None


def _by_agreement(row: tuple[Cell, ...]) -> Effect | None:
    """Two neighbouring figures of one unit with a factor or percentage behind them that is their quotient, whatever the heads say."""
    for first, second, third in zip(row, row[1:], row[2:], strict=False):
        if first.quantities and second.quantities and third.quantities:
            before, after, change = first.quantities[0], second.quantities[0], third.quantities[0]
            pair = Effect(before.start, change.end, before, after, change)
            if before.measures_as(after) and change.kind is not Kind.VALUE and agrees(pair, change):
                return pair
    return None


def _change_alone(row: tuple[Cell, ...], columns: Columns) -> Effect | None:
    """A column of speedups without figures. The row that all others are compared with claims nothing."""
    found = _change(row, columns.change)
    shares = [quantity for cell in row for quantity in cell.quantities if quantity.kind is Kind.PERCENT]
    if (
        found is None
        or columns.change is None
        or len(shares) > 1
        or _BASE_ROW.search(row[columns.change].words)
        or _BASE_ROW.search(row[0].words)
    ):
        return None
    change, end = found
    if change.kind is Kind.TIMES and change.low == change.high == 1:
        return None
    sense = Sense.LOSS if columns.is_reciprocal else Sense.GAIN
    if change.kind is Kind.PERCENT:
        sense = Sense.FALL if change.sign in ("-", "−") else Sense.RISE if change.sign else sense
    return Effect(change.start, end, change=change, sense=sense, word=columns.heads[columns.change].lower())


def _words(row: tuple[Cell, ...], columns: Columns, effect: Effect) -> str:
    """What tells the metric: the row's label, and the heads of the columns the effect stands in."""
    inside = [
        columns.heads[index]
        for index, cell in enumerate(row)
        if index < len(columns.heads) and effect.start < cell.end and cell.start < effect.end
    ]
    return " | ".join([row[0].words, *inside] if row else inside)
