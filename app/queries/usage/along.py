"""Usage per period and model, for charts along time: the latest rows of `totals.usage`."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from app.queries.filters.chosen import NO_FILTERS, Filters
from app.queries.usage.totals import Request, usage
from ingest.store.database import Store

PERIODS = ("day", "hour", "week", "month")
"""The dimensions of usage that are drawn along time; those of UTC."""

MOST_PERIODS = 120
"""The most periods with usage that a chart has room for."""


@dataclass(frozen=True)
class Along:
    """`table`: USAGE_METRICS per `period` (its name) and `model`, in order; `earlier`: periods with usage before those in the table."""

    by: str
    table: pa.Table
    earlier: int


def along(store: Store, filters: Filters = NO_FILTERS, by: str = "day", most: int = MOST_PERIODS) -> Along:
    """The usage of the last `most` periods that have any. What has no time is in none. Raises StoreError."""
    rows = usage(store, Request(filters, (by, "model"))).table
    rows = rows.filter(pc.is_valid(rows[by])).sort_by([(by, "ascending")])
    names = list(dict.fromkeys(rows[by].to_pylist()))
    shown = rows.filter(pc.is_in(rows[by], pa.array(names[-most:], rows.schema.field(by).type)))
    return Along(by, shown.rename_columns(["period" if name == by else name for name in shown.column_names]), max(0, len(names) - most))
