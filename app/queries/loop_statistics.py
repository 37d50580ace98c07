"""Statistics of a greedy loop with a noisy metric.

The noise, single steps, luck, and whether the loop still improves.

Values are compared in units of improvement: the logarithm where all are positive, else the values
themselves; higher is better. σ is the standard deviation of one measurement of the same code.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

ONE_LOOK = 0.05
"""Probability that a step without any effect looks better than the noise, over all tries of a loop.
"""

_MAD = 1.4826
"""The standard deviation of normal values, divided by their median absolute deviation."""

FEW_DISCARDED = 5
ROUGH_BELOW = 3
"""Degrees of freedom below which a noise floor is rough."""

LEAST_TRIES = 10
"""A plateau takes as many tries without an improvement, or a third of all of them."""

_NORMAL = statistics.NormalDist()


class NoiseFrom(StrEnum):
    """Where a noise floor comes from, the best source first."""

    REPEATS = "repeats"
    LOG = "log"

    DISCARDED = "discarded"
    """The distances of discarded tries to the code they were judged against, which hold real
    effects, too.
    """


class LoopProgress(StrEnum):
    """Whether a loop still gets anywhere."""

    IMPROVING = "improving"
    PLATEAUING = "plateauing"

    STUCK = "stuck"
    """Nothing improved, or the last tries all failed."""


@dataclass(frozen=True)
class Noise:
    """The noise of a loop's metric.

    `sigma`: in units of improvement, which are logarithms if `is_log`.

    `degrees`: degrees of freedom, of repeats. `sign`: -1 if lower is better.
    """

    sigma: float
    source: NoiseFrom
    degrees: int = 0
    is_log: bool = True
    sign: int = 1

    @property
    def is_rough(self) -> bool:
        return self.source is NoiseFrom.DISCARDED or (
            self.source is NoiseFrom.REPEATS and self.sigma > 0 and self.degrees < ROUGH_BELOW
        )

    def step(self, tries: int | None = None) -> float:
        """Return by how much two measurements may differ.

        Relative to the value before (0.025), or in the unit of a metric that may be 0.

        `tries`: the smallest step beyond the noise after so many tries. It also allows for how
        roughly the noise itself is known.
        """
        step = self.units(tries)
        return self.sign * math.expm1(self.sign * step) if self.is_log else step

    def units(self, tries: int | None = None) -> float:
        """Return the same in units of improvement."""
        return (z_for(1) if tries is None else self.quantile(tries)) * self.sigma * math.sqrt(2)

    def quantile(self, tries: int) -> float:
        """Return how many σ a step must exceed.

        Student's t for a σ of repeats, normal for one of the log.
        """
        return t_for(tries, self.degrees) if self.degrees else z_for(tries)


def t_for(tries: int, degrees: int) -> float:
    """Return the same as `z_for`, for a σ measured with so many degrees of freedom.

    Student's quantile by Hill's algorithm 396 (Communications of the ACM 13, 1970), which needs no
    library.
    """
    both = 2 * ONE_LOOK / max(tries, 1)
    if degrees == 1:
        return 1 / math.tan(both * math.pi / 2)
    if degrees == 2:
        return math.sqrt(2 / (both * (2 - both)) - 2)
    n = degrees
    a = 1 / (n - 0.5)
    b = 48 / a**2
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * n
    y = (d * both) ** (2 / n)
    if y > 0.05 + a:
        x = _NORMAL.inv_cdf(both / 2)
        y = x * x
        if n < 5:
            c += 0.3 * (n - 4.5) * (x + 0.6)
        c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b
        y = math.expm1(
            a * ((((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x) ** 2
        )
    else:
        y = (
            (1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1
        ) * (n + 1) / (n + 2) + 1 / y
    return math.sqrt(n * y)


def z_for(tries: int) -> float:
    """Return how many standard deviations a step must exceed after so many tries.

    So luck passes in 1 of 20 such loops.
    """
    return _NORMAL.inv_cdf(1 - ONE_LOOK / max(tries, 1))


def lucky_records(tries: int) -> float:
    """Return how many records so many tries without any effect set on average: 2.6 of 20."""
    return math.fsum(1 / n for n in range(1, tries + 2)) - 1


def luckiest(tries: int) -> float:
    """Return by how many σ the luckiest of so many measurements lies above the mean (Blom)."""
    return _NORMAL.inv_cdf((tries - 0.375) / (tries + 0.25)) if tries > 1 else 0.0


def repeat_noise(groups: Sequence[Sequence[float]], *, is_log: bool) -> Noise | None:
    """Return the noise by repeated measurements of the same code, in units of improvement.

    None without any.

    Exactly equal repeats mean a deterministic metric, without noise; two of them may be chance, and
    say nothing.
    """
    repeated = [group for group in groups if len(group) > 1]
    degrees = sum(len(group) - 1 for group in repeated)
    if not degrees:
        return None
    if degrees == 1 and max(repeated[0]) == min(repeated[0]):
        return None
    squares = math.fsum(
        (value - statistics.fmean(group)) ** 2 for group in repeated for value in group
    )
    return Noise(math.sqrt(squares / degrees), NoiseFrom.REPEATS, degrees, is_log)


def told_noise(floor: float | None, *, is_log: bool) -> Noise | None:
    """Return the noise for a relative floor in the log: 0.02 for 2 %."""
    if not floor or floor <= 0 or not is_log:
        return None
    return Noise(math.log1p(floor) / (z_for(1) * math.sqrt(2)), NoiseFrom.LOG)


def discarded_noise(distances: Sequence[float], *, is_log: bool) -> Noise | None:
    """Return the noise that the distances of discarded tries to the kept code suggest.

    None for fewer than FEW_DISCARDED.
    """
    if len(distances) < FEW_DISCARDED:
        return None
    middle = statistics.median(distances)
    sigma = _MAD * statistics.median(abs(distance - middle) for distance in distances)
    return Noise(sigma, NoiseFrom.DISCARDED, len(distances) - 1, is_log) if sigma > 0 else None


def is_beyond(step: float, noise: Noise, tries: int, before: int = 1, after: int = 1) -> bool:
    """Return whether a step is larger than the noise.

    `before`, `after`: how often each side was measured.
    """
    return step > noise.quantile(tries) * noise.sigma * math.sqrt(1 / before + 1 / after)


def progress(tries: int, since: int | None, failed_in_a_row: int) -> LoopProgress | None:
    """Return whether the loop still improves; None if it is too early to say.

    `tries`: measured ones. `since`: those since the last improvement that is not known to be noise,
    None without any.
    """
    patience = max(LEAST_TRIES, tries / 3)
    if failed_in_a_row >= LEAST_TRIES or (since is None and tries >= patience):
        return LoopProgress.STUCK
    if since is None:
        return None
    return LoopProgress.PLATEAUING if since >= patience else LoopProgress.IMPROVING
