"""Questions that only screens ask: what a filter can be set to, and figures drawn as bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.filters.registry import FILTERS, SEARCHED
from app.queries.runs import RUN_COLUMNS, fetch, most_expensive_first
from ingest.store.database import Store
from schemas.catalogue.cost_measures import LIST
from schemas.catalogue.entry import Figure
from schemas.catalogue.figures import RUN_FIGURES

MOST_OPTIONS = 300
"""The most values that a filter offers to choose from, and the most models that have a colour of their own."""

BEFORE, EXCERPT = 24, 160
"""Characters of a text before a match, and in all."""


@dataclass(frozen=True)
class Along:
    """What runs follow one another by: `place` for a few of them, `moment` where they are many."""

    label: str
    place: str
    moment: str


AXES = {
    "time": Along("Date", "dated_at", "dated_at"),
    "received": Along("Ingestion order", "row_number() over (order by received_at, source_name, ordinal)", "received_at"),
}
"""Records carry no time of their own: where nothing around them does, the order in which they were read is all there is. The date of a
file is no time: it may be that of a copy."""


@dataclass(frozen=True)
class Order:
    """One way to order runs; those without the figure come last."""

    label: str
    sql: str


ORDERS = {
    "most-expensive": Order("Cost, high to low", most_expensive_first()),
    "least-expensive": Order("Cost, low to high", "cost_own_usd nulls last, cost_list_usd nulls last"),
    "list-high": Order("List-price cost, high to low", most_expensive_first(LIST)),
    "list-low": Order("List-price cost, low to high", "cost_list_usd nulls last"),
    "longest": Order("Duration, long to short", "duration_ms desc nulls last"),
    "turns": Order("Turns, high to low", "num_turns desc nulls last"),
    "newest": Order("Date, newest first", "coalesce(ended_at, started_at) desc nulls last"),
    "received": Order("Recently ingested", "received_at desc nulls last, ordinal desc"),
    "findings": Order("Findings, high to low", "findings desc nulls last"),
    "speedup": Order("Claimed speedup, high to low", "claimed_speedup desc nulls last"),
} | {figure.word: Order(figure.order, f"{figure.key} desc nulls last") for figure in RUN_FIGURES.values() if figure.order}
"""Orders of the list of runs."""


def options_by_filter(store: Store, limit: int) -> dict[str, dict[str, int]]:
    """What each filter can be set to: filter → value → runs; at most `limit` values of a filter, the most frequent first."""
    parts = [f"(select '{key}' as key, {_counted(key, 'counted', limit)})" for key, filter_ in FILTERS.items() if filter_.options]
    # the view is read and planned once for all filters: to plan it for each takes longer than to read a thousand runs
    counted = "with counted as materialized (select * from v_runs where not excluded)"
    found: dict[str, dict[str, int]] = {}
    for row in fetch(store, f"{counted} {' union all '.join(parts)} order by key, runs desc, value").to_pylist():
        found.setdefault(row["key"], {})[row["value"]] = row["runs"]
    return found


def ranked_models(store: Store) -> list[str]:
    """All models of the store, the most expensive first: the order of colours and legends."""
    order = "sum(cost_own_usd) desc nulls last, sum(cost_list_usd) desc nulls last, model"
    sql = f"select model from model_usage where model is not null group by model order by {order}"
    return [str(model) for model in fetch(store, sql)["model"].to_pylist()]


def values_of(store: Store, filters: Filters, key: str, limit: int) -> list[str]:
    """What the filter `key` can be set to among the runs that the others leave, the most frequent first."""
    condition = where(filters)
    sql = f"select {_counted(key, f'v_runs where {condition.sql}', limit)}"
    return [str(value) for value in fetch(store, sql, condition.parameters)["value"].to_pylist()]


def _counted(key: str, of_runs: str, limit: int) -> str:
    """What a filter can be set to, with the number of `runs`; what a `select` goes on with."""
    return (
        f"value, count(*) as runs from (select {FILTERS[key].options} as value from {of_runs})"
        f" where value is not null group by value order by runs desc, value limit {int(limit)}"
    )


def runs(store: Store, filters: Filters, order: str, limit: int, offset: int = 0) -> pa.Table:
    """Runs with RUN_COLUMNS in one of ORDERS, `limit` of them from the `offset`th on."""
    condition = where(filters)
    sql = f"select {', '.join(RUN_COLUMNS)} from v_runs where {condition.sql} order by {ORDERS[order].sql}, run_id"
    return fetch(store, f"{sql} limit {int(limit)} offset {int(offset)}", condition.parameters)


class Neighbours(NamedTuple):
    """The runs before and after one in a list, by their ids; its place in the list, from 1, and the length of the list."""

    previous: str | None
    following: str | None
    place: int
    total: int


def neighbours(store: Store, filters: Filters, order: str, run_id: str) -> Neighbours | None:
    """What is around the run in the list that `runs` gives; None where the filters leave it out."""
    condition = where(filters)
    sql = f"""
        select previous, following, place, total from (
            select run_id, lag(run_id) over listed as previous, lead(run_id) over listed as following,
                   row_number() over listed as place, count(*) over () as total
            from v_runs where {condition.sql} window listed as (order by {ORDERS[order].sql}, run_id)
        ) where run_id = $run_id"""
    rows = fetch(store, sql, condition.parameters | {"run_id": run_id}).to_pylist()
    return Neighbours(**rows[0]) if rows else None


def excerpts(store: Store, run_ids: Sequence[str], text: str) -> dict[str, tuple[str, str]]:
    """Run id → where the text stands in it first, a column of SEARCHED or `path`, and the part of that text around it."""
    found = " ".join(f"when contains(lower({column}), lower($text)) then ['{column}', {column}]" for column in SEARCHED)
    sql = f"""
        with changed as (
            select run_id, min(path) as path from file_changes
            where run_id in (select unnest($run_ids)) and contains(lower(path), lower($text)) group by run_id
        ),
        matches as (
            select run_id, case {found} when path is not null then ['path', path] end as match
            from v_runs left join changed using (run_id) where run_id in (select unnest($run_ids))
        ),
        placed as (select run_id, match[1] as place, match[2] as said, strpos(lower(match[2]), lower($text)) as first from matches)
        select run_id, place, regexp_replace(substr(said, greatest(1, first - {BEFORE}), {EXCERPT}), '\\s+', ' ', 'g') as excerpt,
               first <= {BEFORE} as is_start
        from placed where place is not null"""
    rows = fetch(store, sql, {"text": text, "run_ids": list(run_ids)}).to_pylist()
    return {row["run_id"]: (row["place"], _from_a_word(row["excerpt"].rstrip(), is_start=row["is_start"])) for row in rows}


def _from_a_word(excerpt: str, *, is_start: bool) -> str:
    """Without the half word that it begins with, unless the text itself begins there."""
    half, blank, rest = excerpt.partition(" ")
    return excerpt.lstrip() if is_start else f"… {rest}" if blank and len(half) < BEFORE // 2 else f"…{excerpt}"


def series(store: Store, filters: Filters, measure: Figure, axis: str) -> pa.Table:
    """Every run that has the measure, along one of AXES: `run_id`, `title`, `model`, `outcome`, `x`, `value`, and `trend`.

    `trend` is the running median of the tenth of the runs around it.
    """
    condition = where(filters)
    reach = max(2, count(store, filters) // 20)
    sql = f"""
        with points as (
            select run_id, title, model, outcome, {AXES[axis].place} as x, {measure.key}::double as value
            from v_runs where {condition.sql} and {measure.key} is not null
        )
        select *, median(value) over (order by x, run_id rows between {reach} preceding and {reach} following) as trend
        from points where x is not null order by x, run_id"""
    return fetch(store, sql, condition.parameters)


def bands(store: Store, filters: Filters, measure: Figure, axis: str, steps: int) -> pa.Table:
    """The same where there are too many runs to draw, in `steps` even parts of the axis: `x`, `runs`, `low`, `middle`, `high`.

    A tenth of a part's runs lies below `low`, a tenth above `high`.
    """
    condition = where(filters)
    at = f"epoch({AXES[axis].moment})"
    chosen = f"v_runs where {condition.sql} and {measure.key} is not null and {AXES[axis].moment} is not null"
    [ends] = fetch(store, f"select min({at}) as first, max({at}) as last from {chosen}", condition.parameters).to_pylist()
    if ends["first"] is None:
        ends = {"first": 0.0, "last": 0.0}
    sql = f"""
        select to_timestamp($first + step * $width) as x, runs, found[1] as low, found[2] as middle, found[3] as high
        from (
            select least($steps - 1, floor(({at} - $first) / $width)) as step, count(*) as runs,
                   quantile_cont({measure.key}::double, [0.1, 0.5, 0.9]) as found
            from {chosen} group by step
        ) order by x"""
    width = max((ends["last"] - ends["first"]) / steps, 1.0)
    return fetch(store, sql, condition.parameters | {"first": ends["first"], "width": width, "steps": steps})


def density(store: Store, filters: Filters, x: str, y: str, cells: int) -> pa.Table:
    """How many `runs` lie in each cell, `cells` to a power of ten either way: the cells' middle as logarithms `x` and `y` (base 10)."""
    condition = where(filters)
    sql = f"""
        select (floor(log10({x}::double) * $cells) + 0.5) / $cells as x, (floor(log10({y}::double) * $cells) + 0.5) / $cells as y,
               count(*) as runs
        from v_runs where {condition.sql} and {x} > 0 and {y} > 0 group by all order by x, y"""
    return fetch(store, sql, condition.parameters | {"cells": cells})


def count(store: Store, filters: Filters) -> int:
    """How many runs there are."""
    condition = where(filters)
    return int(fetch(store, f"select count(*) as runs from v_runs where {condition.sql}", condition.parameters)["runs"][0].as_py())
