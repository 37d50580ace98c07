"""Ratios of a group's figures to the baseline's: task by task, or the medians of all runs.

Pure: numbers in, numbers out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

RESAMPLES = 10_000
SEED = 1927
"""Fixed, so that the same runs give the same interval. In 1927 the first tachographs were sold."""

LEVEL = 0.95
FEWEST = 5
"""Fewest values for a median with an interval."""


class Sampled(NamedTuple):
    """The median of values and those of RESAMPLES resamples (none without a random generator)."""

    median: float
    resampled: Values


def medians(values: Values, chance: np.random.Generator | None) -> Sampled:
    """Return the medians of values and resamples by random ranks.

    The ranks are those of the middle of n uniform numbers.

    The ranks lie around the middle, so only that part is sorted, once.
    """
    size = values.size
    ranks = np.concatenate(
        [[(size - 1) // 2, size // 2], *(_ranks(size, chance) if chance else ())]
    )
    first, last = int(ranks.min()), int(ranks.max())
    ordered = np.partition(values, (first, last))
    ordered[first : last + 1].sort()
    found = ordered[ranks]
    resampled = found[2:].reshape(-1, RESAMPLES)
    return Sampled(float((found[0] + found[1]) / 2), resampled.sum(axis=0) / max(1, len(resampled)))


def _ranks(size: int, chance: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return the ranks of the middle value of RESAMPLES resamples.

    They are the ranks of both middle values if the size is even.
    """
    if size % 2:
        middle = (size + 1) / 2
        return [_places(chance.beta(middle, middle, RESAMPLES), size)]
    half = size / 2
    below = chance.beta(half, half + 1, RESAMPLES)
    above = below + (1 - below) * chance.beta(1, half, RESAMPLES)
    return [_places(below, size), _places(above, size)]


def _places(uniform: Values, size: int) -> NDArray[np.int64]:
    return np.minimum((uniform * size).astype(np.int64), size - 1)


class Verdict(StrEnum):
    """What can be said about a group against the baseline."""

    LOWER = "lower"
    HIGHER = "higher"
    UNCLEAR = "no clear difference"
    BOUNDS = "bounds only"
    TOO_FEW = "too few"
    UNSHARED = "no shared task"
    UNRECORDED = "not recorded"
    UNLIKE = "counted differently"
    NO_RATIO = "baseline is 0"


class Bounded(NamedTuple):
    """A recorded figure and its lower and upper bound."""

    value: float
    low: float
    high: float

    @property
    def sign(self) -> str:
        """≤ or ≥ if the figure is open on one side, ? if on both."""
        below, above = self.low < self.value * (1 - 1e-9), self.high > self.value * (1 + 1e-9)
        return "?" if below and above else "≤" if below else "≥" if above else ""


class Spans(NamedTuple):
    """The spans of many runs."""

    value: Values
    low: Values
    high: Values


@dataclass(frozen=True)
class Ratio:
    """One metric of a group ÷ that of the baseline.

    `value`: the median over tasks, or the ratio of medians of runs; `sign` is ≤ or ≥ for a bound
    and ? for an unknown ratio. `low` and `high`: its interval at LEVEL; with fewer than FEWEST
    values the least and the largest. `n`: tasks that both have, or runs of the group and of the
    baseline. `lower`, `higher`: tasks on which the group surely has less or more; `undecided`:
    bounds leave it open. `bounded`: tasks with a bound on either side. `tasks`: each task's ratio.
    """

    verdict: Verdict
    value: float = 0.0
    sign: str = ""
    low: float | None = None
    high: float | None = None
    n: tuple[int, ...] = ()
    lower: int = 0
    higher: int = 0
    undecided: int = 0
    bounded: int = 0
    tasks: Mapping[str, Bounded] | None = None

    @property
    def is_clear(self) -> bool:
        """Whether the direction is certain."""
        return self.verdict in (Verdict.LOWER, Verdict.HIGHER)


def paired(group: Mapping[str, Bounded], baseline: Mapping[str, Bounded]) -> Ratio:
    """Return the median of the tasks' ratios on a logarithmic scale, tasks ordered by name."""
    shared = sorted(group.keys() & baseline.keys())
    tasks = {
        task: _quotient(group[task], baseline[task]) for task in shared if baseline[task].value > 0
    }
    if not tasks:
        return Ratio(Verdict.NO_RATIO if shared else Verdict.UNSHARED)
    spans = list(tasks.values())
    with np.errstate(divide="ignore", invalid="ignore"):
        value, low, high = (np.log(np.array(one, np.float64)) for one in zip(*spans, strict=True))
        middles = Bounded(*(float(np.exp(medians(one, None).median)) for one in (value, low, high)))
        ends = (_resampled(low), _resampled(high)) if len(spans) >= FEWEST else None
        interval = (
            _interval(*map(np.exp, ends))
            if ends
            else (min(span.value for span in spans), max(span.value for span in spans))
        )
    return _judged(
        middles,
        interval,
        (len(spans),),
        lower=sum(span.high < 1 for span in spans),
        higher=sum(span.low > 1 for span in spans),
        undecided=sum(span.low < span.high and span.low <= 1 <= span.high for span in spans),
        bounded=sum(span.low < span.high for span in spans),
        tasks=tasks,
    )


def unpaired(group: Spans, baseline: Spans) -> Ratio:
    """Return the median of the group's runs ÷ that of the baseline's."""
    n = group.value.size, baseline.value.size
    if not min(n):
        return Ratio(Verdict.UNRECORDED, n=n)
    whole, of = (
        Bounded(*(medians(values, None).median for values in side)) for side in (group, baseline)
    )
    if of.value <= 0:
        return Ratio(Verdict.NO_RATIO, n=n)
    interval = None
    if min(n) >= FEWEST:
        with np.errstate(divide="ignore", invalid="ignore"):
            interval = _interval(
                *(
                    _resampled(one) / _resampled(two, SEED + 1)
                    for one, two in zip(group[1:], baseline[:0:-1], strict=True)
                )
            )
    return _judged(_quotient(whole, of), interval, n)


def sign_of(low: float, high: float) -> str:
    """Return ≤ or ≥ for a bound, ? for an unknown figure, "" for one that is exact or nearly so."""
    if low == high or (low > 0 and high < inf):
        return ""
    return "?" if low <= 0 and high == inf else "≤" if low <= 0 else "≥"


def _judged(
    middle: Bounded, interval: tuple[float, float] | None, n: tuple[int, ...], **counts: object
) -> Ratio:
    sign = sign_of(middle.low, middle.high)
    value = {"≤": middle.high, "≥": middle.low}.get(sign, middle.value)
    if sign:
        verdict, interval = Verdict.BOUNDS, None
    elif interval is None or min(n) < FEWEST:
        verdict = Verdict.TOO_FEW
    elif interval[0] <= 1 <= interval[1]:
        verdict = Verdict.UNCLEAR
    else:
        verdict = Verdict.LOWER if interval[1] < 1 else Verdict.HIGHER
    low, high = interval or (None, None)
    return Ratio(verdict, value, sign, low, high, n, **counts)  # type: ignore[arg-type]


def _quotient(one: Bounded, two: Bounded) -> Bounded:
    return Bounded(
        _ratio(one.value, two.value), _ratio(one.low, two.high), _ratio(one.high, two.low)
    )


def _ratio(one: float, two: float) -> float:
    return (1.0 if one == two else inf) if two == 0 else one / two


def _resampled(values: Values, seed: int = SEED) -> Values:
    return medians(values, np.random.default_rng(seed)).resampled


def _interval(lows: Values, highs: Values) -> tuple[float, float]:
    """Return the outer ends of the resamples; unknown values count as the worst case."""
    low = np.quantile(np.nan_to_num(lows, nan=0.0, posinf=inf), (1 - LEVEL) / 2, method="lower")
    high = np.quantile(np.nan_to_num(highs, nan=inf, posinf=inf), (1 + LEVEL) / 2, method="higher")
    return float(low), float(high)
