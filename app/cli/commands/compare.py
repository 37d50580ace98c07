"""`tachograph compare`: two groups of runs, metric by metric."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from app.cli import terminal
from app.cli.options import TABLE, Output, examples, utf8, with_output, with_store
from app.queries.filters.chosen import parse
from app.reports.exports import EXPORTS
from app.text.words.closed_lists import with_known_words

if TYPE_CHECKING:
    from app.queries.filters.notes import CheckedStore


@click.command(
    epilog=examples(
        "compare main-model=claude-opus-4-6 main-model=claude-sonnet-4-5",
        "compare 'label=branch=main repo=vllm' 'label=branch=next repo=vllm'",
        "compare experiment=baseline experiment=cached --format json",
        "compare --base main.duckdb --brief",
    )
)
@click.argument("first", metavar="['FILTER A'", default=None, required=False, callback=utf8)
@click.argument("second", metavar="'FILTER B']", default=None, required=False, callback=utf8)
@click.option("--base", metavar="STORE", callback=utf8, help="Take the baseline from another store. Without filters: all runs of both.")
@click.option("--brief", is_flag=True, help="Only what the runs cost and which were measured faster, in a sentence.")
@with_output
@with_store
def compare(first: str | None, second: str | None, base: str | None, output: Output, store: CheckedStore, *, brief: bool) -> None:
    """Compare two groups of runs, metric by metric, with confidence intervals.

    A filter is key=value; quote several: 'model=glm-5.1 repo=vllm'. Keys are the filter options of `runs`. Intervals are 95%
    confidence intervals of the ratio of medians (bootstrap with a fixed seed). Tasks in both groups are also compared one by one.
    With --base, FILTER A chooses in that store; FILTER B may be left out, if it is the same.
    """
    from app.cli.output import deliver
    from app.queries.comparisons.totals import two_totals
    from app.queries.read_transaction import read_transaction
    from app.queries.run_ids import with_whole_ids
    from app.reports.comparison import compare as compare_runs
    from app.text.words.totals import totals_words
    from ingest.store.database import Store

    if second is None and not base:
        raise click.UsageError("Give two filters, such as model=a model=b, or a store to compare with: --base STORE.")
    other = Store(base) if base else None
    texts = first or "", (first or "") if second is None else second
    one, two = (with_whole_ids(place, with_known_words(parse(text))) for place, text in zip((other or store, store), texts, strict=True))
    store.look_up(*((two,) if base else (one, two)))
    with read_transaction(store) as candidate, read_transaction(other) if other else nullcontext(candidate) as baseline:
        said = totals_words(two_totals((baseline, one), (candidate, two)))
        made = None if brief else compare_runs(candidate, one, two, baseline if other else None)
    if made is None:
        terminal.put(f"{said}\n".encode())
        return
    is_for_people = output.format == TABLE or EXPORTS[output.format].is_for_people
    deliver(made.words if is_for_people else made.figures, output)
    for note in (*made.notes, said):
        terminal.note(note)
