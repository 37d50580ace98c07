"""`tachograph check`: budgets for continuous integration."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import TYPE_CHECKING

import click

from app.cli import terminal
from app.cli.options import Word, examples, with_budgets, with_filters, with_store, zone_option
from app.queries.filters import Filters
from schemas.catalogue.cost_measures import COST_MEASURES, REPORTED
from schemas.errors import ExitCode
from schemas.text import one_line

if TYPE_CHECKING:
    from ingest.store.database import Store

CHECK_FORMATS = ("table", "md", "json")


@click.command(
    epilog=examples(
        "check --max-total-usd 50 --max-run-usd 5",
        "check --budgets budgets.toml",
        "check --max-day-usd 20 --tz Europe/Berlin --since 2026-11-01",
        'check --max-error-rate 10% --min-runs 1 --format md >> "$GITHUB_STEP_SUMMARY"',
    )
)
@with_budgets
@zone_option("IANA time zone for days, also of --since and --until.")
@click.option(
    "--cost",
    type=Word(tuple(COST_MEASURES)),
    default=REPORTED.key,
    show_default=True,
    help="What budgets count: cost as reported, at list prices, or as best known (reported, else list).",
)
@click.option("--allow-empty", is_flag=True, help="Pass if no run matches.")
@click.option(
    "--format", "format_", type=Word(CHECK_FORMATS), default=CHECK_FORMATS[0], show_default=True, help="md: for the summary of a CI job."
)
@with_filters
@with_store
def check(
    filters: Filters, store: Store, format_: str, zone: str, cost: str, budgets: tuple[tuple[str, Decimal], ...], *, allow_empty: bool
) -> ExitCode:
    """Fail if a budget is exceeded: exit code 1, else 0.

    Unknown is never 0: a metric that is unknown for all runs fails its budget; if unknown for some, the note says for how many.
    No matching run fails the check, because a mistyped filter would pass it; --allow-empty lets it pass.
    """
    if not budgets:
        raise click.UsageError("Nothing to check. Give a budget, e.g. --max-total-usd 50")
    from app.cli.check_text import write_check
    from app.reports.budgets import check as judge_runs

    done = judge_runs(store, filters, dict(budgets), zone, allow_empty=allow_empty, measure=COST_MEASURES[cost])
    terminal.note(one_line(done.covers))
    terminal.put(write_check(done, format_, sys.stdout.encoding or "utf-8"))
    terminal.note(done.headline, fg="green" if done.passed else "red", bold=True)
    return ExitCode.OK if done.passed else ExitCode.CHECK_FAILED
