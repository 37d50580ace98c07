"""What a Copilot session used, from the roll-ups at its shutdowns.

Every shutdown of a resumed session has one. Newer versions go on counting, older ones begin again; a compaction begins again too. So a
roll-up that is smaller than the one before is added to it, any other replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from schemas.rows.run import TokensBasis
from schemas.wire.copilot import CopilotData, CopilotUsage

PREMIUM_REQUESTS, AI_UNITS = "premium requests", "AI units"
_NANO = 10**9

Figures = dict[str, float]
"""Figures of one roll-up: `premium`, `aiu`, `api_ms`."""
Tokens = tuple[int, int, int, int, int | None]
"""Uncached input, cache reads, cache writes, output, and reasoning as a part of output (None where it is not recorded)."""


@dataclass
class Totals:
    """Sums over the legs of a session whose counters began again, and the roll-up of the leg that goes on."""

    banked_figures: Figures = field(default_factory=dict)
    banked_tokens: dict[str, Tokens] = field(default_factory=dict)
    figures: Figures = field(default_factory=dict)
    tokens: dict[str, Tokens] = field(default_factory=dict)

    def roll_up(self, data: CopilotData) -> None:
        """Note the roll-up of a shutdown."""
        told = {"premium": data.premium_requests, "aiu": data.nano_aiu, "api_ms": data.api_ms}
        figures = {name: value for name, value in told.items() if value is not None}
        tokens = {model: tokens_of(one.usage) for model, one in (data.models or {}).items() if one.usage}
        if not (_covers(figures, self.figures) and _all_cover(tokens, self.tokens)):
            self.banked_figures, self.banked_tokens = self.all_figures(), self.all_tokens()
        self.figures, self.tokens = figures, tokens

    def all_figures(self) -> Figures:
        """The figures of all legs."""
        names = self.banked_figures.keys() | self.figures.keys()
        return {name: self.banked_figures.get(name, 0) + self.figures.get(name, 0) for name in sorted(names)}

    def all_tokens(self) -> dict[str, Tokens]:
        """The tokens of all legs, by model."""
        names = [*self.banked_tokens, *(model for model in self.tokens if model not in self.banked_tokens)]
        return {model: _sum(self.banked_tokens.get(model), self.tokens.get(model)) for model in names}

    def credits(self) -> tuple[float | None, str | None]:
        """(amount, unit) of what was paid: premium requests, in newer versions perhaps only AI units."""
        figures = self.all_figures()
        if "premium" in figures:
            return figures["premium"], PREMIUM_REQUESTS
        return (figures["aiu"] / _NANO, AI_UNITS) if "aiu" in figures else (None, None)


def tokens_of(usage: CopilotUsage) -> Tokens:
    """In disjoint classes. A record with more cached than input would have excluded the cache."""
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    inside = read + written <= usage.input_tokens
    uncached = usage.input_tokens - read - written if inside else usage.input_tokens
    return uncached, read, written, usage.output_tokens, usage.reasoning_tokens


def as_model(model: str, tokens: Tokens, doubt: str | None) -> dict[str, Any]:
    """The tokens as a `KeptModel` of that model; `doubt`: why there may be more."""
    uncached, read, written, output, reasoning = tokens
    return {
        "model_id": model,
        "input_tokens": uncached,
        "cache_read_tokens": read,
        "cache_write_tokens": written,
        "output_tokens": output,
        "reasoning_tokens": reasoning,
        "basis": TokensBasis.LOWER_BOUND if doubt else TokensBasis.EXACT,
        "basis_reason": doubt,
    }


def _covers(later: Figures, earlier: Figures) -> bool:
    return all(later.get(name, 0) >= value for name, value in earlier.items())


def _all_cover(later: dict[str, Tokens], earlier: dict[str, Tokens]) -> bool:
    def covers(mine: Tokens, theirs: Tokens) -> bool:
        return all((more or 0) >= (less or 0) for more, less in zip(mine, theirs, strict=True))

    return all(model in later and covers(later[model], tokens) for model, tokens in earlier.items())


def _sum(first: Tokens | None, second: Tokens | None) -> Tokens:
    one, other = first or (0, 0, 0, 0, None), second or (0, 0, 0, 0, None)
    reasoning = None if one[4] is other[4] is None else (one[4] or 0) + (other[4] or 0)
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3], reasoning
