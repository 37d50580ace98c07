"""HTML for the output of a notebook: tables and the first page of a report, without scripts and without a page around them.

The template escapes every value, so that no text of a record is markup where the notebook is trusted. Its classes keep Jupyter from
reading two amounts in dollars as a formula between dollar signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import jinja2

from app.reports.exports.page_parts import Part, first_page, part
from app.text.answers import Answer
from app.text.text_tables import for_people
from schemas.text import one_line, plural

if TYPE_CHECKING:
    from app.reports.cost_report import Report

MOST_ROWS = 50
"""Rows of a table that are shown: an output of thousands would make a notebook slow."""


def table_html(answer: Answer, notes: Sequence[str] = ()) -> str:
    """The first MOST_ROWS rows with their heading, columns as a terminal names them, and notes."""
    return _html([_part(answer, answer.heading)], notes)


def report_html(report: Report) -> str:
    """The first page and a table per section."""
    parts = [_part(section.answer, section.title, section.note) for section in report.shown if section.key != "totals"]
    return _template().render(title=one_line(report.first.title), first=first_page(report.first), parts=parts, notes=())


def _html(parts: Sequence[Part], notes: Sequence[str]) -> str:
    return _template().render(title="", first=None, parts=parts, notes=[one_line(note) for note in notes])


def _part(answer: Answer, title: str, note: str = "") -> Part:
    rows = answer.table.num_rows
    shown = for_people(replace(answer, table=answer.table.slice(0, MOST_ROWS)))
    more = f"{plural(rows - MOST_ROWS, 'more row')} not shown." if rows > MOST_ROWS else ""
    made = part("", title, " ".join(filter(None, (note, more))), shown, answer.of)
    return replace(made, has_total=answer.total is not None)


@cache
def _template() -> jinja2.Template:
    text = (resources.files("app.reports.exports") / "notebook.html").read_text(encoding="utf-8")
    return jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True).from_string(text)
