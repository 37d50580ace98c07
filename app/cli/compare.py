"""`tachograph compare`: groups of runs on the same tasks."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import click

from app.cli import terminal
from app.cli.answering import Asked, answering
from app.cli.options import TABLE, Word, flag, text_option, utf8, with_examples
from app.cli.output import deliver
from app.queries.comparison import PAIRS, two_totals
from app.queries.filters import NO_FILTERS, parse
from app.queries.reading import read_transaction
from app.queries.run_page import with_whole_ids
from app.reports.comparison import compare as compare_groups
from app.reports.exports import EXPORTS
from app.text.costs import totals_words
from app.text.filter_words import with_known_words
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, COST_MEASURES


@with_examples(
    "compare",
    "compare main-model=claude-opus-4-6 main-model=claude-sonnet-4-5",
    "compare agent=claude-code 'agent=codex main-model=gpt-5' agent=openhands",
    "compare experiment=baseline experiment=cached --format json",
    "compare --base main.duckdb --brief",
)
@click.argument("groups", metavar="['BASELINE' 'GROUP'...]", nargs=-1, callback=utf8)
@click.option(
    "--pair",
    type=Word(PAIRS),
    show_default="task",
    help="Compare task by task, or all runs with all runs.",
)
@click.option(
    "--cost",
    type=Word(tuple(COST_MEASURES)),
    default=BEST.key,
    show_default=True,
    help="As reported, at list prices, or best known.",
)
@text_option(
    "--base",
    metavar="STORE",
    help="Take the baseline from another store. Without filters: all runs of both.",
)
@flag("--brief", "Only what the runs cost and which were measured faster, in a sentence.")
@answering(filters=False)
def compare(
    groups: tuple[str, ...],
    pair: str | None,
    cost: str,
    base: str | None,
    asked: Asked,
    *,
    brief: bool,
) -> None:
    """Compare groups of runs with the first of them: cost, wall time and turns on the same tasks.

    A group is filters, key=value; quote several: 'model=glm-5.1 project=vllm'. Keys are the filter
    options of `runs`. Without groups, the two agents and models with most to compare. A ratio is
    the median, over tasks that both have, of the group's median divided by the baseline's, with a
    95% interval (bootstrap with a fixed seed). Costs are on one basis: list prices where reported
    and list prices would mix. With --base, the first group chooses in that store; the second may be
    left out, if it is the same.
    """
    if len(groups) == 1 and not base:
        raise click.UsageError(
            "Give two filters or more, such as model=a model=b, or a store to compare with: "
            "--base STORE."
        )
    if brief and not (len(groups) == 2 or (base and len(groups) < 2)):
        raise click.UsageError("--brief compares two groups.")
    store, other = asked.store, Store(base) if base else None
    if other:
        groups = (*groups, *[groups[0] if groups else ""] * (2 - len(groups)))
    chosen = [
        with_whole_ids(store if number or not other else other, with_known_words(parse(text)))
        for number, text in enumerate(groups)
    ]
    store.look_up(*(chosen[1 if other else 0 :] or [NO_FILTERS]))
    baselines = read_transaction(other, copy_at=1) if other else None
    with (
        read_transaction(store, copy_at=1) as candidate,
        baselines or nullcontext(candidate) as baseline,
    ):
        if brief:
            totals = two_totals((baseline, chosen[0]), (candidate, chosen[1]))
            terminal.put(f"{totals_words(totals)}\n".encode())
            return
        made = compare_groups(
            candidate, chosen, pair or "", COST_MEASURES[cost], baseline if other else None
        )
    is_for_people = asked.output.format == TABLE or EXPORTS[asked.output.format].is_for_people
    answer = made.words if is_for_people else made.figures
    if asked.output.format == "latex":  # a paper has the table without what is printed here
        answer = replace(answer, note=" ".join(made.notes))
    deliver(answer, asked.output)
    for note in made.notes:
        terminal.note(note)
