"""`tachograph check`: budgets, for CI."""

from __future__ import annotations

import sys
from decimal import Decimal

import click

from app.cli import terminal
from app.cli.answering import Asked, answering
from app.cli.options import (
    Word,
    budget_options,
    flag,
    format_option,
    with_examples,
    zone_option,
)
from app.queries.months import kept_budgets
from app.reports.budgets import budget_table
from app.reports.budgets import check as judge_runs
from app.reports.exports.text import escaped, json_text, markdown
from app.text.text_tables import draw
from schemas.catalogue.cost_measures import BEST, COST_MEASURES
from schemas.errors import ExitCode
from schemas.text import join_known, one_line


@with_examples(
    "check --max-total-usd 50 --max-run-usd 5",
    "check --budgets budgets.toml",
    "check --max-day-usd 20 --tz Europe/Berlin --since 2026-11-01",
    'check --max-error-rate 10% --min-runs 1 --format md >> "$GITHUB_STEP_SUMMARY"',
)
@budget_options
@zone_option("IANA time zone for days, also of --since and --until.")
@click.option(
    "--cost",
    type=Word(tuple(COST_MEASURES)),
    default=BEST.key,
    show_default=True,
    help=(
        "What budgets count: cost as reported, at list prices, or as best known (reported, else "
        "list)."
    ),
)
@flag("--allow-empty", "Pass if no run matches.")
@format_option("md: for the summary of a CI job.", "md", "json")
@answering(output=False)
def check(
    asked: Asked,
    format_: str,
    zone: str,
    cost: str,
    budgets: tuple[tuple[str, Decimal], ...],
    *,
    allow_empty: bool,
) -> ExitCode:
    """Fail if a budget is exceeded: exit code 1, else 0.

    Unknown is never 0: a metric that is unknown for all runs fails its budget; if unknown for some,
    the note says for how many. No matching run fails the check, because a mistyped filter would
    pass it; --allow-empty lets it pass. Budgets that the store keeps (tachograph budget) are judged
    too, in the present month.
    """
    if not budgets and not (asked.store.exists() and kept_budgets(asked.store)):
        raise click.UsageError(
            "Nothing to check. Give a budget, e.g. --max-total-usd 50, or keep one: "
            "tachograph budget PROJECT=100/month"
        )
    done = judge_runs(
        asked.store,
        asked.filters,
        dict(budgets),
        zone,
        allow_empty=allow_empty,
        measure=COST_MEASURES[cost],
    )
    terminal.note(one_line(done.covers))
    if format_ == "json":
        body = f"{json_text(done.as_dict())}\n".encode()
    elif format_ == "md":
        covers = join_known(" ", done.covers, done.left_out)
        head = f"### {'✅' if done.passed else '❌'} {done.headline}\n\n{escaped(covers)}\n\n"
        body = head.encode() + markdown(budget_table(done.verdicts)).encode()
    else:  # a log of CI has no width of its own
        body = draw(budget_table(done.verdicts), 120, sys.stdout.encoding or "utf-8").body
    terminal.put(body)
    terminal.note(done.headline, fg="green" if done.passed else "red", bold=True)
    return ExitCode.OK if done.passed else ExitCode.CHECK_FAILED
