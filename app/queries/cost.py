"""Questions of the screen Cost & time: where money and hours went, by agent, model and month, and what list prices would make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from app.queries.agents import bound_of
from app.queries.filters.chosen import Filters, where
from app.queries.filters.registry import COUNTED
from app.queries.runs import KNOWN_SUFFIX, fetch, usage_by
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, LIST, REPORTED, CostMeasure
from schemas.catalogue.metrics import FEWEST_VALUES, MODEL_METRICS

COST_FACTS = (
    "runs", "cost_usd", "cost_list_usd", "unreported_runs", "unreported_list_usd", "unlisted_runs", "unlisted_cost_usd", "bounded_runs",
    "bounded_list_usd", "token_bounds", "unpriced_runs", "cost_best_usd", "costless_runs", "bounded_best_usd", "cost_best_bounds",
)  # fmt: skip
"""Which runs have a reported cost, which a list-price cost, and how much of that are bounds."""

MODEL_FIGURES = ("cost_usd", "cost_list_usd", "bounded_list_usd", "cost_delta_usd", "cost_compared_usd", "cost_delta_share", "causes")

FAR, ENOUGH_TO_JUDGE = 5.0, 10
"""A slow outlier takes FAR times the median of ENOUGH_TO_JUDGE runs or more of its agent and model."""


def is_comparable(before: Mapping[str, Any], after: Mapping[str, Any], measure: CostMeasure) -> bool:
    """Whether the change from one sum of costs to another is a percentage: both of five known costs, and of one kind.

    `before`, `after`: COST_FACTS with their known counts. Sums differ in kind where one has reported costs, list prices or bounds, and the
    other has none.
    """

    def kind(facts: Mapping[str, Any]) -> tuple[bool, bool, str | None]:
        has_list = measure is LIST or (measure is BEST and facts[f"unreported_list_usd{KNOWN_SUFFIX}"] > 0)
        bounds = {LIST: facts["token_bounds"], BEST: facts["cost_best_bounds"]}.get(measure)
        return has_list, measure is not LIST and facts[f"cost_usd{KNOWN_SUFFIX}"] > 0, bounds

    least = min(facts[f"{measure.total}{KNOWN_SUFFIX}"] for facts in (before, after))
    return least >= FEWEST_VALUES and kind(before) == kind(after)


@dataclass(frozen=True, slots=True)
class MonthCost:
    """What the `started` runs of an agent and model cost in a month (`2026-03`, None without a date), of which `known` tell it.

    `bounds` names the kinds of bounds in the sum. `total_usd` is the sum up to this row, `total_bounds` the bounds in that.
    """

    agent: str | None
    model: str | None
    month: str | None
    started: int
    known: int
    cost_usd: Decimal | None
    bounds: str
    total_usd: Decimal | None
    total_bounds: str


def by_month(store: Store, filters: Filters, measure: CostMeasure = BEST) -> list[MonthCost]:
    """Cost by month, agent and model: months (UTC) one after the other, runs without a date last, the largest sum of a month first."""
    condition = where(filters)
    sql = f"""
        select agent, model_group as model, strftime(dated_at at time zone 'UTC', '%Y-%m') as month,
               count(*) filter (is_started) as started,
               count(cost) filter (is_started) as known, sum(cost) filter (is_started) as cost_usd,
               coalesce(string_agg(distinct bound, ', ' order by bound) filter (is_started and cost is not null), '') as bounds
        from (select *, {measure.column} as cost, {bound_of(measure)} as bound from v_runs where {condition.sql})
        group by all having started > 0 order by month nulls last, cost_usd desc nulls last, started desc, agent, model"""
    found: list[MonthCost] = []
    total: Decimal | None = None
    bounds: set[str] = set()
    for row in fetch(store, sql, condition.parameters).to_pylist():
        total = total if row["cost_usd"] is None else (total or Decimal(0)) + row["cost_usd"]
        bounds |= set(filter(None, row["bounds"].split(", ")))
        found.append(MonthCost(**row, total_usd=total, total_bounds=", ".join(sorted(bounds))))
    return found


@dataclass(frozen=True, slots=True)
class ListPrice:
    """The runs of an agent and model with both a reported and a list-price cost, by why these differ (`cause`: a key of CAUSES).

    `saved_usd`: what caching saved at list prices.
    """

    agent: str | None
    model: str | None
    cause: str | None
    runs: int
    reported_usd: Decimal
    list_usd: Decimal
    delta_usd: Decimal
    saved_usd: Decimal | None


def list_prices(store: Store, filters: Filters) -> list[ListPrice]:
    """Reported against list-price cost by agent, model and cause, the largest difference of an agent and model first."""
    condition = where(filters)
    sql = f"""
        select agent, model_group as model, cost_cause as cause, count(*) as runs, sum(cost_own_usd) as reported_usd,
               sum(cost_list_usd) as list_usd, sum(cost_delta_usd) as delta_usd, sum(cache_saved_usd) as saved_usd
        from v_runs where {condition.sql} and is_started and cost_delta_usd is not null group by agent, model_group, cost_cause
        order by sum(sum(cost_own_usd)) over (partition by agent, model_group) desc, agent, model, abs(delta_usd) desc, cause"""
    return [ListPrice(**row) for row in fetch(store, sql, condition.parameters).to_pylist()]


@dataclass(frozen=True, slots=True)
class Times:
    """Wall times in milliseconds of the runs of an agent and model, or of all runs (`is_all`).

    `known` of the started runs tell their time, together `wall_ms`, `lost_ms` of it in runs that did not complete. `median`, `p90` and
    `longest` are of the `timed` completed runs. `parallelism` is the median of API time ÷ wall time of `parallel` runs.
    """

    agent: str | None
    model: str | None
    is_all: bool
    runs: int
    started: int
    completed: int
    known: int
    wall_ms: int | None
    lost: int
    lost_ms: int | None
    timed: int
    median: float | None
    p90: float | None
    longest: int | None
    parallelism: float | None
    parallel: int


def times(store: Store, filters: Filters) -> list[Times]:
    """Wall times of all runs in the first row, then by agent and model, the most time first."""
    condition = where(filters)
    done = "is_started and is_completed"
    sql = f"""
        select agent, model_group as model, grouping(agent) = 1 as is_all, count(*) as runs, count(*) filter (is_started) as started,
               count(*) filter ({done}) as completed, count(duration_ms) filter (is_started) as known,
               sum(duration_ms) filter (is_started)::bigint as wall_ms,
               count(duration_ms) filter (is_started and not is_completed) as lost,
               sum(duration_ms) filter (is_started and not is_completed)::bigint as lost_ms,
               count(duration_ms) filter ({done}) as timed, median(duration_ms) filter ({done}) as median,
               quantile_cont(duration_ms::double, 0.9) filter ({done}) as p90, max(duration_ms) filter ({done}) as longest,
               median(parallelism) filter ({done} and not is_carried_over) as parallelism,
               count(parallelism) filter ({done} and not is_carried_over) as parallel
        from v_runs where {condition.sql} group by grouping sets ((), (agent, model_group))
        order by is_all desc, wall_ms desc nulls last, runs desc, agent, model"""
    return [Times(**row) for row in fetch(store, sql, condition.parameters).to_pylist()]


def slow(store: Store, filters: Filters, limit: int) -> list[dict[str, Any]]:
    """Completed runs that took FAR times the median of the completed runs of their agent and model, the furthest first.

    Each has `run_id`, `title`, `agent`, `model`, `duration_ms`, `usual` (the median, of `judged_by` runs) and `times_usual`.
    """
    condition = where(filters)
    sql = f"""
        with completed as (
            select run_id, title, agent, model_group as model, duration_ms,
                   median(duration_ms) over same as usual, count(*) over same as judged_by
            from v_runs where {condition.sql} and is_started and is_completed and duration_ms > 0
            window same as (partition by agent, model_group)
        )
        select *, duration_ms / usual as times_usual from completed
        where judged_by >= {ENOUGH_TO_JUDGE} and duration_ms >= {FAR} * usual order by times_usual desc, run_id limit {int(limit)}"""
    found: list[dict[str, Any]] = fetch(store, sql, condition.parameters).to_pylist()
    return found


def model_costs(store: Store, filters: Filters, measure: CostMeasure) -> pa.Table:
    """`model` and `cost_usd`: what the tokens of each cost by the measure, most expensive first, of the runs whose own cost is known."""
    condition, cost = where(filters), measure.column
    sql = f"""
        select model, sum({cost}) as cost_usd from ({usage_by(measure)})
        semi join (select run_id from v_runs where {condition.sql} and {cost} is not null) as wanted using (run_id)
        group by model order by cost_usd desc nulls last, model"""
    return fetch(store, sql, condition.parameters)


def models(store: Store, filters: Filters, measure: CostMeasure = REPORTED) -> pa.Table:
    """MODEL_FIGURES per model, provider and region, most expensive first; `uses` counts model rows: a run's use of one id of the model.

    Unlike `queries.models` it counts no runs, which takes ten times as long as all of this over a million of them.
    """
    condition = where(filters)
    figures = ", ".join(f"{MODEL_METRICS[key].sql} as {key}" for key in MODEL_FIGURES)
    chosen = f"semi join (select run_id from v_runs where {condition.sql}) as wanted using (run_id)" if filters else f"where {COUNTED}"
    sql = f"""
        select model, provider, region, count(*) as uses, {figures}, count(cost_list_usd) as priced_uses
        from v_model_rows {chosen}
        group by model, provider, region order by {measure.total} desc nulls last, model, provider, region"""
    return fetch(store, sql, condition.parameters)
