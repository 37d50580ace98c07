"""Formats of tables and reports.

The command line's choices, the dashboard's menus and the tests read EXPORTS.

A format is an entry of EXPORTS and, in its module, a function `NAME_table` of an answer and, for
whole reports, `NAME_report`. A table is bytes or, where it is written row by row, parts of them.
The module is imported when the format is first written.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from app.reports.cost_report import Report
    from app.text.answers import Answer


REPORT_RUNS = 10
"""Runs that a report lists unless its format has room for more."""


@dataclass(frozen=True, slots=True)
class Export:
    """One format; `module` is the file in this folder that writes it.

    `is_for_people` asks for the terminal's view (chosen columns, a total row); programs get every
    column, exactly. `is_whole`: a report has all its sections, else its groups only (its totals
    where there are none), which any program can add up. `runs` is the number of runs that a report
    lists. `about` describes such a report to a reader.
    """

    name: str
    mime: str
    module: str
    about: str
    is_for_people: bool = False
    is_binary: bool = False
    is_whole: bool = True
    runs: int = REPORT_RUNS
    extension: str = ""

    @property
    def suffix(self) -> str:
        """The extension of a file's name."""
        return f".{self.extension or self.name}"

    def parts(self, answer: Answer) -> Iterator[bytes]:
        """Yield the answer in the format.

        In many parts of whole lines where it is written row by row.
        """
        made = getattr(import_module(f"app.reports.exports.{self.module}"), f"{self.name}_table")(
            answer
        )
        return iter((made,)) if isinstance(made, bytes) else cast("Iterator[bytes]", made)

    def write(self, answer: Answer) -> bytes:
        """Return the answer in the format."""
        return b"".join(self.parts(answer))

    def write_report(self, report: Report) -> bytes:
        """Return the report in the format."""
        if not self.is_whole:
            from app.reports.exports.text import json_text

            main = report.main_answer
            return self.write(
                main
                if self.is_for_people
                else replace(main, about=json_text(report.header.as_dict()))
            )
        return cast(
            "bytes",
            getattr(import_module(f"app.reports.exports.{self.module}"), f"{self.name}_report")(
                report
            ),
        )


EXPORTS = {
    export.name: export
    for export in (
        Export(
            "csv",
            "text/csv; charset=utf-8",
            "text",
            "One table for a spreadsheet or a program: the groups (totals if there are none).",
            is_whole=False,
        ),
        Export(
            "json", "application/json", "text", "The whole report for programs, with exact numbers."
        ),
        Export(
            "jsonl",
            "application/jsonl",
            "text",
            "One line of JSON per group (totals if there are none), for programs.",
            is_whole=False,
        ),
        Export(
            "md",
            "text/markdown; charset=utf-8",
            "text",
            (
                "The whole report as text with tables, e.g. for a pull request or the summary of "
                "a CI job."
            ),
            is_for_people=True,
        ),
        Export(
            "html",
            "text/html; charset=utf-8",
            "page",
            "Self-contained HTML with charts, print-ready (A4).",
            is_for_people=True,
        ),
        Export(
            "xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "workbook",
            (
                "A workbook: summary with a chart, groups, models, the 10,000 most expensive "
                "runs, findings; money is numbers."
            ),
            is_binary=True,
            runs=10_000,
        ),
        Export(
            "parquet",
            "application/vnd.apache.parquet",
            "text",
            (
                "One table with its types for DuckDB and its kin: the groups, or the totals "
                "without groups."
            ),
            is_binary=True,
            is_whole=False,
        ),
        Export(
            "latex",
            "application/x-tex",
            "latex",
            "The groups (totals if there are none) as a table for a paper.",
            is_for_people=True,
            is_whole=False,
            extension="tex",
        ),
    )
}

_PDF = Export(
    "pdf",
    "application/pdf",
    "page",
    "The HTML as PDF (A4), printed by Chromium.",
    is_for_people=True,
    is_binary=True,
)
REPORTS: Mapping[str, Export] = ChainMap({_PDF.name: _PDF}, EXPORTS)
"""Formats of whole reports: those of tables, and PDF."""
