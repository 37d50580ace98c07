"""Cells of a table, with the figures in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ingest.claims.numbers.measure import MeasureSource
from ingest.claims.numbers.quantities import Kind, Quantity, quantities
from ingest.claims.numbers.units import unit
from ingest.claims.words.vocabulary import TABLE_ROW

_RULE = re.compile(r"[ \t]*(?:\||:?-{2,}:?[ \t]*\|)[\s:|-]*$")
_ROW, _OPEN_ROW = re.compile(r"\n(?=[ \t]*\|)"), re.compile(r"\n")
_BAR = re.compile(r"\|")
_MOST_CELLS = 40
"""More cells than this in a row are data."""

_UNIT = re.compile(
    r"(?:[(\[,]\s*(?P<inside>[A-Za-zµμ]{1,8}(?:/[A-Za-z]{1,8})?)[)\]]?"
    r"|(?:^|\s)(?P<behind>ns|[µμu]s|ms|sec|[KMGkm]i?B|bytes|[rfntq]ps|iops|(?:[nµμum]?s|[KMG]?B|allocs)/(?:op|iter)|[A-Za-z]{1,12}/s(?:ec)?))$"
    r"|_(?P<suffix>ns|us|ms|s|sec|secs|seconds|[kmg]i?b|bytes)$"
    r"|^(?P<ahead>ms|[µu]s|(?:tok(?:ens)?|t|req|rows|ops|it)/s)\s"
)
"""`Before (ms)`, `after GB`: the unit that the figures of a column or row leave out."""


class Cell(NamedTuple):
    """A cell of a table, and the quantities in it."""

    start: int
    end: int
    words: str
    quantities: tuple[Quantity, ...]

    @property
    def figures(self) -> list[Quantity]:
        """The quantities that are not percentages."""
        return [quantity for quantity in self.quantities if quantity.kind is not Kind.PERCENT]


Row = tuple[Cell, ...]


def header_and_rows(text: str, start: int, end: int) -> tuple[Row, list[Row]]:
    """The header cells of the table, none without a rule below them, and its rows, without those that are data."""
    lines = list(_lines(text, start, end))
    ruled = next((index for index, (low, high) in enumerate(lines) if _RULE.match(text[low:high])), None)
    headers = cells(text, *lines[ruled - 1]) if ruled else ()
    below = lines[ruled + 1 if ruled is not None else 0 :]
    return headers, [cells(text, low, high) for low, high in below if text.count("|", low, high) <= _MOST_CELLS]


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Rows; a line without a bar belongs to the row above it, unless the table has no outer bars."""
    low = start
    for match in (_OPEN_ROW if _has_no_outer_bars(text, start, end) else _ROW).finditer(text, start, end):
        yield low, match.start()
        low = match.end()
    yield low, end


def _has_no_outer_bars(text: str, start: int, end: int) -> bool:
    """Whether the rows below the rule have no outer bars, whether or not the header row has."""
    second = text.find("\n", start, end) + 1
    return not TABLE_ROW.match(text, start) or (second > 0 and not TABLE_ROW.match(text, second))


def cells(text: str, start: int, end: int) -> Row:
    """The cells of a row, without the empty one before an outer bar."""
    bounds = [start - 1, *(match.start() for match in _BAR.finditer(text, start, end)), end]
    spans = zip((bound + 1 for bound in bounds), bounds[1:], strict=False)
    found = [Cell(low, high, text[low:high].strip(" *_`"), tuple(quantities(text, low, high))) for low, high in spans]
    return tuple(found[1:] if found and not found[0].words else found)


def with_unit(figure: Quantity, *labels: str, source: MeasureSource = MeasureSource.HEADER) -> Quantity:
    """The figure with the unit in the first of the words that has one, if the figure has none itself."""
    if figure.unit is not None or figure.kind is not Kind.VALUE:
        return figure
    for words in labels:
        if found := _UNIT.search(words):
            return figure.in_unit(unit(found["inside"] or found["behind"] or found["suffix"] or found["ahead"]), source)
    return figure
