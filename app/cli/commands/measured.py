"""`tachograph verdicts` and `tachograph measurements`: what was claimed beside what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from app.cli.options import Output, by_option, examples, with_filters, with_limit, with_output, with_store, zone_option
from app.queries.filters import Filters
from app.queries.grouping import filters_in

if TYPE_CHECKING:
    from ingest.store.database import Store


def share(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Callback: `5%` or `0.05` as a number between 0 and 1."""
    from app.reports.budgets import share as read_share

    number = read_share(value.strip())
    if number is None or not 0 <= number < 1:
        raise click.BadParameter(f"a share such as 0.05 or 5%, not {value!r}.", ctx, param)
    return float(number)


@click.command(epilog=examples("verdicts", "verdicts --by agent,model", "verdicts --by evidence -o verdicts.csv", "verdicts --published"))
@by_option
@zone_option("IANA time zone for days and times, also of --since and --until.")
@click.option("--all", "every", is_flag=True, help="List runs that were not measured, too.")
@click.option("--published", is_flag=True, help="Count published judgements by repository, agent and model; needs no runs.")
@click.option(
    "--band", default="5%", show_default=True, metavar="SHARE", callback=share, help="Call ratios within this distance from 1 the same."
)
@with_filters
@with_output
@with_limit("runs")
@with_store
def verdicts(by: tuple[str, ...], zone: str, limit: int | None, filters: Filters, output: Output, store: Store, **how: Any) -> None:
    """Show what runs claimed beside what benchmarks measured, per run, or with --by per group.

    Groups have the cost per verified speedup and how far claims hold. A ratio is only made between values of the same metric, workload,
    model, machine and set-up; the note says why there is none.
    """
    from app.cli.output import deliver
    from app.reports import results

    filters = filters_in(filters, zone)
    if how["published"]:
        if by or filters:
            raise click.UsageError("--published counts judgements, and --by and filters choose runs. Use one of them.")
        deliver(results.published(store), output)
    elif by:
        deliver(results.verdict_groups(store, filters, by, zone, how["band"]), output)
    else:
        deliver(results.verdicts(store, filters, limit, every=how["every"], band=how["band"]), output)


@click.command(epilog=examples("measurements", "measurements --unjoined", "measurements --task vllm_core-0000 -o values.csv"))
@click.option("--unjoined", "lonely", is_flag=True, help="List measured values that belong to no run, and why.")
@with_filters
@with_output
@with_limit("values")
@with_store
def measurements(limit: int | None, filters: Filters, output: Output, store: Store, *, lonely: bool) -> None:
    """List measured values of benchmarks, and the runs whose changes they measured.

    Results are ingested like logs: content decides. What a file does not say is told with `ingest --measure`.
    """
    from app.cli.output import deliver
    from app.reports import results

    if lonely and filters:
        raise click.UsageError("--unjoined lists values without a run, and filters choose runs. Use one of them.")
    deliver(results.unjoined(store) if lonely else results.measurements(store, filters, limit), output)
