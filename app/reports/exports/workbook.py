"""XLSX: a workbook for people who go on calculating. Money and times are numbers with a format, text is never a formula.

A cell of a workbook is a double. It holds an amount to the last of its nine places up to about four million dollars; beyond that
the ninth place is rounded, Excel itself shows fifteen figures, and the summary has the total as text, too.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from app.queries.runs import KNOWN_SUFFIX
from app.reports.exports.values import is_formula
from app.text.columns import Column, columns
from schemas.catalogue.columns import TOTALS
from schemas.catalogue.entry import UNNAMED, Columns
from schemas.text import REPLACEMENT, visible
from schemas.unit_names import Unit

if TYPE_CHECKING:
    from app.reports.cost_report import Report
    from app.text.answers import Answer

MOST_ROWS = 1_048_575
"""Rows of a sheet beneath its header."""

LONGEST_TEXT = 32_767
_DAY_MS = 86_400_000
_NOT_IN_XML = dict.fromkeys((0xFFFE, 0xFFFF), REPLACEMENT)
_RICH = ("<r>", "</r>")
"""What the library writes as it is, taking it for markup of its own."""


NUMBERS = {
    Unit.USD: "[>=1]$#,##0.00;[<=-1]-$#,##0.00;$#,##0.0000",
    Unit.MILLISECONDS: "[h]:mm:ss",
    Unit.TOKENS: "#,##0",
    Unit.COUNT: "#,##0.##",
    Unit.RATIO: '0.00"×"',
    Unit.SHARE: "0.0%",
    Unit.BYTES: "#,##0",
    Unit.TIME: "yyyy-mm-dd hh:mm:ss",
}
"""How cells of each unit are shown; their values are exact."""

EXACT_USD = "$#,##0.00#######"
SUFFIXES = {Unit.MILLISECONDS: " (h:mm:ss)", Unit.TIME: " (UTC)"}
"""What a header must add, since the number does not say it."""

_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "remove_timezone": True,
}


@dataclass
class Book:
    """A workbook being written, and its formats, each made once."""

    file: io.BytesIO = field(default_factory=io.BytesIO)
    formats: dict[tuple[tuple[str, Any], ...], Format] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.workbook = xlsxwriter.Workbook(self.file, _OPTIONS)

    def style(self, **properties: Any) -> Format:
        """A cell format."""
        key = tuple(sorted(properties.items()))
        if key not in self.formats:
            self.formats[key] = self.workbook.add_format(properties)
        return self.formats[key]

    def finished(self) -> bytes:
        """The file's bytes."""
        self.workbook.close()
        return self.file.getvalue()


def write_workbook(table: pa.Table, heading: str = "", of: Columns = UNNAMED) -> bytes:
    """One sheet with every column of the table."""
    book = Book()
    book.workbook.set_properties({"title": visible(heading), "created": datetime(2000, 1, 1, tzinfo=UTC)})
    _grid(book, book.workbook.add_worksheet("Table"), table, of)
    return book.finished()


def write_report(report: Report) -> bytes:
    """A sheet for what the report covers and its totals, with a chart, and one per section."""
    book = Book()
    book.workbook.set_properties({"title": visible(report.header.title), "created": report.header.made_at})
    summary = book.workbook.add_worksheet("Summary")
    _summary(book, summary, report)
    sheets = [section for section in report.sections if section.key != "totals" and section.table.num_columns]
    for section in sheets:
        answer = section.answer
        _grid(book, book.workbook.add_worksheet(section.key.capitalize()), _in_order(answer), answer.of, answer.total)
    charted = next(section for section in sheets if section.key in ("groups", "models"))
    if charted.table.num_rows and "cost_usd" in charted.table.column_names:
        _chart(book, summary, charted.key.capitalize(), charted.title, charted.answer)
    return book.finished()


def _in_order(answer: Answer) -> pa.Table:
    """Every column, those that people see first."""
    first = [name for name in answer.shown if name in answer.table.column_names]
    return answer.table.select([*first, *(name for name in answer.table.column_names if name not in first)])


def _summary(book: Book, sheet: Worksheet, report: Report) -> None:
    """What the report covers, then each total with what it means and on how many runs it rests."""
    bold = book.style(bold=True)
    sheet.write_string(0, 0, visible(report.header.title), book.style(bold=True, font_size=16))
    for line, (word, text) in enumerate(report.header.lines(), 1):
        sheet.write_string(line, 0, word, bold)
        _text(book, sheet, line, 1, text)
    totals = report.section("totals").answer
    [row] = totals.table.to_pylist()
    top = len(report.header.lines()) + 2
    for place, key in enumerate(("figure", "value", "known", "exactly")):
        sheet.write_string(top, place, TOTALS[key].label, book.style(bold=True, bottom=1))
    for line, column in enumerate(columns(totals.table, totals.of), top + 1):
        sheet.write_string(line, 0, column.label + SUFFIXES.get(column.unit, ""))
        _cell(book, sheet, (line, 1), column, row, exact=True)
        for place, text in enumerate((column.note(row), _beyond(column, row)), 2):
            if text:
                sheet.write_string(line, place, text)
    sheet.set_column(0, 0, 44)
    sheet.set_column(1, 1, 26)
    sheet.set_column(2, 3, 14)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)


def _beyond(column: Column, row: Mapping[str, Any]) -> str:
    """An amount of more digits than its cell can hold, as text; empty for all others."""
    value = row[column.name]
    return column.exact(row) if isinstance(value, Decimal) and Decimal(f"{float(value):.16G}") != value else ""


def _grid(book: Book, sheet: Worksheet, table: pa.Table, of: Columns, total: pa.Table | None = None) -> None:
    """A header that stays in sight and filters, a line per row, and the total beneath, which no filter hides."""
    rows = table.slice(0, MOST_ROWS - 1).to_pylist()
    shown = columns(table, of)
    shown += _counts(shown, rows)
    for place, column in enumerate(shown):
        _text(book, sheet, 0, place, column.label + SUFFIXES.get(column.unit, ""), bold=True, bottom=1, text_wrap=True, valign="top")
        for line, row in enumerate(rows, 1):
            _cell(book, sheet, (line, place), column, row)
    if total is not None:
        _total(book, sheet, len(rows) + 1, shown, total.to_pylist()[0])
    sheet.freeze_panes(1, 0)
    if shown:
        sheet.autofilter(0, 0, len(rows), len(shown) - 1)
    sheet.autofit(max_width=320)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)


def _total(book: Book, sheet: Worksheet, line: int, shown: Sequence[Column], total: Mapping[str, Any]) -> None:
    for place, column in enumerate(shown):
        if column.name in total:
            _cell(book, sheet, (line, place), column, total, bold=True, top=1)
        else:
            sheet.write_string(line, place, "" if place else "Total", book.style(bold=True, top=1))


def _counts(shown: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Columns for the numbers of runs that figures rest on, of those that do not rest on all."""
    noted = [column for column in shown if column.known and any(row[column.known] != row.get("runs") for row in rows)]
    return [Column(f"{column.name}{KNOWN_SUFFIX}", f"Runs with: {column.label}", Unit.COUNT) for column in noted]


def _cell(
    book: Book, sheet: Worksheet, at: tuple[int, int], column: Column, row: Mapping[str, Any], *, exact: bool = False, **style: Any
) -> None:
    """One value as what it is; unknown is an empty cell, never 0."""
    value = row[column.name]
    number_format = EXACT_USD if exact and column.unit is Unit.USD else NUMBERS.get(column.unit, "General")
    if isinstance(value, int) and column.unit is Unit.COUNT:
        number_format = NUMBERS[Unit.TOKENS]  # "#,##0.##" writes a whole number as "3."
    writer = _WRITERS.get(type(value))
    if value is None or (isinstance(value, float) and not isfinite(value)):
        sheet.write_blank(*at, None, book.style(**style))
    elif writer:
        writer(sheet, *at, value / _DAY_MS if column.unit is Unit.MILLISECONDS else value, book.style(num_format=number_format, **style))
    else:
        _text(book, sheet, *at, value if isinstance(value, str) else column.cell(row), **style)


def _text(book: Book, sheet: Worksheet, line: int, place: int, text: str, **style: Any) -> None:
    """Text that stays text: also when somebody edits the cell, where it begins as a formula does."""
    shown = visible(text).translate(_NOT_IN_XML)
    clean = shown if len(shown) < LONGEST_TEXT else f"{shown[: LONGEST_TEXT - 2]}…"
    clean = f"{clean} " if clean.startswith(_RICH[0]) and clean.endswith(_RICH[1]) else clean
    quoted = {"quote_prefix": True} if is_formula(clean) else {}
    sheet.write_string(line, place, clean, book.style(**quoted, **style))


def _time(sheet: Worksheet, line: int, place: int, value: datetime, style: Format) -> None:
    sheet.write_datetime(line, place, value.astimezone(UTC) if value.tzinfo else value, style)


def _chart(book: Book, sheet: Worksheet, name: str, title: str, answer: Answer) -> None:
    """Bars of the reported cost of each row, at most 30, beside the totals."""
    shown = columns(_in_order(answer), answer.of)
    last = min(answer.table.num_rows, 30)
    labels = next(place for place, column in enumerate(shown) if column.is_figure)
    chart = book.workbook.add_chart({"type": "bar"})
    place, cost = next((place, column) for place, column in enumerate(shown) if column.name == "cost_usd")
    chart.add_series(
        {"categories": [name, 1, 0, last, max(labels - 1, 0)], "values": [name, 1, place, last, place], "fill": {"color": "#0072B2"}}
    )
    chart.set_title({"name": visible(f"{cost.label}, {title[0].lower()}{title[1:]}"), "name_font": {"size": 12}})
    chart.set_legend({"none": True})
    chart.set_x_axis({"num_format": "$#,##0.00", "name": f"{cost.label} (USD)"})
    chart.set_y_axis({"reverse": True})
    chart.set_size({"width": 640, "height": 120 + 24 * last})
    sheet.insert_chart(1, 5, chart)


_WRITERS: dict[type, Callable[..., Any]] = {
    bool: Worksheet.write_boolean,
    int: Worksheet.write_number,
    float: Worksheet.write_number,
    Decimal: Worksheet.write_number,
    datetime: _time,
}
