"""`tachograph ingests` and `tachograph undo`: what was ingested when and by whom, and taking it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli import terminal
from app.cli.commands.annotate import confirm
from app.cli.options import Output, Whole, examples, with_output, with_store

if TYPE_CHECKING:
    from ingest.store.database import Store


@click.command(epilog=examples("ingests", "ingests --format json"))
@with_output
@with_store
def ingests(output: Output, store: Store) -> None:
    """List ingests: when, by whom, and what came in. Each can be undone."""
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.ingests(store), output)


@click.command(epilog=examples("undo", "undo 12 --yes", "undo --list"))
@click.argument("number", type=Whole(1), required=False, metavar="[INGEST]")
@click.option("--list", "listed", is_flag=True, help="List the ingests, newest first.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_store
def undo(number: int | None, store: Store, *, listed: bool, yes: bool) -> None:
    """Take an ingest back, by default the last one.

    The store then holds what the other ingests alone would have brought. Runs that another ingest also brought stay; so do labels,
    notes, stars and exclusions that people gave.
    """
    from app.text.words.undo import about_ingest, takes_back, took_back
    from ingest.store.undo import preview
    from ingest.store.undo import undo as take_back

    if listed:
        from app.cli.output import deliver
        from app.reports import results

        deliver(results.ingests(store), Output())
        return
    with terminal.told_interrupts(store):
        planned, ingest = preview(store, number)
        if not yes:
            confirm(f"{about_ingest(ingest)}. {takes_back(planned)}", "undo it")
        done = take_back(store, planned.ingest_id)
        terminal.note(took_back(done))
