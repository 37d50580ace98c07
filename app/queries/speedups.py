"""Claimed beside measured speedups: how checked claims turned out, pairs to draw, and lists of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from app.queries.agents import Spread, bound_of
from app.queries.claims import claims
from app.queries.filters.chosen import Filters, where
from app.queries.filters.registry import MIN_CONFIDENCE, RUN
from app.queries.measured import WHY, with_verdicts
from app.queries.runs import fetch
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, CostMeasure
from schemas.catalogue.metrics import PAIR

UNCOMPARED = ("no_baseline", "other_setup", "failed_unknown", "machine")
"""Classes of measurements that nothing can be compared with."""

_LARGEST_CLAIM = "claimed_speedup desc nulls last, run_id"
LISTS = {
    "moved": ("Faster or slower", "measured_class in ('faster', 'slower')", "measured_speedup desc, run_id"),
    "pairs": ("Claimed and measured", PAIR, _LARGEST_CLAIM),
    "comparable": ("Comparable", "measured_speedup is not null", "measured_speedup desc, run_id"),
    "breaks": ("The change breaks", "measured_class = 'breaks'", _LARGEST_CLAIM),
    "claims": ("Claims only", "claimed_speedup is not null and measured_speedup is null", _LARGEST_CLAIM),
    "uncompared": ("Not comparable", f"measured_class in {UNCOMPARED}", "ratio_published is null, " + _LARGEST_CLAIM),
}
"""The lists of runs: name, condition and order."""


@dataclass(frozen=True, slots=True)
class Checks:
    """How the `checked` claims of an agent (None with `is_all`: of all) turned out whose benchmark covers the same or another part.

    `factor` is claimed ÷ measured; its median is that of the logarithms.
    """

    agent: str | None
    is_all: bool
    is_other_part: bool
    checked: int
    held: int
    more: int
    less: int
    wrong: int
    factor: Spread


def checks(store: Store, filters: Filters) -> list[Checks]:
    """Checked claims by part, of all agents and of each, those with the most first. Raises StoreError."""
    condition = where(filters)
    sql = f"""
        select agent, grouping(agent) = 1 as is_all, scope_differs as is_other_part, count(*) as checked,
               count(*) filter (claim_verdict = 'kept') as held, count(*) filter (claim_verdict = 'over_claimed') as more,
               count(*) filter (claim_verdict = 'under_claimed') as less, count(*) filter (claim_verdict = 'wrong_sign') as wrong,
               exp(median(ln(factor))) as middle, min(factor) as low, max(factor) as high
        from (select *, claimed_speedup / measured_speedup as factor from {with_verdicts(store)} where {condition.sql} and {PAIR})
        group by grouping sets ((scope_differs), (agent, scope_differs))
        order by is_all desc, sum(count(*)) over (partition by is_all, agent) desc, agent, is_other_part"""
    found = fetch(store, sql, condition.parameters).to_pylist()
    return [Checks(factor=Spread(row["checked"], row.pop("middle"), row.pop("low"), row.pop("high")), **row) for row in found]


def pairs(store: Store, filters: Filters, most: int) -> pa.Table:
    """Runs with a claimed and a measured speedup, the smallest claim first: at most `most`, every k-th by rank. `found` counts all.

    Raises StoreError.
    """
    condition = where(filters)
    sql = f"""
        select run_id, title, agent, claimed_speedup, measured_speedup, scope_differs, found
        from (
            select *, row_number() over (order by claimed_speedup, run_id) - 1 as rank, count(*) over () as found
            from {with_verdicts(store)} where {condition.sql} and {PAIR}
        )
        where rank % ceil(found / {int(most)})::bigint = 0 order by rank"""
    return fetch(store, sql, condition.parameters)


def counts(store: Store, filters: Filters) -> Mapping[str, int]:
    """How many runs each of LISTS has. Raises StoreError."""
    condition = where(filters)
    listed = ", ".join(f"count(*) filter ({which}) as {key}" for key, (_, which, _) in LISTS.items())
    [row] = fetch(store, f"select {listed} from {with_verdicts(store)} where {condition.sql}", condition.parameters).to_pylist()
    counted: dict[str, int] = row
    return counted


def runs(
    store: Store, filters: Filters, key: str, limit: int, measure: CostMeasure = BEST, segment: tuple[str | None, str] | None = None
) -> list[dict[str, Any]]:
    """The runs of one of LISTS; of a `segment` instead, which is an agent and a class of measurements.

    `ratio_published` is that of values without a comparable baseline. Raises StoreError.
    """
    condition, (_, which, order) = where(filters), LISTS[key]
    chosen = {} if segment is None else {"agent": segment[0], "class": segment[1]}
    which = which if segment is None else "agent is not distinct from $segment_agent and measured_class = $segment_class"
    sql = f"""
        with judged as (select * from {with_verdicts(store)} where {condition.sql}),
        headlines as (select run_id, measurement_source_id as source_id, measurement_no from v_verdicts),
        directions as (
            select run_id, better
            from headlines join (select source_id, measurement_no, better from v_measurements) using (source_id, measurement_no)
        )
        select
            run_id, title, agent, model, task_key, claimed_speedup, claimed_quote, claimed_evidence, claimed_scope, measured_speedup,
            measured_vs_reference, measured_class, benchmark, metric, claim_verdict, measured_scope, scope_differs, failure, {WHY} as why,
            {measure.column} as cost_usd, {bound_of(measure)} as bound,
            case when measured_speedup is null then case better
                when 'lower' then measured_baseline / nullif(measured_candidate, 0)
                when 'higher' then measured_candidate / nullif(measured_baseline, 0)
            end end as ratio_published
        from judged left join directions using (run_id)
        where {which} order by {order} limit {int(limit)}"""
    found: list[dict[str, Any]] = fetch(
        store, sql, condition.parameters | {f"segment_{name}": value for name, value in chosen.items()}
    ).to_pylist()
    return found


def with_sentences(store: Store, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs with the number of their top claim, `claim_no`, and its whole `sentence`. Raises StoreError."""
    chosen = Filters().with_values(RUN, [row["run_id"] for row in found]).with_values(MIN_CONFIDENCE, ["0"])
    said = {(row["run_id"], row["quote"]): row for row in claims(store, chosen).to_pylist()} if found else {}
    return [
        row | {name: said.get((row["run_id"], row["claimed_quote"]), {}).get(name) for name in ("claim_no", "sentence")} for row in found
    ]
