"""Two effects told in parallel: `from 2 s / 300 MB to 1 s / 80 MB`, `from 9 s to 4 s on Linux and 3 s on macOS`."""

from __future__ import annotations

import re

from ingest.claims.candidate import Candidate
from ingest.claims.effect import Effect
from ingest.claims.glue import DECOR, HEDGE
from ingest.claims.pairs import related
from ingest.claims.quantities import Kind, Quantity

_TOGETHER = 4
"""Figures of two effects that are told at once."""

_LEFT = 60
"""Characters before the first figure that are read for the word that makes it a pair."""

_JOINS = re.compile(
    rf"(?:\s(?!(?:to|vs|from|now|was)\b)[\w-]+){{0,2}}\s*(?:/|[,·+&]|\band\b|\bwith\b|\bat\b)\s*(?:[a-z-]+\s){{0,2}}{DECOR}{HEDGE}",
    re.IGNORECASE,
)


def parallel(text: str, found: list[Quantity], index: int, floor: int) -> list[Effect]:
    """The third figure against the first and the fourth against the second, if words say so of the first and the third; else none."""
    four = found[index : index + _TOGETHER]
    if len(four) < _TOGETHER:
        return []
    first, second, third, fourth = four
    if not (first.measures_as(third) and second.measures_as(fourth)) or fourth.start - first.end > 3 * _LEFT:
        return []
    if not (_JOINS.fullmatch(text, first.end, second.start) and _JOINS.fullmatch(text, third.end, fourth.start)):
        return []
    left = text[max(floor, first.start - _LEFT) : first.start]
    pair = related(Candidate(text, first, third, text[second.end : third.start], left))
    if pair is None:
        return []
    other = Effect(second.start, fourth.end, second, fourth, heads=left)
    return [pair, other if pair.before is first else other._replace(before=fourth, after=second)]


_ALSO = re.compile(rf"\s+(?:on|at|with|for|in|under)\s[^.;,()\d]{{1,30}}(?:-?\d{{1,3}})?(?:,|,?\s+and)\s+(?:to\s+)?{DECOR}{HEDGE}")
_APPLIED = re.compile(r"[*_`]*\s+(?:on|at|with|for|in|under)\b")


def also_to(text: str, quantity: Quantity, last: Effect | None) -> Effect | None:
    """`from 620 MB to 812 MB on two cores and 982 MB on eight`: a second figure after, of the same figure before."""
    if last is None or not (last.before and last.after) or quantity.kind is not Kind.VALUE or not quantity.measures_as(last.after):
        return None
    if last.change or not (_ALSO.fullmatch(text, last.end, quantity.start) and _APPLIED.match(text, quantity.end)):
        return None
    falls = last.after.sized() < last.before.sized()
    goes_as = (quantity.sized() < last.before.sized()) is falls
    return Effect(quantity.start, quantity.end, last.before, quantity) if goes_as else None
