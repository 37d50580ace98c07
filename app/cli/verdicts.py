"""`tachograph verdicts` and `measurements`: what benchmarks measured, beside what runs claim."""

from __future__ import annotations

from typing import Any

import click

from app.cli.answering import Asked, answering
from app.cli.options import (
    Word,
    by_option,
    flag,
    pivot_option,
    with_examples,
    zone_option,
)
from app.cli.output import deliver
from app.queries.grouping import filters_in
from app.queries.rules import RULES
from app.reports import results
from schemas.numbers import share


def _share(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Parse `5%` or `0.05` as a number between 0 and 1 (callback)."""
    number = share(value.strip())
    if number is None or not 0 <= number < 1:
        raise click.BadParameter(f"a share such as 0.05 or 5%, not {value!r}.", ctx, param)
    return float(number)


@with_examples(
    "verdicts",
    "verdicts --by agent,model",
    "verdicts --by evidence -o verdicts.csv",
    "verdicts --by project,agent --pivot agent -o table.tex",
    "verdicts --published",
    "verdicts --rule iso",
    "verdicts --rule gso --steps",
)
@by_option
@pivot_option
@zone_option("IANA time zone for days and times, also of --since and --until.")
@flag(
    "--all", "every", "List runs that were not measured, too; with --rule, who has no judged task."
)
@flag("--published", "Count published judgements by repository, agent and model; needs no runs.")
@click.option(
    "--rule",
    type=Word(tuple(RULES)),
    help="Score agents by the rule of a benchmark, over everything measured; needs no runs.",
)
@flag(
    "--steps", "With --rule: what leads from its score to that of the rule baseline, step by step."
)
@click.option(
    "--band",
    default="5%",
    show_default=True,
    metavar="SHARE",
    callback=_share,
    help="Call ratios within this distance from 1 the same.",
)
@answering(limit="runs")
def verdicts(
    by: tuple[str, ...],
    zone: str,
    band: float,
    rule: str | None,
    asked: Asked,
    *,
    every: bool,
    **options: Any,
) -> None:
    """Show what runs claimed beside what benchmarks measured, per run, or with --by per group.

    Groups have the cost per faster run and how far claims hold. A ratio is only made between values
    of the same metric, workload, model, machine and set-up; the note says why there is none.
    """
    store, filters = asked.store, filters_in(asked.filters, zone)
    published, pivot = options["published"], options["pivot"]
    if rule:
        if by or filters or published:
            raise click.UsageError(
                "--rule counts everything measured, and --by, --published and filters "
                "choose. Use one of them."
            )
        deliver(
            results.rule_path(store, rule)
            if options["steps"]
            else results.rules(store, rule, every=every),
            asked.output,
        )
    elif options["steps"]:
        raise click.UsageError("--steps needs --rule: the rule whose score they begin at.")
    elif published:
        if by or filters:
            raise click.UsageError(
                "--published counts judgements, and --by and filters choose runs. Use one of them."
            )
        deliver(results.published(store), asked.output)
    elif by or pivot:
        deliver(results.verdict_groups(store, filters, by, zone, band, pivot), asked.output)
    else:
        deliver(results.verdicts(store, filters, asked.limit, every=every, band=band), asked.output)


@with_examples(
    "measurements", "measurements --unjoined", "measurements --task vllm_core-0000 -o values.csv"
)
@flag("--unjoined", "lonely", "List measured values that belong to no run, and why.")
@answering(limit="values")
def measurements(asked: Asked, *, lonely: bool) -> None:
    """List measured values of benchmarks, each with the run that it measured.

    Results are ingested like logs: content decides. What a file does not say is told with `ingest
    --measure`.
    """
    store, filters = asked.store, asked.filters
    if lonely and filters:
        raise click.UsageError(
            "--unjoined lists values without a run, and filters choose runs. Use one of them."
        )
    deliver(
        results.unjoined(store) if lonely else results.measurements(store, filters, asked.limit),
        asked.output,
    )
