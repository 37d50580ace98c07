"""Codex's tokens in disjoint classes."""

from __future__ import annotations

from ingest.agents.shared.disjoint_tokens import Tokens
from schemas.wire.agents.codex import CodexUsage


def tokens_of(usage: CodexUsage) -> Tokens:
    """`input_tokens` includes cache reads and writes."""
    return Tokens.of_whole_input(
        usage.input_tokens,
        usage.cached_input_tokens,
        usage.cache_write_input_tokens,
        usage.output_tokens,
        usage.reasoning_output_tokens,
    )


def used_since(earlier: Tokens, now: Tokens) -> Tokens:
    """What was used between two running totals; all of the later one where a count has fallen, since the counter began again."""
    parts = now.minus(earlier)
    if min(parts) < 0 and now.total < earlier.total:
        return now
    uncached, read, written, output, reasoning = (max(0, part) for part in parts)
    return Tokens(uncached, read, written, output, None if now.reasoning is None else reasoning)
