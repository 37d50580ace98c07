"""Summaries and comparisons of runs, worded as benchstat words them: `1.423µ ± 2%`, `-17.20% (p=0.000 n=10)`, `~` for no difference.

Source: https://pkg.go.dev/golang.org/x/perf/cmd/benchstat, and `benchmath` and `benchunit` of https://github.com/golang/perf since 2022:
the median with its 95 % confidence interval, and the Mann–Whitney U test. No outliers are removed (older versions did, and showed means).
Values are in base units: s, B, B/s.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import NamedTuple

from tests.benchstat.rank_test import p_value

_CONFIDENCE, _ALPHA = 0.95, 0.05
_COUNTED_OUT = 30
"""Most runs for which the binomial distribution is counted out. With more, it is taken as normal."""

_TOO_FEW_FOR_INTERVAL = "need >= 6 samples for confidence interval at level 0.95"
_TOO_FEW_TO_DIFFER = "need >= 4 samples to detect a difference at alpha level 0.05"
_LEAST_TO_DIFFER = 4
_ALL_EQUAL = "all samples are equal"


@dataclass(frozen=True)
class Summary:
    """The median of runs and its confidence interval, whose ends are infinite where the runs are too few."""

    centre: float
    low: float
    high: float

    @property
    def reach(self) -> str:
        """How far the interval reaches from the median, in whole percent; `∞`; `?` where zero is inside it."""
        if math.isinf(self.low) or math.isinf(self.high):
            return "∞"
        if len({_sign(self.centre), _sign(self.low), _sign(self.high)}) > 1:
            return "?"
        share = max(self.high / self.centre - 1, 1 - self.low / self.centre) if self.centre else 0.0
        return f"{100 * share:.0f}%"

    @property
    def warning(self) -> str | None:
        """Why there is no interval."""
        return _TOO_FEW_FOR_INTERVAL if math.isinf(self.low) or math.isinf(self.high) else None


@dataclass(frozen=True)
class Comparison:
    """Runs beside those of the base. `difference`: of the medians in percent, `~` where it may be chance; `evidence`: `p=0.008 n=10`."""

    p: float
    difference: str
    evidence: str
    warning: str | None = None


class Scale(NamedTuple):
    """How numbers are written: digits after the point, and the prefix of a unit that is `factor` units."""

    digits: int
    factor: float
    prefix: str

    def written(self, value: float) -> str:
        """The number with its prefix, such as `1.423µ`."""
        return f"{value / self.factor:.{self.digits}f}{self.prefix}"


def summary(runs: Sequence[float]) -> Summary:
    """The median of one or more runs, and the order statistics that bound it."""
    ordered = sorted(runs)
    low, high = _orders(len(ordered))
    return Summary(
        _median(ordered),
        ordered[low - 1] if low > 0 else -math.inf,
        ordered[high - 1] if high <= len(ordered) else math.inf,
    )


def comparison(base: Sequence[float], runs: Sequence[float]) -> Comparison:
    """Runs against those of the base, both of one or more."""
    tested = p_value(base, runs)
    p = 1.0 if tested is None else tested
    size = f"n={len(base)}" if len(base) == len(runs) else f"n={len(base)}+{len(runs)}"
    difference = _difference(_median(sorted(base)), _median(sorted(runs))) if p <= _ALPHA else "~"
    return Comparison(p, difference, f"p={p:.3f} {size}", _warning(tested, max(len(base), len(runs))))


def geometric_mean(values: Sequence[float]) -> float | None:
    """None where there is no value, or one that is not > 0."""
    return math.exp(fmean(map(math.log, values))) if values and min(values) > 0 else None


def mean_change(pairs: Iterable[tuple[float, float]]) -> str:
    """The geometric mean of changes from the first of each pair to the second, in percent; `?` where one cannot be computed."""
    ratios = [1.0 if base == value else value / base if base else 0.0 for base, value in pairs]
    mean = geometric_mean(ratios)
    return "?" if mean is None else f"{(mean - 1) * 100:+.2f}%"


def scale(values: Iterable[float], unit: str) -> Scale:
    """One scale for the numbers of a line: at least three digits of the one nearest to zero count. Bytes go by 1024, others by 1000."""
    least = min((abs(value) for value in values if value), default=0.0)
    if not least:
        return Scale(3, 1, "")
    prefixes = _BINARY if _is_of_bytes(unit) else _DECIMAL
    for prefix, factor in prefixes:
        for digits, limit in ((1, 99.995), (2, 9.9995), (3, 0.99995)):
            if least >= limit * factor:
                return Scale(digits, factor, prefix)
    prefix, factor = prefixes[-1]
    return Scale(next((digits for digits in range(3, 10) if least / factor >= 9.9995 * 10.0 ** (2 - digits)), 10), factor, prefix)


_DECIMAL = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9))
_BINARY = (("Ti", 2.0**40), ("Gi", 2.0**30), ("Mi", 2.0**20), ("Ki", 2.0**10), ("", 1.0))


def _is_of_bytes(unit: str) -> bool:
    """Whether a unit counts bytes: `B/op`, `text-bytes`, but not `s/B`."""
    above = unit.split("/", maxsplit=1)[0]
    return bool({"B", "MB", "bytes"} & set(re.split(r"[\s*-]+", above)))


def _difference(base: float, value: float) -> str:
    if base == value:
        return "0.00%"
    return f"{(value / base - 1.0) * 100.0:+.2f}%" if base else "?"


def _warning(tested: float | None, most: int) -> str | None:
    if tested is None:
        return _ALL_EQUAL
    return _TOO_FEW_TO_DIFFER if tested > _ALPHA and most < _LEAST_TO_DIFFER else None


def _median(ordered: Sequence[float]) -> float:
    below, above = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return below + (above - below) * 0.5


def _orders(n: int) -> tuple[int, int]:
    """Which of n ordered runs, from 1, bound the median with 95 % confidence; 0 and n + 1 are beyond the runs.

    How many of n runs lie below the true median is binomially distributed with probability ½.
    """
    low, high = _counted_orders(n) if n <= _COUNTED_OUT else _normal_orders(n)
    return max(low, 0), min(high, n + 1)


def _counted_orders(n: int) -> tuple[int, int]:
    """From the middle outwards, the likelier side first, and of two equal ones the left."""
    low, high = n // 2, n // 2 + 1
    covered = math.comb(n, low)
    while covered < _CONFIDENCE * 2**n:
        left, right = (math.comb(n, low - 1) if low else 0), math.comb(n, high)
        low, high = (low - 1, high) if left >= right else (low, high + 1)
        covered += max(left, right)
    return low, high


def _normal_orders(n: int) -> tuple[int, int]:
    """The same by the normal distribution with its correction for whole numbers, one less on the right where that is enough."""
    normal = NormalDist(n / 2, math.sqrt(n) / 2)
    start = normal.inv_cdf((1 - _CONFIDENCE) / 2)
    low, high = math.floor(start - 0.5) + 1, math.ceil(n - start - 0.5) + 1
    return low, high - (normal.cdf(high - 1.5) - normal.cdf(low - 0.5) >= _CONFIDENCE)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
