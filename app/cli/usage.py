"""`tachograph usage`: responses, tokens and cost along time."""

from __future__ import annotations

import click

from app.cli.answering import Asked, answering
from app.cli.options import (
    TABLE,
    Whole,
    Word,
    flag,
    keys_option,
    with_examples,
    zone_option,
)
from app.cli.output import deliver, put_or_write
from app.queries.filters import without_period
from app.queries.usage import HOURS, WEEK_STARTS, UsageRequest
from app.reports.usage import document
from app.reports.usage import usage as answer
from schemas.catalogue.usage import USAGE_DIMENSIONS
from schemas.errors import UsageError


@with_examples(
    "usage",
    "usage --by month,model --since 2026-01",
    "usage --by day --tz Europe/Berlin --json",
    "usage --by block --since yesterday",
    "usage --by session --agent claude-code -o sessions.csv",
    "usage --by tool",
)
@keys_option("--by", USAGE_DIMENSIONS, "dimension", ("day",), "Group by; day if it is not given")
@zone_option("IANA time zone for days, weeks, months and hours, also of --since and --until.")
@click.option(
    "--week-starts",
    type=Word(WEEK_STARTS),
    default=WEEK_STARTS[0],
    show_default=True,
    help="First day of a week.",
)
@click.option(
    "--session-length",
    "hours",
    type=Whole(1, 24 * 7),
    default=HOURS,
    show_default=True,
    metavar="HOURS",
    help="Length of a block, in hours.",
)
@flag("--compact", "Few columns, for narrow terminals.")
@flag("--json", "as_json", "Print one JSON object: rows, totals and notes.")
@answering()
def usage(
    by: tuple[str, ...],
    zone: str,
    week_starts: str,
    hours: int,
    asked: Asked,
    *,
    compact: bool,
    as_json: bool,
) -> None:
    """Show what sessions used.

    Responses, tokens and cost per day, week, month, hour, session, block, project, model, tool or
    agent.

    Each billed response of a transcript counts once, at its own time. Runs without responses count
    with their totals, at the time they started. A block is a window of 5 hours, as subscriptions
    have it.

    --since and --until choose responses by their own time; all other filters choose runs.
    """
    # the answer itself says what a period leaves out
    asked.store.look_up(without_period(asked.filters))
    request = UsageRequest(asked.filters, by, zone, week_starts, hours)
    if not as_json:
        deliver(answer(asked.store, request, compact=compact), asked.output)
        return
    if asked.output.format not in (TABLE, "json"):
        raise UsageError(
            f"--json and the format {asked.output.format} exclude each other.",
            "Leave one of them out.",
        )
    put_or_write(document(asked.store, request), asked.output.path)
