"""Decides what the blocks of a paired benchmark show.

The figure of a block is the mean logarithm of its baseline runs minus that of its candidate runs,
or the reverse where higher is better: above 0 the candidate is better. Student's t over the blocks
gives the interval. The noise floor is the half-width that the mean of as many blocks of the same
code stays within, with WRONG_WINS shared over all looks at the data (Bonferroni); its spread is
pooled from the blocks of both phases. A difference counts when it exceeds the noise floor and its
own 95 % interval excludes 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ingest.system.command_lines import extra_command
from schemas.catalogue.metrics import BAND
from schemas.errors import UsageError
from schemas.wire.paired_benchmark import MeasureVerdict

try:
    from scipy import stats
except ImportError as error:
    raise UsageError(
        "scipy is not installed, which the statistics need.",
        f"Install it: {extra_command()}",
    ) from error

NOISE_BLOCKS = 6
LEAST_BLOCKS, MOST_BLOCKS = 6, 100

WRONG_WINS = 0.002
"""Share of pairs of equal code that may come out as faster or slower, over all looks: simulated
noise that is skewed or has several levels doubles it at small numbers of blocks, and one in a
hundred must not be exceeded.
"""

_CAUTION = 0.25
"""The spread of a few blocks may be too small by chance: planning takes the upper end of its
one-sided interval of 75 %.
"""

_POWER = 0.85
"""Share of true effects that the planned number of blocks finds. Above the promised 80 %, for noise
that is not normal.
"""


@dataclass(frozen=True)
class Estimate:
    """The logarithm of the ratio after some blocks.

    Its mean, the half-width of its 95 % interval, and the noise floor.
    """

    blocks: int
    mean: float
    half_width: float
    floor: float

    @property
    def verdict(self) -> MeasureVerdict:
        """Return what it shows; SAME needs an interval within the band of 5 %."""
        if abs(self.mean) > max(self.floor, self.half_width):
            return MeasureVerdict.FASTER if self.mean > 0 else MeasureVerdict.SLOWER
        if max(abs(self.mean - self.half_width), abs(self.mean + self.half_width)) < math.log1p(
            BAND
        ):
            return MeasureVerdict.SAME
        return MeasureVerdict.INSIDE_NOISE


def looks(planned: int) -> list[int]:
    """Return the numbers of blocks after which the data are looked at.

    LEAST_BLOCKS, each time twice as many, and the planned number.
    """
    counts = [LEAST_BLOCKS]
    while counts[-1] * 2 < planned:
        counts.append(counts[-1] * 2)
    return counts if counts[-1] >= planned else [*counts, planned]


def estimate(noise: Sequence[float], compared: Sequence[float], planned: int) -> Estimate:
    """Return the estimate from the figures of the blocks of both phases.

    At least two blocks are compared.
    """
    blocks = len(compared)
    degrees = max(len(noise) - 1, 0) + blocks - 1
    spread = math.sqrt(
        (np.var(noise) * len(noise) if noise else 0.0) / degrees
        + np.var(compared) * blocks / degrees
    )
    own = float(np.std(compared, ddof=1)) / math.sqrt(blocks)
    return Estimate(
        blocks,
        float(np.mean(compared)),
        float(stats.t.ppf(0.975, blocks - 1)) * own,
        _critical(degrees, planned) * spread / math.sqrt(blocks),
    )


def blocks_needed(noise: Sequence[float], effect: float) -> int:
    """Return the number of blocks that find an effect with a power of at least 80 %.

    The effect is a logarithm of a ratio. MOST_BLOCKS if more are needed.
    """
    spread = float(np.std(noise, ddof=1)) * math.sqrt(
        (len(noise) - 1) / float(stats.chi2.ppf(_CAUTION, len(noise) - 1))
    )
    if not spread or not effect:
        return LEAST_BLOCKS if effect else MOST_BLOCKS
    low, high = LEAST_BLOCKS, MOST_BLOCKS
    while low < high:
        blocks = (low + high) // 2
        degrees = len(noise) + blocks - 2
        found = stats.nct.sf(
            _critical(degrees, blocks), degrees, effect / spread * math.sqrt(blocks)
        )
        low, high = (low, blocks) if found >= _POWER else (blocks + 1, high)
    return low


def blocks_for_width(noise: Sequence[float], half_width: float) -> int:
    """Return the number of blocks that give the 95 % interval this half-width.

    The half-width is a logarithm of a ratio. MOST_BLOCKS if more are needed.
    """
    spread = float(np.std(noise, ddof=1))
    for blocks in range(LEAST_BLOCKS, MOST_BLOCKS):
        if float(stats.t.ppf(0.975, blocks - 1)) * spread / math.sqrt(blocks) <= half_width:
            return blocks
    return MOST_BLOCKS


def medians(
    baseline: Sequence[float], candidate: Sequence[float]
) -> tuple[float, float, float, float]:
    """Return the ratio baseline ÷ candidate of medians, its 95 % interval, and Mann-Whitney's p.

    The interval is by bootstrap, with both ends.
    """

    def quotient(first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.asarray(np.median(first, axis=axis) / np.median(second, axis=axis))

    found = stats.bootstrap(
        (np.asarray(baseline), np.asarray(candidate)),
        quotient,
        n_resamples=2_000,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    ends = found.confidence_interval
    p = stats.mannwhitneyu(baseline, candidate, alternative="two-sided").pvalue
    return (
        float(quotient(np.asarray(baseline), np.asarray(candidate))),
        float(ends.low),
        float(ends.high),
        float(p),
    )


def _critical(degrees: int, planned: int) -> float:
    return float(stats.t.ppf(1 - WRONG_WINS / len(looks(planned)) / 2, degrees))
