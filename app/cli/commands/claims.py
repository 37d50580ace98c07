"""`tachograph claims` and `tachograph findings`: what agents claim, and what the rules notice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli.options import Output, examples, utf8, with_filters, with_limit, with_output, with_store
from app.queries.filters import Filters

if TYPE_CHECKING:
    from ingest.store.database import Store

KINDS = ("quantified", "qualitative")
SEVERITIES = ("error", "warning", "info")
"""The words of ClaimKind and Severity in `schemas.rows`, which cost an import of pydantic; a test compares them."""


@click.group(
    invoke_without_command=True,
    epilog=examples(
        "claims", "claims --evidence benchmarked --min-claim 2", "claims --repo vllm -o claims.csv", "claims extract texts.jsonl"
    ),
)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only claims of this kind. Repeatable.  [default: all]")
@with_filters
@with_output
@with_limit("claims")
@with_store
@click.pass_context
def claims(ctx: click.Context, kinds: tuple[str, ...], limit: int | None, filters: Filters, output: Output, store: Store) -> None:
    """List what agents claim to have made faster, smaller or cheaper, largest ratio first.

    A claim is what the agent's summary says, not what was measured. --evidence and --min-claim choose among the claims themselves,
    the other filters among their runs.
    """
    if ctx.invoked_subcommand is not None:
        return
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.claims(store, filters, kinds, limit), output)


@claims.command(epilog=examples("claims extract texts.jsonl", "claims extract - < texts.jsonl"))
@click.argument("texts", type=click.Path(readable=False, path_type=Path), metavar="TEXTS.JSONL")
def extract(texts: Path) -> None:
    """Find the claims in texts of your own, without a store.

    TEXTS.JSONL has a line {"id": ..., "text": ...} per text, - is the standard input. A line {"id": ..., "claims": [...]} comes out
    for each; start and end of a claim count Unicode code points.
    """
    from app.cli.claims_extract import answers
    from app.cli.terminal import put

    for line in answers(texts):
        put(line)


@click.command(epilog=examples("findings", "findings --severity error", "findings --rule headline_count --format jsonl"))
@click.option("--severity", "severities", multiple=True, type=click.Choice(SEVERITIES), help="Only findings so severe. Repeatable.")
@click.option("--rule", "rules", multiple=True, metavar="RULE", callback=utf8, help="Only findings of this rule. Repeatable.")
@with_filters
@with_output
@with_limit("findings")
@with_store
def findings(
    severities: tuple[str, ...], limit: int | None, filters: Filters, output: Output, store: Store, rules: tuple[str, ...]
) -> None:
    """List what the rules notice about runs: figures and words of a record that do not fit together.

    An error is a number that cannot be right, a warning needs review, info says how much stands behind a claim. A rule
    compares; it does not accuse.
    """
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.findings(store, filters, severities, rules, limit), output)
