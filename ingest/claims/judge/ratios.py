"""From quantities to improvement factors. Above 1 is better, whatever the metric; a factor that would be infinite or zero is None."""

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
"""A factor beyond this is an error of the writer or the reader, no claim."""

_LEAST_TOLERANCE, _TOLERANCE, _MOST_TOLERANCE = 0.0076, 0.05, 0.03
_FACTOR_TOLERANCE = math.log(1.15)


def ratio_of(effect: Effect, metric: ClaimMetric) -> Range | None:
    """The lower and the upper end of the improvement factor. The pair decides where both pair and change are given."""
    if effect.before is not None and effect.after is not None:
        found = pair_ratio(effect.before, effect.after, metric)
        if found and effect.is_order_open and _is_backwards(found, effect.sense):
            return pair_ratio(effect.after, effect.before, metric)
        if found and effect.change and effect.sense is Sense.GAIN and found[1] < 1 and not (effect.before.unit or effect.after.unit):
            return pair_ratio(effect.after, effect.before, metric)  # `16x speedup (30 → 480)`: only the word says that more is better
        return found
    if effect.change is not None and effect.sense is not None:
        return change_ratio(effect.change, effect.sense, metric)
    return None


def _is_backwards(found: Range, sense: Sense | None) -> bool:
    """`46 ms against 1.5 ms`: writers compare to show a gain, unless a word says it is a loss."""
    return found[0] > 1 if sense is Sense.LOSS else found[1] < 1


def pair_ratio(before: Quantity, after: Quantity, metric: ClaimMetric) -> Range | None:
    """Before ÷ after, in the same unit; after ÷ before where more is better. A unit given once holds for both."""
    size_before, size_after = _sizes(before, after)
    worst, best = before.low * size_before, before.high * size_before
    least, most = after.low * size_after, after.high * size_after
    if metric in HIGHER_IS_BETTER:
        worst, best, least, most = least, most, worst, best
    return _plausible(worst / most, best / least) if worst > 0 and least > 0 else None


def _sizes(before: Quantity, after: Quantity) -> tuple[float, float]:
    size_before = before.unit.size if before.unit else None
    size_after = after.unit.size if after.unit else None
    return size_before or size_after or 1.0, size_after or size_before or 1.0


def change_ratio(change: Quantity, sense: Sense, metric: ClaimMetric) -> Range | None:
    """The factor that `N×` or `N %` with that sense means for the metric.

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
    if sense in (Sense.FALL, Sense.SHARE):
        return metric not in HIGHER_IS_BETTER
    if sense is Sense.RISE:
        return metric in HIGHER_IS_BETTER or metric is ClaimMetric.OTHER
    return sense is Sense.GAIN


def _factor(number: float, kind: Kind, is_good: bool, sense: Sense) -> float | None:
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
    return (low, high) if 1 / _LARGEST < low <= high < _LARGEST else None


def geometric_mean(ends: Range) -> float:
    """The geometric mean of a range."""
    return math.sqrt(ends[0] * ends[1]) if ends[0] != ends[1] else ends[0]


def agrees(pair: Effect, change: Quantity, tolerance: float = _FACTOR_TOLERANCE) -> bool:
    """Whether a factor or percentage can belong to the pair, in either direction and however it was rounded.

    `tolerance` is the logarithm of the largest ratio between two factors that agree.
    """
    assert pair.before
    assert pair.after
    found = pair_ratio(pair.before, pair.after, ClaimMetric.TIME)
    if found is None or change.low <= 0:
        return False
    factor = max(geometric_mean(found), 1 / geometric_mean(found))
    if change.kind is Kind.TIMES:
        stated = geometric_mean((change.low, change.high))
        return abs(math.log(factor / max(stated, 1 / stated))) <= tolerance
    return _is_share_of_factor(geometric_mean((change.low, change.high)) / 100, factor)


def _is_share_of_factor(share: float, factor: float) -> bool:
    """Whether the share was lost or gained by the factor; percentages are rounded."""
    return min(abs(share - (1 - 1 / factor)), abs(share - (factor - 1))) <= min(max(_LEAST_TOLERANCE, _TOLERANCE * share), _MOST_TOLERANCE)


def same_change(first: Quantity, second: Quantity) -> bool:
    """Whether a factor and a percentage say the same: `3x faster (67% less)`."""
    if first.kind is second.kind or min(first.low, second.low) <= 0:
        return False
    times, percent = (first, second) if first.kind is Kind.TIMES else (second, first)
    return _is_share_of_factor(geometric_mean((percent.low, percent.high)) / 100, geometric_mean((times.low, times.high)))
