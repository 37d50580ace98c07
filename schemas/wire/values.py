"""Scalars of wire records: JSON numbers only, finite, not negative; what is secondary never refuses a record."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, Strict, ValidationError, WrapValidator
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ValidatorFunctionWrapHandler

from schemas.units import LARGEST_USD, usd

LARGEST_INT = 2**53
"""The largest whole number that JSON keeps exactly; no agent counts further."""

T = TypeVar("T")


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("number_type", "Input should be a number")
    return value


def _money(value: object) -> object:
    """A JSON number as exact dollars: the shortest decimal that reads back as the float, rounded to nanodollars."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise PydanticCustomError("usd_type", "Input should be a number of US dollars")
    amount = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not amount.is_finite() or abs(amount) > LARGEST_USD:
        raise PydanticCustomError("usd_range", "Input should be a finite number of US dollars below 1,000,000,000")
    return usd(amount)


def _or_none(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError:
        return None


WireCount = Annotated[int, Field(ge=0, le=LARGEST_INT), BeforeValidator(_number)]
"""A whole number of things, `24` or `24.0`; never a string."""

WireMilliseconds = Annotated[float, Strict(), Field(ge=0, le=2**53, allow_inf_nan=False)]
"""Milliseconds as a JSON number, fractions allowed; never a string."""

WireUsd = Annotated[Decimal, BeforeValidator(_money), Field(ge=0)]
"""US dollars as a JSON number, read exactly and rounded once; never a string, never negative."""

WireFlag = Annotated[bool, Strict()]
WireText = Annotated[str, Strict()]

Secondary = Annotated[T | None, WrapValidator(_or_none)]
"""A field no figure rests on: in a shape not known it is read as None (the raw record keeps it)."""
