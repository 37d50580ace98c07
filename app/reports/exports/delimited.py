"""CSV as RFC 4180 quotes it, in UTF-8, with a header and lines that end in LF.

The RFC asks for CRLF. A carriage return would end up in the last column of every shell pipeline, and every reader that takes
CRLF takes LF too.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from app.reports.exports.values import decimal_text, is_formula, json_text, rows, time_text
from schemas.catalogue.entry import UNNAMED, Columns

if TYPE_CHECKING:
    from app.reports.cost_report import Report

_NEEDS_QUOTES = frozenset(',"\r\n')


def write_csv(table: pa.Table, _heading: str = "", _of: Columns = UNNAMED) -> bytes:
    """A header and a line per row. NULL and NaN are an empty cell, empty text is `""`; lists and maps are JSON."""
    lines = [_line([_text(name) for name in table.column_names])]
    lines += (_line([_cell(value) for value in row.values()]) for row in rows(table))
    return "".join(lines).encode()


def write_report(report: Report) -> bytes:
    """The report's groups, or its totals; no row of totals beneath groups, so that a column adds up to its total."""
    return write_csv(report.main.table)


def _line(cells: list[str]) -> str:
    return (",".join(cells) or '""') + "\n"  # a line of one empty cell would be a blank line, which readers skip


def _cell(value: Any) -> str:
    return _CELLS.get(type(value), _json)(value)


def _json(value: Any) -> str:
    return _quoted(json_text(value))


def _text(text: str) -> str:
    """Text gets an apostrophe where a spreadsheet would run it as a formula; a number, negative or not, never does. Else it is exact."""
    return _quoted(f"'{text}" if is_formula(text) else text)


def _quoted(text: str) -> str:
    if text and _NEEDS_QUOTES.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'


_CELLS: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "",
    str: _text,
    int: str,
    float: lambda number: repr(number) if isfinite(number) else "",
    Decimal: decimal_text,
    datetime: time_text,
}
"""How a value of each type is written; what is missing here (truth values, lists, maps) is JSON."""
