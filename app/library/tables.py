"""Answers in Python, immutable: a table of rows with heading and notes, and a cost report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from app.reports.exports import EXPORTS, REPORTS, Export
from app.reports.exports.text import rows
from app.text.answers import Answer
from app.text.columns import columns
from ingest.system.command_lines import install_command
from schemas.errors import UsageError, unknown_word
from schemas.text import one_line, plural

if TYPE_CHECKING:
    from app.reports.cost_report import CostReport

Row = dict[str, Any]
"""A row: column → value. Money is Decimal, times are datetimes in UTC, durations are in
milliseconds, and unknown values are None.
"""


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """Rows of an answer, as an Arrow table.

    `heading` gives the number of runs, the store and the filters; `notes` what it leaves out, and
    names in the filters that no run has. Libraries that read the Arrow C stream interface accept
    it: `polars.DataFrame(table)`.
    """

    heading: str
    notes: tuple[str, ...]
    _answer: Answer = field()
    _for_people: Answer = field()

    @property
    def columns(self) -> Mapping[str, str]:
        """The columns → their meanings."""
        return {
            column.name: column.meaning or column.label
            for column in columns(self._answer.table, self._answer.of)
        }

    @property
    def available(self) -> int:
        """The number of rows before `limit`."""
        return len(self) if self._answer.available is None else self._answer.available

    @property
    def total(self) -> Row | None:
        """The row of all groups together, or None.

        It is computed separately, because medians and shares do not add up.
        """
        return None if self._answer.total is None else next(rows(self._answer.total))

    def arrow(self) -> pa.Table:
        """Return the rows as a `pyarrow.Table`."""
        return self._answer.table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._answer.table.__arrow_c_stream__(requested_schema)

    def to_pylist(self) -> list[Row]:
        """Return the rows as dicts."""
        return list(self)

    def df(self) -> Any:
        """Return the rows as a `pandas.DataFrame` with Arrow types: exact money, NA for unknown.

        Raises UsageError without pandas.
        """
        return self._answer.table.to_pandas(types_mapper=_library("pandas").ArrowDtype)

    def pl(self) -> Any:
        """Return the rows as a `polars.DataFrame`. Raises UsageError without polars."""
        return _library("polars").from_arrow(self._answer.table)

    def export(self, format: str) -> bytes:  # noqa: A002  the word of the command line
        """Return the bytes of a file as with `-o FILE`.

        Csv, json, jsonl, md, html, xlsx, parquet, latex.

        Raises UsageError for another format.
        """
        export = _export(format, EXPORTS)
        return export.write(self._for_people if export.is_for_people else self._answer)

    def __len__(self) -> int:
        return int(self._answer.table.num_rows)

    def __iter__(self) -> Iterator[Row]:
        return rows(self._answer.table)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {plural(len(self), 'row')}, "
            f"{plural(len(self.columns), 'column')}; {one_line(self.heading)}>"
        )

    def _repr_html_(self) -> str:
        from app.reports.exports.page import notebook_table

        return notebook_table(self._for_people, self.notes)


def table(answer: Answer, notes: Sequence[str] = (), people: Answer | None = None) -> Table:
    """Return the table of an answer.

    `people`: another answer to the same question for people, if there is one.
    """
    lines = (answer.note, answer.hidden, *notes)
    return Table(answer.heading, tuple(filter(None, lines)), answer, people or answer)


@dataclass(frozen=True, repr=False, eq=False)
class Report(Table):
    """A cost report. As a table it is the groups, or the totals if there are none.

    `title` is that of its first page. `sections` has all tables by key: totals, groups, models,
    runs, findings and more.
    """

    _report: CostReport = field()

    @property
    def title(self) -> str:
        return self._report.first.title

    @property
    def sections(self) -> Mapping[str, Table]:
        """The non-empty tables by key."""
        return {
            section.key: table(section.answer, [section.note]) for section in self._report.shown
        }

    @property
    def summary(self) -> Row:
        """The first page for programs.

        Period, total, change, failure rate, top models and projects.
        """
        return self._report.first.as_dict()

    def export(self, format: str) -> bytes:  # noqa: A002
        """Return the bytes of the whole report, as with `tachograph report -o FILE`, also pdf.

        Raises UsageError for another format.
        """
        return _export(format, REPORTS).write_report(self._report)

    def _repr_html_(self) -> str:
        from app.reports.exports.page import notebook_report

        return notebook_report(self._report)


def report_table(report: CostReport, notes: Sequence[str]) -> Report:
    """Return a report of the library."""
    answer = report.main_answer
    return Report(
        answer.heading, tuple(filter(None, (answer.note, *notes))), answer, answer, report
    )


def _export(name: str, formats: Mapping[str, Export]) -> Export:
    if not isinstance(name, str):
        raise UsageError(f"format takes a text, not {name!r}.")
    if name not in formats:
        raise unknown_word("format", name, formats)
    return formats[name]


def _library(name: str) -> Any:
    """Import an optional library. Raises UsageError if it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(
            f"{name} is not installed.",
            f"Install it: {install_command(name)}, or use .arrow() or .to_pylist().",
        ) from error
