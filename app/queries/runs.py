"""Questions to the store: filters and dimensions in, Arrow tables out. Reads views, applies METRICS; no screen, no chart.

Every function opens the store for its own query and closes it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeVar

import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.filters.registry import COUNTED, EXCLUDED, TIMES
from app.queries.grouping import UTC_ZONE, Group, groups
from app.queries.read_transaction import read_transaction
from ingest.store.database import Store, arrow
from schemas.catalogue.cost_measures import BEST, LIST, REPORTED, CostMeasure
from schemas.catalogue.dimensions import MODEL_DIMENSIONS
from schemas.catalogue.entry import Metric
from schemas.catalogue.figures import MORE, listed
from schemas.catalogue.metrics import DEFAULT_REPORT, MODEL_METRICS, RUN_METRICS
from schemas.errors import UsageError
from schemas.text import did_you_mean
from schemas.unread_logs import AGENT_BY_DETAIL

T = TypeVar("T")

KNOWN_SUFFIX = "_known"
"""A metric's column `x` has a column `x_known` beside it: the number of rows it rests on."""

RUN_COLUMNS = listed(
    "run_id", "title", "dated_at", "agent", "agent_version", "model", "model_group", "provider", "region", "outcome", "cost_reported_usd",
    "cost_own_usd", "cost_list_usd", "cost_best_usd", "cost_best_bounds", "cost_delta_usd", "cost_cause",
    "duration_ms", "duration_api_ms", "duration_api_own_ms", "parallelism", "num_turns", "cost_per_turn_usd",
    "cost_list_per_turn_usd", "cost_best_per_turn_usd", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
    "cache_read_share", MORE,
    "permission_denials", "claims", "claimed_speedup", "claimed_metric", "claimed_evidence",
    "claimed_scope", "claimed_caveat", "claimed_quote", "claimed_confidence", "findings", "error_findings", "repo", "task", "task_key",
    "experiment", "session_id", "started_at", "ended_at",
    "time_source", "is_started", "is_carried_over", "starred", "note", "excluded", "excluded_reason",
    "record_kind", "tokens_basis", "score",
    "reason", "whose", "failure_message", "subtype", "is_error", "stop_reason", "terminal_reason", "labels", "source_name",
    "received_at",
)  # fmt: skip
"""What a list of runs holds: every figure, no long text."""


def summary(
    store: Store,
    filters: Filters,
    by: Sequence[str] = (),
    metrics: Sequence[str] = DEFAULT_REPORT,
    zone: str = UTC_ZONE,
    measure: CostMeasure = REPORTED,
) -> pa.Table:
    """Metrics of runs, one row per group, most expensive first; without `by` one row in all. Each metric with its known-of count.

    `by` are words of `app.queries.grouping`; days, weeks and months are those of the time zone, and follow one another. `measure` says
    which cost orders groups, where that is among the metrics.
    """
    return aggregate(store, filters, groups(by, zone), [_one_of(RUN_METRICS, key, "metric") for key in metrics], measure)


def models(
    store: Store,
    filters: Filters,
    by: Sequence[str] = ("model", "provider", "region"),
    metrics: Sequence[str] = tuple(MODEL_METRICS),
    measure: CostMeasure = REPORTED,
) -> pa.Table:
    """Metrics of model rows, one row per model, provider and region, most expensive first."""
    dimensions = [_one_of(MODEL_DIMENSIONS, key, "dimension") for key in by]
    chosen = [Group(dimension.key, dimension.label, dimension.sql, {}) for dimension in dimensions]
    return _aggregate_models(store, filters, chosen, [_one_of(MODEL_METRICS, key, "metric") for key in metrics], measure)


def unattributed(store: Store, filters: Filters) -> tuple[Decimal, int]:
    """(reported cost that runs attribute to no model, runs with such a cost): what a list of models has in a line without a name."""
    condition = where(filters)
    sql = f"""
        select coalesce(sum(cost_own_usd), 0) as usd, count(distinct run_id) as runs
        from v_model_rows semi join (select run_id from v_runs where {condition.sql}) as wanted using (run_id)
        where model is null and cost_own_usd <> 0"""
    [found] = fetch(store, sql, condition.parameters).to_pylist()
    return found["usd"], found["runs"]


def cost_columns(measure: CostMeasure = REPORTED) -> tuple[str, ...]:
    """What runs are ordered by cost by: those without a reported cost follow by what they cost at list prices."""
    return tuple(dict.fromkeys((measure.column, LIST.column)))


def at_places(store: Store, columns: Sequence[str], places: Sequence[int], order: str) -> pa.Table:
    """Columns of few runs by their row numbers, within the read transaction in which these were found.

    Which runs come first is found out over few columns of all runs; the others are read of these alone.
    """
    sql = f"select {', '.join(columns)} from v_runs where place in (select unnest($places)) {order}"
    return fetch(store, sql, {"places": list(places)})


def runs(store: Store, filters: Filters, limit: int | None = None, measure: CostMeasure = REPORTED) -> pa.Table:
    """Runs with RUN_COLUMNS, most expensive first."""
    condition = where(filters)
    order = ", ".join(f"{column} desc nulls last" for column in cost_columns(measure))
    sql = f"select {', '.join(RUN_COLUMNS)} from v_runs where {condition.sql} order by {order}, run_id"
    return fetch(store, sql + (f" limit {int(limit)}" if limit is not None else ""), condition.parameters)


def usage_by(measure: CostMeasure) -> str:
    """SQL of the rows of models with a column of the measure: where its run reports a cost, the best-known one is that of the report."""
    if measure is not BEST:
        return "from model_usage"
    reported = "run_id in (select run_id from runs where cost_own_usd is not null)"
    return f"select *, case when {reported} then cost_own_usd else cost_list_usd end as {BEST.column} from model_usage"


_RECORDS = """
select
    run_records.record_kind, sources.name as source_name, is_kept,
    told ->> '$.agent' as agent, try_cast(told ->> '$.cost_reported_usd' as decimal(18, 9)) as cost_reported_usd,
    try_cast(told ->> '$.input_tokens' as bigint) as input_tokens, try_cast(told ->> '$.cache_read_tokens' as bigint) as cache_read_tokens,
    try_cast(told ->> '$.cache_write_tokens' as bigint) as cache_write_tokens,
    try_cast(told ->> '$.output_tokens' as bigint) as output_tokens,
    try_cast(told ->> '$.duration_ms' as bigint) as duration_ms, try_cast(told ->> '$.num_turns' as bigint) as num_turns,
    told ->> '$.outcome' as outcome, (told ->> '$.score')::double as score,
    list_sort(list_transform(
        list_filter(map_entries(runs.origins), lambda origin: origin.value = run_records.source_id), lambda origin: origin.key
    )) as gives
from run_records
join runs using (run_id)
left join sources on sources.source_id = run_records.source_id
where run_id = $run_id and told is not null
order by is_kept desc, run_records.record_rank desc, run_records.context_rank desc, run_records.source_id, run_records.ordinal
"""


def run(store: Store, run_id: str) -> dict[str, Any] | None:
    """Everything about one run: all columns of v_runs, `raw`, and as tables `model_usage`, `tool_calls` and `records`.

    `records` has the records of a run with several, the kept one first, each with what it tells and the figures of the run that it
    `gives`. None where there is no such run.
    """
    with read_transaction(store) as transaction:
        places = fetch(transaction, "select place from v_runs where run_id = $run_id", {"run_id": run_id})["place"].to_pylist()
        return _run(transaction, run_id, places[0]) if places else None


def _run(store: Store, run_id: str, place: int) -> dict[str, Any]:
    columns = "* exclude (place), (select raw from runs where rowid = $place) as raw"
    row: dict[str, Any]
    [row] = fetch(store, f"select {columns} from v_runs where place = $place", {"place": place}).to_pylist()
    usage = "select * from model_usage where run_id = $run_id order by cost_reported_usd desc nulls last, model_id"
    calls = "select tool, calls, errors from tool_calls where run_id = $run_id order by calls desc, tool"
    return row | {
        "labels": dict(row["labels"] or ()),
        "origins": dict(row["origins"] or ()),
        "model_usage": fetch(store, usage, {"run_id": run_id}),
        "tool_calls": fetch(store, calls, {"run_id": run_id}),
        "records": fetch(store, _RECORDS, {"run_id": run_id}),
    }


def undated(store: Store, filters: Filters) -> tuple[int, Decimal | None]:
    """(runs, their reported cost) that have no recorded date, so that the period of the filters leaves them out; none without a period."""
    if not any(map(filters.values, TIMES)):
        return 0, None
    others = filters.with_values(TIMES[0], []).with_values(TIMES[1], [])
    condition = where(others)
    sql = f"select count(*) as runs, sum(cost_own_usd) as usd from v_runs where {condition.sql} and dated_at is null"
    [row] = fetch(store, sql, condition.parameters).to_pylist()
    return row["runs"], row["usd"]


def excluded(store: Store, filters: Filters) -> int:
    """How many runs match the filters and are not counted because they are excluded; 0 where the filters say what becomes of these."""
    if filters.choose_excluded:
        return 0
    condition = where(filters.with_values(EXCLUDED, ["only"]))
    return int(fetch(store, f"select count(*) as runs from v_runs where {condition.sql}", condition.parameters)["runs"][0].as_py())


def of_task(store: Store, task_key: str) -> int:
    """How many runs there are of one task, whatever the filters."""
    return int(fetch(store, "select count(*) as runs from v_runs where task_key = $task", {"task": task_key})["runs"][0].as_py())


def ids(store: Store, filters: Filters) -> list[str]:
    """The ids of all runs that match."""
    condition = where(filters)
    found = fetch(store, f"select run_id from v_runs where {condition.sql} order by run_id", condition.parameters)
    return [str(run_id) for run_id in found["run_id"].to_pylist()]


def ingests(store: Store) -> pa.Table:
    """Every ingest that changed the store, newest first."""
    return fetch(store, "select * exclude (price_file) from ingests order by ingest_id desc")


def rejects(store: Store) -> pa.Table:
    """Every reject with the name of its source."""
    sql = """select sources.name as source_name, rejects.position, rejects.reason, rejects.detail, rejects.excerpt,
                    rejects.ordinal, rejects.source_id
             from rejects left join sources using (source_id) order by sources.name, rejects.ordinal"""
    return fetch(store, sql)


def sources(store: Store) -> pa.Table:
    """Every source and what became of its documents, newest first."""
    sql = f"""select sources.* exclude (modified_ns, resume_at, goes_on) replace ({SAID_KIND})
              from sources {WITH_UNREAD} order by received_at desc, name"""
    return fetch(store, sql, unread_details())


SAID_KIND = "coalesce('not read: ' || unread, kind) as kind"
"""The kind of a source, or whose log it is, where that is not read."""

WITH_UNREAD = """left join (
    select source_id, min($agents[list_position($details, detail)]) as unread
    from rejects where list_contains($details, detail) group by all
) using (source_id)"""
"""Whose log a source is, where that is not read: by the details of its rejects."""


def unread_details() -> dict[str, list[str]]:
    """The parameters of WITH_UNREAD."""
    return {"details": list(AGENT_BY_DETAIL), "agents": list(AGENT_BY_DETAIL.values())}


def aggregate(
    store: Store, filters: Filters, by: Sequence[Group], metrics: Sequence[Metric], measure: CostMeasure = REPORTED, of: str = "v_runs"
) -> pa.Table:
    """Metrics of the rows of `of`, which has the columns of `v_runs`: one row per group, most expensive first.

    Groups are called g0, g1, … within the query: a word may hold any text.
    """
    condition = where(filters)
    names = [f"g{number}" for number in range(len(by))]
    keys = [f"{group.sql} as {name}" for group, name in zip(by, names, strict=True)]
    figures = [part for metric in metrics for part in (f"{metric.sql} as {metric.key}", f"{metric.known} as {metric.key}{KNOWN_SUFFIX}")]
    sql = f"select {', '.join(keys + figures)} from {of} where {condition.sql}"
    if by:
        sql += f" group by all order by {', '.join(_order(by, names, metrics, measure))}"
    bound = {name: value for group in by for name, value in group.parameters.items()}
    table = fetch(store, sql, condition.parameters | bound)
    return table.rename_columns([group.word for group in by] + table.column_names[len(by) :])


def _aggregate_models(store: Store, filters: Filters, by: Sequence[Group], metrics: Sequence[Metric], measure: CostMeasure) -> pa.Table:
    """The same over model rows. The runs that figures rest on are counted once for all: a distinct count of each took 9 s a million."""
    condition = where(filters)
    names = [f"g{number}" for number in range(len(by))]
    keys = [f"{group.sql} as {name}" for group, name in zip(by, names, strict=True)]
    figures = [f"{metric.sql} as {metric.key}" for metric in metrics if metric.key != "runs"]
    met = [f"bool_or({metric.known}) as {metric.key}" for metric in metrics]
    counts = [f"count(*) filter ({metric.key}) as {metric.key}{KNOWN_SUFFIX}" for metric in metrics]
    shown = [part for metric in metrics for part in (_figure(metric), f"known.{metric.key}{KNOWN_SUFFIX}")]
    # filters are about runs: a run's cost is not that of one of its models
    inside = f"run_id in (select run_id from v_runs where {condition.sql})" if filters else COUNTED
    same = " and ".join(f"sums.{name} is not distinct from known.{name}" for name in names) or "true"
    order = f" order by {', '.join(_order(by, [f'sums.{name}' for name in names], metrics, measure))}" if by else ""
    sql = f"""
        with sums as (select {", ".join(keys + figures)} from v_model_rows where {inside} {"group by all" if by else ""}),
        runs as (select {", ".join([*keys, "run_id", *met])} from v_model_rows where {inside} group by all),
        known as (select {", ".join(names + counts)} from runs {"group by all" if by else ""})
        select {", ".join([f"sums.{name}" for name in names] + shown)} from sums join known on {same}{order}"""
    table = fetch(store, sql, condition.parameters)
    return table.rename_columns([group.word for group in by] + table.column_names[len(by) :])


def _figure(metric: Metric) -> str:
    """The figure of a metric of models; the number of runs is counted already."""
    return f"known.runs{KNOWN_SUFFIX} as runs" if metric.key == "runs" else f"sums.{metric.key}"


def _order(by: Sequence[Group], names: Sequence[str], metrics: Sequence[Metric], measure: CostMeasure) -> list[str]:
    """Sort order: dimensions in order first, then the cost, highest first, then the names of the groups."""
    in_order = [name for group, name in zip(by, names, strict=True) if group.in_order]
    costs = [key for key in dict.fromkeys((measure.total, LIST.total)) if any(metric.key == key for metric in metrics)]
    return [*in_order, *(f"{key} desc nulls last" for key in costs), *names]


def _one_of(registry: dict[str, T], key: str, kind: str) -> T:
    if key not in registry:
        raise UsageError(f"unknown {kind} {key!r}.", f"{did_you_mean(key, list(registry))}Choose from: {', '.join(registry)}.")
    return registry[key]


def fetch(store: Store, sql: str, parameters: dict[str, Any] | None = None) -> pa.Table:
    """Rows of a query on the store as it is now. Raises StoreError."""
    with store.reading() as connection:
        return arrow(connection, sql, parameters)
