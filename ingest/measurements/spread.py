"""How far single runs of a benchmark lie apart, and what follows for the logarithm of their value.

The ratio of two values has the interval exp(ln r ± t · √(e₁² + e₂²)): e is the standard error of ln(value), t Student's quantile at the
degrees of freedom of Welch and Satterthwaite. The error comes from the samples (standard deviation of their logarithms ÷ √n), else from
the standard deviation (s ÷ (m·√n), the first term of the delta method), else from a published interval (half its width on the logarithmic
scale ÷ the quantile of the normal distribution that belongs to its level: 1.96 for 95 %).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from schemas.rows.measurement import SpreadKind


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How far single runs lie apart. `low`, `high`: in the unit of the value. `level`: of a published interval, 0.99 for 99 %."""

    kind: SpreadKind
    low: float | None = None
    high: float | None = None
    level: float = 0.95

    @classmethod
    def around(cls, value: float | None, distance: float | None, kind: SpreadKind = SpreadKind.STD) -> Spread | None:
        """`distance` on both sides of the value; None where it is unknown, as with a single run."""
        return None if value is None or distance is None else cls(kind=kind, low=value - distance, high=value + distance)


class LogError(NamedTuple):
    """The standard error of ln(value). `df`: its degrees of freedom; None for a published interval, which is taken as normal."""

    error: float
    df: float | None


def log_error(value: float | None, spread: Spread, samples: Sequence[float], n: int | None) -> LogError | None:
    """None where it is unknown: with a single run, without spread, where a value is not above 0, or for an interval that cannot be."""
    if value is None or value <= 0:
        return None
    try:
        found = _of_samples(samples) if len(samples) > 1 else _of_spread(value, spread, n or 1)
    except (ArithmeticError, statistics.StatisticsError):
        return None
    return found if found and math.isfinite(found.error) else None


def _of_samples(samples: Sequence[float]) -> LogError | None:
    if min(samples) <= 0:
        return None
    return LogError(statistics.stdev(map(math.log, samples)) / math.sqrt(len(samples)), len(samples) - 1)


def _of_spread(value: float, spread: Spread, n: int) -> LogError | None:
    low, high = spread.low, spread.high
    if low is None or high is None or high < low:
        return None
    if spread.kind is SpreadKind.CI:
        return LogError(math.log(high / low) / 2 / _quantile(spread.level), None) if low > 0 else None
    divisors = {SpreadKind.STD: math.sqrt(n), SpreadKind.SEM: 1.0} if n > 1 else {}
    divisor = divisors.get(spread.kind)
    return LogError((high - low) / 2 / value / divisor, n - 1) if divisor else None


def _quantile(level: float) -> float:
    """How many standard errors the normal distribution has on each side of an interval of this level."""
    return statistics.NormalDist().inv_cdf((1 + level) / 2)
