"""The fitted judge: the confidence of a claim, and its scope.

Both are weighted sums of the same features, properties of a claim that are 0 or 1 unless their name says otherwise. The weights are in
`weights.toml`, in log odds, written by `python -m tests.labelled.fitting`; docs/claims.md is their model card.
"""

from __future__ import annotations

import math
import tomllib
from bisect import bisect_left
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from ingest.claims.evidence import Around, lowered
from ingest.claims.judge import Measure, Range, geometric_mean, is_round
from ingest.claims.numbers import Effect, Kind
from ingest.claims.words import ARROW, BULLETS, SETTINGS, TAGS, Sense, pattern
from ingest.literals import LiteralSearch
from schemas.rows.claim import ClaimMetric, Direction, Evidence, Scope


class Candidate(NamedTuple):
    """A claim before it is judged. `ends` are the lower and upper end of the ratio, `others` the number of other candidates of the text."""

    effect: Effect
    measure: Measure
    near: Around
    ends: Range | None
    direction: Direction
    evidence: Evidence
    others: int


# --- the words around a claim, found in one search of the text


@cache
def _search() -> tuple[LiteralSearch, list[tuple[str, ...]]]:
    """Return the search for the words of all tags, and the tags of each word."""
    tags: dict[str, list[str]] = {}
    for tag, words in TAGS.items():
        for word in words:
            tags.setdefault(word, []).append(tag)
    return LiteralSearch([word.rstrip(".") for word in tags]), [tuple(names) for names in tags.values()]


@cache
def _whole_words() -> list[bool]:
    return [word.endswith(".") for word in dict.fromkeys(word for words in TAGS.values() for word in words)]


@lru_cache(maxsize=16)
def _tagged(lower: str) -> dict[str, list[int]]:
    """Return the offsets of the words of each tag in a text in lower case, in order."""
    search, tags = _search()
    is_whole = _whole_words()
    found: dict[str, list[int]] = {}
    for word, start, end in search.find(lower, overlapping=True):
        if (start and lower[start - 1].isalpha()) or (is_whole[word] and lower[end : end + 1].isalnum()):
            continue
        for tag in tags[word]:
            found.setdefault(tag, []).append(start)
    for offsets in found.values():
        offsets.sort()
    return found


class _Words:
    """Whether words of a tag are at places around a claim."""

    def __init__(self, candidate: Candidate) -> None:
        near, effect = candidate.near, candidate.effect
        text, self.start, self.end = near.text, effect.start, effect.end
        self.of_text = _tagged(lowered(text))
        self.of_heading = _tagged(near.heading())
        self.of_caption = _tagged(near.left) if near.is_table or effect.labels else None
        low, high = max(0, self.start - _SECTION), self.end + _SECTION
        line, line_end = text.rfind("\n", low, self.start), text.find("\n", self.end, high)
        self.spans = {
            "before": (self.start - min(len(near.left), 120), self.start),
            "inside": (self.start, self.end),
            "behind": (self.end, self.end + len(near.right)),
            "sentence": (self.start - len(near.left), self.end + len(near.right)),
            "beside": (self.start - min(len(near.left), 60), self.end + 25),
            "line": (line + 1 if line >= 0 else low, line_end if line_end >= 0 else high),
            "section": (low, high),
            "title": (0, near.title.end),
        }
        self.line = text[slice(*self.spans["line"])]

    def has(self, tag: str, place: str) -> bool:
        """Return whether a word of the tag is at the place; in a table the caption, row label and header cells are before it."""
        if place == "heading":
            return tag in self.of_heading
        if self.of_caption is not None and place in ("before", "sentence", "beside") and tag in self.of_caption:
            return True
        low, high = self.spans[place]
        offsets = self.of_text.get(tag, ())
        at = bisect_left(offsets, low)
        return at < len(offsets) and offsets[at] < high

    def count(self, tag: str) -> int:
        """Return how many words of the tag the text has, 20 at most."""
        return min(20, len(self.of_text.get(tag, ())))

    def nearest_scope(self) -> str | None:
        """Return the scope of the last word before the claim, else of the first one behind it, inside, or in the title."""
        places = {"before": max, "behind": min, "inside": min, "title": min}
        for place, best in places.items():
            words = self.of_caption if self.of_caption is not None and place == "before" else self.of_text
            low, high = (0, len(_NEVER)) if words is self.of_caption else self.spans[place]
            found = [(offset, scope) for scope in _SCOPES for offset in words.get(scope, ()) if low <= offset < high]
            if found:
                return best(found)[1]
        return None


_NEVER = range(1 << 30)
_SECTION = 300
"""Characters around a claim that are its section."""

_SCOPES = tuple(scope.value for scope in Scope if scope is not Scope.UNSPECIFIED)
_SETTING = pattern(SETTINGS)
_COMMAND = pattern(r"`[\w./-]+ [^`\n]{1,50}`")
_NAME = pattern(r"`[\w.:/]+(?:\(\))?`|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|\b\w+\(\)|\b[a-z]+_[a-z_]+\b|\b\w+\.\w+\.\w+\b")
"""A name of code: `parse_row`, `parseRow`, `ParseRow`, `parse()`."""

_ITEM = pattern(rf"[ \t]*(?:[{BULLETS}]|\d+[.)])[ \t]")
_ARROWS = pattern(ARROW)
_DURATIONS = (
    ("below 1 µs", 1e-6), ("1 µs to 1 ms", 1e-3), ("1 to 100 ms", 0.1), ("0.1 to 1 s", 1), ("1 to 5 s", 5), ("5 to 60 s", 60),
    ("1 min and more", math.inf),
)  # fmt: skip
_PLACES_OF_SCOPES = ("before", "behind", "inside", "title", "heading", "section")
_KINDS = ("piece of code", "part", "whole")
_PHRASES = ("page", "request", "suite", "training", "memory of the process")


def features_of(candidate: Candidate) -> dict[str, float]:
    """Return the features that a candidate has, by name; all others are 0."""
    words = _Words(candidate)
    return {name: float(value) for name, value in {**_of_claim(candidate, words), **_of_words(candidate, words)}.items() if value}


def _of_claim(candidate: Candidate, words: _Words) -> dict[str, float]:
    """Features of the expression and its figures."""
    effect, measure, near, ends, direction, evidence, others = candidate
    figures = [figure for figure in (effect.before, effect.after) if figure]
    is_alone = effect.change is not None and not effect.is_pair
    longest = max((figure.scaled()[1] for figure in figures if figure.metric is ClaimMetric.TIME), default=-1.0)
    before = effect.before.scaled()[1] if effect.before and effect.before.metric is ClaimMetric.TIME else None
    duration = next((name for name, high in _DURATIONS if before is not None and before < high), None)
    text, line = near.text, words.spans["line"][0]
    return {
        "pair with a unit": effect.unit is not None,
        "pair without a unit": effect.is_pair and effect.unit is None,
        "pair with a change": effect.is_pair and effect.change is not None,
        "percentage alone": is_alone and effect.change is not None and effect.change.kind is Kind.PERCENT,
        "saving alone": not effect.is_pair and effect.change is None,
        "sign without a word": is_alone and effect.word in ("+", "-", "−"),
        "words alone": effect.is_idiom,
        "order open": effect.is_order_open,
        "gain": effect.sense in (Sense.GAIN, Sense.LOSS),
        "named reading": bool(effect.labels),
        "table": near.is_table,
        "title": effect.start <= near.title.end,
        "list item": _ITEM.match(words.line) is not None,
        "code": text.count("`", line, effect.start) % 2 == 1 or text.count("```", 0, effect.start) % 2 == 1,
        "several arrows": len(_ARROWS.findall(words.line)) > 1,
        f"metric {measure.metric}": 1.0,
        f"metric by {measure.source}": 1.0,
        "ln(1 + other claims)": math.log1p(min(20, others)),
        "no other claim": not others,
        "round figures": bool(figures) and all(map(is_round, figures)),
        "hours or days": longest >= 3600,
        "minutes": 60 <= longest < 3600,
        "shares": bool(figures) and all(figure.unit is None and 0 <= figure.high <= 1 for figure in figures),
        "no time": before is None,
        f"time {duration}": duration is not None,
        "figures": effect.is_pair,
        "change": effect.change is not None,
        "worse": direction is Direction.WORSE,
        "same": direction is Direction.SAME,
        "decades of the change": abs(math.log10(geometric_mean(ends))) if ends else 0.0,
        "benchmarked": evidence is Evidence.BENCHMARKED,
        "estimated": evidence is Evidence.ESTIMATED,
        "hedged": any(figure.hedged for figure in (*figures, effect.change) if figure),
    }


def _of_words(candidate: Candidate, words: _Words) -> dict[str, float]:
    """Features of the words around the claim."""
    near, has = candidate.near, words.has
    settings = {"sentence": f"{near.left} {near.inside} {near.right}", "heading": near.heading(), "title": near.title.lower}
    found: dict[str, float] = {
        **{f"speed in the {place}": has("speed", place) for place in ("sentence", "section", "heading", "title")},
        "ln(1 + words of speed in the text)": math.log1p(words.count("speed")),
        "no speed in the text": not words.count("speed"),
        **{f"setting in the {place}": _SETTING.search(part) is not None for place, part in settings.items()},
        "something set": has("set", "before"),
        **{f"{tag} in the sentence": has(tag, "sentence") for tag in ("goal", "tests", "people", "steps")},
        "whole beside": has("whole beside", "beside"),
        "command": _COMMAND.search(near.raw_left[-60:]) is not None,
        "name before": _NAME.search(near.raw_left[-50:]) is not None,
        "name behind": _NAME.match(near.raw_right.lstrip(" *for")) is not None,
        "name in the line": _NAME.search(words.line) is not None,
        "name in the title": _NAME.search(near.title.raw) is not None,
        "micro-benchmark in the text": words.count("micro-benchmark") > 0,
        "micro-benchmark in the section": has("micro-benchmark", "section"),
        f"nearest word: {words.nearest_scope()}": 1.0,
        **{f"{scope} {place}": has(scope, place) for scope in _SCOPES for place in _PLACES_OF_SCOPES},
        **{f"{kind} in the {place}": has(kind, place) for kind in _KINDS for place in ("line", "title", "heading")},
        **{f"share of {kind} in the text": words.count(kind) / 20 for kind in _KINDS},
        **{f"beside: {phrase}": has(phrase, "beside") for phrase in _PHRASES},
    }
    return found


# --- the sums


@cache
def weights() -> dict[str, dict[str, float]]:
    """Return the weights by table, `confidence` and each scope; the weight without any feature is called `intercept`."""
    return tomllib.loads(files(__package__).joinpath("weights.toml").read_text(encoding="utf-8"))


def total(of: dict[str, float], features: dict[str, float]) -> float:
    """Return the weighted sum of features."""
    return of["intercept"] + sum(of[name] * value for name, value in features.items() if name in of)


def confidence_of(features: dict[str, float]) -> float:
    """Return the probability that a careful reader finds this claim, with this ratio, where it was read."""
    return 1 / (1 + math.exp(-total(weights()["confidence"], features)))


_OF_THE_CLAIM = frozenset(
    {"no time", "title", "figures", "change", "code", "worse", "benchmarked", "table", *(f"metric {metric}" for metric in ClaimMetric)}
)
"""Features that say nothing of what the claim is about."""


def scope_of(features: dict[str, float]) -> Scope:
    """Return the scope with the largest sum; unspecified if nothing but the claim itself is there: `3x faster`."""
    tables = weights()
    known = {name for scope in Scope for name in tables[scope.value]}
    if known & features.keys() <= _OF_THE_CLAIM:
        return Scope.UNSPECIFIED
    return max(Scope, key=lambda scope: total(tables[scope.value], features))
