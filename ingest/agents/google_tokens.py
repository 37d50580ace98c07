"""Tokens as Google's API counts them, and the agents that descend from Gemini CLI, in disjoint classes.

The prompt includes cache reads. Thoughts are beside the candidates; where the model was asked through OpenAI's API they are inside, and
then the total is the prompt and the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schemas.rows.kept_run import KeptModel
from schemas.rows.run import TokensBasis
from schemas.text import paired
from schemas.wire.google_metrics import ModelMetrics, SessionMetrics

NOT_RECORDED = "The log has no token counts for this model."


@dataclass(frozen=True)
class GoogleTokens:
    """Uncached input, cache reads, output, and reasoning as a part of output (None where it is not recorded)."""

    uncached: int = 0
    read: int = 0
    output: int = 0
    reasoning: int | None = None

    @classmethod
    def of(cls, prompt: int | None, cached: int | None, candidates: int | None, thoughts: int | None, **more: int | None) -> GoogleTokens:
        """The counts of one response, or of many. `more`: `tool`, the input beside the prompt, and `total`."""
        outside, told, reasoning = more.get("tool") or 0, candidates or 0, thoughts or 0
        inside = reasoning <= told and more.get("total") == (prompt or 0) + outside + told
        return cls.split(prompt, cached, told if inside else told + reasoning, thoughts, outside)

    @classmethod
    def of_total(cls, prompt: int | None, cached: int | None, output: int | None, total: int | None) -> GoogleTokens:
        """Where reasoning is not told: it is what the total has beside prompt and output. Without such a rest it may be inside."""
        rest = max(0, (total or 0) - (prompt or 0) - (output or 0))
        return cls.split(prompt, cached, (output or 0) + rest, rest or None)

    @classmethod
    def split(cls, prompt: int | None, cached: int | None, output: int, reasoning: int | None, outside: int = 0) -> GoogleTokens:
        """The prompt without its cache reads; a record with more of them than prompt would have excluded them."""
        whole, read = prompt or 0, cached or 0
        return cls((whole - read if read <= whole else whole) + outside, read, output, reasoning)

    @property
    def total(self) -> int:
        """All tokens; reasoning is a part of output."""
        return self.uncached + self.read + self.output

    def __add__(self, other: GoogleTokens) -> GoogleTokens:
        reasoning = None if self.reasoning is other.reasoning is None else (self.reasoning or 0) + (other.reasoning or 0)
        return GoogleTokens(self.uncached + other.uncached, self.read + other.read, self.output + other.output, reasoning)

    def as_model(self, model: str | None, basis: TokensBasis = TokensBasis.EXACT, reason: str | None = None) -> KeptModel:
        """The tokens as those of a model. A model without any has none recorded."""
        if not self.total:
            return unrecorded(model)
        return KeptModel(
            model_id=paired(model),
            input_tokens=self.uncached,
            cache_read_tokens=self.read,
            cache_write_tokens=0,
            output_tokens=self.output,
            reasoning_tokens=self.reasoning,
            basis=basis,
            basis_reason=reason,
        )


def unrecorded(model: str | None, reason: str = NOT_RECORDED) -> KeptModel:
    """A model whose tokens the log does not tell."""
    return KeptModel(model_id=paired(model), basis=TokensBasis.UNKNOWN, basis_reason=reason)


def summed(tokens: Mapping[str | None, GoogleTokens], reasons: Mapping[str | None, str]) -> list[KeptModel]:
    """The models with their tokens. `reasons`: why those of a model are only a lower bound."""
    return [
        each.as_model(model, *((TokensBasis.LOWER_BOUND, reasons[model]) if model in reasons else ())) for model, each in tokens.items()
    ]


def models_of(metrics: SessionMetrics) -> list[KeptModel]:
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


def _model(name: str, model: ModelMetrics) -> KeptModel:
    told = model.tokens
    tokens = GoogleTokens.of(told.prompt, told.cached, told.candidates, told.thoughts, tool=told.tool, total=told.total) if told else None
    return tokens.as_model(name or None) if tokens else unrecorded(name or None)
