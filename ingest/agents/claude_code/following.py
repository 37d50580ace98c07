"""Results that follow from an earlier one: a background task, or the agent itself, woke it after its answer.

Nobody asked for anything. So the run is that of the answer, with the tokens, turns and time that came behind it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ingest.agents.shared.runs import canonical_hash
from ingest.sources.document import Document

FOLLOWING = frozenset(("task-notification", "auto-continuation", "observer", "observer-activity"))
"""Kinds of `origin` of a turn that nobody asked for. The other kinds hand the agent a prompt: human, channel, peer, coordinator."""

FOLLOWED_BY = "followed_by"
"""The field of a kept record that holds the results that follow from it, as they were logged."""

_CUMULATIVE = ("total_cost_usd", "modelUsage", "duration_api_ms")
_OF_EACH = ("num_turns", "duration_ms")
_USED = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_TOTAL = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
_WRITTEN = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")


def following(earlier: Document, later: Document) -> Document | None:
    """The earlier result of a session with the later one, which follows from it, as one record. None where that does not."""
    if not later.contains('"origin"'):  # as nearly all: they need not be parsed
        return None
    first, then = earlier.value, later.value
    origin = then.get("origin")
    if not isinstance(origin, dict) or origin.get("kind") not in FOLLOWING or not _goes_on(first, then):
        return None
    whole = (
        first
        | {name: then[name] for name in _CUMULATIVE if then.get(name) is not None}
        | _sums(first, then, _OF_EACH)
        | {FOLLOWED_BY: [*first.get(FOLLOWED_BY, ()), then], "uuid": first.get("uuid") or canonical_hash(first)}
    )
    used, more = first.get("usage"), then.get("usage")
    if isinstance(used, dict) and isinstance(more, dict):
        whole["usage"] = used | _sums(used, more, _USED)
        written, wrote = used.get("cache_creation"), more.get("cache_creation")
        if isinstance(written, dict) and isinstance(wrote, dict):
            whole["usage"]["cache_creation"] = written | _sums(written, wrote, _WRITTEN)
    return Document(earlier.ordinal, earlier.position, json.dumps(whole), earlier.logged_at)


def _goes_on(first: Mapping[str, Any], then: Mapping[str, Any]) -> bool:
    """Whether the totals of the later result include those of the earlier one; those of a new process are what its own turn used."""
    if (then.get("total_cost_usd") or 0) < (first.get("total_cost_usd") or 0):
        return False
    used, totals = then.get("usage"), _totals(then)
    began_anew = isinstance(used, dict) and any(_totals(first).values()) and totals == {name: used.get(name) or 0 for name in _USED}
    return not began_anew


def _totals(record: Mapping[str, Any]) -> dict[str, float]:
    """Tokens of all models by class; empty if the record has no models."""
    models = [one for one in (record.get("modelUsage") or {}).values() if isinstance(one, dict)]
    return {
        name: sum(one[total] for one in models if _is_figure(one.get(total))) for name, total in zip(_USED, _TOTAL, strict=True) if models
    }


def _sums(first: Mapping[str, Any], then: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The sums of the figures that both have."""
    return {name: first[name] + then[name] for name in names if _is_figure(first.get(name)) and _is_figure(then.get(name))}


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
