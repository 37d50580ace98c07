"""Destinations of answers.

Drawn on the terminal, written to stdout in a format, or saved as a file.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli import terminal
from app.cli.options import TABLE, Output
from app.reports.exports import REPORTS
from app.text.answers import Answer, uncounted_words
from app.text.text_tables import MOST_ROWS, SPELLED, draw, shown_table
from ingest.system.command_lines import command_line
from schemas.errors import UsageError
from schemas.text import one_line, plural

if TYPE_CHECKING:
    from app.reports.cost_report import CostReport
    from app.reports.first_page import FirstPage

FILE_WIDTH = 160

LEAST_WIDTH = 40
"""Least width of a table: terminals that claim less (some say 0) wrap it."""

MOST_IMPORTANT = ("totals", "groups", "what_if")

NO_REPOSITORIES = (
    "No run names its project: `tachograph ingest` takes it from paths by --path-template, or "
    "from --label project=NAME."
)
ALL = "For all metrics, models, the most expensive runs and findings, add --all."


def deliver(answer: Answer, output: Output) -> None:
    """Write the answer to its destination.

    The heading goes to stderr, because programs do not need it.
    """
    if output.is_drawn:
        terminal.note(terminal.short(one_line(answer.heading)))
        hidden = ""
        if answer.table.num_rows:
            drawing = draw(
                shown_table(answer, MOST_ROWS),
                width(),
                sys.stdout.encoding or "utf-8",
                color=sys.stdout.isatty(),
            )
            hidden = hidden_columns(drawing.left_out) if drawing.left_out else ""
            terminal.put(drawing.body)
        for line in filter(None, (answer.note, hidden)):
            terminal.note(line)
    else:
        if output.format == TABLE:
            body: Iterable[bytes] = [
                draw(shown_table(answer, MOST_ROWS), FILE_WIDTH, exact=True).body,
                f"{answer.note}\n".encode() if answer.note else b"",
            ]
        else:
            body = REPORTS[output.format].parts(answer)
            if output.format == "latex":
                [page] = body
                if page.startswith(b"% "):  # what the page has no room for
                    terminal.note(terminal.short(page[2:].decode().partition("\n")[0]))
                body = [page]
        is_binary = output.format in REPORTS and REPORTS[output.format].is_binary
        rows = f"{plural(answer.table.num_rows, 'row')}, "
        put_or_write(body, output.path, rows, is_binary=is_binary)
    if answer.hidden:
        terminal.note(answer.hidden)


def put_or_write(
    body: bytes | Iterable[bytes], path: Path | None, what: str = "", *, is_binary: bool = False
) -> None:
    """Write a body, whole or in parts, to the file, and note `what` it has, or to stdout."""
    if path is not None:
        written = write_file(path, body)
        terminal.note(f"Wrote {one_line(str(path))}: {what}{written:,} bytes")
    elif is_binary:
        terminal.put(body, is_binary=True)
    else:
        terminal.put_text(body)


def printed_sections(output: Output, *, whole: bool) -> tuple[str, ...]:
    """Return the sections that `deliver_report` prints, none for all."""
    if output.format == TABLE:
        return () if whole else MOST_IMPORTANT
    return () if REPORTS[output.format].is_whole else MOST_IMPORTANT


def deliver_report(report: CostReport, output: Output, *, whole: bool = False) -> None:
    """Write a report to its destination.

    A table has the first page, the most important totals and the groups, unless `whole`.
    """
    header = report.header
    if output.is_drawn:
        if header.coverage["runs"] or report.first.cost is not None:
            terminal.put(
                report_text(
                    report,
                    width(),
                    sys.stdout.encoding or "utf-8",
                    color=sys.stdout.isatty(),
                    whole=whole,
                )
            )
            if report.first.lacks_repositories:
                terminal.note(NO_REPOSITORIES)
            if not whole:
                terminal.note(ALL)
        elif not header.coverage["stored_runs"]:  # a page of unknown figures helps nobody
            terminal.note(
                one_line(f"No runs. Ingest with: {command_line('ingest PATH', header.store)}")
            )
        elif not header.filters:
            terminal.note(
                uncounted_words(
                    header.coverage["excluded_runs"],
                    header.coverage["uncounted_copies"],
                    "--{} all",
                )
            )
        else:
            stored = plural(header.coverage["stored_runs"], "run")
            terminal.note(
                one_line(f"No runs match {header.filters.as_words()}. The store has {stored}.")
            )
        return
    if output.format == TABLE:
        text = report_text(report, FILE_WIDTH, exact=True, whole=whole)
        body, is_binary = iter((text,)), False
    else:
        export = REPORTS[output.format]
        body, is_binary = export.report_parts(report), export.is_binary
    covered = plural(header.coverage["runs"], "run")
    if not header.coverage["runs"] and report.first.cost is not None:
        covered = report.first.answer.rstrip(".")
    put_or_write(body, output.path, f"{covered}, ", is_binary=is_binary)


def write_file(
    path: Path, body: bytes | Iterable[bytes], hint: str = "Choose another file with -o."
) -> int:
    """Write the file, given whole or in parts, completely or not at all.

    Under another name, then renamed. Return its bytes.

    Raises UsageError.
    """
    parts = (body,) if isinstance(body, bytes) else body
    target = path.resolve()
    aside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if (
            target.exists() and not target.is_file()
        ):  # /dev/null and pipes are written to, not replaced
            with target.open("wb") as file:
                return sum(map(file.write, parts))
        with aside.open("wb") as file:
            written = sum(map(file.write, parts))
        if target.exists():
            shutil.copymode(target, aside)
        aside.replace(target)
        return written
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror or error}.", hint) from error
    finally:
        with suppress(OSError):  # where nothing could be written, nothing is left to remove
            aside.unlink()


def hidden_columns(labels: tuple[str, ...]) -> str:
    """Return a note on the columns that do not fit, and how to see them."""
    return f"Hidden columns: {', '.join(labels)} (widen the terminal or use --format csv)"


def width() -> int:
    """Return the columns of a table.

    $COLUMNS, else the width of the terminal at stdout or (`| less`) stderr, else 80.
    """
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal():
        return max(int(chosen), LEAST_WIDTH)
    widths = [
        os.get_terminal_size(stream.fileno()).columns
        for stream in (sys.stdout, sys.stderr)
        if stream.isatty()
    ]
    return max(widths[0], LEAST_WIDTH) if widths else 80


def report_text(
    report: CostReport,
    width: int,
    encoding: str = "utf-8",
    *,
    color: bool = False,
    exact: bool = False,
    whole: bool = True,
) -> bytes:
    """Return a report for a terminal in at most `width` columns: its first page, then its sections.

    Columns that do not fit are named below their table. `whole` False leaves out details: all but
    the most important totals, and the sections after the groups.
    """
    parts: list[str | bytes] = [_first_page(report.first, width, encoding, color=color)]
    for section in report.shown:
        if not whole and section.key not in MOST_IMPORTANT:
            continue
        answer = (
            replace(section.answer, shown=())
            if whole and section.key == "totals"
            else section.answer
        )
        drawing = draw(shown_table(answer, MOST_ROWS), width, encoding, color=color, exact=exact)
        note = f"{_folded(section.note, width)}\n" if section.note else ""
        parts += [f"\n{_bold(one_line(section.title), color=color)}\n{note}", drawing.body]
        parts += (
            [f"{_folded(hidden_columns(drawing.left_out), width)}\n"] if drawing.left_out else []
        )
    if whole and (about := _labelled(report.header.lines(), width)):
        parts.append(f"\n{_bold('About this report', color=color)}\n{about}")
    return b"".join(
        part if isinstance(part, bytes) else part.encode(encoding, errors=SPELLED) for part in parts
    )


def _first_page(page: FirstPage, width: int, encoding: str, *, color: bool) -> bytes:
    """Return title, Overview sentence, table of agents, figures, top lists, budgets and notes."""
    more = "".join(f"{_folded(text, width, 0)}\n" for text in page.more)
    parts: list[str | bytes] = [
        f"{_bold(one_line(page.title), color=color)}\n{_labelled(page.lines, width)}"
    ]
    parts.append(f"\n{_bold(_folded(page.answer, width, 0), color=color)}\n{more}\n")
    for table in page.tables(page.figures):
        drawing = draw(table, width, encoding, noted="{} · {}", color=color)
        parts += [drawing.body, "\n"]
    notes = "".join(f"{_folded(f'- {note}', width)}\n" for note in page.notes)
    parts.append(f"{_bold('Notes', color=color)}\n{notes}")
    return b"".join(
        part if isinstance(part, bytes) else part.encode(encoding, errors=SPELLED) for part in parts
    )


def _folded(text: str, width: int, indent: int = 2) -> str:
    """Return the text in lines of at most `width`, indented from the second line on."""
    return textwrap.fill(
        one_line(text),
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _labelled(lines: Sequence[tuple[str, str]], width: int) -> str:
    label_width = max((len(label) for label, _ in lines), default=0)
    return "".join(
        f"{_folded(f'{label:<{label_width}}  {text}', width, label_width + 2)}\n"
        for label, text in lines
    )


def _bold(text: str, *, color: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if color else text
