"""`tachograph compare`: two groups of runs, metric by metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli import terminal
from app.cli.closed_lists import with_known_words
from app.cli.options import TABLE, Output, examples, utf8, with_output, with_store, with_whole_ids
from app.queries.filters.chosen import parse
from app.reports.exports import EXPORTS
from schemas.text import plural

if TYPE_CHECKING:
    from app.cli.filter_notes import CheckedStore


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
def compare(first: str, second: str, output: Output, store: CheckedStore) -> None:
    """Compare two groups of runs, metric by metric, with confidence intervals.

    A filter is key=value; quote several: 'model=glm-5.1 repo=vllm'. Keys are the filter options of `runs`. Intervals are 95%
    confidence intervals of the ratio of medians (bootstrap with a fixed seed). Tasks in both groups are also compared one by one.
    """
    from app.cli.output import deliver
    from app.queries.comparisons.cohorts import as_figures, compare_cohorts
    from app.text.answers import Answer
    from app.text.words.cohorts import as_words
    from schemas.catalogue.columns import COMPARED, compared

    filters = with_whole_ids(store, with_known_words(parse(first))), with_whole_ids(store, with_known_words(parse(second)))
    store.look_up(*filters)
    cohorts = compare_cohorts(store, *filters)
    names = "Baseline", "Candidate"
    chosen = zip(names, cohorts.runs, filters, strict=True)
    sides = [f"{name}: {plural(count, 'run')} ({words.as_words() or 'all'})" for name, count, words in chosen]
    is_for_people = output.format == TABLE or EXPORTS[output.format].is_for_people
    table = as_words(cohorts) if is_for_people else as_figures(cohorts)
    columns = compared(names) if is_for_people else COMPARED
    deliver(Answer(table, " · ".join([*sides, store.location]), of=columns), output)
    if cohorts.shared:
        terminal.note(f"{plural(cohorts.shared, 'run')} in both.")
