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
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from app.charts.images import mark_table, printed
from app.charts.spending import (
    Embedded,
    packed_figures,
    packed_plotly,
    plotly_script,
    report_charts,
)
from app.queries import Row
from app.queries.filters import this_moment
from app.reports.budgets import budget_table
from app.text.answers import Answer
from app.text.html_parts import without_links
from app.text.table import TextTable
from app.text.text_tables import shown_table
from schemas.text import join_known, one_line, plural

if TYPE_CHECKING:
    from app.charts.spending import Embedded
    from app.reports.cost_report import CostReport
    from app.reports.first_page import FirstPage
    from app.reports.shared import Shared


@dataclass(frozen=True)
class PagePart:
    """One table of the page, with a chart if it has one."""

    key: str
    title: str
    note: str
    table: TextTable
    chart: Embedded | None = None


def first_page(page: FirstPage) -> dict[str, Any]:
    """Return the first page as variables of the template."""
    return {
        "answer": one_line(page.answer),
        "more": [one_line(text) for text in page.more],
        "agents": without_links(page.agent_table.html(frame="wide")) if page.agents else "",
        "lines": [(word, one_line(text)) for word, text in page.lines],
        "figures": page.figures,
        "tops": [table.html(frame="") for table in page.top_tables],
        "budgets": budget_table(page.budgets).html(frame="wide") if page.budgets else "",
        "notes": [one_line(note) for note in page.notes],
    }


NOTEBOOK_ROWS = 50
"""Rows of a table in a notebook: thousands would make it slow."""


def html_table(answer: Answer) -> bytes:
    """Return a page with one table."""
    return _page(
        one_line(answer.heading) or "Tachograph",
        parts=[PagePart("table", "", "", shown_table(answer))],
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
        if section.key != "totals":
            table, chart = shown_table(section.answer), charts.get(section.key)
            about = one_line(section.title), one_line(section.note)
            parts.append(PagePart(section.key, *about, table, chart))
    lines = [(word, one_line(text)) for word, text in report.header.lines()]
    totals, every = (
        shown_table(answer) if answer else None
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


def _page(
    title: str,
    lines: Sequence[tuple[str, str]] = (),
    totals: TextTable | None = None,
    parts: Sequence[PagePart] = (),
    first: Row | None = None,
    every: TextTable | None = None,
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
    none = "'none'"
    return f"{_CLOSED}; script-src {hashes or none}; style-src 'unsafe-inline'"


_CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; font-src data:"
_OWN_FILES = "'self' file:"
"""Sources of a site's scripts and styles. Some browsers take 'self' for no file on disk."""


@dataclass(frozen=True)
class Frame:
    """A page's place in a site: its `file`, the menu (title → file), and scripts of its own."""

    file: str
    menu: Mapping[str, str]
    scripts: Sequence[str] = ()

    @property
    def root(self) -> str:
        """The way from the page to the folder of the site."""
        return "../" * self.file.count("/")


def site_assets() -> dict[str, bytes]:
    """Return the files that all pages of a site use, by their paths in it."""
    style = (resources.files("app") / "assets" / "dashboard.css").read_text(encoding="utf-8")
    return {
        "assets/tachograph.css": f"{style}{_asset('shared.css')}{_typeface()}".encode(),
        "assets/plotly.js": plotly_script().encode(),
        "assets/page.js": _asset("shared.js").encode(),
        "assets/runs.js": _asset("runs.js").encode(),
        ".nojekyll": b"",  # GitHub Pages would leave out files that begin with an underscore
    }


@cache
def _made_with() -> str:
    return f"Tachograph {metadata.version('tachograph')}"


@cache
def _wordmark() -> str:
    return (resources.files("app") / "assets" / "wordmark.svg").read_text(encoding="utf-8")


def html_shared(
    page: Shared, *, is_print: bool = False, with_notes: bool = False, site: Frame | None = None
) -> bytes:
    """Return a page to mail, with the style of the dashboard; a screen prints as one sheet.

    Charts are drawn by Plotly in the file, which keeps what a mark is. `is_print`: for a printer,
    which does not wait: the charts are drawn when the page has loaded. `with_notes`: on paper
    *How sure?* is a second sheet. `site`: a page of a site, whose style and scripts are files.
    """
    drawn = [part for part in page.parts if not isinstance(part, str)]
    parts = [
        {"html": part, "chart": None}
        if isinstance(part, str)
        else {
            "chart": part[0],
            "title": one_line(part[0].title),
            "caption": one_line(part[0].caption),
            "height": int(part[0].figure.layout.height),
        }
        for part in page.parts
    ]
    tables = [shown_table(Answer(mark_table(one), "")).html(frame="t-tall") for one, _ in drawn]
    figures = packed_figures(drawn, tables) if drawn else b""
    if site:
        style = packed = ""
        scripts = [*(["plotly.js"] if drawn else []), "page.js", *site.scripts]
        policy = f"{_CLOSED}; script-src {_OWN_FILES}; style-src {_OWN_FILES} 'unsafe-inline'"
    else:
        style = (resources.files("app") / "assets" / "dashboard.css").read_text(encoding="utf-8")
        style += _asset("shared.css") + (_typeface() if is_print else "")
        plotly, script = plotly_script() if drawn else "", _asset("shared.js")
        packed = base64.b64encode(packed_plotly()).decode() if drawn and not is_print else ""
        scripts = [plotly, script] if drawn and is_print else [script]
        policy = _policy([one.encode() for one in (plotly, script) if one])
    plain = gzip.decompress(figures).decode().replace("</", r"<\/") if drawn and is_print else ""
    notes = page.notes if is_print and with_notes and page.is_screen else ""
    text = _template("shared.html").render(
        title=one_line(page.title),
        look=("screen sheet" if is_print else "screen") if page.is_screen else "",
        wordmark=_wordmark(),
        filters=one_line(page.filters),
        parts=parts,
        notes=notes,
        made=f"{this_moment():%-d %B %Y} · {_made_with()}",
        command=one_line(page.command) + (" --notes" if notes else ""),
        style=style,
        figures=plain if is_print else base64.b64encode(figures).decode(),
        is_packed=not is_print,
        plotly=packed,
        scripts=scripts,
        policy=policy,
        site=site,
    )
    return text.encode()


def _typeface() -> str:
    """Return the dashboard's typeface as CSS, "" if Streamlit has it no more."""
    found = find_spec("streamlit")  # importing it takes a second
    media = Path(found.origin if found and found.origin else "").parent / "static/static/media"
    for file in media.iterdir() if media.is_dir() else ():
        if file.name.startswith("SourceSansVF-Upright"):
            data = base64.b64encode(file.read_bytes()).decode()
            source = f'url("data:font/woff2;base64,{data}")'
            return (
                f'@font-face {{ font-family: "Source Sans"; font-weight: 200 900; src: {source} }}'
            )
    return ""


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
    table = shown_table(answer, NOTEBOOK_ROWS)
    more = f"{plural(table.left_out, 'more row')} not shown." if table.left_out else ""
    return PagePart("", one_line(title), one_line(join_known(" ", note, more)), table)


def _asset(name: str) -> str:
    return (resources.files("app.reports.exports") / name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=name == "notebook.html"
    )
    return environment.from_string(_asset(name))
