"""What a Copilot session used, from the roll-ups at its shutdowns.

Every shutdown of a resumed session has one. Newer versions go on counting, older ones begin again; a compaction begins again too. So a
roll-up that is smaller than the one before is added to it, any other replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ingest.agents.shared.disjoint_tokens import Tokens
from schemas.wire.agents.copilot import CopilotData, CopilotUsage

PREMIUM_REQUESTS, AI_UNITS = "premium requests", "AI units"
_NANO = 10**9

Figures = dict[str, float]
"""Figures of one roll-up: `premium`, `aiu`, `api_ms`."""


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
        names = dict.fromkeys((*self.banked_tokens, *self.tokens))
        return {model: self.banked_tokens.get(model, Tokens()) + self.tokens.get(model, Tokens()) for model in names}

    def credits(self) -> tuple[float | None, str | None]:
        """(amount, unit) of what was paid: premium requests, in newer versions perhaps only AI units."""
        figures = self.all_figures()
        if "premium" in figures:
            return figures["premium"], PREMIUM_REQUESTS
        return (figures["aiu"] / _NANO, AI_UNITS) if "aiu" in figures else (None, None)


def tokens_of(usage: CopilotUsage) -> Tokens:
    """The input includes cache reads and writes."""
    cached = (usage.cache_read_tokens, usage.cache_write_tokens)
    return Tokens.of_whole_input(usage.input_tokens, *cached, usage.output_tokens, usage.reasoning_tokens)


def _covers(later: Figures, earlier: Figures) -> bool:
    return all(later.get(name, 0) >= value for name, value in earlier.items())


def _all_cover(later: dict[str, Tokens], earlier: dict[str, Tokens]) -> bool:
    return all(model in later and min(later[model].minus(tokens)) >= 0 for model, tokens in earlier.items())
