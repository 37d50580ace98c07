"""Columns of sessions along time: a session in a list, one of its lanes, and one of its responses."""

from __future__ import annotations

from schemas.catalogue.columns import RUNS, entries_of
from schemas.catalogue.entry import Columns, Entry, by_key
from schemas.catalogue.usage import LOWER_BOUNDS, TOOL_METRICS, USAGE_DIMENSIONS, USAGE_METRICS
from schemas.rows.response import ResponseRow
from schemas.unit_names import Unit

_PEAK = Entry(
    "context_peak_tokens", "Context peak", Unit.TOKENS,
    meaning="Largest context of the main conversation: uncached input, cache reads and cache writes of one response.",
)  # fmt: skip
_LANE = Entry(
    "subagent",
    "Sub-agent",
    meaning="Type and task of the sub-agent, else its id; main: the main conversation; side chain: side questions.",
)
_SUMS = (
    *(USAGE_METRICS[key] for key in ("first_at", "last_at", "responses", "total_tokens", "output_tokens", "cost_list_usd", LOWER_BOUNDS)),
    Entry("tool_calls", "Tool calls", Unit.COUNT, meaning="Calls of tools by its responses."),
    TOOL_METRICS["failed_calls"],
)

SESSIONS: Columns = {
    **{key: RUNS[key] for key in ("title", "agent", "model", "run_id")},
    **by_key(
        USAGE_DIMENSIONS["project"],
        *_SUMS,
        Entry("subagents", "Sub-agents", Unit.COUNT, meaning="Sub-agents with a response."),
        _PEAK,
        Entry("cost_usd", "Reported cost", Unit.USD, "lower", "Cost that the agent reports for the run of the session."),
    ),
}
"""One session with responses."""

LANES: Columns = by_key(
    _LANE,
    *_SUMS,
    Entry("context_peak_tokens", "Context peak", Unit.TOKENS, meaning="Largest context: uncached input, cache reads and cache writes."),
)
"""The main conversation or a sub-agent of a session."""

RESPONSES: Columns = {
    **entries_of(ResponseRow),
    **by_key(
        _LANE,
        Entry(
            "context_tokens", "Context", Unit.TOKENS,
            meaning="How full the context was: uncached input, cache reads and cache writes of the response.",
        ),
        Entry("cost_so_far_usd", "Cumulative cost", Unit.USD, meaning="List-price cost of the session up to the response."),
        Entry("tokens_so_far", "Cumulative tokens", Unit.TOKENS, meaning="All tokens of the session up to the response."),
        Entry("output_count", "Output count", meaning="final, or lower bound: only the count at the start of the response was logged."),
    ),
}  # fmt: skip
"""One billed response of a session."""
