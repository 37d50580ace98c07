"""Questions that only screens ask: what a filter can be set to, and figures drawn as bins."""

from __future__ import annotations

import pyarrow as pa

from app.filters import FILTERS
from app.queries import fetch
from ingest.store import Store


def options(store: Store, limit: int) -> pa.Table:
    """What each filter can be set to: `key`, `value`, `runs`; at most `limit` values of a filter, the most frequent first."""
    parts = [
        f"(select '{filter_.key}' as key, value, count(*) as runs from (select {filter_.options} as value from runs)"
        f" where value is not null group by value order by runs desc, value limit {int(limit)})"
        for filter_ in FILTERS.values()
        if filter_.options
    ]
    return fetch(store, f"{' union all '.join(parts)} order by key, runs desc, value")
