"""The prices of a model: those of the user's price file, else of the price library.

And other prices that an agent may have used.

Prices are looked up once per model, way of serving and period of time, never per record: SQL
multiplies (`sql/pricing/`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import lru_cache

from ingest.prices.library import (
    BATCH_FACTOR,
    US_INFERENCE,
    PricePeriod,
    at,
    claude_rates,
    everywhere,
    periods,
    served,
)
from ingest.prices.price_file import PriceList
from schemas.rows.cost import CostCause
from schemas.rows.price import (
    ANY_SIZE,
    BEGINNING,
    MILLION,
    STANDARD,
    Band,
    ModelKey,
    Rates,
    Service,
    TieredRates,
)


@dataclass(frozen=True, slots=True)
class Alternative:
    """Rates that explain a difference.

    `words`: the reported cost in words. `one_hour_from`: the correct rate of 1-hour cache writes,
    if the explanation also includes that these were priced as 5-minute writes. `is_likely`: try it
    first.
    """

    cause: CostCause
    words: str
    rates: Rates
    one_hour_from: Decimal | None = None
    is_likely: bool = False


@lru_cache(
    maxsize=1024
)  # many model ids have the same prices, and comparing a hundred rates takes 3 ms
def alternatives(
    listed: Rates,
    library: PricePeriod | None,
    everywhere: PricePeriod | None,
    others: tuple[PricePeriod, ...],
) -> tuple[Alternative, ...]:
    """Return the alternatives to the rates `listed`, most likely first.

    One that gives the reported cost for the same tokens is the cause.

    `library`: the price in the library, if there is one (`listed` differs if a price file overrides
    it); `everywhere`: the price at the maker's global endpoint; `others`: prices of the model at
    other dates.
    """
    base = library.rates if library else None
    made: list[Alternative] = []
    if base and base != listed:
        made += [
            Alternative(
                CostCause.PRICE_FILE, "the list price without the price file", base, is_likely=True
            )
        ]
    if everywhere:
        cause = CostCause.PRICE_FILE if base != listed else CostCause.REGIONAL_ENDPOINT
        made += [
            Alternative(cause, "the price of the global endpoint", everywhere.rates, is_likely=True)
        ]
    made += [
        Alternative(
            CostCause.ONE_HOUR_CACHE_WRITES,
            "the price with all cache writes as 1-hour cache writes",
            replace(listed, cache_write_5m=listed.cache_write_1h),
        )
    ]
    if library:
        made += _of_library(library, others)
    for model, rates in claude_rates():
        per_million = [f"${(rate * MILLION).normalize():f}" for rate in (rates.input, rates.output)]
        shown = f"{' / '.join(per_million)} per million tokens in / out"
        made.append(Alternative(CostCause.FALLBACK_PRICE, f"the price of {model} ({shown})", rates))
    one_hour = "the price with 1-hour cache writes at the 5-minute rate"
    found = {
        _as_5m(listed): Alternative(
            CostCause.ONE_HOUR_CACHE_WRITES, one_hour, _as_5m(listed), is_likely=True
        )
    }
    for one in made:
        words = f"{one.words}, with 1-hour cache writes at the 5-minute rate"
        as_5m = replace(
            one, words=words, rates=_as_5m(one.rates), one_hour_from=one.rates.cache_write_1h
        )
        for either in (one, as_5m):
            found.setdefault(
                either.rates, either
            )  # one alternative for each set of rates: the likeliest
    found.pop(listed, None)
    return tuple(found.values())


def _of_library(library: PricePeriod, others: Iterable[PricePeriod]) -> Iterator[Alternative]:
    """Yield prices of the model for another speed, tier, region or date."""
    named = [tiered.base for name, tiered in library.variants if name == "speed=fast"]
    # Factors of fast mode on the base rates (2: Opus 4.8 and later; 6: Opus 4.6 and 4.7).
    for rates in (*named, *(library.rates.times(factor) for factor in (Decimal(2), Decimal(6)))):
        yield Alternative(CostCause.FAST_MODE, "the price of fast mode", rates)
    for name, tiered in library.variants:
        if name != "speed=fast":
            yield Alternative(CostCause.SERVICE_TIER, f"the price for {name}", tiered.base)
    yield Alternative(
        CostCause.SERVICE_TIER,
        "half the price, as for batch processing",
        library.rates.times(BATCH_FACTOR),
    )
    in_the_us = "the price with the 10% surcharge for single-region inference"
    yield Alternative(CostCause.REGIONAL_ENDPOINT, in_the_us, library.rates.times(US_INFERENCE))
    for other in others:
        if other.rates != library.rates:
            yield Alternative(
                CostCause.PRICE_CHANGED_SINCE,
                f"the price in effect since {other.since}",
                other.rates,
            )


def _as_5m(rates: Rates) -> Rates:
    return replace(rates, cache_write_1h=rates.cache_write_5m)


LONG_CONTEXT = "long context"
"""The condition of a request's price whose prompt exceeds the base tier."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model from one day until another, and its source.

    `has_tiers`: long requests cost more.

    `gateway`: the provider that resold the model, if the price is its maker's.
    """

    key: ModelKey
    since: date
    until: date
    rates: Rates
    source: str
    has_tiers: bool
    alternatives: tuple[Alternative, ...]
    gateway: str | None = None


@dataclass(frozen=True, slots=True)
class RequestPrice:
    """The price of requests of one size, served in one way, from one day until another.

    `words`: its conditions besides day and tokens.
    """

    since: date
    until: date
    band: Band
    source: str | None
    words: tuple[str, ...]


class PriceBook:
    """All prices: those of a price file, then those of the library."""

    def __init__(self, own: PriceList | None = None) -> None:
        self._own = own or PriceList()

    def prices(self, key: ModelKey) -> Iterator[Price]:
        """Yield the model's prices in order of time, skipping days without one."""
        library, other = periods(key), everywhere(key)
        global_ = periods(other) if other else ()
        for since, until in self._days(library, global_):
            period = at(library, since)
            if listed := self._listed(key, since, period):
                tiered, source, _ = listed
                found = alternatives(tiered.base, period, at(global_, since), library)
                gateway = period.gateway if period and self._own.price(key, since) is None else None
                yield Price(
                    key, since, until, tiered.base, source, bool(tiered.tiers), found, gateway
                )

    def request_prices(self, key: ModelKey, service: Service) -> Iterator[RequestPrice]:
        """Yield the prices of requests served in this way.

        One for every period and size, without rates if there is no price.
        """
        library = periods(key) if key.model else ()
        for since, until in self._days(library):
            listed = self._listed(key, since, at(library, since), service)
            tiered, source, words = listed or (None, None, ())
            for band in tiered.bands() if tiered else (ANY_SIZE,):
                depends = (*words, LONG_CONTEXT) if band.above >= 0 else words
                yield RequestPrice(since, until, band, source, depends)

    def rates(self, key: ModelKey, day: date) -> Rates | None:
        """Return the rates of the model on a day, or None."""
        return next(
            (price.rates for price in self.prices(key) if price.since <= day < price.until), None
        )

    def _days(self, *of_library: tuple[PricePeriod, ...]) -> Iterator[tuple[date, date]]:
        """Yield the periods (first day, first day after) within which no price changes."""
        days = sorted(
            {
                BEGINNING,
                *self._own.boundaries(),
                *(period.since for periods in of_library for period in periods),
            }
        )
        return zip(days, [*days[1:], date.max], strict=True)

    def _listed(
        self, key: ModelKey, day: date, library: PricePeriod | None, service: Service = STANDARD
    ) -> tuple[TieredRates, str, tuple[str, ...]] | None:
        """Return (rates, their source, their conditions), or None without a price.

        A price of the price file holds for every request.
        """
        if own := self._own.price(key, day):
            number, entry = own
            return TieredRates(entry.rates()), f"{self._own.name}: [[price]] number {number}", ()
        if library is None:
            return None
        tiered, words = served(library, key, service)
        words += (f"behind {library.gateway}",) if library.gateway else ()
        if cut := self._own.discount(key, day):
            number, discount = cut
            source = (
                f"{library.source}, less {discount.percent} % ({self._own.name}: [[discount]] "
                f"number {number})"
            )
            return tiered.times(discount.factor), source, words
        return tiered, library.source, words
