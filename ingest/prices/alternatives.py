"""Prices that an agent may have used instead of list prices: they explain a difference of the two costs.

An alternative is a cause and its rates. If the same tokens at these rates give the reported cost, the cause is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from ingest.prices.list_prices import Period, claude_rates
from ingest.prices.services import BATCH_FACTOR, US_INFERENCE
from schemas.rows.cost import CostCause
from schemas.rows.price import MILLION, Rates

FAST_FACTORS = (Decimal(2), Decimal(6))
"""Fast mode costs so many times the base rates (2: Opus 4.8 and later; 6: Opus 4.6 and 4.7)."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Rates that explain a difference.

    `words`: the reported cost in words. `one_hour_from`: the correct rate of 1-hour cache writes, where these were priced as 5-minute
    writes in addition. `is_likely`: it is tried first.
    """

    cause: CostCause
    words: str
    rates: Rates
    one_hour_from: Decimal | None = None
    is_likely: bool = False


@lru_cache(maxsize=1024)  # many model ids have the same prices, and comparing a hundred rates takes 3 ms
def alternatives(listed: Rates, library: Period | None, everywhere: Period | None, others: tuple[Period, ...]) -> tuple[Alternative, ...]:
    """The alternatives to the rates `listed`, most likely first.

    `library`: the price in the library, if there is one (`listed` differs where a price file wins); `everywhere`: the price at the maker's
    global endpoint; `others`: prices of the model at other dates.
    """
    base = library.rates if library else None
    made: list[Alternative] = []
    if base and base != listed:
        made += [Alternative(CostCause.PRICE_FILE, "the list price without the price file", base, is_likely=True)]
    if everywhere:
        cause = CostCause.PRICE_FILE if base != listed else CostCause.REGIONAL_ENDPOINT
        made += [Alternative(cause, "the price of the global endpoint", everywhere.rates, is_likely=True)]
    made += [Alternative(CostCause.ONE_HOUR_CACHE_WRITES, "the price with all cache writes as 1-hour cache writes", _all_1h(listed))]
    if library:
        made += [*_fast(library), *_tiers(library), *_kept_in_the_us(library), *_dated(library, others)]
    made += _fallbacks()
    one_hour = Alternative(
        CostCause.ONE_HOUR_CACHE_WRITES, "the price with 1-hour cache writes at the 5-minute rate", _as_5m(listed), is_likely=True
    )
    return tuple(_distinct([one_hour, *(both for one in made for both in (one, _with_1h_as_5m(one)))], listed))


def _distinct(made: Iterable[Alternative], listed: Rates) -> list[Alternative]:
    """One alternative for each set of rates: the likeliest."""
    found: dict[Rates, Alternative] = {}
    for one in made:
        if one.rates != listed:
            found.setdefault(one.rates, one)
    return list(found.values())


def _with_1h_as_5m(one: Alternative) -> Alternative:
    words = f"{one.words}, with 1-hour cache writes at the 5-minute rate"
    return replace(one, words=words, rates=_as_5m(one.rates), one_hour_from=one.rates.cache_write_1h)


def _as_5m(rates: Rates) -> Rates:
    return replace(rates, cache_write_1h=rates.cache_write_5m)


def _all_1h(rates: Rates) -> Rates:
    return replace(rates, cache_write_5m=rates.cache_write_1h)


def _fast(library: Period) -> Iterator[Alternative]:
    named = [tiered.base for name, tiered in library.variants if name == "speed=fast"]
    for rates in (*named, *(library.rates.times(factor) for factor in FAST_FACTORS)):
        yield Alternative(CostCause.FAST_MODE, "the price of fast mode", rates)


def _tiers(library: Period) -> Iterator[Alternative]:
    for name, tiered in library.variants:
        if name != "speed=fast":
            yield Alternative(CostCause.SERVICE_TIER, f"the price for {name}", tiered.base)
    yield Alternative(CostCause.SERVICE_TIER, "half the price, as for batch processing", library.rates.times(BATCH_FACTOR))


def _kept_in_the_us(library: Period) -> Iterator[Alternative]:
    words = "the price with the 10% surcharge for single-region inference"
    yield Alternative(CostCause.REGIONAL_ENDPOINT, words, library.rates.times(US_INFERENCE))


def _dated(library: Period, others: Iterable[Period]) -> Iterator[Alternative]:
    for other in others:
        if other.rates != library.rates:
            yield Alternative(CostCause.PRICE_CHANGED_SINCE, f"the price in effect since {other.since}", other.rates)


def _fallbacks() -> Iterator[Alternative]:
    for model, rates in claude_rates():
        shown = f"${_short(rates.input)} / ${_short(rates.output)} per million tokens in / out"
        yield Alternative(CostCause.FALLBACK_PRICE, f"the price of {model} ({shown})", rates)


def _short(per_token: Decimal) -> str:
    return f"{(per_token * MILLION).normalize():f}"
