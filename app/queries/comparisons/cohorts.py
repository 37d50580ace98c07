"""Two cohorts of runs, each chosen by filters, compared measure by measure. `app.text.words.cohorts` says it in words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from app.queries import runs as run_queries
from app.queries.comparisons import distributions as distribution_queries
from app.queries.comparisons.bootstrap import Comparison, Estimate, compare
from app.queries.filters.chosen import Filters
from app.queries.read_transaction import read_transaction
from ingest.store.database import Store
from ingest.system.command_lines import command_line
from schemas.catalogue.columns import COMPARED, MEASURES
from schemas.catalogue.entry import Figure


@dataclass(frozen=True)
class Cohorts:
    """What was compared: `runs` of each cohort, how many runs are in both, and each measure that both know."""

    runs: tuple[int, int]
    shared: int
    compared: Mapping[str, Comparison]


def compare_cohorts(
    store: Store, first: Filters, second: Filters, paired: Sequence[str] = tuple(MEASURES), base: Store | None = None
) -> Cohorts:
    """Compare the runs that the filters choose; the measures in `paired` also task by task. Raises StoreError.

    `base`: the store of the first cohort, where that is another one.
    """
    with read_transaction(store) as candidate, read_transaction(base) if base else nullcontext(candidate) as baseline:
        sides = ((baseline, baseline.searched(first)), (candidate, candidate.searched(second)))
        tables = [distribution_queries.values(side, filters, list(MEASURES.values())) for side, filters in sides]
        tasks = [distribution_queries.task_medians(side, filters, [MEASURES[key] for key in paired]) for side, filters in sides]
        if base:
            ids = [set(run_queries.ids(side, filters)) for side, filters in sides]
            shared = len(ids[0] & ids[1])
        else:
            shared = distribution_queries.shared(candidate, sides[0][1], sides[1][1])
    compared = {}
    for word, measure in MEASURES.items():
        one, two = (_numbers(table[measure.key]) for table in tables)
        if found := compare(one, two, (tasks[0].get(measure.key, {}), tasks[1].get(measure.key, {}))):
            compared[word] = found
    return Cohorts((tables[0].num_rows, tables[1].num_rows), shared, compared)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Without `to_numpy`, with which pyarrow imports pandas: 0.3 s. What is null becomes NaN."""
    numbers = column.combine_chunks().cast(pa.float64())
    return np.asarray(np.from_dlpack(numbers.fill_null(pa.scalar(np.nan, pa.float64()))), np.float64)


def as_figures(cohorts: Cohorts) -> pa.Table:
    """One row per measure with every number as it is, for programs; durations in milliseconds, money in US dollars."""
    return pa.Table.from_pylist([_figures(MEASURES[key], found) for key, found in cohorts.compared.items()], _FIGURES)


def command(cohorts: Sequence[Filters], location: str) -> str:
    """The same comparison of the store at `location` on the command line."""
    return command_line(" ".join(["compare", *(shlex.quote(_key_values(filters)) for filters in cohorts)]), location)


def _key_values(filters: Filters) -> str:
    """`main-model=claude-opus-4-6 repo=vllm`, as `app.queries.filters.chosen.parse` reads them."""
    return " ".join(shlex.quote(f"{key}={value}") for key, values in filters.chosen for value in values)


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
