"""Usage and sessions as screens show them: cards, and the columns of grids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from app.text.columns import agent_name
from app.text.grid_columns import Grid, Listing, grid
from schemas.catalogue import columns as catalogue
from schemas.catalogue.usage import LOWER_BOUNDS, RESETS, USAGE, WHOLE_RUNS

Row = Mapping[str, Any]

BLOCKS = Listing(
    USAGE,
    (
        "block_start", "block_end", RESETS, "block_state", "responses", "total_tokens", "cost_list_usd", LOWER_BOUNDS,
        "usd_per_hour", "tokens_per_minute", "output_tokens", "sessions", WHOLE_RUNS, "models",
    ),
)  # fmt: skip
SESSIONS = Listing(
    catalogue.SESSIONS,
    (
        "title", "last_at", "cost_list_usd", "total_tokens", "responses", "context_peak_tokens", "tool_calls", "failed_calls", "subagents",
        LOWER_BOUNDS, "model", "agent", "project", "output_tokens", "cost_usd", "first_at", "run_id",
    ),
)  # fmt: skip
COMPACT_SESSIONS = Listing(catalogue.SESSIONS, ("title", "cost_list_usd", "last_at", "total_tokens", "responses", "run_id"))
"""What a phone shows of a session."""

LANES = Listing(
    catalogue.LANES,
    (
        "subagent", "first_at", "last_at", "responses", "total_tokens", "output_tokens", "cost_list_usd", LOWER_BOUNDS,
        "context_peak_tokens", "tool_calls", "failed_calls",
    ),
)  # fmt: skip
RESPONSES = Listing(
    catalogue.RESPONSES,
    (
        "at", "subagent", "model", "cost_list_usd", "input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens",
        "output_count", "tools", "failed_tools", "price_note", "context_tokens", "cost_so_far_usd", "stop_reason",
    ),
)  # fmt: skip

_ONLY_IF_ANY = (LOWER_BOUNDS, WHOLE_RUNS, "subagents", "failed_calls", RESETS)
"""Counts that are left out where they are 0 everywhere."""


def block_grid(blocks: pa.Table) -> Grid:
    """Blocks, the latest first, without the gaps between them and what has no time."""
    dated = blocks.filter(pc.fill_null(pc.not_equal(blocks["block_state"], "gap"), False))
    dated = dated.sort_by([("block_start", "descending")])
    cells = {
        "tokens_per_minute": pc.round(dated["tokens_per_minute"]),
        "models": pa.array([", ".join(models or ()) for models in dated["models"].to_pylist()], pa.string()),
    }
    return _grid(_with(dated, cells), BLOCKS)


def session_grid(sessions: pa.Table, listing: Listing = SESSIONS) -> Grid:
    """Sessions as of `app.queries.sessions.sessions`."""
    named = [agent_name(key) for key in sessions["agent"].to_pylist()]
    return _grid(_with(sessions, {"agent": pa.array(named, pa.string())}), listing)


def lane_grid(lanes: pa.Table) -> Grid:
    """The main conversation and the sub-agents of a session."""
    return _grid(lanes, LANES)


def response_grid(responses: pa.Table) -> Grid:
    """The responses of a session, in order; without the name of the lane where there is one only."""
    cells = {"output_count": pc.if_else(responses["output_is_final"], "final", "lower bound")}
    cells |= {name: pa.array(map(_counted, responses[name].to_pylist()), pa.string()) for name in ("tools", "failed_tools")}
    keys = RESPONSES.keys if len(set(responses["subagent"].to_pylist())) > 1 else tuple(key for key in RESPONSES.keys if key != "subagent")
    return grid(_with(responses, cells), Listing(RESPONSES.of, keys))


def _counted(tools: Sequence[str]) -> str | None:
    """`Bash, Read ×2`; None for none."""
    return ", ".join(f"{tool} ×{count}" if count > 1 else tool for tool, count in Counter(tools).items()) or None


def _with(table: pa.Table, cells: Mapping[str, Any]) -> pa.Table:
    """The table with these columns, in place of those of their names."""
    for name, values in cells.items():
        table = table.drop_columns([name]) if name in table.column_names else table
        table = table.append_column(name, values)
    return table


def _grid(table: pa.Table, listing: Listing) -> Grid:
    empty = {key for key in _ONLY_IF_ANY if key in table.column_names and not any(table[key].to_pylist())}
    return grid(table, Listing(listing.of, tuple(key for key in listing.keys if key not in empty)))
