"""Rows of the store: their base (frozen, strict, no unknown fields) and the types of their columns, with their units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from typing import Annotated, Any, Self

import pyarrow as pa
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from schemas.units import Unit


class Row(BaseModel):
    """One row of a table of the store. Its fields are the table's columns, their descriptions the comments on them."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    @classmethod
    def unchecked(cls, **values: Any) -> Self:
        """Return a row whose values are only checked in `tables.arrow_table`, column by column, which takes a fifth of the time.

        Raises TypeError for an unknown field.
        """
        return cls._of({**_defaults(cls), **values})

    def completed(self, values: Mapping[str, Any]) -> Self:
        """Return the row with these values, unchecked. Raises TypeError for an unknown field."""
        return self._of({**self.__dict__, **values})

    def values(self) -> Iterable[Any]:
        return self.__dict__.values()

    @classmethod
    def _of(cls, values: dict[str, Any]) -> Self:
        if len(values) != len(cls.__pydantic_fields__):  # `model_fields` would take as long as everything else here
            raise TypeError(f"{cls.__name__} does not take {', '.join(values.keys() ^ cls.model_fields.keys())}")
        row = cls.__new__(cls)
        object.__setattr__(row, "__dict__", values)
        object.__setattr__(row, "__pydantic_fields_set__", set())
        object.__setattr__(row, "__pydantic_extra__", None)
        object.__setattr__(row, "__pydantic_private__", None)
        return row


def optional(title: str, description: str) -> Any:
    """Declare a field that may be unknown: title of its column, and meaning."""
    return Field(default=None, title=title, description=description)


@cache
def _defaults(row: type[Row]) -> Mapping[str, Any]:
    """Return the default by field; None for required fields, which the later check refuses if they are missing."""
    return {name: info.get_default() if not info.is_required() else None for name, info in row.model_fields.items()}


NANODOLLAR = Decimal("1e-9")
"""The smallest stored amount. Costs are rounded to it once, when a record is read."""


LARGEST_INT = 2**53
"""The largest whole number that JSON keeps exactly; no agent counts further, and sums of such numbers fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class ArrowType:
    """The Arrow type that a value is stored as, and its unit. `compressed` asks the store for zstd, for long text."""

    type: pa.DataType
    unit: Unit = Unit.TEXT
    compressed: bool = False


Text = Annotated[str, ArrowType(pa.string())]
LongText = Annotated[str, ArrowType(pa.string(), compressed=True)]
RawText = Annotated[str | bytes, ArrowType(pa.string(), compressed=True)]
"""Text, or its UTF-8 bytes if it was not decoded."""
Flag = Annotated[bool, ArrowType(pa.bool_())]
Count = Annotated[int, Field(ge=0, le=LARGEST_INT), ArrowType(pa.int64(), Unit.COUNT)]
Tokens = Annotated[int, Field(ge=0, le=LARGEST_INT), ArrowType(pa.int64(), Unit.TOKENS)]
Bytes = Annotated[int, Field(ge=0, le=LARGEST_INT), ArrowType(pa.int64(), Unit.BYTES)]
Milliseconds = Annotated[int, Field(ge=0, le=LARGEST_INT), ArrowType(pa.int64(), Unit.MILLISECONDS)]
Offset = Annotated[int, Field(ge=0, le=LARGEST_INT), ArrowType(pa.int64(), Unit.COUNT)]
Usd = Annotated[Decimal, Field(ge=0, allow_inf_nan=False), ArrowType(pa.decimal128(18, 9), Unit.USD)]
SignedUsd = Annotated[Decimal, Field(allow_inf_nan=False), ArrowType(pa.decimal128(18, 9), Unit.USD)]
Ratio = Annotated[float, Field(gt=0, allow_inf_nan=False), ArrowType(pa.float64(), Unit.RATIO)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), ArrowType(pa.float64(), Unit.SHARE)]
Quantity = Annotated[float, Field(allow_inf_nan=False), ArrowType(pa.float64(), Unit.COUNT)]
UtcTime = Annotated[
    AwareDatetime,
    Field(ge=datetime.min.replace(tzinfo=UTC), le=datetime.max.replace(tzinfo=UTC)),  # what Python can read again, in whatever zone
    ArrowType(pa.timestamp("us", tz="UTC"), Unit.TIME),
]
UsdParts = Annotated[tuple[Usd | None, ...], ArrowType(pa.list_(pa.decimal128(18, 9)), Unit.USD)]
Names = Annotated[tuple[str, ...], ArrowType(pa.list_(pa.string()))]
Labels = Annotated[dict[str, str], ArrowType(pa.map_(pa.string(), pa.string()))]

LARGEST_USD = Decimal(10**9) - NANODOLLAR


def usd(amount: Decimal) -> Decimal:
    """Round an amount in US dollars to whole nanodollars, halves to even."""
    return amount.quantize(NANODOLLAR, rounding=ROUND_HALF_EVEN)
