"""The confidence of a claim: the probability that a careful reader finds this claim, with this ratio, where it was read.

A logistic model over the features below. Its weights are in `confidence.toml`, fitted to labelled texts by
`python -m tests.labelled.fitting`; docs/claims-confidence.md is its model card.
"""

from __future__ import annotations

import math
from functools import cache

from ingest.claims.judge.features import (
    SPEED,
    Candidate,
    Feature,
    Weights,
    are_round,
    are_shares,
    damped,
    has_hedge,
    has_in_sentence,
    is_,
    is_about_speed,
    is_in_code,
    line,
    longest_time,
    mentions_of_speed,
    section,
    tables_of,
    weights_of,
)
from ingest.claims.judge.inferred_metrics import is_title_of_speed
from ingest.claims.judge.nouns import SIGNED
from ingest.claims.numbers.measure import MeasureSource
from ingest.claims.numbers.quantities import Kind
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import ARROW, BARE_FACTOR, BULLETS, ESTIMATES, SETTINGS, Sense
from schemas.rows.claim import ClaimMetric, Direction, Evidence

_SETTING, _ESTIMATE, _ARROW = pattern(SETTINGS), pattern(ESTIMATES), pattern(ARROW)
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
_MINUTE, _HOUR = 60.0, 3600.0


def _logarithm(candidate: Candidate) -> float:
    return abs(math.log10(candidate.ratio)) if candidate.ratio else 0.0


def _is_percentage(candidate: Candidate) -> bool:
    change = candidate.effect.change
    return not candidate.effect.is_pair and change is not None and change.kind is Kind.PERCENT


_EXPRESSION = (
    is_("pair with a unit", "two figures, at least one with a unit: `36 ms → 12 ms`", lambda it: it.effect.unit),
    is_("pair without a unit", "two bare numbers: `36 → 12`", lambda it: it.effect.is_pair and not it.effect.unit),
    is_(
        "pair with a change",
        "figures with their factor or percentage: `36 → 12 ms (3x)`",
        lambda it: it.effect.is_pair and it.effect.change,
    ),
    is_("percentage alone", "`40% less`", _is_percentage),
    is_("saving alone", "`saves 12 ms`", lambda it: not it.effect.is_pair and not it.effect.change),
    is_("factor without a word", "`decode 1.03×`", lambda it: it.effect.word == BARE_FACTOR and not it.effect.is_pair),
    is_("sign without a word", "`−30%`", lambda it: it.effect.word in SIGNED and not it.effect.is_pair),
    is_("words alone", "`twice as fast`", lambda it: it.effect.is_idiom),
    is_("order open", "`46 ms vs 51 ms`: no word says which is the baseline", lambda it: it.effect.is_order_open),
    is_("gain", "the word of comparison means better or worse: `faster`", lambda it: it.effect.sense in (Sense.GAIN, Sense.LOSS)),
    is_("named reading", "labels of lines or header cells name the figures", lambda it: it.effect.labels),
    is_("table", "a row of a table", lambda it: it.nearby.is_table),
    is_("title", "in the first line of the text", lambda it: it.effect.start <= it.nearby.title.end),
    is_("list item", "on a line with a bullet", lambda it: _ITEM.match(line(it))),
    is_("code", "inside backticks or a fenced block", is_in_code),
    is_("several arrows", "two or more arrows on its line: steps of a procedure", lambda it: len(_ARROW.findall(line(it))) > 1),
)


def _of_metric(metric: ClaimMetric) -> Feature:
    return is_(f"metric {metric}", f"the metric is {metric}", lambda it: it.measure.metric is metric)


def _of_source(source: MeasureSource) -> Feature:
    name = source.name.lower().replace("_", " ")
    return is_(f"metric by {name}", f"the metric follows from {source.value}", lambda it: it.measure.source is source)


_MEASURE = (
    *map(_of_metric, list(ClaimMetric)[1:]),
    *map(_of_source, list(MeasureSource)[1:]),
    is_(
        "metric by nothing, text about speed",
        "the title or ten words of the text are about speed",
        lambda it: _is_unnamed(it) and is_about_speed(it),
    ),
    is_("setting", "a setting, limit or condition: `timeout 30s → 60s`", lambda it: it.measure.is_setting),
    is_("setting of round figures", "a setting, and numbers that people set", lambda it: it.measure.is_setting and are_round(it)),
    is_("setting beside speed", "a setting, and a word of performance", lambda it: it.measure.is_setting and has_in_sentence(SPEED, it)),
)
"""Without any of them the metric is time, and follows from the unit of the figure."""


def _is_unnamed(candidate: Candidate) -> bool:
    return candidate.measure.source is MeasureSource.NOTHING


_WORDS = (
    is_("speed in the sentence", "a word of performance beside the figures", lambda it: has_in_sentence(SPEED, it)),
    is_("speed in the section", "one within 300 characters", lambda it: SPEED.search(section(it))),
    is_("speed in the heading", "one in the heading above", lambda it: SPEED.search(it.nearby.list_heading())),
    is_("speed in the title", "a title about speed", lambda it: is_title_of_speed(it.nearby)),
    Feature(
        "speed in the text", "ln(1 + words of performance in the text), 20 at most", lambda it: damped(mentions_of_speed(it.nearby.text))
    ),
    is_("no speed in the text", "the text has no word of performance", lambda it: not mentions_of_speed(it.nearby.text)),
    Feature("other claims", "ln(1 + other claims of the text whose metric is stated), 20 at most", lambda it: damped(it.others)),
    is_("no other claim", "no other claim of the text has a stated metric", lambda it: not it.others),
    is_("setting in the sentence", "a word for a setting beside the figures", lambda it: has_in_sentence(_SETTING, it)),
    is_("setting in the heading", "one in the heading above", lambda it: _SETTING.search(it.nearby.list_heading())),
    is_("setting in the title", "one in the title", lambda it: _SETTING.search(it.nearby.title.lower)),
    is_("goal in the sentence", "a goal, budget or limit", lambda it: has_in_sentence(_GOAL, it)),
    is_("something set", "a verb of setting before the figures: `increased`, `set`", lambda it: _CHANGED.search(it.nearby.left)),
    is_("tests in the sentence", "tests, fixtures or examples", lambda it: has_in_sentence(_TRIED, it)),
    is_("another quantity in the sentence", "people, money, scores, lines, games or looks", lambda it: has_in_sentence(_PEOPLE, it)),
    is_("steps in the sentence", "steps, retries or schedules", lambda it: has_in_sentence(_STEPS, it)),
    is_("estimate in the sentence", "a word of expectation beside the figures", lambda it: has_in_sentence(_ESTIMATE, it)),
)


_FIGURES = (
    is_("round figures", "numbers that people set: below 10, multiples of 5 or 12, powers of two", are_round),
    is_("hours or days", "times of an hour or more", lambda it: longest_time(it) >= _HOUR),
    is_("minutes", "times of a minute or more", lambda it: _MINUTE <= longest_time(it) < _HOUR),
    is_("shares", "bare numbers between 0 and 1", are_shares),
    is_("worse", "it became worse", lambda it: it.direction is Direction.WORSE),
    is_("same", "it stayed the same", lambda it: it.direction is Direction.SAME),
    Feature("size of the change", "logarithm to base 10 of the ratio, whatever its direction", _logarithm),
    is_("benchmarked", "the text says how the figures came about", lambda it: it.evidence is Evidence.BENCHMARKED),
    is_("estimated", "expected, projected, a target", lambda it: it.evidence is Evidence.ESTIMATED),
    is_("hedged", "about, up to, at least", has_hedge),
)

FEATURES: tuple[Feature, ...] = (*_EXPRESSION, *_MEASURE, *_WORDS, *_FIGURES)
"""All features, in the order of the weights."""


@cache
def _weights() -> Weights:
    return weights_of(tables_of("confidence.toml"), FEATURES)


def confidence_of(candidate: Candidate) -> float:
    """The probability, from 0 to 1."""
    return 1 / (1 + math.exp(-_weights().total(candidate)))
