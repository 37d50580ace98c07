"""Rows and cells of a table, with the quantities in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ingest.claims.numbers.measure import MeasureSource
from ingest.claims.numbers.quantities import Kind, Quantity, quantities
from ingest.claims.numbers.units import unit
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import TABLE_ROW

_RULE = pattern(r"[ \t]*(?:\||:?-{2,}:?[ \t]*\|)[\s:|-]*$")
_ROW, _OPEN_ROW = pattern(r"\n(?=[ \t]*\|)"), pattern(r"\n")
_BAR = pattern(r"\|")
_MOST_CELLS = 40
"""A row with more cells is data, and skipped."""

_UNIT = pattern(
    r"(?:[(\[,]\s*(?P<inside>[A-Za-zµμ]{1,8}(?:/[A-Za-z]{1,8})?)[)\]]?"
    r"|(?:^|\s)(?P<behind>ns|[µμu]s|ms|sec|[KMGkm]i?B|bytes|[rfntq]ps|iops|(?:[nµμum]?s|[KMG]?B|allocs)/(?:op|iter)|[nµμum]s/[a-z]{2,12}|[A-Za-z]{1,12}/s(?:ec)?))$"
    r"|_(?P<suffix>ns|us|ms|s|sec|secs|seconds|[kmg]i?b|bytes)$"
    r"|^(?P<ahead>ms|[µu]s|(?:tok(?:ens)?|t|req|rows|ops|it)/s)\s"
)
"""The unit of a column or row of bare numbers, in its label: `Before (ms)`, `after GB`."""


class Cell(NamedTuple):
    """A cell of a table: its span in the text, its words without Markdown, and its quantities."""

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
    """The header cells of the table (empty if there is no `|---|` rule below them) and the rows below."""
    lines = list(_lines(text, start, end))
    ruled = next((index for index, (low, high) in enumerate(lines) if _RULE.match(text[low:high])), None)
    headers = cells(text, *lines[ruled - 1]) if ruled else ()
    below = lines[ruled + 1 if ruled is not None else 0 :]
    return headers, [cells(text, low, high) for low, high in below if text.count("|", low, high) <= _MOST_CELLS]


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of the rows. A line without a bar continues the row above it, unless the table has no outer bars."""
    low = start
    for match in (_OPEN_ROW if _has_no_outer_bars(text, start, end) else _ROW).finditer(text, start, end):
        yield low, match.start()
        low = match.end()
    yield low, end


def _has_no_outer_bars(text: str, start: int, end: int) -> bool:
    """Whether the rows have no outer bars: `load | 8 s | 2 s`. The header row alone may have them."""
    second = text.find("\n", start, end) + 1
    return not TABLE_ROW.match(text, start) or (second > 0 and not TABLE_ROW.match(text, second))


def cells(text: str, start: int, end: int) -> Row:
    """The cells of a row, without the empty one before an outer bar."""
    bounds = [start - 1, *(match.start() for match in _BAR.finditer(text, start, end)), end]
    spans = zip((bound + 1 for bound in bounds), bounds[1:], strict=False)
    found = [Cell(low, high, text[low:high].strip(" *_`"), tuple(quantities(text, low, high))) for low, high in spans]
    return tuple(found[1:] if found and not found[0].words else found)


def with_unit(figure: Quantity, *labels: str, source: MeasureSource = MeasureSource.HEADER) -> Quantity:
    """A bare number with the unit of the first label that has one, `Before (ms)`; any other quantity unchanged."""
    if figure.unit is not None or figure.kind is not Kind.VALUE:
        return figure
    for words in labels:
        if words[:1].isdigit():  # `10 KB`: a row of an input size
            continue
        if found := _UNIT.search(words):
            return figure.in_unit(unit(found["inside"] or found["behind"] or found["suffix"] or found["ahead"]), source)
    return figure
