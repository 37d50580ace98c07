"""The ratio of two measured values, with the interval in which it lies with 95 % confidence.

Computed on logarithms, since a ratio of 2 and one of ½ are equally far from 1: a side has the logarithm of its centre, the variance of
that, and degrees of freedom; the interval is Welch's (B. L. Welch 1947, "The generalization of Student's problem"), with the degrees of
freedom of Satterthwaite (1946).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import NamedTuple

from tests.benchstat.students_t import NORMAL_95, t_95

_LARGEST = 709.0
"""The exponential of more does not fit into a double."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """What is known of one side, all in one unit. The first of these that is there decides.

    - `samples`: the values of two or more runs;
    - `value` (a mean), `std` (the standard deviation of single runs) and `n` runs, two or more;
    - `value` and `interval`, its published confidence interval. One of 95 % is assumed: of a higher level the result is too wide.
    """

    value: float | None = None
    samples: Sequence[float] = ()
    std: float | None = None
    n: int | None = None
    interval: tuple[float, float] | None = None


class Ratio(NamedTuple):
    """A ratio and the ends of its interval."""

    ratio: float
    low: float
    high: float


class _Log(NamedTuple):
    """The logarithm of a centre, the variance of that logarithm, and its degrees of freedom."""

    centre: float
    variance: float
    degrees: float


def ratio_interval(base: Side, candidate: Side) -> Ratio | None:
    """The ratio base ÷ candidate, which is the speedup where both are times.

    None where a side has one run only, or a value that is not > 0. With samples the ratio is that of the geometric means. Where the runs of
    both sides are all alike the interval has no width.
    """
    sides = _log(base), _log(candidate)
    if sides[0] is None or sides[1] is None:
        return None
    return _welch(sides[0], sides[1])


def _welch(base: _Log, candidate: _Log) -> Ratio:
    difference, total = base.centre - candidate.centre, base.variance + candidate.variance
    reach = t_95(_degrees(base, candidate)) * math.sqrt(total) if total > 0 else 0.0
    return Ratio(_exp(difference), _exp(difference - reach), _exp(difference + reach))


def _degrees(*sides: _Log) -> float:
    """Satterthwaite's degrees of freedom of the sum of the variances."""
    total = sum(side.variance for side in sides)
    inverse = sum((side.variance / total) ** 2 / side.degrees for side in sides)
    return max(1.0, 1 / inverse) if inverse else math.inf


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < _LARGEST else math.inf


def _log(side: Side) -> _Log | None:
    if len(side.samples) > 1:
        return _of_samples(side.samples)
    if side.value is None or side.value <= 0:
        return None
    if side.std is not None and side.n is not None and side.n > 1:
        return _Log(math.log(side.value), (side.std / side.value) ** 2 / side.n, side.n - 1)
    return _of_interval(side.value, side.interval) if side.interval else None


def _of_samples(samples: Sequence[float]) -> _Log | None:
    if min(samples) <= 0:
        return None
    logs = [math.log(sample) for sample in samples]
    return _Log(fmean(logs), variance(logs) / len(logs), len(logs) - 1)


def _of_interval(value: float, interval: tuple[float, float]) -> _Log | None:
    """As of a normal distribution: the tool that published the interval knew how many runs it rests on."""
    low, high = interval
    if not 0 < low <= high:
        return None
    return _Log(math.log(value), (math.log(high / low) / (2 * NORMAL_95)) ** 2, math.inf)
