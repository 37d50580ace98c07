"""Questions about what summaries claim and state, and about findings. Each opens the store for itself, as `app.queries` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from app.filters import Filters, where, where_claims
from app.grouping import group
from app.queries import fetch
from ingest.store import Store
from schemas.claim import Evidence

CLAIM_COLUMNS = (
    "run_id", "repo", "task", "experiment", "agent", "model", "outcome", "claim_no", "quote", "kind", "metric", "direction", "ratio",
    "ratio_low", "ratio_high", "before", "after", "unit", "evidence", "scope", "hedged", "origin", "subject", "start", "end",
)  # fmt: skip
"""What a list of claims holds: the claim, and what it is about in its run."""

FINDING_COLUMNS = ("run_id", "severity", "rule", "message", "expected", "actual", "repo", "task", "experiment", "agent", "model", "outcome")

GRAVEST_FIRST = "list_position(['alarm', 'warning', 'info'], severity)"
"""The order of findings."""

STATEMENT_COLUMNS = ("kind", "subject", "count", "quote")


class Pick(NamedTuple):
    """A choice of claims to draw: what it is called, its condition and its order."""

    label: str
    condition: str
    order: str


_HEADLINE = """claims.kind = 'quantified' and origin = 'own' and direction = 'better' and ratio = claimed_speedup
    and claims.metric = claimed_metric and claims.evidence = claimed_evidence and claims.scope = claimed_scope"""
"""The claim whose figures stand with the run; the first in the text where several are alike (`ingest.summary_facts.headline`)."""

PICKS = {
    "headlines": Pick("Headline of each run", _HEADLINE, "ratio desc"),
    "largest": Pick("Largest ratios", "ratio is not null", "ratio desc"),
    "worse": Pick("Became worse", "direction = 'worse' and ratio is not null", "ratio"),
}

_CLAIMS = "claims join v_runs using (run_id)"
_FIRST_ONLY = "qualify row_number() over (partition by run_id order by claim_no) = 1"
_FINDINGS = "findings join v_runs using (run_id)"
_LARGEST_FIRST = "ratio desc nulls last, run_id, claim_no"
_WORST_FIRST = f"{GRAVEST_FIRST}, rule, run_id, message"


def claims(store: Store, filters: Filters, kinds: Sequence[str] = (), limit: int | None = None) -> pa.Table:
    """Claims with CLAIM_COLUMNS, largest ratio first. `--evidence` and `--min-claim` choose claims, other filters runs."""
    condition = where_claims(filters)
    sql = f"select {_listed()} from {_CLAIMS} where {condition.sql} and {_one_of('kind', kinds)}"
    return fetch(store, _cut(f"{sql} order by {_LARGEST_FIRST}", limit), condition.parameters | _bound(kind=kinds))


def count_claims(store: Store, filters: Filters, kinds: Sequence[str] = ()) -> tuple[int, int]:
    """(claims, runs they are of) under the same choice."""
    condition = where_claims(filters)
    sql = f"select count(*), count(distinct run_id) from {_CLAIMS} where {condition.sql} and {_one_of('kind', kinds)}"
    [(found, runs)] = _rows(fetch(store, sql, condition.parameters | _bound(kind=kinds)))
    return found, runs


def drawn_claims(store: Store, filters: Filters, pick: str, limit: int) -> pa.Table:
    """The first `limit` claims of one of PICKS, each with CLAIM_COLUMNS, its run's cost and its `pick`.

    Over all claims of the choice: `claims_found`, `runs_found` and, in claims, `benchmarked_found`.
    """
    condition = where_claims(filters)
    chosen = PICKS[pick]
    sql = f"""
        with chosen as (
            select {_listed()}, cost_own_usd from {_CLAIMS} where {condition.sql} and {chosen.condition}
            {_FIRST_ONLY if pick == "headlines" else ""}
        ),
        found as (
            select count(*) as claims_found, count(distinct run_id) as runs_found,
                   count_if(evidence = 'benchmarked')::bigint as benchmarked_found
            from chosen
        )
        select *, $pick as pick from chosen cross join found order by {chosen.order}, run_id, claim_no limit {int(limit)}"""
    return fetch(store, sql, condition.parameters | {"pick": pick})


def evidence_mix(store: Store, filters: Filters, by: str, limit: int = 20) -> pa.Table:
    """Per `group` its `runs`, those `claiming` a speedup, and these by the evidence of their headline; the most claiming groups first.

    Over all groups: `runs_found`, `benchmarked_found`, and `groups_found` that claim any.
    """
    condition, grouped = where(filters), group(by)
    kinds = ", ".join(f"count_if(claimed_evidence = '{evidence.value}')::bigint as {evidence.value}" for evidence in Evidence)
    sql = f"""
        with mixed as (
            select ({grouped.sql})::varchar as "group", count(*) as runs, count(claimed_speedup) as claiming, {kinds}
            from v_runs where {condition.sql} group by 1
        ),
        found as (
            select sum(runs)::bigint as runs_found, sum(benchmarked)::bigint as benchmarked_found,
                   count_if(claiming > 0)::bigint as groups_found
            from mixed
        )
        select * from mixed cross join found where claiming > 0 order by claiming desc, "group" limit {int(limit)}"""
    return fetch(store, sql, condition.parameters | dict(grouped.parameters))


class RunFacts(NamedTuple):
    """What one summary says, each a table in the order of the text, and what rules found, the gravest first."""

    claims: pa.Table
    statements: pa.Table
    file_changes: pa.Table
    findings: pa.Table


def of_run(store: Store, run_id: str) -> RunFacts:
    """Claims, statements, file changes and findings of one run; empty tables where there are none."""
    bound = {"run_id": run_id}
    claims = "select * exclude (run_id) from claims where run_id = $run_id order by claim_no"
    statements = f"select {', '.join(STATEMENT_COLUMNS)} from statements where run_id = $run_id order by statement_no"
    changes = "select path, insertions, deletions from file_changes where run_id = $run_id"
    found = f"select severity, rule, message, expected, actual from findings where run_id = $run_id order by {_WORST_FIRST}"
    return RunFacts(*(fetch(store, sql, bound) for sql in (claims, statements, changes, found)))


def findings(
    store: Store, filters: Filters, severities: Sequence[str] = (), rules: Sequence[str] = (), limit: int | None = None
) -> pa.Table:
    """Findings with FINDING_COLUMNS, alarms first."""
    condition = where(filters)
    sql = f"select {', '.join(FINDING_COLUMNS)} from {_FINDINGS} where {condition.sql} and {_finding_choice(severities, rules)}"
    return fetch(store, _cut(f"{sql} order by {_WORST_FIRST}", limit), condition.parameters | _bound(severity=severities, rule=rules))


def count_findings(store: Store, filters: Filters, severities: Sequence[str] = (), rules: Sequence[str] = ()) -> tuple[int, int]:
    """(findings, runs they are about) under the same choice."""
    condition = where(filters)
    choice = _finding_choice(severities, rules)
    sql = f"select count(*), count(distinct run_id) from {_FINDINGS} where {condition.sql} and {choice}"
    [(found, runs)] = _rows(fetch(store, sql, condition.parameters | _bound(severity=severities, rule=rules)))
    return found, runs


def rules(store: Store) -> list[str]:
    """The rules of which the store holds findings."""
    return [str(name) for (name,) in _rows(fetch(store, "select distinct rule from findings order by rule"))]


def _listed() -> str:
    return ", ".join(f'"{name}"' for name in CLAIM_COLUMNS)


def _finding_choice(severities: Sequence[str], rules: Sequence[str]) -> str:
    return f"{_one_of('severity', severities)} and {_one_of('rule', rules)}"


def _one_of(column: str, values: Sequence[str]) -> str:
    """A condition on a column of ours; all of them where nothing is chosen."""
    return f"list_contains($chosen_{column}, {column})" if values else "true"


def _bound(**values: Sequence[str]) -> dict[str, list[str]]:
    return {f"chosen_{column}": list(chosen) for column, chosen in values.items() if chosen}


def _cut(sql: str, limit: int | None) -> str:
    return sql if limit is None else f"{sql} limit {int(limit)}"


def _rows(table: pa.Table) -> list[tuple[int, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
