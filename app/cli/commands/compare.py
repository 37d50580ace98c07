"""`tachograph compare`: two cohorts of runs, measure by measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli import terminal
from app.cli.options import TABLE, Output, examples, utf8, with_output, with_store
from app.queries.filters import parse
from app.reports.exports import EXPORTS
from schemas.text import plural

if TYPE_CHECKING:
    from ingest.store.database import Store


@click.command(
    epilog=examples(
        "compare main-model=claude-opus-4-6 main-model=claude-sonnet-4-5",
        "compare 'label=branch=main repo=vllm' 'label=branch=next repo=vllm'",
        "compare experiment=baseline experiment=cached --format json",
    )
)
@click.argument("first", metavar="'FILTER A'", callback=utf8)
@click.argument("second", metavar="'FILTER B'", callback=utf8)
@with_output
@with_store
def compare(first: str, second: str, output: Output, store: Store) -> None:
    """Compare the runs of two filters: medians, and how sure their difference is.

    A filter is key=value, several of them in quotes: 'model=glm-5.1 repo=vllm'. The keys are those of the options of `runs`. Intervals
    hold with 95 % confidence (a bootstrap of the median, the same for the same runs); tasks that both have are also compared
    one by one.
    """
    from app.cli.output import deliver
    from app.queries.cohorts import as_figures, compare_cohorts
    from app.text.answers import Answer
    from app.text.cohort_words import as_words
    from schemas.catalogue.columns import COMPARED, compared

    filters = parse(first), parse(second)
    cohorts = compare_cohorts(store, *filters)
    names = "First", "Second"
    sides = [
        f"{name}: {count:,} runs ({words.as_words() or 'all'})" for name, count, words in zip(names, cohorts.runs, filters, strict=True)
    ]
    is_for_people = output.format == TABLE or EXPORTS[output.format].is_for_people
    table = as_words(cohorts) if is_for_people else as_figures(cohorts)
    columns = compared() if is_for_people else COMPARED
    deliver(Answer(table, " · ".join([*sides, store.location]), of=columns), output)
    if cohorts.shared:
        terminal.note(f"{plural(cohorts.shared, 'run')} in both.")
