"""Figures of each cell of the matrix of tasks, and of all tasks together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from app.queries.filters import VERDICT, Filters, where
from app.queries.grouping import groups
from app.queries.measured import with_verdicts
from app.queries.reading import fetch, fetch_rows
from app.queries.runs import bound_of
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, CostMeasure
from schemas.catalogue.figures import kinds_in
from schemas.catalogue.metrics import IS_BEYOND_NOISE, TASK_RANK, TASK_RANKS, TASK_VERDICTS

VALUES = ("result", "outcome", "measured", "claimed", "cost", "duration")
"""Contents of cells. A result is the measured ratio, else the outcome."""

OTHERS = "other agents"

RARE = 20
"""A column with less than one in so many tasks is one of OTHERS."""

_LIMITS = "reason in ('limit', 'max_turns', 'max_budget')"


def cells(
    store: Store,
    filters: Filters,
    by: Sequence[str],
    measure: CostMeasure = BEST,
    *,
    is_short: bool = False,
) -> pa.Table:
    """Return figures of each `task` and `column` (a list, one name for each of `by`).

    `is_short`: columns with less than one in RARE tasks are merged as OTHERS.

    Counts of the cell's runs: all (`runs`; `run_id` of an only one), by outcome (`completed`,
    `known_ends`, `never_started`, `limits`, `unknown_ends`), by measurement (`faster`, `breaks`,
    `machine`, `uncompared`), and `hacks`: judged so by others. Medians: `measured`, `claimed`,
    `cost` (with its `bounds`; `cost_sum` is the sum) and `duration` (milliseconds, of completed
    runs), each with the number of runs that have it (`measured_known`). `verdicts` are those of the
    measured ratios, the smallest first. `names`: the task as logged. Runs without a task have None
    for one. Raises StoreError.
    """
    condition, columns = where(filters), groups(by)
    listed = ", ".join(f"({group.sql})::varchar" for group in columns)
    name = "names_of"
    if is_short:
        name = f"case when is_rare and rare > 1 then ['{OTHERS}'] else names_of end"
    cost, ratios = f"{measure.column}) filter (is_started", "filter (measured_speedup is not null)"
    sql = f"""
        with chosen as (select *, {bound_of(measure)} as bound, [{listed}] as names_of from
            {with_verdicts(store)} where {condition.sql}),
        counted as (select names_of, {RARE} * count(distinct task_key) < (select count(distinct
            task_key) from chosen) as is_rare from chosen where task_key is not null group by 1),
        ranked as (select *, count(*) filter (is_rare) over () as rare from counted)
        select
            task_key as task, {name} as "column", min(repo) as repo, count(*) as runs, case when
                runs = 1 then min(run_id) end as run_id,
            count(*) filter (is_completed) as completed, count(is_completed) as known_ends,
            count(*) filter (not is_started) as never_started, count(*) filter (is_started and
                {_LIMITS}) as limits,
            count(*) filter (is_started and is_completed is null) as unknown_ends,
            count(*) filter (measured_class = 'faster') as faster, count(*) filter (measured_class =
                'breaks') as breaks,
            count(*) filter (measured_class = 'machine') as machine,
            count(*) filter (judged = 'hack') as hacks,
            count(*) filter (measured_class in ('failed_unknown', 'no_baseline', 'other_setup')) as
                uncompared,
            median(measured_speedup) as measured, count(measured_speedup) as measured_known,
            list(measured_class order by measured_speedup, run_id) {ratios} as verdicts,
            median(claimed_speedup) as claimed, count(claimed_speedup) as claimed_known,
            cast(median({cost}) as decimal(38, 9)) as cost, count({cost}) as cost_known, sum({cost})
                as cost_sum,
            {kinds_in("bound", f"is_started and {measure.column} is not null")} as bounds,
            median(duration_ms) filter (is_completed) as duration, count(duration_ms) filter
                (is_completed) as duration_known,
            list(distinct task order by task) filter (task is not null) as names
        from chosen left join ranked using (names_of)
        group by 1, 2 order by task nulls last, count(*) desc, 2"""
    return fetch(
        store,
        sql,
        condition.parameters
        | {name: one for group in columns for name, one in group.parameters.items()},
    )


def few_columns(
    store: Store, filters: Filters, by: Sequence[str], measure: CostMeasure = BEST
) -> pa.Table:
    """Return the figures of `cells` with rare columns as one. Raises StoreError."""
    return cells(store, filters, by, measure, is_short=True)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a task: the best `verdict` of its runs, one of TASK_VERDICTS.

    `is_beyond_noise`: one of them is faster beyond noise; `faster_by`: agents measured faster.
    `is_open`: it is not known to be completed, but some ends are unknown. `retry_usd`: the median
    cost of the completed runs of the agent and model with the least, with its `retry_bounds`;
    runs that scored 0 do not count. `unpriced`: agents that completed it, but with no known cost.
    """

    task: str
    repo: str | None
    names: tuple[str, ...]
    runs: int
    verdict: str
    best: float | None
    is_beyond_noise: bool
    faster_by: tuple[str | None, ...]
    is_completed: bool
    is_open: bool
    retry_usd: Decimal | None = None
    retry_agent: str | None = None
    retry_model: str | None = None
    retry_bounds: str | None = None
    unpriced: tuple[str | None, ...] = ()


def standings(
    store: Store, filters: Filters, measure: CostMeasure = BEST
) -> tuple[list[Standing], int]:
    """Return (the standing of each task by name, the number of runs without one).

    Raises StoreError.
    """
    condition = where(filters)
    sql = f"""
        with chosen as (
            select *, {bound_of(measure)} as bound, {TASK_RANK} as rank
            from {with_verdicts(store)} where {condition.sql}
        ),
        sides as (
            select task_key, agent, model_group as model, cast(median({measure.column}) as
                decimal(38, 9)) as usd, {kinds_in("bound")} as bounds
            from chosen where task_key is not null and is_completed and is_started and
                {measure.column} is not null
                and coalesce(score, 1) > 0 -- what its evaluation failed is no reason to retry it
            group by all
        ),
        cheapest as (
            select task_key, arg_min(struct_pack(usd, agent, model, bounds), struct_pack(usd,
                agent, model)) as retry from sides group by 1
        )
        select task_key as task, min(repo) as repo, count(*) as runs, min(rank) as rank,
            coalesce(list(distinct task order by task) filter (task is not null), []) as names,
            max(measured_speedup) as best,
            coalesce(bool_or(measured_class = 'faster' and {IS_BEYOND_NOISE}), false) as
                is_beyond_noise,
            coalesce(list(distinct coalesce(agent, '')) filter (measured_class = 'faster'), []) as
                faster_by,
            coalesce(list(distinct coalesce(agent, '')) filter (is_completed and is_started), [])
                as done_by,
            coalesce(list(distinct coalesce(agent, '')) filter (is_completed and is_started and
                {measure.column} is not null), []) as priced,
            coalesce(bool_or(is_completed), false) as is_completed,
            coalesce(bool_or(is_started and is_completed is null), false) as is_open,
            any_value(retry) as retry
        from chosen left join cheapest using (task_key) group by 1 order by 1"""
    found, taskless = list[Standing](), 0
    for row in fetch_rows(store, sql, condition.parameters):
        if row["task"] is None:
            taskless = row["runs"]
            continue
        rank, retry = row.pop("rank"), row.pop("retry") or {}
        row["names"] = tuple(row["names"])
        row["faster_by"] = tuple(sorted((name or None for name in row["faster_by"]), key=str))
        unpriced = {*row.pop("done_by")} - {*row.pop("priced")}
        row["unpriced"] = tuple(sorted((name or None for name in unpriced), key=str))
        row["is_open"] = row["is_open"] and not row["is_completed"]
        verdict = TASK_RANKS[rank]
        found.append(
            Standing(
                **row, verdict=verdict, **{f"retry_{key}": value for key, value in retry.items()}
            )
        )
    return found, taskless


def without_verdict(filters: Filters) -> tuple[str, Filters]:
    """Return (the verdict that tasks are filtered by or "", the other filters).

    So that a page of tasks counts those besides the chosen ones.
    """
    chosen = next((one for one in filters.values(VERDICT) if one in TASK_VERDICTS), "")
    return chosen, filters.with_values(VERDICT, [])


def having(found: Sequence[Standing], verdict: str) -> list[Standing]:
    """Return the tasks of one of TASK_VERDICTS, all of them for ""."""
    return [one for one in found if not verdict or one.verdict in TASK_VERDICTS[verdict]]
