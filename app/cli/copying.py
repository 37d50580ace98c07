"""`tachograph copy`: a store to another place, or its runs to other tools."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from app.cli import terminal
from app.cli.options import flag, utf8, wait_option, with_examples
from app.text.formatting import usd
from ingest.store.copying import copy_store
from ingest.store.database import Store
from schemas.errors import UsageError
from schemas.text import did_you_mean, one_line, plural

FORMATS = ("otlp", "atif")

"""Words before the colon of a copy for other tools."""


@with_examples(
    "copy runs.duckdb 'ducklake:postgres:dbname=runs'",
    "copy 'ducklake:postgres:dbname=runs' backup.duckdb",
    "copy runs.duckdb otlp:runs.jsonl",
    "copy runs.duckdb atif:trajectories",
)
@click.argument("source", metavar="FROM", callback=utf8)
@click.argument("target", metavar="TO", callback=utf8)
@flag("--with-text", "With otlp: and atif:, include prompts, summaries and error messages.")
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
    store = Store(source, wait, terminal.note_once())
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
        note = (
            f"Copied {plural(written.runs, 'run')}, {usd(written.cost_usd)}, to {one_line(target)}"
        )
        if written.replaced:
            earlier = f"the {plural(written.replaced, 'file')} of an earlier copy"
            note += f", in place of {'the file that was there' if form == 'otlp' else earlier}"
        terminal.note(note)
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

    with terminal.reported_interrupts(store):
        done = copy_store(store, target, wait, terminal.note_once())
    terminal.note(
        f"{one_line(Store(target).location)} has all {plural(done.runs, 'run')} of "
        f"{plural(done.sources, 'file')}, {usd(done.cost_usd)}: {done.rows:,} rows "
        f"of all tables agree ({done.copied_rows:,} copied now)."
    )
