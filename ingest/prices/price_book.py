"""The prices of a model: those of the user's price file, else of the price library; with the alternatives an agent may have used.

Prices are looked up once per model, way of serving and period of time, never per record: SQL multiplies (`sql/pricing/`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from ingest.prices import list_prices
from ingest.prices.alternatives import Alternative, alternatives
from ingest.prices.list_prices import Period
from ingest.prices.price_file import PriceList
from ingest.prices.services import served
from schemas.rows.price import ANY_SIZE, BEGINNING, STANDARD, Band, ModelKey, Rates, Service, TieredRates

LONG_CONTEXT = "long context"
"""What the price of a request depends on whose prompt is above the base tier."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model from one day until another, and its source. `has_tiers`: long requests cost more.

    `gateway`: the provider behind which the model was used, where the price is its maker's.
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
    """The price of requests of one size that were served in one way, from one day until another.

    `words`: what it depends on beside day and tokens.
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
        """The model's prices in order of time, without the days for which there is none."""
        library = list_prices.periods(key)
        other = list_prices.everywhere(key)
        everywhere = list_prices.periods(other) if other else ()
        for since, until in self._days(library, everywhere):
            listed = self._listed(key, since, list_prices.at(library, since))
            if listed:
                tiered, source, _ = listed
                period = list_prices.at(library, since)
                found = alternatives(tiered.base, period, list_prices.at(everywhere, since), library)
                gateway = period.gateway if period and self._own.price(key, since) is None else None
                yield Price(key, since, until, tiered.base, source, bool(tiered.tiers), found, gateway)

    def request_prices(self, key: ModelKey, service: Service) -> Iterator[RequestPrice]:
        """The prices of requests that were served so: for every day and every size one, without rates where there is no price."""
        library = list_prices.periods(key) if key.model else ()
        for since, until in self._days(library):
            listed = self._listed(key, since, list_prices.at(library, since), service)
            tiered, source, words = listed or (None, None, ())
            for band in tiered.bands() if tiered else (ANY_SIZE,):
                depends = (*words, LONG_CONTEXT) if band.above >= 0 else words
                yield RequestPrice(since, until, band, source, depends)

    def rates(self, key: ModelKey, day: date) -> Rates | None:
        """The rates of the model on a day; None where it has no price."""
        return next((price.rates for price in self.prices(key) if price.since <= day < price.until), None)

    def _days(self, *of_library: tuple[Period, ...]) -> Iterator[tuple[date, date]]:
        """The days from which on and until which prices hold."""
        days = sorted({BEGINNING, *self._own.boundaries(), *(period.since for periods in of_library for period in periods)})
        return zip(days, [*days[1:], date.max], strict=True)

    def _listed(
        self, key: ModelKey, day: date, library: Period | None, service: Service = STANDARD
    ) -> tuple[TieredRates, str, tuple[str, ...]] | None:
        """(rates, their source, what they depend on); None where there is no price. A price of the price file holds for every request."""
        if own := self._own.price(key, day):
            number, entry = own
            return TieredRates(entry.rates()), f"{self._own.name}: [[price]] number {number}", ()
        if library is None:
            return None
        tiered, words = served(library, key, service)
        words += (f"behind {library.gateway}",) if library.gateway else ()
        if cut := self._own.discount(key, day):
            number, discount = cut
            source = f"{library.source}, less {discount.percent} % ({self._own.name}: [[discount]] number {number})"
            return tiered.times(discount.factor), source, words
        return tiered, library.source, words
