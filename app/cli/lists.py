"""Commands that list what a store holds, a table each."""

from __future__ import annotations

import click

from app.cli.answering import Asked, answering
from app.cli.options import Word, by_option, cost_option, text_option, with_examples
from app.cli.output import deliver
from app.queries.tasks import VALUES
from app.reports import results
from app.text.tasks import ORDERS
from schemas.catalogue.failures import REASONS

SEVERITIES = ("error", "warning", "info")
"""The words of `schemas.rows.source.Severity`, repeated because that imports pydantic; a test
compares them.
"""


@with_examples(
    "runs", "runs --model claude-opus-4-6 --limit 10", "runs --outcome api_error --format jsonl"
)
@cost_option
@answering(limit="runs", at=True)
def runs(cost: str, asked: Asked) -> None:
    """List runs, most expensive first."""
    deliver(results.runs(asked.store, asked.filters, asked.limit, cost), asked.output)


@with_examples("models", "models --since 2026-11-01 --format md")
@cost_option
@answering(at=True)
def models(cost: str, asked: Asked) -> None:
    """Show cost and tokens per model, helper models included."""
    deliver(results.models(asked.store, asked.filters, cost), asked.output)


@with_examples(
    "findings", "findings --severity error", "findings --rule count_mismatch --format jsonl"
)
@click.option(
    "--severity",
    "severities",
    multiple=True,
    type=Word(SEVERITIES),
    help="Filter by severity. Repeatable (OR).",
)
@text_option(
    "--rule", "rules", multiple=True, metavar="RULE", help="Filter by rule. Repeatable (OR)."
)
@answering(limit="findings")
def findings(severities: tuple[str, ...], rules: tuple[str, ...], asked: Asked) -> None:
    """List findings: what does not add up in a record, its summary or its patch.

    error: a number that cannot be right; warning: needs review; info: background, e.g. the evidence
    of a claim. Findings are hints for review, not verdicts.
    """
    deliver(
        results.findings(asked.store, asked.filters, severities, rules, asked.limit), asked.output
    )


@with_examples(
    "failures", "failures --by model", "failures --texts conversation", "failures -o failures.csv"
)
@text_option(
    "--by",
    metavar="DIMENSION",
    default="agent",
    show_default=True,
    help="What has a column each, as of `report`.",
)
@click.option(
    "--texts",
    type=Word(tuple(REASONS)),
    metavar="REASON",
    help="List the error texts of a reason instead, numbers masked.",
)
@answering()
def failures(by: str, texts: str | None, asked: Asked) -> None:
    """Count why runs did not complete.

    A row per reason, a column per agent (or --by), lost wall time and best-known cost.

    Reasons follow from the outcome, from whether the run got to work, and from the words of its
    error; docs/failures.md has the rules.
    """
    store, filters = asked.store, asked.filters
    deliver(
        results.failure_texts(store, filters, texts)
        if texts
        else results.failures(store, filters, by),
        asked.output,
    )


@with_examples(
    "tasks --verdict checked",
    "tasks --by agent,model --value cost --order cost",
    "tasks --value measured -o tasks.tex",
)
@by_option
@click.option(
    "--value",
    type=Word(VALUES),
    default=VALUES[0],
    show_default=True,
    help="What the cells show.",
)
@click.option(
    "--order",
    type=Word(tuple(ORDERS)),
    default=next(iter(ORDERS)),
    show_default=True,
    help="Which come first.",
)
@answering()
def tasks(by: tuple[str, ...], value: str, order: str, asked: Asked) -> None:
    """Show tasks beside those who worked on them: a row per task, a column per agent (or --by).

    A task is repository and commit where a benchmark names it, else repository and name. Several
    runs in a cell are counted: their median, or how many are done. A retry costs the median cost of
    the cheapest agent and model that completed the task.
    """
    columns = by or ("agent",)
    answer = results.tasks(asked.store, asked.filters, columns, value, order)
    deliver(answer, asked.output)


@with_examples("rejects", "rejects --format csv -o rejects.csv")
@answering(filters=False)
def rejects(asked: Asked) -> None:
    """List rejected records, and why they were rejected."""
    deliver(results.rejects(asked.store), asked.output)


@with_examples("sources", "sources --format json")
@answering(filters=False, limit="files")
def sources(asked: Asked) -> None:
    """List ingested files and their results, the newest first."""
    deliver(results.sources(asked.store, asked.limit), asked.output)


@with_examples("ingests", "ingests --format json")
@answering(filters=False)
def ingests(asked: Asked) -> None:
    """List ingests: when, by whom, and what came in. Each can be undone."""
    deliver(results.ingests(asked.store), asked.output)
