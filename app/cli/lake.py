"""`tachograph lake`: a store that many machines write to."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta

import click

from app.cli import terminal
from app.cli.options import Whole, db_option, examples, flag, text_option, wait_option
from app.text.formatting import short
from ingest.store.lake import upkeep
from ingest.system.secrets import without_secrets
from schemas.text import one_line, plural
from schemas.units import Unit


@click.group(
    epilog=examples(
        "lake init --data s3://team/runs",
        "lake status --json",
        "lake compact",
        "lake expire --keep 30",
    ),
)
def lake() -> None:
    """Make and keep up a lake: a store that many machines write to at once.

    Its catalog lies in PostgreSQL, its data in Parquet files in an object storage or a shared
    folder. See docs/lake.md.
    """


@lake.command(
    epilog=examples("lake init --data s3://team/runs --db 'ducklake:postgres:dbname=runs'")
)
@text_option(
    "--data",
    default="",
    metavar="PLACE",
    help="s3://BUCKET/PREFIX or a shared folder.  [default: $TACHOGRAPH_LAKE_DATA]",
)
@db_option
def init(data: str, db: str) -> None:
    """Make a new lake. One that exists stays as it is."""
    is_new = upkeep.make_lake(db, data)
    terminal.note(
        f"{'Made' if is_new else 'There is already'} the lake {one_line(without_secrets(db))}"
    )


@lake.command(epilog=examples("lake status", "lake status --json"))
@flag("--json", "as_json", "Print one JSON object.")
@db_option
def status(db: str, *, as_json: bool) -> None:
    """Show tables, rows, files, sizes, snapshots and versions of a lake."""
    found = upkeep.status(db)
    if as_json:
        facts = asdict(found) | {"files": found.files, "bytes": found.bytes}
        terminal.put(f"{json.dumps(facts, default=str)}\n".encode())
    else:
        width = max(len(table.name) for table in found.tables)
        lines = [
            f"Lake       {found.location}",
            f"Data       {found.data_path}",
            f"Versions   DuckLake {found.ducklake_version}, tables {found.schema_version}",
            f"Files      {found.files:,} with {_size(found.bytes)}",
            (
                f"Snapshots  {found.snapshots:,} from {found.first:%Y-%m-%d %H:%M} to "
                f"{found.last:%Y-%m-%d %H:%M} UTC"
            ),
            "",
            f"{'Table':<{width}}  {'Rows':>12}  {'Files':>8}  {'Deletes':>8}  {'Size':>10}",
        ]
        lines += [
            (
                f"{table.name:<{width}}  {table.rows:>12,}  {table.files:>8,}  "
                f"{table.deletes:>8,}  {_size(table.bytes):>10}"
            )
            for table in found.tables
            if table.rows or table.files
        ]
        terminal.put("".join(f"{one_line(line)}\n" for line in lines).encode())


@lake.command(epilog=examples("lake compact"))
@wait_option
@db_option
def compact(db: str, wait: float) -> None:
    """Write small commits into files, merge small files, and remove files that nothing needs.

    Others may write meanwhile.
    """
    _note_upkeep("Compacted", upkeep.compact(db, wait, terminal.note_once()))


@lake.command(epilog=examples("lake expire", "lake expire --keep 365"))
@click.option(
    "--keep",
    type=Whole(1, 36_500),
    default=90,  # a quarter, so that its report can be made again
    show_default=True,
    metavar="DAYS",
    help="Days of history to keep.",
)
@wait_option
@db_option
def expire(keep: int, db: str, wait: float) -> None:
    """Drop old snapshots, and the files that only they need.

    Reports on times before them (--at) cannot be made any more.
    """
    _note_upkeep("Expired", upkeep.expire(db, timedelta(days=keep), wait, terminal.note_once()))


def _note_upkeep(what: str, done: upkeep.Upkeep) -> None:
    before, after = done.before, done.after
    terminal.note(
        f"{what} {one_line(after.location)}: {plural(before.files, 'file')} → {after.files:,}, "
        f"{_size(before.bytes)} → {_size(after.bytes)}, {plural(before.snapshots, 'snapshot')} → "
        f"{after.snapshots:,}; {plural(done.deleted, 'file')} deleted"
    )


def _size(size: int) -> str:

    return short(size, Unit.BYTES)
