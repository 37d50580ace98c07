"""The sections of a report as grids of a screen: the totals upright, the others as `app.text.grid_columns` shows tables."""

from __future__ import annotations

import pyarrow as pa

from app.reports.cost_report import Section
from app.text.columns import columns, explained
from app.text.grid_columns import grid
from schemas.catalogue.metrics import MODEL_METRICS, RUN_METRICS

MOST_ROWS = 200
"""Rows of a section that a preview shows; the file has them all."""

AT_ONCE = 50_000
"""Up to so many runs a preview is there at once; more take seconds, so it waits to be asked for."""

TOTALS = {"figure": "Figure", "value": "Value", "exactly": "Exactly", "known": "Known for"}


def totals_grid(section: Section) -> pa.Table:
    """A row per figure: as people read it, to its last digit, and on how many runs it rests where not on all."""
    [row] = section.table.to_pylist()
    told = [
        {"figure": column.label, "value": column.cell(row), "exactly": column.exact(row), "known": column.note(row)}
        for column in columns(section.table)
    ]
    rows = [line | {"exactly": "" if line["exactly"] == line["value"] else line["exactly"]} for line in told]
    return grid(pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in TOTALS])), tuple(TOTALS), **TOTALS)


def section_grid(section: Section) -> pa.Table:
    """The first MOST_ROWS rows with the columns that people see."""
    shown = [column for column in columns(section.table) if not section.answer.shown or column.name in section.answer.shown]
    kept = [column.name for column in shown if not pa.types.is_map(section.table.schema.field(column.name).type)]
    order = [name for name in section.answer.shown if name in kept] or kept
    rows = grid(section.table.slice(0, MOST_ROWS), order, **{column.name: column.label for column in shown if column.name in kept})
    metrics = MODEL_METRICS if section.key == "models" else RUN_METRICS
    return explained(rows, {name: metrics[name].meaning for name in rows.column_names if name in metrics})


def cut_note(section: Section) -> str:
    """That a preview is cut, where it is."""
    rows = section.table.num_rows
    return f"The first {MOST_ROWS:,} of {rows:,} rows; the file has all." if rows > MOST_ROWS else ""
