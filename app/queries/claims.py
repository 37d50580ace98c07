"""Claims, statements and findings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from app.queries.filters import (
    MIN_CONFIDENCE,
    NO_FILTERS,
    Filters,
    where,
    where_claims,
    where_shown,
)
from app.queries.reading import (
    ReadTransaction,
    fetch,
    fetch_by_run,
    limited,
    on_disk,
    parts,
    read_transaction,
)
from ingest.store.database import Store
from schemas.catalogue.figures import caveat_sql

WINDOW = 300
"""Code points on either side of a claim that are searched for the ends of its sentence."""

_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\n")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#+|>)\s+")


class TextSpan(NamedTuple):
    """A part of a text in code points, the end exclusive."""

    start: int
    end: int


def sentence_span(text: str, start: int, end: int) -> TextSpan:
    """Return the span of the sentence around a span, which ends at a full stop or a line's end."""
    ends = [
        found for found in _END.finditer(text) if not (found.start() < end and found.end() > start)
    ]
    first = max((found.end() for found in ends if found.end() <= start), default=0)
    last = min((found.start() for found in ends if found.start() >= end), default=len(text))
    return TextSpan(first, last)


def sentence(
    around: str, start: int, end: int, *, is_cut: tuple[bool, bool] = (False, False)
) -> str:
    """Return the sentence around a span in one line, without Markdown.

    `…` marks ends that `around` cut off.
    """
    found = sentence_span(around, start, end)
    words = " ".join(
        _LIST_MARK.sub("", around[found.start : found.end])
        .replace("**", "")
        .replace("`", "")
        .split()
    )
    before = "… " if is_cut[0] and found.start == 0 else ""
    behind = " …" if is_cut[1] and found.end == len(around) else ""
    return f"{before}{words}{behind}"


CLAIM_COLUMNS = (
    "run_id",
    "title",
    "repo",
    "task",
    "experiment",
    "agent",
    "model",
    "outcome",
    "dated_at",
    "claim_no",
    "quote",
    "kind",
    "metric",
    "direction",
    "ratio",
    "ratio_low",
    "ratio_high",
    "before",
    "after",
    "unit",
    "evidence",
    "scope",
    "hedged",
    "caveat",
    "confidence",
    "origin",
    "subject",
    "start",
    "end",
)
"""Columns of a list of claims: the claim and its run. Its `sentence` comes from the summary."""


FINDING_COLUMNS = (
    "run_id",
    "title",
    "severity",
    "rule",
    "message",
    "expected",
    "actual",
    "cost_own_usd",
    "repo",
    "task",
    "experiment",
    "agent",
    "model",
    "outcome",
)

GRAVEST_FIRST = "list_position(['error', 'warning', 'info'], severity)"

STATEMENT_COLUMNS = ("kind", "subject", "count", "quote")

_CAVEAT = f"case when kind = 'quantified' then {caveat_sql()} end as caveat"
_LARGEST_FIRST = "kind desc, ratio desc nulls last, run_id, claim_no"
"""Sort order with quantified claims first, because `quantified` follows `qualitative`."""
_SIZE = (
    "create_sort_key(kind, 'desc nulls last', ratio, 'desc nulls last', run_id, 'asc nulls "
    "last', claim_no, 'asc nulls last')"
)
"""SQL of a value that sorts claims in this order."""

_ABOUT_RUNS = "run_id, title, repo, task, experiment, agent, model, outcome, dated_at"
_WORST_FIRST = f"{GRAVEST_FIRST}, rule, run_id, message"


def claims(
    store: Store, filters: Filters, kinds: Sequence[str] = (), limit: int | None = None
) -> pa.Table:
    """Return claims with CLAIM_COLUMNS and their `sentence`.

    Quantified ones first, then by ratio, largest first.

    `--evidence`, `--min-claim` and `--min-confidence` filter claims, other filters runs. Claims of
    low confidence are hidden unless `--min-confidence` asks for them.
    """
    chosen, parameters = _chosen(filters, kinds)
    with read_transaction(store) as transaction:
        split = parts(transaction, "claims", _SIZE, chosen.removeprefix("from "), parameters, limit)
        keys, order = f"select run_id, claim_no {chosen}", f"order by {_LARGEST_FIRST}"
        return on_disk(
            _with_sentences(
                transaction, limited(f"{keys}{within} {order}", limit), parameters | bounds
            )
            for within, bounds in split
        )


def _with_sentences(
    transaction: ReadTransaction,
    keys: str,
    parameters: Mapping[str, Any],
) -> pa.Table:
    """Return the claims of the keys (SQL of `run_id` and `claim_no`), in order."""
    columns = ", ".join(f'"{name}"' for name in CLAIM_COLUMNS)
    sql = f"""
        with wanted as ({keys}),
        about as (select {_ABOUT_RUNS} from v_runs semi join wanted using (run_id)),
        texts as (select run_id, result from runs semi join wanted using (run_id))
        select {columns}, substring(result, greatest("start" - $window, 0) + 1, "end" - "start" + 2
            * $window) as around
        from (select *, {_CAVEAT} from claims) semi join wanted using (run_id, claim_no)
            join about using (run_id) join texts using (run_id)
        order by {_LARGEST_FIRST}"""
    found = fetch(transaction, sql, {**parameters, "window": WINDOW})
    sentences: list[str | None] = []
    for around, start, end in zip(
        *(found[name].to_pylist() for name in ("around", "start", "end")), strict=True
    ):
        first, length = min(start, WINDOW), end - start
        is_cut = start > WINDOW, around is not None and len(around) == length + first + WINDOW
        sentences.append(
            None if around is None else sentence(around, first, first + length, is_cut=is_cut)
        )
    # the sentence that each stands in takes the place of the text around it
    return found.drop_columns(["around"]).add_column(
        CLAIM_COLUMNS.index("quote"), "sentence", pa.array(sentences, pa.string())
    )


def count_claims(store: Store, filters: Filters, kinds: Sequence[str] = ()) -> tuple[int, int]:
    """Return the numbers of chosen claims and of their runs."""
    chosen, parameters = _chosen(filters, kinds)
    [(found, runs)] = _rows(
        fetch(store, f"select count(*), count(distinct run_id) {chosen}", parameters)
    )
    return found, runs


def count_hidden(store: Store, filters: Filters, kinds: Sequence[str] = ()) -> int:
    """Return the number of chosen claims that are hidden for low confidence.

    0 if the filters set a confidence.
    """
    if filters.values(MIN_CONFIDENCE):
        return 0
    chosen, parameters = _chosen(filters, kinds, hidden=True)
    [(hidden,)] = _rows(fetch(store, f"select count(*) {chosen}", parameters))
    return int(hidden)


def _chosen(
    filters: Filters, kinds: Sequence[str] = (), *, hidden: bool = False
) -> tuple[str, dict[str, Any]]:
    """Return SQL from `from` on for the chosen (or hidden) claims.

    It joins runs only if a filter needs them.
    """
    of_runs, of_claims = where_claims(filters, hidden=hidden)
    wanted = (
        f"semi join (select run_id from v_runs where {of_runs.sql}) as wanted using (run_id)"
        if of_runs
        else ""
    )
    parameters = (of_runs.parameters if of_runs else {}) | of_claims.parameters | _bound(kind=kinds)
    return f"from claims {wanted} where {of_claims.sql} and {_one_of('kind', kinds)}", parameters


class RunFacts(NamedTuple):
    """Claims, statements and changes of one summary in text order, and findings by severity.

    `claims` leaves out the `hidden_claims` of low confidence.
    """

    claims: pa.Table
    hidden_claims: pa.Table
    statements: pa.Table
    file_changes: pa.Table
    findings: pa.Table


def of_run(store: Store, run_id: str, filters: Filters = NO_FILTERS) -> RunFacts:
    """Return claims, statements, file changes and findings of one run; tables may be empty.

    Only the confidence filter applies.
    """
    return of_runs(store, [run_id], filters)[run_id]


def of_runs(
    store: Store, run_ids: Sequence[str], filters: Filters = NO_FILTERS
) -> dict[str, RunFacts]:
    """Return `of_run` by run."""
    shown = where_shown(filters)
    columns = f"* exclude (run_id), {_CAVEAT}, {shown.sql} as is_shown"
    claims = f"""
        select run_id, {columns} from claims where $chosen
        order by run_id, is_shown desc, claim_no"""
    statements = f"""
        select run_id, {", ".join(STATEMENT_COLUMNS)} from statements where $chosen
        order by run_id, statement_no"""
    changes = """
        select run_id, path, insertions, deletions from file_changes where $chosen
        order by run_id, path"""
    findings = f"""
        select run_id, severity, rule, message, expected, actual from findings where $chosen
        order by run_id, {_WORST_FIRST}"""
    by_run = fetch_by_run(store, claims, run_ids, shown.parameters)
    others = [fetch_by_run(store, sql, run_ids) for sql in (statements, changes, findings)]
    found = {}
    for run_id, table in by_run.items():
        number = table["is_shown"].to_pylist().count(True)
        table = table.drop_columns(["is_shown"])  # noqa: PLW2901
        tables = (one[run_id] for one in others)
        found[run_id] = RunFacts(table.slice(0, number), table.slice(number), *tables)
    return found


_CHOSEN_FINDINGS = """
select rule, severity, message, run_id, place, cost_own_usd
from findings join (select run_id, place, cost_own_usd from v_runs where {condition} and findings >
    0) using (run_id)
"""
"""Findings of chosen runs with the columns to sort by; the other columns are read only for listed
findings.
"""


def _findings_of(transaction: ReadTransaction, filters: Filters) -> str:
    """Return the name of a temporary table with the findings of the chosen runs."""
    condition = where(filters)
    return transaction.keep(_CHOSEN_FINDINGS.format(condition=condition.sql), condition.parameters)


def findings(
    store: Store,
    filters: Filters,
    severities: Sequence[str] = (),
    rules: Sequence[str] = (),
    limit: int | None = None,
) -> pa.Table:
    """Return findings with FINDING_COLUMNS, errors first."""
    with read_transaction(store) as transaction:
        chosen = (
            f"from {_findings_of(transaction, filters)} where {_finding_choice(severities, rules)}"
        )
        wanted = limited(
            f"select run_id, rule, severity, message, place {chosen} order by {_WORST_FIRST}", limit
        )
        sql = f"""
            with wanted as ({wanted}),
            about as (select {_ABOUT_RUNS}, cost_own_usd from v_runs where place in (select place
                from wanted))
            select {", ".join(FINDING_COLUMNS)}
            from findings semi join wanted using (run_id, rule, severity, message) join about using
                (run_id)"""
        return fetch(
            transaction,
            limited(f"{sql} order by {_WORST_FIRST}", limit),
            _bound(severity=severities, rule=rules),
        )


def count_findings(
    store: Store, filters: Filters, severities: Sequence[str] = (), rules: Sequence[str] = ()
) -> tuple[int, int]:
    """Return the numbers of chosen findings and of their runs."""
    with read_transaction(store) as transaction:
        chosen = (
            f"from {_findings_of(transaction, filters)} where {_finding_choice(severities, rules)}"
        )
        [(found, runs)] = _rows(
            fetch(
                transaction,
                f"select count(*), count(distinct place) {chosen}",
                _bound(severity=severities, rule=rules),
            )
        )
    return found, runs


def findings_by_rule(store: Store, filters: Filters) -> pa.Table:
    """Return the findings per rule, most severe first.

    Their number, the cost of their runs (each counted once), and an example message.
    """
    with read_transaction(store) as transaction:
        chosen = _findings_of(transaction, filters)
        sql = f"""
            with found as (select rule, severity, count(*) as findings, min(message) as example from
                {chosen} group by all),
            of_runs as (
                select rule, severity, count(*) as runs, sum(cost_own_usd) as cost_usd
                from (select distinct rule, severity, place, cost_own_usd from {chosen}) group by
                    all
            )
            select rule, severity, runs, findings, cost_usd, example from found join of_runs using
                (rule, severity)
            order by {GRAVEST_FIRST}, runs desc, rule"""
        return fetch(transaction, sql, {})


def _finding_choice(severities: Sequence[str], rules: Sequence[str]) -> str:
    return f"{_one_of('severity', severities)} and {_one_of('rule', rules)}"


def _one_of(column: str, values: Sequence[str]) -> str:
    """Return a condition that a column has one of these values; true if no values are given."""
    return f"list_contains($chosen_{column}, {column})" if values else "true"


def _bound(**values: Sequence[str]) -> dict[str, list[str]]:
    return {f"chosen_{column}": list(chosen) for column, chosen in values.items() if chosen}


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
