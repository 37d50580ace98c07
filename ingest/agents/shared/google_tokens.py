"""Tokens as Google's API counts them, and the agents that descend from Gemini CLI, in disjoint classes.

The prompt includes cache reads. Thoughts are beside the candidates; where the model was asked through OpenAI's API they are inside, and
then the total is the prompt and the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ingest.agents.shared.tokens import Tokens, unrecorded
from schemas.rows.run import TokensBasis
from schemas.wire.gemini import ModelMetrics, SessionMetrics

NOT_RECORDED = "The log has no token counts for this model."


def tokens_of(prompt: int | None, cached: int | None, candidates: int | None, thoughts: int | None, **more: int | None) -> Tokens:
    """The counts of one response, or of many. `more`: `tool`, the input beside the prompt, and `total`."""
    outside, told, reasoning = more.get("tool") or 0, candidates or 0, thoughts or 0
    inside = reasoning <= told and more.get("total") == (prompt or 0) + outside + told
    tokens = Tokens.of_whole_input(prompt or 0, cached or 0, 0, told if inside else told + reasoning, thoughts)
    return replace(tokens, uncached=tokens.uncached + outside)


def tokens_of_total(prompt: int | None, cached: int | None, output: int | None, total: int | None) -> Tokens:
    """Where reasoning is not told: it is what the total has beside prompt and output. Without such a rest it may be inside."""
    rest = max(0, (total or 0) - (prompt or 0) - (output or 0))
    return Tokens.of_whole_input(prompt or 0, cached or 0, 0, (output or 0) + rest, rest or None)


def as_model(tokens: Tokens, model: str | None, basis: TokensBasis = TokensBasis.EXACT, reason: str | None = None) -> dict[str, Any]:
    """The tokens as those of a model. A model without any has none recorded."""
    return tokens.as_model(model, None, basis, reason) if tokens.total else unrecorded(model, NOT_RECORDED)


def summed(tokens: Mapping[str | None, Tokens], reasons: Mapping[str | None, str]) -> list[dict[str, Any]]:
    """The models with their tokens. `reasons`: why those of a model are only a lower bound."""
    return [
        as_model(each, model, *((TokensBasis.LOWER_BOUND, reasons[model]) if model in reasons else ())) for model, each in tokens.items()
    ]


def models_of(metrics: SessionMetrics) -> list[dict[str, Any]]:
    """The tokens of each model of a session."""
    return [_model(name, model) for name, model in metrics.models.items()]


def latency_of(metrics: SessionMetrics) -> int | None:
    """The durations of all requests added up, in ms."""
    told = [model.api.total_latency_ms for model in metrics.models.values() if model.api and model.api.total_latency_ms is not None]
    return round(sum(told)) if told else None


def calls_of(metrics: SessionMetrics) -> list[tuple[str, int, int]]:
    """(tool, calls, errors), sorted by tool."""
    return [(tool, calls.count, calls.fail) for tool, calls in sorted(metrics.tools.by_name.items())] if metrics.tools else []


def text_of(content: Any) -> str | None:
    """The text of a message: a text, or a part or parts with texts; without thoughts. None where it has none."""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) and not part.get("thought") else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str)).strip() or None


def _model(name: str, model: ModelMetrics) -> dict[str, Any]:
    told = model.tokens
    if told is None:
        return unrecorded(name or None, NOT_RECORDED)
    return as_model(tokens_of(told.prompt, told.cached, told.candidates, told.thoughts, tool=told.tool, total=told.total), name or None)
