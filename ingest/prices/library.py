"""List prices of the price library (genai-prices): dated, per provider and region, offline.

`served`: the price of a request in fast mode, in another tier such as batch, or with inference in
one region.

Importing the library takes a tenth of a second, so prices that were looked up once are kept in the
user's cache, for its version and this code.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ingest.prices.model_ids import parse_model_id
from ingest.system.files import cache_file, write_cache
from schemas.rows.price import ModelKey, Rates, Service, TieredRates

ANTHROPIC = "anthropic"


@dataclass(frozen=True, slots=True)
class PricePeriod:
    """Rates from a day (UTC) on, until the next period.

    `variants`: other rates at the same time, by name.

    `gateway`: the provider that resold the model, if the library has only its maker's price.
    """

    since: date
    tiered: TieredRates
    source: str
    variants: tuple[tuple[str, TieredRates], ...] = ()
    gateway: str | None = None

    @property
    def rates(self) -> Rates:
        return self.tiered.base


_LISTED = "claude_rates"
_MOST_KEPT = 1_000
_kept: dict[str, Any] = {}
"""What the cache has, as JSON: prices by the key of a model, and `claude_rates`."""
_new: set[str] = set()


@cache
def _place() -> Path | None:
    """Return the file of kept prices, and read it.

    None without a cache, and if somebody else uses the library here, with prices of their own.
    """
    if "genai_prices" in sys.modules:
        return None
    with suppress(OSError):
        code = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
        place = cache_file("prices.json", version("genai-prices"), *code)
        with suppress(Exception):  # missing, or broken
            _kept.update(json.loads(place.read_bytes()))
        return place
    return None


def keep_prices() -> None:
    """Keep the prices that were looked up in the library, for the next command."""
    place = _place()
    if place and _new and len(_kept) <= _MOST_KEPT:
        _new.clear()
        with suppress(OSError):
            write_cache(place, lambda path: path.write_text(json.dumps(_kept, default=str)))


@cache
def periods(key: ModelKey) -> tuple[PricePeriod, ...]:
    """Return the model's prices in order of time; none for a model missing from the library."""
    name = json.dumps(key)
    if not _place() or name not in _kept:
        from ingest.prices import genai

        found = genai.periods(key)
        _kept[name] = [astuple(period) for period in found]
        _new.add(name)
        return found
    return tuple(
        PricePeriod(
            date.fromisoformat(since),
            _tiered(*tiered),
            source,
            tuple((name, _tiered(*other)) for name, other in variants),
            gateway,
        )
        for since, tiered, source, variants, gateway in _kept[name]
    )


@cache
def claude_rates() -> tuple[tuple[str, Rates], ...]:
    """Return every price that Anthropic ever charged for a Claude model, each once.

    Each comes with the first model (by name) that had it.
    """
    if not _place() or _LISTED not in _kept:
        from ingest.prices import genai

        found = genai.claude_rates()
        _kept[_LISTED] = [(name, astuple(rates)) for name, rates in found]
        _new.add(_LISTED)
        return found
    return tuple((name, _rates(rates)) for name, rates in _kept[_LISTED])


def _tiered(base: Sequence[str | None], tiers: Sequence[Any]) -> TieredRates:
    return TieredRates(_rates(base), tuple((size, _rates(rates)) for size, rates in tiers))


def _rates(rates: Sequence[str | None]) -> Rates:
    return Rates(*(rate and Decimal(rate) for rate in rates))  # type: ignore[arg-type]


def charges_for_cache_writes(model_id: str, provider: str) -> bool | None:
    """Return whether a provider has ever had a price for cache writes of a model.

    None for a model that the library has not from it.
    """
    parsed = parse_model_id(model_id)
    of = periods(ModelKey(model_id, parsed.model, provider, parsed.region))
    if not of or of[0].gateway:
        return None
    return any(
        not rates.input == rates.cache_write_5m == rates.cache_write_1h
        for rates in (period.rates for period in of)
    )


def at(of: tuple[PricePeriod, ...], day: date) -> PricePeriod | None:
    """Return the period that includes the day, or None."""
    return next((period for period in reversed(of) if period.since <= day), None)


def everywhere(key: ModelKey) -> ModelKey | None:
    """Return the same model at its maker's global endpoint, or None if none is known."""
    return (
        ModelKey(key.model, key.model, ANTHROPIC)
        if key.model.startswith("claude") and key.provider != ANTHROPIC
        else None
    )


# The way of being served: a response states it (`speed`, `service_tier`, `inference_geo`)

US_INFERENCE = Decimal("1.1")
"""Anthropic's factor for inference in the US only; Claude Code applies it from version 2.1.239 on.
"""


BATCH_FACTOR = Decimal("0.5")


FAST_MODE = {(ANTHROPIC, "claude-opus-4-6"): Decimal(6), (ANTHROPIC, "claude-opus-4-7"): Decimal(6)}
"""(provider, model) → factor of fast mode on all tokens (Anthropic's price page), for models whose
fast price the library lacks.
"""


def served(
    period: PricePeriod, key: ModelKey, service: Service
) -> tuple[TieredRates, tuple[str, ...]]:
    """Return the rates of a request by how it was served, and what they depend on in words.

    The words are returned even if such a price is unknown.

    Each of speed, tier and region modifies the rates before it. Before the library's first day of a
    batch price, and in fast mode, a batch costs half.
    """
    tiered, words, variants = period.tiered, list[str](), dict(reversed(period.variants))
    if service.speed == "fast":
        factor = FAST_MODE.get((key.provider or "", key.model))
        if fast := variants.get("speed=fast"):
            tiered = fast
        elif factor:
            tiered = tiered.times(factor)
        words.append("fast mode" if fast or factor else "fast mode at the standard price")
    tier = service.service_tier
    # Words for the usual tier: Anthropic's, OpenAI's, and the one for the provider's choice.
    if tier and tier not in ("standard", "default", "auto"):
        known = (
            variants.get("processing=batch" if tier == "batch" else f"service_tier={tier}")
            if tiered is period.tiered
            else None
        )
        if known:
            tiered = known
            words.append(tier if tier == "batch" else f"{tier} tier")
        # Providers with that factor on their price pages.
        elif tier == "batch" and key.provider in (ANTHROPIC, "openai"):
            tiered = tiered.times(BATCH_FACTOR)
            words.append(tier)
        else:
            words.append(f"{tier} tier at the standard price")
    if service.inference_geo == "us" and key.provider == ANTHROPIC:
        version_ = re.match(r"^claude-[a-z]+-(\d+)(?:-(\d+))?$", key.model)
        # Versions of Claude from which on Anthropic's own API offers the choice; `inference_geo`
        # has no meaning elsewhere.
        if version_ and (int(version_[1]), int(version_[2] or 0)) >= (4, 6):
            tiered = tiered.times(US_INFERENCE)
            words.append("US inference")
    return tiered, tuple(words)
