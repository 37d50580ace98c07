"""`tachograph show`: the page of a run in a terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli import terminal
from app.cli.options import TABLE, WITH_TEXT, Output, Word, examples, utf8, with_store

if TYPE_CHECKING:
    from app.queries.reading import CheckedStore
    from app.queries.run_page import RunPage

JSON = "json"


@click.command(epilog=examples("show", "show 5e0c031e", "show 5e0c031e --format json"))
@click.argument("run", required=False, metavar="[ID]", callback=lambda ctx, param, value: utf8(ctx, param, value or ""))
@click.option(
    "--format", "format_", type=Word((TABLE, JSON)), default=TABLE, show_default=True, help="json has all columns and exact numbers."
)
@click.option("-o", "--output", "path", type=click.Path(readable=False, path_type=Path), metavar="FILE", help="Output file.")
@click.option("--with-text", is_flag=True, help=WITH_TEXT)
@with_store
def show(run: str, format_: str, path: Path | None, store: CheckedStore, *, with_text: bool) -> None:
    """Show one run: title, cost and its cause, models, claims, findings, tools, files, summary, source.

    ID is the id of a run or its first 4 or more characters, as lists show it. Without ID: the run that was ingested last.
    """
    from app.cli.output import FILE_WIDTH, width, write_file
    from app.queries.reading import read_transaction
    from app.queries.run_page import latest, run_id_of, run_page
    from app.text.run_text import run_text
    from ingest.system.command_lines import command_line

    if not Output(format_, path, with_text).keeps_text:
        store.leave_out_texts()
    with read_transaction(store) as transaction:
        run_id = run_id_of(transaction, run) if run else latest(transaction)
        page = run_page(transaction, run_id) if run_id else None
    if page is None:
        terminal.note(f"No runs. Ingest with: {command_line('ingest PATH', store.location)}")
    elif path is not None:
        body = _json(page) if format_ == JSON else run_text(page, FILE_WIDTH)
        write_file(path, body)
        terminal.note(f"Wrote {path}: {len(body):,} bytes")
    elif format_ == JSON:
        terminal.put_text(_json(page))
    else:
        terminal.put(run_text(page, width(), sys.stdout.encoding or "utf-8", color=sys.stdout.isatty()))


def _json(page: RunPage) -> bytes:
    """One object, a column to a line."""
    from app.reports.exports.text import json_text

    lines = ",\n".join(f"{json_text(key)}: {json_text(value)}" for key, value in page.as_dict().items())
    return f"{{\n{lines}\n}}\n".encode()
