"""HTML: one file that needs nothing else. Readable on a screen, on paper and without its charts; no text of a record is markup.

The template escapes every value. Beyond that the page forbids itself the network and any script but its own, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import jinja2
import pyarrow as pa

from app.charts.embedded import Embedded, plotly_script, report_charts
from app.reports.exports.page_parts import Cell, Part, cell, first_page, part
from app.text.columns import columns
from app.text.text_tables import for_people
from schemas.catalogue.entry import UNNAMED, Columns
from schemas.text import one_line

if TYPE_CHECKING:
    from app.reports.cost_report import Report, Section


def write_page(table: pa.Table, heading: str = "", of: Columns = UNNAMED) -> bytes:
    """A page with one table."""
    return _page(one_line(heading) or "Tachograph", parts=[part("table", "", "", table, of)])


def write_report(report: Report) -> bytes:
    """The first page, totals, what it covers, and a table per section, with charts where there is something to compare."""
    charts = _charts(report)
    totals = report.section("totals").answer
    shown = for_people(totals)
    [row] = shown.to_pylist()
    parts = [_section(section, charts.get(section.key)) for section in report.shown if section.key != "totals"]
    lines = [(word, one_line(text)) for word, text in report.header.lines()]
    figures = [cell(column, row) for column in columns(shown, totals.of)]
    return _page(one_line(report.first.title), lines, figures, parts, first_page(report.first))


def _charts(report: Report) -> Mapping[str, Embedded]:
    return report_charts(report.section("groups").table, report.header.by, report.section("models").table, report.measure)


def _section(section: Section, chart: Embedded | None) -> Part:
    answer = section.answer
    made = part(section.key, section.title, section.note, for_people(answer), answer.of)
    return replace(made, has_total=answer.total is not None, chart=chart)


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
