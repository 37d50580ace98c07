"""What a Copilot session used, from the roll-ups at its shutdowns and the checkpoints between.

Every shutdown of a resumed session has one. Newer versions go on counting, older ones begin again; a compaction begins again too. So a
roll-up that is smaller than the one before is added to it, any other replaces it.

Since 2026-06-01 Copilot bills by use: an AI credit is $0.01 (docs.github.com, usage-based billing). Before, premium requests were paid for,
which are no dollars. The date of each roll-up decides.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from ingest.agents.shared.tokens import Tokens
from schemas.wire.copilot import CopilotData, CopilotUsage

PREMIUM_REQUESTS, AI_CREDITS = "premium requests", "AI credits"
_NANO = 10**9
_USD_PER_NANO_CREDIT = Decimal("0.01") / _NANO
_BILLED_SINCE = datetime(2026, 6, 1, tzinfo=UTC)

Figures = dict[str, float]
"""Figures of one roll-up: `premium`, `aiu` (billionths of an AI credit), `api_ms`, and `aiu MODEL` for each model."""


@dataclass
class Totals:
    """Sums over the legs of a session whose counters began again, and the roll-up of the leg that goes on."""

    banked_figures: Figures = field(default_factory=dict)
    banked_tokens: dict[str, Tokens] = field(default_factory=dict)
    figures: Figures = field(default_factory=dict)
    tokens: dict[str, Tokens] = field(default_factory=dict)
    unbilled: Figures = field(default_factory=dict)
    is_billed: bool = False

    def roll_up(self, data: CopilotData, at: datetime | None) -> None:
        """Note the roll-up of a shutdown."""
        figures = _figures(data)
        tokens = {model: tokens_of(one.usage) for model, one in (data.models or {}).items() if one.usage}
        if not (_covers(figures, self.figures) and _all_cover(tokens, self.tokens)):
            self.banked_figures, self.banked_tokens = self.all_figures(), self.all_tokens()
        self.figures, self.tokens = figures, tokens
        self._date(at)

    def checkpoint(self, data: CopilotData, at: datetime | None) -> None:
        """Note the figures so far of a session that goes on: they have no tokens."""
        figures = _figures(data)
        if _covers(figures, {name: self.figures.get(name, 0) for name in figures}):
            self.figures = self.figures | figures
        else:
            self.banked_figures, self.banked_tokens = self.all_figures(), self.all_tokens()
            self.figures, self.tokens = figures, {}
        self._date(at)

    def _date(self, at: datetime | None) -> None:
        """Note that credits were dollars at that time, or that those so far were none."""
        if at is not None and at >= _BILLED_SINCE:
            self.is_billed = self.is_billed or "aiu" in self.figures
        else:
            self.unbilled = self.all_figures()

    def all_figures(self) -> Figures:
        """The figures of all legs."""
        names = self.banked_figures.keys() | self.figures.keys()
        return {name: self.banked_figures.get(name, 0) + self.figures.get(name, 0) for name in sorted(names)}

    def all_tokens(self) -> dict[str, Tokens]:
        """The tokens of all legs, by model."""
        names = dict.fromkeys((*self.banked_tokens, *self.tokens))
        return {model: self.banked_tokens.get(model, Tokens()) + self.tokens.get(model, Tokens()) for model in names}

    def credits(self) -> tuple[float | None, str | None]:
        """(amount, unit) of what was paid: premium requests, or AI credits where these are billed or nothing else is told."""
        figures = self.all_figures()
        if "premium" in figures and not self.is_billed:
            return figures["premium"], PREMIUM_REQUESTS
        return (figures["aiu"] / _NANO, AI_CREDITS) if "aiu" in figures else (None, None)

    def cost(self, model: str | None = None) -> Decimal | None:
        """What was billed in USD, in all or for a model; None where credits were not billed yet, or are not told."""
        name, figures = f"aiu {model}" if model else "aiu", self.all_figures()
        if not self.is_billed or name not in figures:
            return None
        return (Decimal(repr(figures[name])) - Decimal(repr(self.unbilled.get(name, 0)))) * _USD_PER_NANO_CREDIT


def tokens_of(usage: CopilotUsage) -> Tokens:
    """The input includes cache reads and writes."""
    cached = (usage.cache_read_tokens, usage.cache_write_tokens)
    return Tokens.of_whole_input(usage.input_tokens, *cached, usage.output_tokens, usage.reasoning_tokens)


def _figures(data: CopilotData) -> Figures:
    told = {"premium": data.premium_requests, "aiu": data.nano_aiu, "api_ms": data.api_ms}
    told |= {f"aiu {model}": one.nano_aiu for model, one in (data.models or {}).items()}
    return {name: value for name, value in told.items() if value is not None}


def _covers(later: Figures, earlier: Figures) -> bool:
    return all(later.get(name, 0) >= value for name, value in earlier.items())


def _all_cover(later: dict[str, Tokens], earlier: dict[str, Tokens]) -> bool:
    return all(model in later and _covers(_counts(later[model]), _counts(tokens)) for model, tokens in earlier.items())


def _counts(tokens: Tokens) -> Figures:
    return {name: count or 0 for name, count in asdict(tokens).items()}
