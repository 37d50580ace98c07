"""`tachograph rebuild` and `reprice`: tables and costs made again from what the store keeps."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli import terminal
from app.cli.answering import Asked, answering
from app.cli.ingest_options import prices_option
from app.cli.options import NO_TEXT, flag, with_examples
from ingest.prices.price_file import read_price_file
from ingest.store.pricing import reprice as reprice_store
from ingest.store.rebuild import rebuild as rebuild_store
from ingest.system.command_lines import command_line
from schemas.text import agreeing, one_line, plural


@with_examples("rebuild", "rebuild --db runs.duckdb", "rebuild --no-text")
@flag("--no-text", f"Remove from the store what ingests kept: {NO_TEXT}.")
@answering(filters=False, output=False)
def rebuild(asked: Asked, *, no_text: bool) -> None:
    """Rebuild all tables from the raw records.

    The store keeps the records, so no file is needed. Do this after an upgrade that changes the
    tables or reads records better. The old store is replaced only when the new one is complete.
    """
    store = asked.store
    with terminal.reported_interrupts(store):
        with terminal.progress("Rebuilding") as on_progress:
            done = rebuild_store(store, on_progress, keeps_text=not no_text)
        terminal.note(f"Rebuilt {plural(done.runs, 'run')} in {one_line(store.location)}")
        if done.rejects:
            listed = one_line(command_line("rejects", store.location))
            terminal.note(
                f"{plural(done.rejects, 'record')} can no longer be read and became rejects: "
                f"{listed}"
            )
        for table, rows in done.left.items():
            terminal.note(
                f"{plural(rows, 'row')} of the table {table} could not be taken over from "
                "that version. Ingest their files again."
            )
        if done.unread:
            again = one_line(command_line("ingest --retry-rejects", store.location))
            verb = agreeing(done.unread, "has")
            terminal.note(
                f"{plural(done.unread, 'file')} {verb} rejects or no results, in which this "
                f"version may find some: {again}"
            )


@with_examples("reprice", "reprice --prices contract.toml", "reprice --no-price-file")
@prices_option
@flag("--no-price-file", "forget", "Remove the price file; use list prices only.")
@answering(filters=False, output=False)
def reprice(prices: Path | None, asked: Asked, *, forget: bool) -> None:
    """Reprice all runs: after an upgrade of the price library, or with other prices.

    List prices come from the library genai-prices, per provider, region and day of the run; the
    store's price file overrides them. Costs are computed at ingest and kept; no record is read
    again. Later ingests use the same price file.
    """
    if prices and forget:
        raise click.UsageError("--prices and --no-price-file cannot be used together.")
    with terminal.reported_interrupts(asked.store):
        own = read_price_file(prices) if prices else None
        done = reprice_store(asked.store, own, forget=forget)
        terminal.note(f"Repriced {plural(done, 'run')} in {one_line(asked.store.location)}")
