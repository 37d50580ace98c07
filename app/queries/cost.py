"""Questions of the screen Cost: who spent what, when, and at which prices. Counted where the runs are; a screen gets a few thousand rows.

Each opens the store for its own query, as `app.queries.runs` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.filters.registry import COUNTED
from app.queries.grouping import group
from app.queries.runs import KNOWN_SUFFIX, fetch, model_shares, summary, usage_by
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, LIST, ON_SCREENS, REPORTED, CostMeasure
from schemas.catalogue.metrics import FEWEST_VALUES, MODEL_METRICS

TIME, RECEIVED = "time", "received"

PARTS = 200
"""Steps of a line along time or order: as many as a screen can show apart."""

MOST_MODELS = 40
"""Most models with rows along time, by cost; the others are one row. Charts draw fewer, chosen by the whole store."""

DRAWN_METRICS = (
    "runs", "cost_usd", "cost_share", "cost_list_usd", "cost_delta_usd", "cost_compared_usd", "cost_uncached_usd", "cache_saved_usd",
    "cache_hit_ratio", "cost_cache_write_usd", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
    "bounded_list_usd",
)  # fmt: skip
"""Figures of groups that charts draw."""

GROUP_METRICS = (*DRAWN_METRICS, "cost_delta_share", "cache_saved_share", "cost_median_usd", "cost_per_completed_usd")
"""Figures of groups that a table lists."""

COST_FACTS = (
    "runs", "cost_usd", "cost_list_usd", "unreported_runs", "unreported_list_usd", "unlisted_runs", "unlisted_cost_usd", "bounded_runs",
    "bounded_list_usd", "token_bounds", "unpriced_runs", "cost_best_usd", "costless_runs", "bounded_best_usd", "cost_best_bounds",
)  # fmt: skip
"""Which runs have a reported cost, which a list-price cost, and how much of that are bounds."""

CAUSE_METRICS = ("runs", "cost_usd", "cost_list_usd", "cost_delta_usd", "cost_delta_share")
MODEL_FIGURES = ("cost_usd", "cost_list_usd", "bounded_list_usd", "cost_delta_usd", "cost_compared_usd", "cost_delta_share", "causes")

RUN_COLUMNS = (
    "run_id", "title", "dated_at", "agent", "model", "outcome", "is_started", "cost_own_usd", "cost_list_usd", "cost_delta_usd",
    "cost_cause", "cache_saved_usd", "tokens_basis", "duration_ms", "num_turns", "cost_per_turn_usd", "repo", "task", "experiment",
)  # fmt: skip
"""Columns of a list of the most expensive runs."""


@dataclass(frozen=True)
class Groups:
    """Figures per group and how many groups there are in all; `table` has the most expensive.

    Of a dimension in order (day) it has the latest groups instead. Unknown is a group too, and comes last there.
    """

    table: pa.Table
    total: int
    in_order: bool


def usual_measure(_facts: Mapping[str, Any]) -> CostMeasure:
    """What cost is counted by unless somebody chooses: as best known."""
    return BEST


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


def choices(facts: Mapping[str, Any]) -> list[CostMeasure]:
    """The measures that a screen offers: those that have anything to show, the usual one where none has."""
    return [measure for measure in ON_SCREENS if facts[measure.lacks] < facts["runs"]] or [BEST]


def groups(
    store: Store, filters: Filters, by: str, limit: int, metrics: Sequence[str] = DRAWN_METRICS, measure: CostMeasure = REPORTED
) -> Groups:
    """The metrics per group, those of cost by the measure too, at most `limit` groups; days are those of UTC."""
    found = summary(store, filters, (by,), tuple(dict.fromkeys((*metrics, *map(measure.of, metrics)))), measure=measure)
    in_order = group(by).in_order
    first = max(0, found.num_rows - limit) if in_order else 0
    return Groups(found.slice(first, limit), found.num_rows, in_order)


def by_cause(store: Store, filters: Filters) -> pa.Table:
    """CAUSE_METRICS per cause of the difference between list and reported cost, largest difference first; what is unknown comes last."""
    found = summary(store, filters, ("cause",), CAUSE_METRICS)
    sizes = [-1 if delta is None else abs(delta) for delta in found["cost_delta_usd"].to_pylist()]
    return found.take(pa.array(sorted(range(len(sizes)), key=lambda place: -sizes[place]), pa.int64()))


def shares(store: Store, filters: Filters, by: str, limit: int, measure: CostMeasure = REPORTED) -> pa.Table:
    """Each model's own share of the same groups: `group`, `model`, `cost_usd` by the measure.

    What runs cost without saying of which model is a row without one, so that the shares add up to their group.
    """
    condition, chosen, cost = where(filters), group(by), measure.column
    order = '"group" desc nulls first' if chosen.in_order else 'cost_usd desc nulls last, sum(list_usd) desc nulls last, "group"'
    sql = f"""
        with wanted as not materialized (  -- read twice: to keep lists of models of a million runs takes longer
            select {chosen.sql} as "group", run_id, {cost} as usd, cost_list_usd as list_usd, models, model_costs_usd
            from v_runs where {condition.sql}
        ),
        listed as (select "group", sum(usd) as cost_usd from wanted group by "group" order by {order} limit {int(limit)}),
        parts as materialized (
            select "group", model, sum(cost_usd) as cost_usd from ({_OWN_PARTS[measure.key]}) group by all having sum(cost_usd) <> 0
        ),
        named as (select "group", sum(cost_usd) as cost_usd from parts group by "group"),
        rest as (
            select listed."group", null as model, listed.cost_usd - coalesce(named.cost_usd, 0) as cost_usd
            from listed left join named on named."group" is not distinct from listed."group"
        )
        select "group", model, sum(cost_usd) as cost_usd
        from (
            select parts.* from parts join listed on parts."group" is not distinct from listed."group"
            union all
            select * from rest where cost_usd > 0
        )
        group by all order by cost_usd desc, "group", model"""
    return fetch(store, sql, condition.parameters | dict(chosen.parameters))


_OWN_PARTS = {
    REPORTED.key: 'select "group", unnest(models) as model, unnest(model_costs_usd) as cost_usd from wanted',
    LIST.key: 'select "group", model_usage.model, cost_list_usd as cost_usd from wanted join model_usage using (run_id)'
    " where usd is not null",
    BEST.key: f'select "group", usage.model, {BEST.column} as cost_usd from wanted join ({usage_by(BEST)}) as usage using (run_id)'
    " where usd is not null",
}
"""What the models of the wanted runs cost. At list prices only those of a run count whose models all have a price, as in its own cost."""


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


def most_expensive(store: Store, filters: Filters, limit: int, measure: CostMeasure = REPORTED) -> pa.Table:
    """RUN_COLUMNS and cost of the `limit` most expensive runs. The least of their costs is found first: few rows are then read whole."""
    condition, cost = where(filters), measure.column
    sql = f"""
        select {", ".join(dict.fromkeys((*RUN_COLUMNS, cost)))} from v_runs
        where {condition.sql} and {cost} >= (
            select min({cost}) from (
                select {cost} from v_runs where {condition.sql} order by {cost} desc nulls last limit {int(limit)}
            )
        ) order by {cost} desc, run_id limit {int(limit)}"""
    return fetch(store, sql, condition.parameters)


def models_of(store: Store, run_ids: Sequence[str], measure: CostMeasure = REPORTED) -> pa.Table:
    """Each model's share of these runs, as `queries.model_rows` gives it."""
    chosen = f"select place, run_id, {measure.column} from v_runs where run_id in (select unnest($run_ids))"
    return model_shares(store, chosen, {"run_ids": list(run_ids)}, measure)


_TIME = "dated_at"


def times(store: Store, filters: Filters, measure: CostMeasure = REPORTED) -> dict[str, Any]:
    """Of the runs with a cost: how many there are, how many have a recorded time, how many their file's only, what those without cost."""
    condition, cost = where(filters), measure.column
    sql = f"""
        select count(*) as runs, count({_TIME}) as timed, sum({cost}) filter ({_TIME} is null) as untimed_usd,
               count(*) filter (time_source = 'file') as of_files, min({_TIME}) as first, max({_TIME}) as last
        from v_runs where {condition.sql} and {cost} is not null"""
    [row] = fetch(store, sql, condition.parameters).to_pylist()
    return dict(row)


def spending(store: Store, filters: Filters, axis: str, about: dict[str, Any], measure: CostMeasure = REPORTED) -> pa.Table:
    """What runs cost along TIME, or in the order in which they were RECEIVED, in at most about PARTS steps. `about` is what `times` says.

    Each row is one main model in one step: `x` (the time of the step's last run, or how many runs there are up to it), `model`,
    `is_other` (a model beyond MOST_MODELS), `cost_usd`, `runs`, and `run_id` and `title` where it is a single run.
    """
    condition, is_timed, cost = where(filters), axis == TIME, measure.column
    keys, width = (_time_keys if is_timed else _order_keys)(about)
    sql = f"""
        with pieces as (
            select {", ".join(f"{key} as k{number}" for number, key in enumerate(keys))}, model, sum({cost}) as cost_usd,
                   count(*) as runs, any_value(run_id) as run_id, max({_TIME}) as last_at
            from v_runs where {condition.sql} and {cost} is not null {f"and {_TIME} is not null" if is_timed else ""}
            group by all
        ),
        placed as (select *, sum(runs) over (order by {", ".join(f"k{number}" for number in range(len(keys)))}) as place from pieces),
        ranks as (
            select model, row_number() over (order by sum(cost_usd) desc, model) > {MOST_MODELS} as is_other from pieces group by model
        ),
        steps as (
            select {"k0" if is_timed else f"((place - 1) * {PARTS}) // {max(PARTS, about['runs'])}"} as step, placed.*, is_other
            from placed join ranks on placed.model is not distinct from ranks.model
        ),
        parts as (
            select step, max({"max(last_at)" if is_timed else "max(place)::bigint"}) over (partition by step) as x,
                   case when not is_other then model end as model, is_other, sum(cost_usd) as cost_usd, sum(runs)::bigint as runs,
                   case when sum(runs) = 1 then min(run_id) end as run_id
            from steps group by step, 3, is_other
        )
        select x, parts.model, is_other, cost_usd, runs, run_id, title
        from parts left join (select run_id, title from v_runs semi join parts using (run_id)) as named using (run_id)
        order by step, cost_usd desc, parts.model"""
    return fetch(store, sql, condition.parameters | {"width": width})


def _time_keys(about: dict[str, Any]) -> tuple[list[str], int]:
    """Even stretches of time; single moments where runs are few. The width of a stretch is in milliseconds."""
    is_few = about["runs"] <= PARTS or about["first"] is None
    width = 1 if is_few else max(1, int((about["last"] - about["first"]).total_seconds() * 1000) // PARTS)
    return [f"epoch_ms({_TIME}) // $width"], width


def _order_keys(about: dict[str, Any]) -> tuple[list[str], int]:
    """Sources in the order they were read, by name within one ingest, and their documents a few at a time."""
    return ["any_value(received_at)", "any_value(source_name)", "source_id", "ordinal // $width"], max(1, about["runs"] // PARTS)
