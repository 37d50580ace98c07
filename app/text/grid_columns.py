"""Tables as a screen's grid shows them: which columns, and as types a grid can sort."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from app.text.columns import Column, columns, labelled, measured
from app.text.presentation import MEANINGS, fact_words, upload_words
from ingest.pipeline import SourceReport
from schemas.catalogue.measures import Measure
from schemas.catalogue.unit_names import Unit
from schemas.text import visible

RUNS = (
    "cost_own_usd", "duration_ms", "parallelism", "num_turns", "cost_per_turn_usd", "model", "outcome", "output_tokens",
    "cache_read_share", "repo", "task", "experiment", "started_at", "source_name", "session_id", "run_id",
)  # fmt: skip
MORE_RUNS = (
    "agent", "agent_version", "provider", "region", "duration_api_ms", "input_tokens", "cache_read_tokens", "cache_write_tokens",
    "permission_denials", "claimed_speedup", "claimed_evidence", "claimed_quote", "findings", "ended_at", "subtype", "stop_reason",
    "terminal_reason", "received_at",
)  # fmt: skip
"""What the list of runs can show besides."""

MODEL_GROUPS = ("model", "provider", "region")
MODEL_FIGURES = ("runs", "cost_usd", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
MODELS = (*MODEL_GROUPS, *MODEL_FIGURES)
USAGE = (
    "model", "provider", "region", "cost_reported_usd", "cost_list_usd", "cost_delta_usd", "cost_cause", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens", "web_search_requests", "context_window", "price_source", "model_id",
)  # fmt: skip
CLAIMS = (
    "quote", "ratio", "ratio_low", "ratio_high", "metric", "direction", "evidence", "scope", "hedged", "origin", "kind", "subject", "repo",
    "task", "model", "run_id",
)  # fmt: skip
FILE_CHANGES = ("path", "insertions", "deletions")
TOOL_CALLS = ("tool", "calls", "errors")
FINDINGS = ("severity", "message", "expected", "actual", "model", "task", "run_id")
REASONS = ("reason", "rejected", "sources", "detail")
REJECTS = ("source_name", "reason", "detail", "position", "excerpt")
SOURCES = ("name", "kind", "documents", "accepted", "duplicates", "rejected", "ignored", "bytes", "container", "received_at")
LABELS = {
    "tool": "Tool",
    "excerpt": "Where the text stands",
    "calls": "Calls",
    "errors": "Errors",
    "parallelism": "API ÷ wall",
    "cost_per_turn_usd": "Cost per turn",
    "cost_reported_usd": "Reported cost",
    "output_tokens": "Output tokens",
    "input_tokens": "Input tokens",
    "web_search_requests": "Web searches",
}
"""Where a grid's header needs a shorter or plainer word than a report."""

WORDED = ("outcome", "cost_cause", "causes")
"""Columns whose values are keys of ours, told in words."""

ROW_HEIGHT, MOST_ROWS = 35, 18

_NOTED = ("detail", "position", "excerpt")
_COUNTS = ("accepted", "duplicates", "rejected", "ignored")
_NAMES = pa.list_(pa.string())


def grid(table: pa.Table, keys: Sequence[str], **labels: str) -> pa.Table:
    """The columns of a grid, labelled. A column of which nothing is known is left out."""
    kept = [key for key in keys if not table.num_rows or table[key].null_count < table.num_rows]
    named = {key: label for key, label in (LABELS | labels).items() if key in kept}
    return labelled(_sortable(table.select(kept)), named)


def grid_columns(table: pa.Table) -> list[tuple[Column, str]]:
    """Each column of a grid with what it means."""
    return [(column, column.meaning or MEANINGS.get(column.name, "")) for column in columns(table)]


def _sortable(table: pa.Table) -> pa.Table:
    """Money as floats, milliseconds as durations, shares as percentages, outcomes as words: as a browser's grid sorts and shows them."""
    units = {column.name: column.unit for column in columns(table)}
    cells = {name: _cells(table[name], name, units[name]) for name in table.column_names}
    return measured(pa.table(cells), units)


def _cells(values: pa.ChunkedArray, name: str, unit: Unit) -> pa.ChunkedArray:
    if unit is Unit.MILLISECONDS:
        whole = values.cast(pa.int64(), safe=False)
        return pc.add(whole, 500).cast(pa.duration("ms")).cast(pa.duration("s"), safe=False)  # a cast alone would round down
    if unit is Unit.SHARE:
        return pc.multiply(values, 100.0)
    if name in WORDED:
        return pa.chunked_array([[None if value is None else fact_words(value, name) for value in values.to_pylist()]], pa.string())
    if pa.types.is_string(values.type) or values.type == _NAMES:
        return pa.chunked_array([_readable(values.to_pylist())], values.type)
    return values.cast(pa.float64()) if pa.types.is_decimal(values.type) else values


def _readable(values: Iterable[Any]) -> list[Any]:
    """Texts, also in lists, without what deceives; all else as it is."""
    return [visible(one) if isinstance(one, str) else _readable(one) if isinstance(one, list) else one for one in values]


def with_excerpts(runs: pa.Table, excerpts: Mapping[str, str]) -> pa.Table:
    """The runs with a column `excerpt`: where in each summary the searched text stands."""
    return runs.append_column("excerpt", pa.array([excerpts.get(run_id) for run_id in runs["run_id"].to_pylist()], pa.string()))


def outlier_grid(far: pa.Table, measure: Measure) -> pa.Table:
    """Runs far from the usual, as `queries_measures.outliers` finds them."""
    keys = ("value", "times_usual", "usual", "model", "task", "outcome", "run_id")
    units = {"value": measure.unit, "usual": measure.unit, "times_usual": Unit.RATIO}
    return grid(measured(far.select(keys), units), keys, value=measure.label, usual="Median of its model", times_usual="Times the median")


def claim_grid(claims: pa.Table) -> pa.Table:
    """Claims, as `queries_claims.claims` finds them."""
    labels = {
        "quote": "Claim, as written",
        "ratio": "Claimed ratio",
        "ratio_low": "From",
        "ratio_high": "To",
        "evidence": "Evidence of the claim",
        "subject": "About",
    }
    spoken = {
        "hedged": ["yes" if hedged else "no" for hedged in claims["hedged"].to_pylist()],
        "scope": [scope.replace("_", " ") for scope in claims["scope"].to_pylist()],
    }
    for name, cells in spoken.items():
        claims = claims.set_column(claims.column_names.index(name), name, pa.array(cells, pa.string()))
    return grid(claims, [key for key in CLAIMS if key in claims.column_names], **labels)


def grid_height(rows: pa.Table) -> int:
    """Height in pixels that shows the rows, or as many as a page has room for."""
    return int(min(rows.num_rows + 1, MOST_ROWS) * ROW_HEIGHT + 2)


def upload_grid(reports: Sequence[SourceReport]) -> pa.Table:
    """What became of each file."""
    getters = {"source_name": lambda report: report.name, "became": upload_words} | {name: _attribute(name) for name in _COUNTS}
    types = dict.fromkeys(_COUNTS, pa.int64())
    return labelled(_table(reports, getters, types), {"source_name": "File", "became": "What became of it", "accepted": "New runs"})


def reject_grid(reports: Sequence[SourceReport]) -> pa.Table:
    """What was rejected, why and where."""
    rejects = [(report.name, reject) for report in reports for reject in report.rejects]
    getters = {"source_name": lambda pair: pair[0]} | {name: _attribute(name, 1) for name in _NOTED}
    return labelled(_table(rejects, getters, {}), {"source_name": "File", "detail": "Why", "position": "Where", "excerpt": "Beginning"})


def chosen_run(runs: pa.Table, selection: Mapping[str, Any]) -> str | None:
    """The run of the row or cell that is selected in a grid of these runs; None where nothing is, or the table has changed since."""
    places = [*selection.get("rows", ()), *(row for row, _ in selection.get("cells", ()))]
    return str(runs["run_id"][places[0]].as_py()) if places and 0 <= places[0] < runs.num_rows else None


def clicked_run(point: Mapping[str, Any]) -> str:
    """The run of a mark that was clicked: its id is the mark's custom data."""
    found = point.get("customdata")
    return str(found[0] if isinstance(found, list | tuple) else found)


def columns_of(keys: Sequence[str]) -> list[Column]:
    """Columns of these names as a grid calls them."""
    return columns(labelled(pa.table({key: pa.array([], pa.string()) for key in keys}), LABELS))


def _attribute(name: str, at: int | None = None) -> Callable[[Any], Any]:
    return lambda item: getattr(item if at is None else item[at], name)


def _table(items: Iterable[Any], getters: Mapping[str, Callable[[Any], Any]], types: Mapping[str, pa.DataType]) -> pa.Table:
    rows = list(items)
    return pa.table({name: pa.array(_readable(get(row) for row in rows), types.get(name, pa.string())) for name, get in getters.items()})
