"""The sections of a report as grids of a screen: the totals upright, the others as `app.text.grid_columns` shows tables."""

from __future__ import annotations

import pyarrow as pa

from app.reports.budget_cards import budget_cards
from app.reports.cost_report import Section
from app.reports.first_page import FirstPage, TopList
from app.text.columns import columns
from app.text.grid_columns import Grid, Listing, grid
from app.text.presentation import Card
from schemas.catalogue import columns as catalogue
from schemas.catalogue.columns import GROUPS
from schemas.catalogue.cost_measures import REPORTED, CostMeasure
from schemas.catalogue.entry import Entry

MOST_ROWS = 200
"""Rows of a section that a preview shows; the file has them all."""

AT_ONCE = 50_000
"""Up to so many runs a preview is there at once; more take seconds, so it waits to be asked for."""

TOTALS = Listing(catalogue.TOTALS, tuple(catalogue.TOTALS))


def totals_grid(section: Section) -> Grid:
    """A row per figure: as people read it, to its last digit, and on how many runs it rests where not on all."""
    [row] = section.table.to_pylist()
    told = [
        {"figure": column.label, "value": column.cell(row), "exactly": column.exact(row), "known": column.note(row)}
        for column in columns(section.table, section.answer.of)
    ]
    rows = [line | {"exactly": "" if line["exactly"] == line["value"] else line["exactly"]} for line in told]
    return grid(pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in TOTALS.keys])), TOTALS)


def top_grid(top: TopList, measure: CostMeasure = REPORTED) -> Grid:
    """A top list of the first page."""
    cost, share = measure.total, measure.share
    of = {"name": Entry("name", top.column), cost: GROUPS[cost], share: GROUPS[share]}
    rows = [{"name": one.name, cost: one.usd, share: None if one.share is None else float(one.share)} for one in top.shares]
    kinds = pa.schema([("name", pa.string()), (cost, pa.decimal128(38, 9)), (share, pa.float64())])
    return grid(pa.Table.from_pylist(rows, kinds), Listing(of, tuple(of)))


def page_cards(page: FirstPage) -> list[Card]:
    """The figures of the first page, and its budgets."""
    return [*(Card(one.label, one.value, "", one.note) for one in page.figures if not one.verdict), *budget_cards(page.budgets)]


def section_grid(section: Section) -> Grid:
    """The first MOST_ROWS rows with the columns that people see."""
    table, shown = section.table, section.answer.shown
    kept = [column.name for column in columns(table) if not pa.types.is_map(table.schema.field(column.name).type)]
    return grid(table.slice(0, MOST_ROWS), Listing(section.answer.of, tuple(name for name in shown or kept if name in kept)))


def cut_note(section: Section) -> str:
    """That a preview is cut, where it is."""
    rows = section.table.num_rows
    return f"The first {MOST_ROWS:,} of {rows:,} rows; the file has all." if rows > MOST_ROWS else ""
