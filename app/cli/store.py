"""Commands about the store as a whole: rebuild, reprice, copy, lake, and the doctor."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli import terminal
from app.cli.ingest import prices_option
from app.cli.options import (
    NO_TEXT,
    Asked,
    Whole,
    answering,
    db_option,
    examples,
    told_once,
    utf8,
    wait_option,
)
from ingest.system.command_lines import command_line
from schemas.errors import ExitCode, UsageError
from schemas.text import did_you_mean, one_line, plural
from schemas.units import Unit

if TYPE_CHECKING:
    from ingest.store.lake.upkeep import Upkeep

FORMATS = ("otlp", "atif")
"""Words before the colon of a copy for other tools."""

KEPT_DAYS = 90
"""Days of history that `expire` keeps by default: a quarter, so that its report can be made again.
"""


@click.command(epilog=examples("rebuild", "rebuild --db runs.duckdb", "rebuild --no-text"))
@click.option(
    "--no-text", is_flag=True, help=f"Remove from the store what ingests kept: {NO_TEXT}."
)
@answering(filters=False, output=False)
def rebuild(asked: Asked, *, no_text: bool) -> None:
    """Rebuild all tables from the raw records.

    The store keeps the records, so no file is needed. Do this after an upgrade that changes the
    tables or reads records better. The old store is replaced only when the new one is complete.
    """
    store = asked.store
    with terminal.told_interrupts(store):
        from ingest.store.rebuild import rebuild as rebuild_store

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
            verb = "has" if done.unread == 1 else "have"
            terminal.note(
                f"{plural(done.unread, 'file')} {verb} rejects or no results, in which this "
                f"version may find some: {again}"
            )


@click.command(
    epilog=examples("reprice", "reprice --prices contract.toml", "reprice --no-price-file")
)
@prices_option
@click.option(
    "--no-price-file", "forget", is_flag=True, help="Remove the price file; use list prices only."
)
@answering(filters=False, output=False)
def reprice(prices: Path | None, asked: Asked, *, forget: bool) -> None:
    """Reprice all runs: after an upgrade of the price library, or with other prices.

    List prices come from the library genai-prices, per provider, region and day of the run; the
    store's price file overrides them. Costs are computed at ingest and kept; no record is read
    again. Later ingests use the same price file.
    """
    if prices and forget:
        raise click.UsageError("--prices and --no-price-file cannot be used together.")
    with terminal.told_interrupts(asked.store):
        from ingest.prices.price_file import read_price_file
        from ingest.store.pricing import reprice as reprice_store

        own = read_price_file(prices) if prices else None
        done = reprice_store(asked.store, own, forget=forget)
        terminal.note(f"Repriced {plural(done, 'run')} in {one_line(asked.store.location)}")


@click.command(
    epilog=examples(
        ("copy runs.duckdb "
"'ducklake:postgres:dbname=runs'"), ("copy 'ducklake:postgres:dbname=runs' "
"backup.duckdb"),
        "copy runs.duckdb otlp:runs.jsonl", "copy runs.duckdb atif:trajectories",
    ),
)  # fmt: skip
@click.argument("source", metavar="FROM", callback=utf8)
@click.argument("target", metavar="TO", callback=utf8)
@click.option(
    "--with-text",
    is_flag=True,
    help="With otlp: and atif:, include prompts, summaries and error messages.",
)
@wait_option
def copy(source: str, target: str, wait: float, *, with_text: bool) -> None:
    """Copy a store to a new or empty one, or its runs to a file for other tools.

    From a file into a lake, or back: every row of every table is compared at the end. After an
    interruption, the same command goes on where it stopped. A lake is made before, with `tachograph
    lake init`.

    otlp:FILE: runs as spans of OpenTelemetry (OTLP/JSON, one line per run; otlp:- is standard
    output). atif:FOLDER: runs as trajectories in Harbor's format ATIF, a file for each. A file is
    replaced, and so are an earlier copy's trajectories. A folder with other files is refused. See
    docs/handed-on.md.
    """
    from app.text.formatting import human
    from ingest.store.database import Store

    store = Store(source, wait, told_once())
    if target.startswith(tuple(f"{form}:" for form in FORMATS)):
        from app.cli.output import write_file
        from app.reports.handed_on import hand_on

        written = hand_on(
            store,
            target,
            terminal.put,
            partial(write_file, hint="Choose another file: otlp:FILE."),
            with_text=with_text,
        )
        form, _, place = target.partition(":")
        told = (
            f"Copied {plural(written.runs, 'run')}, {human(written.cost_usd, Unit.USD)}, to "
            f"{one_line(target)}"
        )
        if written.replaced:
            earlier = f"the {plural(written.replaced, 'file')} of an earlier copy"
            told += f", in place of {'the file that was there' if form == 'otlp' else earlier}"
        terminal.note(told)
        if written.list_priced:
            verb = "is a list price" if written.list_priced == 1 else "are list prices"
            terminal.note(f"{plural(written.list_priced, 'cost')} {verb}, and marked so")
        if written.by_request:
            verb = (
                "was priced request by request"
                if written.by_request == 1
                else "were priced request by request"
            )
            terminal.note(
                f"{plural(written.by_request, 'run')} {verb}: read back, list prices are "
                "those of the sums, and may differ"
            )
        if written.undated:
            of_otlp = "; the spans have the time 0" if form == "otlp" else ""
            terminal.note(f"{plural(written.undated, 'run')} without a date: no time{of_otlp}")
        return
    if with_text:
        raise click.UsageError(
            "--with-text is for otlp: and atif:. A store is copied with its texts."
        )
    form, colon, place = target.partition(":")
    known = (*FORMATS, "ducklake")
    if (
        colon
        and len(form) > 1
        and form not in known
        and (meant := did_you_mean(form, known))
        and not Path(target).exists()
    ):
        raise UsageError(
            f"nothing is copied to {one_line(form)}:",
            meant.replace("?", f":{one_line(place)}?").strip(),
        )
    from ingest.store.copying import copy_store

    with terminal.told_interrupts(store):
        done = copy_store(store, target, wait, told_once())
    terminal.note(
        f"{one_line(Store(target).location)} has all {plural(done.runs, 'run')} of "
        f"{plural(done.sources, 'file')}, {human(done.cost_usd, Unit.USD)}: {done.rows:,} rows "
        f"of all tables agree ({done.copied_rows:,} copied now)."
    )


@click.command(epilog=examples("doctor", "doctor --db runs.duckdb"))
@answering(filters=False, output=False)
def doctor(asked: Asked) -> ExitCode:
    """Check the installation and the store.

    Each problem comes with advice. A store that does not exist yet is not a problem.
    """
    from app.cli.doctor import examine

    findings = list(examine(asked.store))
    lines = []
    for finding in findings:
        state = "problem" if finding.advice else "ok"
        lines.append(f"{state:<8} {finding.subject:<11} {one_line(finding.found)}\n")
        lines += [f"{'':8} {'':11} → {one_line(finding.advice)}\n"] if finding.advice else []
    terminal.put("".join(lines).encode(sys.stdout.encoding or "utf-8", errors="replace"))
    return max(finding.exit_code for finding in findings)


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
@click.option(
    "--data",
    default="",
    metavar="PLACE",
    callback=utf8,
    help="s3://BUCKET/PREFIX or a shared folder.  [default: $TACHOGRAPH_LAKE_DATA]",
)
@db_option
def init(data: str, db: str) -> None:
    """Make a new lake. One that exists stays as it is."""
    from ingest.store.lake.upkeep import make_lake
    from ingest.system.secrets import without_secrets

    is_new = make_lake(db, data)
    terminal.note(
        f"{'Made' if is_new else 'There is already'} the lake {one_line(without_secrets(db))}"
    )


@lake.command(epilog=examples("lake status", "lake status --json"))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@db_option
def status(db: str, *, as_json: bool) -> None:
    """Show tables, rows, files, sizes, snapshots and versions of a lake."""
    from ingest.store.lake.upkeep import status as look

    found = look(db)
    if as_json:
        terminal.put(
            f"{json.dumps(asdict(found) | {'files': found.files, 'bytes': found.bytes}, default=str)}\n".encode()  # noqa: E501
        )
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
    from ingest.store.lake.upkeep import compact as keep_up

    _tell_upkeep("Compacted", keep_up(db, wait, told_once()))


@lake.command(epilog=examples("lake expire", "lake expire --keep 365"))
@click.option(
    "--keep",
    type=Whole(1, 36_500),
    default=KEPT_DAYS,
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
    from ingest.store.lake.upkeep import expire as keep_up

    _tell_upkeep("Expired", keep_up(db, timedelta(days=keep), wait, told_once()))


def _tell_upkeep(what: str, done: Upkeep) -> None:
    before, after = done.before, done.after
    terminal.note(
        f"{what} {one_line(after.location)}: {plural(before.files, 'file')} → {after.files:,}, "
        f"{_size(before.bytes)} → {_size(after.bytes)}, {plural(before.snapshots, 'snapshot')} → "
        f"{after.snapshots:,}; {plural(done.deleted, 'file')} deleted"
    )


def _size(size: int) -> str:
    from app.text.formatting import human

    return human(size, Unit.BYTES)
