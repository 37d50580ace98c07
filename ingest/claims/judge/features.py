"""What the fitted models of a claim look at: the candidate, and the words and figures around it.

A model is a weighted sum of features. `confidence` and `scope` each have a list of features and a table of weights beside it.
"""

from __future__ import annotations

import math
import re
import tomllib
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple

from ingest.claims.find.multi_search import WordSearch, whole_word
from ingest.claims.judge.inferred_metrics import is_title_of_speed
from ingest.claims.judge.ratios import Range, geometric_mean
from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import Measure
from ingest.claims.numbers.quantities import Quantity, is_round
from ingest.claims.patterns import pattern
from schemas.rows.claim import ClaimMetric, Direction, Evidence


class Candidate(NamedTuple):
    """A claim before it is judged: its effect, its measure, the words around it, and what follows from them."""

    effect: Effect
    measure: Measure
    nearby: Surroundings
    ends: Range | None
    """Lower and upper end of the ratio; the same for one number."""
    direction: Direction
    evidence: Evidence
    others: int
    """How many other candidates of the text have a metric that the text states, and are no settings."""

    @property
    def ratio(self) -> float | None:
        """The geometric mean of the ends; None without a ratio."""
        return geometric_mean(self.ends) if self.ends else None


class Feature(NamedTuple):
    """One property of a candidate, 0 or 1 unless its meaning says otherwise."""

    name: str
    meaning: str
    value: Callable[[Candidate], float]


def is_(name: str, meaning: str, test: Callable[[Candidate], object]) -> Feature:
    """A feature that is 1 where the test holds."""
    return Feature(name, meaning, lambda candidate: 1.0 if test(candidate) else 0.0)


# --- the words around a candidate

SPEED = whole_word(
    r"faster|slower|quicker|speed|speeds|speeding|speedups?|throughput|latency|latencies|run-?time|took|takes|cycles|perf(?:ormance)?"
    r"|benchmark\w*|optimis\w*|optimiz\w*|tok(?:ens)?/s|ns/op|fps|rss|memory|alloc\w*|overhead|regress\w*|profil\w*|cold start|startup"
    r"|p50|p9[059]|wall[- ]clock"
)
_FENCE = pattern("```")

_SECTION = 300
"""Characters around a candidate that count as its section."""

_MOST_WORDS = 20
"""More words of performance in a text say no more."""

_MANY = 10
"""So many words of performance make a text one about speed."""


@lru_cache(maxsize=4)
def lower(text: str) -> str:
    """The text in lower case; cached, since every candidate of a text asks."""
    return text.lower()


@lru_cache(maxsize=4)
def mentions_of_speed(text: str) -> int:
    """How many words of the text are about performance, 20 at most."""
    return sum(1 for _ in islice(SPEED.finditer(lower(text)), _MOST_WORDS))


def has_in_sentence(words: re.Pattern[str] | WordSearch, candidate: Candidate) -> bool:
    """Whether one of the words is in its sentence; in a table, in its caption, row label and header cells."""
    nearby = candidate.nearby
    return any(map(words.search, (nearby.left, nearby.inside, nearby.right)))


def section(candidate: Candidate) -> str:
    """The text around it, in lower case."""
    nearby, effect = candidate.nearby, candidate.effect
    return lower(nearby.text)[max(0, effect.start - _SECTION) : effect.end + _SECTION]


def line(candidate: Candidate) -> str:
    """The line of the candidate, or what of it is within 300 characters."""
    text, effect = candidate.nearby.text, candidate.effect
    low, high = max(0, effect.start - _SECTION), effect.end + _SECTION
    start, end = text.rfind("\n", low, effect.start), text.find("\n", effect.end, high)
    return text[start + 1 if start >= 0 else low : end if end >= 0 else high]


@lru_cache(maxsize=4)
def _fences(text: str) -> tuple[int, ...]:
    """The offsets of the fences of code blocks."""
    return tuple(fence.start() for fence in _FENCE.finditer(text))


def is_in_code(candidate: Candidate) -> bool:
    """Whether the effect is inside backticks of its line, or in a fenced block."""
    text, start = candidate.nearby.text, candidate.effect.start
    line = text.rfind("\n", max(0, start - _SECTION), start) + 1 or max(0, start - _SECTION)
    return text.count("`", line, start) % 2 == 1 or bisect(_fences(text), start) % 2 == 1


def is_about_speed(candidate: Candidate) -> bool:
    """Whether the title, or many words of the text, are about performance."""
    return is_title_of_speed(candidate.nearby) or mentions_of_speed(candidate.nearby.text) >= _MANY


# --- its figures


def figures(candidate: Candidate) -> list[Quantity]:
    """Its baseline and candidate figures, as far as there are any."""
    return [figure for figure in (candidate.effect.before, candidate.effect.after) if figure]


def are_round(candidate: Candidate) -> bool:
    """Whether all its figures are numbers that people set and seldom measure."""
    given = figures(candidate)
    return bool(given) and all(map(is_round, given))


def are_shares(candidate: Candidate) -> bool:
    """Whether its figures are bare numbers between 0 and 1."""
    given = figures(candidate)
    return bool(given) and all(figure.unit is None and 0 <= figure.high <= 1 for figure in given)


def longest_time(candidate: Candidate) -> float:
    """The longest of its times in seconds; 0 for another metric and for bare numbers."""
    return max((figure.scaled()[1] for figure in figures(candidate) if figure.metric is ClaimMetric.TIME), default=0.0)


def has_hedge(candidate: Candidate) -> bool:
    """Whether a hedge is part of one of its numbers: `~3x`."""
    change = candidate.effect.change
    return any(figure.hedged for figure in figures(candidate)) or (change is not None and change.hedged)


def damped(count: int) -> float:
    """ln(1 + count), of 20 at most."""
    return math.log1p(min(20, count))


class Weights(NamedTuple):
    """A fitted sum: of no feature at all (`intercept`), and of the features that weigh anything."""

    intercept: float
    of_features: tuple[tuple[Feature, float], ...]

    def total(self, candidate: Candidate) -> float:
        """The sum for a candidate, in log odds."""
        return self.intercept + sum(weight * feature.value(candidate) for feature, weight in self.of_features)

    def total_of(self, values: Mapping[str, float]) -> float:
        """The sum for known values of features, by name; 0 for those that are not there."""
        return self.intercept + sum(weight * values[feature.name] for feature, weight in self.of_features if feature.name in values)


def weights_of(table: Mapping[str, Any], features: Sequence[Feature]) -> Weights:
    """The weights of a table as `tests.labelled.fitting` writes it; names of no feature, as of an older table, are passed over."""
    weights = table["weights"]
    return Weights(table["intercept"], tuple((feature, weights[feature.name]) for feature in features if feature.name in weights))


def tables_of(file: str) -> dict[str, Any]:
    """A file of weights beside this module."""
    return tomllib.loads(files(__package__).joinpath(file).read_text(encoding="utf-8"))
