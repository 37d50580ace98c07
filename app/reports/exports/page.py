"""HTML: one file that needs nothing else. Readable on a screen, on paper and without its charts; no text of a record is markup.

The template escapes every value. Beyond that the page forbids itself the network and any script but its own, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import jinja2
import pyarrow as pa

from app.charts.embedded import Embedded, plotly_script, report_charts
from app.charts.palette import looks
from app.reports.budgets import cells
from app.text.columns import Column, columns
from app.text.formatting import human
from app.text.text_tables import ID_WIDTH, IDS, PATHS, TOTAL, for_people
from schemas.catalogue.entry import UNNAMED, Columns
from schemas.text import one_line
from schemas.unit_names import Unit

if TYPE_CHECKING:
    from app.reports.cost_report import Report, Section
    from app.reports.first_page import FirstPage

LONG = 32
"""Text of more characters than this wraps."""


@dataclass(frozen=True)
class Cell:
    """One value of a table: as people read it, to its last digit, and on how many runs it rests. `kind` is figure, long or nothing."""

    label: str
    text: str
    exact: str
    note: str
    meaning: str
    kind: str


@dataclass(frozen=True)
class Part:
    """One table of the page with its chart, if it has one."""

    key: str
    title: str
    note: str
    header: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    has_total: bool = False
    chart: Embedded | None = None


def write_page(table: pa.Table, heading: str = "", of: Columns = UNNAMED) -> bytes:
    """A page with one table."""
    return _page(one_line(heading) or "Tachograph", parts=[_part("table", "", "", table, of)])


def write_report(report: Report) -> bytes:
    """The first page, totals, what it covers, and a table per section, with charts where there is something to compare."""
    charts = _charts(report)
    totals = report.section("totals").answer
    [row] = totals.table.to_pylist()
    parts = [_section(section, charts.get(section.key)) for section in report.shown if section.key != "totals"]
    lines = [(word, one_line(text)) for word, text in report.header.lines()]
    figures = [_cell(column, row) for column in columns(totals.table, totals.of)]
    return _page(one_line(report.first.title), lines, figures, parts, _first_page(report.first))


def _first_page(page: FirstPage) -> dict[str, Any]:
    """The first page as the template places it."""
    tops = [
        {
            "title": top.title,
            "rows": [
                {"name": one_line(one.name), "usd": human(one.usd, Unit.USD), "share": human(one.share, Unit.SHARE)} for one in top.shares
            ],
        }
        for top in page.tops
        if top.shares
    ]
    lines = [(word, one_line(text)) for word, text in page.lines]
    notes = [one_line(note) for note in page.notes]
    return {"lines": lines, "figures": page.figures, "tops": tops, "budgets": [cells(one) for one in page.budgets], "notes": notes}


def _charts(report: Report) -> Mapping[str, Embedded]:
    groups, models = report.section("groups").table, report.section("models").table
    runs, colours = report.header.coverage["runs"], looks(report.stored_models)
    return report_charts(groups, report.header.by, models, report.model_rows, colours, runs, report.measure)


def _section(section: Section, chart: Embedded | None) -> Part:
    answer = section.answer
    part = _part(section.key, section.title, section.note, for_people(answer), answer.of)
    return replace(part, has_total=answer.total is not None, chart=chart)


def _part(key: str, title: str, note: str, table: pa.Table, of: Columns) -> Part:
    shown = columns(table, of)
    rows = [[_cell(column, row) for column in shown] for row in table.to_pylist()]
    header = [Cell(column.label, "", "", "", column.meaning, "figure" if column.is_figure else "") for column in shown]
    return Part(key, one_line(title), one_line(note), header, rows)


def _cell(column: Column, row: Mapping[str, Any]) -> Cell:
    text = _short(column.name, one_line(column.cell(row)))
    kind = "figure" if column.is_figure else "long" if len(text) > LONG else ""
    return Cell(one_line(column.label), text, one_line(column.exact(row)), column.note(row), column.meaning, kind)


def _short(name: str, text: str) -> str:
    """Ids by their beginning, paths by their end; a pointer over them shows the whole."""
    if name in IDS and text != TOTAL:
        return text[:ID_WIDTH]
    return f"…{text[-LONG + 1 :]}" if name in PATHS and len(text) > LONG else text


def _page(
    title: str,
    lines: Sequence[tuple[str, str]] = (),
    totals: Sequence[Cell] = (),
    parts: Sequence[Part] = (),
    first: Mapping[str, Any] | None = None,
) -> bytes:
    scripts = _scripts() if any(part.chart for part in parts) else []
    sources = " ".join(f"'sha256-{_hash(script)}'" for script in scripts) or "'none'"
    text = _template().render(
        title=title,
        first=first,
        lines=lines,
        totals=totals,
        sections=parts,
        style=_asset("page.css"),
        scripts=scripts,
        script_sources=sources,
    )
    return text.encode()


def _scripts() -> list[str]:
    return [plotly_script(), _asset("page.js")]


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _asset(name: str) -> str:
    return (resources.files("app.reports.exports") / name).read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    return jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(_asset("page.html"))
