"""The tables of the screen Cost: groups, models, the dearest runs and what has no price, as `app.text.grid_columns` shows tables."""

from __future__ import annotations

import pyarrow as pa

from app.queries.cost import GROUP_METRICS, MODEL_FIGURES, RUN_COLUMNS, Groups
from app.text.columns import explained
from app.text.grid_columns import grid
from schemas.catalogue.metrics import MODEL_METRICS, RUN_METRICS

GROUPS = (
    "runs", "cost_usd", "cost_share", "cost_median_usd", "cost_per_completed_usd", "cost_list_usd", "cost_delta_usd", "cost_delta_share",
    "cache_saved_usd", "cache_hit_ratio", "priced_runs", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
)  # fmt: skip
MODELS = ("model", "provider", "region", "uses", *MODEL_FIGURES, "priced_uses")
UNPRICED = ("model-id", "provider", "region", "runs", "total_tokens", "cost_usd")
_SHORT = {
    "cost_median_usd": "Median per run",
    "cost_per_completed_usd": "Per completed run",
    "cost_delta_share": "Of reported",
    "cache_hit_ratio": "Cache hits",
    "cost_share": "Share",
}
_PRICED = "Runs that have a list cost; where they are fewer than all, the figures at list prices rest on these."
_PRICED_USES = "Uses that have a list cost; where they are fewer than all, the figures at list prices rest on these."
_USES = "How often runs used one id of the model: a run that used two ids of it counts twice."


def group_grid(found: Groups, label: str) -> pa.Table:
    """Each group with its figures, each figure with the meaning it has for a group."""
    key = found.table.column_names[0]
    table = found.table.append_column("priced_runs", found.table["cost_list_usd_known"])
    rows = grid(table, (key, *GROUPS), **(_SHORT | {key: label, "priced_runs": "Runs with a list cost"}))
    return _with_meanings(rows, {name: RUN_METRICS[name].meaning for name in GROUP_METRICS} | {"priced_runs": _PRICED})


def model_grid(table: pa.Table) -> pa.Table:
    """Each model with what it cost as reported and at list prices, and why the two differ."""
    rows = grid(table, MODELS, model="Model", uses="Uses", priced_uses="Uses with a list cost", cost_delta_share="Of reported")
    meanings = {name: MODEL_METRICS[name].meaning for name in MODEL_FIGURES}
    return _with_meanings(rows, meanings | {"uses": _USES, "priced_uses": _PRICED_USES})


def run_grid(table: pa.Table) -> pa.Table:
    """The dearest runs."""
    labels = {"cost_cause": "Cause", "cache_saved_usd": "Saved by caching", "cost_delta_usd": "List less reported"}
    rows = grid(table, (*RUN_COLUMNS[1:], RUN_COLUMNS[0]), **labels)
    return _with_meanings(rows, {"cache_saved_usd": RUN_METRICS["cache_saved_usd"].meaning})


def unpriced_grid(table: pa.Table) -> pa.Table:
    """Models without a list price, with their tokens."""
    meanings = {"total_tokens": RUN_METRICS["unpriced_tokens"].meaning, "runs": MODEL_METRICS["runs"].meaning}
    return _with_meanings(grid(table, UNPRICED, **{"model-id": "Model id, as logged", "total_tokens": "Tokens"}), meanings)


def _with_meanings(rows: pa.Table, meanings: dict[str, str]) -> pa.Table:
    return explained(rows, {name: meaning for name, meaning in meanings.items() if name in rows.column_names})
