"""`tachograph claims` and `tachograph findings`: what agents claim, and what does not add up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli.options import TABLE, Output, Word, examples, utf8, with_filters, with_limit, with_output, with_store
from app.queries.filters import MIN_CONFIDENCE, Filters, probability
from schemas.catalogue.failures import REASONS
from schemas.rows.confidence import SHOWN_FROM

if TYPE_CHECKING:
    from ingest.store.database import Store

KINDS = ("quantified", "qualitative")
SEVERITIES = ("error", "warning", "info")
"""The words of ClaimKind and Severity in `schemas.rows`, which cost an import of pydantic; a test compares them."""


@click.group(
    invoke_without_command=True,
    epilog=examples(
        "claims",
        "claims --all",
        "claims --evidence benchmarked --min-claim 2",
        "claims --min-confidence 0",
        "claims --repo vllm -o claims.csv",
        "claims extract texts.jsonl",
    ),
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=Word(KINDS),
    help="Filter by kind. Repeatable (OR).  [default: quantified in a table, all in other formats]",
)
@click.option("--all", "every", is_flag=True, help="List claims without a number, too.")
@with_filters
@with_output
@with_limit("claims")
@with_store
@click.pass_context
def claims(
    ctx: click.Context, kinds: tuple[str, ...], limit: int | None, filters: Filters, output: Output, store: Store, *, every: bool
) -> None:
    """List improvements that agents claim, quantified ones first, then by ratio, largest first.

    Claims are extracted from the agents' summaries and not verified. --evidence, --min-claim and --min-confidence filter claims, all
    other filters filter runs.
    """
    if ctx.invoked_subcommand is not None:
        return
    from app.cli.output import deliver
    from app.reports import results

    chosen = KINDS if every else kinds or (KINDS[:1] if output.format == TABLE else KINDS)
    deliver(results.claims(store, filters, chosen, limit), output)


@claims.command(epilog=examples("claims extract texts.jsonl", "claims extract - < texts.jsonl"))
@click.argument("texts", type=click.Path(readable=False, path_type=Path), metavar="TEXTS.JSONL")
@click.option(
    f"--{MIN_CONFIDENCE}",
    "least_confidence",
    default=str(SHOWN_FROM),
    show_default=True,
    metavar="P",
    callback=lambda _ctx, _param, value: probability(value, MIN_CONFIDENCE),
    help="Minimum confidence of claims with a number, 0 to 1 or a percentage. 0 lists all.",
)
def extract(texts: Path, least_confidence: float) -> None:
    """Extract claims from your own texts, without a store.

    TEXTS.JSONL has a line {"id": ..., "text": ...} per text; - is standard input. The output has a line {"id": ..., "claims": [...]}
    for each; start and end of a claim are in Unicode code points, and confidence is the probability that it is read rightly.
    """
    from app.cli.claims_extract import answers
    from app.cli.terminal import put

    for line in answers(texts, least_confidence):
        put(line)


@click.command(epilog=examples("failures", "failures --by model", "failures --texts conversation", "failures -o failures.csv"))
@click.option(
    "--by", metavar="DIMENSION", default="agent", show_default=True, callback=utf8, help="What has a column each, as of `report`."
)
@click.option("--texts", type=Word(tuple(REASONS)), metavar="REASON", help="List the error texts of a reason instead, numbers masked.")
@with_filters
@with_output
@with_store
def failures(by: str, texts: str | None, filters: Filters, output: Output, store: Store) -> None:
    """Count why runs did not complete: a row per reason, a column per agent (or --by), lost wall time and best-known cost.

    Reasons follow from the outcome, from whether the run got to work, and from the words of its error; docs/failures.md has the rules.
    """
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.failure_texts(store, filters, texts) if texts else results.failures(store, filters, by), output)


@click.command(epilog=examples("findings", "findings --severity error", "findings --rule count_mismatch --format jsonl"))
@click.option("--severity", "severities", multiple=True, type=Word(SEVERITIES), help="Filter by severity. Repeatable (OR).")
@click.option("--rule", "rules", multiple=True, metavar="RULE", callback=utf8, help="Filter by rule. Repeatable (OR).")
@with_filters
@with_output
@with_limit("findings")
@with_store
def findings(
    severities: tuple[str, ...], limit: int | None, filters: Filters, output: Output, store: Store, rules: tuple[str, ...]
) -> None:
    """List findings: what does not add up in a record or its summary.

    error: a number that cannot be right; warning: needs review; info: background, e.g. the evidence of a claim. Findings are hints
    for review, not verdicts.
    """
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.findings(store, filters, severities, rules, limit), output)
