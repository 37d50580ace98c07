"""Formats that tables and reports can be written in, once. The command line's choices, the dashboard's menus and the tests read EXPORTS.

A new format is an entry of EXPORTS with two writers, one of a table and one of a report. A module is imported when its
format is first written: the registry itself costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from schemas.catalogue.entry import UNNAMED, Columns

if TYPE_CHECKING:
    import pyarrow as pa

    from app.reports.cost_report import Report


REPORT_RUNS = 10
"""Runs that a report lists unless its format has room for more."""


class TableWriter(Protocol):
    """Writes a table. `heading` says what it is about and `of` what its columns are called; formats for programs need neither."""

    def __call__(self, table: pa.Table, heading: str = "", of: Columns = UNNAMED) -> bytes:
        """The table as bytes of the format."""


@dataclass(frozen=True, slots=True)
class Export:
    """One format. `write` and `write_report` are pure.

    `is_for_people` asks for what a terminal would show (chosen columns, a total row); programs get every column, exactly.
    `is_whole`: a report has all its sections, else its groups only (its totals where there are none), which any program can add up.
    `runs` is how many runs a report lists in it. `about` says to a reader what a report is in it.
    """

    name: str
    suffix: str
    mime: str
    write: TableWriter
    write_report: Callable[[Report], bytes]
    is_for_people: bool = False
    is_binary: bool = False
    is_whole: bool = True
    runs: int = REPORT_RUNS
    about: str = ""


def _table(module: str, function: str) -> TableWriter:
    def write(table: pa.Table, heading: str = "", of: Columns = UNNAMED) -> bytes:
        return cast("bytes", getattr(import_module(f"app.reports.exports.{module}"), function)(table, heading, of))

    return write


def _report(module: str, function: str) -> Callable[[Report], bytes]:
    def write(report: Report) -> bytes:
        return cast("bytes", getattr(import_module(f"app.reports.exports.{module}"), function)(report))

    return write


_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

EXPORTS = {
    export.name: export
    for export in (
        Export(
            "csv",
            ".csv",
            "text/csv; charset=utf-8",
            _table("delimited", "write_csv"),
            _report("delimited", "write_report"),
            is_whole=False,
            about="One table for a spreadsheet or a program: the groups (totals if there are none).",
        ),
        Export(
            "json",
            ".json",
            "application/json",
            _table("json_text", "write_json"),
            _report("json_text", "write_report"),
            about="The whole report for programs, with exact numbers.",
        ),
        Export(
            "jsonl",
            ".jsonl",
            "application/jsonl",
            _table("json_text", "write_jsonl"),
            _report("json_text", "write_report_lines"),
            is_whole=False,
            about="One line of JSON per group (totals if there are none), for programs.",
        ),
        Export(
            "md",
            ".md",
            "text/markdown; charset=utf-8",
            _table("markdown", "write_markdown"),
            _report("markdown", "write_report"),
            is_for_people=True,
            about="The whole report as text with tables, e.g. for a pull request or the summary of a CI job.",
        ),
        Export(
            "html",
            ".html",
            "text/html; charset=utf-8",
            _table("page", "write_page"),
            _report("page", "write_report"),
            is_for_people=True,
            about="Self-contained HTML with charts, print-ready (A4).",
        ),
        Export(
            "xlsx",
            ".xlsx",
            _XLSX,
            _table("workbook", "write_workbook"),
            _report("workbook", "write_report"),
            is_binary=True,
            runs=10_000,
            about="A workbook: summary with a chart, groups, models, the 10,000 most expensive runs, findings; money is numbers.",
        ),
        Export(
            "parquet",
            ".parquet",
            "application/vnd.apache.parquet",
            _table("columnar", "write_parquet"),
            _report("columnar", "write_report"),
            is_binary=True,
            is_whole=False,
            about="One table with its types for DuckDB and its kin: the groups, or the totals without groups.",
        ),
    )
}
