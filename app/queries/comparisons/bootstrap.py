"""Two cohorts of runs, measure by measure: medians, and how sure their difference is. Pure: numbers in, numbers out.

Medians, because costs and times of runs are skewed: one run in a hundred would decide a mean. The interval is a bootstrap's
(Efron 1979, percentile method): what the difference of medians would have been in other samples like these. Resampling n values and
taking the median is taking the value at the rank of the median of n uniform numbers, whose distribution is known (a Beta), so that no
resampling is needed and a cohort of a million costs no more than one of ten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

RESAMPLES = 10_000
SEED = 1927
"""Fixed, so that the same runs give the same interval. In 1927 the first tachographs were sold."""

LEVEL = 0.95
FEWEST = 5
"""With fewer values on a side, a median says little and its interval nothing."""


class Verdict(StrEnum):
    """What the interval allows to say of the second cohort against the first."""

    LOWER = "lower"
    HIGHER = "higher"
    UNCLEAR = "no clear difference"
    TOO_FEW = "too few runs"


@dataclass(frozen=True)
class Estimate:
    """A figure and the interval that holds it at LEVEL; no interval where there are too few values."""

    value: float
    low: float | None = None
    high: float | None = None

    def is_beyond(self, neutral: float) -> bool:
        """Whether the interval lies on one side of what no difference would be."""
        return self.low is not None and self.high is not None and not self.low <= neutral <= self.high


@dataclass(frozen=True)
class Paired:
    """Task by task, of the tasks that both cohorts have: the median of the tasks' differences (second − first) and ratios."""

    tasks: int
    lower: int
    higher: int
    difference: Estimate
    ratio: Estimate | None


@dataclass(frozen=True)
class Comparison:
    """One measure in two cohorts; difference is second − first, ratio is second ÷ first (None where the first median is 0)."""

    known: tuple[int, int]
    medians: tuple[float, float]
    difference: Estimate
    ratio: Estimate | None
    paired: Paired | None

    @property
    def verdict(self) -> Verdict:
        """What can be said of the second cohort."""
        if self.difference.low is None:
            return Verdict.TOO_FEW
        if not self.difference.is_beyond(0):
            return Verdict.UNCLEAR
        return Verdict.LOWER if self.difference.value < 0 else Verdict.HIGHER


def compare(first: Values, second: Values, tasks: tuple[Mapping[str, float], Mapping[str, float]] = ({}, {})) -> Comparison | None:
    """Compare the known values of two cohorts, and their medians per task. None where a cohort has no value."""
    one, two = first[~np.isnan(first)], second[~np.isnan(second)]
    if not one.size or not two.size:
        return None
    chance = np.random.default_rng(SEED) if min(one.size, two.size) >= FEWEST else None
    found = _medians(one, chance), _medians(two, chance)
    medians = found[0].median, found[1].median
    resampled = None if chance is None else (found[0].resampled, found[1].resampled)
    difference = _estimate(medians[1] - medians[0], resampled and resampled[1] - resampled[0])
    return Comparison((one.size, two.size), medians, difference, _ratio(medians, resampled), _pairs(*tasks))


def _ratio(medians: tuple[float, float], resampled: tuple[Values, Values] | None) -> Estimate | None:
    if medians[0] <= 0:
        return None
    divisible = resampled is not None and bool(resampled[0].min() > 0)
    return _estimate(medians[1] / medians[0], resampled[1] / resampled[0] if resampled and divisible else None)


def _pairs(first: Mapping[str, float], second: Mapping[str, float]) -> Paired | None:
    shared = sorted(first.keys() & second.keys())
    if not shared:
        return None
    one, two = (np.array([values[task] for task in shared]) for values in (first, second))
    difference = two - one
    ratio = _median_of(two / one) if bool((one > 0).all()) else None
    return Paired(len(shared), int((difference < 0).sum()), int((difference > 0).sum()), _median_of(difference), ratio)


def _median_of(values: Values) -> Estimate:
    found = _medians(values, np.random.default_rng(SEED) if values.size >= FEWEST else None)
    return _estimate(found.median, found.resampled if values.size >= FEWEST else None)


def _estimate(value: float, resampled: Values | None) -> Estimate:
    if resampled is None:
        return Estimate(value)
    low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, float(low), float(high))


class _Sampled(NamedTuple):
    """The median of values, and those of RESAMPLES resamples of them; none without a generator of chance."""

    median: float
    resampled: Values


def _medians(values: Values, chance: np.random.Generator | None) -> _Sampled:
    """Medians of the values and of resamples, by the ranks that the middle of n uniform numbers points at.

    The ranks lie around the middle: only what is between them is sorted, once for all.
    """
    size = values.size
    ranks = np.concatenate([[(size - 1) // 2, size // 2], *(_ranks(size, chance) if chance else ())])
    first, last = int(ranks.min()), int(ranks.max())
    ordered = np.partition(values, (first, last))
    ordered[first : last + 1].sort()
    found = ordered[ranks]
    resampled = found[2:].reshape(-1, RESAMPLES)
    return _Sampled(float((found[0] + found[1]) / 2), resampled.sum(axis=0) / max(1, len(resampled)))


def _ranks(size: int, chance: np.random.Generator) -> list[NDArray[np.int64]]:
    """The ranks of the middle value of RESAMPLES resamples; of the two values around the middle, where the size is even."""
    if size % 2:
        middle = (size + 1) / 2
        return [_places(chance.beta(middle, middle, RESAMPLES), size)]
    half = size / 2
    below = chance.beta(half, half + 1, RESAMPLES)
    above = below + (1 - below) * chance.beta(1, half, RESAMPLES)
    return [_places(below, size), _places(above, size)]


def _places(uniform: Values, size: int) -> NDArray[np.int64]:
    return np.minimum((uniform * size).astype(np.int64), size - 1)
