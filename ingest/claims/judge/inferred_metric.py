"""What a change is of where no noun says it: its own word, the title, the lead of its list, or a text that is about speed."""

from __future__ import annotations

import re
from functools import lru_cache

from ingest.claims.judge.metric_words import AFTERWARDS, NOUNS
from ingest.claims.judge.surroundings import Around
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.words.change_words import Sense
from schemas.rows.claim import ClaimMetric

_BY_THEMSELVES = ((("small", "shr", "light", "lean"), ClaimMetric.SIZE), (("shorter", "longer"), ClaimMetric.TIME))
"""Comparisons that say of what they are where no noun does."""

_OF_FACTORS = (
    ("improvement", ClaimMetric.TIME),
    ("boost", ClaimMetric.TIME),
    ("gain", ClaimMetric.TIME),
    ("regress", ClaimMetric.TIME),
)
"""Comparisons that say it of a multiplier."""

_OF_MAKING_FAST = re.compile(
    r"\b(?:perf\b|performance|optimi[sz]|faster|speed[- ]?ups?\b|speed(?:s|ing)? up|accelerat|benchmark|throughput|latency|simd|avx|neon\b"
    r"|vectori[sz]|fus(?:e|ed|ion)\b)"
)
_MAKES_FAST = re.compile(r"\b(?:perf\b|optimi[sz]|faster|speed[- ]?ups?\b|speed(?:s|ing)? up|accelerat)")
_SPEED = frozenset({"TIME", "THROUGHPUT"})


def of_title(around: Around) -> ClaimMetric | None:
    """Time, if the title is of speed or of making something fast."""
    is_told = _OF_MAKING_FAST.search(around.title.lower) is not None
    return ClaimMetric.TIME if is_told or any(match.lastgroup in _SPEED for match in NOUNS.finditer(around.title.lower)) else None


def unnamed(effect: Effect, around: Around) -> ClaimMetric | None:
    """The metric of `40% better` in a text about speed; a pair of bare numbers is of nothing."""
    if effect.is_pair and effect.change is None:
        return None
    if effect.change is not None and effect.change.sign and not effect.word.startswith(_BETTERMENTS):
        return _of_speed(effect.change, around) or _of_lead(effect, around)
    if (metric := _by_word(effect)) is not None:
        return metric
    if effect.sense in (Sense.GAIN, Sense.LOSS) or effect.is_pair:
        found = NOUNS.search(around.title.lower)
        if found is None and (of_title(around) or (effect.word.startswith(_BETTERMENTS) and _speaks_of_speed(around.text))):
            return ClaimMetric.TIME
        return ClaimMetric[found.lastgroup] if found and found.lastgroup and found.lastgroup != "NONE" else None
    return None


_BETTERMENTS = ("improv", "boost", "gain", "optimi", "accel", "regress")
_OF_SPEED = re.compile(
    r"\b(?:faster|slower|speed(?:s|ing|up|ups)?|throughput|latency|run ?time|cycles|performance|tok/s|ns/op|simd|avx\w*|neon|prefill)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=2)
def _speaks_of_speed(text: str) -> bool:
    """Whether the text is about speed, wherever it says so: `AES improves by 35%` does not say what of it improves."""
    return _OF_SPEED.search(text) is not None


def _by_word(effect: Effect) -> ClaimMetric | None:
    """What the word of comparison is of, where it says so by itself."""
    for words, metric in _BY_THEMSELVES:
        if effect.word.startswith(words):
            return metric
    if effect.word.startswith("fewer"):
        return ClaimMetric.OPERATIONS
    if effect.change is not None and effect.change.kind is Kind.TIMES:
        return next((metric for word, metric in _OF_FACTORS if effect.word.startswith(word)), None)
    return None


_GENERATION = re.compile(r"(?<![a-z])(?:prefill|decod(?:e|ing)|generation|single-stream|pp ?\d+|tg ?\d+|inference|imgs?)\b")
_PERF = re.compile(r"\W*(?:\w+: )?perf\b")


def _of_speed(change: Quantity, around: Around) -> ClaimMetric | None:
    """The metric of a signed percentage of nothing that is named.

    More of what generates, or of what a title `perf: …` is about, is more speed; in that title less is less time.
    """
    if change.sign == "+":
        near = f"{around.title.lower if around.is_table else ''} {around.left} {around.right[:AFTERWARDS]}"
        told = (
            _GENERATION.search(near) or _PERF.match(around.title.lower) or (not around.is_table and _MAKES_FAST.search(around.title.lower))
        )
        return ClaimMetric.THROUGHPUT if told else None
    is_told = change.end <= around.title.end or _LABEL_ALONE.fullmatch(around.left)
    return ClaimMetric.TIME if is_told and _PERF.match(around.title.lower) else None


_GAINS = re.compile(r"\b(?:gains?|speed[- ]?ups?|improvements?|faster)\b")


def _of_lead(effect: Effect, around: Around) -> ClaimMetric | None:
    """The metric of `- Richards: +24%` below `Median gains:`, which says that more is better."""
    is_listed = effect.word == "+" and _LABEL_ALONE.fullmatch(around.left)
    return ClaimMetric.THROUGHPUT if is_listed and _GAINS.search(around.lead()) else None


_LABEL_ALONE = re.compile(r"[\s*_`-]*[\w`./()-]{1,40}(?: [\w`./()-]{1,40}){0,3}[*_`]*:[\s*_`]*")
"""`- parse: −42%`"""
