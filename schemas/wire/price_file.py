"""The user's own price file (TOML): prices and discounts."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from schemas.rows.price import MILLION, THOUSAND, Rates


def _whole(value: Any) -> Any:
    """Return whole numbers of TOML as Decimal."""
    return Decimal(value) if type(value) is int else value


Figure = Annotated[Decimal, BeforeValidator(_whole)]
PerMillion = Annotated[Figure, Field(ge=0, le=100_000_000, decimal_places=9)]


class _Entry(BaseModel):
    """The common fields of entries of a price file: models and days."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)

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
        return (self.since is None or self.since <= day) and (
            self.until is None or day < self.until
        )


class PriceEntry(_Entry):
    """A price of the user: USD per million tokens, and per 1,000 web searches.

    Defaults: see `rates`.
    """

    model: str = Field(min_length=1)
    input: PerMillion
    output: PerMillion
    cache_read: PerMillion | None = None
    cache_write: PerMillion | None = None
    cache_write_1h: PerMillion | None = None
    web_search: PerMillion | None = None

    def rates(self) -> Rates:
        """Return rates per token.

        Cache reads and writes default to the input rate, 1-hour writes to the rate of other writes.
        """
        write = self.input if self.cache_write is None else self.cache_write
        return Rates(
            input=self.input / MILLION,
            output=self.output / MILLION,
            cache_read=(self.input if self.cache_read is None else self.cache_read) / MILLION,
            cache_write_5m=write / MILLION,
            cache_write_1h=(write if self.cache_write_1h is None else self.cache_write_1h)
            / MILLION,
            web_search=None if self.web_search is None else self.web_search / THOUSAND,
        )


class DiscountEntry(_Entry):
    """A discount in percent on the library's list prices."""

    percent: Annotated[Figure, Field(gt=0, le=100, decimal_places=4)]

    @property
    def factor(self) -> Decimal:
        return 1 - self.percent / 100


ANY_MACHINE = "any"


def _of_machine(key: str) -> str:
    label, sign, value = key.partition("=")
    if key != ANY_MACHINE and not (label and sign and value):
        raise ValueError('must be any, "host=NAME" or "label=value"')
    return key


class PriceFile(BaseModel):
    """A whole price file: `[[price]]` and `[[discount]]` entries, and the table `[machines]`.

    `machines`: USD per hour of the machine of runs with a label, or on a host.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)

    price: tuple[PriceEntry, ...] = Field(default=(), strict=False)
    discount: tuple[DiscountEntry, ...] = Field(default=(), strict=False)
    machines: dict[Annotated[str, AfterValidator(_of_machine)], PerMillion] = Field(default={})
