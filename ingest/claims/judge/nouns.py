"""The noun of an effect: the word near its figures that says what they measure, or that they measure no performance."""

from __future__ import annotations

import re
from typing import NamedTuple

from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import MeasureSource
from ingest.claims.numbers.spelled import NUMBER_WORDS
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import BEGINS, HEDGES, METRICS, NOT_PERFORMANCE, Sense
from ingest.claims.words.word_tables import words

NO_PERFORMANCE = "NONE"
"""The name of the group of nouns beside which a number is not performance: `40% better conversion`."""

_GROUPS = "|".join(f"(?P<{metric.name}>{nouns})" for metric, nouns in METRICS.items())
NOUNS = pattern(f"{BEGINS}(?:{_GROUPS}|(?P<{NO_PERFORMANCE}>{NOT_PERFORMANCE}))")
PREFIX = pattern(r"^\W*(?:[\w-]+ )?perf(?:\([^)]*\))?!?:")
"""The prefix `perf: ` of a title, which does not name the metric of the figures behind it."""

SIGNED = ("+", "-")
"""The words of comparison of signed percentages without any other."""

NOUN_REACH = 25
"""Characters behind a figure in which a noun belongs to the figure."""

BURDENS = (
    r"(?:disk|block|page) (?:reads|writes|hits|faults)|seeks|wake-?ups?|syscalls?|alloc\w*|interrupts?|context switches|faults|polls"
    r"|collections|misses|evictions"
)
"""Events per second of which less is better."""

_RATE_OF_BURDENS = pattern(rf"(?:{BURDENS})\s?(?:/|per )\s?s(?:ec(?:ond)?)?$")
"""`syscalls per second`, `allocations/s`"""

_SPEED_WORDS = tuple(words("comparisons", "alone_speed"))
"""Comparisons that mean time without any noun: `faster`."""

_PERCENTILES = ("p50", "p90", "p95", "p99")
"""Percentiles mean time, unless right behind another noun: `TPS p50`."""

_TIMES = pattern(rf"(?:\d|{'|'.join(NUMBER_WORDS)})[\s-]+times\b")
"""`3 times`: not the noun of time."""

_SEPARATES_NOUN = pattern(r"[,;(]|\b(?:to|for|and|in|with|by|when|while)\b|(?<!\w)(?!vs)(?:[\w-]+\s+){3}")
"""Words between a pair of bare numbers and a noun behind it that does not belong to it."""


class Noun(NamedTuple):
    """The noun of a number: the name of its metric, or `NONE` if it is not performance, and where it was found."""

    group: str
    source: MeasureSource
    is_performance: bool = False
    """Whether it is performance itself, whose metric is time without anything else that tells it."""


def nearest_noun(effect: Effect, nearby: Surroundings) -> Noun | None:
    """The noun of the effect; None without one.

    Searched in this order: the word of comparison; inside the effect; beside a signed percentage; `number of …`; right behind the effect;
    before it; farther behind it.
    """
    if effect.sense in (Sense.GAIN, Sense.LOSS) and effect.word.startswith(_SPEED_WORDS):
        words_near = nearby.left if nearby.is_table else nearby.inside
        is_rate = any(match.lastgroup == "THROUGHPUT" for match in NOUNS.finditer(words_near))
        return Noun("THROUGHPUT", MeasureSource.NOUN) if is_rate else Noun("TIME", MeasureSource.COMPARISON)
    if inside := _head_noun(_TIMES.sub("", nearby.inside), effect.word):
        last = last_noun(nearby.inside) if inside.lastgroup == NO_PERFORMANCE and " by " in nearby.inside else inside
        return _as_noun(last or inside)
    if effect.word in SIGNED and not effect.is_pair:
        return _as_noun(_adjacent_noun(nearby))
    if first := _noun_of_count_or_cjk(effect, nearby):
        return _as_noun(first)
    behind = _noun_behind(effect, nearby)
    if behind is None or behind.start() > NOUN_REACH:
        before = _noun_of_row(nearby) if nearby.is_table else _as_noun(_noun_before(effect, nearby))
        return before or _as_noun(behind)
    return _as_noun(behind)


_RATE_REACH = 30
_PERFORMANCE = ("performance", "perf")


def _as_noun(found: re.Match[str] | None, source: MeasureSource = MeasureSource.NOUN) -> Noun | None:
    """The noun of a match of `NOUNS`. A rate of events of overhead, `syscalls per second`, is one of operations."""
    if found is None or found.lastgroup is None:
        return None
    is_burden = found.lastgroup == "THROUGHPUT" and _RATE_OF_BURDENS.search(found.string, max(0, found.start() - _RATE_REACH), found.end())
    return Noun("OPERATIONS" if is_burden else found.lastgroup, source, found[0] in _PERFORMANCE)


def _head_noun(part: str, compared: str) -> re.Match[str] | None:
    """The first noun, or the last of a compound: `boot time memory` is memory, `query time` is time.

    The word of comparison, as in `memory compression`, is not part of the compound.
    """
    head = None
    for match in NOUNS.finditer(part):
        if head is not None and (
            match.start() - head.end() != 1 or part[head.end()] not in " -" or match.lastgroup == NO_PERFORMANCE or match[0] == compared
        ):
            break
        head = match
    return head


_CLAUSE_ENDS = pattern(r"[*_`]*[,;]")
"""`throughput up 35%, latency down 20%`: the noun behind the clause belongs to another number, if there is one before this number."""

_CONDITION_BEHIND = pattern(
    r"[*_`]*\s(?:\(|(?:at|on|for|across|under|when|while|with)\s|in (?:(?:the|our|my|local) )?(?:tests?|testing|practice|production)\b)"
)
"""`by about 12% (using the tests)`, `5-10% at all batch sizes`: a condition of the measurement, not its metric."""

_OTHER_SIDE = pattern(r"[*_`]*\s(?:compared (?:to|with)|relative to|than|versus|vs\.?|against)\s")
"""`drops 20% compared to the old build`: what it is compared with, not what is measured."""

_OVER_BASELINE = pattern(
    r"[*_`]*\s(?:over|vs\.?|versus|compared (?:to|with)|from|than)\s(?:the\s)?[*_`]*(?:baseline|main|master|before|original|previous)\b"
)
"""`9% improvement over baseline with the same accuracy`: what is far behind is another matter."""


def _noun_behind(effect: Effect, nearby: Surroundings) -> re.Match[str] | None:
    """The first noun behind the effect, unless it belongs to another number, to a condition or to a remark in brackets."""
    behind = NOUNS.search(nearby.right)
    if behind and 0 < nearby.right.find(" (") < behind.start() and effect.is_pair and _noun_before(effect, nearby):
        return None
    if behind and behind.lastgroup == NO_PERFORMANCE and _CONDITION_BEHIND.match(nearby.right):
        return None
    if behind and effect.change and _OTHER_SIDE.match(nearby.right) and _noun_before(effect, nearby):
        return None
    if behind and behind.lastgroup == NO_PERFORMANCE and behind.start() > NOUN_REACH and _OVER_BASELINE.match(nearby.right):
        return None
    if behind and (_CLAUSE_ENDS.match(nearby.right) if effect.change else _SEPARATES_NOUN.search(nearby.right, 0, behind.start())):
        is_other = effect.is_pair or effect.change is None or behind.lastgroup == NO_PERFORMANCE or _noun_before(effect, nearby)
        return None if is_other else behind
    return behind


_NUMBER_OF = pattern(r"\b(?:number|count) of (?P<counted>(?:[\w-]+ ){1,3})")
_TOUCHING_REACH = 12


def _noun_of_count_or_cjk(effect: Effect, nearby: Surroundings) -> re.Match[str] | None:
    """The noun of `the number of …`, or the one right before a Chinese, Japanese or Korean word of change."""
    if effect.word and not effect.word.isascii():
        return last_noun(nearby.left[-_TOUCHING_REACH:])
    counted = _NUMBER_OF.search(nearby.left) if effect.is_pair and "of " in nearby.left else None
    return NOUNS.search(counted["counted"]) if counted else None


_PER_ONE = pattern(r"\sper (?!(?:sec|s|second|min|minute)\b)[\w-]+(?=[\s*_`]*[:|])")
"""`kernel launches per token: 79 → 53` counts launches, not tokens."""


def _noun_before(effect: Effect, nearby: Surroundings) -> re.Match[str] | None:
    """The last noun before the effect, in its sentence; for a pair, not in the prefix `perf:` of a title."""
    left = PREFIX.sub("", nearby.left) if effect.is_pair else nearby.left
    part = _PER_ONE.sub(" ", left[-80:])
    last = last_noun(part)
    return (_subject_noun(part, last) if last and not effect.is_pair else None) or last


_OF = pattern(r"[*_`]*\s(?:of|with|on|in|for|under|using)\s(?:[\w.`*/-]+\s){0,3}[`*]*")
_CLAUSE_BEGINS = pattern(
    r"(?:^|[,;:.(|]\s?|\b(?:and|but|while|here|now|then|so|also|the|mean|average|median|total|overall|our)\s)[\s*_`-]*"
)


def _subject_noun(part: str, last: re.Match[str]) -> re.Match[str] | None:
    """The subject of the clause, if the last noun is only what it is of: `throughput of the server with batching drops`."""
    nouns = [found for found in NOUNS.finditer(part, 0, last.start()) if found.lastgroup != NO_PERFORMANCE]
    subject = next((noun for noun in reversed(nouns) if _OF.fullmatch(part, noun.end(), last.start())), None)
    if subject is None or not any(begin.end() == subject.start() for begin in _CLAUSE_BEGINS.finditer(part, 0, subject.start())):
        return None
    return subject


_MEANS = pattern(r"threads?|workers?|concurrency|shards?|replicas?|goroutines?")
"""`SIMD + threads | 12 ms | 10x`: how it was done, not what was measured."""


_STATISTIC_ROW = pattern(r"(?:^|\| )(?:avg|mean|average|median|max|min) \| [^|]*\| $")
_PERCENTILE_ROW = pattern(r"\n\|[ \t*_`]*p(?:50|9\d)\b", re.IGNORECASE)
"""`avg` in the rows below `p50` and `p99`: of the same latencies."""

_ROWS_REACH = 400
"""Characters above a row in which the rows of its percentiles are searched."""


def _noun_of_row(nearby: Surroundings) -> Noun | None:
    """The last noun of row label and header cells, else of the line above the table, if that is performance and not the title."""
    caption, _, labels = nearby.left.partition(" | ")
    if _STATISTIC_ROW.search(labels) and _PERCENTILE_ROW.search(nearby.text, max(0, nearby.start - _ROWS_REACH), nearby.start):
        return Noun("TIME", MeasureSource.HEADER)
    above = last_noun(caption[-80:]) if caption != nearby.title.lower else None
    of_row = last_noun(labels[-80:])
    if of_row and of_row.lastgroup == NO_PERFORMANCE and _MEANS.match(of_row[0]):
        of_row = last_noun(labels[-80:][: of_row.start()]) or of_row
    if of_row:
        return _as_noun(of_row, MeasureSource.HEADER)
    return _as_noun(above, MeasureSource.CAPTION) if above and above.lastgroup != NO_PERFORMANCE else None


def last_noun(part: str) -> re.Match[str] | None:
    """The last noun of that part of the text; of `TPS p50`, the first."""
    last = None
    for match in NOUNS.finditer(part):
        if last is None or match.start() - last.end() > 1 or not match[0].startswith(_PERCENTILES):  # `TPS p50` measures TPS
            last = match
    return last


_WORDS_BEHIND = pattern(
    r"[\s*_`]+(?!(?:on|in|for|at|with|from|vs|over|to|of|and|or|when|by|across|compared|against|under|per|after|via)\b)"
    r"(?:[a-z][\w/-]*(?: (?=[a-z])|(?![\w/-]))){1,3}"
)
"""The words right behind a signed percentage: `-4% inference time`."""

_PER_PIECE = pattern(r"\sper\s")
"""`-34% tokens per request`: of tokens, not of requests."""

_HEDGED_LAST = pattern(rf"\s(?:{HEDGES})$")
_BRACKET_LAST = pattern(r" ?\([^()]{1,20}\)$")
"""`latency (p50): −30 %`"""


_SIZE_OF_OUTPUT = pattern(
    r"\b(?:bundle|binary|image|package|download|payload|file|apk|ipa|wheel|asset|artifact|index|database|build|gzip\w*) size$"
)
"""Not a size that somebody sets, such as that of a batch."""


def _adjacent_noun(nearby: Surroundings) -> re.Match[str] | None:
    """The noun right behind or before a signed percentage: `-30% latency`, `latency: -30%`."""
    if own := _WORDS_BEHIND.match(nearby.right):
        if behind := last_noun(_PER_PIECE.split(own[0], 1)[0]):
            return behind
        if nearby.left.endswith("("):  # `kernels (+4.1% decode)`: not of kernels
            return None
    left = _HEDGED_LAST.sub("", PREFIX.sub("", nearby.left)[-60:].rstrip(" *_`:|~≈"))
    left = _BRACKET_LAST.sub("", left.rstrip(" *_`:|")).rstrip(" *_`:(|")
    before = last_noun(left)
    if before is None or before.end() < len(left) or before[0] == "speed":
        return None
    return before if before[0] != "size" or _SIZE_OF_OUTPUT.search(left) else None
