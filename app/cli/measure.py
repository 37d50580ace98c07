"""`tachograph measure`: baseline and candidate, run in turns."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from app.cli import terminal
from app.cli.answering import Asked, answering
from app.cli.options import FILE, FOLDER, Seconds, Whole, Word, examples, flag, text_option, utf8
from ingest.store.ingests import IngestOrigin
from ingest.system.secrets import command_of
from ingest.system.signals import received
from schemas.errors import ExitCode, UsageError
from schemas.text import one_line
from schemas.units import Better

_COMMAND = "command after --"


class _WithCommand(click.Command):
    """A command that leaves everything after `--` to another one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_COMMAND] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "-- COMMAND..."]


def _percent(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Parse `2%` or `0.02` as a share above 0 and below 1 (callback)."""
    if value is None:
        return None
    try:
        share = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise click.BadParameter(f"{value!r} is no share such as 2% or 0.02.", ctx, param)
    return share


@click.command(
    cls=_WithCommand,
    epilog=examples(
        "measure 5e0c031e -- python bench.py",
        "measure 5e0c031e --check 'pytest -q' -- pytest benchmarks/ --benchmark-json={out}",
        "measure --repo . --baseline main --candidate faster --max-minutes 10 -- python bench.py",
    ),
)
@click.argument("run", required=False, metavar="[RUN]", callback=utf8)
@click.option(
    "--repo",
    type=FOLDER,
    default=".",
    metavar="DIR",
    help="The repository.  [default: .]",
)
@text_option(
    "--baseline",
    metavar="REV",
    help="Revision of the baseline.  [default: the commit that RUN started from]",
)
@text_option("--candidate", metavar="REV", help="Revision of the candidate.")
@click.option(
    "--patch",
    type=FILE,
    metavar="FILE",
    help="Candidate: the baseline with this patch.",
)
@text_option(
    "--setup", metavar="CMD", help="Shell command to run first in each work tree, such as a build."
)
@text_option(
    "--check", metavar="CMD", help="Shell command to check each work tree, such as its tests."
)
@click.option(
    "--runs",
    type=Whole(min=4, max=1000),
    metavar="N",
    help="Run each side N times, instead of planning it from the noise.",
)
@click.option(
    "--until",
    callback=_percent,
    metavar="SHARE",
    help="Run until the 95% interval is as narrow as ± this, such as 2%.",
)
@click.option(
    "--max-minutes",
    type=Seconds(min=0, min_open=True),
    metavar="MINUTES",
    help="End after so long, with what there is.",
)
@text_option(
    "--metric",
    metavar="NAME",
    help="Figure of the benchmark's output.  [default: its main one, else wall time]",
)
@text_option(
    "--regex", metavar="REGEX", help="Pattern of a figure in the output; its group is the number."
)
@text_option("--unit", metavar="UNIT", help="Unit of that number, such as ms or req/s.")
@click.option(
    "--better",
    type=Word(("lower", "higher")),
    help="Which way is better, where the unit does not say it.",
)
@click.option(
    "--fail-if",
    multiple=True,
    type=Word(("slower", "inside-noise", "promised-more", "failed")),
    help="Exit with 1 then. Repeatable.",
)
@flag("--json", "as_json", "Print the figures as JSON.")
@click.option(
    "--keep",
    envvar="TACHOGRAPH_MEASURED",
    type=FOLDER,
    metavar="FOLDER",
    help=(
        "Folder for results.  [default: $TACHOGRAPH_MEASURED, else "
        "~/.local/share/tachograph/measured]"
    ),
)
@answering(filters=False, output=False)
def measure(
    run: str | None,
    asked: Asked,
    *,
    fail_if: Sequence[str],
    as_json: bool,
    keep: Path | None,
    **how: Any,
) -> int:
    """Measure a change: run its benchmark on baseline and candidate, in turns, until decided.

    RUN is a run with a patch: its base commit is the baseline, with its patch it is the candidate,
    and its claim is put beside the result. Without RUN, --baseline and --candidate or --patch say
    it. COMMAND is run in a work tree of each; {out} in it is a file that a benchmark tool writes,
    and otherwise its wall time is measured.

    First the baseline runs against itself, which shows the noise. The result is stored with the
    measurements, and kept as a file. Your checkout is not touched. Ctrl-C ends it with what was
    measured. docs/measure.md explains the verdicts.
    """
    if os.name != "posix":
        raise UsageError(
            "tachograph measure needs a POSIX system.",
            "Measure there, and ingest the file that it writes.",
        )
    from app.runner.measure import Procedure  # scipy is optional, and takes a second
    from app.runner.verify import subject_of, verify

    command = tuple(click.get_current_context().meta[_COMMAND])
    subject = subject_of(
        asked.store, run, how["repo"], how["baseline"], how["candidate"], how["patch"]
    )
    options = {
        name: how[name]
        for name in ("setup", "check", "runs", "until", "max_minutes", "metric", "regex", "unit")
    }
    procedure = Procedure(
        command, **options, better=Better(how["better"]) if how["better"] else None
    )
    origin = IngestOrigin(
        command=command_of([*sys.argv[1 : len(sys.argv) - len(command)], *command[:1], "…"])
    )
    with terminal.progress("Measuring") as advance:
        done = verify(asked.store, subject, procedure, keep, origin, terminal.note, advance)
    if as_json:
        terminal.put(f"{json.dumps(done.as_dict(), indent=1)}\n".encode())
    elif done.verdict == "not_measured":
        terminal.note("Nothing is kept: it ended before two blocks of the comparison were done.")
    else:
        terminal.put_text("".join(f"{line}\n" for line in done.words()).encode())
    if done.file:
        terminal.note(f"Kept in {one_line(str(done.file))}")
    if done.problem:
        terminal.note(one_line(done.problem))
    if done.made.ended_by == "interrupted":
        return 128 + int(received())
    claim = done.claim.get("claim_verdict")
    promised = "promised-more" if claim in ("over_claimed", "wrong_sign") else ""
    is_failed = bool({str(done.verdict).replace("_", "-"), promised} & set(fail_if))
    return ExitCode.CHECK_FAILED if is_failed or done.verdict == "not_measured" else ExitCode.OK
