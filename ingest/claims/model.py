"""The fitted judge: the confidence of a claim, and its scope.

Both are weighted sums of the same features, properties of a claim that are 0 or 1 unless their name
says otherwise. The weights are in `weights.toml`, in log odds, written by `python -m
tests.labelled.fitting`; docs/claims.md is their model card.
"""

from __future__ import annotations

import math
import tomllib
from bisect import bisect_left
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from ingest.claims.evidence import Around, lowered, tagged
from ingest.claims.judge import SIGNS, Measure, Range, is_round
from ingest.claims.numbers import Effect
from ingest.claims.words import BULLETS, SETTINGS, TAGS, Sense
from ingest.literals import pattern
from schemas.claims import ClaimMetric, Direction, Evidence, Scope


class Candidate(NamedTuple):
    """A claim before the judgement.

    `ends` are the lower and upper end of the ratio, `others` the number of other candidates of the
    text.
    """

    effect: Effect
    measure: Measure
    near: Around
    ends: Range | None
    direction: Direction
    evidence: Evidence
    others: int


# --- the words around a claim


class _Words:
    def __init__(self, candidate: Candidate) -> None:
        near, effect = candidate.near, candidate.effect
        text, self.start, self.end = near.text, effect.start, effect.end
        self.of_text = tagged(lowered(text))
        self.of_heading = tagged(near.heading())
        self.of_caption = tagged(near.left) if near.is_table or effect.labels else None
        low, high = max(0, self.start - _SECTION), self.end + _SECTION
        line, line_end = text.rfind("\n", low, self.start), text.find("\n", self.end, high)
        self.spans = {
            "before": (self.start - min(len(near.left), 120), self.start),
            "inside": (self.start, self.end),
            "behind": (self.end, self.end + len(near.right)),
            "sentence": (self.start - len(near.left), self.end + len(near.right)),
            "beside": (self.start - min(len(near.left), 60), self.end + min(len(near.right), 25)),
            "line": (line + 1 if line >= 0 else low, line_end if line_end >= 0 else high),
            "section": (low, high),
            "title": (0, near.title.end),
        }
        self.line = text[slice(*self.spans["line"])]

    def has(self, tag: str, place: str) -> bool:
        """Return whether a word of the tag is at the place.

        In a table the caption, row label and header cells count as before it.
        """
        if place == "heading":
            return tag in self.of_heading
        if (
            self.of_caption is not None
            and place in ("before", "sentence", "beside")
            and tag in self.of_caption
        ):
            return True
        low, high = self.spans[place]
        offsets = self.of_text.get(tag, ())
        at = bisect_left(offsets, low)
        return at < len(offsets) and offsets[at] < high

    def count(self, tag: str) -> int:
        """Return how many words of the tag the text has, 20 at most."""
        return min(20, len(self.of_text.get(tag, ())))

    def nearest_scope(self) -> str | None:
        """Return the scope of the last word before the claim, else of the first word elsewhere.

        Elsewhere is behind it, inside it, or in the title.
        """
        if self.of_caption is None:
            low, high = self.spans["before"]
            last = {
                offsets[at - 1]: scope
                for scope in _SCOPES
                if (offsets := self.of_text.get(scope))
                and (at := bisect_left(offsets, high))
                and offsets[at - 1] >= low
            }
        else:
            last = {
                offsets[-1]: scope for scope in _SCOPES if (offsets := self.of_caption.get(scope))
            }
        if last:
            return last[max(last)]
        for place in ("behind", "inside", "title"):
            low, high = self.spans[place]
            first = {
                offsets[at]: scope
                for scope in _SCOPES
                if (offsets := self.of_text.get(scope))
                and (at := bisect_left(offsets, low)) < len(offsets)
                and offsets[at] < high
            }
            if first:
                return first[min(first)]
        return None


_SECTION = 300
"""Distance in characters that counts as the section of a claim."""

_SPANS = ("before", "inside", "behind", "sentence", "beside", "line", "section", "title", "heading")
_SCOPES = tuple(scope.value for scope in Scope if scope is not Scope.UNSPECIFIED)
_COMMAND = pattern(r"`[\w./-]+ [^`\n]{1,50}`")
_NAME = pattern(
    r"`[\w.:/]+(?:\(\))?`|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|\b\w+\(\)|\b[a-z]+_[a-z_]+\b|\b\w+\.\w+\.\w+\b"
)
"""A name in code: `parse_row`, `parseRow`, `ParseRow`, `parse()`."""

_CAPITAL_INSIDE = pattern(r"[A-Z](?<=[a-z][A-Z])")

_ITEM = pattern(rf"[ \t]*(?:[{BULLETS}]|\d+[.)])[ \t]")
_DURATIONS = (
    ("below 1 µs", 1e-6),
    ("1 µs to 1 ms", 1e-3),
    ("1 to 100 ms", 0.1),
    ("0.1 to 1 s", 1),
    ("1 to 5 s", 5),
    ("5 to 60 s", 60),
    ("1 min and more", math.inf),
)
_KINDS = ("piece of code", "part", "whole")


def features_of(candidate: Candidate) -> dict[str, float]:
    """Return the features that a candidate has, by name; all others are 0."""
    words = _Words(candidate)
    features = _of_claim(candidate, words)
    tags = words.of_text.keys() | words.of_heading.keys() | (words.of_caption or {}).keys()
    has = words.has
    for tag, places in _places():
        if tag in tags:
            for name, place in places:
                if has(tag, place):
                    features[name] = 1.0
    features.update(_of_words(candidate, words))
    return {name: value for name, value in features.items() if value}


def _of_claim(candidate: Candidate, words: _Words) -> dict[str, float]:
    """Return the features of the expression and its figures."""
    effect, measure, near, _, direction, evidence, others = candidate
    figures = [figure for figure in (effect.before, effect.after) if figure]
    is_alone = effect.change is not None and not effect.is_pair
    before = (
        effect.before.scaled()[1]
        if effect.before and effect.before.metric is ClaimMetric.TIME
        else None
    )
    duration = next(
        (name for name, high in _DURATIONS if before is not None and before < high), None
    )
    text, line = near.text, words.spans["line"][0]
    return {
        "pair with a unit": effect.unit is not None,
        "pair without a unit": effect.is_pair and effect.unit is None,
        "pair with a change": effect.is_pair and effect.change is not None,
        "saving alone": not effect.is_pair and effect.change is None,
        "sign without a word": is_alone and effect.word in SIGNS,
        "order open": effect.is_order_open,
        "gain": effect.sense in (Sense.GAIN, Sense.LOSS),
        "named reading": bool(effect.labels),
        "table": near.is_table,
        "title": effect.start <= near.title.end,
        "list item": _ITEM.match(words.line) is not None,
        "code": text.count("`", line, effect.start) % 2 == 1
        or text.count("```", 0, effect.start) % 2 == 1,
        f"metric {measure.metric}": 1.0,
        f"metric by {measure.source}": 1.0,
        "ln(1 + other claims)": math.log1p(min(20, others)),
        "no other claim": not others,
        "round figures": bool(figures) and all(map(is_round, figures)),
        "shares": bool(figures)
        and all(figure.unit is None and 0 <= figure.high <= 1 for figure in figures),
        f"time {duration}": duration is not None,
        "figures": effect.is_pair,
        "change": effect.change is not None,
        "worse": direction is Direction.WORSE,
        "same": direction is Direction.SAME,
        "benchmarked": evidence is Evidence.BENCHMARKED,
        "estimated": evidence is Evidence.ESTIMATED,
        "hedged": any(figure.hedged for figure in (*figures, effect.change) if figure),
    }


@cache
def _places() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return for each tag the features of its words at places that have a weight: name, place."""
    offered = [
        *(
            (f"{tag} in the {place}", tag, place)
            for tag in ("speed", "people", "micro-benchmark", *_KINDS)
            for place in _SPANS
        ),
        *((f"{scope} {place}", scope, place) for scope in _SCOPES for place in _SPANS),
        *((f"beside: {tag}", tag, "beside") for tag in TAGS),
    ]
    known = {name for table in weights().values() for name in table}
    return [
        (tag, [(name, place) for name, _, place in features if name in known])
        for tag, features in groupby(offered, key=itemgetter(1))
    ]


def _of_words(candidate: Candidate, words: _Words) -> dict[str, float]:
    """Return the features of the words around the claim."""
    near, title = candidate.near, candidate.near.title
    return {
        "ln(1 + words of speed in the text)": math.log1p(words.count("speed")),
        "setting in the sentence": words.has("setting", "sentence")
        and any(map(SETTINGS.search, (near.left, near.inside, near.right))),
        "setting in the title": words.has("setting", "title")
        and SETTINGS.search(title.lower) is not None,
        "command": "`" in near.raw_left and _COMMAND.search(near.raw_left[-60:]) is not None,
        "name before": _has_name(near.raw_left[-50:]),
        "name in the line": _has_name(words.line),
        "name in the title": _has_name(title.raw),
        "micro-benchmark in the text": words.count("micro-benchmark") > 0,
        f"nearest word: {words.nearest_scope()}": 1.0,
        **{f"share of {kind} in the text": words.count(kind) / 20 for kind in _KINDS},
    }


@lru_cache(maxsize=64)
def _has_name(part: str) -> bool:
    has_sign = (
        "`" in part
        or "_" in part
        or "()" in part
        or part.count(".") > 1
        or _CAPITAL_INSIDE.search(part) is not None
    )
    return has_sign and _NAME.search(part) is not None


# --- the sums


@cache
def weights() -> dict[str, dict[str, float]]:
    """Return the weights by table, `confidence` and each scope.

    The weight without any feature is called `intercept`.
    """
    return tomllib.loads(Path(__file__).with_name("weights.toml").read_text(encoding="utf-8"))


_TABLES = ("confidence", *Scope)
_OF_THE_CLAIM = frozenset({"title", "figures", "change", "code", "worse", "benchmarked", "table"})
"""Features that are independent of the claim's subject."""


@cache
def _by_feature() -> tuple[dict[str, list[tuple[int, float]]], frozenset[str]]:
    """Return the weights by feature, each with its table's index, and the features of scopes.

    Scopes say what a claim is about.
    """
    found: dict[str, list[tuple[int, float]]] = {}
    for index, table in enumerate(_TABLES):
        for name, weight in weights()[table].items():
            found.setdefault(name, []).append((index, weight))
    of_scopes = {
        name
        for name, of in found.items()
        if any(index for index, _ in of) and not name.startswith("metric ")
    }
    return found, frozenset(of_scopes - _OF_THE_CLAIM - {"intercept"})


def verdict(features: dict[str, float]) -> tuple[float, Scope]:
    """Return the confidence and the scope.

    The confidence is the probability that a careful reader finds this claim with this ratio where
    it was read.

    The scope is the one with the largest sum; unspecified if nothing but the claim itself is there:
    `3x faster`.
    """
    by_feature, of_the_subject = _by_feature()
    totals = [0.0] * len(_TABLES)
    for name, value in {"intercept": 1.0, **features}.items():
        for index, weight in by_feature.get(name, ()):
            totals[index] += weight * value
    scope = (
        Scope.UNSPECIFIED
        if of_the_subject.isdisjoint(features)
        else max(zip(totals[1:], Scope, strict=True), key=itemgetter(0))[1]
    )
    return 1 / (1 + math.exp(-totals[0])), scope
