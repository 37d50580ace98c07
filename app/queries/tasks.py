"""Figures of each cell of the matrix of tasks, and of all tasks together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from app.queries.filters import Filters, where
from app.queries.grouping import groups
from app.queries.measured import with_verdicts
from app.queries.reading import fetch
from app.queries.runs import bound_of
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, CostMeasure
from schemas.catalogue.metrics import IS_BEYOND_NOISE

VALUES = ("result", "outcome", "measured", "claimed", "cost", "duration")
"""Contents of cells. A result is the measured ratio, else the outcome."""

OTHERS = "other agents"

_LIMITS = "reason in ('limit', 'max_turns', 'max_budget')"


def cells(
    store: Store, filters: Filters, by: Sequence[str], measure: CostMeasure = BEST, most: int = 0
) -> pa.Table:
    """Return figures of each `task` and `column` (a list, one name for each of `by`).

    There are at most `most` columns; the rarest are merged as OTHERS.

    Counts of the cell's runs: all (`runs`; `run_id` of an only one), by outcome (`completed`,
    `known_ends`, `never_started`, `limits`, `unknown_ends`), by measurement (`faster`, `breaks`,
    `machine`, `uncompared`). Medians: `measured`, `claimed`, `cost` (with its `bounds`; `cost_sum`
    is the sum) and `duration` (milliseconds, of completed runs), each with the number of runs that
    have it (`measured_known`). `verdicts` are those of the measured ratios, the smallest first.
    `names`: the task as logged. Runs without a task have None for one. Raises StoreError.
    """
    condition, columns = where(filters), groups(by)
    listed = ", ".join(f"({group.sql})::varchar" for group in columns)
    rank = (
        (
            f"case when columns > {int(most)} and rank >= {int(most)} then ['{OTHERS}'] else "
            "names_of end"
        )
        if most
        else "names_of"
    )
    cost, ratios = f"{measure.column}) filter (is_started", "filter (measured_speedup is not null)"
    sql = f"""
        with chosen as (select *, {bound_of(measure)} as bound, [{listed}] as names_of from
            {with_verdicts(store)} where {condition.sql}),
        counted as (select names_of, count(*) as runs from chosen where task_key is not null group
            by 1),
        ranked as (select names_of, row_number() over (order by runs desc, names_of) as rank,
            count(*) over () as columns from counted)
        select
            task_key as task, {rank} as "column", min(repo) as repo, count(*) as runs, case when
                runs = 1 then min(run_id) end as run_id,
            count(*) filter (is_completed) as completed, count(is_completed) as known_ends,
            count(*) filter (not is_started) as never_started, count(*) filter (is_started and
                {_LIMITS}) as limits,
            count(*) filter (is_started and is_completed is null) as unknown_ends,
            count(*) filter (measured_class = 'faster') as faster, count(*) filter (measured_class =
                'breaks') as breaks,
            count(*) filter (measured_class = 'machine') as machine,
            count(*) filter (measured_class in ('failed_unknown', 'no_baseline', 'other_setup')) as
                uncompared,
            median(measured_speedup) as measured, count(measured_speedup) as measured_known,
            list(measured_class order by measured_speedup, run_id) {ratios} as verdicts,
            median(claimed_speedup) as claimed, count(claimed_speedup) as claimed_known,
            cast(median({cost}) as decimal(38, 9)) as cost, count({cost}) as cost_known, sum({cost})
                as cost_sum,
            string_agg(distinct bound, ', ' order by bound) filter (is_started and {measure.column}
                is not null) as bounds,
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


@dataclass(frozen=True, slots=True)
class TaskTotals:
    """Numbers of tasks, and of runs with and without one.

    Tasks: `completed` by some run, perhaps completed (`unknown_ends`), `measured`, with a
    `comparable` measurement, made `faster` (`faster_by`: agent and number, most first), and so
    `beyond_noise`.
    `commits` is the number of tasks that are commits, with `names` names in logs. `taskless` runs
    name no task.
    """

    tasks: int
    commits: int
    names: int
    runs: int
    taskless: int
    agents: tuple[str | None, ...]
    completed: int
    unknown_ends: int
    measured: int
    comparable: int
    faster: int
    beyond_noise: int
    faster_by: tuple[tuple[str | None, int], ...]


def totals(store: Store, filters: Filters) -> TaskTotals:
    """Return the figures of all tasks that match the filters. Raises StoreError."""
    condition = where(filters)
    sql = f"""
        with chosen as (select * from {with_verdicts(store)} where {condition.sql}),
        of_tasks as (
            select task_key, contains(task_key, '@') as is_commit, coalesce(bool_or(is_completed),
                false) as is_done,
                   not is_done and bool_or(is_started and is_completed is null) as is_unknown,
                   bool_or(measured_class <> 'not_measured') as is_measured,
                       bool_or(measured_speedup is not null) as is_comparable,
                   bool_or(measured_class = 'faster') as is_faster,
                   bool_or(measured_class = 'faster' and {IS_BEYOND_NOISE}) as is_beyond
            from chosen where task_key is not null group by 1
        ),
        buyers as (
            select agent, count(distinct task_key) as tasks from chosen
            where measured_class = 'faster' and task_key is not null group by 1
        )
        select
            count(*) as tasks, count(*) filter (is_commit) as commits,
            (select count(distinct task) from chosen where task_key is not null) as names,
            (select count(*) from chosen where task_key is not null) as runs,
            (select count(*) from chosen where task_key is null) as taskless,
            (select list(distinct coalesce(agent, '')) from chosen where task_key is not null) as
                agents,
            count(*) filter (is_done) as completed, count(*) filter (is_unknown) as unknown_ends,
                count(*) filter (is_measured) as measured,
            count(*) filter (is_comparable) as comparable, count(*) filter (is_faster) as faster,
            count(*) filter (is_beyond) as beyond_noise,
            (select list([agent, tasks::varchar] order by tasks desc, agent) from buyers) as
                faster_by
        from of_tasks"""
    [row] = fetch(store, sql, condition.parameters).to_pylist()
    row["agents"] = tuple(agent or None for agent in sorted(row["agents"] or ()))
    row["faster_by"] = tuple((agent, int(tasks)) for agent, tasks in row["faster_by"] or ())
    return TaskTotals(**row)
