"""`tachograph run`: an agent's command, recorded and ingested."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli.ingest_options import NO_TEXT
from app.cli.options import Seconds, Whole, examples, utf8, with_store
from schemas.errors import UsageError

if TYPE_CHECKING:
    from ingest.store.database import Store


def _dollars(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | None:
    """Callback of an option that takes an amount."""
    if value is None:
        return None
    from schemas.numbers import amount

    found = amount(value)
    if found is None or found <= 0:
        raise click.BadParameter(f"{value!r} is not an amount of US dollars above 0.", ctx, param)
    return found


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        'run -- claude -p "Make the tests faster" --output-format json',
        'run --label task=tests --max-usd 5 -- claude -p "Make the tests faster" --output-format json',
        'run --matrix model=opus,sonnet --repeat 3 -- claude -p "Make the tests faster" --model {model} --output-format json',
    ),
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND...")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", callback=utf8, help="Label for the runs. Repeatable.")
@click.option("--repeat", type=Whole(min=1), default=1, metavar="N", help="Run the command N times.")
@click.option(
    "--matrix",
    multiple=True,
    metavar="NAME=VALUE,...",
    callback=utf8,
    help="Run the command with each value in place of {NAME}; runs get the label NAME=VALUE. Repeatable: all combinations.",
)
@click.option("--keep-going", is_flag=True, help="Go on with the next run after one that failed.")
@click.option("--max-usd", metavar="USD", callback=_dollars, help="End a run that costs more.")
@click.option("--max-minutes", type=Seconds(min=0, min_open=True), metavar="MINUTES", help="End a run that takes longer.")
@click.option(
    "--grace", type=Seconds(min=0), default=10, show_default=True, metavar="SECONDS", help="Time for a run to end before it is killed."
)
@click.option(
    "--keep",
    envvar="TACHOGRAPH_RUNS",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder for the logs of runs.  [default: $TACHOGRAPH_RUNS, else ~/.local/share/tachograph/runs]",
)
@click.option("--no-text", is_flag=True, help=f"Keep figures only in the store: {NO_TEXT}.")
@click.option("--quiet", is_flag=True, help="Say nothing on standard error; problems are told nevertheless.")
@with_store
def run(command: tuple[str, ...], labels: Sequence[str], store: Store, **options: Any) -> int:
    """Run an agent's command, record it and ingest its record.

    The agent's input, output, exit code and signals pass through untouched. Recorded are start, end, folder, host, git commit and patch,
    labels, and the standard output, whose record is ingested when the agent ends. A run without a record is kept with its duration
    and exit code.

    --max-usd and --max-minutes use the agent's own option where it has one, else SIGTERM and after --grace SIGKILL. Several runs stop at
    the first that fails; the exit code is the highest.
    """
    if os.name != "posix":
        raise UsageError("tachograph run needs a POSIX system.", "Run the agent by itself, and ingest its log: tachograph ingest LOG")
    from app.cli.agent_runs import How, run_agents
    from app.queries.filters import parse_label
    from app.runner.limits import Limits
    from app.runner.recording import usual_folder
    from ingest.system.secrets import command_of

    limits = Limits(options["max_usd"], options["max_minutes"], options["grace"])
    keep, keeps_text = options["keep"] or usual_folder(), not options["no_text"]
    called_as = command_of([*sys.argv[1 : -len(command)], command[0], "…"])  # what the agent is told is text of the run
    how = How(dict(map(parse_label, labels)), keep, limits, options["keep_going"], options["quiet"], keeps_text, called_as)
    return run_agents(command, options["matrix"], options["repeat"], store, how)
