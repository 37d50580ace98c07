"""Scalars of wire records: JSON numbers only, finite, not negative; what is secondary never refuses a record."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, Strict
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from schemas.units import LARGEST_USD, usd

LARGEST_INT = 2**53
"""The largest whole number that JSON keeps exactly; no agent counts further."""

T = TypeVar("T")


def _money(value: object) -> object:
    """A JSON number as exact dollars: the shortest decimal that reads back as the float, rounded to nanodollars."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise PydanticCustomError("usd_type", "Input should be a number of US dollars")
    amount = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not amount.is_finite() or abs(amount) > LARGEST_USD:
        raise PydanticCustomError("usd_range", "Input should be a finite number of US dollars below 1,000,000,000")
    return usd(amount)


class _WholeNumber:
    """`24` or `24.0`, checked without a call into Python: a record has dozens of them."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        exact = core_schema.int_schema(strict=True, ge=0, le=LARGEST_INT)
        as_float = core_schema.float_schema(strict=True, ge=0, le=LARGEST_INT, allow_inf_nan=False)
        return core_schema.union_schema(
            [exact, core_schema.chain_schema([as_float, core_schema.int_schema()])],
            mode="left_to_right",
            custom_error_type="whole_number",
            custom_error_message="Input should be a whole number from 0 to 2**53",
        )


class _NoneOnError:
    """What cannot be read is None."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_default_schema(handler(source), default=None, on_error="default")


WireCount = Annotated[int, _WholeNumber()]
"""A whole number of things, `24` or `24.0`; never a string."""

WireMilliseconds = Annotated[float, Strict(), Field(ge=0, le=2**53, allow_inf_nan=False)]
"""Milliseconds as a JSON number, fractions allowed; never a string."""

WireUsd = Annotated[Decimal, BeforeValidator(_money), Field(ge=0)]
"""US dollars as a JSON number, read exactly and rounded once; never a string, never negative."""

WireFlag = Annotated[bool, Strict()]
WireText = Annotated[str, Strict()]

Secondary = Annotated[T | None, _NoneOnError()]
"""A field no figure rests on: in a shape not known it is read as None (the raw record keeps it)."""
