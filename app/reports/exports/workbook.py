"""XLSX: a workbook for further calculations.

Money and times are numbers with a format, text is never a formula.

A cell of a workbook is a double. It keeps all nine decimals of an amount up to about four million
dollars; beyond that the ninth is rounded. Excel itself shows fifteen digits, so the summary also
has the total as text.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from app.queries import Row
from app.queries.runs import KNOWN_SUFFIX
from app.reports.exports.text import is_formula
from app.text.columns import SCREEN_WORDS, PivotedColumn, ShownColumn, columns, fact_words
from app.text.formatting import FORMS, UNKNOWN
from app.text.table import TextTable
from schemas.catalogue.columns import TOTALS
from schemas.catalogue.entry import Columns
from schemas.text import REPLACEMENT, one_line, visible
from schemas.units import Unit

if TYPE_CHECKING:
    from app.reports.cost_report import CostReport, Section
    from app.reports.first_page import FirstPage
    from app.text.answers import Answer

MOST_ROWS = 1_048_575

LONGEST_TEXT = 32_767
_DAY_MS = 86_400_000
_NOT_IN_XML = dict.fromkeys((0xFFFE, 0xFFFF), REPLACEMENT)
_RICH = ("<r>", "</r>")
"""Text that the library writes unchanged because it looks like its own markup."""


DATES = {"day": "yyyy-mm-dd", "month": "yyyy-mm"}

IDENTITY = ("title", "task", "repo", "dated_at", "model", "outcome")
"""Columns that identify a run: they come first."""

RUN_FIGURES = (
    "cost_own_usd",
    "cost_list_usd",
    "tokens_basis",
    "cost_delta_usd",
    "cost_cause",
    "duration_ms",
    "num_turns",
    "cost_per_turn_usd",
    "output_tokens",
    "cache_read_share",
    "claimed_speedup",
    "findings",
    "source_name",
    "time_source",
    "run_id",
)
"""Next columns of runs; `runs -o runs.xlsx` has all."""

MOST_FROZEN = 3
"""Columns that stay in view at most, because the others need room."""

WIDEST = 320

_SIGN = re.compile(r"[^\d$<−+]*")
"""Words and signs before a figure: `at most `, `≥ `."""

_SECTION = re.compile(r"(?:^|;)(?:\[[<>]=-?1\])?")
"""The beginning of a section of a number format."""

LOOKS = {"t-good": "#0A6B4F", "t-bad": "#B3261E"}
"""CSS class of a verdict → its colour."""

WRAPPED = 4
"""The wide column of the summary: its texts are wrapped."""

HEADER_HEIGHT, FIGURE_WIDTH, TIME_WIDTH = 48, 13, 19

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
        """Return a cell format."""
        key = tuple(sorted(properties.items()))
        if key not in self.formats:
            self.formats[key] = self.workbook.add_format(properties)
        return self.formats[key]

    def finished(self) -> bytes:
        """Return the file's bytes."""
        self.workbook.close()
        return self.file.getvalue()


def xlsx_table(answer: Answer) -> bytes:
    """Return a workbook with one sheet of all columns."""
    book = Book()
    book.workbook.set_properties(
        {"title": visible(answer.heading), "created": datetime(2000, 1, 1, tzinfo=UTC)}
    )
    _grid(book, book.workbook.add_worksheet("Table"), answer.table, answer.of)
    return book.finished()


def xlsx_report(report: CostReport) -> bytes:
    """Return a sheet for the first page, with a chart, one per section, and one for the coverage.

    The coverage comes last.
    """
    book = Book()
    book.workbook.set_properties(
        {"title": visible(report.header.title), "created": report.header.made_at}
    )
    summary = book.workbook.add_worksheet("Summary")
    _first_page(book, summary, report.first)
    _totals(book, book.workbook.add_worksheet("Totals"), report.section("totals").answer)
    sheets = [
        section
        for section in report.sections
        if section.key != "totals" and section.table.num_columns
    ]
    for section in sheets:
        answer = section.answer
        is_of_runs = section.key == "runs"
        table = _runs_listing(answer.table) if is_of_runs else _in_order(answer)
        sheet = book.workbook.add_worksheet(section.key.capitalize())
        _grid(book, sheet, table, answer.of, answer.total, MOST_FROZEN if is_of_runs else 0)
        if answer.note:
            _text(book, sheet, min(answer.table.num_rows, MOST_ROWS - 1) + 2, 0, answer.note)
    about = book.workbook.add_worksheet("About")
    for line, (word, text) in enumerate(report.header.lines()):
        about.write_string(line, 0, word, book.style(bold=True, valign="top"))
        _text(book, about, line, 1, text, text_wrap=True, valign="top")
    about.set_column(0, 0, 16)
    about.set_column(1, 1, 100)
    about.fit_to_pages(1, 0)
    charted = next(section for section in sheets if section.key in ("groups", "models"))
    if charted.table.num_rows and report.measure.total in charted.table.column_names:
        _chart(book, summary, charted, report.measure.total)
    return book.finished()


def _in_order(answer: Answer) -> pa.Table:
    first = [name for name in answer.shown if name in answer.table.column_names]
    return answer.table.select(
        [*first, *(name for name in answer.table.column_names if name not in first)]
    )


def _runs_listing(table: pa.Table) -> pa.Table:
    """Return the known columns that identify a run, then those of its key figures."""
    known = [name for name in table.column_names if table[name].null_count < table.num_rows]
    return table.select([name for name in (*IDENTITY, *RUN_FIGURES) if name in known])


def _first_page(book: Book, sheet: Worksheet, page: FirstPage) -> None:
    """Write title, coverage, figures as numbers, top lists, budgets and notes."""
    _text(book, sheet, 0, 0, page.title, bold=True, font_size=16)
    line = 1
    for line, (word, text) in enumerate(page.lines, 1):
        sheet.write_string(line, 0, word, book.style(bold=True))
        _text(book, sheet, line, 1, text)
    line += 2
    _text(book, sheet, line, 0, page.answer, bold=True, font_size=13)
    for line, text in enumerate(page.more, line + 1):  # noqa: B020  each is beneath the one before
        _text(book, sheet, line, 0, text)
    line += 1
    for table in page.tables(page.numbers):
        line = _table(book, sheet, line + 1, table)
    for line, note in enumerate(page.notes, line + 1):  # noqa: B020  each note is beneath the one before
        sheet.merge_range(line, 0, line, 4, "", book.style(text_wrap=True, valign="top"))
        _text(book, sheet, line, 0, note, text_wrap=True, valign="top")
        sheet.set_row(line, 15 * (1 + len(note) // 110))
    for place, width in enumerate((44, 18, 18, 10, 40)):
        sheet.set_column(place, place, width)
    sheet.set_portrait()
    sheet.fit_to_pages(1, 0)


def _table(book: Book, sheet: Worksheet, line: int, table: TextTable) -> int:
    """Write a table in words, its figures as numbers, and return the number of the next line."""
    rows = table.cells
    for place, column in enumerate(table.columns):
        style: dict[str, Any] = {"align": "right" if column.is_figure else "left"}
        _text(book, sheet, line, place, one_line(column.label), bold=True, bottom=1, **style)
        for below, cell in enumerate((cells[place] for cells in rows), line + 1):
            value, unit = cell.number or (None, Unit.TEXT)
            if isinstance(value, int | float | Decimal):
                sign = _SIGN.match(cell.plain)[0]  # type: ignore[index]
                form = number_format(value, unit) or ""
                form = _SECTION.sub(rf'\g<0>"{sign}"', form) if sign else form
                note = cell.note.replace('"', "")
                form = f'" · {note}";'.join(f"{form};".split(";"))[:-1] if note else form
                value = value / _DAY_MS if unit is Unit.MILLISECONDS else value
                sheet.write_number(below, place, value, book.style(num_format=form, **style))
            elif str(cell):
                colour = LOOKS.get(cell.kind)
                look = {"bold": True, "font_color": colour} if colour else {}
                wrap = {"text_wrap": True, "valign": "top"} if place == WRAPPED else {}
                _text(book, sheet, below, place, str(cell), **style, **look, **wrap)
    return line + 1 + len(rows)


def number_format(value: Any, unit: Unit) -> str | None:
    """Return how a workbook writes the number."""
    # "#,##0.##" writes a whole number as "3."
    is_whole = isinstance(value, int) and unit is Unit.COUNT
    return FORMS[Unit.TOKENS if is_whole else unit].workbook


def _totals(book: Book, sheet: Worksheet, totals: Answer) -> None:
    """Write each total, the number of runs behind it, and its digits if a cell cannot hold them."""
    [row] = totals.table.to_pylist()
    for place, key in enumerate(("figure", "value", "known", "exactly")):
        sheet.write_string(0, place, TOTALS[key].label, book.style(bold=True, bottom=1))
    for line, column in enumerate(columns(totals.table, totals.of), 1):
        sheet.write_string(line, 0, column.label + FORMS[column.unit].header)
        _cell(book, sheet, (line, 1), column, row)
        value = row[
            column.name
        ]  # an amount of more digits than its cell can hold is there as text, too
        is_rounded = isinstance(value, Decimal) and Decimal(f"{float(value):.16G}") != value
        for place, text in enumerate(
            (column.note(row), column.exact(row) if is_rounded else ""), 2
        ):
            if text:
                sheet.write_string(line, place, text)
    for place, width in enumerate((44, 20, 16, 26)):
        sheet.set_column(place, place, width)
    sheet.freeze_panes(1, 0)
    sheet.fit_to_pages(1, 0)


def _grid(
    book: Book,
    sheet: Worksheet,
    table: pa.Table,
    of: Columns,
    total: pa.Table | None = None,
    frozen: int = 0,
) -> None:
    """Write a header that stays in view and filters, a line per row, and the total below.

    No filter hides the total. The first `frozen` columns stay in view.
    """
    rows = table.slice(0, MOST_ROWS - 1).to_pylist()
    shown = columns(table, of)
    # the numbers of runs that figures rest on, of those that do not rest on all
    noted = [
        column
        for column in shown
        if column.known and any(row[column.known] != row.get("runs") for row in rows)
    ]
    shown += [
        ShownColumn(f"{column.name}{KNOWN_SUFFIX}", f"Runs with: {column.label}", Unit.COUNT)
        for column in noted
    ]
    for place, column in enumerate(shown):
        _text(
            book,
            sheet,
            0,
            place,
            column.label + FORMS[column.unit].header,
            bold=True,
            bottom=1,
            text_wrap=True,
            valign="top",
        )
        for line, row in enumerate(rows, 1):
            _cell(book, sheet, (line, place), column, row)
    if total is not None:
        [sums] = total.to_pylist()
        for place, column in enumerate(shown):
            if column.name in sums:
                _cell(book, sheet, (len(rows) + 1, place), column, sums, bold=True, top=1)
            else:
                sheet.write_string(
                    len(rows) + 1, place, "" if place else "Total", book.style(bold=True, top=1)
                )
    sheet.freeze_panes(1, frozen)
    if shown:
        sheet.autofilter(0, 0, len(rows), len(shown) - 1)
    _widths(sheet, shown)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)


def _widths(sheet: Worksheet, shown: Sequence[ShownColumn]) -> None:
    """Set widths: texts within bounds, figures as wide as their values, with wrapped headers."""
    sheet.autofit(max_width=WIDEST)
    sheet.set_row(0, HEADER_HEIGHT)
    for place, column in enumerate(shown):
        if column.is_figure or column.unit is Unit.TIME:
            width = TIME_WIDTH if column.unit is Unit.TIME else FIGURE_WIDTH
            sheet.set_column(place, place, width)


def _cell(
    book: Book,
    sheet: Worksheet,
    at: tuple[int, int],
    column: ShownColumn,
    row: Row,
    **style: Any,
) -> None:
    """Write one value by its type: a number, a date, keys as words.

    Unknown is an empty cell, never 0.
    """
    value = row[column.name]
    if column.name in DATES and value:
        # the day, or the first of the month, that a group is called by; the name of a total is
        # neither
        with suppress(ValueError):
            day = datetime.fromisoformat(f"{value}-01" if len(value) == len("2026-11") else value)
            sheet.write_datetime(
                *at, day, book.style(num_format=DATES[column.name], align="left", **style)
            )
            return
    writer = _WRITERS.get(type(value))
    if (
        value is None
        and isinstance(column, PivotedColumn)
        and (said := column.text(row)) != UNKNOWN
    ):
        _text(
            book, sheet, *at, said, align="right", **style
        )  # an empty cell is a group without runs
    elif (value is None and not column.is_name) or (
        isinstance(value, float) and not isfinite(value)
    ):
        sheet.write_blank(*at, None, book.style(**style))
    elif writer:
        writer(
            sheet,
            *at,
            value / _DAY_MS if column.unit is Unit.MILLISECONDS else value,
            book.style(num_format=number_format(value, column.unit), **style),
        )
    elif isinstance(value, str):
        said = (
            column.text(row)
            if column.name in ("evidence", "claimed_evidence")
            else fact_words(value, column.name)
        )
        _text(book, sheet, *at, said if column.name in SCREEN_WORDS else value, **style)
    else:
        _text(book, sheet, *at, column.text(row), **style)


def _text(book: Book, sheet: Worksheet, line: int, place: int, text: str, **style: Any) -> None:
    """Write text that stays text even if somebody edits a cell that looks like a formula."""
    shown = visible(text).translate(_NOT_IN_XML)
    clean = shown if len(shown) < LONGEST_TEXT else f"{shown[: LONGEST_TEXT - 2]}…"
    clean = f"{clean} " if clean.startswith(_RICH[0]) and clean.endswith(_RICH[1]) else clean
    quoted = {"quote_prefix": True} if is_formula(clean) else {}
    sheet.write_string(line, place, clean, book.style(**quoted, **style))


def _time(sheet: Worksheet, line: int, place: int, value: datetime, style: Format) -> None:
    sheet.write_datetime(line, place, value.astimezone(UTC) if value.tzinfo else value, style)


def _chart(book: Book, sheet: Worksheet, section: Section, key: str) -> None:
    """Draw bars of the cost of up to 30 rows next to the totals. `key`: the column of the cost."""
    name, title, answer = section.key.capitalize(), section.title, section.answer
    shown = columns(_in_order(answer), answer.of)
    last = min(answer.table.num_rows, 30)
    labels = next(place for place, column in enumerate(shown) if column.is_figure)
    chart = book.workbook.add_chart({"type": "bar"})
    place, cost = next((place, column) for place, column in enumerate(shown) if column.name == key)
    chart.add_series(
        {
            "categories": [name, 1, 0, last, max(labels - 1, 0)],
            "values": [name, 1, place, last, place],
            "fill": {"color": "#0072B2"},
        }
    )
    chart.set_title(
        {"name": visible(f"{cost.label}, {title[0].lower()}{title[1:]}"), "name_font": {"size": 12}}
    )
    chart.set_legend({"none": True})
    chart.set_x_axis({"num_format": "$#,##0.00", "name": f"{cost.label} (USD)"})
    chart.set_y_axis({"reverse": True})
    chart.set_size({"width": 640, "height": 120 + 24 * last})
    sheet.insert_chart(1, 6, chart)


_WRITERS: dict[type, Callable[..., Any]] = {
    bool: Worksheet.write_boolean,
    int: Worksheet.write_number,
    float: Worksheet.write_number,
    Decimal: Worksheet.write_number,
    datetime: _time,
}
