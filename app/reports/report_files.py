"""A cost report on the screen Reports.

Its file, file name, equivalent command, and sections as grids.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

import pyarrow as pa

from app.charts.images import browser
from app.queries.grouping import UTC_ZONE
from app.queries.reading import exported
from app.reports.budgets import as_options
from app.reports.cost_report import ReportRequest, Section, report
from app.reports.exports import REPORTS, Export
from app.text.answers import Answer
from app.text.columns import columns
from app.text.grids import Grid, Listing, grid
from app.text.text_tables import totals_table
from ingest.store.database import Store
from ingest.system.command_lines import command_line
from schemas.catalogue import columns as catalogue
from schemas.text import join_known

USUAL = ("html", "pdf", "xlsx")
WHOLE_NAME = 60
"""Characters of a file's name without suffix that every file system and mail program keeps."""


def written(store: Store, request: ReportRequest, export: Export) -> bytes:
    """Return the report as a file of the format, from the current store, without texts of sessions.

    Raises StoreError, UsageError.
    """
    return export.write_report(report(exported(store, request.filters), of_format(request, export)))


def of_format(request: ReportRequest, export: Export) -> ReportRequest:
    """Return the request with as many runs as the format has room for."""
    return replace(request, runs=export.runs)


def file_name(request: ReportRequest, export: Export) -> str:
    """Return `cost-report-by-model-and-day.html`.

    Only letters and digits of a label's key are kept.
    """
    by = "-and-".join(re.sub(r"[^\w]+", "-", word).strip("-_") for word in request.by)
    return f"cost-report{f'-by-{by}' if by else ''}"[:WHOLE_NAME].rstrip("-") + export.suffix


def command(request: ReportRequest, export: Export, location: str) -> str:
    """Return the shell command for the same report of the store at `location`."""
    words = ["report"]
    words += ["--by", ",".join(request.by)] if request.by else []
    words += ["--tz", request.zone] if request.zone != UTC_ZONE else []
    words += ["--cost", request.cost] if request.cost else []
    words += ["--reprice", request.reprice] if request.reprice else []
    words += [
        word
        for option in ("title", "owner")
        if (text := getattr(request.first, option))
        for word in (f"--{option}", text)
    ]
    words += as_options(request.first.budgets)
    filters = request.filters.as_words()
    parts = (shlex.join(words), filters, shlex.join(["-o", file_name(request, export)]))
    return command_line(join_known(" ", *parts), location)


def formats() -> dict[str, str]:
    """Return the formats by name with the labels of their buttons, most popular first.

    Pdf only where it can be made.
    """
    names = [name for name in dict.fromkeys([*USUAL, *REPORTS]) if name != "pdf" or browser()]
    return {name: REPORTS[name].suffix.removeprefix(".") for name in names}


MOST_ROWS = 200

AT_ONCE = 50_000
"""Runs up to which a preview is made at once; more take seconds, so it is made on request."""

TOTALS = Listing(catalogue.TOTALS, ("figure", "value", "known"))


def totals_grid(answer: Answer) -> Grid:
    """Return a row per figure for people, with the number of runs it rests on if not all."""
    rows = [list(map(str, cells)) for cells in totals_table(answer).cells]
    columns = (pa.array(texts, pa.string()) for texts in zip(*rows, strict=True))
    return grid(pa.table(dict(zip(TOTALS.keys, columns, strict=True))), TOTALS)


def section_grid(section: Section) -> Grid:
    """Return the first MOST_ROWS rows with the columns for people."""
    rows, shown = section.table, section.answer.shown
    kept = [
        column.name
        for column in columns(rows)
        if not pa.types.is_map(rows.schema.field(column.name).type)
    ]
    return grid(
        rows.slice(0, MOST_ROWS),
        Listing(section.answer.of, tuple(name for name in shown or kept if name in kept)),
    )


def cut_note(section: Section) -> str:
    """Return a note that a preview is cut, or ""."""
    rows = section.table.num_rows
    return (
        f"The first {MOST_ROWS:,} of {rows:,} rows; the file has all." if rows > MOST_ROWS else ""
    )
