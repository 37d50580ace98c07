"""The sections of a report as grids of a screen: the totals upright, the others as `app.text.grid_columns` shows tables."""

from __future__ import annotations

import pyarrow as pa

from app.reports.cost_report import Section
from app.reports.first_page import FirstPage
from app.text.columns import columns
from app.text.formatting import human
from app.text.grid_columns import Grid, Listing, grid
from app.text.html_parts import muted, table, text
from app.text.text_tables import for_people
from schemas.catalogue import columns as catalogue
from schemas.units import Unit

MOST_ROWS = 200
"""Rows of a section that a preview shows; the file has them all."""

AT_ONCE = 50_000
"""Up to so many runs a preview is there at once; more take seconds, so it waits to be asked for."""

TOTALS = Listing(catalogue.TOTALS, ("figure", "value", "known"))


def totals_grid(section: Section) -> Grid:
    """A row per figure that people see, and on how many runs it rests where not on all."""
    shown = for_people(section.answer)
    [row] = shown.to_pylist()
    rows = [{"figure": column.label, "value": column.cell(row), "known": column.note(row)} for column in columns(shown, section.answer.of)]
    return grid(pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in TOTALS.keys])), TOTALS)


def figures_html(page: FirstPage) -> str:
    """The figures of the first page and its top lists, side by side."""
    figures = [("", [text(one.label), f"<b>{text(one.value)}</b>", muted(one.note)]) for one in page.figures]
    tables = [table([("", "Summary"), ("r", ""), ("", "")], figures)]
    for top in page.named_tops:
        head = [("", text(top.title)), ("r", text(page.measure.label)), ("r", "")]
        rows = [("", [text(one.name), f"{top.sign}{human(one.usd, Unit.USD)}", muted(human(one.share, Unit.SHARE))]) for one in top.shares]
        tables.append(table(head, rows))
    return f'<div class="t-side">{"".join(f"""<div class="t-scroll">{one}</div>""" for one in tables)}</div>'


def section_grid(section: Section) -> Grid:
    """The first MOST_ROWS rows with the columns that people see."""
    rows, shown = section.table, section.answer.shown
    kept = [column.name for column in columns(rows) if not pa.types.is_map(rows.schema.field(column.name).type)]
    return grid(rows.slice(0, MOST_ROWS), Listing(section.answer.of, tuple(name for name in shown or kept if name in kept)))


def cut_note(section: Section) -> str:
    """That a preview is cut, where it is."""
    rows = section.table.num_rows
    return f"The first {MOST_ROWS:,} of {rows:,} rows; the file has all." if rows > MOST_ROWS else ""
