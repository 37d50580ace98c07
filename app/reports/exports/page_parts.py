"""The parts of HTML as templates place them: cells and tables in words, and the first page. A template escapes every value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from app.reports.budgets import cells
from app.text.columns import Column, columns
from app.text.formatting import human
from app.text.text_tables import ID_WIDTH, IDS, PATHS, TOTAL
from schemas.agents import AGENTS
from schemas.catalogue.entry import Columns
from schemas.text import one_line
from schemas.units import Unit

if TYPE_CHECKING:
    from app.charts.embedded import Embedded
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


def first_page(page: FirstPage) -> dict[str, Any]:
    """The first page as the template places it."""
    tops = [
        {
            "title": top.title,
            "rows": [
                {"name": one_line(one.name), "usd": top.sign + human(one.usd, Unit.USD), "share": human(one.share, Unit.SHARE)}
                for one in top.shares
            ],
        }
        for top in page.named_tops
    ]
    lines = [(word, one_line(text)) for word, text in page.lines]
    notes = [one_line(note) for note in page.notes]
    head, *rows = [[one_line(text) for text in row] for row in page.agent_table]
    colours = ["" if one.is_model else colour_of(one.agent) for one in page.agents]
    return {
        "answer": one_line(page.answer),
        "more": [one_line(text) for text in page.more],
        "agents": {"head": head, "rows": list(zip(colours, rows, strict=True))} if rows else None,
        "lines": lines,
        "figures": page.figures,
        "tops": tops,
        "budgets": [cells(one) for one in page.budgets],
        "notes": notes,
    }


def colour_of(agent: str | None) -> str:
    """The colour of an agent, as in charts."""
    return AGENTS[agent].colour if agent in AGENTS else "#7A7A7A"


def part(key: str, title: str, note: str, table: pa.Table, of: Columns) -> Part:
    """A table with its title and a note. `of` says what the columns are called."""
    shown = columns(table, of)
    rows = [[cell(column, row) for column in shown] for row in table.to_pylist()]
    header = [Cell(column.label, "", "", "", column.meaning, "figure" if column.is_figure else "") for column in shown]
    return Part(key, one_line(title), one_line(note), header, rows)


def cell(column: Column, row: Mapping[str, Any]) -> Cell:
    """The value of a column in a row."""
    text = _short(column.name, one_line(column.cell(row)))
    kind = "figure" if column.is_figure else "long" if len(text) > LONG else ""
    return Cell(one_line(column.label), text, one_line(column.exact(row)), column.note(row), column.meaning, kind)


def _short(name: str, text: str) -> str:
    """Ids by their beginning, paths by their end; a pointer over them shows the whole."""
    if name in IDS and text != TOTAL:
        return text[:ID_WIDTH]
    return f"…{text[-LONG + 1 :]}" if name in PATHS and len(text) > LONG else text
