"""Two figures, before and after: `2822 → 2172 ms`, `from 85 s to 25 s`, `12 ms (was 36 ms)`, `took 20 s, now 5 s`."""

from __future__ import annotations

import re
from collections.abc import Callable

from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.pair_candidate import Candidate
from ingest.claims.numbers.quantities import CLOCK, Kind, Quantity, quantities
from ingest.claims.numbers.units import SCALES, unit
from ingest.claims.pairs.arrows import LEADS, by_arrow
from ingest.claims.pairs.parenthetical_figures import REMARKED, step_to_other
from ingest.claims.pairs.tagged_figures import by_tags
from ingest.claims.pairs.tenses import by_contrast, by_tense, former_told_first, things_from
from ingest.claims.pairs.was_and_instead import latter_first
from ingest.claims.tables.aligned_columns import columns
from ingest.claims.words.change_words import COMPARISONS, VERBS, Sense
from ingest.claims.words.regex_parts import DECOR, HEDGE, SENTENCE, by_sense, sense_in
from schemas.rows.claim import ClaimMetric

_REACH = 90
"""Characters that may stand between the two figures of a pair."""

_LINKED = 200
_LINK = re.compile(r"\]\(https?://[^()\s]{1,190}\)")
"""Where a link leads, which is read over: so many characters more may stand between the figures."""

_LEFT = 60
"""Characters before a pair that are read for the word that makes it one."""

_LINKS = 2
"""Figures that a chain may have beyond the first two."""


def pair_from(text: str, found: list[Quantity], index: int, floor: int) -> tuple[Effect | None, int]:
    """The pair that begins with that quantity, if one does, and how many quantities were used up. Nothing before `floor` is read."""
    if row := columns(text, found, index):
        return row, sum(quantity.end <= row.end for quantity in found[index : index + 6])
    if _is_of_shares(text, found, index):
        return None, 2
    step = step_to_other(text, found[index : index + 1 + REMARKED])
    if index + step < len(found) and (effect := pair(text, found[index], found[index + step], floor)):
        return _whole_chain(text, found, index + step + 1, effect, step + 1)
    return None, 1


_LOAD = re.compile(
    r"\b(?:ram|memory|heap|flash)(?:[ -](?:usage|use|load|consumption|footprint))?\b"
    r"[:*_`\s]*(?:(?:reduced|dropped|drops|fell|falls|went|goes|decreased|decreases|cut|down|is|now)\s)?(?:by\s)?(?:from\s)?[~*_`]*$",
    re.IGNORECASE,
)
"""What takes so many percent of a machine."""


def _is_of_shares(text: str, found: list[Quantity], index: int) -> bool:
    """`overhead: 5% → 1%`: neither is a change."""
    first, second = found[index], found[index + 1] if index + 1 < len(found) else found[index]
    is_short = first.kind is second.kind is Kind.PERCENT and 0 < second.start - first.end <= 12 and not second.sign
    is_short = is_short and not _LOAD.search(text, max(0, first.start - _LEFT), first.start)
    return is_short and bool(LEADS.fullmatch(text, first.end, second.start))


def pair(text: str, first: Quantity, second: Quantity, floor: int) -> Effect | None:
    """The pair that two neighbouring quantities make, if what stands between them says so."""
    glue = text[first.end : second.start] if 0 < second.start - first.end <= _REACH + _LINKED else ""
    glue = _LINK.sub("]", glue) if len(glue) > _REACH else glue
    first = in_bytes(text, first, second)
    second = in_bytes(text, second, first)
    first = in_bytes(text, first, second)
    if not 0 < len(glue) <= _REACH or not _alike(first, second):
        return None
    return related(Candidate(text, first, second, glue, text[max(floor, first.start - _LEFT) : first.start]))


_OF_MEMORY = re.compile(r"[*_`]*\s(?:of\s)?(?:heap|rss|ram|v?ram|memory|resident)\b", re.IGNORECASE)


def in_bytes(text: str, figure: Quantity, other: Quantity) -> Quantity:
    """The figure with bytes as its unit, if it has but a suffix and the other is of bytes: the 50M of `28 GB → 50M`."""
    is_scaled = figure.unit is None and figure.kind is Kind.VALUE and text[figure.end - 1] in SCALES
    is_of_bytes = is_scaled and (other.metric is ClaimMetric.MEMORY or _OF_MEMORY.match(text, figure.end))
    return figure._replace(unit=unit("bytes")) if is_of_bytes else figure


def related(candidate: Candidate) -> Effect | None:
    """The pair of two figures that can be one, if a rule says so."""
    first, second = candidate.first, candidate.second
    if first.unit is second.unit is CLOCK and not _TIMED.search(candidate.left):
        return None
    if _OF_FACTOR.search(candidate.left):  # by a factor of 2 to 3
        return None
    is_rate = first.kind is Kind.PERCENT and not _LOAD.search(candidate.left)  # 62% → 95% is a rate, and no rate is performance
    is_pair = first.kind is second.kind and not is_rate
    return _between(candidate) or (next((effect for rule in _RULES if (effect := rule(candidate))), None) if is_pair else None)


def _alike(first: Quantity, second: Quantity) -> bool:
    """Whether two quantities can be the same thing before and after: kinds agree, and units where both have one."""
    if (first.unit is CLOCK or second.unit is CLOCK) and not (first.unit and second.unit):
        return False
    if first.kind is not second.kind:
        return first.kind is Kind.VALUE and first.unit is None and second.kind is not Kind.VALUE  # between 2 and 5 times
    return first.unit is None or second.unit is None or first.unit.metric is second.unit.metric


_TIMED = re.compile(
    r"(?<![a-z_])(?:suites?|tests?|builds?|ci|runs?|runtime|jobs?|pipelines?|workflows?|compil\w+|imports?|durations?|elapsed|took|takes"
    r"|(?:load|execution|processing|response|sync) times?)\b",
    re.IGNORECASE,
)
"""What takes so many minutes and seconds, and does not happen at that time of day."""

_FROM = re.compile(
    rf"\b(?:from|of|von|de|desde)\s+(?:taking\s+|needing\s+|using\s+|an?\s(?:[\w-]+\s){{1,3}}of\s+)?{DECOR}{HEDGE}{DECOR}$|[从由]\s*$",
    re.IGNORECASE,
)
_TO = re.compile(
    rf"{SENTENCE}{{0,60}}?(?:\b(?:down\s+|up\s+)?(?:to|into|auf|à|a|para)\s+(?:taking\s+|needing\s+|using\s+)?|降到|降至|降低到|减少到|增至|升至|减至|降为|到){DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)


def _from_to(candidate: Candidate) -> Effect | None:
    if not _TO.fullmatch(candidate.glue) or not (start := _FROM.search(candidate.left)):
        return None
    return candidate.whole._replace(start=candidate.first.start - len(candidate.left) + start.start())


_STARTING = re.compile(rf"\b(?:starting|started|went|going) (?:from|at)\s+{DECOR}{HEDGE}{DECOR}$", re.IGNORECASE)
_ACHIEVED = re.compile(
    rf"(?:{SENTENCE}{{0,80}}?[,;]|{SENTENCE}{{0,40}})\s(?:(?:we|I|it|this) )?(?:now )?"
    rf"(?:achieved?|reach(?:ed|es)?|got to|arrived at|ended (?:up )?at|landed at)"
    rf"\s+{DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)


def _from_start(candidate: Candidate) -> Effect | None:
    """`starting from 15 FPS, we achieved 50 FPS`."""
    reached = candidate.has_units and _ACHIEVED.fullmatch(candidate.glue)
    return candidate.whole if reached and _STARTING.search(candidate.left) else None


_BARE_TO = re.compile(rf"\s+(?:down\s+|up\s+)?to\s+{DECOR}{HEDGE}", re.IGNORECASE)
_CHANGING = re.compile(rf"\b(?:{VERBS[Sense.FALL]}|{VERBS[Sense.RISE]}|goes|went|going)\b[^.;\n]{{0,40}}$", re.IGNORECASE)
_FALLING = re.compile(rf"\b(?:fell|fall(?:s|ing)|drop(?:s|ped|ping)|go(?:es|ing)|went)\s+{HEDGE}$", re.IGNORECASE)
_BECAME = re.compile(
    rf"{SENTENCE}{{0,75}}?(?:\.\s+(?:this|it|that|they|these)\b[^.;\n\d]{{0,20}}?)?\b(?:compressed|shrunk|shrank|shrinks|reduced|cut|drop(?:s|ped)|fell|falls|goes|went|lowered|brought|trimmed"
    rf"|improved|sped up)(?:\s+down)?\s+to\s+{DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)


_OF_FACTOR = re.compile(r"\bfactor of\s+$", re.IGNORECASE)
_BOUNDS = re.compile(rf"\b(?:from|between)\s+{DECOR}{HEDGE}$", re.IGNORECASE)
_BOUNDED = re.compile(rf"\s+(?:(?:up )?to|and)\s+{HEDGE}", re.IGNORECASE)
_COMPARED = re.compile(
    rf"\s+(?:perf\s|performance\s)?(?:{by_sense({sense: COMPARISONS[sense] for sense in (Sense.GAIN, Sense.LOSS, Sense.FALL)})})",
    re.IGNORECASE,
)


def _between(candidate: Candidate) -> Effect | None:
    """`between 2.5 and 5 times faster`, `from 10x up to 70x faster`: the ends of a range."""
    first, second = candidate.first, candidate.second
    compared = _COMPARED.match(candidate.text, second.end) if second.kind is not Kind.VALUE else None
    if compared is None or not (_BOUNDED.fullmatch(candidate.glue) and _BOUNDS.search(candidate.left)) or first.low >= second.high:
        return None
    sense = sense_in(compared)
    change = second._replace(start=first.start, low=first.low)
    return Effect(first.start, compared.end(), change=change, sense=sense, word=compared[sense.name].lower())


_CHANGED = re.compile(rf"\b(?:{VERBS[Sense.FALL]})\s+(?:the\s+|our\s+|an?\s+)?{DECOR}{HEDGE}$", re.IGNORECASE)
_THING_TO = re.compile(rf"[*_`]*(?:[\s-][a-z][\w/-]*){{1,3}}\s+(?:down\s+)?to\s+{DECOR}{HEDGE}{DECOR}", re.IGNORECASE)
"""`cuts a 12 s startup to 3 s`"""

_TAKEN = re.compile(rf"\b(?:takes?|took|brings?|brought|gets?|got)\s+(?:the\s+|our\s+|an?\s+)?{DECOR}{HEDGE}$", re.IGNORECASE)
_THING_DOWN_TO = re.compile(rf"[*_`]*(?:[\s-][a-z][\w/-]*){{1,3}}\s+down\s+to\s+{DECOR}{HEDGE}{DECOR}", re.IGNORECASE)
"""`takes the 12 MB bundle down to 3 MB`"""


def _by_verb(candidate: Candidate) -> Effect | None:
    """`drops 12 s to 5 s`, `a log of 200 MB, compressed to 20 MB`."""
    if (
        not candidate.has_units
        and not _is_of_counts(candidate)
        and not (candidate.first.metric is ClaimMetric.TIME and _is_less_of_the_same(candidate))
        and not ((_FALLING.search(candidate.left) or _is_less_of_a_unit(candidate)) and _BARE_TO.fullmatch(candidate.glue))
    ):
        return None
    is_to = _BARE_TO.fullmatch(candidate.glue)
    if is_to and _is_rate_twice(candidate):
        return candidate.whole
    is_to = is_to or (_CHANGED.search(candidate.left) and _THING_TO.fullmatch(candidate.glue))
    is_to = is_to or (_TAKEN.search(candidate.left) and _THING_DOWN_TO.fullmatch(candidate.glue))
    if is_to and _FALLS_ON.match(candidate.text, candidate.second.end) and _is_less_of_the_same(candidate):
        return candidate.whole
    falls = (
        is_to
        and (candidate.has_units or _is_of_counts(candidate) or _is_less_of_a_unit(candidate))
        and candidate.first.sized()[0] > candidate.second.sized()[1]
    )  # a range goes up
    changes = falls or _BECAME.fullmatch(candidate.glue) or (is_to and _CHANGING.search(candidate.left))
    return candidate.whole if changes else None


def _is_rate_twice(candidate: Candidate) -> bool:
    """`36 FPS to 75 FPS`: of a range the unit is given once."""
    first, second = candidate.first, candidate.second
    return first.metric is second.metric is ClaimMetric.THROUGHPUT and not (first.is_range or second.is_range)


def _is_of_counts(candidate: Candidate) -> bool:
    """`cuts 101 queries down to 2`, `340 to 20 allocations`: what is counted is said once."""
    first, second = candidate.first, candidate.second
    is_count = first.metric is ClaimMetric.OPERATIONS and second.unit is None
    if is_count and (_CHANGED.search(candidate.left) or "down to" in candidate.glue):
        return True
    return first.unit is None and second.metric is ClaimMetric.OPERATIONS and first.low > second.high  # a range goes up


def _is_less_of_a_unit(candidate: Candidate) -> bool:
    """`89.0 to 1.6 ms`: a range goes up."""
    first, second = candidate.first, candidate.second
    return first.unit is None and second.metric in (ClaimMetric.TIME, ClaimMetric.MEMORY) and first.low > second.high


_FALLS_ON = re.compile(r"[*_`]*(?:[,.;:)](?!\d)|\s*$|\s(?:for|on|in|with|when|after|over|across|—|–|\()(?!\w))", re.MULTILINE)


def _is_less_of_the_same(candidate: Candidate) -> bool:
    """`nine minutes to four and a half`: the unit is given once, and nothing else is counted behind."""
    first, second = candidate.first, candidate.second
    return first.unit is not None and first.unit is not CLOCK and second.unit is None and first.low > second.high


_DELTA = re.compile(r"[*_`]*(?:\s(?:at|on|for|with|across|over|in|per)\s[^()\n;]{1,25})?\s?\((?P<change>[+−–-]\d[\d.]*\s?%)")
_TOLD = re.compile(rf"[*_`]*\s?\((?P<change>~?\d[\d.]*\s?[%x×])(?:\s(?:{by_sense(COMPARISONS)})|\))", re.IGNORECASE)
_JOINED = re.compile(rf"\s+(?:(?P<to>to)|vs\.?|versus|against|compared (?:to|with))\s+{DECOR}{HEDGE}{DECOR}", re.IGNORECASE)


def _by_bracket(candidate: Candidate) -> Effect | None:
    """`70 to 78.6 tok/s (+12.2%)`, `31 vs 23 µs (+32%)`: the percentage in the bracket is that of the figures, and tells their order.

    Without a sign, `2822 to 2172 ms (23% faster)`, only `to` does.
    """
    delta = _DELTA.match(candidate.text, candidate.second.end) or _TOLD.match(candidate.text, candidate.second.end)
    joined = _JOINED.fullmatch(candidate.glue) if delta else None
    change = next(quantities(candidate.text, *delta.span("change")), None) if delta and joined else None
    if joined is None or change is None or not agrees(candidate.whole, change):
        return None
    if not change.sign:
        return candidate.whole if joined["to"] else None
    first, second = candidate.first, candidate.second
    falls = second.low < first.low
    pair = candidate.whole if falls is (change.sign != "+") else Effect(first.start, second.end, second, first)
    return None if joined["to"] and pair.before is not first else pair._replace(end=change.end + 1, change=change)


_RULES: tuple[Callable[[Candidate], Effect | None], ...] = (
    by_arrow,
    _from_to,
    _from_start,
    _by_bracket,
    _by_verb,
    latter_first,
    by_tense,
    by_contrast,
    former_told_first,
    things_from,
    by_tags,
)
"""What makes a pair of two quantities, in the order asked."""


def _whole_chain(text: str, found: list[Quantity], index: int, effect: Effect, taken: int) -> tuple[Effect | None, int]:
    """`85s → 40s → 25s` goes from the first to the last; a longer chain is a schedule, no effect."""
    links = 0
    while index < len(found) and (longer := _chained(text, effect, found[index])):
        effect, index, taken, links = longer, index + 1, taken + 1, links + 1
    return (effect if links <= _LINKS else None), taken


def _chained(text: str, effect: Effect, further: Quantity) -> Effect | None:
    glue = text[effect.end : further.start] if further.start - effect.end <= 12 else ""
    if glue and effect.before and _alike(effect.before, further) and LEADS.fullmatch(glue):
        return effect._replace(end=further.end, after=further)
    return None
