"""What became of runs' changes in a repository, beside what they cost."""

from __future__ import annotations

import pyarrow as pa

from app.queries.filters import NO_FILTERS, where
from app.queries.reading import fetch
from ingest.store.database import Store
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
