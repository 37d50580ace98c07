"""Where answers leave the program: drawn on the terminal, written to stdout as a format, or put into a file at once."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from app.cli import terminal
from app.cli.options import TABLE, Output
from app.reports.exports import EXPORTS
from app.text.answers import Answer
from app.text.text_tables import draw, for_people
from schemas.errors import UsageError
from schemas.text import one_line, plural

FILE_WIDTH = 160
"""Width of a table that is written to a file."""

LEAST_WIDTH = 40
"""A terminal that says it is narrower (some say 0) gets a table that wraps."""


def deliver(answer: Answer, output: Output) -> None:
    """Write the answer where it was asked for. What a table is about goes to stderr; programs do not need it."""
    if output.path is not None:
        deliver_body(_table(answer, FILE_WIDTH) if output.format == TABLE else _export(answer, output.format), answer, output)
    elif output.format == TABLE:
        terminal.note(terminal.short(one_line(answer.heading)))
        _show(answer)
    else:
        put_export(_export(answer, output.format), output.format)
    if answer.hidden:
        terminal.note(answer.hidden)


def deliver_body(body: bytes, answer: Answer, output: Output) -> None:
    """Write an answer that is made already to the file or, as text, to stdout."""
    if output.path is None:
        terminal.put_text(body)
        return
    write_file(output.path, body)
    terminal.note(f"Wrote {one_line(str(output.path))}: {plural(answer.table.num_rows, 'row')}, {len(body):,} bytes")


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


def put_export(body: bytes, format_: str) -> None:
    """Write an export to stdout: bytes as they are, text in the encoding of the terminal."""
    if EXPORTS[format_].is_binary:
        terminal.put(body, is_binary=True)
    else:
        terminal.put_text(body)


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


def hidden_columns(labels: tuple[str, ...]) -> str:
    """The columns that a table has no room for, and how to see them."""
    return f"Hidden columns: {', '.join(labels)} (widen the terminal or use --format csv)"


def width() -> int:
    """Columns for a table: $COLUMNS, else the width of the terminal that stdout or (`| less`) stderr is on, else 80."""
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal():
        return max(int(chosen), LEAST_WIDTH)
    widths = [os.get_terminal_size(stream.fileno()).columns for stream in (sys.stdout, sys.stderr) if stream.isatty()]
    return max(widths[0], LEAST_WIDTH) if widths else 80
