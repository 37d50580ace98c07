"""The prices of a model: those of the user's price file, else of the price library; with the alternatives an agent may have used.

Prices are looked up once per model and period of time, never per record: SQL multiplies (`sql/pricing/`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from ingest.prices import list_prices
from ingest.prices.alternatives import Alternative, alternatives
from ingest.prices.list_prices import Period
from ingest.prices.price_file import PriceList
from schemas.rows.price import BEGINNING, ModelKey, Rates


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model from one day until another, and its source. `has_tiers`: long requests cost more."""

    key: ModelKey
    since: date
    until: date
    rates: Rates
    source: str
    has_tiers: bool
    alternatives: tuple[Alternative, ...]


class PriceBook:
    """All prices: those of a price file, then those of the library."""

    def __init__(self, own: PriceList | None = None) -> None:
        self._own = own or PriceList()

    def prices(self, key: ModelKey) -> Iterator[Price]:
        """The model's prices in order of time, without the days for which there is none."""
        library = list_prices.periods(key)
        other = list_prices.everywhere(key)
        everywhere = list_prices.periods(other) if other else ()
        days = sorted({BEGINNING, *self._own.boundaries(), *(period.since for period in (*library, *everywhere))})
        for since, until in zip(days, [*days[1:], date.max], strict=True):
            listed = self._listed(key, since, list_prices.at(library, since))
            if listed:
                rates, source, has_tiers = listed
                found = alternatives(rates, list_prices.at(library, since), list_prices.at(everywhere, since), library)
                yield Price(key, since, until, rates, source, has_tiers, found)

    def rates(self, key: ModelKey, day: date) -> Rates | None:
        """The rates of the model on a day; None where it has no price."""
        return next((price.rates for price in self.prices(key) if price.since <= day < price.until), None)

    def _listed(self, key: ModelKey, day: date, library: Period | None) -> tuple[Rates, str, bool] | None:
        """(rates, their source, whether the library has tiers above them); None where there is no price."""
        if own := self._own.price(key, day):
            number, entry = own
            return entry.rates(), f"{self._own.name}: [[price]] number {number}", False
        if library is None:
            return None
        if cut := self._own.discount(key, day):
            number, discount = cut
            source = f"{library.source}, less {discount.percent} % ({self._own.name}: [[discount]] number {number})"
            return library.rates.times(discount.factor), source, library.has_tiers
        return library.rates, library.source, library.has_tiers
