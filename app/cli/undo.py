"""`tachograph undo`: an ingest taken back."""

from __future__ import annotations

import click

from app.cli import terminal
from app.cli.annotate import confirm
from app.cli.answering import Asked, answering
from app.cli.options import Output, Whole, flag, with_examples
from app.cli.output import deliver
from app.reports import results
from app.text.ingests import about_ingest, takes_back, took_back
from ingest.store.undo import preview
from ingest.store.undo import undo as take_back


@with_examples("undo", "undo 12 --yes", "undo --list")
@click.argument("number", type=Whole(1), required=False, metavar="[INGEST]")
@flag("--list", "listed", "List the ingests, newest first.")
@flag("--yes", "Do not ask.")
@answering(filters=False, output=False)
def undo(number: int | None, asked: Asked, *, listed: bool, yes: bool) -> None:
    """Take an ingest back, by default the last one.

    The store then holds what the other ingests alone would have brought. Runs that another ingest
    also brought stay; so do labels, notes, stars and exclusions that people gave.
    """
    if listed:
        deliver(results.ingests(asked.store), Output())
        return
    with terminal.reported_interrupts(asked.store):
        planned, ingest = preview(asked.store, number)
        if not yes:
            confirm(f"{about_ingest(ingest)}. {takes_back(planned)}", "undo it")
        done = take_back(asked.store, planned.ingest_id)
        terminal.note(took_back(done))
