"""Prices: rates per token, and the row that stores the user's own price file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from schemas.rows.row import Labels, LongText, Row, Text, UtcTime, column

MILLION = Decimal(1_000_000)
THOUSAND = Decimal(1_000)
SMALLEST_RATE = Decimal("1e-15")
"""Rates have this precision in USD per token: nine decimals of USD per million tokens."""


BEGINNING = date(1, 1, 1)
"""The first day of a price without a start."""


class ModelKey(NamedTuple):
    """The key of a price, as in `model_usage`. `model_id`: as logged."""

    model_id: str
    model: str
    provider: str | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per token, and per web search. `web_search` is None without a price."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write_5m: Decimal
    cache_write_1h: Decimal
    web_search: Decimal | None = None

    def times(self, factor: Decimal, output: Decimal | None = None) -> Rates:
        """Return all token rates multiplied by the factor, output by `output` if given.

        The price of a search is unchanged.
        """
        factors = dict.fromkeys(TOKEN_RATES, factor) | (
            {} if output is None else {"output": output}
        )
        tokens = {
            name: (getattr(self, name) * factors[name]).quantize(SMALLEST_RATE)
            for name in TOKEN_RATES
        }
        return Rates(**tokens, web_search=self.web_search)


TOKEN_RATES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")

NO_END = 2**63 - 1


class Band(NamedTuple):
    """The rates of a request whose prompt has more than `above` and at most `up_to` tokens.

    None without a price.
    """

    above: int
    up_to: int
    rates: Rates | None


ANY_SIZE = Band(-1, NO_END, None)


@dataclass(frozen=True, slots=True)
class TieredRates:
    """Rates by the size of the prompt: its uncached input, cache reads and cache writes.

    They hold for the whole request.

    `tiers`: (size in tokens above which the rates hold, rates), ascending; up to the first size,
    and exactly at it, `base` holds.
    """

    base: Rates
    tiers: tuple[tuple[int, Rates], ...] = ()

    def times(self, factor: Decimal) -> TieredRates:
        return TieredRates(
            self.base.times(factor),
            tuple((size, rates.times(factor)) for size, rates in self.tiers),
        )

    def bands(self) -> Iterator[Band]:
        """Yield the rates for every size of prompt, first the base rates."""
        ends = [*(size for size, _ in self.tiers), NO_END]
        yield Band(-1, ends[0], self.base)
        for (size, rates), end in zip(self.tiers, ends[1:], strict=True):
            yield Band(size, end, rates)


class Service(NamedTuple):
    """How a request was served, as logged.

    `speed`, `service_tier` and `inference_geo` of a response.
    """

    speed: str | None = None
    service_tier: str | None = None
    inference_geo: str | None = None


STANDARD = Service()
"""A request without logged details."""


class PriceFileRow(Row):
    """The user's own prices: at most one row, which wins over the price library."""

    name: Text = column(description="Path or file name it was read under.")
    text: LongText = column(description="The file as it was read (TOML).")
    read_at: UtcTime = column(description="When it was read (UTC).")
    machines: Labels = column(
        default={},
        description="USD per hour of a run: label=value -> rate; host=NAME; empty: of any run.",
    )
