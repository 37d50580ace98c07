"""Improvement factors of pairs and changes: above 1 is better, whatever the metric; None where it would be infinite or zero."""

from __future__ import annotations

import math

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.words.vocabulary import Sense
from schemas.rows.claim import ClaimMetric

Range = tuple[float, float]

HIGHER_IS_BETTER = frozenset({ClaimMetric.THROUGHPUT})
"""Metrics for which more is better; for all others, less is better."""

_LARGEST = 1e12
"""A larger factor is an error of the writer or the extractor."""

_LEAST_TOLERANCE, _TOLERANCE, _MOST_TOLERANCE = 0.0076, 0.05, 0.03
_FACTOR_TOLERANCE = math.log(1.15)


def ratio_of(effect: Effect, metric: ClaimMetric) -> Range | None:
    """Lower and upper end of the improvement factor, from the pair if there is one, else from the change; None if it has none."""
    if effect.before is not None and effect.after is not None:
        found = pair_ratio(effect.before, effect.after, metric)
        if found and effect.change and effect.sense is Sense.GAIN and found[1] < 1 and not (effect.before.unit or effect.after.unit):
            return pair_ratio(effect.after, effect.before, metric)  # `16x speedup (30 → 480)`: only the word says that more is better
        return found
    if effect.change is not None and effect.sense is not None:
        return change_ratio(effect.change, effect.sense, metric)
    return None


def in_order(effect: Effect, metric: ClaimMetric) -> Effect:
    """The effect, with the figures of a pair in open order exchanged if they are the wrong way round.

    `46 ms against 1.5 ms` is a gain, of either order of the figures, unless a word says that it is a loss.
    """
    if not effect.is_order_open or effect.before is None or effect.after is None:
        return effect
    found = pair_ratio(effect.before, effect.after, metric)
    if found is None:
        return effect
    is_backwards = found[0] > 1 if effect.sense is Sense.LOSS else found[1] < 1
    return effect._replace(before=effect.after, after=effect.before) if is_backwards else effect


def pair_ratio(before: Quantity, after: Quantity, metric: ClaimMetric) -> Range | None:
    """Before ÷ after in the same unit, after ÷ before for a throughput; a unit given once applies to both. Lower and upper end."""
    size_before, size_after = _sizes(before, after)
    worst, best = before.low * size_before, before.high * size_before
    least, most = after.low * size_after, after.high * size_after
    if metric in HIGHER_IS_BETTER:
        worst, best, least, most = least, most, worst, best
    return _plausible(worst / most, best / least) if worst > 0 and least > 0 else None


def _sizes(before: Quantity, after: Quantity) -> tuple[float, float]:
    """The sizes of both units; a unit given once applies to both, and bare numbers have size 1."""
    size_before = before.unit.size if before.unit else None
    size_after = after.unit.size if after.unit else None
    return size_before or size_after or 1.0, size_after or size_before or 1.0


def change_ratio(change: Quantity, sense: Sense, metric: ClaimMetric) -> Range | None:
    """Lower and upper end of the improvement factor of `N×` or `N%` with that sense, for the metric.

    `N×`, `N-fold` and `N times faster` are N; `N% faster` and `N% more throughput` 1 + N/100; `N% less` 1 / (1 − N/100); `to N% of` 100/N;
    `N% slower` 1 / (1 + N/100).
    """
    ends = [
        factor
        for number in (change.low, change.high)
        if (factor := _factor(number, change.kind, _is_good(sense, metric), sense)) is not None
    ]
    return _plausible(min(ends), max(ends)) if len(ends) == 2 else None


def _is_good(sense: Sense, metric: ClaimMetric) -> bool:
    """Whether the change is an improvement for the metric."""
    if sense in (Sense.FALL, Sense.SHARE):
        return metric not in HIGHER_IS_BETTER
    if sense is Sense.RISE:
        return metric in HIGHER_IS_BETTER or metric is ClaimMetric.OTHER
    return sense is Sense.GAIN


def _factor(number: float, kind: Kind, is_good: bool, sense: Sense) -> float | None:
    """The improvement factor of one number; None where it would be infinite or zero: `100% less`."""
    if number <= 0:
        return None
    if kind is Kind.TIMES:
        return number if is_good or (number < 1 and sense is Sense.LOSS) else 1 / number  # `slower (0.8x)`
    share = number / 100
    if sense is Sense.SHARE:
        return 1 / share if is_good else share
    if sense is Sense.FALL:
        left = 1 - share
        return None if left <= 0 else (1 / left if is_good else left)
    return 1 + share if is_good else 1 / (1 + share)


def _plausible(low: float, high: float) -> Range | None:
    """The ends, if both are within bounds and in order."""
    return (low, high) if 1 / _LARGEST < low <= high < _LARGEST else None


def geometric_mean(ends: Range) -> float:
    """The geometric mean of the ends."""
    return math.sqrt(ends[0] * ends[1]) if ends[0] != ends[1] else ends[0]


def factor_of(pair: Effect) -> float | None:
    """The larger figure of a pair over the smaller one; None if one of them is zero."""
    assert pair.before
    assert pair.after
    found = pair_ratio(pair.before, pair.after, ClaimMetric.TIME)
    return max(geometric_mean(found), 1 / geometric_mean(found)) if found else None


def agrees(pair: Effect, change: Quantity, tolerance: float = _FACTOR_TOLERANCE) -> bool:
    """Whether a factor or percentage fits the ratio of the pair, in either direction and within rounding.

    `tolerance` is the logarithm of the largest ratio between two factors that agree.
    """
    factor = factor_of(pair)
    if factor is None or change.low <= 0:
        return False
    if change.kind is Kind.TIMES:
        stated = geometric_mean((change.low, change.high))
        return abs(math.log(factor / max(stated, 1 / stated))) <= tolerance
    return _is_share_of_factor(geometric_mean((change.low, change.high)) / 100, factor)


def _is_share_of_factor(share: float, factor: float) -> bool:
    """Whether a share is the loss (1 − 1/factor) or the gain (factor − 1) of the factor, within rounding."""
    return distance_of_share(share, factor) <= min(max(_LEAST_TOLERANCE, _TOLERANCE * share), _MOST_TOLERANCE)


def distance_of_share(share: float, factor: float) -> float:
    """How far a share is from the loss (1 − 1/factor) or the gain (factor − 1) of the factor, whichever is nearer."""
    return min(abs(share - (1 - 1 / factor)), abs(share - (factor - 1)))


def same_change(first: Quantity, second: Quantity) -> bool:
    """Whether a factor and a percentage state the same change: `3x faster (67% less)`."""
    if first.kind is second.kind or min(first.low, second.low) <= 0:
        return False
    times, percent = (first, second) if first.kind is Kind.TIMES else (second, first)
    return _is_share_of_factor(geometric_mean((percent.low, percent.high)) / 100, geometric_mean((times.low, times.high)))
