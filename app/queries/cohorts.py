"""Two cohorts of runs, each chosen by filters, compared measure by measure: for the command line and for the screen."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from app.queries import distributions as distribution_queries
from app.queries.bootstrap import LEVEL, Comparison, Estimate, Verdict, compare
from app.queries.filters import Filters
from app.queries.read_transaction import held
from app.text.formatting import UNKNOWN, human
from ingest.store.database import Store
from schemas.catalogue.columns import COMPARED, MEASURES, compared
from schemas.catalogue.entry import Figure
from schemas.unit_names import Unit


@dataclass(frozen=True)
class Cohorts:
    """What was compared: `runs` of each cohort, how many runs are in both, and each measure that both know."""

    runs: tuple[int, int]
    shared: int
    compared: Mapping[str, Comparison]


def compare_cohorts(store: Store, first: Filters, second: Filters, paired: Sequence[str] = tuple(MEASURES)) -> Cohorts:
    """Compare the runs that the filters choose; the measures in `paired` also task by task. Raises StoreError."""
    with held(store) as moment:
        tables = [distribution_queries.values(moment, filters, list(MEASURES.values())) for filters in (first, second)]
        tasks = [distribution_queries.task_medians(moment, filters, [MEASURES[key] for key in paired]) for filters in (first, second)]
        shared = distribution_queries.shared(moment, first, second)
    found_of = {}
    for word, measure in MEASURES.items():
        one, two = (np.asarray(table[measure.key].to_numpy(), np.float64) for table in tables)
        if found := compare(one, two, (tasks[0].get(measure.key, {}), tasks[1].get(measure.key, {}))):
            found_of[word] = found
    return Cohorts((tables[0].num_rows, tables[1].num_rows), shared, found_of)


def as_figures(cohorts: Cohorts) -> pa.Table:
    """One row per measure with every number as it is, for programs; durations in milliseconds, money in US dollars."""
    return pa.Table.from_pylist([_figures(MEASURES[key], found) for key, found in cohorts.compared.items()], _FIGURES)


def as_words(cohorts: Cohorts) -> pa.Table:
    """The same for people: columns of `schemas.catalogue.columns.compared`."""
    rows = [_words(MEASURES[key], found) for key, found in cohorts.compared.items()]
    known = [key for key in compared() if key != "tasks" or any(row["tasks"] != UNKNOWN for row in rows)]
    return pa.Table.from_pylist(rows, pa.schema([(key, pa.string()) for key in known]))


def finding(measure: Figure, found: Comparison, names: tuple[str, str]) -> str:
    """What the comparison of one measure shows, as a title."""
    first, second = (human(value, measure.unit) for value in found.medians)
    if found.verdict is Verdict.TOO_FEW:
        return f"{measure.label}: too few runs to compare, medians {first} and {second}"
    if found.verdict is Verdict.UNCLEAR:
        return f"{measure.label}: no clear difference, medians {first} and {second}"
    return f"{measure.label}: {names[1]} is {found.verdict}, median {second} against {first}"


def certainty(measure: Figure, found: Comparison) -> str:
    """How sure the difference of one measure is."""
    difference = found.difference
    if difference.low is None:
        return f"Known for {found.known[0]:,} and {found.known[1]:,} runs; an interval needs five on each side."
    text = f"Difference of medians {signed(difference.value, measure)}, with {LEVEL:.0%} confidence {_interval(difference, measure)}"
    return f"{text}; known for {found.known[0]:,} and {found.known[1]:,} runs."


def task_words(measure: Figure, found: Comparison) -> str:
    """What the tasks say that both cohorts have; empty where there is none."""
    pairs = found.paired
    if pairs is None:
        return ""
    text = f"Task by task, over {pairs.tasks:,} both have: lower in {pairs.lower:,}, higher in {pairs.higher:,}"
    interval = f", with {LEVEL:.0%} confidence {_interval(pairs.difference, measure)}" if pairs.difference.low is not None else ""
    return f"{text}; median difference {signed(pairs.difference.value, measure)}{interval}."


def command(cohorts: Sequence[Filters]) -> str:
    """The same comparison on the command line, for a place that shows code."""
    return " ".join(["tachograph compare", *(shlex.quote(filters.as_words()) for filters in cohorts)]).replace("`", "")


def signed(value: float, measure: Figure) -> str:
    """`+12.3 s`, `−$0.0021`, `±0`."""
    if not value:
        return "±0"
    return f"{'+' if value > 0 else '−'}{human(abs(value), measure.unit)}"


def _interval(estimate: Estimate, measure: Figure) -> str:
    return f"{signed(estimate.low or 0.0, measure)} to {signed(estimate.high or 0.0, measure)}"


def _words(measure: Figure, found: Comparison) -> dict[str, str]:
    first, second = (human(value, measure.unit) for value in found.medians)
    pairs = found.paired
    return {
        "measure": measure.label,
        "first": first,
        "second": second,
        "ratio": human(found.ratio.value, _RATIO) if found.ratio else UNKNOWN,
        "interval": f"{human(found.ratio.low, _RATIO)} to {human(found.ratio.high, _RATIO)}"
        if found.ratio and found.ratio.low is not None
        else UNKNOWN,
        "verdict": str(found.verdict),
        "tasks": f"lower in {pairs.lower:,}, higher in {pairs.higher:,} of {pairs.tasks:,}" if pairs else UNKNOWN,
    }


_RATIO = Unit.RATIO
_TEXTS, _COUNTS = ("measure", "unit", "better", "verdict"), ("first_known", "second_known", "tasks", "tasks_lower", "tasks_higher")
_TYPES = dict.fromkeys(_TEXTS, pa.string()) | dict.fromkeys(_COUNTS, pa.int64())
_FIGURES = pa.schema([(name, _TYPES.get(name, pa.float64())) for name in COMPARED])


def _figures(measure: Figure, found: Comparison) -> dict[str, Any]:
    pairs = found.paired
    estimates = {
        "difference": found.difference,
        "ratio": found.ratio,
        "task_difference": pairs.difference if pairs else None,
        "task_ratio": pairs.ratio if pairs else None,
    }
    texts = dict(zip(_TEXTS, (measure.key, str(measure.unit), measure.better, str(found.verdict)), strict=True))
    counts = (*found.known, *((pairs.tasks, pairs.lower, pairs.higher) if pairs else (None, None, None)))
    medians = {"first_median": found.medians[0], "second_median": found.medians[1]}
    return texts | dict(zip(_COUNTS, counts, strict=True)) | medians | _ends(estimates)


def _ends(estimates: Mapping[str, Estimate | None]) -> dict[str, float | None]:
    return {
        f"{name}{end}": getattr(one, attribute) if one else None
        for name, one in estimates.items()
        for end, attribute in (("", "value"), ("_low", "low"), ("_high", "high"))
    }
