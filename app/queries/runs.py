"""Runs: totals and groups, sorted lists, and options of filters. Filters in, Arrow tables out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from app.queries.filters import (
    FILTERS,
    NO_FILTERS,
    SEARCHED,
    Filters,
    of_period,
    where,
    without_period,
)
from app.queries.grouping import UTC_ZONE, Grouping, groups
from app.queries.reading import (
    PART_ROWS,
    fetch,
    fetch_by_run,
    fetch_rows,
    fetch_value,
    in_order,
    limited,
    read_transaction,
)
from app.queries.spending import is_split, spent
from ingest.store.database import Store
from schemas.catalogue.cost_measures import ALL_IN, BEST, LIST, REPORTED, CostMeasure
from schemas.catalogue.entry import Metric
from schemas.catalogue.figures import MORE, RUN_FIGURES, listed
from schemas.catalogue.metrics import (
    DEFAULT_REPORT,
    RUN_METRICS,
    SPENT_METRICS,
)
from schemas.errors import unknown_word

T = TypeVar("T")

KNOWN_SUFFIX = "_known"
"""Suffix of the column with the number of rows that a metric rests on."""

RUN_COLUMNS = listed(
    "run_id",
    "title",
    "dated_at",
    "agent",
    "agent_version",
    "model",
    "asked_model",
    "model_group",
    "provider",
    "region",
    "outcome",
    "cost_reported_usd",
    "cost_own_usd",
    "cost_list_usd",
    "cost_best_usd",
    "cost_best_bounds",
    "cost_machine_usd",
    "cost_all_usd",
    "cost_all_bounds",
    "cost_all_per_turn_usd",
    "cost_delta_usd",
    "cost_cause",
    "duration_ms",
    "duration_api_ms",
    "duration_api_own_ms",
    "parallelism",
    "num_turns",
    "cost_per_turn_usd",
    "cost_list_per_turn_usd",
    "cost_best_per_turn_usd",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_read_share",
    MORE,
    "permission_denials",
    "claims",
    "claimed_speedup",
    "claimed_metric",
    "claimed_evidence",
    "claimed_scope",
    "claimed_caveat",
    "claimed_quote",
    "claimed_confidence",
    "findings",
    "error_findings",
    "repo",
    "task",
    "task_key",
    "experiment",
    "branch",
    "pull_request",
    "ticket",
    "landed",
    "landed_reason",
    "session_id",
    "started_at",
    "ended_at",
    "time_source",
    "is_started",
    "is_carried_over",
    "starred",
    "note",
    "excluded",
    "excluded_reason",
    "is_copy",
    "record_kind",
    "tokens_basis",
    "score",
    "reason",
    "whose",
    "failure_message",
    "subtype",
    "is_error",
    "stop_reason",
    "terminal_reason",
    "labels",
    "source_name",
    "received_at",
)
"""Columns of a list of runs: all figures, but no long text."""


def summary(
    store: Store,
    filters: Filters,
    by: Sequence[str] = (),
    metrics: Sequence[str] = DEFAULT_REPORT,
    zone: str = UTC_ZONE,
    measure: CostMeasure = REPORTED,
) -> pa.Table:
    """Return metrics of runs, one row per group, most expensive first; without `by` a single row.

    Each metric has its known-of count.

    `by` are words of `app.queries.grouping`; days, weeks and months are in the time zone, and in
    order. Groups are ordered by the `measure` of cost if it is among the metrics.
    """
    return aggregate(
        store,
        filters,
        groups(by, zone),
        [_one_of(RUN_METRICS, key, "metric") for key in metrics],
        measure,
    )


def bound_of(measure: CostMeasure) -> str:
    """Return SQL of the kind of bound of a run's cost by the measure.

    `upper_bound`, `lower_bound`, `estimate` or null.
    """
    return {
        BEST: "cost_best_bounds",
        ALL_IN: "cost_all_bounds",
        LIST: (
            "case when tokens_basis in ('upper_bound', 'lower_bound', 'estimate') then "
            "tokens_basis end"
        ),
    }.get(measure, "null")


def has_machine_rates(store: Store) -> bool:
    """Return whether the cost of any run's machine is known."""
    sql = "select exists (from v_runs where cost_machine_usd is not null)"
    return bool(fetch_value(store, sql))


def cost_columns(measure: CostMeasure = REPORTED) -> tuple[str, ...]:
    """Return the columns that order runs by cost.

    The cost by the measure, then list-price cost for runs without one.
    """
    return tuple(dict.fromkeys((measure.column, LIST.column)))


def at_places(store: Store, columns: Sequence[str], places: Sequence[int], order: str) -> pa.Table:
    """Return columns of a few runs by row numbers, in the read transaction that found the rows.

    Sorting reads few columns of all runs; the other columns are read only for the listed runs.
    """
    sql = f"select {', '.join(columns)} from v_runs where place in (select unnest($places)) {order}"
    return fetch(store, sql, {"places": list(places)})


def runs(
    store: Store, filters: Filters, limit: int | None = None, measure: CostMeasure = REPORTED
) -> pa.Table:
    """Return runs with RUN_COLUMNS, most expensive first. Raises UsageError."""
    condition, order = where(filters), RunSort("", cost_columns(measure))
    chosen, end = f"v_runs where {condition.sql}", limited(f"order by {order.sql}", limit)
    with read_transaction(store) as transaction:
        if fetch_value(transaction, "select count(*) from runs") <= PART_ROWS:
            sql = f"select {', '.join(RUN_COLUMNS)} from {chosen} {end}"
            return fetch(transaction, sql, condition.parameters)
        sql = f"select place from {chosen} {end}"
        places = fetch(transaction, sql, condition.parameters)["place"]
        columns = ("place", *RUN_COLUMNS)
        return in_order(places, lambda part: at_places(transaction, columns, part, ""))


_RECORDS = """
select
    run_id, run_records.record_kind, sources.name as source_name, is_kept,
    told ->> '$.agent' as agent, try_cast(told ->> '$.cost_reported_usd' as decimal(18, 9)) as
        cost_reported_usd,
    try_cast(told ->> '$.input_tokens' as bigint) as input_tokens, try_cast(told ->>
        '$.cache_read_tokens' as bigint) as cache_read_tokens,
    try_cast(told ->> '$.cache_write_tokens' as bigint) as cache_write_tokens,
    try_cast(told ->> '$.output_tokens' as bigint) as output_tokens,
    try_cast(told ->> '$.duration_ms' as bigint) as duration_ms, try_cast(told ->> '$.num_turns' as
        bigint) as num_turns,
    told ->> '$.outcome' as outcome, (told ->> '$.score')::double as score,
    list_sort(list_transform(
        list_filter(map_entries(runs.origins), lambda origin: origin.value = run_records.source_id),
            lambda origin: origin.key
    )) as gives
from run_records
join runs using (run_id)
left join sources on sources.source_id = run_records.source_id
where $chosen and told is not null
order by run_id, is_kept desc, run_records.record_rank desc, run_records.context_rank desc,
    run_records.source_id, run_records.ordinal
"""


def run(store: Store, run_id: str) -> dict[str, Any] | None:
    """Return everything about one run as of `several`, with `raw`. None for an unknown run."""
    with read_transaction(store) as transaction:
        found = several(transaction, [run_id]).get(run_id)
        if found is None:
            return None
        raw = "select raw from runs where rowid = $place"
        return found | {"raw": fetch_value(transaction, raw, {"place": found.pop("place")})}


_USAGE = """
select run_id, * from model_usage where $chosen
order by run_id, cost_reported_usd desc nulls last, model_id
"""
_CALLS = """
select run_id, tool, calls, errors from tool_calls where $chosen order by run_id, calls desc, tool
"""


def several(store: Store, run_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return everything about runs, by id, but for their records' text (`raw`).

    All columns of v_runs, and as tables `model_usage`, `tool_calls` and `records`. `records` has
    the records of a run with several, the kept one first, each with its own figures and the figures
    it `gives` to the run.
    """
    with read_transaction(store) as transaction:
        named = {"run_ids": [*run_ids]}
        chosen = "select place from v_runs where run_id in (select unnest($run_ids))"
        places = fetch(transaction, chosen, named)["place"].to_pylist()
        rows = fetch_rows(
            transaction,
            "select * from v_runs where place in (select unnest($places))",
            {"places": places},
        )
        usage, calls, records = (
            fetch_by_run(transaction, sql, run_ids) for sql in (_USAGE, _CALLS, _RECORDS)
        )
        return {
            row["run_id"]: row
            | {
                "raw": None,
                "labels": dict(row["labels"] or ()),
                "origins": dict(row["origins"] or ()),
                "model_usage": usage[row["run_id"]],
                "tool_calls": calls[row["run_id"]],
                "records": records[row["run_id"]],
            }
            for row in rows
        }


def of_task(store: Store, task_key: str) -> int:
    """Return the number of all runs of one task, unfiltered."""
    sql = "select count(*) from v_runs where task_key = $task"
    return int(fetch_value(store, sql, {"task": task_key}))


def ids(store: Store, filters: Filters) -> list[str]:
    """Return the ids of all runs that match."""
    condition = where(filters)
    found = fetch(
        store,
        f"select run_id from v_runs where {condition.sql} order by run_id",
        condition.parameters,
    )
    return [str(run_id) for run_id in found["run_id"].to_pylist()]


def aggregate(
    store: Store,
    filters: Filters,
    by: Sequence[Grouping],
    metrics: Sequence[Metric],
    measure: CostMeasure = REPORTED,
    of: str = "v_runs",
) -> pa.Table:
    """Return metrics of the rows of `of`, which has the columns of `v_runs`.

    One row per group, most expensive first. Over a period, or by one, money and tokens are what was
    spent then, all else is of the runs that ended then.

    Groups are called g0, g1, … within the query, because a word may hold any text.
    """
    names = [f"g{number}" for number in range(len(by))]
    keys = [f"{group.sql} as {name}" for group, name in zip(by, names, strict=True)]
    condition, bound = where(filters), dict[str, Any]()
    for group in by:
        bound |= group.parameters

    def grouped(rows: str, figures: Mapping[str, str]) -> str:
        listed = [*keys, *(f"{sql} as {key}" for key, sql in figures.items())]
        return f"select {', '.join(listed)} from {rows} {'group by all' if by else ''}"

    figures = {metric.key: metric.sql for metric in metrics}
    known = {f"{metric.key}{KNOWN_SUFFIX}": metric.known for metric in metrics}
    in_turn = [name for metric in metrics for name in (metric.key, f"{metric.key}{KNOWN_SUFFIX}")]
    if SPENT_METRICS.isdisjoint(figures) or not is_split(store, filters, by):
        every = figures | known
        sql = grouped(f"{of} where {condition.sql}", {name: every[name] for name in in_turn})
    else:
        condition, period = where(without_period(filters)), of_period(filters)
        of_runs = {key: one for key, one in figures.items() if key not in SPENT_METRICS} | known
        of_money = {key: one for key, one in figures.items() if key in SPENT_METRICS}
        all_in = any("cost_all_" in one or "machine" in one for one in of_money.values())
        money = spent(store, filters, "chosen", (), all_in=all_in)
        bound |= money.parameters
        counts = {key for key, one in of_runs.items() if one.startswith("count(")}
        shown = [f"coalesce(ended.{name}, spent.{name}) as {name}" for name in names]
        shown += [f"coalesce({name}, 0) as {name}" if name in counts else name for name in in_turn]
        same = " and ".join(f"ended.{name} is not distinct from spent.{name}" for name in names)
        sql = f"""
            with chosen as materialized (select * from {of} where {condition.sql})
            select {", ".join(shown)}
            from ({grouped(f"chosen where {period.sql}", of_runs)}) as ended
            full join ({grouped(money.sql, of_money)}) as spent on {same or "true"}"""
    if by:
        sql += f" order by {', '.join(_order(by, names, metrics, measure))}"
    table = fetch(store, sql, condition.parameters | bound)
    return table.rename_columns([group.word for group in by] + table.column_names[len(by) :])


def _order(
    by: Sequence[Grouping], names: Sequence[str], metrics: Sequence[Metric], measure: CostMeasure
) -> list[str]:
    """Return the sort order.

    Groups that follow a fixed order, then the cost, highest first, then the names of the groups.
    """
    in_order = [name for group, name in zip(by, names, strict=True) if group.in_order]
    costs = [
        key
        for key in dict.fromkeys((measure.total, LIST.total))
        if any(metric.key == key for metric in metrics)
    ]
    return [*in_order, *(f"{key} desc nulls last" for key in costs), *names]


def _one_of(registry: dict[str, T], key: str, kind: str) -> T:
    if key not in registry:
        raise unknown_word(kind, key, registry)
    return registry[key]


MOST_OPTIONS = 300
"""Values that a filter offers, and models with a colour of their own."""

BEFORE, EXCERPT = 24, 160
"""Characters of an excerpt before the match, and in all."""


@dataclass(frozen=True)
class RunSort:
    """One way to sort runs: by columns; runs without a value come last."""

    label: str
    columns: tuple[str, ...]
    direction: str = "desc"

    @property
    def sql(self) -> str:
        """The `order by` expression, with the id as tie-breaker."""
        return ", ".join(
            [*(f"{column} {self.direction} nulls last" for column in self.columns), "run_id"]
        )

    @property
    def sort_key(self) -> str:
        """SQL of a value that sorts runs in this order.

        Comparing all with one is cheaper than sorting them.
        """
        modified = (f"{column}, '{self.direction} nulls last'" for column in self.columns)
        return f"create_sort_key({', '.join(modified)}, run_id, 'asc nulls last')"


ORDERS = {
    "most-expensive": RunSort("Cost, high to low", cost_columns(BEST)),
    "least-expensive": RunSort("Cost, low to high", cost_columns(BEST), "asc"),
    "list-high": RunSort("List-price cost, high to low", cost_columns(LIST)),
    "list-low": RunSort("List-price cost, low to high", cost_columns(LIST), "asc"),
    "longest": RunSort("Duration, long to short", ("duration_ms",)),
    "turns": RunSort("Turns, high to low", ("num_turns",)),
    "newest": RunSort("Date, newest first", ("dated_at", "ended_at")),
    "received": RunSort("Recently ingested", ("received_at", "ordinal")),
    "findings": RunSort("Findings, high to low", ("findings",)),
    "speedup": RunSort("Claimed speedup, high to low", ("claimed_speedup",)),
} | {
    figure.word: RunSort(figure.order, (figure.key,))
    for figure in RUN_FIGURES.values()
    if figure.order
}


class StoreCounts(NamedTuple):
    """Numbers of runs, tasks, speedup claims, measured values, session responses, and loops.

    The claims are counted as runs that claim a speedup.
    """

    runs: int
    tasks: int
    claims: int
    measured: int
    responses: int
    loops: int


def contents(store: Store) -> StoreCounts:
    """Return what the store has to show. Raises StoreError."""
    sql = f"""
        select count(*) as runs, count(distinct task_key) as tasks, count(claimed_speedup) as
            claims,
               (select count(*) from measurements) as measured, (select count(*) from responses) as
                   responses,
               (select count(*) from v_loops) as loops
        from v_runs where {where(NO_FILTERS).sql}"""
    return StoreCounts(**fetch_rows(store, sql)[0])


def saved_views(store: Store) -> dict[str, str]:
    """Return the saved views by name, name → address. Raises StoreError."""
    found = fetch_rows(store, "select name, address from saved_views order by name")
    return {row["name"]: row["address"] for row in found}


def options_by_filter(
    store: Store, limit: int, filters: Filters = NO_FILTERS
) -> dict[str, dict[str, int]]:
    """Return the options of each filter for the chosen runs: filter → value → runs.

    At most `limit` values of a filter, most frequent first.
    """
    condition, found = where(filters), {}
    for key, one in FILTERS.items():
        if one.options:
            sql = f"""
                select value, count(*) as runs from (select {one.options} as value from v_runs where
                    {condition.sql})
                where value is not null group by value order by runs desc, value limit
                    {int(limit)}"""
            table = fetch(store, sql, condition.parameters)
            if table.num_rows:
                found[key] = dict(
                    zip(
                        map(str, table["value"].to_pylist()), table["runs"].to_pylist(), strict=True
                    )
                )
    return found


def ranked_models(store: Store) -> list[str]:
    """Return all models of the store, most expensive first: the order of colours and legends."""
    order = "sum(cost_own_usd) desc nulls last, sum(cost_list_usd) desc nulls last, model"
    sql = f"select model from model_usage where model is not null group by model order by {order}"
    return [str(model) for model in fetch(store, sql)["model"].to_pylist()]


def page_of_runs(
    store: Store, filters: Filters, order: str, limit: int, offset: int = 0
) -> pa.Table:
    """Return runs with RUN_COLUMNS in one of ORDERS, `limit` of them from the `offset`th on."""
    condition = where(filters)
    in_order = f"order by {ORDERS[order].sql}"
    chosen = (
        f"select place from v_runs where {condition.sql} {in_order} limit {int(limit)} offset "
        f"{int(offset)}"
    )
    with read_transaction(store) as transaction:
        places = fetch(transaction, chosen, condition.parameters)["place"].to_pylist()
        return at_places(transaction, RUN_COLUMNS, places, in_order)


class Neighbours(NamedTuple):
    """Ids of the previous and next run in a list.

    The run's position, from 1, and the length of the list.
    """

    previous: str | None
    following: str | None
    place: int
    total: int


def neighbours(store: Store, filters: Filters, order: str, run_id: str) -> Neighbours | None:
    """Return the neighbours of the run in the list of `runs`; None if the filters leave it out."""
    condition = where(filters)
    sql = f"""
        with listed as (select run_id, {ORDERS[order].sort_key} as key from v_runs where
            {condition.sql}),
        mine as (select key as my_key from listed where run_id = $run_id)
        select arg_max(run_id, key) filter (key < my_key) as previous, arg_min(run_id, key) filter
            (key > my_key) as following,
               1 + count(*) filter (key < my_key) as place, count(*) as total
        from listed cross join mine having count(*) > 0"""
    rows = fetch_rows(store, sql, condition.parameters | {"run_id": run_id})
    return Neighbours(**rows[0]) if rows else None


def excerpts(store: Store, run_ids: Sequence[str], text: str) -> dict[str, tuple[str, str]]:
    """Return run id → the first field that contains the text, and an excerpt of the field.

    A field is a column of SEARCHED or `path`.
    """
    found = " ".join(
        f"when contains(lower({column}), lower($text)) then ['{column}', {column}]"
        for column in SEARCHED
    )
    sql = f"""
        with changed as (
            select run_id, min(path) as path from file_changes
            where run_id in (select unnest($run_ids)) and contains(lower(path), lower($text)) group
                by run_id
        ),
        matches as (
            select run_id, case {found} when path is not null then ['path', path] end as match
            from v_runs left join changed using (run_id) where run_id in (select unnest($run_ids))
        ),
        placed as (select run_id, match[1] as place, match[2] as said, strpos(lower(match[2]),
            lower($text)) as first from matches)
        select run_id, place, regexp_replace(substr(said, greatest(1, first - {BEFORE}), {EXCERPT}),
            '\\s+', ' ', 'g') as excerpt,
               first <= {BEFORE} as is_start
        from placed where place is not null"""
    rows = fetch_rows(store, sql, {"text": text, "run_ids": list(run_ids)})
    excerpts = {}
    for row in rows:
        excerpt = row["excerpt"].rstrip()
        half, blank, rest = excerpt.partition(" ")
        # not from the middle of a word
        cut = f"… {rest}" if blank and len(half) < BEFORE // 2 else f"…{excerpt}"
        excerpts[row["run_id"]] = row["place"], excerpt.lstrip() if row["is_start"] else cut
    return excerpts
