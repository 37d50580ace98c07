"""A Markdown pipe table for people: labels as headers, values with their units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from app.text.columns import Column, columns
from app.text.text_tables import for_people
from schemas.catalogue.columns import TOTALS
from schemas.catalogue.entry import UNNAMED, Columns
from schemas.text import visible

if TYPE_CHECKING:
    from app.reports.cost_report import Report, Section

_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""What Markdown would act on. An underscore within a word is plain text, so `limit_reached` stays readable."""


def write_markdown(table: pa.Table, _heading: str = "", of: Columns = UNNAMED) -> bytes:
    """A header, a line of alignments and a line per row; a figure that rests on some runs only says on how many."""
    shown = columns(table, of)
    lines = [_line(escaped(column.label) for column in shown), _line("---:" if column.is_figure else "---" for column in shown)]
    lines += (_line(_cell(column, row) for column in shown) for row in table.to_pylist())
    return "".join(lines).encode()


def write_report(report: Report) -> bytes:
    """Headings, what the report covers as a list, and a table per section: fit for the summary of a CI job."""
    lines = [f"# {escaped(report.header.title)}\n\n"]
    lines += [f"- **{word}:** {escaped(text)}\n" for word, text in report.header.lines()]
    return "".join([*lines, *map(_section, report.shown)]).encode()


def _section(section: Section) -> str:
    note = f"{escaped(section.note)}\n\n" if section.note else ""
    table = (
        _totals(section.table, section.answer.of)
        if section.key == "totals"
        else write_markdown(for_people(section.answer), of=section.answer.of).decode()
    )
    return f"\n## {escaped(section.title)}\n\n{note}{table}"


def _totals(table: pa.Table, of: Columns) -> str:
    """Figures one below the other, each exactly."""
    [row] = table.to_pylist()
    lines = [_line((TOTALS["figure"].label, TOTALS["value"].label, TOTALS["known"].label)), _line(("---", "---:", "---"))]
    lines += (_line((escaped(column.label), escaped(column.exact(row)), column.note(row))) for column in columns(table, of))
    return "".join(lines)


def escaped(text: str) -> str:
    """The text as one cell that shows it literally: no markup, no HTML, no end of the cell or line."""
    html = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "<br>".join(_MARKUP.sub(r"\\\g<0>", html).splitlines())


def _cell(column: Column, row: Mapping[str, Any]) -> str:
    note = column.note(row)
    return escaped(column.cell(row)) + (f" ({note})" if note else "")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
