"""`tachograph ingest`: its options (shared with `watch`), paths to read, and summary of results."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli import terminal
from app.cli.options import NO_TEXT, Whole, examples, store_option, utf8
from ingest.system.command_lines import command_line
from schemas.errors import ExitCode, UsageError
from schemas.text import one_line, plural

if TYPE_CHECKING:
    from ingest.pipeline import IngestReport, Options
    from ingest.sources.files import Source
    from ingest.sources.walking import Excluding
    from ingest.store.database import Store
    from schemas.errors import InputUnreadable
    from schemas.rows.source import RejectRow

REJECTS_SHOWN = 20

prices_option = click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=(
        "Price file (TOML) that overrides list prices: contracts, discounts, local models. Kept "
        "in the store."
    ),
)


def _zone_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    """Return the IANA name of a time zone, or "" for none (callback)."""
    from app.queries.grouping import known_zone

    name = utf8(ctx, param, value) or ""
    try:
        return known_zone(name).key if name else ""
    except UsageError as error:
        raise click.BadParameter(f"{error.message} {error.hint}", ctx, param) from error


exclude_option = click.option(
    "--exclude",
    "excludes",
    multiple=True,
    metavar="GLOB",
    callback=utf8,
    help=(
        "Leave out files and folders, as a line of .gitignore does: '*.tmp', cache/, /old. "
        "Repeatable. So does a file .tachographignore."
    ),
)

_OPTIONS = (
    click.option(
        "--label",
        "labels",
        multiple=True,
        metavar="KEY=VALUE",
        callback=utf8,
        help="Label for all ingested runs. Repeatable.",
    ),
    click.option(
        "--path-template",
        metavar="TEMPLATE",
        callback=utf8,
        help=(
            "Extract fields from the end of each path: {repo}, {task}, {experiment}, "
            "{timestamp}; other names become labels."
        ),
    ),
    click.option(
        "--path-tz",
        "path_zone",
        metavar="ZONE",
        callback=_zone_name,
        help="IANA time zone of times in file and folder names.  [default: UTC]",
    ),
    click.option(
        "--measure",
        "measures",
        multiple=True,
        metavar="KEY=VALUE,...",
        callback=utf8,
        help=(
            "What benchmark results do not say themselves: variant, unit, better, task, commit, "
            "agent, run ... See docs/measured.md."
        ),
    ),
    click.option(
        "--trust-file-times",
        is_flag=True,
        help="Date runs without another date by their file: the agent wrote it there, as in CI.",
    ),
    exclude_option,
    click.option("--no-text", is_flag=True, help=f"Keep figures only: {NO_TEXT}."),
    click.option(
        "--jobs",
        type=Whole(min=0),
        default=0,
        metavar="N",
        help="Number of worker processes.  [default: CPU count]",
    ),
    prices_option,
)


def ingest_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add labels, template, zone and the like, passed by the names of `pipeline_options`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(
    epilog=examples(
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
)
@click.argument(
    "paths", nargs=-1, type=click.Path(readable=False, path_type=Path), metavar="PATH..."
)
@store_option
@ingest_options
@click.option(
    "--retry-rejects",
    is_flag=True,
    help=(
        "Re-ingest files with rejects, e.g. after an upgrade. Repeat --label and --path-template "
        "for the new runs."
    ),
)
@click.option(
    "--strict", is_flag=True, help="Exit 1 if anything was rejected or nothing was found."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print a JSON summary; `unread` lists files that could not be read.",
)
def ingest(
    paths: tuple[Path, ...],
    store: Store,
    *,
    strict: bool,
    as_json: bool,
    retry_rejects: bool,
    **how: Any,
) -> int:
    """Ingest logs into the store, in one transaction.

    PATH is a file, a folder or an archive; - is the standard input. Without PATH: the sessions that
    Claude Code and Codex keep on this machine. Content decides, not the file name. Ingesting again
    changes nothing. Records that cannot be read are kept as rejects, with the reason; files that
    are not logs are ignored.
    """
    with terminal.told_interrupts(store):
        from ingest import pipeline
        from ingest.sources.walking import Excluding

        excluding = Excluding(how["excludes"])
        wanted = paths_to_read(paths, retries=retry_rejects)
        options = pipeline_options(retry_rejects=retry_rejects, **how)
        if retry_rejects:
            wanted = [*wanted, *_rejected(store)]
        with terminal.reading_progress() as bar:
            report = pipeline.ingest(_counted(wanted, bar, excluding), store, options, bar.advance)
        tell_ingest(report, store.location, excluding.count)
        if options.template:
            from app.text.ingests import by_template

            if said := by_template(
                options.template,
                [source.name for source in report.sources if source.accepted or source.duplicates],
            ):
                terminal.note(one_line(said))
        if as_json:
            unread = [one_line(error.message) for error in report.unreadable]
            terminal.put(
                f"{json.dumps(report.as_dict() | ({'unread': unread} if unread else {}), separators=(',', ':'))}\n".encode()  # noqa: E501
            )
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
    **how: Any,
) -> Options:
    """Return the values of `ingest_options` as options of the pipeline. Raises UsageError."""
    from app.queries.filters import parse_label
    from ingest.context.path_template import PathTemplate
    from ingest.measurements.given import parse_given
    from ingest.pipeline import Options
    from ingest.store.ingests import Origin
    from ingest.system.arrow import import_arrow_alone
    from ingest.system.secrets import command_of

    price_file = None
    if prices:
        from ingest.prices.price_file import read_price_file

        price_file = read_price_file(prices)
    return Options(
        tuple(map(parse_label, labels)),
        PathTemplate.parse(path_template) if path_template else None,
        jobs,
        how.get("retry_rejects", False),
        price_file,
        trust_file_times=how["trust_file_times"],
        path_zone=how["path_zone"],
        measure=parse_given(measures),
        origin=Origin(command=command_of(sys.argv[1:])),
        keeps_text=not no_text,
        prepare=import_arrow_alone,
    )


def paths_to_read(paths: Sequence[Path], *, retries: bool) -> Sequence[Path]:
    """Return the paths to read.

    By default the sessions on this machine, unless rejects are retried. Raises UsageError without
    any.
    """
    from ingest.agents.homes import only_sessions, session_folders

    if paths or retries:
        return only_sessions(paths)
    if not (found := session_folders()):
        raise UsageError(
            "Nothing to ingest: Claude Code and Codex have no sessions on this machine.",
            (
                "Name a file or a folder: tachograph ingest PATH. Sessions elsewhere: set "
                "$CLAUDE_CONFIG_DIR or $CODEX_HOME."
            ),
        )
    terminal.note(f"reading sessions in {', '.join(one_line(str(folder)) for folder in found)}")
    return found


def _rejected(store: Store) -> tuple[Path, ...]:
    """Return the files to retry. Missing ones are reported with the folder that was searched."""
    from ingest.reading.known_sources import retried
    from ingest.sources.walking import ITS_NAME

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
    from ingest.sources.files import Source
    from ingest.sources.walking import read_paths

    sources = list(read_paths(paths, excluding))
    bar.expect(len(sources), sum(source.size for source in sources if isinstance(source, Source)))
    yield from sources


def tell_ingest(report: IngestReport, location: str, excluded: int = 0) -> None:
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
    from app.text import ingests

    counts = [f"{report.total(name):,} {name}" for name in ("accepted", "duplicates", "rejected")]
    known = sum(source.known for source in report.sources)
    before = f" ({known:,} unchanged)" if known else ""
    terminal.note(
        f"Ingested {plural(len(report.sources), 'file')}{before} in {report.seconds:.1f} s "
        f"into {one_line(location)}"
    )
    parts = " + ".join([*counts, ingests.no_results(report.total("ignored"))])
    terminal.note(f"{plural(report.total('documents'), 'document')} = {parts}")
    told = (
        ingests.looped(report),
        ingests.measured(report.total("measurements"), report.measured_files),
        ingests.without_variant(report.total("without_variant")),
        ingests.without_run([source for source in report.sources if source.without_run]),
        ingests.no_logs(report.no_logs),
        ingests.unread(report.unread),
    )
    for said in filter(None, told):
        terminal.note(said)
    _tell_rejects(
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
        _tell_nothing_found(report)


def _tell_nothing_found(report: IngestReport) -> None:
    from app.text import ingests

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


def _tell_rejects(rejects: list[tuple[str, RejectRow]], location: str) -> None:
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
