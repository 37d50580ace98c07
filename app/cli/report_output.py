"""Where a cost report leaves the program. Apart from other answers, which need nothing of what makes a report."""

from __future__ import annotations

import sys

from app.cli import terminal
from app.cli.options import TABLE, Output
from app.cli.output import FILE_WIDTH, put_export, width, write_file
from app.cli.report_text import MOST_IMPORTANT, report_text
from app.reports.cost_report import Report
from app.reports.exports import EXPORTS
from ingest.system.command_lines import command_line
from schemas.text import one_line, plural

NO_REPOSITORIES = "No run names its repository: `tachograph ingest` takes it from paths by --path-template, or from --label repo=NAME."
ALL = "For all metrics, models, the most expensive runs and findings, add --all."


def printed_sections(output: Output, *, whole: bool) -> tuple[str, ...]:
    """The sections that `deliver_report` prints, none for all."""
    if output.format == TABLE:
        return () if whole else MOST_IMPORTANT
    return () if EXPORTS[output.format].is_whole else ("totals", "groups", "what_if")


def deliver_report(report: Report, output: Output, *, whole: bool = False) -> None:
    """Write a report where it was asked for. As a table it has the first page, the most important totals and the groups, unless `whole`."""
    if output.path is not None:
        is_table = output.format == TABLE
        body = report_text(report, FILE_WIDTH, exact=True, whole=whole) if is_table else EXPORTS[output.format].write_report(report)
        write_file(output.path, body)
        covered = plural(report.header.coverage["runs"], "run")
        terminal.note(f"Wrote {one_line(str(output.path))}: {covered}, {len(body):,} bytes")
    elif output.format == TABLE and not report.header.coverage["runs"]:
        terminal.note(no_runs(report))
    elif output.format == TABLE:
        terminal.put(report_text(report, width(), sys.stdout.encoding or "utf-8", color=sys.stdout.isatty(), whole=whole))
        if report.first.lacks_repositories:
            terminal.note(NO_REPOSITORIES)
        if not whole:
            terminal.note(ALL)
    else:
        put_export(EXPORTS[output.format].write_report(report), output.format)


def no_runs(report: Report) -> str:
    """What to do where a report has no runs: a page of unknown figures helps nobody."""
    header = report.header
    if not header.coverage["stored_runs"]:
        return one_line(f"No runs. Ingest with: {command_line('ingest PATH', header.store)}")
    if not header.filters:
        return f"{header.excluded} Count them with --excluded all."
    return one_line(f"No runs match {header.filters.as_words()}. The store has {plural(header.coverage['stored_runs'], 'run')}.")
