"""What a request costs by the way it was served: fast mode, batch and other tiers, inference in one region.

A response states it (`speed`, `service_tier`, `inference_geo`). Each of the three has a rule: rates before → rates after, and words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from ingest.prices.list_prices import ANTHROPIC, Period
from schemas.rows.price import ModelKey, Service, TieredRates

US_INFERENCE = Decimal("1.1")
"""Anthropic's factor for inference in the US only; Claude Code uses it from version 2.1.239 on."""

US_INFERENCE_SINCE = (4, 6)
"""Anthropic's own API has the choice from these versions of Claude on; `inference_geo` has no meaning elsewhere."""

BATCH_FACTOR = Decimal("0.5")
"""Batch processing halves the price of tokens."""

BATCH_PROVIDERS = (ANTHROPIC, "openai")
"""Providers whose price pages have that factor."""

FAST_MODE = {(ANTHROPIC, "claude-opus-4-6"): Decimal(6), (ANTHROPIC, "claude-opus-4-7"): Decimal(6)}
"""(provider, model) → factor of fast mode on all tokens (Anthropic's price page), where the library has no price for it."""

STANDARD_TIERS = ("standard", "default", "auto")
"""Words for the usual tier: Anthropic's, OpenAI's, and that of a request that leaves the choice to the provider."""

_CLAUDE_VERSION = re.compile(r"^claude-[a-z]+-(\d+)(?:-(\d+))?$")

_Ruled = tuple[TieredRates, str | None]


def served(period: Period, key: ModelKey, service: Service) -> tuple[TieredRates, tuple[str, ...]]:
    """The rates of a request that was served so, and in words what they depend on. Words say it too where such a price is not known."""
    tiered, words = period.tiered, []
    for rule in _RULES:
        tiered, word = rule(tiered, period, key, service)
        words += [word] if word else []
    return tiered, tuple(words)


def _by_speed(tiered: TieredRates, period: Period, key: ModelKey, service: Service) -> _Ruled:
    if service.speed != "fast":
        return tiered, None
    if fast := _variant(period, "speed=fast"):
        return fast, "fast mode"
    factor = FAST_MODE.get((key.provider or "", key.model))
    return (tiered.times(factor), "fast mode") if factor else (tiered, "fast mode at the standard price")


def _by_tier(tiered: TieredRates, period: Period, key: ModelKey, service: Service) -> _Ruled:
    """Before the library's first day of a batch price, and in fast mode, a batch costs half."""
    tier = service.service_tier
    if not tier or tier in STANDARD_TIERS:
        return tiered, None
    known = _variant(period, "processing=batch" if tier == "batch" else f"service_tier={tier}") if tiered is period.tiered else None
    if known:
        return known, tier if tier == "batch" else f"{tier} tier"
    if tier == "batch" and key.provider in BATCH_PROVIDERS:
        return tiered.times(BATCH_FACTOR), tier
    return tiered, f"{tier} tier at the standard price"


def _by_region(tiered: TieredRates, _: Period, key: ModelKey, service: Service) -> _Ruled:
    if service.inference_geo != "us" or key.provider != ANTHROPIC or not _has_regions(key.model):
        return tiered, None
    return tiered.times(US_INFERENCE), "US inference"


def _has_regions(model: str) -> bool:
    version = _CLAUDE_VERSION.match(model)
    return version is not None and (int(version[1]), int(version[2] or 0)) >= US_INFERENCE_SINCE


def _variant(period: Period, name: str) -> TieredRates | None:
    return next((tiered for found, tiered in period.variants if found == name), None)


_RULES: tuple[Callable[[TieredRates, Period, ModelKey, Service], _Ruled], ...] = (_by_speed, _by_tier, _by_region)
"""In this order: each works on the rates of the rules before it."""
