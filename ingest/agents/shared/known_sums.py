"""Sums of counts and costs of which some may be unknown."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TypeVar

from schemas.errors import InvalidRecord, RejectReason

Number = TypeVar("Number", int, Decimal)


def known_sum(values: Iterable[Number | None]) -> Number | None:
    """The sum of the known values; None where none is known."""
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None


def in_range(total: Number, largest: Number, unit: str) -> Number:
    """A sum over models, bounded as a single figure is. Raises InvalidRecord."""
    if total > largest:
        detail = f"modelUsage: its models add up to {total:,} {unit}; the maximum is {largest:,}"
        raise InvalidRecord(RejectReason.INVALID_RECORD, detail)
    return total
