"""Scalars of wire records: JSON numbers only, finite, not negative.

A `Secondary` field never makes a record invalid.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, Strict
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, core_schema

from schemas.numbers import WrittenFloat
from schemas.rows.row import LARGEST_INT, LARGEST_USD, usd

T = TypeVar("T")


class WireModel(BaseModel):
    """Base of an agent's records.

    Unknown fields are ignored, and every declared field may be missing.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class CamelWireModel(WireModel):
    """A WireModel with field names in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


DIGITS_LOST = "usd_digits_lost"
"""Error type for a float that does not determine the amount: the record must be read again with
`WrittenFloat`.
"""

_FLOAT_IS_EXACT = 1e6
"""Below this amount a float determines the nanodollars, unless it is next to the middle between two
of them.
"""

_MIDDLE = 3e-16
"""Relative distance to that middle within which rounding may decide: of the float, and of one
multiplication.
"""


def _money(value: object) -> Decimal:
    """Return a JSON number as exact dollars, rounded once, to nanodollars.

    Raises DIGITS_LOST for a float that does not determine them.
    """
    if type(value) is float:
        size = abs(value)
        if not size < _FLOAT_IS_EXACT or abs(size * 1e9 % 1.0 - 0.5) <= size * 1e9 * _MIDDLE:
            raise PydanticCustomError(DIGITS_LOST, "Input should be read with all its digits")
        rounded = usd(Decimal(repr(value)))
    else:
        amount = _amount(value)
        if (
            not amount.is_finite()
            or abs(amount) > LARGEST_USD + 1
            or abs(rounded := usd(amount)) > LARGEST_USD
        ):
            raise PydanticCustomError(
                "usd_range",
                f"Input should be a finite number of US dollars, at most {LARGEST_USD:,}",
            )
    if rounded < 0:
        raise PydanticKnownError("greater_than_equal", {"ge": 0})
    return rounded


def _amount(value: object) -> Decimal:
    """Return the amount as written, not rounded; NaN for an exponent beyond Decimal's range."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | WrittenFloat):
        raise PydanticCustomError("usd_type", "Input should be a number of US dollars")
    try:
        return Decimal(value.written if isinstance(value, WrittenFloat) else value)
    except InvalidOperation:
        return Decimal("NaN")


class _WholeNumber:
    """Validator of `24` or `24.0`, without calling Python code: a record has dozens of them."""

    def __get_pydantic_core_schema__(
        self, _source: Any, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        exact = core_schema.int_schema(strict=True, ge=0, le=LARGEST_INT)
        as_float = core_schema.float_schema(strict=True, ge=0, le=LARGEST_INT, allow_inf_nan=False)
        return core_schema.union_schema(
            [exact, core_schema.chain_schema([as_float, core_schema.int_schema()])],
            mode="left_to_right",
            custom_error_type="whole_number",
            custom_error_message="Input should be a whole number from 0 to 2**53",
        )


class _Dollars:
    """Validator of dollars by `_money` alone.

    Checking its answer as a Decimal would take as long again.
    """

    def __get_pydantic_core_schema__(
        self, _source: Any, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_money)


class _NoneOnError:
    """Validator that turns an invalid value into None."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.with_default_schema(handler(source), default=None, on_error="default")


WireCount = Annotated[int, _WholeNumber()]
"""`24` or `24.0`; never a string."""

WireMilliseconds = Annotated[float, Strict(), Field(ge=0, le=LARGEST_INT, allow_inf_nan=False)]
"""Fractions allowed; never a string."""

WireSeconds = Annotated[float, Strict(), Field(ge=0, le=2**40, allow_inf_nan=False)]
"""Fractions allowed; never a string."""

WireDollars = Annotated[float, Strict(), Field(ge=0, allow_inf_nan=False)]
"""A sum of floats: digits beyond nanodollars mean nothing."""

WireUsd = Annotated[Decimal, _Dollars()]
"""Read exactly and rounded once; never a string, never negative. See DIGITS_LOST."""

WireFlag = Annotated[bool, Strict()]
WireText = Annotated[str, Strict()]

Secondary = Annotated[T | None, _NoneOnError()]
"""A field without influence on figures: a value of an unknown form becomes None (the raw record
keeps it).
"""
