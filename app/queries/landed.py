"""What became of runs' changes in a repository, beside what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import pyarrow as pa

from app.queries.filters import NO_FILTERS, Filters, where
from app.queries.measured import totals
from app.queries.reading import fetch, fetch_value
from app.queries.spending import spent_in
from ingest.store.database import Store
from schemas.catalogue.figures import kinds_in
from schemas.catalogue.metrics import RUN_METRICS
from schemas.rows.landing import Landed

_ROWS = """
select
    run_id, title, dated_at, agent, cost_best_usd, cost_best_bounds, landed as state, read.reason, landed_changes as changes,
    landed_at, pull_request, ticket, commits
from v_runs
join (select run_id, reason, landed_at, commits, repository from landings) as read using (run_id)
where {condition} and repository = $repository
order by list_position($states::varchar[], landed), landed_at desc nulls last, dated_at desc nulls last, run_id
"""  # noqa: E501


def landings(store: Store, repository: str) -> pa.Table:
    """Return the runs that worked in a repository, the landed first. Raises StoreError."""
    condition = where(NO_FILTERS)
    values = {"repository": repository, "states": [*map(str, Landed)], **condition.parameters}
    return fetch(store, _ROWS.format(condition=condition.sql), values)


@dataclass(frozen=True)
class LandedMoney:
    """What landed, and what the `runs` that a checkout shows cost.

    `usd_per_change`: their cost by landed change; `unknown_share`: the part of it that runs cost
    whose changes the checkout does not show. `usd_per_percent`: their cost by percent that landed
    changes were measured faster. None if unknown.
    """

    runs: int
    changes: int
    usd_per_change: Decimal | None
    bounds: str | None
    unknown_share: float | None
    usd_per_percent: Decimal | None


def landed_money(
    store: Store, filters: Filters, now: datetime | None = None, repository: str = ""
) -> LandedMoney | None:
    """Return what landed of the runs and at what cost; None if no checkout shows any of them.

    `now`: runs that end after it do not count, as in daily work. `repository`: only its runs.
    """
    if now:
        filters = filters.with_values("until", [*filters.values("until"), now.isoformat()])
    if not fetch_value(store, "select exists (from landings)"):
        return None
    of = spent_in(store, filters)
    sql = f"""
        select count(distinct run_id) as runs, {RUN_METRICS["changes_landed"].sql} as changes,
            {RUN_METRICS["cost_per_landed_usd"].sql} as usd_per_change,
            {kinds_in("cost_best_bounds")} as bounds,
            {RUN_METRICS["unattributed_share"].sql} as unknown_share
        from {of.sql} where landed is not null and ($repository = '' or run_id in (
            select read.run_id from landings as read where read.repository = $repository))"""
    [row] = fetch(store, sql, of.parameters | {"repository": repository}).to_pylist()
    measured = None if repository else totals(store, filters)
    per_percent = (measured or {}).get("cost_per_landed_percent_usd")
    return LandedMoney(**row, usd_per_percent=per_percent) if row["runs"] else None
