"""The metric of an effect: by its unit, else by the nearest noun, else inferred; None if it is not performance."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ingest.claims.judge.not_performance import is_a_setting, is_a_threshold, is_other_than_performance
from ingest.claims.judge.ratios import agrees
from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import Measure, MeasureSource
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.numbers.spelled import NUMBER_WORDS
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import BARE_FACTOR, BEGINS, GAMES, HEDGES, METRICS, NOT_PERFORMANCE, OTHER_SPEEDS, Sense
from ingest.claims.words.word_tables import words
from schemas.rows.claim import ClaimMetric

_NOT_PERFORMANCE = "NONE"
"""The name of the group of nouns beside which a number is not performance: `40% better conversion`."""

_GROUPS = "|".join(f"(?P<{metric.name}>{nouns})" for metric, nouns in METRICS.items())
NOUNS = pattern(f"{BEGINS}(?:{_GROUPS}|(?P<{_NOT_PERFORMANCE}>{NOT_PERFORMANCE}))")
PREFIX = pattern(r"^\W*(?:[\w-]+ )?perf(?:\([^)]*\))?!?:")
"""The prefix `perf: ` of a title, which does not name the metric of the figures behind it."""

SIGNED = ("+", "-")
"""The words of comparison of signed percentages without any other."""

NOUN_REACH = 25
"""Characters behind a figure in which a noun belongs to the figure."""


def measure_of(effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure of an effect; None if the text names another quantity than performance, or none for a bare pair.

    The unit of a figure decides first, then the nearest noun (`nearest_noun`); without a noun the metric is inferred (`_inferred`).
    """
    measure = _measure_of(effect, nearby)
    if measure is None or is_other_than_performance(effect, nearby):
        return None
    is_setting = is_a_setting(effect, nearby) if effect.before or effect.after else is_a_threshold(nearby)
    return measure._replace(is_setting=True) if is_setting else measure


def _measure_of(effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure, whether or not the figures are those of a setting."""
    if effect.word == BARE_FACTOR and not effect.is_pair:
        return _by_title_of_speed(effect, nearby)
    if effect.is_pair and _are_speedups(effect, nearby):
        return Measure(ClaimMetric.THROUGHPUT, MeasureSource.NOUN, effect.unit)
    figure = next((figure for figure in (effect.before, effect.after) if figure and figure.unit), None)
    return _by_unit(figure, effect, nearby) if figure else _by_noun(effect, nearby)


def is_signed_without_noun(effect: Effect, nearby: Surroundings) -> bool:
    """Whether it is a signed percentage without a noun near it: `−30%` in a list."""
    is_bare = effect.word in SIGNED and effect.change is not None and not effect.is_pair and not nearby.is_table
    return is_bare and nearest_noun(effect, nearby) is None and not NOUNS.search(nearby.left[-_SUBJECT_REACH:])


def is_change_without_noun(effect: Effect, nearby: Surroundings) -> bool:
    """Whether no noun is near a `98% reduction`, or near a table row whose change agrees with its figures."""
    if (
        effect.change is None
        or is_other_than_performance(effect, nearby)
        or is_a_setting(effect, nearby)
        or nearest_noun(effect, nearby) is not None
    ):
        return False
    if nearby.is_table:
        return effect.is_pair and agrees(effect, effect.change)
    return effect.sense is Sense.FALL and effect.after is None


# --- by the unit of a figure

_BURDENS = (
    r"(?:disk|block|page) (?:reads|writes|hits|faults)|seeks|wake-?ups?|syscalls?|alloc\w*|interrupts?|context switches|faults|polls"
    r"|collections|misses|evictions"
)
"""Events per second of which less is better."""

_BURDEN = pattern(_BURDENS)
_RATE_OF_BURDENS = pattern(rf"(?:{_BURDENS})\s?(?:/|per )\s?s(?:ec(?:ond)?)?$")
"""`syscalls per second`, `allocations/s`"""


def _by_unit(figure: Quantity, effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure by the unit of a figure: bytes may be a size, cycles are time, `faults/s` operations."""
    metric = figure.metric
    if metric is ClaimMetric.OPERATIONS and _is_of_cycles(effect):
        metric = ClaimMetric.TIME
    elif metric is ClaimMetric.MEMORY:
        metric = _memory_or_size(nearby)
    elif metric is ClaimMetric.THROUGHPUT and effect.before and effect.before.low == 0:  # from nothing: a new feature
        metric = None
    elif metric is ClaimMetric.THROUGHPUT and (_BURDEN.search(nearby.left[-40:]) or _counts_burdens(figure)):
        metric = ClaimMetric.OPERATIONS
    return Measure(metric, figure.source, effect.unit) if metric else None


def _counts_burdens(figure: Quantity) -> bool:
    """Whether the unit counts events of which less is better: `3,000 syscalls per second`."""
    return figure.unit is not None and bool(_BURDEN.match(figure.unit.name))


def _is_of_cycles(effect: Effect) -> bool:
    """Whether the figures are CPU cycles."""
    return any(figure.unit.name.lower().startswith("cyc") for figure in (effect.before, effect.after) if figure and figure.unit)


def _memory_or_size(nearby: Surroundings) -> ClaimMetric:
    """Whether bytes are memory or the size of a file: by the nearest noun of either, memory without one."""
    for part in (nearby.right[:40], nearby.left[-100:], nearby.inside, nearby.title.lower):
        for match in NOUNS.finditer(part):
            if match.lastgroup in ("MEMORY", "SIZE"):
                return ClaimMetric[match.lastgroup]
            if match.lastgroup == "OPERATIONS" and "alloc" in match[0]:
                return ClaimMetric.MEMORY
    return ClaimMetric.MEMORY


_FASTER = pattern(r"\b(?:faster|speed-?ups?)\b")
_SPEEDUP_OF = pattern(r"\bspeed-?ups?(?: of| from)?[\s:*_`~]*$")


def _are_speedups(effect: Effect, nearby: Surroundings) -> bool:
    """Whether the pair is one of speedups, of which more is better: `1.28x faster → 1.38x faster`, `speedup 1.1 → 1.3`."""
    assert effect.before
    if effect.before.kind is Kind.VALUE:
        return effect.unit is None and _SPEEDUP_OF.search(nearby.left) is not None
    return effect.before.kind is Kind.TIMES and bool(_FASTER.search(nearby.inside) or _FASTER.search(nearby.left[-40:]))


# --- by a noun

_OF_GAMES = pattern(f"{BEGINS}(?:{GAMES})")
_SCORE_HEADER = pattern(r"\| (?:\w+ )?(?:scores?|grade|rating) \|")
"""The header cell of a column of scores, which are not performance."""

_COUNTED_ROW = pattern(r"\| (?:(?:number|count) of )?(?:\w+ )?(?:files|images|packages|chunks|logs|responses|downloads) \|")
_COUNTED_INSIDE = pattern(r"\d\+? (?:packages|files|modules|images|chunks|logs|dependencies)\b")
_OF_SIZE = pattern(r"\b(?:size|bytes?|[kmg]i?b|large|big|small)")
"""Without one of these words, bare numbers beside a file or image are counts or versions."""


def _by_noun(effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure by the nearest noun, else inferred; None for scores, games and nouns that are not performance."""
    if OTHER_SPEEDS.match(nearby.right) or (nearby.is_table and _SCORE_HEADER.search(nearby.left)) or _OF_GAMES.search(nearby.left[-40:]):
        return None
    noun = nearest_noun(effect, nearby)
    if noun is None:
        return _inferred(effect, nearby)
    if noun.group == _NOT_PERFORMANCE or (noun.group == "SIZE" and _counts_files(effect, nearby)):
        return None
    if noun.group == "THROUGHPUT" and effect.sense is Sense.FALL and not effect.is_pair and _BANDWIDTH_USED.search(nearby.left):
        return Measure(ClaimMetric.SIZE, noun.source, effect.unit)
    if noun.is_performance and _is_more_performance(effect, nearby):
        return Measure(ClaimMetric.THROUGHPUT, noun.source, effect.unit)
    return Measure(ClaimMetric[noun.group], noun.source, effect.unit)


_BANDWIDTH_USED = pattern(r"\b(?:us(?:es?|age|ing)|consum\w+|sav\w+|need\w*|with)\b[^.;\n]{0,20}$")
"""`uses 3x less bandwidth`: what is transferred, of which less is better."""

_IMPROVED = pattern(r"\b(?:improv\w+|better|optimi[sz]\w+)\b")


def _is_more_performance(effect: Effect, nearby: Surroundings) -> bool:
    """Whether bare numbers are performance, of which more is better: `performance from 300 to 330`.

    Numbers that fall while performance improves are times.
    """
    before, after = effect.before, effect.after
    if before is None or after is None or before.unit or after.unit or effect.change or before.kind is not Kind.VALUE:
        return False
    return after.low > before.low or not (_IMPROVED.search(nearby.left[-40:]) or _IMPROVED.search(nearby.inside))


def _counts_files(effect: Effect, nearby: Surroundings) -> bool:
    """Whether bare numbers beside a file or image are counts or versions, not sizes."""
    is_load = effect.before is not None and effect.before.kind is Kind.PERCENT
    if effect.is_pair and _COUNTED_INSIDE.search(nearby.inside):
        return True
    if not effect.is_pair or is_load or _OF_SIZE.search(nearby.left) or _OF_SIZE.search(nearby.right):
        return False
    return not nearby.is_table or _COUNTED_ROW.search(nearby.left) is not None


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
        last = last_noun(nearby.inside) if inside.lastgroup == _NOT_PERFORMANCE and " by " in nearby.inside else inside
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
            match.start() - head.end() != 1 or part[head.end()] not in " -" or match.lastgroup == _NOT_PERFORMANCE or match[0] == compared
        ):
            break
        head = match
    return head


_CLAUSE_ENDS = pattern(r"[*_`]*[,;]")
"""`throughput up 35%, latency down 20%`: the noun behind the clause belongs to another number, if there is one before this number."""

_CONDITION_BEHIND = pattern(r"[*_`]*\s(?:\(|(?:at|on|for|across|under|when|while|with)\s)")
"""`by about 12% (using the tests)`, `5-10% at all batch sizes`: a condition of the measurement, not its metric."""


def _noun_behind(effect: Effect, nearby: Surroundings) -> re.Match[str] | None:
    """The first noun behind the effect, unless it belongs to another number, to a condition or to a remark in brackets."""
    behind = NOUNS.search(nearby.right)
    if behind and 0 < nearby.right.find(" (") < behind.start() and effect.is_pair and _noun_before(effect, nearby):
        return None
    if behind and behind.lastgroup == _NOT_PERFORMANCE and _CONDITION_BEHIND.match(nearby.right):
        return None
    if behind and (_CLAUSE_ENDS.match(nearby.right) if effect.change else _SEPARATES_NOUN.search(nearby.right, 0, behind.start())):
        is_other = effect.is_pair or effect.change is None or behind.lastgroup == _NOT_PERFORMANCE or _noun_before(effect, nearby)
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
    return last_noun(_PER_ONE.sub(" ", left[-80:]))


def _noun_of_row(nearby: Surroundings) -> Noun | None:
    """The last noun of row label and header cells, else of the line above the table, if that is performance and not the title."""
    caption, _, labels = nearby.left.partition(" | ")
    above = last_noun(caption[-80:]) if caption != nearby.title.lower else None
    if of_row := last_noun(labels[-80:]):
        return _as_noun(of_row, MeasureSource.HEADER)
    return _as_noun(above, MeasureSource.CAPTION) if above and above.lastgroup != _NOT_PERFORMANCE else None


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


# --- inferred, where no noun says it

_METRIC_OF_COMPARISON = tuple(
    (tuple(words("comparisons", f"alone_{section}")), metric)
    for section, metric in (("size", ClaimMetric.SIZE), ("length", ClaimMetric.TIME), ("operations", ClaimMetric.OPERATIONS))
)
_FACTORS_OF_TIME, _LOST = (tuple(words("comparisons", section)) for section in ("alone_factor", "alone_lost"))
_BETTER = (*words("comparisons", "alone_better"), *words("verbs", "alone_better"))

_SPEED_TITLE = pattern(
    r"\b(?:perf\b|performance|optimi[sz]|faster|speed[- ]?ups?\b|speed(?:s|ing)? up|accelerat|benchmark|throughput|latency|simd|avx|neon\b"
    r"|vectori[sz]|fus(?:e|ed|ion)\b)"
)
_SPEED_CHANGE_TITLE = pattern(r"\b(?:perf\b|optimi[sz]|faster|speed[- ]?ups?\b|speed(?:s|ing)? up|accelerat)")
_SPEED_GROUPS = frozenset({"TIME", "THROUGHPUT"})


def _by_title_of_speed(effect: Effect, nearby: Surroundings) -> Measure | None:
    """Time for a factor without a word of comparison, `decode 1.03×`, unless a noun says otherwise."""
    noun = nearest_noun(effect, nearby)
    if noun is not None and noun.group == _NOT_PERFORMANCE:
        return None
    return Measure(ClaimMetric.TIME, MeasureSource.TITLE if is_title_of_speed(nearby) else MeasureSource.NOTHING)


def is_title_of_speed(nearby: Surroundings) -> bool:
    """Whether the title is about speed, `perf: …`, or names time or throughput."""
    if _SPEED_TITLE.search(nearby.title.lower):
        return True
    return any(match.lastgroup in _SPEED_GROUPS for match in NOUNS.finditer(nearby.title.lower))


_FASTER_OR_SLOWER = pattern(r"\b(?:faster|slower)\b")
"""Right above a table: its bare numbers are times."""


def _inferred(effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure of an effect without a noun, `40% better`: by sign, by word of comparison, by title, else the usual. None for figures."""
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
    return ClaimMetric[noun.lastgroup] if noun.lastgroup and noun.lastgroup != _NOT_PERFORMANCE else None


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
_LABEL_ALONE = pattern(r"[\s*_`-]*[\w`./()-]{1,40}(?: [\w`./()-]{1,40}){0,3}[*_`]*:[\s*_`]*")
"""`- parse: −42%`"""


def _by_sign(change: Quantity, effect: Effect, nearby: Surroundings) -> Measure | None:
    """The measure of a signed percentage without a noun.

    A plus beside generation (`decode +4%`), in a text titled `perf: …`, or in a list below `Median gains:` is throughput. A minus under
    that title is time.
    """
    is_label_alone = _LABEL_ALONE.fullmatch(nearby.left) is not None
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


# --- the sense of the change for its metric


def _labels(nearby: Surroundings) -> str:
    """Row label and header cells of an effect in a table, without the lines above it."""
    return " | ".join(nearby.left.split(" | ")[2:])


_BETTER_IF_MORE = pattern(r"\b(?:speeds?|performance|perf|efficiency|parallel scaling)\b")
_SUBJECT_REACH = 60
"""Characters before a verb in which its subject is searched."""


def sense_of(effect: Effect, metric: ClaimMetric, nearby: Surroundings) -> Sense | None:
    """The sense of the change, adapted to its metric.

    Of time, more is a rise; but more speed or performance, whose metric is time too, is a gain. A `20% throughput loss` is a fall: it says
    how much is gone, not how much slower it became.
    """
    if metric is ClaimMetric.THROUGHPUT and effect.sense is Sense.LOSS and effect.word.startswith(_LOST) and not effect.is_pair:
        return Sense.FALL
    if metric is not ClaimMetric.TIME or effect.sense not in (Sense.RISE, Sense.FALL) or effect.is_pair:
        return effect.sense
    words_near = f"{nearby.inside} {nearby.right[:NOUN_REACH].partition('(')[0]}"
    if effect.word in SIGNED:
        nearest = NOUNS.match(nearby.right, 1) or last_noun(PREFIX.sub("", nearby.left)[-_SUBJECT_REACH:])
        words_near = nearest[0] if nearest else ""
    elif not any(match.lastgroup == "TIME" for match in NOUNS.finditer(words_near)):
        words_near = _labels(nearby) if nearby.is_table else PREFIX.sub("", nearby.left)[-_SUBJECT_REACH:]
    if not _BETTER_IF_MORE.search(words_near):
        return effect.sense
    return Sense.GAIN if effect.sense is Sense.RISE else Sense.LOSS
