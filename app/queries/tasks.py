"""Tasks beside those who worked on them: figures of each cell of the matrix."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.grouping import groups
from app.queries.measured import with_verdicts
from app.queries.runs import fetch
from ingest.store.database import Store
from schemas.catalogue.metrics import RUN_METRICS

VALUES = ("outcome", "measured", "claimed", "cost", "duration")
"""What cells can show."""

_LIMITS = "reason in ('limit', 'max_turns', 'max_budget')"
_OF = {
    "outcome": "case when count(is_completed) > 0 then count(*) filter (is_completed) / count(is_completed) end",
    "measured": "median(measured_speedup)",
    "claimed": "median(claimed_speedup)",
    "cost": "cast(median(cost_best_usd) filter (is_started) as decimal(38, 9))",
    "duration": "median(duration_ms) filter (is_completed)",
}
_KNOWN = {
    "outcome": "count(is_completed)",
    "measured": "count(measured_speedup)",
    "claimed": "count(claimed_speedup)",
    "cost": "count(cost_best_usd) filter (is_started)",
    "duration": "count(duration_ms) filter (is_completed)",
}


def cells(store: Store, filters: Filters, by: Sequence[str], value: str) -> pa.Table:
    """`task` and `column` (a list, one name for each of `by`) with the `value` of their runs and how many it rests on, `known`.

    Several runs of a cell are the median of those that have the value; of `outcome`, the share that completed of those whose end is known.
    Beside it `runs`, how they ended (`completed`, `never_started`, `limits`, `unknown_ends`), what became of measurements without a ratio
    (`broken`, `machine_failed`, `not_comparable`), `bounds` of more than half of the costs, and the `names` of the task as logged.
    """
    condition, columns = where(filters), groups(by)
    listed = ", ".join(f"({group.sql})::varchar" for group in columns)
    sql = f"""
        select
            task_key as task, [{listed}] as "column", {_OF[value]} as value, {_KNOWN[value]} as known, count(*) as runs,
            count(*) filter (is_completed) as completed, count(*) filter (not is_started) as never_started,
            count(*) filter (is_started and {_LIMITS}) as limits, count(*) filter (is_started and is_completed is null) as unknown_ends,
            count(*) filter (verdict = 'failed' and failure is distinct from 'infra') as broken,
            count(*) filter (verdict = 'failed' and failure = 'infra') as machine_failed,
            count(*) filter (verdict = 'not_comparable') as not_comparable,
            {RUN_METRICS["cost_best_median_bounds"].sql} as bounds,
            list(distinct task order by task) filter (task is not null) as names
        from {with_verdicts(store)} where {condition.sql}
        group by 1, 2 order by task nulls last, count(*) desc, 2"""
    return fetch(store, sql, condition.parameters | {name: one for group in columns for name, one in group.parameters.items()})
