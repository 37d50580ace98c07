"""Questions about measured results: verdicts per run and per group, measured values, and those that belong to no run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.grouping import UTC_ZONE, groups
from app.queries.read_transaction import ReadTransaction
from app.queries.runs import aggregate, fetch
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST
from schemas.catalogue.metrics import VERDICT_METRICS

_OF_RUN = "run_id, title, agent, model, repo, task, dated_at, outcome, cost_own_usd, cost_list_usd"
_OF_CLAIM = "claimed_speedup, claimed_metric, claimed_evidence, claimed_scope, claimed_quote"
_OF_VERDICT = (
    "format", "benchmark", "metric", "statistic", "unit", "measured_scope", "measured_baseline", "measured_reference",
    "measured_candidate", "measured_speedup", "measured_low", "measured_high", "verdict", "measured_class",
    "measured_vs_reference", "reference_verdict",
    "hard", "hard_published", "target", "quadrant", "failure", "failure_detail", "not_comparable", "warnings", "is_single_run",
    "values_measured", "values_comparable", "scope_differs", "claim_verdict", "overclaim_factor", "measurement_source_id",
)  # fmt: skip
"""What `v_verdicts` adds to a run."""

WHY = """concat_ws('; ',
    failure_detail, nullif(not_comparable, ''),
    case when scope_differs
        then 'scope differs: claimed ' || replace(claimed_scope, '_', ' ') || ', measured ' || replace(measured_scope, '_', ' ') end,
    nullif(array_to_string(warnings, '; '), '')
)"""

_ORDER = "list_position(['faster', 'slower', 'same', 'not_comparable', 'failed', 'not_measured'], verdict)"
"""The order of a list of verdicts: what was compared first."""


EVERY, MEASURED = "every", "measured"
CHOICES = {
    EVERY: "true",
    MEASURED: "values_measured > 0",
}
"""Runs to list: all, or those that were measured."""


def with_verdicts(store: Store) -> str:
    """`v_runs` with what `v_verdicts` adds. A transaction reads that view once for all its queries."""
    if isinstance(store, ReadTransaction):
        store.have_at_hand("v_verdicts")
    return f"v_runs join (select run_id, {', '.join(_OF_VERDICT)} from v_verdicts) as measured using (run_id)"


def verdicts(store: Store, filters: Filters, choice: str = MEASURED, limit: int | None = None) -> pa.Table:
    """Runs of one of CHOICES with what they claimed and what was measured."""
    condition = where(filters)
    sql = f"""
        select {_OF_RUN}, {_OF_CLAIM}, {", ".join(_OF_VERDICT[:-1])}, nullif({WHY}, '') as why, sources.name as source_name
        from (select * from {with_verdicts(store)} where {condition.sql} and {CHOICES[choice]}) left join
            (select source_id as measurement_source_id, name from sources) as sources using (measurement_source_id)
        order by {_ORDER}, claimed_speedup is null, measured_speedup desc nulls last, run_id
        {f"limit {int(limit)}" if limit is not None else ""}"""
    return fetch(store, sql, condition.parameters)


def classes_of(store: Store, run_ids: Sequence[str]) -> dict[str, tuple[str, float | None]]:
    """Run id → what became of its measurement (one of MEASURED_CLASSES), and the comparable speedup; none without a measurement."""
    if not count(store):
        return {}
    sql = f"""
        select run_id, measured_class, measured_speedup from {with_verdicts(store)}
        where run_id in (select unnest($run_ids)) and measured_class <> 'not_measured'"""
    rows = fetch(store, sql, {"run_ids": list(run_ids)}).to_pylist()
    return {row["run_id"]: (row["measured_class"], row["measured_speedup"]) for row in rows}


def verdict_of(store: Store, run_id: str) -> dict[str, Any] | None:
    """What one run claimed and what was measured, as of `verdicts`; None where nothing was."""
    if not count(store):
        return None
    sql = f"""
        select {_OF_CLAIM}, claimed_low, claimed_high, claimed_caveat, {", ".join(_OF_VERDICT[:-1])}, nullif({WHY}, '') as why
        from {with_verdicts(store)} where run_id = $run_id and {CHOICES[MEASURED]}"""
    rows = fetch(store, sql, {"run_id": run_id}).to_pylist()
    return rows[0] if rows else None


def summary(
    store: Store,
    filters: Filters,
    by: Sequence[str] = (),
    metrics: Sequence[str] = tuple(VERDICT_METRICS),
    zone: str = UTC_ZONE,
    having: str = "runs",
) -> pa.Table:
    """VERDICT_METRICS, one row per group, most expensive first; without `by` one row in all. `having`: a count that no group has 0 of."""
    found = aggregate(store, filters, groups(by, zone), [VERDICT_METRICS[key] for key in metrics], BEST, with_verdicts(store))
    return found.filter(pa.array([number > 0 for number in found[having].to_pylist()], pa.bool_())) if by else found


def totals(store: Store, filters: Filters) -> dict[str, Any] | None:
    """VERDICT_METRICS of all the runs; None where nothing was measured."""
    if not count(store):
        return None
    row: dict[str, Any] = summary(store, filters).to_pylist()[0]
    return row if row["runs_measured"] else None


def measurements(store: Store, filters: Filters, limit: int | None = None) -> pa.Table:
    """Every measured value with the run it belongs to. Filters choose those of runs; without filters all are listed."""
    condition = where(filters)
    chosen = f"where joined_run_id in (select run_id from v_runs where {condition.sql})" if filters else ""
    sql = f"""
        select measured.* exclude (subject), name as source_name
        from (
            select v_measurements.*, found.run_id as joined_run_id, joined_by, unjoined
            from v_measurements left join v_measured_runs as found using (subject)
        ) as measured
        join (select source_id, name from sources) as sources using (source_id)
        {chosen}
        order by source_name, measurement_no
        {f"limit {int(limit)}" if limit is not None else ""}"""
    return fetch(store, sql, condition.parameters if filters else {})


def unjoined(store: Store) -> pa.Table:
    """Values that belong to no run, one row per file and subject, and why: of candidates without a run, and of files without a variant."""
    sql = """
        select
            sources.name as source_name, format, variant, agent, model, commit_full, v_measurements.task, run_path, count(*) as rows,
            coalesce(
                unjoined,
                'the file does not say what it measured: say it with --measure variant=baseline, reference or candidate'
            ) as unjoined
        from v_measurements
        left join v_measured_runs as found using (subject)
        join sources using (source_id)
        where (variant = 'candidate' and found.run_id is null) or variant is null
        group by all
        order by unjoined, source_name"""
    return fetch(store, sql)


def published(store: Store) -> pa.Table:
    """Published judgements by repository, agent and model: quadrants, and the shares that reached the reference.

    Labels of one task, agent and model that several files repeat count once. They need no run.
    """
    sql = """
        with labels as (
            select
                repo, agent, model, coalesce(commit_full, task, instance) as about,
                max(label) filter (metric = 'hard') as hard,
                max(label) filter (metric = 'target') as target,
                max(label) filter (metric = 'quadrant') as quadrant
            from v_measurements
            where label is not null
            group by all
        ),
        judged as (
            select
                repo, agent, model, hard, hard in ('beats', 'similar') as is_reached,
                coalesce(labels.quadrant, v_quadrants.quadrant) as in_quadrant
            from labels
            left join v_quadrants using (hard, target)
        )
        select
            repo, agent, model, count(*) as tasks,
            count_if(in_quadrant = 'Q1') as runs_q1, count_if(in_quadrant = 'Q2') as runs_q2,
            count_if(in_quadrant = 'Q3') as runs_q3, count_if(in_quadrant = 'Q4') as runs_q4,
            count_if(in_quadrant = 'Q1') / nullif(count(in_quadrant), 0) as true_success_share,
            count_if(is_reached) / nullif(count(hard), 0) as reached_share
        from judged
        group by all
        order by repo, agent, model"""
    return fetch(store, sql)


def of_run(store: Store, run_id: str) -> pa.Table:
    """Every measured value of a run beside those of the baseline and of the reference, comparable ones first.

    A value that several files tell alike is one row with their number, `files`.
    """
    sql = """
        select * exclude (is_comparable, is_primary)
        from (
            select
                base, benchmark, metric, statistic, unit, better, scope, base_value, candidate_value, ratio, ratio_low, ratio_high, verdict,
                format, max(n) as n, max(base_n) as base_n, max(measured_at) as measured_at, min(sources.name) as source_name,
                count(distinct source_id) as files,
                nullif(concat_ws(
                    '; ', failure_detail, nullif(array_to_string(reasons, '; '), ''), nullif(array_to_string(warnings, '; '), '')
                ), '') as why,
                is_comparable, is_primary
            from v_speedups
            join sources using (source_id)
            where run_id = $run_id and (base_source_id is not null or (base = 'baseline' and status <> 'ok'))
            group by all
        )
        order by is_comparable desc, base, is_primary desc, benchmark, metric, statistic, source_name"""
    return fetch(store, sql, {"run_id": run_id})


def count(store: Store) -> int:
    """How many values were measured."""
    return int(fetch(store, "select count(*) as rows from v_measurements")["rows"][0].as_py())
