"""Formats of tables and reports.

The command line's choices, the dashboard's menus and the tests read EXPORTS.

A format is an entry of EXPORTS and its functions, which are imported when it is first written.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from app.reports import REPORT_RUNS

if TYPE_CHECKING:
    from app.reports.cost_report import CostReport
    from app.text.answers import Answer


class Functions(NamedTuple):
    """Functions that write a format, as bytes or as parts of them written row by row."""

    table: Callable[[Answer], bytes | Iterator[bytes]]
    report: Callable[[CostReport], bytes | Iterator[bytes]] | None = None


def _text() -> dict[str, Functions]:
    from app.reports.exports import text

    return {
        "csv": Functions(text.csv_table),
        "json": Functions(text.json_table, text.json_report),
        "jsonl": Functions(text.jsonl_table),
        "md": Functions(text.md_table, text.md_report),
        "parquet": Functions(text.parquet_table),
    }


def _page() -> dict[str, Functions]:
    from app.reports.exports import page

    return {
        "html": Functions(page.html_table, page.html_report),
        "pdf": Functions(page.pdf_table, page.pdf_report),
    }


def _workbook() -> dict[str, Functions]:
    from app.reports.exports import workbook

    return {"xlsx": Functions(workbook.xlsx_table, workbook.xlsx_report)}


def _latex() -> dict[str, Functions]:
    from app.reports.exports import latex

    return {"latex": Functions(latex.latex_table)}


@dataclass(frozen=True, slots=True)
class Export:
    """One format; `functions` imports what writes it and others of its kind, by name.

    `is_for_people` asks for the terminal's view (chosen columns, a total row); programs get every
    column, exactly. `is_whole`: a report has all its sections, else its groups only (its totals
    where there are none), which any program can add up. `runs` is the number of runs that a report
    lists. `about` describes such a report to a reader.
    """

    name: str
    mime: str
    functions: Callable[[], Mapping[str, Functions]]
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
        made = self.functions()[self.name].table(answer)
        return iter((made,)) if isinstance(made, bytes) else made

    def write(self, answer: Answer) -> bytes:
        """Return the answer in the format."""
        return b"".join(self.parts(answer))

    def report_parts(self, report: CostReport) -> Iterator[bytes]:
        """Yield the report in the format, as `parts`."""
        if write := self.functions()[self.name].report:
            made = write(report)
            return iter((made,)) if isinstance(made, bytes) else made
        from app.reports.exports.text import json_text

        main = report.main_answer
        about = main.about if self.is_for_people else json_text(report.header.as_dict())
        return self.parts(replace(main, about=about))

    def write_report(self, report: CostReport) -> bytes:
        """Return the report in the format."""
        return b"".join(self.report_parts(report))


EXPORTS = {
    export.name: export
    for export in (
        Export(
            "csv",
            "text/csv; charset=utf-8",
            _text,
            "One table for a spreadsheet or a program: the groups (totals if there are none).",
            is_whole=False,
        ),
        Export(
            "json", "application/json", _text, "The whole report for programs, with exact numbers."
        ),
        Export(
            "jsonl",
            "application/jsonl",
            _text,
            "One line of JSON per group (totals if there are none), for programs.",
            is_whole=False,
        ),
        Export(
            "md",
            "text/markdown; charset=utf-8",
            _text,
            (
                "The whole report as text with tables, e.g. for a pull request or the summary of "
                "a CI job."
            ),
            is_for_people=True,
        ),
        Export(
            "html",
            "text/html; charset=utf-8",
            _page,
            "Self-contained HTML with charts, print-ready (A4).",
            is_for_people=True,
        ),
        Export(
            "xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            _workbook,
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
            _text,
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
            _latex,
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
    _page,
    "The HTML as PDF (A4), printed by Chromium.",
    is_for_people=True,
    is_binary=True,
)
REPORTS: Mapping[str, Export] = ChainMap({_PDF.name: _PDF}, EXPORTS)
"""Formats of whole reports: those of tables, and PDF."""
