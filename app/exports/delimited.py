"""CSV as RFC 4180 quotes it, in UTF-8, with a header and lines that end in LF.

The RFC asks for CRLF. A carriage return would end up in the last column of every shell pipeline, and every reader that takes
CRLF takes LF too.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from app.exports.values import decimal_text, json_text, rows, time_text

_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NEEDS_QUOTES = frozenset(',"\r\n')


def write_csv(table: pa.Table) -> bytes:
    """A header and a line per row. NULL is an empty cell, empty text is `""`; lists and maps are JSON."""
    lines = [_line([_text(name) for name in table.column_names])]
    lines += (_line([_cell(value) for value in row.values()]) for row in rows(table))
    return "".join(lines).encode()


def _line(cells: list[str]) -> str:
    return (",".join(cells) or '""') + "\n"  # a line of one empty cell would be a blank line, which readers skip


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    return "" if value is None else _quoted(_number_or_json(value))


def _number_or_json(value: Any) -> str:
    if isinstance(value, Decimal):
        return decimal_text(value)
    return time_text(value) if isinstance(value, datetime) else json_text(value)


def _text(text: str) -> str:
    """Text gets an apostrophe where a spreadsheet would run it as a formula; a number, negative or not, never does."""
    return _quoted(f"'{text}" if text.startswith(_BEGINS_FORMULA) else text)


def _quoted(text: str) -> str:
    if text and _NEEDS_QUOTES.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'
