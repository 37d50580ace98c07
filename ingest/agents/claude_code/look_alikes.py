"""Result records of other agents that look like Claude Code's. Told apart by content, never by the name of a file.

Only records without a cost and without `modelUsage` are looked at: no other agent writes either.
"""

from __future__ import annotations

from typing import Any


def look_alike(value: dict[str, Any]) -> str | None:
    """Which agent a result record without cost comes from, in words; None where nothing speaks against Claude Code."""
    usage = value.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    session_id = value.get("session_id")
    if "max_tokens" in usage or (isinstance(session_id, str) and session_id.startswith("T-")):
        return "Amp"
    if value.keys().isdisjoint(("usage", "uuid", "duration_api_ms", "total_cost_usd")) and "num_turns" in value:
        return "Factory Droid"
    return None
