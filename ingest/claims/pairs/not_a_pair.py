"""Figures that words put side by side, and that are not the same thing before and after: something counted, wished for or aimed at."""

from __future__ import annotations

import re

from ingest.claims.numbers.pair_candidate import Candidate
from ingest.claims.pairs.tenses import TAGGED_AFTER, TAGGED_BEFORE
from ingest.claims.words.regex_parts import HEDGE
from schemas.rows.claim import ClaimMetric

_COUNTED_THINGS = re.compile(r"\s[a-z]{3,}s\b")
"""`10 seconds, instead of 10 iterations` are two things."""

_LABELLED_BEFORE = re.compile(r"\s*\((?:before|old|was)[:\s]\s*", re.IGNORECASE)
_LABELLED_AFTER = re.compile(r"\s*[,;/]\s*(?:after|new|now)\b", re.IGNORECASE)
"""`by 300 ms (before: 857, after: 538)`: the bracket has both figures."""

_NEVER_COUNTED = (ClaimMetric.TIME, ClaimMetric.MEMORY)
_OTHER_THINGS = re.compile(r"[\s-][a-z]{3,}")
"""`sharded to 6 runners, down from 52 minutes`, `the 521-page rows instead of 4 ms`: the first counts something."""

_WISHED = re.compile(r"\b(?:like|want|wish|prefer|need)(?:ed|s)? to\b[^.;]*$", re.IGNORECASE)
_OWNED = re.compile(rf"\b(?:have|has|had|(?:configured|shipped|equipped|come[s]?|ships?) with)\s+{HEDGE}$", re.IGNORECASE)
"""`runners have 64 GB of memory, compared to 32 GB`: nobody made it so."""

_MODEL = re.compile(r"\b(?:RTX|GTX|Ryzen|Xeon|Core|Radeon|Pi|M|iPhone|Pixel|EPYC|Threadripper)[ -]$")
"""`28 fps on the RTX 3060, down from 92 fps`"""

_COSTS = re.compile(r"\bcosts?\b\W*$", re.IGNORECASE)
_OF_ANOTHER = re.compile(r"\s(?:to|for)\s\w")
"""`the dominant cost (1 s vs 40 ms to tessellate)`: two parts of one thing."""

_AIMED_AT = re.compile(r"[*_`]*\s(?:caps?|ticks?|deadlines?|targets?|goals?|budgets?|limits?|requirements?|slos?)\b", re.IGNORECASE)
"""`30 FPS cap vs 60 FPS target`: neither was measured."""


def are_strangers(candidate: Candidate) -> bool:
    """Whether a word before, between or behind the figures says so."""
    return _count_things(candidate) or _are_tagged(candidate) or _are_aims(candidate)


def _count_things(candidate: Candidate) -> bool:
    text, first, second = candidate.text, candidate.first, candidate.second
    if second.unit is None and _COUNTED_THINGS.match(text, second.end):
        return True
    is_bare = first.unit is None and second.unit is not None
    if is_bare and (_MODEL.search(candidate.left) or (second.metric in _NEVER_COUNTED and _OTHER_THINGS.match(candidate.glue))):
        return True
    return bool(_COSTS.search(candidate.left) and _OF_ANOTHER.match(text, second.end))


def _are_tagged(candidate: Candidate) -> bool:
    """Whether each has a word of its own, by which another rule reads them."""
    text, end = candidate.text, candidate.second.end
    if TAGGED_BEFORE.fullmatch(candidate.glue) and TAGGED_AFTER.match(text, end):
        return True
    return bool(_LABELLED_BEFORE.fullmatch(candidate.glue) and _LABELLED_AFTER.match(text, end))


def _are_aims(candidate: Candidate) -> bool:
    if _WISHED.search(candidate.left) or (candidate.first.metric is ClaimMetric.MEMORY and _OWNED.search(candidate.left)):
        return True
    return bool(_AIMED_AT.match(candidate.text, candidate.second.end) or _AIMED_AT.match(candidate.glue))
