"""`tachograph loops`: optimization loops and their experiments."""

from __future__ import annotations

import click

from app.cli.answering import Asked, answering
from app.cli.options import Word, utf8, with_examples
from app.cli.output import deliver
from app.queries.loops import ORDERS
from app.reports import loop_tables


@with_examples(
    "loops",
    "loops --sort per-percent",
    "loops --format json",
    "loops 3f9a21c0",
    "loops 'product search' -o experiments.csv",
)
@click.argument("loop", required=False, callback=utf8)
@click.option(
    "--sort",
    type=Word(tuple(ORDERS)),
    default=next(iter(ORDERS)),
    show_default=True,
    help="What comes first: largest gain or cost, cheapest gain.",
)
@answering(filters=False, limit="rows")
def loops(loop: str | None, sort: str, asked: Asked) -> None:
    """List optimization loops.

    What each brought, whether that is more than noise, and what every improvement cost.

    Logs of loops are ingested like any other file, known by their content. With LOOP (its id, or a
    part of its name or of its log's path), list the loop's experiments, the last ones in a table.
    Costs are those of the agents' sessions that are in the store, else the log's.
    """
    answer = (
        loop_tables.experiments(asked.store, loop, asked.limit)
        if loop
        else loop_tables.loops(asked.store, asked.limit, sort)
    )
    deliver(answer, asked.output)
