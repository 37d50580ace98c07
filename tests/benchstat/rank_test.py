"""The Mann–Whitney U test: whether one of two sets of runs tends to have larger values. It assumes nothing about how values are spread.

Source: H. B. Mann, D. R. Whitney 1947, "On a test of whether one of two random variables is stochastically larger than the other"; with
ties J. H. Klotz 1966, "The Wilcoxon, ties, and the computer". Limits as in benchstat (github.com/aclements/go-moremath, `stats/utest.go`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist

EXACT, EXACT_WITH_TIES = 50, 25
"""Most values of a set for which the distribution of U is counted out. With more, it is taken as normal."""


def p_value(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The two-sided p value. None where a set is empty, or all values are one."""
    values = Counter((*first, *second))
    if not first or not second or len(values) == 1:
        return None
    limit = EXACT if len(values) == len(first) + len(second) else EXACT_WITH_TIES
    if max(len(first), len(second)) <= limit:
        return _exact(first, second, values)
    return _normal(first, second, values)


def _exact(first: Sequence[float], second: Sequence[float], values: Counter[float]) -> float:
    """Twice the share of arrangements whose U is as far out as this one, on its side; 1 where U is in the middle."""
    doubled, middle = _doubled_u(first, values), len(first) * len(second)
    if doubled == middle:
        return 1.0
    outside = range(doubled + 1) if doubled < middle else range(doubled, 2 * middle + 1)
    arrangements = _arrangements(len(first), len(second), [values[value] for value in sorted(values)])
    return min(1.0, 2 * sum(arrangements[u] for u in outside) / math.comb(len(first) + len(second), len(first)))


def _doubled_u(first: Sequence[float], values: Counter[float]) -> int:
    """2U of the first set: twice the sum of its ranks, less what that is at least. Doubled, since tied values share the mean of ranks."""
    ranks, below = {}, 0
    for value in sorted(values):
        ranks[value] = 2 * below + values[value] + 1
        below += values[value]
    return sum(ranks[value] for value in first) - len(first) * (len(first) + 1)


def _arrangements(n1: int, n2: int, ties: Sequence[int]) -> Counter[int]:
    """2U -> in how many ways n1 of all values have it. `ties`: how often each value occurs, the smallest first.

    The number of ways for every 2U is in the bits of one whole number from 2U x `width` on, so that a shift adds the same to all of them.
    """
    width = math.comb(n1 + n2, n1).bit_length()
    ways, below = {0: 1}, 0
    for tied in ties:
        grown: dict[int, int] = {}
        for before, counts in ways.items():
            for taken in range(max(0, below + tied - before - n2), min(tied, n1 - before) + 1):
                gained = taken * (2 * (below - before) + tied - taken)
                grown[before + taken] = grown.get(before + taken, 0) + (math.comb(tied, taken) * counts << width * gained)
        ways, below = grown, below + tied
    ones = (1 << width) - 1
    return Counter({u: ways[n1] >> width * u & ones for u in range(2 * n1 * n2 + 1)})


def _normal(first: Sequence[float], second: Sequence[float], values: Counter[float]) -> float:
    """By the normal distribution, corrected for ties and for U being a whole number."""
    n1, n2 = len(first), len(second)
    n = n1 + n2
    tied = sum(count**3 - count for count in values.values())
    spread = math.sqrt(n1 * n2 * ((n + 1) - tied / (n * (n - 1))) / 12)
    distance = max(0.0, abs(_doubled_u(first, values) - n1 * n2) / 2 - 0.5)
    return 2 * NormalDist().cdf(-distance / spread)
