"""Changes of a table that stand without their figures: in a column of their own, in every cell, or beside the figure they led to."""

from __future__ import annotations

import re

from ingest.claims.find.captions import caption_above
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind
from ingest.claims.tables.cells import Row
from ingest.claims.tables.header_cells import GAINING, Columns, role_of
from ingest.claims.tables.rows import changes, figures
from ingest.claims.words.change_words import FALLS, GAINS, Sense
from schemas.rows.claim import ClaimMetric

_SIGNS = ("+", "-")
_SENSES = {"+": Sense.GAIN, "-": Sense.LOSS}
"""What a sign says in a column of gains."""

_NO_CHANGE = ((Kind.TIMES, 1), (Kind.PERCENT, 100))
"""`1x` is none, and `100%` means that something is done."""

_FALLS = re.compile(FALLS, re.IGNORECASE)
_BASE_ROW = re.compile(r"baseline|reference", re.IGNORECASE)


def change_alone(row: Row, columns: Columns) -> Effect | None:
    """A column of speedups without figures. The row that all others are compared with claims nothing."""
    found = changes(row, columns.change, columns.heads)
    if columns.change is not None and columns.has_goals:
        return _achieved(row, columns.change)
    shares = [quantity for cell in row for quantity in cell.quantities if quantity.kind is Kind.PERCENT]
    if (
        not found
        or columns.change is None
        or len(shares) > 1
        or _BASE_ROW.search(row[columns.change].words)
        or _BASE_ROW.search(row[0].words)
    ):
        return None
    change = found[0]
    if change.low == change.high and (change.kind, change.low) in _NO_CHANGE and not change.sign:
        return None
    sense = Sense.LOSS if columns.is_reciprocal else Sense.GAIN
    if change.kind is Kind.PERCENT:
        is_fall = change.sign in _SIGNS[1:] or (
            not change.sign and (_FALLS.search(columns.heads[columns.change]) or row[columns.change].words.endswith("↓"))
        )
        sense = Sense.FALL if is_fall else Sense.RISE if change.sign else sense
    whole = Effect(change.start, change.end, change=change, sense=sense, word=columns.heads[columns.change].lower())
    beside = figures(row, columns, columns.change - 1) if change.sign and columns.change > 1 else []
    if len(beside) == 1 and beside[0].unit:
        whole = whole._replace(start=beside[0].start, after=beside[0], word=change.sign)
    return whole


_NAME = re.compile(r"[*_`]*\s(?P<name>[A-Za-z][\w-]*)")


def each_named(text: str, row: Row, columns: Columns) -> list[Effect]:
    """`+111% semantic, +49% hybrid` in a column of gains: several signed percentages, each with the name of what it is of."""
    if columns.change is None or columns.change >= len(row) or not GAINING.search(columns.heads[columns.change]):
        return []
    cell = row[columns.change]
    found: list[Effect] = []
    for one in cell.quantities:
        name = _NAME.match(text, one.end, cell.end)
        of = [head for head in columns.heads if name and head.lower().startswith(name["name"].lower())]
        if one.kind is not Kind.PERCENT or one.sign not in _SENSES or name is None or len(of) != 1:
            return []
        found.append(
            Effect(one.start, name.end(), change=one, sense=_SENSES[one.sign], word=columns.heads[columns.change].lower(), heads=of[0])
        )
    return found


_OF_A_CHANGE = re.compile(r"reduction|savings?|improvement|speed(?:-?up)?|throughput|increase|gain", re.IGNORECASE)


def _achieved(row: Row, column: int) -> Effect | None:
    """A percentage or factor beside the goal for it, where the label of the row says that it is of a change."""
    change = next(iter(row[column].quantities), None) if column < len(row) else None
    label = _OF_A_CHANGE.search(row[0].words)
    if label is None or row[0].quantities or change is None or change.kind is Kind.VALUE:
        return None
    sense = Sense.FALL if _FALLS.search(row[0].words) else Sense.GAIN
    return Effect(change.start, change.end, change=change, sense=sense, word=label[0].lower())


_SAYS_GAINS = re.compile(rf"\b(?:{GAINS})s?\b", re.IGNORECASE)


def per_cell(text: str, start: int, heads: Row, row: Row) -> list[Effect]:
    """`Average speedups by instance` above cells that hold nothing but a signed percentage: each is one."""
    cells = [cell.quantities for cell in row[1:] if cell.words]
    are_percentages = all(len(found) == 1 and found[0].kind is Kind.PERCENT and found[0].sign in _SIGNS for found in cells)
    if len(cells) < 2 or not are_percentages or any(role_of(head.words) for head in heads[1:]):
        return []
    caption = _SAYS_GAINS.search(caption_above(text, start))
    if caption is None:
        return []
    word = caption[0].lower()
    return [Effect(found.start, found.end, change=found, sense=_SENSES[found.sign], word=word) for (found,) in cells]


_OPENS = re.compile(r"[*_`]*\s?\(")


def beside_its_figure(text: str, effect: Effect, row: Row) -> Effect:
    """`26.1 KB (-3.2%)`: the signed percentage with the figure that it led to."""
    cell = next((cell for cell in row if cell.start <= effect.start < cell.end), None)
    figure = cell.quantities[0] if cell and len(cell.quantities) > 1 and cell.quantities[1] == effect.change else None
    if figure is None or figure.metric in (None, ClaimMetric.COST) or not _OPENS.fullmatch(text, figure.end, effect.start):
        return effect
    return effect._replace(start=figure.start, after=figure)
