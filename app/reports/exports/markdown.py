"""A Markdown pipe table for people: labels as headers, values with their units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from app.reports.budgets import cells
from app.text.columns import Column, columns
from app.text.formatting import human
from app.text.text_tables import for_people
from schemas.catalogue.columns import CHECKS, GROUPS, TOTALS
from schemas.catalogue.cost_measures import CostMeasure
from schemas.catalogue.entry import UNNAMED, Columns
from schemas.text import visible
from schemas.units import Unit

if TYPE_CHECKING:
    from app.reports.cost_report import Report, Section
    from app.reports.first_page import FirstPage, TopList

_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""What Markdown would act on. An underscore within a word is plain text, so `limit_reached` stays readable."""


def write_markdown(table: pa.Table, _heading: str = "", of: Columns = UNNAMED) -> bytes:
    """A header, a line of alignments and a line per row; a figure that rests on some runs only says on how many."""
    shown = columns(table, of)
    lines = [_line(escaped(column.label) for column in shown), _line("---:" if column.is_figure else "---" for column in shown)]
    lines += (_line(_cell(column, row) for column in shown) for row in table.to_pylist())
    return "".join(lines).encode()


def write_report(report: Report) -> bytes:
    """The first page, a table per section beneath Details, and what the report covers: fit for the summary of a CI job."""
    about = f"\n### About this report\n\n{_list(report.header.lines())}"
    return "".join([_first_page(report.first), "\n## Details\n", *map(_section, report.shown), about]).encode()


def _first_page(page: FirstPage) -> str:
    """Title, what it is about, the sentence and table of agents, figures, top lists, budgets and notes."""
    more = "".join(f"{escaped(text)}\n\n" for text in page.more)
    answer = f"**{escaped(page.answer)}**\n\n{more}{_pipes(page.agent_table)}" if page.agents else f"**{escaped(page.answer)}**\n"
    figures = [("Summary", "", ""), *((one.label, one.value, one.note) for one in page.figures)]
    tops = "".join(f"\n{_pipes(_top(top, page.measure))}" for top in page.named_tops)
    budgets = f"\n{_pipes(_budgets(page))}" if page.budgets else ""
    notes = "".join(f"- {escaped(note)}\n" for note in page.notes)
    return f"# {escaped(page.title)}\n\n{_list(page.lines)}\n{answer}\n{_pipes(figures)}{tops}{budgets}\n{notes}"


def _list(lines: Iterable[tuple[str, str]]) -> str:
    return "".join(f"- **{word}:** {escaped(text)}\n" for word, text in lines)


def _pipes(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is its header and whose second column has figures."""
    aligned = _line("---:" if place == 1 else "---" for place in range(len(rows[0])))
    first, *others = (_line(map(escaped, row)) for row in rows)
    return "".join([first, aligned, *others])


def _top(top: TopList, measure: CostMeasure) -> list[tuple[str, str, str]]:
    rows = [(one.name, top.sign + human(one.usd, Unit.USD), human(one.share, Unit.SHARE)) for one in top.shares]
    return [(top.title, GROUPS[measure.total].label, GROUPS[measure.share].header), *rows]


def _budgets(page: FirstPage) -> list[tuple[str, ...]]:
    lines = [cells(verdict) for verdict in page.budgets]
    return [tuple(CHECKS[name].label for name in lines[0]), *(tuple(line.values()) for line in lines)]


def _section(section: Section) -> str:
    note = f"{escaped(section.note)}\n\n" if section.note else ""
    shown = for_people(section.answer)
    table = _totals(shown, section.answer.of) if section.key == "totals" else write_markdown(shown, of=section.answer.of).decode()
    return f"\n### {escaped(section.title)}\n\n{note}{table}"


def _totals(table: pa.Table, of: Columns) -> str:
    """Figures one below the other."""
    [row] = table.to_pylist()
    lines = [_line((TOTALS["figure"].label, TOTALS["value"].label, TOTALS["known"].label)), _line(("---", "---:", "---"))]
    lines += (_line((escaped(column.label), escaped(column.cell(row)), column.note(row))) for column in columns(table, of))
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
