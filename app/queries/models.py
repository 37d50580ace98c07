"""Cost and tokens by model, with those of helper models, and what no model of a run explains."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa

from app.queries.filters import Filters, Where, counted, where
from app.queries.reading import fetch, fetch_rows
from app.queries.runs import KNOWN_SUFFIX
from app.queries.spending import is_split, spent_in
from app.queries.usage import parts
from ingest.store.database import Store
from schemas.catalogue.cost_measures import ALL_IN, BEST, LIST, REPORTED, CostMeasure
from schemas.catalogue.dimensions import MODEL_DIMENSIONS
from schemas.catalogue.figures import kinds_in
from schemas.catalogue.metrics import MODEL_METRICS

MACHINES = "machines"
"""Stands in place of a model for what machines cost."""

_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_SPENT = ("cost_own_usd", "cost_list_usd", "cost_delta_usd", *(f"own_{key}" for key in _TOKENS))

_SPENT_ROWS = f"""
    select *, cost_list_usd - cost_own_usd as cost_delta_usd
    from (
        select
            parts.run_id, parts.model, parts.model_id, used.provider, used.region,
            used.tokens_basis, used.cost_cause, parts.cost_own_usd,
            -- each model by itself: one without a price hides no other of its run
            coalesce(parts.cost_list_usd, answers.cost_list_usd,
                if(part = 'run', used.cost_list_usd, null)) as cost_list_usd,
            {", ".join(f"parts.{key} as own_{key}" for key in _TOKENS)}
        from parts
        left join model_usage as used
            on part <> 'rest' and used.run_id = parts.run_id
                and used.model_id is not distinct from parts.model_id
        left join responses as answers
            on answers.run_id = parts.run_id and answers.response_id = parts.response_id
    )"""


def _rows(store: Store, filters: Filters) -> Where:
    """Return SQL of common tables, and their values.

    `ended` has the rows of `v_model_rows` of the runs that the filters choose. `used` has the money
    and tokens to add up: over a period what was spent in it.
    """
    condition = where(filters)
    # filters are about runs: a run's cost is not that of one of its models
    inside = (
        f"run_id in (select run_id from v_runs where {condition.sql})" if filters else counted()
    )
    ended = f"ended as (select * from v_model_rows where {inside})"
    if not is_split(store, filters):
        return Where(f"{ended}, used as (from ended)", condition.parameters)
    spent = parts(store, filters)
    used = f"select * exclude ({', '.join(_SPENT)}) from ended union all by name {_SPENT_ROWS}"
    return Where(f"{ended}, {spent.sql}, used as ({used})", condition.parameters | spent.parameters)


def models(
    store: Store,
    filters: Filters,
    by: Sequence[str] = ("model", "provider", "region"),
    measure: CostMeasure = REPORTED,
) -> pa.Table:
    """Return MODEL_METRICS per model, provider and region, most expensive first.

    Over a period, money and tokens are what was spent then, all else is of the runs that ended
    then. `by`: keys of MODEL_DIMENSIONS; without any, one row of everything.
    """
    names = [f"g{number}" for number in range(len(by))]
    keys = [f"{MODEL_DIMENSIONS[key].sql} as {name}" for key, name in zip(by, names, strict=True)]
    metrics = [*MODEL_METRICS.values()]
    figures = [f"{metric.sql} as {metric.key}" for metric in metrics if metric.key != "runs"]
    met = [f"bool_or({metric.known}) as {metric.key}" for metric in metrics]
    counts = [f"count(*) filter ({metric.key}) as {metric.key}{KNOWN_SUFFIX}" for metric in metrics]
    shown = [f"sums.{name} as {name}" for name in names]
    for metric in metrics:
        known = f"coalesce(known.{metric.key}{KNOWN_SUFFIX}, 0)"
        figure = known if metric.key == "runs" else f"sums.{metric.key}"
        shown += [f"{figure} as {metric.key}", f"{known} as {metric.key}{KNOWN_SUFFIX}"]
    same = " and ".join(f"sums.{name} is not distinct from known.{name}" for name in names)
    costs = [key for key in dict.fromkeys((measure.total, LIST.total)) if key in MODEL_METRICS]
    order = [*(f"{key} desc nulls last" for key in costs), *names]
    rows, grouped = _rows(store, filters), "group by all" if by else ""
    # runs are counted once for all metrics: a distinct count of each took 9 s a million
    sql = f"""
        with {rows.sql},
        sums as (select {", ".join(keys + figures)} from used {grouped}),
        runs as (select {", ".join([*keys, "run_id", *met])} from ended group by all),
        known as (select {", ".join(names + counts)} from runs {grouped})
        select {", ".join(shown)} from sums left join known on {same or "true"}
        order by {", ".join(order)}"""
    table = fetch(store, sql, rows.parameters)
    return table.rename_columns([*by, *table.column_names[len(by) :]])


def unattributed(store: Store, filters: Filters) -> tuple[Decimal, int]:
    """Return (reported cost without a model, runs with such a cost).

    A list of models shows it in a line without a name.
    """
    rows = _rows(store, filters)
    sql = f"""
        with {rows.sql}
        select coalesce(sum(cost_own_usd), 0) as usd, count(distinct run_id) as runs
        from used where model is null and cost_own_usd <> 0"""
    [found] = fetch_rows(store, sql, rows.parameters)
    return found["usd"], found["runs"]


def model_costs(store: Store, filters: Filters, measure: CostMeasure) -> pa.Table:
    """Return `model`, `cost_usd` by the measure and its `bounds`, most expensive first.

    Only runs with a known cost of their own count. What no model explains has none. Of the all-in
    cost the machines have a row of their own.
    """
    of = parts(store, filters, by_time=False)
    kinds = {LIST: "cost_list_bounds", REPORTED: "null::varchar"}.get(measure, "cost_best_bounds")
    column, rows, machines = measure.column, "parts", ""
    if measure is ALL_IN:
        column = BEST.column
        rows = "(from parts semi join (from v_runs where cost_all_usd is not null) using (run_id))"
        machines = f"""
            union all select '{MACHINES}', cost_machine_usd, null
            from {spent_in(store, filters).sql} where cost_all_usd is not null"""
    sql = f"""
        with {of.sql}
        select model, sum(usd) as cost_usd, {kinds_in("bound", "usd is not null")} as bounds
        from (select model, {column} as usd, {kinds} as bound from {rows} {machines})
        group by model order by cost_usd desc nulls last, model"""
    return fetch(store, sql, of.parameters)
