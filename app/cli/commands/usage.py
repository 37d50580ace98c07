"""`tachograph usage`: what sessions used along time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from app.cli.options import TABLE, Output, Whole, Word, examples, keys_option, with_filters, with_output, with_store, zone_option
from app.queries.filters import Filters
from schemas.catalogue.usage import USAGE_DIMENSIONS
from schemas.errors import UsageError

if TYPE_CHECKING:
    from app.queries.reading import CheckedStore
    from app.queries.usage import Request

WEEK_STARTS = ("monday", "sunday")
BLOCK_HOURS = 5
"""As `app.queries.usage` has them, which costs an import of Arrow; a test compares them."""

_EXAMPLES = (
    "usage",
    "usage --by month,model --since 2026-01",
    "usage --by day --tz Europe/Berlin --json",
    "usage --by block --since yesterday",
    "usage --by session --agent claude-code -o sessions.csv",
    "usage --by tool",
)


@click.command(epilog=examples(*_EXAMPLES))
@keys_option("--by", USAGE_DIMENSIONS, "dimension", ("day",), "Group by; day if it is not given")
@zone_option("IANA time zone for days, weeks, months and hours, also of --since and --until.")
@click.option("--week-starts", type=Word(WEEK_STARTS), default=WEEK_STARTS[0], show_default=True, help="First day of a week.")
@click.option(
    "--session-length",
    "hours",
    type=Whole(1, 24 * 7),
    default=BLOCK_HOURS,
    show_default=True,
    metavar="HOURS",
    help="Length of a block, in hours.",
)
@click.option("--compact", is_flag=True, help="Few columns, for narrow terminals.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: rows, totals and notes.")
@with_filters
@with_output
@with_store
def usage(by: tuple[str, ...], zone: str, filters: Filters, output: Output, store: CheckedStore, **how: Any) -> None:
    """Show what sessions used: responses, tokens and cost per day, week, month, hour, session, block, project, model, tool or agent.

    Each billed response of a transcript counts once, at its own time. Runs without responses count with their totals, at the time
    they started. A block is a window of 5 hours, as subscriptions have it.

    --since and --until choose responses by their own time; all other filters choose runs.
    """
    from app.queries.usage import Request, without_period

    store.look_up(without_period(filters))  # what a period leaves out is told with the answer
    request = Request(filters, by, zone, how["week_starts"], how["hours"])
    if how["as_json"]:
        _put_document(store, request, output)
        return
    from app.cli.output import deliver
    from app.reports.usage import usage as answer

    deliver(answer(store, request, compact=how["compact"]), output)


def _put_document(store: CheckedStore, request: Request, output: Output) -> None:
    """Write the JSON object to standard output or into the file of -o."""
    if output.format not in (TABLE, "json"):
        raise UsageError(f"--json and the format {output.format} exclude each other.", "Leave one of them out.")
    from app.cli import terminal
    from app.cli.output import write_file
    from app.reports.usage import document

    body = document(store, request)
    if output.path is None:
        terminal.put_text(body)
        return
    write_file(output.path, body)
    terminal.note(f"Wrote {output.path}: {len(body):,} bytes")
