"""Distributions of measures over runs: quantiles, bins and outliers, counted where the runs are; a screen gets a few hundred rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.grouping import Group, group
from app.queries.runs import fetch
from ingest.store.database import Store
from schemas.catalogue.entry import Figure

FEWEST_BINS, MOST_BINS = 10, 48
"""Enough to see a second hump, few enough to see the first."""

WIDE = 50
"""From this ratio of largest to smallest on, bins are even on a logarithmic scale."""

QUANTILES = {"p05": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95}


@dataclass(frozen=True)
class Scale:
    """Where `count` bins lie: from `low` to `high`, in even steps, of the logarithm where `logarithmic`."""

    low: float
    high: float
    logarithmic: bool
    count: int

    def edges(self) -> list[float]:
        """The ends of the bins, one more than there are bins."""
        low, high = (math.log(self.low), math.log(self.high)) if self.logarithmic else (self.low, self.high)
        places = [low + (high - low) * place / self.count for place in range(self.count + 1)]
        return [math.exp(place) for place in places] if self.logarithmic else places


def joined(scales: Sequence[Scale]) -> Scale | None:
    """One scale that covers all: logarithmic where all are. None where there is none."""
    if not scales:
        return None
    is_logarithmic = all(one.logarithmic for one in scales)
    low, high = min(one.low for one in scales) if is_logarithmic else 0.0, max(one.high for one in scales)
    return Scale(low, high, is_logarithmic, min(one.count for one in scales))


def scale(store: Store, filters: Filters, measure: Figure) -> Scale | None:
    """A scale that all known values of the measure lie on. None where there is none; a logarithmic one leaves out zeros."""
    condition = where(filters)
    value = _value(measure)
    sql = f"""select min({value}) as low, max({value}) as high, min({value}) filter ({value} > 0) as least, count({value}) as known
              from v_runs where {condition.sql}"""
    [found] = fetch(store, sql, condition.parameters).to_pylist()
    if found["high"] is None:
        return None
    if found["least"] is not None and found["high"] / found["least"] >= WIDE:
        return Scale(found["least"], found["high"] * 1.000001, logarithmic=True, count=_fitting(found["known"]))
    return Scale(0.0, found["high"] or 1.0, logarithmic=False, count=_fitting(found["known"]))


def _fitting(known: int) -> int:
    """How many bins so many values fill, by the rule of Rice: twice their cube root."""
    return min(MOST_BINS, max(FEWEST_BINS, round(2 * math.cbrt(known))))


def bins(store: Store, filters: Filters, measure: Figure, on: Scale) -> pa.Table:
    """`bin` (from 0) and `runs` of each bin with runs in it."""
    condition = where(filters)
    value = f"ln({_value(measure)})" if on.logarithmic else _value(measure)
    low, high = (math.log(on.low), math.log(on.high)) if on.logarithmic else (on.low, on.high)
    sql = f"""select least($last, greatest(0, floor(({value} - $low) * $per_unit)))::bigint as bin, count(*) as runs
              from v_runs where {condition.sql} and {_value(measure)} {"> 0" if on.logarithmic else "is not null"}
              group by bin order by bin"""
    bound = {"low": low, "per_unit": on.count / (high - low) if high > low else 0.0, "last": on.count - 1}
    return fetch(store, sql, condition.parameters | bound)


def quantiles(store: Store, filters: Filters, measure: Figure, by: str | None = None, limit: int = 20) -> pa.Table:
    """QUANTILES, `runs`, `known`, `least` and `most` of the measure; per `group` the most frequent ones, else over all runs."""
    condition = where(filters)
    grouped = group(by) if by else Group("group", "All", "'all runs'", {})
    shares = ", ".join(map(str, QUANTILES.values()))
    listed = ", ".join(f"found[{place}] as {name}" for place, name in enumerate(QUANTILES, 1))
    sql = f"""
        select "group", runs, known, least, most, {listed}
        from (
            select ({grouped.sql})::varchar as "group", count(*) as runs, count({_value(measure)}) as known,
                   min({_value(measure)}) as least, max({_value(measure)}) as most, quantile_cont({_value(measure)}, [{shares}]) as found
            from v_runs where {condition.sql} group by 1
        )
        where known > 0 order by known desc, "group" limit {int(limit)}"""
    return fetch(store, sql, condition.parameters | dict(grouped.parameters))


def values(store: Store, filters: Filters, measures: Sequence[Figure]) -> pa.Table:
    """Every run's value of each measure, one column per measure key."""
    condition = where(filters)
    listed = ", ".join(f'{_value(measure)} as "{measure.key}"' for measure in measures)
    return fetch(store, f"select {listed} from v_runs where {condition.sql}", condition.parameters)


def task_medians(store: Store, filters: Filters, measures: Sequence[Figure]) -> dict[str, dict[str, float]]:
    """Median of each measure (by its key) for each task (`task_key`); what is not known is left out."""
    if not measures:
        return {}
    condition = where(filters)
    listed = ", ".join(f'median({_value(measure)}) as "{measure.key}"' for measure in measures)
    sql = f"select task_key as task, {listed} from v_runs where {condition.sql} and task_key is not null group by 1"
    rows = fetch(store, sql, condition.parameters).to_pylist()
    return {measure.key: {row["task"]: row[measure.key] for row in rows if row[measure.key] is not None} for measure in measures}


def shared(store: Store, first: Filters, second: Filters) -> int:
    """How many runs both filters choose."""
    one, two = where(first, "a"), where(second, "b")
    sql = f"select count(*) as runs from v_runs where ({one.sql}) and ({two.sql})"
    return int(fetch(store, sql, one.parameters | two.parameters)["runs"][0].as_py())


def _value(measure: Figure) -> str:
    """Unknown for a run that never started, which says nothing of what runs usually take."""
    return f"case when is_started then {measure.key}::double end"
