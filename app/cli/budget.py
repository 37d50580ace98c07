"""`tachograph budget`: what a project, a person or another label may cost in a month."""

from __future__ import annotations

import sys

import click

from app.cli import terminal
from app.cli.answering import Asked, answering
from app.cli.options import format_option, text_option, utf8, with_examples
from app.queries.months import mistyped_budgets
from app.reports.budgets import kept_table, parse_budget, parse_budgeted, standing
from app.reports.exports.text import json_text
from app.text.formatting import usd
from app.text.text_tables import draw
from ingest.store.annotations import set_budget
from schemas.errors import UsageError
from schemas.text import plural


@with_examples(
    "budget codeharness=100/month person=anna=20/month",
    "budget codeharness=150/2026-03",
    "budget",
    "budget --remove codeharness",
)
@click.argument(
    "words", nargs=-1, metavar="[PROJECT=USD/month|KEY=VALUE=USD/month]...", callback=utf8
)
@text_option(
    "--remove",
    "removed",
    multiple=True,
    metavar="PROJECT|KEY=VALUE",
    help="Forget this budget; with /2026-03 the one of that month. Repeatable.",
)
@format_option("json: for programs.", "json")
@answering(filters=False, output=False)
def budget(words: tuple[str, ...], removed: tuple[str, ...], format_: str, asked: Asked) -> None:
    """Keep budgets of a month in the store; without arguments list them.

    A budget is in US dollars, for every month, or for one: /2026-03 in place of /month. It limits
    what a project costs, or the runs of a label such as person=anna, by the time of their
    responses in UTC. `check` fails if one of the present month is passed; reports and the
    dashboard show what is left. A name that no run has is kept, but fails the check.
    """
    budgets = [parse_budget(word) for word in words]
    forgotten = [parse_budgeted(word) for word in removed]
    for of, amount in budgets:
        set_budget(asked.store, of, amount)
        terminal.note(f"{of.written} may cost {usd(amount)} {_per(of.month)}.")
    for of in forgotten:
        if not set_budget(asked.store, of, None):
            raise UsageError(
                f"the store keeps no budget of {of.written} {_per(of.month)}.",
                "`tachograph budget` lists those that it keeps.",
            )
        terminal.note(f"Forgot the budget of {of.written} {_per(of.month)}.")
    for said in mistyped_budgets(asked.store).values():
        terminal.note(said)
    if budgets or forgotten:
        return
    kept = standing(asked.store)
    if format_ == "json":
        terminal.put(f"{json_text([one.as_dict() for one in kept])}\n".encode())
        return
    if kept:
        terminal.put(draw(kept_table(kept), 120, sys.stdout.encoding or "utf-8").body)
    terminal.note(f"{plural(len(kept), 'budget')} kept" if kept else "No budget is kept.")


def _per(month: str | None) -> str:
    return f"in {month}" if month else "a month"
