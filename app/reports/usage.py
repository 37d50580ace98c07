"""The answer of `tachograph usage`.

A table for people and files, and one JSON document with stable keys.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from app.queries.grouping import filters_in
from app.queries.usage import UsageRequest, UsageTable
from app.queries.usage import usage as usage_of
from app.reports.exports.text import json_rows, json_text, rows
from app.text import usage as words
from app.text.answers import Answer, heading
from ingest.store.database import Store
from schemas.catalogue.usage import BLOCK, LOWER_BOUNDS, RESETS, TOOLS, USAGE, WHOLE_RUNS
from schemas.text import plural

REPORTED_USD = "cost_reported_usd"
COMPACT = ("responses", "total_tokens", "cost_best_usd")
TOOLS_COMPACT = ("tool_calls", "failed_calls", "calling_cost_list_usd")
_SHOWN = (
    *COMPACT,
    "cost_list_usd",
    REPORTED_USD,
    "output_tokens",
    "input_tokens",
    "cache_write_tokens",
    "cache_read_tokens",
    "sessions",
    "models",
)
_OTHERS_NEED = (WHOLE_RUNS, LOWER_BOUNDS)
"""Columns that explain cells of other columns; left out if 0 everywhere."""
_BLOCKS_SHOWN = ("block_state", *COMPACT, "usd_per_hour", "tokens_per_minute", *_SHOWN[3:])
_TOOLS_SHOWN = (
    "tool_calls",
    "failed_calls",
    "calling_responses",
    "calling_cost_list_usd",
    "calling_tokens",
    "sessions",
)


def usage(store: Store, request: UsageRequest, *, compact: bool = False) -> Answer:
    """Return the table of a request; `compact` has few columns.

    Raises UsageError for an unknown zone or dimension.
    """
    used, notes = _used(store, request)
    [total] = used.total.to_pylist()
    what = (
        f"{plural(total['tool_calls'] or 0, 'call')} of tools"
        if request.of_tools
        else words.covered(total)
    )
    about = heading(f"{what} · times in {request.zone}", store.location, request.filters)
    of = TOOLS if request.of_tools else USAGE
    if request.of_tools:
        shown: tuple[str, ...] = TOOLS_COMPACT if compact else _TOOLS_SHOWN
    else:
        shown = COMPACT if compact else _BLOCKS_SHOWN if request.by == (BLOCK,) else _SHOWN
    if not request.of_tools:
        has_resets = (
            RESETS in used.table.column_names
            and used.table[RESETS].null_count < used.table.num_rows
        )
        shown = (
            *shown,
            *(key for key in _OTHERS_NEED if total[key]),
            *((RESETS,) if has_resets else ()),
        )
    kept = (*request.by, *(TOOLS_COMPACT if request.of_tools else COMPACT))
    if (
        total.get(REPORTED_USD) is not None and not compact
    ):  # beside the list price: both costs answer one question
        kept = (*kept, REPORTED_USD)
    totals = (
        used.total
    )  # with a column for each of the table that is no grouping: unknown where nothing adds up
    for field in used.table.schema:
        if field.name not in totals.column_names and field.name not in request.by:
            unknown = (
                pa.nulls(1, field.type)
                if field.type != pa.string()
                else pa.array([" "], pa.string())
            )
            totals = totals.append_column(field.name, unknown)
    return Answer(used.table, about, (*request.by, *shown), totals, of, kept, " ".join(notes))


def document(store: Store, request: UsageRequest) -> bytes:
    """Return the same as one JSON object.

    `by`, `tz`, `rows`, `totals`, `active_block`, `undated`, `notes`. Raises as `usage`.
    """
    used, notes = _used(store, request)
    [totals] = rows(used.total)
    active = (
        next((row for row in rows(used.table) if row.get("block_state") == "active"), None)
        if used.active
        else None
    )
    parts = {
        "by": json_text(list(request.by)),
        "tz": json_text(request.zone),
        "filters": json_text(request.filters.as_words()),
        "rows": json_rows(used.table),
        "totals": json_text(totals),
        "active_block": json_text(active),
        "undated": json_text(dict(used.undated) | used.undated_runs.costs),
        "notes": json_text(notes),
    }
    return (
        "{\n" + ",\n".join(f'"{key}": {text}' for key, text in parts.items()) + "\n}\n"
    ).encode()


def _used(store: Store, request: UsageRequest) -> tuple[UsageTable, list[str]]:
    """Return the usage, and the notes on it."""
    used = usage_of(store, replace(request, filters=filters_in(request.filters, request.zone)))
    return used, words.notes(used)
