"""`tachograph ingest`: logs into the store, and what became of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli import terminal
from app.cli.ingest_options import ingest_options, paths_to_read
from app.cli.options import ANY_PATH, db_option, flag, wait_option, with_examples
from app.queries.filters import parse_label
from app.text import ingests
from ingest import pipeline
from ingest.context.path_template import PathTemplate
from ingest.measurements.given import parse_given
from ingest.reading.known_sources import retried
from ingest.sources.files import Source
from ingest.sources.walking import ITS_NAME, Excluding, read_paths
from ingest.store.database import Store
from ingest.store.ingests import IngestOrigin
from ingest.system.arrow import import_arrow_alone
from ingest.system.command_lines import command_line, on_disk
from ingest.system.secrets import command_of
from schemas.catalogue.figures import MACHINE_RATE
from schemas.errors import ExitCode, InputUnreadable
from schemas.file_kinds import FileKind
from schemas.text import one_line, plural

if TYPE_CHECKING:
    from ingest.mapped.found import KnownMap
    from schemas.rows.source import RejectRow

REJECTS_SHOWN = 20


@with_examples(
    "ingest logs/",
    "ingest nightly/*.json --label branch=main --strict",
    "ingest runs/ --path-template 'runs/{repo}/{agent}/{timestamp}/{task}/*'",
    "ingest nightly/ --path-tz America/New_York",
    "ingest logs.tar.gz --json",
    "ingest ~/.claude ~/.codex",
    "ingest after.json --measure variant=candidate,run=6f9c2b",
    "ingest --retry-rejects --label branch=main",
    "ingest runs/ --exclude '*.tmp' --exclude cache/",
)
@click.argument("paths", nargs=-1, type=ANY_PATH, metavar="PATH...")
@db_option
@wait_option
@ingest_options
@flag(
    "--retry-rejects",
    (
        "Re-ingest files with rejects, e.g. after an upgrade. Repeat --label and --path-template "
        "for the new runs."
    ),
)
@flag("--strict", "Exit 1 if anything was rejected or nothing was found.")
@flag("--json", "as_json", "Print a JSON summary; `unread` lists files that could not be read.")
def ingest(
    paths: tuple[Path, ...],
    db: str,
    wait: float,
    *,
    strict: bool,
    as_json: bool,
    retry_rejects: bool,
    **how: Any,
) -> int:
    """Ingest logs into the store, in one transaction.

    PATH is a file, a folder or an archive; - is the standard input. Without PATH: the sessions that
    Claude Code, Codex, OpenCode, Cline, Roo Code and Kilo Code keep on this machine. Content
    decides, not the file name. Ingesting again changes nothing. Records that cannot be read are
    kept as rejects, with the reason; files that are not logs are ignored.
    """
    store = terminal.opened(Store(on_disk(db), wait, terminal.note_once()))
    with terminal.reported_interrupts(store):
        excluding = Excluding(how["excludes"])
        wanted = paths_to_read(paths, retries=retry_rejects)
        options = pipeline_options(retry_rejects=retry_rejects, **how)
        if retry_rejects:
            wanted = [*wanted, *_rejected(store)]
        with terminal.reading_progress() as bar:
            report = pipeline.ingest(_counted(wanted, bar, excluding), store, options, bar.advance)
        note_ingest(report, store.location, excluding.count)
        if options.template:
            named = [one.name for one in report.sources if one.accepted or one.duplicates]
            if line := ingests.by_template(options.template, named):
                terminal.note(one_line(line))
        if as_json:
            unread = [one_line(error.message) for error in report.unreadable]
            summary = report.as_dict() | ({"unread": unread} if unread else {})
            terminal.put(f"{json.dumps(summary, separators=(',', ':'))}\n".encode())
    if report.unreadable:
        return ExitCode.INPUT_UNREADABLE
    return (
        ExitCode.CHECK_FAILED
        if strict and (report.total("rejected") or not report.has_results)
        else ExitCode.OK
    )


def pipeline_options(
    *,
    labels: Sequence[str],
    path_template: str | None,
    jobs: int,
    prices: Path | None,
    measures: Sequence[str],
    no_text: bool,
    map_files: Sequence[Path],
    **how: Any,
) -> pipeline.Options:
    """Return the values of `ingest_options` as options of the pipeline. Raises UsageError."""
    price_file = None
    maps: tuple[KnownMap, ...] = ()
    if map_files:
        from ingest.mapped.found import read_map  # pydantic, too

        maps = tuple(map(read_map, map_files))
    if prices:
        from ingest.prices.price_file import read_price_file  # pydantic: few ingests have one

        price_file = read_price_file(prices)
    given = [*map(parse_label, labels)]
    if (rate := how.get("machine_rate")) is not None:
        given.append((MACHINE_RATE, f"{rate:f}"))
    return pipeline.Options(
        tuple(given),
        PathTemplate.parse(path_template) if path_template else None,
        jobs,
        how.get("retry_rejects", False),
        price_file,
        trust_file_times=how["trust_file_times"],
        path_zone=how["path_zone"],
        measure=parse_given(measures),
        origin=IngestOrigin(command=command_of(sys.argv[1:])),
        keeps_text=not no_text,
        maps=maps,
        prepare=import_arrow_alone,
    )


def _rejected(store: Store) -> tuple[Path, ...]:
    """Return the files to retry. Missing ones are reported with the folder that was searched."""
    found = retried(store)
    for name in found.gone:
        if name == ITS_NAME:
            terminal.note(f"{name} cannot be read again: to retry its rejects, pipe it in again")
            continue
        here = one_line(str(Path.cwd()))
        where = (
            "no longer there"
            if Path(name).is_absolute()
            else f"not in {here} (run this in the folder of the first ingest)"
        )
        terminal.note(f"{one_line(name)} is {where}: its rejects cannot be retried")
    return found.there


def _counted(
    paths: Sequence[Path], bar: terminal.ReadingBar, excluding: Excluding
) -> Iterator[Source | InputUnreadable]:
    """Yield the sources; all are listed first, so that the bar knows the total."""
    sources = list(read_paths(paths, excluding))
    bar.expect(len(sources), sum(source.size for source in sources if isinstance(source, Source)))
    yield from sources


def note_ingest(report: pipeline.IngestReport, location: str, excluded: int = 0) -> None:
    """Print the result of an ingest: totals, unreadable files, and rejects with reasons."""
    for error in report.unreadable:
        terminal.fail(error)
    for name in report.superseded.changed:
        terminal.note(
            f"{one_line(name)} changed since the last ingest: rejects of its earlier content "
            "were removed"
        )
    for name in report.superseded.grown:
        terminal.note(
            f"{one_line(name)} has grown since the last ingest: its earlier rejects were replaced"
        )
    if excluded:
        terminal.note(
            f"{plural(excluded, 'file')}, or folders of them, left out by --exclude or "
            ".tachographignore"
        )
    if not report.sources:
        terminal.note("No files found." if not report.unreadable else "Nothing ingested.")
        return
    counts = [f"{report.total(name):,} {name}" for name in ("accepted", "duplicates", "rejected")]
    known = sum(source.known for source in report.sources)
    before = f" ({known:,} unchanged)" if known else ""
    terminal.note(
        f"Ingested {plural(len(report.sources), 'file')}{before} in {report.seconds:.1f} s "
        f"into {one_line(location)}"
    )
    parts = " + ".join([*counts, ingests.no_results(report.total("ignored"))])
    terminal.note(f"{plural(report.total('documents'), 'document')} = {parts}")
    notes = (
        ingests.looped(report),
        ingests.measured(
            report.total("measurements"), sum(one.measurements > 0 for one in report.sources)
        ),
        ingests.judged(report.total("judgements")),
        ingests.without_variant(report.total("without_variant")),
        ingests.by_other_map([one for one in report.sources if one.has_other_map]),
        ingests.without_run([source for source in report.sources if source.without_run]),
        ingests.no_logs(report.no_logs),
        ingests.unread(report.unread),
        ingests.unmapped([one for one in report.sources if one.kind is FileKind.ROWS]),
    )
    for line in filter(None, notes):
        terminal.note(line)
    _note_rejects(
        [(source.name, reject) for source in report.sources for reject in source.rejects], location
    )
    if earlier := sum(source.rejected for source in report.sources if source.known):
        terminal.note(
            f"{plural(earlier, 'earlier reject')}. List them: "
            f"{one_line(command_line('rejects', location))}"
        )
    if known == len(report.sources):
        terminal.note(f"Nothing is new: {ingests.all_known(report.counts())}.")
    elif not report.has_results:
        _note_nothing_found(report)


def _note_nothing_found(report: pipeline.IngestReport) -> None:
    [first, *others] = report.sources
    is_alone = not others and first.kind in ingests.WORDS
    if rejected := report.total("rejected"):
        terminal.note(
            f"\nNo runs ingested: {plural(rejected, 'record')} rejected, none accepted.", fg="red"
        )
    else:
        terminal.note(
            f"\nNo runs in {one_line(first.name)}: it is {ingests.WORDS[first.kind]}."
            if is_alone
            else "\nNo runs found."
        )
    terminal.note(ingests.WHAT_IS_READ)


def _note_rejects(rejects: list[tuple[str, RejectRow]], location: str) -> None:
    if not rejects:
        return
    terminal.echo(f"\n{click.style(f'Rejected ({len(rejects):,})', bold=True)}:")
    for name, of_source in groupby(rejects[:REJECTS_SHOWN], key=itemgetter(0)):
        terminal.note(f"  {one_line(name)}")
        for _, reject in of_source:
            reason = click.style(str(reject.reason), fg="yellow")
            terminal.echo(f"    {one_line(reject.position)}: {reason}: {one_line(reject.detail)}")
    if len(rejects) > REJECTS_SHOWN:
        terminal.note(
            f"  … and {len(rejects) - REJECTS_SHOWN:,} more. List all: "
            f"{one_line(command_line('rejects', location))}"
        )
