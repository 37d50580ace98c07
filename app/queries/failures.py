"""Count why runs did not complete, by reason and a chosen grouping."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from app.queries.filters import Filters, where
from app.queries.grouping import UTC_ZONE, group
from app.queries.reading import fetch, fetch_rows, limited
from app.queries.runs import KNOWN_SUFFIX
from ingest.store.database import Store
from schemas.catalogue.failures import MASKED_SQL, NONE, OTHER, REASONS, WHOSE
from schemas.catalogue.metrics import HIGH, LOW, RUN_METRICS

_COSTS = ("cost_best_usd", "cost_best_bounds")
_FIGURES = ", ".join(
    (
        "count(*) as runs",
        "count(*) filter (not is_started) as never_started_runs",
        "median(duration_ms) filter (is_started) as lost_ms",
        *(
            f"{how}(duration_ms) filter (is_started) as lost_ms{end}"
            for how, end in (("count", KNOWN_SUFFIX), ("min", LOW), ("max", HIGH))
        ),
        *(f"{RUN_METRICS[key].sql} as {key}" for key in _COSTS),
        f"{RUN_METRICS[_COSTS[0]].known} as {_COSTS[0]}{KNOWN_SUFFIX}",
        "mode(failure_message order by failure_message) as example",
    )
)


COLUMNS = ("agent", "model", "project", "month")
"""What screens and shared pages count failures by."""


def failures(
    store: Store, filters: Filters, by: str = "agent", zone: str = UTC_ZONE
) -> tuple[pa.Table, pa.Table]:
    """Return (one row per reason, one row of all reasons).

    The largest reason first, unknown reasons last.

    `columns` of a row maps each group of `by` (a word of `app.queries.grouping`) to its number of
    runs. `runs` did not complete, `never_started_runs` of them never started; `lost_ms` is the
    median wall time of the others, in milliseconds.
    """
    condition, column = where(filters), group(by, zone=zone)
    order = "g" if column.in_order else "n desc, g"
    sql = f"""
        with failed as (select *, ({column.sql})::varchar as g from v_runs where {condition.sql} and
            reason is not null),
        counted as (
            select reason, map_from_entries(list({{'key': coalesce(g, ''), 'value': n}} order by
                {order})) as columns
            from (select reason, g, count(*) as n from failed group by grouping sets ((reason, g),
                (g)))
            group by reason
        )
        select figures.*, columns
        from (select reason, whose, {_FIGURES} from failed group by grouping sets ((reason, whose),
            ())) as figures
        join counted on counted.reason is not distinct from figures.reason
        order by figures.reason in ('{NONE}', '{OTHER}'), runs desc, figures.reason"""
    found = fetch(store, sql, condition.parameters | dict(column.parameters))
    reasons = found.num_rows - found["reason"].null_count
    return found.slice(0, reasons), found.slice(reasons)


def texts(store: Store, filters: Filters, reason: str, limit: int | None = None) -> pa.Table:
    """Return a reason's error texts as `reason`, `text` and `runs`, most frequent first.

    Numbers and ids are masked.
    """
    condition = where(filters)
    sql = f"""
        select reason, {MASKED_SQL} as text, count(*) as runs from v_runs where {condition.sql} and
            reason = $reason
        group by all order by runs desc, text"""
    return fetch(store, limited(sql, limit), condition.parameters | {"reason": reason})


def runs_of(store: Store, filters: Filters, reason: str, text: str | None, limit: int) -> pa.Table:
    """Return runs with this reason and masked error text.

    Id, title, agent, model, date, wall time, best-known cost with its bound.

    The most expensive come first.
    """
    condition = where(filters)
    sql = f"""
        select run_id, title, agent, model_group as model, dated_at, duration_ms, cost_best_usd,
            cost_best_bounds, is_started
        from v_runs where {condition.sql} and reason = $reason and {MASKED_SQL} is not distinct from
            $text
        order by cost_best_usd desc nulls last, dated_at desc nulls last, run_id limit
            {int(limit)}"""
    return fetch(store, sql, condition.parameters | {"reason": reason, "text": text})


def totals(store: Store, filters: Filters) -> dict[str, Any]:
    """Return `runs`, `failed`, `never_started`, `unknown_ends`, and failed runs by WHOSE.

    There is a key for each of WHOSE: who caused the failure.
    """
    condition = where(filters)
    counted = ", ".join(f"count(*) filter (whose = '{key}') as \"{key}\"" for key in WHOSE)
    sql = f"""
        select count(*) as runs, count(reason) as failed, {counted},
               count(*) filter (reason is not null and not is_started) as never_started,
               count(*) filter (reason is null and is_completed is null) as unknown_ends
        from v_runs where {condition.sql}"""
    return fetch_rows(store, sql, condition.parameters)[0]


def never_started_because(store: Store, filters: Filters) -> list[tuple[str, int]]:
    """Return in words why runs never started, with numbers of runs, most frequent first.

    Raises StoreError.
    """
    condition = where(filters)
    sql = f"""
        select reason, count(*) as runs from v_runs where {condition.sql} and not is_started and
            reason is not null
        group by all order by runs desc, reason"""
    return [
        (REASONS[row["reason"]].label, row["runs"])
        for row in fetch_rows(store, sql, condition.parameters)
    ]
