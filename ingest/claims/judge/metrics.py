"""Which performance quantity an effect is of, and whether it is of any."""

from __future__ import annotations

import re

from ingest.claims.judge.inferred_metric import of_title, unnamed
from ingest.claims.judge.metric_words import AFTERWARDS, NOUNS, PREFIX, SIGNED, last_noun, nearest_noun
from ingest.claims.judge.not_performance import is_a_setting, is_a_threshold
from ingest.claims.judge.ratios import agrees
from ingest.claims.judge.surroundings import Around
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind
from ingest.claims.words.change_words import BEGINS, GAMES, OTHER_SPEEDS, UNNAMED, Sense
from schemas.rows.claim import ClaimMetric

_BURDEN = re.compile(
    r"(?:disk|block|page) (?:reads|writes|hits|faults)|seeks|wake-?ups?|syscalls?|alloc\w*|interrupts?|context switches|faults|polls"
    r"|collections|misses|evictions"
)
"""What is done per second without being of use to anybody."""


def metric_of(effect: Effect, around: Around) -> ClaimMetric | None:
    """What changed; None where it is no performance quantity."""
    if is_a_setting(effect, around) if effect.before or effect.after else is_a_threshold(around):
        return None
    if effect.word == UNNAMED and not effect.is_pair:
        return of_title(around) if nearest_noun(effect, around) != "NONE" else None
    if effect.is_pair and _are_speedups(effect, around):
        return ClaimMetric.THROUGHPUT
    named = _unit_metric(effect)
    return _named(named, effect, around) if named else _by_nouns(effect, around)


def is_signed_alone(effect: Effect, around: Around) -> bool:
    """Whether it is a signed percentage of which no noun says of what it is."""
    is_bare = effect.word in SIGNED and effect.change is not None and not effect.is_pair and not around.is_table
    return is_bare and nearest_noun(effect, around) is None and not NOUNS.search(around.left[-_SUBJECT:])


def is_unnamed_change(effect: Effect, around: Around) -> bool:
    """Whether it is a reduction, or a row with a change that is that of its figures, of which no noun says of what it is."""
    if effect.change is None or is_a_setting(effect, around) or nearest_noun(effect, around) is not None:
        return False
    if around.is_table:
        return effect.is_pair and agrees(effect, effect.change)
    return effect.sense is Sense.FALL and effect.after is None


def _named(named: ClaimMetric, effect: Effect, around: Around) -> ClaimMetric | None:
    """The metric of figures whose unit tells it."""
    if named is ClaimMetric.OPERATIONS and _is_of_cycles(effect):
        return ClaimMetric.TIME
    if named is ClaimMetric.MEMORY:
        return _of_bytes(around)
    if named is ClaimMetric.THROUGHPUT and effect.before and effect.before.low == 0:  # what was not there before
        return None
    if named is ClaimMetric.THROUGHPUT and _BURDEN.search(around.left[-40:]):
        return ClaimMetric.OPERATIONS
    return named


_FASTER = re.compile(r"\b(?:faster|speed-?ups?)\b")


def _are_speedups(effect: Effect, around: Around) -> bool:
    """`1.28x faster → 1.38x faster`: of speedups, more is better."""
    assert effect.before
    return effect.before.kind is Kind.TIMES and bool(_FASTER.search(around.inside) or _FASTER.search(around.left[-40:]))


def _is_of_cycles(effect: Effect) -> bool:
    return any(figure.unit.name.lower().startswith("cyc") for figure in (effect.before, effect.after) if figure and figure.unit)


_OF_GAMES = re.compile(f"{BEGINS}(?:{GAMES})")


def _by_nouns(effect: Effect, around: Around) -> ClaimMetric | None:
    is_other = OTHER_SPEEDS.match(around.right) or (around.is_table and _SCORED.search(around.left)) or _OF_GAMES.search(around.left[-40:])
    nearest = "NONE" if is_other else nearest_noun(effect, around)
    is_load = effect.before is not None and effect.before.kind is Kind.PERCENT
    is_of_size = nearest != "SIZE" or not effect.is_pair or is_load or _OF_SIZE.search(around.left) or _OF_SIZE.search(around.right)
    if nearest == "NONE" or (not is_of_size and (not around.is_table or _COUNTED_ROW.search(around.left))):
        return None
    return ClaimMetric[nearest] if nearest else unnamed(effect, around)


def _unit_metric(effect: Effect) -> ClaimMetric | None:
    figures = (figure.metric for figure in (effect.before, effect.after) if figure)
    return next(filter(None, figures), None)


def _of_bytes(around: Around) -> ClaimMetric:
    """Bytes in memory or bytes of a file, by the nearest noun that tells."""
    for part in (around.right[:40], around.left[-100:], around.inside, around.title.lower):
        for match in NOUNS.finditer(part):
            if match.lastgroup in ("MEMORY", "SIZE"):
                return ClaimMetric[match.lastgroup]
            if match.lastgroup == "OPERATIONS" and "alloc" in match[0]:
                return ClaimMetric.MEMORY
    return ClaimMetric.MEMORY


_SCORED = re.compile(r"\| (?:\w+ )?(?:scores?|grade|rating) \|")
"""The head of a column of marks, whatever the row is called."""

_COUNTED_ROW = re.compile(r"\| (?:(?:number|count) of )?(?:\w+ )?(?:files|images|packages|chunks|logs|responses|downloads) \|")
_OF_SIZE = re.compile(r"\b(?:size|bytes?|[kmg]i?b|large|big|small)")
"""Without one of these words, bare numbers beside a file or an image are versions of it, or how many there are."""

_BETTER_IF_MORE = re.compile(r"\b(?:speeds?|performance|perf|efficiency|parallel scaling)\b")


_LOST = ("loss", "hit", "penalty", "regress", "degrad")
"""`20% throughput loss`: so much is gone, and not so much slower."""

_SUBJECT = 60
"""Characters before a verb in which its subject is looked for."""


def sense_of(effect: Effect, metric: ClaimMetric, around: Around) -> Sense | None:
    """What the change means: more time is worse, more speed and more performance, which are of time too, are better."""
    if metric is ClaimMetric.THROUGHPUT and effect.sense is Sense.LOSS and effect.word.startswith(_LOST) and not effect.is_pair:
        return Sense.FALL
    if metric is not ClaimMetric.TIME or effect.sense not in (Sense.RISE, Sense.FALL) or effect.is_pair:
        return effect.sense
    told = f"{around.inside} {around.right[:AFTERWARDS].partition('(')[0]}"
    if effect.word in SIGNED:
        nearest = NOUNS.match(around.right, 1) or last_noun(PREFIX.sub("", around.left)[-_SUBJECT:])
        told = nearest[0] if nearest else ""
    elif not any(match.lastgroup == "TIME" for match in NOUNS.finditer(told)):
        told = PREFIX.sub("", around.left)[-_SUBJECT:]
    if not _BETTER_IF_MORE.search(told):
        return effect.sense
    return Sense.GAIN if effect.sense is Sense.RISE else Sense.LOSS
