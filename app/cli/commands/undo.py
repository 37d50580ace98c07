"""`tachograph ingests` and `tachograph undo`: what was ingested when and by whom, and taking it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from app.cli import terminal
from app.cli.commands.annotate import confirm
from app.cli.options import Output, Whole, examples, with_output, with_store
from schemas.text import one_line, plural

if TYPE_CHECKING:
    from ingest.store.database import Store
    from ingest.store.history.undo import Undone


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
    from ingest.store.history.undo import preview
    from ingest.store.history.undo import undo as take_back

    if listed:
        from app.cli.output import deliver
        from app.reports import results

        deliver(results.ingests(store), Output())
        return
    with terminal.told_interrupts(store):
        planned, ingest = preview(store, number)
        if not yes:
            confirm(f"{_about(ingest)}\n{_takes_back(planned)}")
        done = take_back(store, planned.ingest_id)
        terminal.note(f"Undid ingest {done.ingest_id}. {_took_back(done)}")


def _about(ingest: Mapping[str, Any]) -> str:
    by = f" by {one_line(ingest['who'])}" if ingest["who"] else ""
    what = f": {one_line(ingest['command'])}" if ingest["command"] else ""
    return f"Ingest {ingest['ingest_id']}, {ingest['finished_at']:%Y-%m-%d %H:%M} UTC{by}{what}"


def _takes_back(undone: Undone) -> str:
    return f"Undo removes {_counts(undone)}.{_staying(undone)}"


def _took_back(undone: Undone) -> str:
    return f"Removed {_counts(undone)}.{_staying(undone)}"


def _counts(undone: Undone) -> str:
    labelled = f", its labels for {plural(undone.labelled_files, 'file')}" if undone.labelled_files else ""
    rejected = f", {plural(undone.rejects, 'reject')}" if undone.rejects else ""
    return f"{plural(undone.gone, 'run')} of {plural(undone.files, 'file')}{rejected}{labelled}"


def _staying(undone: Undone) -> str:
    return f" {plural(undone.staying, 'run')} of another ingest {'stays' if undone.staying == 1 else 'stay'}." if undone.staying else ""
