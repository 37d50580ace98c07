"""The metric of an effect without a noun, `40% better`: by its sign, its word of comparison, the title, or the text."""

from __future__ import annotations

import re
from functools import lru_cache

from ingest.claims.judge.nouns import NO_PERFORMANCE, NOUN_REACH, NOUNS, last_noun, nearest_noun
from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import Measure, MeasureSource
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.numbers.units import unit
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import Sense
from ingest.claims.words.word_tables import words
from schemas.rows.claim import ClaimMetric

_METRIC_OF_COMPARISON = tuple(
    (tuple(words("comparisons", f"alone_{section}")), metric)
    for section, metric in (("size", ClaimMetric.SIZE), ("length", ClaimMetric.TIME), ("operations", ClaimMetric.OPERATIONS))
)
_FACTORS_OF_TIME = tuple(words("comparisons", "alone_factor"))
_BETTER = (*words("comparisons", "alone_better"), *words("verbs", "alone_better"))

_SPEED_TITLE = pattern(
    r"\b(?:perf\b|performance|optimi[sz]|faster|speed[- ]?ups?\b|speed(?:s|ing)? up|accelerat|benchmark|throughput|latency|simd|avx|neon\b"
    r"|vectori[sz]|fus(?:e|ed|ion)\b)"
)
_SPEED_CHANGE_TITLE = pattern(r"\b(?:perf\b|optimi[sz]|faster|speed[- ]?ups?\b|speed(?:s|ing)? up|accelerat)")
_SPEED_GROUPS = frozenset({"TIME", "THROUGHPUT"})


def by_title_of_speed(effect: Effect, nearby: Surroundings) -> Measure | None:
    """Time for a factor without a word of comparison, `decode 1.03×`, unless a noun says otherwise."""
    noun = nearest_noun(effect, nearby)
    if noun is not None and noun.group == NO_PERFORMANCE:
        return None
    return Measure(ClaimMetric.TIME, MeasureSource.TITLE if is_title_of_speed(nearby) else MeasureSource.NOTHING)


def is_title_of_speed(nearby: Surroundings) -> bool:
    """Whether the title is about speed, `perf: …`, or names time or throughput."""
    if _SPEED_TITLE.search(nearby.title.lower):
        return True
    return any(match.lastgroup in _SPEED_GROUPS for match in NOUNS.finditer(nearby.title.lower))


_FASTER_OR_SLOWER = pattern(r"\b(?:faster|slower)\b")
"""Right above a table: its bare numbers are times."""


def inferred(effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure of an effect without a noun, `40% better`: by sign, by word of comparison, by title, else the usual. None for figures."""
    if effect.is_pair and (of_list := _by_unit_of_list(effect, nearby) or _by_noun_of_list(effect, nearby)):
        return of_list
    if effect.is_pair and effect.change is None:
        is_state = effect.word and effect.before and effect.before.kind is Kind.TIMES and _speaks_of_speed(nearby.text)
        return Measure(ClaimMetric.TIME, MeasureSource.NOTHING, effect.unit) if is_state else None
    if effect.is_pair and nearby.is_table and _FASTER_OR_SLOWER.search(nearby.left.partition(" | ")[0]):
        return Measure(ClaimMetric.TIME, MeasureSource.CAPTION, effect.unit)
    if effect.change is not None and effect.change.sign and not effect.word.startswith(_BETTER):
        return _by_sign(effect.change, effect, nearby) or _usual(effect, nearby)
    if by_word := _metric_of_comparison(effect):
        return Measure(by_word, MeasureSource.COMPARISON, effect.unit)
    of_title = _metric_of_title(effect, nearby) if effect.sense in (Sense.GAIN, Sense.LOSS) or effect.is_pair else None
    return Measure(of_title, MeasureSource.TITLE, effect.unit) if of_title else _usual(effect, nearby)


_UNIT_OF_LIST = pattern(r"[(\[](?P<unit>[a-zµμ/]{1,10})[)\]]\W*$")


def _by_unit_of_list(effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure of bare figures with nothing but a label before them, below a heading with their unit: `Timing (ms):`."""
    if nearby.is_table or not _LABEL_ALONE.fullmatch(nearby.left) or (effect.before and effect.before.kind is not Kind.VALUE):
        return None
    found = _UNIT_OF_LIST.search(nearby.list_heading())
    named = unit(found["unit"]) if found else None
    return Measure(named.metric, MeasureSource.LIST_HEADING, named) if named else None


def _by_noun_of_list(effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure of bare figures on two labelled lines, `Before: 24K` and `After: 19K`, below a heading with their noun: `Bundle size`."""
    noun = last_noun(nearby.list_heading()) if "\n" in nearby.inside and not nearby.is_table else None
    if noun is None or noun.lastgroup in (None, NO_PERFORMANCE) or (effect.before and effect.before.kind is not Kind.VALUE):
        return None
    return Measure(ClaimMetric[str(noun.lastgroup)], MeasureSource.LIST_HEADING, effect.unit)


def _usual(effect: Effect, nearby: Surroundings) -> Measure | None:
    """Time, or throughput for more of something: what a change is mostly of. None for figures, and in a table, whose cells have names."""
    if effect.is_pair or effect.change is None or nearby.is_table:
        return None
    is_more = effect.sense is Sense.RISE or effect.change.sign == "+"
    return Measure(ClaimMetric.THROUGHPUT if is_more else ClaimMetric.TIME, MeasureSource.NOTHING)


def _metric_of_title(effect: Effect, nearby: Surroundings) -> ClaimMetric | None:
    """The metric of the first noun of the title; time without one, if the title or an improvement in the text is about speed."""
    noun = NOUNS.search(nearby.title.lower)
    if noun is None:
        is_of_speed = is_title_of_speed(nearby) or (effect.word.startswith(_BETTER) and _speaks_of_speed(nearby.text))
        return ClaimMetric.TIME if is_of_speed else None
    return ClaimMetric[noun.lastgroup] if noun.lastgroup and noun.lastgroup != NO_PERFORMANCE else None


_SPEED_TEXT = pattern(
    r"\b(?:faster|slower|speed(?:s|ing|up|ups)?|throughput|latency|run ?time|cycles|performance|tok/s|ns/op|simd|avx\w*|neon|prefill)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=2)
def _speaks_of_speed(text: str) -> bool:
    """Whether any word of the text is about speed: then `AES improves by 35%` is taken as speed."""
    return _SPEED_TEXT.search(text) is not None


def _metric_of_comparison(effect: Effect) -> ClaimMetric | None:
    """The metric implied by the word of comparison: size for `3x smaller`; None for words that imply none."""
    for comparisons, metric in _METRIC_OF_COMPARISON:
        if effect.word.startswith(comparisons):
            return metric
    is_factor = effect.change is not None and effect.change.kind is Kind.TIMES
    return ClaimMetric.TIME if is_factor and effect.word.startswith(_FACTORS_OF_TIME) else None


_GENERATION = pattern(r"(?<![a-z])(?:prefill|decod(?:e|ing)|generation|single-stream|pp ?\d+|tg ?\d+|inference|imgs?)\b")
_PERF = pattern(r"\W*(?:\w+: )?perf\b")
_GAINS = pattern(r"\b(?:gains?|speed[- ]?ups?|improvements?|faster)\b")
_REGRESSES = pattern(r"\)?(?:[^.;:\n]|\.(?=\d)){0,120}?\bregress(?:ions?|ed)\b")
"""`Q7 (+548%), Q12 (+410%) regressions`: times, of which more is worse."""

_LABEL_ALONE = pattern(r"[\s*_`-]*[\w`./()-]{1,40}(?: [\w`./()-]{1,40}){0,3}[*_`]*:[\s*_`]*")
"""`- parse: −42%`"""


def _by_sign(change: Quantity, effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure of a signed percentage without a noun.

    A plus beside generation (`decode +4%`), in a text titled `perf: …`, or in a list below `Median gains:` is throughput. A minus under
    that title is time.
    """
    is_label_alone = _LABEL_ALONE.fullmatch(nearby.left) is not None
    if change.sign == "+" and _REGRESSES.match(nearby.text, effect.end):
        return Measure(ClaimMetric.TIME, MeasureSource.COMPARISON, effect.unit)
    if change.sign == "+":
        near = f"{nearby.title.lower if nearby.is_table else ''} {nearby.left} {nearby.right[:NOUN_REACH]}"
        if _GENERATION.search(near):
            return Measure(ClaimMetric.THROUGHPUT, MeasureSource.NOUN, effect.unit)
        if _PERF.match(nearby.title.lower) or (not nearby.is_table and _SPEED_CHANGE_TITLE.search(nearby.title.lower)):
            return Measure(ClaimMetric.THROUGHPUT, MeasureSource.TITLE, effect.unit)
    elif (change.end <= nearby.title.end or is_label_alone) and _PERF.match(nearby.title.lower):
        return Measure(ClaimMetric.TIME, MeasureSource.TITLE, effect.unit)
    is_gain = effect.word == "+" and is_label_alone and _GAINS.search(nearby.list_heading())
    return Measure(ClaimMetric.THROUGHPUT, MeasureSource.LIST_HEADING, effect.unit) if is_gain else None
