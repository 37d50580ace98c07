"""Exact numbers: amounts that people enter, and floats of JSON with all their digits."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Self

LARGEST = Decimal(10**12)
"""Larger than any budget for many runs; one record has at most a thousandth of it (DECIMAL(18,9)).
"""

SMALLEST = Decimal("1e-9")
"""The smallest stored amount of US dollars, and the finest step of other numbers."""


def amount(text: str) -> Decimal | None:
    """Return `20`, `$0.50` or `1e3` exactly; None as for `decimal`."""
    return decimal(text.strip().removeprefix("$"))


def decimal(text: str) -> Decimal | None:
    """Return the exact number in a text.

    None unless it is a number from 0 to LARGEST and no finer than SMALLEST.
    """
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or not 0 <= number <= LARGEST:
        return None
    rounded = abs(number.quantize(SMALLEST))
    return rounded if rounded == number else None


def share(text: str) -> Decimal | None:
    """Parse `0.05` or `5%` as a number of at most 1; None for anything else."""
    number = decimal(text.removesuffix("%"))
    found = number / 100 if number is not None and text.endswith("%") else number
    return found if found is not None and found <= 1 else None


class WrittenFloat(float):
    """A float with its digits as written, for `json.loads(text, parse_float=WrittenFloat)`."""

    written: str

    def __new__(cls, written: str) -> Self:
        made = super().__new__(cls, written)
        made.written = written
        return made

    def __repr__(self) -> str:
        return self.written
