"""Two effects told in parallel: `from 2 s / 300 MB to 1 s / 80 MB`, `from 9 s to 4 s on Linux and 3 s on macOS`."""

from __future__ import annotations

import re
from itertools import pairwise

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.pair_candidate import Candidate
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.pairs.pairs import related
from ingest.claims.words.regex_parts import DECOR, HEDGE

_TOGETHER = 4
"""Effects that are told at once, at most."""

_WIDE = 90
"""Characters that an effect told so may have, on the average."""

_LEFT = 60
"""Characters before the first figure that are read for the word that makes it a pair."""

_NO_JOINT = r"(?!(?:to|vs|from|now|was|against|versus|down|instead|compared|before|after|previously|then)\b)"
_JOINS = re.compile(
    rf"(?:\s{_NO_JOINT}[\w-]+){{0,2}}\s*(?:/|,\sand\b|[,·+&]|\band\b|\bwith\b|\bat\b)\s*(?:{_NO_JOINT}[a-z-]+\s){{0,2}}{DECOR}{HEDGE}",
    re.IGNORECASE,
)


def parallel(text: str, found: list[Quantity], index: int, floor: int) -> list[Effect]:
    """Each figure of a list against the like one of the list that follows, if words say so of the first of both; else none."""
    if not _may_repeat(found, index):
        return []
    joined = _joined(text, found, index)
    if joined < 2 or _joined(text, found, index + joined) < joined:
        return []
    former, latter = found[index : index + joined], found[index + joined : index + 2 * joined]
    if not all(map(Quantity.measures_as, former, latter)) or latter[-1].start - former[0].end > joined * _WIDE:
        return []
    left = text[max(floor, former[0].start - _LEFT) : former[0].start]
    whole = latter[0]._replace(end=latter[-1].end)  # what stands behind the list says what it is of
    pair = related(Candidate(text, former[0], whole, text[former[-1].end : latter[0].start], left))
    if pair is None:
        return []
    is_in_order = pair.before is former[0]
    return [
        pair._replace(
            start=pair.start if is_first else one.start,
            end=other.end,
            before=one if is_in_order else other,
            after=other if is_in_order else one,
            heads=pair.heads if is_first else left,
        )
        for is_first, one, other in zip((True, *[False] * joined), former, latter, strict=False)
    ]


def _may_repeat(found: list[Quantity], index: int) -> bool:
    """Whether two figures have their likes two, three or four further on, which is cheaper to see than what joins them."""
    first, second = found[index], found[index + 1] if index + 1 < len(found) else None
    if first.unit is None or second is None or second.unit is None:
        return False
    further = found[index + 2 : index + 2 + _TOGETHER]
    return any(first.measures_as(one) and second.measures_as(other) for one, other in pairwise(further))


def _joined(text: str, found: list[Quantity], index: int) -> int:
    """How many figures from that one on are a list of figures of different things: `40 ms, 0.3 MB, and 900 allocations`."""
    last = min(len(found), index + _TOGETHER)
    ends = (at for at in range(index + 1, last) if not _JOINS.fullmatch(text, found[at - 1].end, found[at].start))
    return next(ends, last) - index


_ALSO = re.compile(rf"\s+(?:on|at|with|for|in|under)\s[^.;,()\d]{{1,30}}(?:-?\d{{1,3}})?(?:,|,?\s+and)\s+(?:to\s+)?{DECOR}{HEDGE}")
_AND_TO = re.compile(
    rf"[*_`]*(?:\s?\([^()\n]{{1,30}}\)[*_`]*)?,?\s(?:and|then)(?:\sthen)?\s(?:down\s|up\s)?to\s+{DECOR}{HEDGE}", re.IGNORECASE
)
"""`from 210 s to 105 s (50% faster), and to 88 s`"""

_APPLIED = re.compile(r"[*_`]*\s+(?:on|at|with|for|in|under)\b")


def also_to(text: str, quantity: Quantity, last: Effect | None) -> Effect | None:
    """`from 620 MB to 812 MB on two cores and 982 MB on eight`: a second figure after, of the same figure before."""
    if last is None or not (last.before and last.after) or quantity.kind is not Kind.VALUE or not quantity.measures_as(last.after):
        return None
    if _AND_TO.fullmatch(text, last.end, quantity.start):
        return Effect(quantity.start, quantity.end, last.before, quantity)
    if last.change or not (_ALSO.fullmatch(text, last.end, quantity.start) and _APPLIED.match(text, quantity.end)):
        return None
    falls = last.after.sized() < last.before.sized()
    goes_as = (quantity.sized() < last.before.sized()) is falls
    return Effect(quantity.start, quantity.end, last.before, quantity) if goes_as else None
