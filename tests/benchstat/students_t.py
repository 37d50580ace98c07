"""Student's t distribution: the distance from the mean within which 95 % of it lie.

Source: the cumulative distribution by the regularized incomplete beta function, Abramowitz & Stegun 26.5.27 and 26.7.1, as a continued
fraction (26.5.8) in the form of Lentz.
"""

from __future__ import annotations

import math
from functools import lru_cache

NORMAL_95 = 1.959963984540054
"""The same distance of the normal distribution, which t has with endless degrees of freedom."""

_LARGE = 1e7
"""Degrees of freedom above which the two differ by less than 1e-6 of themselves."""

_TINY = 1e-300


@lru_cache(maxsize=256)
def t_95(degrees: float) -> float:
    """The two-sided 95 % quantile for `degrees` of freedom, 1 or more and not necessarily whole. Relative error below 1e-9."""
    if degrees < 1:
        raise ValueError(f"Student's t needs at least 1 degree of freedom, not {degrees:g}.")
    if degrees > _LARGE:
        return NORMAL_95
    low, high = NORMAL_95, 13.0
    while high - low > 1e-10 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if _outside(middle, degrees) > 0.05 else (low, middle)
    return (low + high) / 2


def _outside(distance: float, degrees: float) -> float:
    """The share of the distribution that lies further from its mean on either side."""
    return _incomplete_beta(degrees / (degrees + distance * distance), degrees / 2, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b) for 0 < x < 1, by the side on which its continued fraction converges fast."""
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) * _continued_fraction(x, a, b) / a


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Lentz's method, until a step changes nothing that a double can hold."""
    ahead, behind = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = behind
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for factor in (even, odd):
            behind = 1 / _not_zero(1 + factor * behind)
            ahead = _not_zero(1 + factor / ahead)
            step = ahead * behind
            value *= step
        if abs(step - 1) < 1e-15:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
