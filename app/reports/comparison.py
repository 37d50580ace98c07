"""The answer of `tachograph compare`.

Groups of runs against a baseline, in numbers for programs and in words for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from app.queries import comparison as queries
from app.queries.comparison import PAIRS, TASK, Comparison
from app.queries.filters import Filters
from app.queries.ratios import Ratio, Verdict
from app.queries.reading import read_transaction
from app.text import compare as sentences
from app.text.answers import Answer
from app.text.compare import Name, as_words, names
from app.text.sentences import Said
from ingest.store.database import Store
from schemas.catalogue.columns import COMPARED, COMPARED_WORDS, METRICS_COMPARED
from schemas.catalogue.cost_measures import BEST, CostMeasure
from schemas.errors import UsageError
from schemas.text import choices_for, plural
from schemas.units import Unit


@dataclass(frozen=True)
class Compared:
    """The same rows as `figures` and in `words`, and their message. `notes`: the omissions."""

    figures: Answer
    words: Answer
    said: Said
    notes: tuple[str, ...]


def compare(
    store: Store,
    chosen: Sequence[Filters] = (),
    pair: str = "",
    cost: CostMeasure = BEST,
    base: Store | None = None,
) -> Compared:
    """Compare groups of runs with the first, which is in the store `base` if given.

    Without groups, compare the pair of agents that knows most. `pair`: one of PAIRS, or ""
    to choose automatically. Raises UsageError and StoreError.
    """
    if pair and pair not in PAIRS:
        raise UsageError(f"runs are not paired by {pair!r}.", choices_for(pair, PAIRS))
    with read_transaction(store) as transaction:
        chosen = chosen or queries.offered(transaction).opening
        if not 2 <= len(chosen) <= queries.MOST_GROUPS:
            found = (
                "there are no two groups of runs to compare"
                if len(chosen) < 2
                else f"{len(chosen)} groups are too many"
            )
            raise UsageError(
                f"{found}.",
                f"Give two to {queries.MOST_GROUPS} groups of filters, such as model=a model=b.",
            )
        comparison = queries.compare(transaction, chosen, pair or TASK, cost, base)
    called = names(comparison.groups, chosen, PurePath(base.location).name if base else "")
    said = sentences.compare(comparison, called)
    sides = [
        f"{name.whole}: {plural(group.runs, 'run')}"
        for group, name in zip(comparison.groups, called, strict=True)
    ]
    heading = " · ".join([*sides, " vs. ".join(one.location for one in (base, store) if one)])
    shown = tuple(COMPARED_WORDS)[len(called) == 2 :]  # of two, the heading names the group
    named = {"baseline": called[0], "value": called[1]} if len(called) == 2 and not base else {}
    sides_named = {
        key: replace(COMPARED_WORDS[key], label=name.whole) for key, name in named.items()
    }
    notes = [
        line.replace("**", "")
        for line in (
            said.heading,
            said.second,
            said.coverage,
            *(f"{one.text}." for one in said.doubts),
        )
        if line
    ]
    return Compared(
        Answer(pa.Table.from_pylist(figures(comparison, called), _FIGURES), heading, of=COMPARED),
        Answer(as_words(comparison, called), heading, shown, of={**COMPARED_WORDS, **sides_named}),
        said,
        tuple(notes),
    )


_TYPES = {Unit.COUNT: pa.int64(), Unit.RATIO: pa.float64()}
_FIGURES = pa.schema(
    [
        (key, pa.float64() if key == "median" else _TYPES.get(entry.unit, pa.string()))
        for key, entry in COMPARED.items()
    ]
)


def figures(comparison: Comparison, called: Sequence[Name]) -> list[dict[str, Any]]:
    """Return a row per group and metric, the baseline's without a ratio: columns of COMPARED.

    Money in dollars, times in milliseconds.
    """
    rows = []
    for number, (group, name) in enumerate(zip(comparison.groups, called, strict=True)):
        for key in comparison.metrics:
            metric, known = METRICS_COMPARED[key], group.of(key)
            ratio = comparison.ratios[number - 1][key] if number else Ratio(Verdict.UNRECORDED)
            has_ratio = number > 0 and ratio.verdict not in (
                Verdict.UNRECORDED,
                Verdict.UNLIKE,
                Verdict.UNSHARED,
                Verdict.NO_RATIO,
            )
            is_open = not has_ratio or ratio.sign == "?"
            row = {
                "group": name.whole,
                "filters": None if group.filters is None else queries.as_text(group.filters),
                "metric": key,
                "unit": str(metric.unit),
                "better": metric.better,
                "basis": comparison.basis.key if key == "cost" else None,
                "runs": group.runs,
                "started": group.started,
                "tasks": group.tasks,
                "completed_tasks": group.completed_tasks,
                "open_tasks": group.open_tasks,
                "known": known.runs,
                "median": None if known.median is None else float(known.median),
                "median_bound": known.sign or None,
                "pair": (TASK if comparison.is_paired(number - 1) else queries.NOTHING)
                if number
                else None,
                "n": min(ratio.n) if has_ratio else None,
                "ratio": None if is_open else ratio.value,
                "ratio_bound": ratio.sign or None,
                "ratio_low": ratio.low,
                "ratio_high": ratio.high,
                "verdict": str(ratio.verdict) if number else "baseline",
            }
            if has_ratio and ratio.tasks:
                row |= {
                    "tasks_lower": ratio.lower,
                    "tasks_higher": ratio.higher,
                    "tasks_undecided": ratio.undecided,
                }
            rows.append(row)
    return rows
