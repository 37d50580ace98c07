"""Why runs did not complete: counted by cause and agent."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.runs import KNOWN_SUFFIX, fetch
from ingest.store.database import Store
from schemas.catalogue.failures import AGENT, CAUSES, INFRASTRUCTURE, UNATTRIBUTED
from schemas.catalogue.metrics import RUN_METRICS

_METRICS = ("runs", "never_started_runs", "cost_best_usd", "cost_best_bounds", "duration_ms")


def failures(store: Store, filters: Filters) -> pa.Table:
    """Runs that did not complete by who failed, cause and agent, the most frequent first, with one of their most frequent messages."""
    condition = where(filters)
    figures = ", ".join(f"{RUN_METRICS[key].sql} as {key}, {RUN_METRICS[key].known} as {key}{KNOWN_SUFFIX}" for key in _METRICS)
    sql = f"""
        select failed_by, failure_cause, agent, {figures}, mode(failure_message order by failure_message) as example
        from v_runs where {condition.sql} and failure_cause is not null
        group by failed_by, failure_cause, agent
        order by list_position(['{INFRASTRUCTURE}', '{AGENT}', '{UNATTRIBUTED}'], failed_by), runs desc, failure_cause, agent"""
    return fetch(store, sql, condition.parameters)


def totals(store: Store, filters: Filters) -> dict[str, Any]:
    """`runs`, `failed`, `unknown_ends` and how many of the failed ones each of INFRASTRUCTURE, AGENT and UNATTRIBUTED did fail."""
    condition = where(filters)
    counted = ", ".join(f"count(*) filter (failed_by = '{by}') as {by}" for by in (INFRASTRUCTURE, AGENT, UNATTRIBUTED))
    sql = f"""
        select count(*) as runs, count(failure_cause) as failed, {counted},
               count(*) filter (failure_cause is null and is_completed is null) as unknown_ends
        from v_runs where {condition.sql}"""
    row: dict[str, Any] = fetch(store, sql, condition.parameters).to_pylist()[0]
    return row


def never_started_because(store: Store, filters: Filters) -> list[tuple[str, int]]:
    """Why runs never started, in words, with the number of runs, the most frequent first. Raises StoreError."""
    condition = where(filters)
    sql = f"""
        select failure_cause, count(*) as runs from v_runs
        where {condition.sql} and not is_started and failure_cause is not null group by all order by runs desc, failure_cause"""
    return [(CAUSES[row["failure_cause"]].label, row["runs"]) for row in fetch(store, sql, condition.parameters).to_pylist()]
