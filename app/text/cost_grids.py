"""The tables of the screen Cost: groups, models, the most expensive runs and what has no price, as `app.text.grid_columns` shows tables."""

from __future__ import annotations

import pyarrow as pa

from app.queries.cost import MODEL_FIGURES, RUN_COLUMNS, Groups
from app.text.grid_columns import Grid, Listing, grid
from schemas.catalogue import columns as catalogue
from schemas.catalogue.cost_measures import REPORTED, CostMeasure

GROUPS = (
    "runs", "cost_usd", "cost_share", "cost_median_usd", "cost_per_completed_usd", "cost_list_usd", "bounded_list_usd", "cost_delta_usd",
    "cost_compared_usd", "cost_delta_share", "cache_saved_usd", "cache_hit_ratio", "priced_runs", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens",
)  # fmt: skip
MODELS = Listing(catalogue.MODELS, ("model", "provider", "region", "uses", *MODEL_FIGURES, "priced_uses"))
MOST_EXPENSIVE = Listing(
    catalogue.RUNS,
    (*(key for key in RUN_COLUMNS[1:] if key not in ("is_started", "agent", "repo", "task", "experiment")), "repo", "experiment", "run_id"),
)
UNPRICED = Listing(catalogue.MODELS, ("model-id", "provider", "region", "runs", "total_tokens", "cost_usd"))


def group_grid(found: Groups, measure: CostMeasure = REPORTED) -> Grid:
    """Each group with its figures, each figure with the meaning it has for a group."""
    table = found.table.append_column("priced_runs", found.table["cost_list_usd_known"])
    return grid(table, Listing(catalogue.GROUPS, (table.column_names[0], *measure.among(GROUPS))))


def most_expensive_grid(runs: pa.Table, measure: CostMeasure = REPORTED) -> Grid:
    """The most expensive runs; the cost they are ordered by comes first of the figures."""
    if measure is REPORTED:
        return grid(runs, MOST_EXPENSIVE)
    keys = [key for key in MOST_EXPENSIVE.keys if key not in (measure.column, "tokens_basis")]
    keys[keys.index(REPORTED.column) : keys.index(REPORTED.column)] = [measure.column, "tokens_basis"]
    return grid(runs, Listing(MOST_EXPENSIVE.of, tuple(keys)))
