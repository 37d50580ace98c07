"""Two figures, baseline and candidate: `2822 → 2172 ms`, `from 85 s to 25 s`, `12 ms (was 36 ms)`, `took 20 s, now 5 s`."""

from __future__ import annotations

import re

from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect, ReadingRule, TwoFigures, first_result
from ingest.claims.numbers.measure import MeasureSource
from ingest.claims.numbers.quantities import CLOCK, Kind, Quantity, quantities
from ingest.claims.numbers.units import SCALES, are_of_one_measure, unit
from ingest.claims.pairs.marked_baselines import by_marked_baseline
from ingest.claims.pairs.side_labels import by_named_sides, by_side_labels
from ingest.claims.pairs.tenses import by_contrast, by_tense
from ingest.claims.patterns import pattern
from ingest.claims.tables.aligned_columns import aligned_pair
from ingest.claims.words.vocabulary import ARROW, COMPARISONS, DECORATION, HEDGE, SAME_SENTENCE, VERBS, Sense, by_sense, sense_in
from schemas.rows.claim import ClaimMetric

ARROW_BETWEEN = pattern(
    rf"[\s*_`'\")\]]*(?:\([^()\n]{{0,40}}\)\s*)?(?:[\w/.,-]+\s+){{0,4}}?(?:{ARROW}|から|에서)"
    r"(?:\s*[*_`]*(?:now|new|after|branch|this (?:pr|branch)|pr|head|warm|hot|cached|cache[- ]hit|steady)[*_`]*:?(?=\s))?"
    rf"(?:\s?[\w.+-]{{1,20}}(?:\s\(|:\s))?{DECORATION}{HEDGE}{DECORATION}",
    re.IGNORECASE,
)


def by_arrow(two: TwoFigures) -> Effect | None:
    """`2822 → 2172 ms`, `60 s before → 5 s`, `~~24 s~~ 12 s`, `2822 ms`, `↓` and `2172 ms` on three lines.

    Not for a numbered name, a setting or a condition (`> 10 MB → 413`).
    """
    if (
        not ARROW_BETWEEN.fullmatch(two.between)
        and not _STRIKETHROUGH.fullmatch(two.between)
        and not (two.has_units and two.first.metric is ClaimMetric.TIME and _ARROW_ON_ITS_LINE.fullmatch(two.between))
        and not (two.has_units and _BEFORE_ARROW.fullmatch(two.between))
    ):
        return None
    if two.first.unit is None and two.second.unit is not None and _SET_TO.search(two.left):
        return None
    if two.first.unit is None and two.second.unit is None and _is_numbered(two):
        return None
    if two.first.unit is None and _BETWEEN_SHAPES.match(two.between):
        return None
    if _is_number_of_item(two.text, two.first) or (two.first.unit is None and _ENDS_CODE.match(two.between) and not two.left.endswith("`")):
        return None
    is_condition = two.second.unit is None and two.text[two.first.start] in "><≥≤"  # `> 10 MB → 413`
    return None if is_condition or _NAME_GOES_ON.match(two.text, two.second.end) else two.baseline_first


_SET_TO = pattern(r"\w\s?=\s?$")
"""`qps = 4 => 43 ms`: the bare number is a setting, not a baseline."""


_ENDS_CODE = pattern(r"`\s*[=-]>")
"""Behind a command that ends with a number, and before its result: `run -c 0-3 12` in backticks, then `=> 8.9 s`."""

_BETWEEN_SHAPES = pattern(rf"\)\s*{ARROW}\s*\(")
"""`(1, 16, 20) → (1, 32, 40)`: shapes."""

_BEHIND_ITEM = pattern(r"[.)]\s")


def _is_number_of_item(text: str, figure: Quantity) -> bool:
    """Whether the figure is the number of a list item: `2. Linting → 3 min`."""
    start = text.rfind("\n", 0, figure.start) + 1
    return not text[start : figure.start].strip() and _BEHIND_ITEM.match(text, figure.end) is not None


def _is_numbered(two: TwoFigures) -> bool:
    """Whether the first number belongs to a name: `Kernel 11 → 349.0` above or below `Kernel 12 → 355.0`."""
    text, start = two.text, two.first.start
    line = text.rfind("\n", 0, start) + 1
    name = text[line:start]
    if not name.strip(" -*:`"):
        return False
    above, below = text.rfind("\n", 0, max(line - 1, 0)) + 1, text.find("\n", start) + 1
    return any(text.startswith(name, other) and text[other + len(name) :][:1].isdigit() for other in (above, below) if other != line)


_ARROW_ON_ITS_LINE = pattern(rf"[*_`]*[ \t]*\n[ \t]*[↓⬇]\ufe0f?[ \t]*\n[ \t]*{DECORATION}{HEDGE}{DECORATION}", re.IGNORECASE)
"""`737.5 ms`, below it `↓`, below that `45.8 ms`; only times: counts with arrows between them are steps"""

_STRIKETHROUGH = pattern(rf"~~\s{{1,3}}{DECORATION}{HEDGE}")
"""`~~24 s~~ 12 s`"""

_BEFORE_ARROW = pattern(
    rf"[*_`]*\s[^\n→.;:\d]{{0,60}}?\b(?:before|previously|baseline|today|currently|old|earlier)\b[*_`)]*\s*{ARROW}{DECORATION}{HEDGE}{DECORATION}",
    re.IGNORECASE,
)
"""`60 s under bursts of reconnects before → 5 s`"""

_NAME_GOES_ON = pattern(r"-[A-Za-z]|\.[A-Za-z]")
"""`{36-bitmaps.conf => 76-bitmaps.conf}`: the numbers belong to file names."""


MOST_BETWEEN = 4
"""The most quantities ahead of the first figure among which the second is searched."""

_BRACKETED_BASELINE = pattern(r"[*_`]*\s*\((?:was|from)\b")
_VERSION = pattern(r"[*_`]*\s(?:in|on|with|for)\s(?:v|version\s)?\d+(?:\.\d+){1,3}")
"""`5.2 s in 1.6 vs 4.1 s in 1.5`"""

_BRACKET = pattern(r"\s*\([^()\n]{1,60}\)\s*")


def steps_to_second_figure(text: str, ahead: list[Quantity]) -> int:
    """The distance, in quantities, from the first figure of a pair to the second: 1, or more where numbers between them are skipped.

    2 for `562 s (was 1.09 in 1573 s)`, 3 for `from 40 min (2x 20 min) to 7 min`. `ahead` begins with the first figure.
    """
    first = ahead[0]
    if len(ahead) < 3 or first.unit is None:
        return 1
    if ahead[2].metric in (first.metric, None) and _is_sample_count(text, first, ahead[1]):
        return 2
    if ahead[1].unit is None and ahead[2].metric is first.metric and _VERSION.fullmatch(text, first.end, ahead[1].end):
        return 2
    if (
        ahead[1].unit
        and ahead[2].unit
        and are_of_one_measure(first.unit, ahead[2].unit)
        and not are_of_one_measure(first.unit, ahead[1].unit)
    ):
        return 2
    is_counted = ahead[1].unit is None and ahead[2].metric is first.metric and ")" not in text[ahead[1].end : ahead[2].start]
    if is_counted and _BRACKETED_BASELINE.match(text, first.end, ahead[1].start):
        return 2
    return _steps_over_bracket(text, ahead)


_OF_SAMPLES = pattern(r"\s(?:over|across|in|for|of|with|on|at|after|per)\s(?:the |a |an |all |each )?(?:[a-z-]+ (?:of )?)?$", re.IGNORECASE)
_SAMPLES = pattern(
    r"[\s-](?:runs?|samples?|iterations?|repetitions?|repeats?|rounds|trials?|seeds|steps|passes|requests|files|rows|items|records|chunks"
    r"|messages|documents|users|cores|threads|workers|entries|nodes|tokens|lines|objects|events|connections|shards|pages)\b"
)
_PER = pattern(r"\s(?:\w+\s)?per\s$")


def _is_sample_count(text: str, first: Quantity, second: Quantity) -> bool:
    """Whether the second counts the samples of the first: `2 s over 20 runs`, `40 queries per 500 rows`."""
    if second.start - first.end > 30 or second.kind is not Kind.VALUE:
        return False
    if _PER.search(text, first.end, second.start):
        return True
    return bool(_OF_SAMPLES.fullmatch(text, first.end, second.start) and _SAMPLES.match(text, second.end))


def _steps_over_bracket(text: str, ahead: list[Quantity]) -> int:
    """The distance to the figure behind a bracket: 3 for `from 40 min (2x 20 min) to 7 min`; 1 without a bracket."""
    first = ahead[0]
    bracket = _BRACKET.match(text, first.end) if text.find("(", first.end, first.end + 3) >= 0 else None
    if bracket is None:
        return 1
    step = next((index for index, quantity in enumerate(ahead) if quantity.start >= bracket.end()), 0)
    is_bare = step == 2 and ahead[1].unit is None and not _BRACKETED_BASELINE.match(text, first.end)
    is_other = step > 1 and ahead[step].metric in (first.metric, None) and (is_bare or bool(_PAIR_GOES_ON.match(text, bracket.end())))
    return step if is_other else 1


_PAIR_GOES_ON = pattern(rf"(?:down |up )?to\s|{ARROW}|\((?:was|previously|formerly|from|down from|up from)\s")


_REACH = 90
"""The most characters between the two figures of a pair."""

_LINK_REACH = 200
_LINK_TARGET = pattern(r"\]\(https?://[^()\s]{1,190}\)")
"""The target of a Markdown link, which is skipped; with one, `_LINK_REACH` more characters may be between the figures."""

_LEFT_REACH = 60
"""Characters before a pair in which words such as `from` are searched."""

_MOST_LINKS = 2
"""The most figures of a chain behind the first two."""


def pair_starting_at(text: str, found: list[Quantity], index: int, floor: int) -> tuple[Effect | None, int]:
    """The pair whose first figure is `found[index]`, and the number of quantities it uses; None and the number to skip if there is none.

    No text before `floor` is read.
    """
    if row := aligned_pair(text, found, index):
        return row, sum(quantity.end <= row.end for quantity in found[index : index + 6])
    if _are_two_percentages(text, found, index):
        return None, 2
    step = steps_to_second_figure(text, found[index : index + 1 + MOST_BETWEEN])
    if index + step < len(found) and (effect := pair(text, found[index], found[index + step], floor)):
        return _with_chain(text, found, index + step + 1, effect, step + 1)
    return None, 1


_LOAD = pattern(
    r"\b(?:ram|memory|heap|flash)(?:[ -](?:usage|use|load|consumption|footprint))?\b"
    r"[:*_`\s]*(?:(?:reduced|dropped|drops|fell|falls|went|goes|decreased|decreases|cut|down|is|now)\s)?(?:by\s)?(?:from\s)?[~*_`]*$",
    re.IGNORECASE,
)
"""Resources whose usage is given as a percentage: `RAM usage from 80% to 40%` is a pair of memory."""


def _are_two_percentages(text: str, found: list[Quantity], index: int) -> bool:
    """Whether the next two quantities are shares at two times, not changes: `overhead: 5% → 1%`."""
    first, second = found[index], found[index + 1] if index + 1 < len(found) else found[index]
    is_short = first.kind is second.kind is Kind.PERCENT and 0 < second.start - first.end <= 12 and not second.sign
    is_short = is_short and not _LOAD.search(text, max(0, first.start - _LEFT_REACH), first.start)
    return is_short and bool(ARROW_BETWEEN.fullmatch(text, first.end, second.start))


def pair(text: str, first: Quantity, second: Quantity, floor: int) -> Effect | None:
    """The pair of two quantities, if their units are comparable and a rule applies to the text between and before them.

    `12 ms` and `4 ms` of `latency 12 ms → 4 ms` are one; `12 ms` and `4 MB` are none. No text before `floor` is read.
    """
    between = text[first.end : second.start] if 0 < second.start - first.end <= _REACH + _LINK_REACH else ""
    between = _LINK_TARGET.sub("]", between) if len(between) > _REACH else between
    first = with_bytes_of_other(text, first, second)
    second = with_bytes_of_other(text, second, first)
    first = with_bytes_of_other(text, first, second)
    if not 0 < len(between) <= _REACH or not _are_comparable(first, second):
        return None
    return pair_by_words(TwoFigures(text, first, second, between, text[max(floor, first.start - _LEFT_REACH) : first.start]))


_OF_MEMORY = pattern(r"[*_`]*\s(?:of\s)?(?:heap|rss|ram|v?ram|memory|resident)\b", re.IGNORECASE)


def with_bytes_of_other(text: str, figure: Quantity, other: Quantity) -> Quantity:
    """The figure in bytes, if it has only a suffix and the other figure is in bytes: `50M` in `28 GB → 50M`; else unchanged."""
    is_scaled = figure.unit is None and figure.kind is Kind.VALUE and text[figure.end - 1] in SCALES
    is_of_bytes = is_scaled and (other.metric is ClaimMetric.MEMORY or _OF_MEMORY.match(text, figure.end))
    return figure.in_unit(unit("bytes"), MeasureSource.FIGURE) if is_of_bytes else figure


_LINKS_BARE_NUMBERS = pattern(
    rf"[^\x00-\x7f]|{ARROW}|~~|(?<![A-Za-z])(?:to|into|auf|a|para|and|vs|versus|against|compared|was|from|down|up|before|previously|formerly"
    r"|quer(?:y|ies)|calls|requests|allocations|round[- ]?trips|syscalls|lookups|scans|renders)\b",
    re.IGNORECASE,
)
"""A word or sign between two bare numbers, or beyond ASCII, without which none of the rules applies: most have none."""


def pair_by_words(two: TwoFigures) -> Effect | None:
    """The pair of two comparable figures, if one of `RULES` applies; or a change with both as the ends of its range."""
    first, second = two.first, two.second
    if first.unit is second.unit is None and not _LINKS_BARE_NUMBERS.search(two.between):
        return None
    if first.unit is second.unit is CLOCK and not _TIMED.search(two.left):
        return None
    if _OF_FACTOR.search(two.left) or _counts_something_else(two):  # by a factor of 2 to 3
        return None
    is_rate = first.kind is Kind.PERCENT and not _LOAD.search(two.left)  # 62% → 95%: a pass rate or coverage, not performance
    is_pair = first.kind is second.kind and not is_rate
    return _range_between(two) or (first_result(RULES, two) if is_pair else None)


_RESOURCES = pattern(
    r"\s(?:containers|replicas|workers|nodes|threads|instances|gpus|cores|shards|pods|processes|machines)\b",
    re.IGNORECASE,
)
_UNKNOWN_RATE = pattern(r"\s[a-z][\w-]*/(?:s|sec|min|h)\b", re.IGNORECASE)


def _counts_something_else(two: TwoFigures) -> bool:
    """Whether the second number has no unit and is one of machines, `from 1 to 2 containers`, or of a rate: `35 ms → 451 env-steps/s`."""
    if two.second.unit is not None or two.second.kind is not Kind.VALUE:
        return False
    of_rate = two.first.unit is not None and _UNKNOWN_RATE.match(two.text, two.second.end)
    return bool(of_rate or _RESOURCES.match(two.text, two.second.end))


def _are_comparable(first: Quantity, second: Quantity) -> bool:
    """Whether two quantities can be a pair: of one kind and, where both have units, of one metric; `2` and `5 times` can be a range."""
    if (first.unit is CLOCK or second.unit is CLOCK) and not (first.unit and second.unit):
        return False
    if first.kind is not second.kind:
        return first.kind is Kind.VALUE and first.unit is None and second.kind is not Kind.VALUE  # between 2 and 5 times
    return first.unit is None or second.unit is None or are_of_one_measure(first.unit, second.unit)


_TIMED = pattern(
    r"(?<![a-z_])(?:suites?|tests?|builds?|ci|runs?|runtime|jobs?|pipelines?|workflows?|compil\w+|imports?|durations?|elapsed|took|takes"
    r"|(?:load|execution|processing|response|sync) times?)\b",
    re.IGNORECASE,
)
"""Tasks that take minutes and seconds: beside them, `3:15` is a duration, not a time of day."""

_FROM = pattern(
    rf"\b(?:from|of|von|de|desde)\s+(?:taking\s+|needing\s+|using\s+|like\s+|an?\s(?:[\w-]+\s){{1,3}}of\s+)?{DECORATION}{HEDGE}{DECORATION}$|[从由]\s*$",
    re.IGNORECASE,
)
_TO = pattern(
    rf"{SAME_SENTENCE}{{0,60}}?(?:\b(?:down\s+|up\s+)?(?:to|into|auf|à|a|para)\s+(?:taking\s+|needing\s+|using\s+)?|降到|降至|降低到|减少到|增至|升至|减至|降为|到){DECORATION}{HEDGE}{DECORATION}",
    re.IGNORECASE,
)


def _from_to(two: TwoFigures) -> Effect | None:
    """`from 85 s to 25 s`, `de 30 s à 10 s`, `从 30 s 降到 10 s`."""
    if not _TO.fullmatch(two.between) or not (start := _FROM.search(two.left)):
        return None
    return two.baseline_first._replace(start=two.first.start - len(two.left) + start.start())


_BARE_TO = pattern(rf"[*_`]*(?:\s\([^()\n]{{1,30}}\))?\s+(?:down\s+|up\s+)?to\s+{DECORATION}{HEDGE}", re.IGNORECASE)
_CHANGING = pattern(rf"\b(?:{VERBS[Sense.FALL]}|{VERBS[Sense.RISE]}|goes|went|going)\b[^.;\n]{{0,40}}$", re.IGNORECASE)
_FALLING = pattern(rf"\b(?:fell|fall(?:s|ing)|drop(?:s|ped|ping)|go(?:es|ing)|went)\s+{HEDGE}$", re.IGNORECASE)
_BECAME_TO = pattern(
    rf"{SAME_SENTENCE}{{0,75}}?(?:\.\s+(?:this|it|that|they|these)\b[^.;\n\d]{{0,20}}?)?\b(?:compressed|shrunk|shrank|shrinks|reduced|cut|drop(?:s|ped)|fell|falls|goes|went|lowered|brought|trimmed"
    rf"|improved|sped up)(?:\s+down)?\s+to\s+{DECORATION}{HEDGE}{DECORATION}",
    re.IGNORECASE,
)


_OF_FACTOR = pattern(r"\bfactor of\s+$", re.IGNORECASE)
_BOUNDS = pattern(rf"\b(?:from|between)\s+{DECORATION}{HEDGE}$", re.IGNORECASE)
_BOUNDED = pattern(rf"\s+(?:(?:up )?to|and)\s+{HEDGE}", re.IGNORECASE)
_COMPARED = pattern(
    rf"\s+(?:perf\s|performance\s)?(?:{by_sense({sense: COMPARISONS[sense] for sense in (Sense.GAIN, Sense.LOSS, Sense.FALL)})})",
    re.IGNORECASE,
)


def _range_between(two: TwoFigures) -> Effect | None:
    """`between 2.5 and 5 times faster`, `from 10x up to 70x faster`: not a pair, but a change with a range."""
    first, second = two.first, two.second
    compared = _COMPARED.match(two.text, second.end) if second.kind is not Kind.VALUE else None
    if compared is None or not (_BOUNDED.fullmatch(two.between) and _BOUNDS.search(two.left)) or first.low >= second.high:
        return None
    sense = sense_in(compared)
    change = second._replace(start=first.start, low=first.low)
    return Effect(first.start, compared.end(), change=change, sense=sense, word=compared[sense.name].lower())


_CHANGED = pattern(rf"\b(?:{VERBS[Sense.FALL]})\s+(?:the\s+|our\s+|an?\s+)?{DECORATION}{HEDGE}$", re.IGNORECASE)
_THING_TO = pattern(rf"[*_`]*(?:[\s-][a-z][\w/-]*){{1,3}}\s+(?:down\s+)?to\s+{DECORATION}{HEDGE}{DECORATION}", re.IGNORECASE)
"""`cuts a 12 s startup to 3 s`"""

_TAKES = pattern(
    rf"\b(?:takes?|took|brings?|brought|gets?|got|turn(?:s|ed|ing)?)\s+(?:the\s+|our\s+|an?\s+)?{DECORATION}{HEDGE}$", re.IGNORECASE
)
_THING_DOWN_TO = pattern(
    rf"[*_`]*(?:[\s-][a-z][\w/-]*){{1,3}}\s+(?:down\s+to|into\s+(?:an?|just|only|one of))\s+{DECORATION}{HEDGE}{DECORATION}", re.IGNORECASE
)
"""`takes the 12 MB bundle down to 3 MB`, `turns a 30 s scan into a 200 ms lookup`"""


def _by_verb(two: TwoFigures) -> Effect | None:
    """`drops 12 s to 5 s`, `a log of 200 MB, compressed to 20 MB`."""
    if (
        not two.has_units
        and not _are_counts(two)
        and not (two.first.metric is ClaimMetric.TIME and _falls_with_unit_given_first(two))
        and not ((_FALLING.search(two.left) or _falls_with_unit_given_last(two)) and _BARE_TO.fullmatch(two.between))
    ):
        return None
    is_to = _BARE_TO.fullmatch(two.between)
    if is_to and _are_two_rates(two):
        return two.baseline_first
    is_to = is_to or (_CHANGED.search(two.left) and _THING_TO.fullmatch(two.between))
    is_to = is_to or (_TAKES.search(two.left) and _THING_DOWN_TO.fullmatch(two.between))
    if is_to and _FALLS_ON.match(two.text, two.second.end) and _falls_with_unit_given_first(two):
        return two.baseline_first
    falls = (
        is_to and (two.has_units or _are_counts(two) or _falls_with_unit_given_last(two)) and two.first.scaled()[0] > two.second.scaled()[1]
    )  # a range goes up
    changes = falls or _BECAME_TO.fullmatch(two.between) or (is_to and _CHANGING.search(two.left))
    return two.baseline_first if changes else None


def _are_two_rates(two: TwoFigures) -> bool:
    """Whether both are rates with a unit each, `36 FPS to 75 FPS`: a range would give the unit once."""
    first, second = two.first, two.second
    return first.metric is second.metric is ClaimMetric.THROUGHPUT and not (first.is_range or second.is_range)


def _are_counts(two: TwoFigures) -> bool:
    """Whether both are counts with the noun given once: `cuts 101 queries down to 2`, `340 to 20 allocations`."""
    first, second = two.first, two.second
    is_count = first.metric is ClaimMetric.OPERATIONS and second.unit is None
    if is_count and (_CHANGED.search(two.left) or "down to" in two.between):
        return True
    return first.unit is None and second.metric is ClaimMetric.OPERATIONS and first.low > second.high  # a range goes up


def _falls_with_unit_given_last(two: TwoFigures) -> bool:
    """Whether it falls with the unit behind the second figure, `89.0 to 1.6 ms`: a range would rise."""
    first, second = two.first, two.second
    return first.unit is None and second.metric in (ClaimMetric.TIME, ClaimMetric.MEMORY) and first.low > second.high


_FALLS_ON = pattern(r"[*_`]*(?:[,.;:)](?!\d)|\s*$|\s(?:for|on|in|with|when|after|over|across|—|–|\()(?!\w))", re.MULTILINE)


def _falls_with_unit_given_first(two: TwoFigures) -> bool:
    """Whether it falls with the unit behind the first figure only: `nine minutes to four and a half`."""
    first, second = two.first, two.second
    return first.unit is not None and first.unit is not CLOCK and second.unit is None and first.low > second.high


_DELTA = pattern(
    r"[*_`]*(?:(?:\s(?:at|on|for|with|across|over|in|per)\s[^()\n;]{1,25})?\s?\(|,\s(?=[^()\n]{2,8}\)))(?P<change>[+−–-]\d[\d.]*\s?%)"
)
_UNSIGNED_CHANGE = pattern(rf"[*_`]*\s?\((?P<change>~?\d[\d.]*\s?[%x×])(?:\s(?:{by_sense(COMPARISONS)})|\))", re.IGNORECASE)
_LINKS_FIGURES = pattern(rf"\s+(?:(?P<to>to)|vs\.?|versus|against|compared (?:to|with))\s+{DECORATION}{HEDGE}{DECORATION}", re.IGNORECASE)


def _by_bracket(two: TwoFigures) -> Effect | None:
    """`70 to 78.6 tok/s (+12.2%)`, `31 vs 23 µs (+32%)`: a percentage in brackets agrees with the figures, and its sign gives their order.

    A percentage without a sign does not, `2822 to 2172 ms (23% faster)`: then only `to` is accepted, which gives the order itself.
    """
    delta = _DELTA.match(two.text, two.second.end) or _UNSIGNED_CHANGE.match(two.text, two.second.end)
    joined = _LINKS_FIGURES.fullmatch(two.between) if delta else None
    change = next(quantities(two.text, *delta.span("change")), None) if delta and joined else None
    if joined is None or change is None or not agrees(two.baseline_first, change):
        return None
    if not change.sign:
        return two.baseline_first if joined["to"] else None
    first, second = two.first, two.second
    falls = second.low < first.low
    pair = two.baseline_first if falls is (change.sign != "+") else two.candidate_first
    return None if joined["to"] and pair.before is not first else pair._replace(end=change.end + 1, change=change)


RULES: tuple[ReadingRule[TwoFigures, Effect], ...] = (
    ReadingRule("named sides", by_named_sides, "throughput main 80 req/s vs branch 76 req/s", "throughput 0.95"),
    ReadingRule("arrow", by_arrow, "latency 12 ms → 4 ms", "time 3"),
    ReadingRule("from … to", _from_to, "from 40 SQL queries to 20", "operations 2"),
    ReadingRule("change in a bracket", _by_bracket, "30 vs 24 µs per call (+25%: short inputs are padded)", "time 0.8"),
    ReadingRule("verb", _by_verb, "Runtime drops 12 s to 5 s", "time 2.4"),
    ReadingRule("candidate first", by_marked_baseline, "The tests take 5 s instead of 20 s.", "time 4"),
    ReadingRule("tense", by_tense, "It took 20 s, now it takes 5 s", "time 4"),
    ReadingRule("contrast", by_contrast, "It runs in 0.5 s; the old code took 5 s", "time 10"),
    ReadingRule("labels of both sides", by_side_labels, "before/after: 5 s / 1 s", "time 5"),
)
"""The rules for a pair of two neighbouring figures, in the order in which they are tried."""


def _with_chain(text: str, found: list[Quantity], index: int, effect: Effect, taken: int) -> tuple[Effect | None, int]:
    """`85s → 40s → 25s`: the pair of first and last figure (None for a longer chain, a schedule) and the quantities used."""
    links = 0
    while index < len(found) and (longer := _next_in_chain(text, effect, found[index])):
        effect, index, taken, links = longer, index + 1, taken + 1, links + 1
    return (effect if links <= _MOST_LINKS else None), taken


def _next_in_chain(text: str, effect: Effect, further: Quantity) -> Effect | None:
    """The pair with a further figure behind another arrow, as the `25s` of `85s → 40s → 25s`; None if there is no arrow."""
    between = text[effect.end : further.start] if further.start - effect.end <= 12 else ""
    if between and effect.before and _are_comparable(effect.before, further) and ARROW_BETWEEN.fullmatch(between):
        return effect._replace(end=further.end, after=further)
    return None
