"""Prices: rates per token, the user's own price file, and the row that stores it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from schemas.rows.row import LongText, Row, Text, UtcTime

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
        """Return all token rates multiplied by the factor, output by `output` if given; the price of a search is unchanged."""
        factors = dict.fromkeys(TOKEN_RATES, factor) | ({} if output is None else {"output": output})
        tokens = {name: (getattr(self, name) * factors[name]).quantize(SMALLEST_RATE) for name in TOKEN_RATES}
        return Rates(**tokens, web_search=self.web_search)


TOKEN_RATES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")

NO_END = 2**63 - 1


class Band(NamedTuple):
    """The rates of a request whose prompt has more than `above` and at most `up_to` tokens; None without a price."""

    above: int
    up_to: int
    rates: Rates | None


ANY_SIZE = Band(-1, NO_END, None)


@dataclass(frozen=True, slots=True)
class TieredRates:
    """Rates by the size of the prompt: its uncached input, cache reads and cache writes. They hold for the whole request.

    `tiers`: (size in tokens above which the rates hold, rates), ascending; up to the first size, and exactly at it, `base` holds.
    """

    base: Rates
    tiers: tuple[tuple[int, Rates], ...] = ()

    def times(self, factor: Decimal) -> TieredRates:
        return TieredRates(self.base.times(factor), tuple((size, rates.times(factor)) for size, rates in self.tiers))

    def bands(self) -> Iterator[Band]:
        """Yield the rates for every size of prompt, first the base rates."""
        ends = [*(size for size, _ in self.tiers), NO_END]
        yield Band(-1, ends[0], self.base)
        for (size, rates), end in zip(self.tiers, ends[1:], strict=True):
            yield Band(size, end, rates)


class Service(NamedTuple):
    """How a request was served, as logged: `speed`, `service_tier` and `inference_geo` of a response."""

    speed: str | None = None
    service_tier: str | None = None
    inference_geo: str | None = None


STANDARD = Service()
"""A request without logged details."""


def _whole(value: Any) -> Any:
    """Return whole numbers of TOML as Decimal."""
    return Decimal(value) if type(value) is int else value


Figure = Annotated[Decimal, BeforeValidator(_whole)]
PerMillion = Annotated[Figure, Field(ge=0, le=100_000_000, decimal_places=9)]


class _Entry(BaseModel):
    """The common fields of entries of a price file: models and days."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    model: str | None = Field(default=None, min_length=1)
    provider: str | None = Field(default=None, min_length=1)
    region: str | None = Field(default=None, min_length=1)
    since: date | None = Field(default=None, alias="from")
    until: date | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.until <= self.since:
            raise ValueError("`until` (the first day after the price) must be later than `from`")
        return self

    def holds(self, day: date) -> bool:
        return (self.since is None or self.since <= day) and (self.until is None or day < self.until)


class PriceEntry(_Entry):
    """A price of the user: USD per million tokens, and per 1,000 web searches. Defaults: see `rates`."""

    model: str = Field(min_length=1)
    input: PerMillion
    output: PerMillion
    cache_read: PerMillion | None = None
    cache_write: PerMillion | None = None
    cache_write_1h: PerMillion | None = None
    web_search: PerMillion | None = None

    def rates(self) -> Rates:
        """Return rates per token. Cache reads and writes default to the input rate, 1-hour writes to the rate of other writes."""
        write = self.input if self.cache_write is None else self.cache_write
        return Rates(
            input=self.input / MILLION,
            output=self.output / MILLION,
            cache_read=(self.input if self.cache_read is None else self.cache_read) / MILLION,
            cache_write_5m=write / MILLION,
            cache_write_1h=(write if self.cache_write_1h is None else self.cache_write_1h) / MILLION,
            web_search=None if self.web_search is None else self.web_search / THOUSAND,
        )


class DiscountEntry(_Entry):
    """A discount in percent on the library's list prices."""

    percent: Annotated[Figure, Field(gt=0, le=100, decimal_places=4)]

    @property
    def factor(self) -> Decimal:
        return 1 - self.percent / 100


class PriceFile(BaseModel):
    """A whole price file: `[[price]]` and `[[discount]]` entries."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    price: tuple[PriceEntry, ...] = Field(default=(), strict=False)
    discount: tuple[DiscountEntry, ...] = Field(default=(), strict=False)


class PriceFileRow(Row):
    """The user's own prices: at most one row, which wins over the price library."""

    name: Text = Field(description="Path or file name it was read under.")
    text: LongText = Field(description="The file as it was read (TOML).")
    read_at: UtcTime = Field(description="When it was read (UTC).")
