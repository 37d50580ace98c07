"""Questions about what summaries claim and state, and about findings. Each opens the store for itself, as `app.queries` does."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from app.filters import Filters, where, where_claims
from app.queries import fetch
from ingest.store import Store

CLAIM_COLUMNS = (
    "run_id", "repo", "task", "experiment", "agent", "model", "outcome", "claim_no", "quote", "kind", "metric", "direction", "ratio",
    "ratio_low", "ratio_high", "before", "after", "unit", "evidence", "scope", "hedged", "origin", "subject", "start", "end",
)  # fmt: skip
"""What a list of claims holds: the claim, and what it is about in its run."""

FINDING_COLUMNS = ("run_id", "severity", "rule", "message", "expected", "actual", "repo", "task", "experiment", "agent", "model", "outcome")

_CLAIMS = "claims join v_runs using (run_id)"
_FINDINGS = "findings join v_runs using (run_id)"
_LARGEST_FIRST = "ratio desc nulls last, run_id, claim_no"
_WORST_FIRST = "list_position(['alarm', 'warning', 'info'], severity), rule, run_id, message"


def claims(store: Store, filters: Filters, kinds: Sequence[str] = (), limit: int | None = None) -> pa.Table:
    """Claims with CLAIM_COLUMNS, largest ratio first. `--evidence` and `--min-claim` choose claims, other filters runs."""
    condition = where_claims(filters)
    chosen = ", ".join(f'"{name}"' for name in CLAIM_COLUMNS)
    sql = f"select {chosen} from {_CLAIMS} where {condition.sql} and {_one_of('kind', kinds)}"
    return fetch(store, _cut(f"{sql} order by {_LARGEST_FIRST}", limit), condition.parameters | _bound(kind=kinds))


def count_claims(store: Store, filters: Filters, kinds: Sequence[str] = ()) -> tuple[int, int]:
    """(claims, runs they are of) under the same choice."""
    condition = where_claims(filters)
    sql = f"select count(*), count(distinct run_id) from {_CLAIMS} where {condition.sql} and {_one_of('kind', kinds)}"
    [(found, runs)] = _rows(fetch(store, sql, condition.parameters | _bound(kind=kinds)))
    return found, runs


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
