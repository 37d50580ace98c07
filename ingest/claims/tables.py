"""Tables: which columns hold the baseline, the candidate and the change.

One row of one metric is one effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from re import IGNORECASE
from typing import NamedTuple

from ingest.claims.judge import SIGNS, agrees
from ingest.claims.numbers import Effect, Kind, Quantity, quantities, unit
from ingest.claims.readings import effects
from ingest.claims.sides import ordered_by_sign
from ingest.claims.words import AFTER, BEFORE, CHANGE, Sense
from ingest.literals import pattern


class TableCell(NamedTuple):
    """A cell of a table, and the quantities in it."""

    start: int
    end: int
    words: str
    quantities: tuple[Quantity, ...]


class Columns(NamedTuple):
    """Column numbers by their role, from the header cells."""

    before: int | None = None
    after: int | None = None
    change: int | None = None
    is_reciprocal: bool = False
    heads: tuple[str, ...] = ()


_CELLS = 40
"""A row with more cells is data."""

_RULE = pattern(r"[ \t]*\|[\s:|-]+$")
_COLUMN = pattern(
    rf"[*_`\s]*(?:\w+\s+){{0,2}}?(?:.*[(\s])?(?:(?P<before>{BEFORE})|(?P<after>{AFTER})|(?P<change>{CHANGE}))\b",
    IGNORECASE,
)
_UNIT_OF_HEAD = pattern(r"[(\[,]\s*(?P<unit>[A-Za-zµμ]{1,8}(?:/[A-Za-z]{1,8})?)[)\]]?$")
"""The unit in a header cell, which the figures of the column omit: `Before (ms)`."""


def row_effects(text: str, start: int, end: int) -> Iterator[tuple[Effect, str]]:
    """Yield the effects of the rows, each with its row label and header cells.

    These name the metric.
    """
    lines = list(_lines(text, start, end))
    ruled = next(
        (index for index, (low, high) in enumerate(lines) if _RULE.match(text[low:high])), None
    )
    heads = cells(text, *lines[ruled - 1]) if ruled else ()
    columns = _columns(heads)
    for low, high in lines[ruled + 1 if ruled is not None else 0 :]:
        if text.count("|", low, high) > _CELLS:
            continue
        row = cells(text, low, high)
        for effect in _effects(text, row, columns):
            yield effect, _words(row, columns, effect)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the rows; a line that is no row belongs to the row above it."""
    low = start
    for match in _NEXT_ROW.finditer(text, start, end):
        yield low, match.start()
        low = match.end()
    yield low, end


_NEXT_ROW = pattern(r"\n(?=[ \t]*\|)")
_BAR = pattern(r"\|")


def cells(text: str, start: int, end: int) -> tuple[TableCell, ...]:
    bounds = [start - 1, *(match.start() for match in _BAR.finditer(text, start, end)), end]
    spans = zip((bound + 1 for bound in bounds), bounds[1:], strict=False)
    found = [
        TableCell(low, high, text[low:high].strip(" *_`"), tuple(quantities(text, low, high)))
        for low, high in spans
    ]
    return tuple(found[1:] if found and not found[0].words else found)


def _columns(heads: tuple[TableCell, ...]) -> Columns:
    found: dict[str, int] = {}
    for index, head in enumerate(heads):
        role = _COLUMN.match(head.words)
        if role and role.lastgroup and index:
            found.setdefault(role.lastgroup, index)
    change = found.get("change")
    reciprocal = change is not None and bool(_RECIPROCAL.search(heads[change].words))
    return Columns(
        found.get("before"),
        found.get("after"),
        change,
        reciprocal,
        tuple(head.words for head in heads),
    )


def _effects(text: str, row: tuple[TableCell, ...], columns: Columns) -> Iterator[Effect]:
    inline = [
        effect
        for cell in row
        for effect in effects(text, list(cell.quantities), cell.start, cell.end)
    ]
    pairs = [effect for effect in inline if effect.is_pair]
    if pairs:
        yield from (_with_next_cell(effect, row) for effect in pairs)
    elif (effect := _by_heads(row, columns) or _by_agreement(row, columns)) is not None:
        yield effect
    elif inline and (columns.change is None or any(effect.word not in SIGNS for effect in inline)):
        yield from inline
    elif (effect := _change_alone(row, columns)) is not None:
        yield effect


def _with_next_cell(effect: Effect, row: tuple[TableCell, ...]) -> Effect:
    """Return a pair in a cell, with the change in the next cell."""
    following = next((cell for cell in row if cell.start > effect.end), None)
    change = following.quantities[0] if following and following.quantities else None
    return (
        effect._replace(end=change.end, change=change)
        if change and agrees(effect, change)
        else effect
    )


def _figure(row: tuple[TableCell, ...], columns: Columns, column: int | None) -> Quantity | None:
    if column is None or column >= len(row):
        return None
    found = next(
        (quantity for quantity in row[column].quantities if quantity.kind is not Kind.PERCENT), None
    )
    in_head = (
        _UNIT_OF_HEAD.search(columns.heads[column])
        if found and found.kind is Kind.VALUE and found.unit is None
        else None
    )
    return found._replace(unit=unit(in_head["unit"])) if found and in_head else found


def _by_heads(row: tuple[TableCell, ...], columns: Columns) -> Effect | None:
    before, after = _figure(row, columns, columns.before), _figure(row, columns, columns.after)
    if before is None or after is None or before.kind is not after.kind:
        return None
    if before.unit and after.unit and before.unit.metric is not after.unit.metric:
        return None
    pair = Effect(min(before.start, after.start), max(before.end, after.end), before, after)
    change = _change(row, columns.change)
    return (
        pair._replace(end=max(pair.end, change[1]), change=change[0])
        if change and change[0].start > pair.start
        else pair
    )


def _change(row: tuple[TableCell, ...], column: int | None) -> tuple[Quantity, int] | None:
    if column is None or column >= len(row):
        return None
    cell = row[column]
    quantity = next(
        (quantity for quantity in cell.quantities if quantity.kind is not Kind.VALUE), None
    )
    return (quantity, quantity.end) if quantity else None


def _by_agreement(row: tuple[TableCell, ...], columns: Columns) -> Effect | None:
    """Return two neighbouring figures of one unit with the fitting change after them.

    The header cells do not matter.

    The sides are not named: the change tells them, by its sign or because it is a gain.
    """
    for index, (first, second, third) in enumerate(zip(row, row[1:], row[2:], strict=False)):
        if not (first.quantities and second.quantities and third.quantities):
            continue
        before, after, change = first.quantities[0], second.quantities[0], third.quantities[0]
        pair = Effect(before.start, change.end, before, after, change)
        if not _is_pair(before, after) or change.kind is Kind.VALUE or not agrees(pair, change):
            continue
        head = columns.heads[index + 2] if index + 2 < len(columns.heads) else ""
        if _FALLS.search(head):
            falls = change._replace(sign="+" if change.sign == "-" else "-")
            return ordered_by_sign(pair, falls) if change.kind is Kind.PERCENT else pair
        if change.sign and not _GAINS.search(head):
            return ordered_by_sign(pair, change)
        is_loss = change.high < 1 if change.kind is Kind.TIMES else change.sign == "-"
        return pair._replace(
            is_order_open=True, sense=Sense.LOSS if is_loss or columns.is_reciprocal else Sense.GAIN
        )
    return None


_GAINS = pattern(r"improve|gain|speed[- ]?up|faster|better", IGNORECASE)
_FALLS = pattern(r"reduc|saving|saved|decrease|less", IGNORECASE)
_RECIPROCAL = pattern(r"\bvs\.? (?:native|c\b)|overhead|slowdown|slower", IGNORECASE)
"""Header cells above multipliers that mean "worse by"."""


def _is_pair(before: Quantity, after: Quantity) -> bool:
    return (
        before.kind is after.kind is Kind.VALUE
        and before.metric is not None
        and before.metric is after.metric
    )


def _change_alone(row: tuple[TableCell, ...], columns: Columns) -> Effect | None:
    """Return a speedup from a column without figures.

    The row that all others are compared with claims nothing.
    """
    found = _change(row, columns.change)
    if (
        found is None
        or columns.change is None
        or sum(one.kind is Kind.PERCENT for cell in row for one in cell.quantities) > 1
    ):
        return None
    change, end = found
    if change.kind is Kind.TIMES and change.low == change.high == 1:
        return None
    head, is_less = columns.heads[columns.change], change.sign == "-"
    sense = Sense.LOSS if columns.is_reciprocal else Sense.GAIN
    if change.kind is Kind.PERCENT and change.sign and not _GAINS.search(head):
        sense = Sense.FALL if is_less is not bool(_FALLS.search(head)) else Sense.RISE
    elif change.kind is Kind.PERCENT and (is_less or _FALLS.search(head)):
        sense = Sense.LOSS if _GAINS.search(head) else Sense.FALL
    return Effect(change.start, end, change=change, sense=sense, word=head.lower())


def _words(row: tuple[TableCell, ...], columns: Columns, effect: Effect) -> str:
    """Return the words that name the metric.

    The row's label, and the header cells of the effect's columns.
    """
    own = [
        index
        for index, cell in enumerate(row[: len(columns.heads)])
        if effect.start < cell.end and cell.start < effect.end
    ]
    inside = [
        columns.heads[index] for index in own if index != columns.change or not effect.is_pair
    ]
    return " | ".join([row[0].words, *inside] if row else inside)
