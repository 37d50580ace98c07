"""HTML: a report or table as one self-contained file, and as the output of a notebook.

The templates escape every value, so that no text of a record is markup. The file's policy forbids
network access and all scripts but its own, by their hashes. The classes of the output keep Jupyter
from reading two dollar amounts as a formula between dollar signs.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata, resources
from typing import TYPE_CHECKING, Any

import jinja2
import pyarrow as pa

from app.charts.images import printed
from app.charts.spending import (
    Embedded,
    packed_figures,
    packed_plotly,
    plotly_script,
    report_charts,
)
from app.queries.filters import this_moment
from app.reports.budgets import cells
from app.text.answers import Answer
from app.text.columns import ShownColumn, columns
from app.text.formatting import short
from app.text.text_tables import ID_WIDTH, IDS, PATHS, TOTAL, for_people
from schemas.agents import AGENTS
from schemas.catalogue.entry import Columns
from schemas.text import one_line, plural
from schemas.units import Unit

if TYPE_CHECKING:
    from app.charts.spending import Embedded
    from app.reports.cost_report import CostReport
    from app.reports.first_page import FirstPage
    from app.reports.shared import Shared


LONG = 32

NO_AGENT = "#7A7A7A"


@dataclass(frozen=True)
class PageCell:
    """One value of a table: for people, unrounded, and with the number of runs behind it.

    `kind` is figure, long or "".
    """

    label: str
    text: str
    exact: str
    note: str
    meaning: str
    kind: str


@dataclass(frozen=True)
class PagePart:
    """One table of the page, with a chart if it has one."""

    key: str
    title: str
    note: str
    header: Sequence[PageCell]
    rows: Sequence[Sequence[PageCell]]
    has_total: bool = False
    chart: Embedded | None = None


def first_page(page: FirstPage) -> dict[str, Any]:
    """Return the first page as variables of the template."""
    tops = []
    for top in page.named_tops:
        rows = [
            {"name": one_line(one.name), "usd": one.cost, "share": short(one.share, Unit.SHARE)}
            for one in top.shares
        ]
        tops.append({"title": top.title, "rows": rows})
    head, *rows_of_agents = [[one_line(text) for text in row] for row in page.agent_table]
    colours = [
        "" if one.is_model else AGENTS[one.agent].colour if one.agent in AGENTS else NO_AGENT
        for one in page.agents
    ]
    return {
        "answer": one_line(page.answer),
        "more": [one_line(text) for text in page.more],
        "agents": {"head": head, "rows": list(zip(colours, rows_of_agents, strict=True))}
        if rows_of_agents
        else None,
        "lines": [(word, one_line(text)) for word, text in page.lines],
        "figures": page.figures,
        "tops": tops,
        "budgets": [cells(one) for one in page.budgets],
        "notes": [one_line(note) for note in page.notes],
    }


def part(key: str, title: str, note: str, table: pa.Table, of: Columns) -> PagePart:
    """Return a table with its title and a note. `of` has the labels of columns."""
    shown = columns(table, of)
    rows = [[cell(column, row) for column in shown] for row in table.to_pylist()]
    header = [
        PageCell(column.label, "", "", "", column.meaning, "figure" if column.is_figure else "")
        for column in shown
    ]
    return PagePart(key, one_line(title), one_line(note), header, rows)


def cell(column: ShownColumn, row: Mapping[str, Any]) -> PageCell:
    """Return the value of a column in a row.

    Ids keep their beginning, paths their end; the tooltip has the whole.
    """
    text = one_line(column.cell(row))
    if column.name in IDS and text != TOTAL:
        text = text[:ID_WIDTH]
    elif column.name in PATHS and len(text) > LONG:
        text = f"…{text[-LONG + 1 :]}"
    kind = "figure" if column.is_figure else "long" if len(text) > LONG else ""
    return PageCell(
        one_line(column.label),
        text,
        one_line(column.exact(row)),
        column.note(row),
        column.meaning,
        kind,
    )


NOTEBOOK_ROWS = 50
"""Rows of a table in a notebook: thousands would make it slow."""


def html_table(answer: Answer) -> bytes:
    """Return a page with one table."""
    return _page(
        one_line(answer.heading) or "Tachograph",
        parts=[part("table", "", "", for_people(answer), answer.of)],
    )


def html_report(report: CostReport) -> bytes:
    """Return a page with first page, totals, coverage, and a table per section.

    Sections that compare something have charts.
    """
    charts = report_charts(
        report.section("groups").table,
        report.header.by,
        report.section("models").table,
        report.measure,
    )
    parts = []
    for section in report.shown:
        answer = section.answer
        if section.key != "totals":
            made = part(section.key, section.title, section.note, for_people(answer), answer.of)
            parts.append(
                replace(made, has_total=answer.total is not None, chart=charts.get(section.key))
            )
    lines = [(word, one_line(text)) for word, text in report.header.lines()]
    totals, every = (
        _cells(answer) if answer else []
        for answer in (report.section("totals").answer, report.all_figures)
    )
    return _page(
        one_line(report.first.title), lines, totals, parts, first_page(report.first), every
    )


def pdf_table(answer: Answer) -> bytes:
    """Return the page of `html_table` as PDF. Raises UsageError without a Chromium."""
    return printed(html_table(answer))


def pdf_report(report: CostReport) -> bytes:
    """Return the page of `html_report` as PDF. Raises UsageError without a Chromium."""
    return printed(html_report(report))


def _cells(totals: Answer) -> list[PageCell]:
    shown = for_people(totals)
    [row] = shown.to_pylist()
    return [cell(column, row) for column in columns(shown, totals.of)]


def _page(
    title: str,
    lines: Sequence[tuple[str, str]] = (),
    totals: Sequence[PageCell] = (),
    parts: Sequence[PagePart] = (),
    first: Mapping[str, Any] | None = None,
    every: Sequence[PageCell] = (),
) -> bytes:
    scripts = [plotly_script(), _asset("page.js")] if any(part.chart for part in parts) else []
    text = _template("page.html").render(
        title=title,
        first=first,
        lines=lines,
        totals=totals,
        every=every,
        sections=parts,
        style=_asset("page.css"),
        scripts=scripts,
        policy=_policy([script.encode() for script in scripts]),
    )
    return text.encode()


def _policy(scripts: Sequence[bytes]) -> str:
    """Return the Content-Security-Policy of a page: no network, no form, and only these scripts."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(one).digest()).decode()}'" for one in scripts
    )
    page = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; "
        "img-src data:"
    )
    none = "'none'"
    return f"{page}; script-src {hashes or none}"


def html_shared(page: Shared) -> bytes:
    """Return a page to mail, with the style of the dashboard.

    Charts are drawn by Plotly in the file, which keeps what a mark is.
    """
    parts, drawn = (
        list[dict[str, Any]](),
        [part for part in page.parts if not isinstance(part, str)],
    )
    for part in page.parts:
        if isinstance(part, str):
            parts.append({"html": part, "chart": None})
            continue
        light, _ = part
        height = int(light.figure.layout.height)
        parts.append(
            {
                "chart": light,
                "title": one_line(light.title),
                "caption": one_line(light.caption),
                "height": height,
            }
        )
    plotly, script = packed_plotly() if drawn else b"", _asset("shared.js")
    sources = [gzip.decompress(plotly), script.encode()] if drawn else [script.encode()]
    about = (
        page.about and f"Filters: {page.about}",
        f"{this_moment():%Y-%m-%d}",
        f"Tachograph {metadata.version('tachograph')}",
    )
    text = _template("shared.html").render(
        title=one_line(page.title),
        parts=parts,
        about=one_line(" · ".join(filter(None, about))),
        style=(resources.files("app") / "assets" / "dashboard.css").read_text(encoding="utf-8")
        + _asset("shared.css"),
        figures=base64.b64encode(packed_figures(drawn)).decode() if drawn else "",
        plotly=base64.b64encode(plotly).decode(),
        script=script,
        policy=_policy(sources),
    )
    return text.encode()


def notebook_table(answer: Answer, notes: Sequence[str] = ()) -> str:
    """Return the first NOTEBOOK_ROWS rows with heading, columns as in a terminal, and notes."""
    return _template("notebook.html").render(
        title="",
        first=None,
        parts=[_notebook_part(answer, answer.heading)],
        notes=[one_line(note) for note in notes],
    )


def notebook_report(report: CostReport) -> str:
    """Return the first page and a table per section."""
    parts = [
        _notebook_part(section.answer, section.title, section.note)
        for section in report.shown
        if section.key != "totals"
    ]
    return _template("notebook.html").render(
        title=one_line(report.first.title), first=first_page(report.first), parts=parts, notes=()
    )


def _notebook_part(answer: Answer, title: str, note: str = "") -> PagePart:
    rows = answer.table.num_rows
    shown = for_people(replace(answer, table=answer.table.slice(0, NOTEBOOK_ROWS)))
    more = f"{plural(rows - NOTEBOOK_ROWS, 'more row')} not shown." if rows > NOTEBOOK_ROWS else ""
    made = part("", title, " ".join(filter(None, (note, more))), shown, answer.of)
    return replace(made, has_total=answer.total is not None)


def _asset(name: str) -> str:
    return (resources.files("app.reports.exports") / name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=name == "notebook.html"
    )
    return environment.from_string(_asset(name))
