"""Where answers leave the program: drawn on the terminal, written to stdout as a format, or put into a file at once."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from app.cli import terminal
from app.cli.options import TABLE, Output
from app.cli.report_text import hidden_columns, report_text
from app.reports.cost_report import Report
from app.reports.exports import EXPORTS
from app.text.answers import Answer
from app.text.text_tables import draw, for_people
from ingest.system.command_lines import command_line
from schemas.errors import UsageError
from schemas.text import one_line, plural

FILE_WIDTH = 160
"""Width of a table that is written to a file."""

LEAST_WIDTH = 40
"""A terminal that says it is narrower (some say 0) gets a table that wraps."""


def deliver(answer: Answer, output: Output) -> None:
    """Write the answer where it was asked for. What a table is about goes to stderr; programs do not need it."""
    if output.path is not None:
        body = _table(answer, FILE_WIDTH) if output.format == TABLE else _export(answer, output.format)
        write_file(output.path, body)
        terminal.note(f"Wrote {one_line(str(output.path))}: {plural(answer.table.num_rows, 'row')}, {len(body):,} bytes")
    elif output.format == TABLE:
        terminal.note(terminal.short(one_line(answer.heading)))
        _show(answer)
    else:
        _put(_export(answer, output.format), output.format)
    if answer.hidden:
        terminal.note(answer.hidden)


NO_REPOSITORIES = "No run names its repository: `tachograph ingest` takes it from paths by --path-template, or from --label repo=NAME."
ALL = "For all metrics, models, the most expensive runs and findings, add --all."


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
        _put(EXPORTS[output.format].write_report(report), output.format)


def no_runs(report: Report) -> str:
    """What to do where a report has no runs: a page of unknown figures helps nobody."""
    header = report.header
    if not header.coverage["stored_runs"]:
        return one_line(f"No runs. Ingest with: {command_line('ingest PATH', header.store)}")
    if not header.filters:
        return f"{header.excluded} Count them with --excluded all."
    return one_line(f"No runs match {header.filters.as_words()}. The store has {plural(header.coverage['stored_runs'], 'run')}.")


def write_file(path: Path, body: bytes) -> None:
    """Write the file whole or not at all: another name first, then renamed. Raises UsageError where that cannot be done."""
    target = path.resolve()
    aside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():  # /dev/null and pipes are written to, not replaced
            target.write_bytes(body)
            return
        aside.write_bytes(body)
        if target.exists():
            shutil.copymode(target, aside)
        aside.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror or error}.", "Choose another file with -o.") from error
    finally:
        with suppress(OSError):  # where nothing could be written, nothing is left to remove
            aside.unlink()


def _put(body: bytes, format_: str) -> None:
    (terminal.put if EXPORTS[format_].is_binary else terminal.put_text)(body)


def _export(answer: Answer, format_: str) -> bytes:
    export = EXPORTS[format_]
    return export.write(for_people(answer) if export.is_for_people else answer.table, answer.heading, answer.of)


def _table(answer: Answer, width: int) -> bytes:
    return draw(answer, width, exact=True).body + (f"{answer.note}\n".encode() if answer.note else b"")


def _show(answer: Answer) -> None:
    left_out: tuple[str, ...] = ()
    if answer.table.num_rows:
        drawing = draw(answer, width(), sys.stdout.encoding or "utf-8", color=sys.stdout.isatty())
        left_out = drawing.left_out
        terminal.put(drawing.body)
    for said in (answer.note, left_out and hidden_columns(left_out)):
        if said:
            terminal.note(said)


def width() -> int:
    """Columns for a table: $COLUMNS, else the width of the terminal that stdout or (`| less`) stderr is on, else 80."""
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal():
        return max(int(chosen), LEAST_WIDTH)
    widths = [os.get_terminal_size(stream.fileno()).columns for stream in (sys.stdout, sys.stderr) if stream.isatty()]
    return max(widths[0], LEAST_WIDTH) if widths else 80
