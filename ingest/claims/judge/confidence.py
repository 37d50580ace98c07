"""The confidence of a claim: the probability that a careful reader finds this claim, with this ratio, where it was read.

A logistic model over the features below. Its weights are in `confidence.toml`, fitted to labelled texts by
`python -m tests.labelled.fitting`; docs/claims-confidence.md is its model card.
"""

from __future__ import annotations

import math
import re
import tomllib
from bisect import bisect
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from ingest.claims.judge.metrics import SIGNED, is_title_of_speed
from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import Measure, MeasureSource
from ingest.claims.numbers.quantities import Kind, Quantity, is_round
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import ARROW, BARE_FACTOR, BULLETS, ESTIMATES, SETTINGS, Sense
from schemas.rows.claim import ClaimMetric, Direction, Evidence


class Candidate(NamedTuple):
    """A claim before it is judged: its effect, its measure, the words around it, and what follows from them."""

    effect: Effect
    measure: Measure
    nearby: Surroundings
    direction: Direction
    ratio: float | None
    evidence: Evidence
    others: int
    """How many other candidates of the text have a metric that the text states, and are no settings."""


class Feature(NamedTuple):
    """One property of a candidate, 0 or 1 unless its meaning says otherwise."""

    name: str
    meaning: str
    value: Callable[[Candidate], float]


def _is(name: str, meaning: str, test: Callable[[Candidate], object]) -> Feature:
    return Feature(name, meaning, lambda candidate: 1.0 if test(candidate) else 0.0)


# --- the words around a candidate

_SPEED = pattern(
    r"\b(?:faster|slower|quicker|speed(?:s|ing|up|ups)?|throughput|latenc(?:y|ies)|run-?time|took|takes|cycles|perf(?:ormance)?"
    r"|benchmark\w*|optimi[sz]\w*|tok(?:ens)?/s|ns/op|fps|rss|memory|alloc\w*|overhead|regress\w*|profil\w*|cold start|startup|p50|p9[059]"
    r"|wall[- ]clock)\b"
)
_SETTING, _ESTIMATE = pattern(SETTINGS), pattern(ESTIMATES)
_GOAL = pattern(
    r"\b(?:goals?|targets?|budgets?|limits?|must|should|sla|slo|at most|acceptance|allowed|require[sd]?|cap(?:ped)?|max(?:imum)?)\b"
)
_CHANGED = pattern(r"\b(?:increas|rais|bump|set|chang|adjust|tun|lower|reduc|extend|shorten|configur|updat|default)\w*\b")
_TRIED = pattern(r"\b(?:tests?|fixtures?|mock\w*|sample|example|e\.g\.|assert\w*|expect\w*|toy|dummy|demo)\b")
_PEOPLE = pattern(
    r"\b(?:users?|customers?|revenue|price|pricing|paid|discount|invoice|salary|score|accuracy|precision|recall|coverage|win|damage"
    r"|player|hp|lines?|files?|commits?|words?|manual(?:ly)?|developer|hours? of|effort|productiv\w*|animation|duration|volume|zoom|font"
    r"|px|opacity)\b"
)
_STEPS = pattern(r"\b(?:steps?|then|wait|phase|stage|retr(?:y|ies)|back-?off|schedule|every|each)\b")
_ITEM = pattern(rf"[ \t]*(?:[{BULLETS}]|\d+[.)])[ \t]")
_ARROW, _FENCE = pattern(ARROW), pattern("```")

_SECTION = 300
"""Characters around a candidate that count as its section."""

_MANY = 10
"""So many words of performance make a text one about speed."""

_MINUTE, _HOUR = 60.0, 3600.0


@lru_cache(maxsize=4)
def _lower(text: str) -> str:
    return text.lower()


@lru_cache(maxsize=4)
def _mentions_of_speed(text: str) -> int:
    """How many words of the text are about performance."""
    return sum(1 for _ in _SPEED.finditer(_lower(text)))


def _has_in_sentence(words: re.Pattern[str], candidate: Candidate) -> bool:
    nearby = candidate.nearby
    return any(map(words.search, (nearby.left, nearby.inside, nearby.right)))


def _section(candidate: Candidate) -> str:
    nearby, effect = candidate.nearby, candidate.effect
    return _lower(nearby.text)[max(0, effect.start - _SECTION) : effect.end + _SECTION]


def _line(candidate: Candidate) -> str:
    """The line of the candidate, or what of it is within 300 characters."""
    text, effect = candidate.nearby.text, candidate.effect
    low, high = max(0, effect.start - _SECTION), effect.end + _SECTION
    start, end = text.rfind("\n", low, effect.start), text.find("\n", effect.end, high)
    return text[start + 1 if start >= 0 else low : end if end >= 0 else high]


@lru_cache(maxsize=4)
def _fences(text: str) -> tuple[int, ...]:
    """The offsets of the fences of code blocks."""
    return tuple(fence.start() for fence in _FENCE.finditer(text))


def _is_in_code(candidate: Candidate) -> bool:
    """Whether the effect is inside backticks of its line, or in a fenced block."""
    text, start = candidate.nearby.text, candidate.effect.start
    line = text.rfind("\n", max(0, start - _SECTION), start) + 1 or max(0, start - _SECTION)
    return text.count("`", line, start) % 2 == 1 or bisect(_fences(text), start) % 2 == 1


def _is_about_speed(candidate: Candidate) -> bool:
    return is_title_of_speed(candidate.nearby) or _mentions_of_speed(candidate.nearby.text) >= _MANY


# --- its figures


def _figures(candidate: Candidate) -> list[Quantity]:
    return [figure for figure in (candidate.effect.before, candidate.effect.after) if figure]


def _are_round(candidate: Candidate) -> bool:
    figures = _figures(candidate)
    return bool(figures) and all(map(is_round, figures))


def _are_shares(candidate: Candidate) -> bool:
    figures = _figures(candidate)
    return bool(figures) and all(figure.unit is None and 0 <= figure.high <= 1 for figure in figures)


def _longest(candidate: Candidate) -> float:
    """The longest of its times in seconds; 0 for another metric and for bare numbers."""
    return max((figure.scaled()[1] for figure in _figures(candidate) if figure.metric is ClaimMetric.TIME), default=0.0)


def _is_hedged(candidate: Candidate) -> bool:
    change = candidate.effect.change
    return any(figure.hedged for figure in _figures(candidate)) or (change is not None and change.hedged)


def _logarithm(candidate: Candidate) -> float:
    return abs(math.log10(candidate.ratio)) if candidate.ratio else 0.0


# --- the features


def _is_percentage(candidate: Candidate) -> bool:
    change = candidate.effect.change
    return not candidate.effect.is_pair and change is not None and change.kind is Kind.PERCENT


_EXPRESSION = (
    _is("pair with a unit", "two figures, at least one with a unit: `36 ms → 12 ms`", lambda it: it.effect.unit),
    _is("pair without a unit", "two bare numbers: `36 → 12`", lambda it: it.effect.is_pair and not it.effect.unit),
    _is(
        "pair with a change",
        "figures with their factor or percentage: `36 → 12 ms (3x)`",
        lambda it: it.effect.is_pair and it.effect.change,
    ),
    _is("percentage alone", "`40% less`", _is_percentage),
    _is("saving alone", "`saves 12 ms`", lambda it: not it.effect.is_pair and not it.effect.change),
    _is("factor without a word", "`decode 1.03×`", lambda it: it.effect.word == BARE_FACTOR and not it.effect.is_pair),
    _is("sign without a word", "`−30%`", lambda it: it.effect.word in SIGNED and not it.effect.is_pair),
    _is("words alone", "`twice as fast`", lambda it: it.effect.is_idiom),
    _is("order open", "`46 ms vs 51 ms`: no word says which is the baseline", lambda it: it.effect.is_order_open),
    _is("gain", "the word of comparison means better or worse: `faster`", lambda it: it.effect.sense in (Sense.GAIN, Sense.LOSS)),
    _is("named reading", "labels of lines or header cells name the figures", lambda it: it.effect.labels),
    _is("table", "a row of a table", lambda it: it.nearby.is_table),
    _is("title", "in the first line of the text", lambda it: it.effect.start <= it.nearby.title.end),
    _is("list item", "on a line with a bullet", lambda it: _ITEM.match(_line(it))),
    _is("code", "inside backticks or a fenced block", _is_in_code),
    _is("several arrows", "two or more arrows on its line: steps of a procedure", lambda it: len(_ARROW.findall(_line(it))) > 1),
)


def _of_metric(metric: ClaimMetric) -> Feature:
    return _is(f"metric {metric}", f"the metric is {metric}", lambda it: it.measure.metric is metric)


def _of_source(source: MeasureSource) -> Feature:
    name = source.name.lower().replace("_", " ")
    return _is(f"metric by {name}", f"the metric follows from {source.value}", lambda it: it.measure.source is source)


_MEASURE = (
    *map(_of_metric, list(ClaimMetric)[1:]),
    *map(_of_source, list(MeasureSource)[1:]),
    _is(
        "metric by nothing, text about speed",
        "the title or ten words of the text are about speed",
        lambda it: _is_unnamed(it) and _is_about_speed(it),
    ),
    _is("setting", "a setting, limit or condition: `timeout 30s → 60s`", lambda it: it.measure.is_setting),
    _is("setting of round figures", "a setting, and numbers that people set", lambda it: it.measure.is_setting and _are_round(it)),
    _is("setting beside speed", "a setting, and a word of performance", lambda it: it.measure.is_setting and _has_in_sentence(_SPEED, it)),
)
"""Without any of them the metric is time, and follows from the unit of the figure."""


def _is_unnamed(candidate: Candidate) -> bool:
    return candidate.measure.source is MeasureSource.NOTHING


_WORDS = (
    _is("speed in the sentence", "a word of performance beside the figures", lambda it: _has_in_sentence(_SPEED, it)),
    _is("speed in the section", "one within 300 characters", lambda it: _SPEED.search(_section(it))),
    _is("speed in the heading", "one in the heading above", lambda it: _SPEED.search(it.nearby.list_heading())),
    _is("speed in the title", "a title about speed", lambda it: is_title_of_speed(it.nearby)),
    Feature(
        "speed in the text", "ln(1 + words of performance in the text), 20 at most", lambda it: _damped(_mentions_of_speed(it.nearby.text))
    ),
    _is("no speed in the text", "the text has no word of performance", lambda it: not _mentions_of_speed(it.nearby.text)),
    Feature("other claims", "ln(1 + other claims of the text whose metric is stated), 20 at most", lambda it: _damped(it.others)),
    _is("no other claim", "no other claim of the text has a stated metric", lambda it: not it.others),
    _is("setting in the sentence", "a word for a setting beside the figures", lambda it: _has_in_sentence(_SETTING, it)),
    _is("setting in the heading", "one in the heading above", lambda it: _SETTING.search(it.nearby.list_heading())),
    _is("setting in the title", "one in the title", lambda it: _SETTING.search(it.nearby.title.lower)),
    _is("goal in the sentence", "a goal, budget or limit", lambda it: _has_in_sentence(_GOAL, it)),
    _is("something set", "a verb of setting before the figures: `increased`, `set`", lambda it: _CHANGED.search(it.nearby.left)),
    _is("tests in the sentence", "tests, fixtures or examples", lambda it: _has_in_sentence(_TRIED, it)),
    _is("another quantity in the sentence", "people, money, scores, lines, games or looks", lambda it: _has_in_sentence(_PEOPLE, it)),
    _is("steps in the sentence", "steps, retries or schedules", lambda it: _has_in_sentence(_STEPS, it)),
    _is("estimate in the sentence", "a word of expectation beside the figures", lambda it: _has_in_sentence(_ESTIMATE, it)),
)


def _damped(count: int) -> float:
    return math.log1p(min(20, count))


_FIGURES = (
    _is("round figures", "numbers that people set: below 10, multiples of 5 or 12, powers of two", _are_round),
    _is("hours or days", "times of an hour or more", lambda it: _longest(it) >= _HOUR),
    _is("minutes", "times of a minute or more", lambda it: _MINUTE <= _longest(it) < _HOUR),
    _is("shares", "bare numbers between 0 and 1", _are_shares),
    _is("worse", "it became worse", lambda it: it.direction is Direction.WORSE),
    _is("same", "it stayed the same", lambda it: it.direction is Direction.SAME),
    Feature("size of the change", "logarithm to base 10 of the ratio, whatever its direction", _logarithm),
    _is("benchmarked", "the text says how the figures came about", lambda it: it.evidence is Evidence.BENCHMARKED),
    _is("estimated", "expected, projected, a target", lambda it: it.evidence is Evidence.ESTIMATED),
    _is("hedged", "about, up to, at least", _is_hedged),
)

FEATURES: tuple[Feature, ...] = (*_EXPRESSION, *_MEASURE, *_WORDS, *_FIGURES)
"""All features, in the order of the weights."""


class Model(NamedTuple):
    """The fitted weights: of no feature at all (`intercept`), and of each of FEATURES."""

    intercept: float
    weights: tuple[float, ...]


@cache
def model() -> Model:
    """The weights of `confidence.toml`; a feature that it does not name weighs nothing."""
    table = tomllib.loads(files(__package__).joinpath("confidence.toml").read_text(encoding="utf-8"))
    return Model(table["intercept"], tuple(table["weights"].get(feature.name, 0.0) for feature in FEATURES))


def confidence_of(candidate: Candidate) -> float:
    """The probability, from 0 to 1."""
    fitted = model()
    score = fitted.intercept + sum(
        weight * feature.value(candidate) for feature, weight in zip(FEATURES, fitted.weights, strict=True) if weight
    )
    return 1 / (1 + math.exp(-score))
