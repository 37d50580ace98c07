"""`tachograph copy`: a whole store to another place."""

from __future__ import annotations

import click

from app.cli import terminal
from app.cli.options import examples, told_once, utf8, wait_option
from schemas.text import one_line, plural
from schemas.units import Unit


@click.command(
    epilog=examples("copy runs.duckdb 'ducklake:postgres:dbname=runs'", "copy 'ducklake:postgres:dbname=runs' backup.duckdb"),
)
@click.argument("source", metavar="FROM", callback=utf8)
@click.argument("target", metavar="TO", callback=utf8)
@wait_option
def copy(source: str, target: str, wait: float) -> None:
    """Copy a store to a new or empty one: from a file into a lake, or back.

    Every row of every table is compared at the end. After an interruption, the same command goes on where it stopped. A lake is made
    before, with `tachograph lake init`.
    """
    from app.text.formatting import human
    from ingest.store.copying import copy_store
    from ingest.store.database import Store

    store = Store(source, wait, told_once())
    with terminal.told_interrupts(store):
        done = copy_store(store, target, wait, told_once())
    terminal.note(
        f"{one_line(Store(target).location)} has all {plural(done.runs, 'run')} of {plural(done.sources, 'file')},"
        f" {human(done.cost_usd, Unit.USD)}: {done.rows:,} rows of all tables agree ({done.copied_rows:,} copied now)."
    )
