"""The median of values, and those of resamples of them. Pure: numbers in, numbers out.

Medians, because costs and times of runs are skewed: one run in a hundred would decide a mean. The interval is a bootstrap's
(Efron 1979, percentile method): what the median would have been in other samples like these. Resampling n values and taking the median is
taking the value at the rank of the median of n uniform numbers, whose distribution is known (a Beta), so that no resampling is needed and a
million values cost no more than ten.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

RESAMPLES = 10_000
SEED = 1927
"""Fixed, so that the same runs give the same interval. In 1927 the first tachographs were sold."""

LEVEL = 0.95
FEWEST = 5
"""With fewer values a median says little and its interval nothing."""


class Sampled(NamedTuple):
    """The median of values, and those of RESAMPLES resamples of them; none without a generator of chance."""

    median: float
    resampled: Values


def medians(values: Values, chance: np.random.Generator | None) -> Sampled:
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
    return Sampled(float((found[0] + found[1]) / 2), resampled.sum(axis=0) / max(1, len(resampled)))


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
