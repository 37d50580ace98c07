"""Pairs from parallel lists, `from 2 s / 300 MB to 1 s / 80 MB`, or with two candidates, `from 9 s to 4 s on Linux and 3 s on macOS`."""

from __future__ import annotations

import math
import re
from itertools import pairwise

from ingest.claims.numbers.effect import Effect, TwoFigures
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.pairs.running_text import pair_by_words
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import DECORATION, HEDGE
from schemas.rows.claim import ClaimMetric

_MOST_TOGETHER = 4
"""The most figures of a list."""

_CHARACTERS_EACH = 90
"""The most characters per pair, on average."""

_LEFT_REACH = 60
"""Characters before the first figure in which words such as `from` are searched."""

_NO_CONJUNCTION = r"(?!(?:to|vs|from|now|was|against|versus|down|instead|compared|before|after|previously|then)\b)"
_CONJUNCTION = pattern(
    rf"(?:\s{_NO_CONJUNCTION}[\w-]+){{0,2}}\s*(?:/|,\sand\b|[,·+&]|\band\b|\bwith\b|\bat\b)\s*(?:{_NO_CONJUNCTION}[a-z-]+\s){{0,2}}{DECORATION}{HEDGE}",
    re.IGNORECASE,
)


def parallel_pairs(text: str, found: list[Quantity], index: int, floor: int) -> list[Effect]:
    """The pairs of two lists of equal length, figure by figure, if the first figures of both are a pair; else none.

    `from 2 s / 300 MB to 1 s / 80 MB` gives `2 s → 1 s` and `300 MB → 80 MB`. The first list begins with `found[index]`.
    """
    if not _may_repeat(found, index):
        return []
    joined = _length_of_list(text, found, index)
    if joined < 2 or _length_of_list(text, found, index + joined) < joined:
        return []
    baselines, candidates = found[index : index + joined], found[index + joined : index + 2 * joined]
    if not all(map(Quantity.has_metric_of, baselines, candidates)) or candidates[-1].start - baselines[0].end > joined * _CHARACTERS_EACH:
        return []
    left = text[max(floor, baselines[0].start - _LEFT_REACH) : baselines[0].start]
    whole = candidates[0]._replace(end=candidates[-1].end)  # the noun of the metric may be behind the list
    pair = pair_by_words(TwoFigures(text, baselines[0], whole, text[baselines[-1].end : candidates[0].start], left))
    if pair is None:
        return []
    is_in_order = pair.before is baselines[0]
    if _are_one_effect(baselines, candidates):
        return [pair._replace(end=candidates[-1].end, after=candidates[0] if is_in_order else baselines[0])]
    return [
        pair._replace(
            start=pair.start if is_first else one.start,
            end=other.end,
            before=one if is_in_order else other,
            after=other if is_in_order else one,
            labels=pair.labels if is_first else left,
        )
        for is_first, one, other in zip((True, *[False] * joined), baselines, candidates, strict=False)
    ]


_SAME = math.log(1.005)


def _are_one_effect(baselines: list[Quantity], candidates: list[Quantity]) -> bool:
    """Whether both lists are a time and its rate, `849 s / 1,177 rows/s → 774 s / 1,292 rows/s`: one effect in two units."""
    if [figure.metric for figure in baselines] != [ClaimMetric.TIME, ClaimMetric.THROUGHPUT]:
        return False
    times, rates = ((before.scaled()[0], after.scaled()[0]) for before, after in zip(baselines, candidates, strict=True))
    return min(*times, *rates) > 0 and abs(math.log(times[0] / times[1] * rates[0] / rates[1])) <= _SAME


def _may_repeat(found: list[Quantity], index: int) -> bool:
    """Whether the next two figures have comparable ones two to four quantities later, as `2 s / 300 MB` has in `1 s / 80 MB`.

    Cheaper to test than the words between them.
    """
    first, second = found[index], found[index + 1] if index + 1 < len(found) else None
    if first.unit is None or second is None or second.unit is None:
        return False
    further = found[index + 2 : index + 2 + _MOST_TOGETHER]
    return any(first.has_metric_of(one) and second.has_metric_of(other) for one, other in pairwise(further))


def _length_of_list(text: str, found: list[Quantity], index: int) -> int:
    """The number of figures in the list that begins with `found[index]`: 3 for `40 ms, 0.3 MB, and 900 allocations`."""
    last = min(len(found), index + _MOST_TOGETHER)
    ends = (at for at in range(index + 1, last) if not _CONJUNCTION.fullmatch(text, found[at - 1].end, found[at].start))
    return next(ends, last) - index


_ALSO = pattern(rf"\s+(?:on|at|with|for|in|under)\s[^.;,()\d]{{1,30}}(?:-?\d{{1,3}})?(?:,|,?\s+and)\s+(?:to\s+)?{DECORATION}{HEDGE}")
_AND_TO = pattern(
    rf"[*_`]*(?:\s?\([^()\n]{{1,30}}\)[*_`]*)?,?\s(?:and|then)(?:\sthen)?\s(?:down\s|up\s)?to\s+{DECORATION}{HEDGE}", re.IGNORECASE
)
"""`from 210 s to 105 s (50% faster), and to 88 s`"""

_APPLIED = pattern(r"[*_`]*\s+(?:on|at|with|for|in|under)\b")


def second_candidate_figure(text: str, quantity: Quantity, last: Effect | None) -> Effect | None:
    """`from 620 MB to 812 MB on two cores and 982 MB on eight`: a second candidate figure for the same baseline."""
    if last is None or not (last.before and last.after) or quantity.kind is not Kind.VALUE or not quantity.has_metric_of(last.after):
        return None
    if _AND_TO.fullmatch(text, last.end, quantity.start):
        return Effect(quantity.start, quantity.end, last.before, quantity)
    if last.change or not (_ALSO.fullmatch(text, last.end, quantity.start) and _APPLIED.match(text, quantity.end)):
        return None
    falls = last.after.scaled() < last.before.scaled()
    goes_as = (quantity.scaled() < last.before.scaled()) is falls
    return Effect(quantity.start, quantity.end, last.before, quantity) if goes_as else None
