"""`tachograph run`: an agent's command, recorded and ingested.

Only this module imports `app.runner`.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli import terminal
from app.cli.answering import Asked, answering
from app.cli.ingest_options import label_option
from app.cli.options import (
    FOLDER,
    NO_TEXT,
    Seconds,
    Whole,
    dollars,
    examples,
    flag,
    text_option,
)
from ingest.system.command_lines import command_line
from schemas.errors import TachographError, UsageError
from schemas.text import one_line, paired

if TYPE_CHECKING:
    from app.runner.launch import Recorded
    from ingest.store.database import Store


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        'run -- claude -p "Make the tests faster" --output-format json',
        (
            'run --label task=tests --max-usd 5 -- claude -p "Make the tests faster" '
            "--output-format json"
        ),
        (
            'run --matrix model=opus,sonnet --repeat 3 -- claude -p "Make the tests faster" '
            "--model {model} --output-format json"
        ),
    ),
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND...")
@label_option("Label for the runs. Repeatable.")
@click.option(
    "--repeat", type=Whole(min=1), default=1, metavar="N", help="Run the command N times."
)
@text_option(
    "--matrix",
    multiple=True,
    metavar="NAME=VALUE,...",
    help=(
        "Run the command with each value in place of {NAME}; runs get the label NAME=VALUE. "
        "Repeatable: all combinations."
    ),
)
@flag("--keep-going", "Go on with the next run after one that failed.")
@click.option("--max-usd", metavar="USD", callback=dollars, help="End a run that costs more.")
@click.option(
    "--max-minutes",
    type=Seconds(min=0, min_open=True),
    metavar="MINUTES",
    help="End a run that takes longer.",
)
@click.option(
    "--grace",
    type=Seconds(min=0),
    default=10,
    show_default=True,
    metavar="SECONDS",
    help="Time for a run to end before it is killed.",
)
@click.option(
    "--keep",
    envvar="TACHOGRAPH_RUNS",
    type=FOLDER,
    metavar="FOLDER",
    help=(
        "Folder for the logs of runs.  [default: $TACHOGRAPH_RUNS, else "
        "~/.local/share/tachograph/runs]"
    ),
)
@flag("--no-text", f"Keep figures only in the store: {NO_TEXT}.")
@flag("--quiet", "Say nothing on standard error; problems are told nevertheless.")
@answering(filters=False, output=False)
def run(command: tuple[str, ...], labels: Sequence[str], asked: Asked, **options: Any) -> int:
    """Run an agent's command, record it and ingest its record.

    The agent's input, output, exit code and signals pass through untouched. Recorded are start,
    end, folder, host, git commit and patch, labels, and the standard output, whose record is
    ingested when the agent ends. A run without a record is kept with its duration and exit code.

    --max-usd and --max-minutes use the agent's own option where it has one, else SIGTERM and after
      --grace SIGKILL. Several runs stop at
    the first that fails; the exit code is the highest.
    """
    if os.name != "posix":
        raise UsageError(
            "tachograph run needs a POSIX system.",
            "Run the agent by itself, and ingest its log: tachograph ingest LOG",
        )
    from app.queries.filters import parse_label
    from app.runner.launch import EXPERIMENT, LaunchOrder, cells, launch, parse_axes, usual_folder
    from app.runner.limits import Limits
    from ingest.system.secrets import command_of

    limits = Limits(options["max_usd"], options["max_minutes"], options["grace"])
    keep, store = options["keep"] or usual_folder(), asked.store
    called_as = command_of(
        [*sys.argv[1 : -len(command)], command[0], "…"]
    )  # the words for the agent are text of the run
    given = dict(map(parse_label, labels))
    runs = list(cells(command, parse_axes(options["matrix"]), options["repeat"]))
    if len(runs) > 1:  # a name for the runs of one call, where nobody gives one
        given = {
            EXPERIMENT: f"{paired(Path(command[0]).name)} {datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
        } | given
    worst = 0
    for number, cell in enumerate(runs, 1):
        ended = launch(LaunchOrder(cell.command, given | cell.labels, keep, limits, store.owns))
        which = f"run {number} of {len(runs)}: " if len(runs) > 1 else ""
        _ingest(
            ended,
            store,
            which,
            called_as,
            quiet=options["quiet"],
            keeps_text=not options["no_text"],
        )
        worst = max(worst, ended.exit_code)
        if ended.signalled or (ended.exit_code and not options["keep_going"]):
            if number < len(runs):
                from app.text.ingests import stopped_words

                _note(stopped_words(number, len(runs), ended.launch, is_signalled=ended.signalled))
            break
    return worst


def _ingest(
    ended: Recorded, store: Store, which: str, called_as: str, *, quiet: bool, keeps_text: bool
) -> None:
    """Ingest a run that has ended and summarise it in a line.

    Problems are reported but never change the exit code.
    """
    if not ended.folder.exists():
        for note in ended.notes:
            _note(note)
        return
    from app.queries.run_page import run_page
    from app.text.ingests import ended_words
    from ingest.pipeline import Options, ingest
    from ingest.sources.walking import read_paths
    from ingest.store.ingests import IngestOrigin

    page, problem = None, ""
    try:
        report = ingest(
            read_paths([ended.folder]),
            store,
            Options(jobs=1, origin=IngestOrigin(command=called_as), keeps_text=keeps_text),
        )
        problem = "" if report.has_runs else "its record was rejected"
        ids = [run_id for source in report.sources for run_id in source.run_ids]
    except TachographError as error:
        problem, ids = f"not ingested: {error.message}", []
    except (
        Exception,
        KeyboardInterrupt,
    ) as error:  # the agent has ended: what fails now is noted, and its exit code stays
        problem, ids = f"not ingested: {str(error) or type(error).__name__}", []
    if problem or not quiet:
        try:
            page = run_page(store, ids[0]) if ids else None
        except TachographError:
            page = None
        is_at_odds = page is not None and "exit_code" in page.facts.findings["rule"].to_pylist()
        notes = "; ".join([*ended.notes, *([problem] if problem else [])])
        _note(
            which
            + one_line(
                ended_words(
                    ended.launch,
                    page.run if page else {},
                    store.location,
                    notes,
                    is_at_odds=is_at_odds,
                )
            )
        )
    if problem:
        again = f"ingest {shlex.quote(str(ended.folder))}{'' if keeps_text else ' --no-text'}"
        _note(f"the record is kept. Ingest it: {one_line(command_line(again, store.location))}")


def _note(text: str) -> None:
    terminal.note(f"tachograph: {terminal.short(text)}")
