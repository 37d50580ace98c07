"""`tachograph show`: one run."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from app.cli import terminal
from app.cli.answering import Asked, answering, require_no_store_file
from app.cli.options import (
    WITH_TEXT,
    Output,
    flag,
    format_option,
    path_option,
    utf8,
    with_examples,
)
from app.cli.output import FILE_WIDTH, put_or_write, width
from app.queries.reading import read_transaction
from app.queries.run_page import latest, run_id_of, run_page
from app.reports.exports.text import json_text
from app.text.run_text import run_text
from ingest.system.command_lines import command_line
from schemas.errors import UsageError


@with_examples("show", "show 5e0c031e", "show 5e0c031e --format json", "show 5e0c031e --patch")
@click.argument(
    "run",
    required=False,
    metavar="[ID]",
    callback=lambda ctx, param, value: utf8(ctx, param, value or ""),
)
@format_option("json has all columns and exact numbers.", "json")
@path_option("Output file.")
@flag("--with-text", WITH_TEXT)
@flag(
    "--patch", "only_patch", "Print the patch of the run, exactly as it was kept, and nothing else."
)
@answering(filters=False, output=False)
def show(
    run: str, format_: str, path: Path | None, asked: Asked, *, with_text: bool, only_patch: bool
) -> None:
    """Show one run: where its money went, models, claims, findings, tools, files, summary, source.

    ID is the id of a run or its first 4 or more characters, as lists show it. Without ID: the run
    that was ingested last.
    """
    as_json = format_ == "json"
    if only_patch and as_json:
        raise UsageError(
            "--patch prints the patch alone.",
            "Leave out one of --patch and --format json, which has the patch too.",
        )
    require_no_store_file(asked.store, path)
    if not (only_patch or Output(format_, path, with_text).keeps_text):
        asked.store.leave_out_texts()
    with read_transaction(asked.store) as transaction:
        run_id = run_id_of(transaction, run) if run else latest(transaction)
        page = run_page(transaction, run_id) if run_id else None
    if page is None:
        terminal.note(f"No runs. Ingest with: {command_line('ingest PATH', asked.store.location)}")
        return
    if only_patch:
        if page.patch_text is None:
            raise UsageError(
                f"the store has no patch of run {run_id}.",
                "A patch is read from the folder of the run, as model_patch.diff; --no-text "
                "drops it.",
            )
        body = page.patch_text["text"].encode()
        if page.patch_text["is_cut"]:
            terminal.note(
                f"Only its first {len(body):,} of {page.patch_text['bytes']:,} bytes were kept."
            )
    elif as_json:  # one object, a column to a line
        lines = ",\n".join(
            f"{json_text(key)}: {json_text(value)}" for key, value in page.as_dict().items()
        )
        body = f"{{\n{lines}\n}}\n".encode()
    elif path is not None:
        body = run_text(page, FILE_WIDTH)
    else:
        is_terminal = sys.stdout.isatty()
        terminal.put(run_text(page, width(), sys.stdout.encoding or "utf-8", color=is_terminal))
        return
    put_or_write(body, path)
