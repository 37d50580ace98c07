"""Scalars that carry their unit: how a value is checked and stored.

An annotated type here defines the type of a column completely: pydantic checks it, `schemas.rows.tables` reads its `ArrowType`, and the
store's DDL follows from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Annotated

import pyarrow as pa
from pydantic import AwareDatetime, Field

from schemas.unit_names import Unit

NANODOLLAR = Decimal("1e-9")
"""The smallest amount that is stored. Costs are rounded to it once, when a record is read."""


LARGEST_INT = 2**53
"""The largest whole number that JSON keeps exactly; no agent counts further, and sums of such numbers fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class ArrowType:
    """The Arrow type a value is stored as, and what it counts. `compressed` asks the store for zstd: meant for long text."""

    type: pa.DataType
    unit: Unit = Unit.TEXT
    compressed: bool = False


Text = Annotated[str, ArrowType(pa.string())]
LongText = Annotated[str, ArrowType(pa.string(), compressed=True)]
RawText = Annotated[str | bytes, ArrowType(pa.string(), compressed=True)]
"""Text, or its UTF-8 bytes where it was not decoded."""
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
"""The largest amount DECIMAL(18,9) holds."""


def usd(amount: Decimal) -> Decimal:
    """Round an amount in US dollars to whole nanodollars, halves to even."""
    return amount.quantize(NANODOLLAR, rounding=ROUND_HALF_EVEN)
