"""Amounts that people write: on the command line, in links, in boxes of a screen."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

LARGEST = Decimal(10**12)
"""No sum over runs that anybody budgets is larger; one record may tell a thousandth of it (DECIMAL(18,9))."""

SMALLEST = Decimal("1e-9")
"""What the store keeps of US dollars. Numbers of things and shares may be as fine."""


def amount(text: str) -> Decimal | None:
    """`20`, `$0.50` or `1e3` exactly; None as below."""
    return decimal(text.strip().removeprefix("$"))


def decimal(text: str) -> Decimal | None:
    """The number that a text writes, exactly; None where it is none from 0 to LARGEST, or finer than SMALLEST."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or not 0 <= number <= LARGEST:
        return None
    rounded = abs(number.quantize(SMALLEST))
    return rounded if rounded == number else None
