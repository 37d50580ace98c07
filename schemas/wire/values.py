"""Scalars of wire records: JSON numbers only, finite, not negative; what is secondary never refuses a record."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Self, TypeVar

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, Strict
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from schemas.rows.units import LARGEST_INT, LARGEST_USD, usd

T = TypeVar("T")


class WrittenFloat(float):
    """A float that keeps how it was written, for `json.loads(text, parse_float=WrittenFloat)`."""

    written: str

    def __new__(cls, written: str) -> Self:
        """The float nearest to what is written."""
        made = super().__new__(cls, written)
        made.written = written
        return made

    def __repr__(self) -> str:
        return self.written


DIGITS_LOST = "usd_digits_lost"
"""The type of the error that asks for the record to be read again, with `WrittenFloat`: a float does not tell the amount exactly."""

_FLOAT_TELLS = 1e6
"""Below this amount a float tells every nanodollar, unless it is next to the middle between two of them."""

_MIDDLE = 3e-16
"""How near to it a float may have been rounded, as a share of the amount: the float's own rounding, and one multiplication."""


def _money(value: object) -> object:
    """A JSON number as exact dollars, rounded once, to nanodollars. A float that leaves a doubt about them is refused as DIGITS_LOST."""
    if type(value) is float:
        if not abs(value) < _FLOAT_TELLS or abs(abs(value) * 1e9 % 1.0 - 0.5) <= abs(value) * 1e9 * _MIDDLE:
            raise PydanticCustomError(DIGITS_LOST, "Input should be read with all its digits")
        return usd(Decimal(repr(value)))
    amount = _amount(value)
    if not amount.is_finite() or abs(amount) > LARGEST_USD + 1 or abs(rounded := usd(amount)) > LARGEST_USD:
        raise PydanticCustomError("usd_range", f"Input should be a finite number of US dollars, at most {LARGEST_USD:,}")
    return rounded


def _amount(value: object) -> Decimal:
    """What was written, not yet rounded; NaN for an exponent that no Decimal can have."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | WrittenFloat):
        raise PydanticCustomError("usd_type", "Input should be a number of US dollars")
    try:
        return Decimal(value.written if isinstance(value, WrittenFloat) else value)
    except InvalidOperation:
        return Decimal("NaN")


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

WireMilliseconds = Annotated[float, Strict(), Field(ge=0, le=LARGEST_INT, allow_inf_nan=False)]
"""Milliseconds as a JSON number, fractions allowed; never a string."""

WireUsd = Annotated[Decimal, BeforeValidator(_money), Field(ge=0)]
"""US dollars as a JSON number, read exactly and rounded once; never a string, never negative. See DIGITS_LOST."""

WireFlag = Annotated[bool, Strict()]
WireText = Annotated[str, Strict()]

Secondary = Annotated[T | None, _NoneOnError()]
"""A field no figure rests on: in a shape not known it is read as None (the raw record keeps it)."""
