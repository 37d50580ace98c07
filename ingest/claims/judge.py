"""The meaning of an effect.

Its ratio and metric, which expressions are one effect, and whether its figures are only a setting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from re import Match
from typing import NamedTuple

from ingest.claims.evidence import Around
from ingest.claims.numbers import Effect, Kind, Quantity
from ingest.claims.sides import ordered_by_sign
from ingest.claims.words import (
    COMPARISONS,
    METRICS,
    NOT_PERFORMANCE,
    SETTINGS,
    Sense,
    sense_in,
    senses,
)
from ingest.literals import pattern
from schemas.claims import ClaimMetric

# --- ratios

Range = tuple[float, float]

HIGHER_IS_BETTER = frozenset({ClaimMetric.THROUGHPUT})
"""Metrics for which more is better; for all others, less is better."""

_LARGEST = 1e12
"""A larger factor is an error of the writer or the extractor."""

_LEAST_TOLERANCE, _TOLERANCE, _MOST_TOLERANCE = 0.0076, 0.05, 0.03
_FACTOR_TOLERANCE = math.log(1.15)


def ratio_of(effect: Effect, metric: ClaimMetric) -> Range | None:
    """Return both ends of the improvement factor; None if it has none.

    They are from the pair if there is one, else from the change.
    """
    if effect.before is not None and effect.after is not None:
        found = pair_ratio(effect.before, effect.after, metric)
        if (
            found
            and effect.change
            and effect.sense is Sense.GAIN
            and found[1] < 1
            and not (effect.before.unit or effect.after.unit)
        ):
            return pair_ratio(
                effect.after, effect.before, metric
            )  # `16x speedup (30 → 480)`: only the word says that more is better
        return found
    if effect.change is not None and effect.sense is not None:
        return change_ratio(effect.change, effect.sense, metric)
    return None


def in_order(effect: Effect, metric: ClaimMetric) -> Effect:
    """Return the effect, with the figures of an unordered pair exchanged if they are reversed.

    `46 ms against 1.5 ms` is a gain in either order, unless a word says that it is a loss.
    """
    if not effect.is_order_open or effect.before is None or effect.after is None:
        return effect
    found = pair_ratio(effect.before, effect.after, metric)
    if found is None:
        return effect
    if (
        effect.sense in (Sense.RISE, Sense.FALL) and effect.change is None
    ):  # `it uses more memory, 735 MB vs 479 MB`
        return effect if effect.rises is (effect.sense is Sense.RISE) else effect.reversed()
    is_backwards = found[0] > 1 if effect.sense is Sense.LOSS else found[1] < 1
    return effect._replace(before=effect.after, after=effect.before) if is_backwards else effect


def pair_ratio(before: Quantity, after: Quantity, metric: ClaimMetric) -> Range | None:
    """Return both ends of before ÷ after (after ÷ before for a throughput) in the same unit.

    A unit given once applies to both.
    """
    size_before, size_after = _sizes(before, after)
    worst, best = before.low * size_before, before.high * size_before
    least, most = after.low * size_after, after.high * size_after
    if metric in HIGHER_IS_BETTER:
        worst, best, least, most = least, most, worst, best
    return _plausible(worst / most, best / least) if worst > 0 and least > 0 else None


def _sizes(before: Quantity, after: Quantity) -> tuple[float, float]:
    """Return the sizes of both units.

    A unit given once applies to both, and bare numbers have size 1.
    """
    size_before = before.unit.size if before.unit else None
    size_after = after.unit.size if after.unit else None
    return size_before or size_after or 1.0, size_after or size_before or 1.0


def change_ratio(change: Quantity, sense: Sense, metric: ClaimMetric) -> Range | None:
    """Return both ends of the improvement factor of `N×` or `N%` with that sense, for the metric.

    `N×`, `N-fold` and `N times faster` are N; `N% faster` and `N% more throughput` 1 + N/100; `N%
    less` 1 / (1 − N/100); `to N% of` 100/N; `N% slower` 1 / (1 + N/100).
    """
    ends = [
        factor
        for number in (change.low, change.high)
        if (factor := _factor(number, change.kind, _is_good(sense, metric), sense)) is not None
    ]
    return _plausible(min(ends), max(ends)) if len(ends) == 2 else None


def _is_good(sense: Sense, metric: ClaimMetric) -> bool:
    """Return whether the change is an improvement for the metric."""
    if sense in (Sense.FALL, Sense.SHARE):
        return metric not in HIGHER_IS_BETTER
    if sense is Sense.RISE:
        return metric in HIGHER_IS_BETTER or metric is ClaimMetric.OTHER
    return sense is Sense.GAIN


def _factor(number: float, kind: Kind, is_good: bool, sense: Sense) -> float | None:
    """Return the improvement factor of one number; None if it would be infinite or zero.

    `100% less`.
    """
    if number <= 0:
        return None
    if kind is Kind.TIMES:
        return (
            number if is_good or (number < 1 and sense is Sense.LOSS) else 1 / number
        )  # `slower (0.8x)`
    share = number / 100
    if sense is Sense.SHARE:
        return 1 / share if is_good else share
    if sense is Sense.FALL:
        left = 1 - share
        return None if left <= 0 else (1 / left if is_good else left)
    return 1 + share if is_good else 1 / (1 + share)


def _plausible(low: float, high: float) -> Range | None:
    """Return the ends if both are within bounds and in order, else None."""
    return (low, high) if 1 / _LARGEST < low <= high < _LARGEST else None


def geometric_mean(ends: Range) -> float:
    return math.sqrt(ends[0] * ends[1]) if ends[0] != ends[1] else ends[0]


def factor_of(pair: Effect) -> float | None:
    """Return the larger figure of a pair over the smaller one; None if one of them is zero."""
    assert pair.before
    assert pair.after
    found = pair_ratio(pair.before, pair.after, ClaimMetric.TIME)
    return max(geometric_mean(found), 1 / geometric_mean(found)) if found else None


def agrees(pair: Effect, change: Quantity, tolerance: float = _FACTOR_TOLERANCE) -> bool:
    """Return whether a factor or percentage fits the ratio of the pair, within rounding.

    Either direction counts.

    `tolerance` is the logarithm of the largest ratio between two factors that agree.
    """
    factor = factor_of(pair)
    if factor is None or change.low <= 0:
        return False
    if change.kind is Kind.TIMES:
        stated = geometric_mean((change.low, change.high))
        return abs(math.log(factor / max(stated, 1 / stated))) <= tolerance
    return _is_share_of_factor(geometric_mean((change.low, change.high)) / 100, factor)


def _is_share_of_factor(share: float, factor: float) -> bool:
    """Return whether a share is the loss or the gain of the factor, within rounding.

    The loss is 1 − 1/factor, the gain factor − 1.
    """
    return distance_of_share(share, factor) <= min(
        max(_LEAST_TOLERANCE, _TOLERANCE * share), _MOST_TOLERANCE
    )


def distance_of_share(share: float, factor: float) -> float:
    """Return the distance of a share from the loss or the gain of the factor, the nearer one.

    The loss is 1 − 1/factor, the gain factor − 1.
    """
    return min(abs(share - (1 - 1 / factor)), abs(share - (factor - 1)))


def same_change(first: Quantity, second: Quantity) -> bool:
    """Return whether a factor and a percentage state the same change: `3x faster (67% less)`."""
    if first.kind is second.kind or min(first.low, second.low) <= 0:
        return False
    times, percent = (first, second) if first.kind is Kind.TIMES else (second, first)
    return _is_share_of_factor(
        geometric_mean((percent.low, percent.high)) / 100, geometric_mean((times.low, times.high))
    )


_COMPARISON = pattern(rf"\b(?:{senses(COMPARISONS)})(?![a-z])")


def sense_before(around: Around) -> Sense | None:
    """Return the sense of the last word of comparison before an effect.

    `latency is worse: 80 ms vs 50 ms`.
    """
    found = [match for match in _COMPARISON.finditer(around.left) if match[0] != "overhead"]
    return sense_in(found[-1]) if found else None


# --- expressions of one effect

_REACH = 90
"""Limit of the characters between two expressions of one effect."""

_OPENS = pattern(r"[\s*_`]*(?:[\w/-]+\s+){0,3}?[\s*_`]*(?:[(\[]|[,:=;—–-]+\s|→|\|)[^.;\d]{0,30}")
_BRACKETED = pattern(r"[\w\s*/`-]{0,40}[(\[][^()]{0,30}")
_SENTENCE_ENDS = pattern(r"(?<!i\.e)(?<!e\.g)[.;!?]\s|\n\s*[-*•]")
_REMARK = pattern(r"[\s*_`]*\([^()\n]{0,60}?[%x×][^()\n]{0,40}\)|[\s*_`|]*[−-]?[\d.]+%\*{0,2}")


def joined_expressions(text: str, effects: Iterable[Effect]) -> list[Effect]:
    """Return the effects, each merged with all other expressions of it."""
    out: list[Effect] = []
    for effect in effects:
        if out and _are_one_effect(text, out[-1], effect):
            out[-1] = joined(out[-1], effect)
        else:
            out.append(effect)
    return out


def _are_one_effect(text: str, first: Effect, second: Effect) -> bool:
    gap = text[first.end : second.start] if second.start - first.end <= _REACH else None
    if gap is None or (first.is_pair and second.is_pair):
        return False
    if first.is_pair or second.is_pair:
        return _explains(gap, first, second)
    if first.change and second.change:
        return same_change(first.change, second.change) and not _SENTENCE_ENDS.search(gap)
    return bool(_OPENS.fullmatch(gap)) and "," not in gap


def _explains(gap: str, first: Effect, second: Effect) -> bool:
    """Return whether the change, or the saving, is that of the pair."""
    pair, other = (first, second) if first.is_pair else (second, first)
    if pair.before == pair.after:  # `unchanged at 6.3 s (64% speedup kept)`
        return False
    if other.change is None:
        return gap.strip(" *_`") == "("
    bare = gap.strip(" *_`")
    if not agrees(pair, other.change):
        return bare in ("(", "[")
    if not pair.unit:  # `from 32 to 128 to reduce passes by 4x` are two effects
        return bare in (",", ":", "-", "—", "–", "=", "") or bool(_BRACKETED.fullmatch(gap))
    return not _SENTENCE_ENDS.search(gap) or (len(gap) <= 4 and other.change.kind is Kind.TIMES)


def joined(first: Effect, second: Effect) -> Effect:
    pair = first if first.is_pair else second
    change = first if first.change else second
    if pair.is_order_open and change.change and change.change.sign and agrees(pair, change.change):
        pair = ordered_by_sign(pair, change.change)._replace(is_order_open=False)
    return Effect(
        min(first.start, second.start),
        max(first.end, second.end),
        pair.before,
        pair.after if pair.is_pair else None,
        change.change,
        change.sense,
        change.word,
        pair.is_order_open,
    )


_LINES_BACK, _REACH_BACK = 2, 300


def repeats_an_earlier(text: str, earlier: Iterable[Effect], effect: Effect) -> bool:
    """Return whether a change without figures repeats an effect one or two lines above.

    `Speedup: 3.09x` / `Improvement: 67.6%`.
    """
    change = effect.change
    if effect.is_pair or change is None or change.is_range:
        return False
    if sum(map(str.isdigit, text[change.start : change.end])) < 3:
        return False
    for other in earlier:
        gap = text[other.end : effect.start] if 0 < effect.start - other.end <= _REACH_BACK else ""
        if 0 < gap.count("\n") <= _LINES_BACK and "|" not in gap:
            if other.is_pair and agrees(other, change, math.log(1.02)):
                return True
            if not other.is_pair and other.change and same_change(other.change, change):
                return True
    return False


def with_trailing_bracket(text: str, effect: Effect, end: int) -> Effect:
    """Return a pair with the bracketed percentage or factor right behind it, `3.3s → 0.6s (-82%)`.

    An open bracket is closed.
    """
    if effect.is_pair and (remark := _REMARK.match(text, effect.end, min(end, effect.end + 110))):
        return effect._replace(end=remark.end())
    is_open = text.rfind("(", effect.start, effect.end) > text.rfind(")", effect.start, effect.end)
    return (
        effect._replace(end=effect.end + 1)
        if is_open and text[effect.end : min(end, effect.end + 1)] == ")"
        else effect
    )


# --- the metric

_GROUPS = "|".join(f"(?P<{metric.name}>{words})" for metric, words in METRICS.items())
_NOUNS = pattern(f"(?<![a-z])(?:{_GROUPS}|(?P<NONE>{NOT_PERFORMANCE}))")
SIGNS = ("+", "-")
"""The words of comparison of a signed percentage: `−30%`."""

_BURDEN = pattern(
    r"wake-?ups?|syscalls?|alloc\w*|interrupts?|context "
    r"switches|faults|polls|collections|misses|evictions"
)
"""Events per second that are of no use to anybody."""

_AFTERWARDS = 25
"""Characters after a figure within which a noun belongs to it."""

_OF_TIME = (
    "fast",
    "quick",
    "slow",
    "speed",
    "schnell",
    "so schnell",
    "langsam",
    "plus rapide",
    "más",
    "mas",
    "mais",
    "plus lent",
)
"""Comparisons that always mean time."""

_BY_THEMSELVES = ((("small", "shr"), ClaimMetric.SIZE), (("shorter", "longer"), ClaimMetric.TIME))
"""Comparisons that imply a metric if no noun names one."""

_AWAY = pattern(r"[,;(]|\b(?:to|for|and|in|with|by|when|while)\b|(?<!\w)(?!vs)(?:[\w-]+\s+){3}")
"""Text between a pair of bare numbers and a noun that keeps the noun from being what they count."""


class Measure(NamedTuple):
    """The metric of an effect, and what names it.

    Its `figure`, a `noun` near it, the word of `comparison`, or the `title`.
    """

    metric: ClaimMetric
    source: str


def measure_of(effect: Effect, around: Around) -> Measure | None:
    """Return what changed; None if it is no performance quantity."""
    if (effect.before or effect.after) and is_a_setting(effect, around):
        return None
    if named := _unit_metric(effect):
        metric = _of_unit(named, effect, around)
        return Measure(metric, "figure") if metric else None
    nearest = _nearest_noun(effect, around)
    if (
        nearest == "SIZE"
        and effect.is_pair
        and not around.is_table
        and not (_OF_SIZE.search(around.left) or _OF_SIZE.search(around.right))
    ):
        return None
    if nearest == _NONE:
        return None
    if nearest == "TIME" and effect.is_pair and _OF_SPEED.search(around.left):
        return Measure(ClaimMetric.THROUGHPUT, "noun")  # `search speed: 1.2 → 1.9`
    if nearest:
        return Measure(ClaimMetric[nearest], "comparison" if _is_of_time(effect) else "noun")
    return _unnamed(effect, around)


_NONE = "NONE"


def _of_unit(named: ClaimMetric, effect: Effect, around: Around) -> ClaimMetric | None:
    """Return the metric of figures whose unit names one.

    Bytes may be a size, `faults/s` are operations.
    """
    if named is ClaimMetric.MEMORY:
        return _of_bytes(around)
    if named is ClaimMetric.THROUGHPUT and _BURDEN.search(around.left[-40:]):
        return ClaimMetric.OPERATIONS
    if (
        named is ClaimMetric.THROUGHPUT and effect.before and effect.before.low == 0
    ):  # what was not there before
        return None
    return named


def _is_of_time(effect: Effect) -> bool:
    return effect.sense in (Sense.GAIN, Sense.LOSS) and effect.word.startswith(_OF_TIME)


def _unit_metric(effect: Effect) -> ClaimMetric | None:
    figures = (figure.metric for figure in (effect.before, effect.after) if figure)
    return next(filter(None, figures), None)


def _of_bytes(around: Around) -> ClaimMetric:
    """Return the metric of bytes (memory or file size) by the nearest telling noun."""
    for part in (around.right[:40], around.left[-100:], around.inside, around.title.lower):
        for match in _NOUNS.finditer(part):
            if match.lastgroup in ("MEMORY", "SIZE"):
                return ClaimMetric[match.lastgroup]
            if match.lastgroup == "OPERATIONS" and "alloc" in match[0]:
                return ClaimMetric.MEMORY
    return ClaimMetric.MEMORY


def _nearest_noun(effect: Effect, around: Around) -> str | None:
    """Return the group name of the nearest noun: inside, right behind, before, farther behind."""
    if _is_of_time(effect):
        if (
            behind := _NOUNS.match(around.right.lstrip(" *_"))
        ) and behind.lastgroup == _NONE:  # `32x faster playback`
            return _NONE
        return (
            "THROUGHPUT"
            if any(match.lastgroup == "THROUGHPUT" for match in _NOUNS.finditer(around.inside))
            else "TIME"
        )
    if (
        effect.change and effect.change.end >= effect.end and not effect.is_pair
    ):  # `reduces memory allocation latency by 5%`
        found = _last_noun(around.inside)
    else:
        found = _NOUNS.search(around.inside)
    if found:
        return found.lastgroup
    if effect.word in SIGNS and not effect.is_pair:
        return _adjacent_noun(around)
    behind = _NOUNS.search(_COMPARED_WITH.split(around.right, maxsplit=1)[0])
    if behind and effect.change is None and _AWAY.search(around.right, 0, behind.start()):
        behind = None
    if behind and behind.start() <= _AFTERWARDS:
        return behind.lastgroup
    nearest = _head_noun(around.left[-80:]) or behind
    return nearest.lastgroup if nearest else None


_COMPARED_WITH = pattern(r"[,;]\s|\b(?:compared|than|versus|vs|against|relative)\b")
_PREPOSITION = pattern(
    r"(?<=\w)\s(?:with|of|for|on|in|using)\s(?:the |our |this |its |an? )?(?:[\w`*-]+\s+){1,3}$"
)


def _head_noun(left: str) -> Match[str] | None:
    """Return the last noun, or that before its preposition: `throughput with the patched build`."""
    nearest = _last_noun(left)
    found = _PREPOSITION.search(left) if nearest else None
    if found is None or nearest is None or nearest.start() < found.start():
        return nearest
    head = _last_noun(left[: found.start()])
    return head if head and found.start() - head.end() < _NEXT_WORD else nearest


_NEXT_WORD = 12
"""Characters between a noun and its preposition: `memory usage of the server`."""


def _last_noun(part: str) -> Match[str] | None:
    last = None
    for match in _NOUNS.finditer(part):
        last = (
            last if last and match[0].startswith("p") and match[0][1:].isdigit() else match
        )  # `TPS p50`
    return last


def _adjacent_noun(around: Around) -> str | None:
    """Return the noun that a signed percentage touches: `-30% latency`, `latency: -30%`."""
    if behind := _NOUNS.match(around.right, 1):
        return behind.lastgroup
    left = around.left[-60:].rstrip(" *_`:(")
    named = _last_noun(left)
    return (
        named.lastgroup
        if named and named.end() >= len(left) and named[0] not in ("speed", "size")
        else None
    )


def _unnamed(effect: Effect, around: Around) -> Measure | None:
    """Return the measure of `40% better` in a text about speed; a pair of bare numbers has none."""
    if effect.is_pair and effect.change is None:
        return None
    for words, metric in _BY_THEMSELVES:
        if effect.word.startswith(words):
            return Measure(metric, "comparison")
    if effect.change is not None and effect.change.kind is Kind.TIMES:
        if effect.word.startswith(("improvement", "gain", "boost")):
            return Measure(ClaimMetric.TIME, "comparison")
        if effect.word == "fewer":
            return Measure(ClaimMetric.OPERATIONS, "comparison")
    if effect.sense in (Sense.GAIN, Sense.LOSS):
        found = _NOUNS.search(around.title.lower)
        return (
            Measure(ClaimMetric[found.lastgroup], "title")
            if found and found.lastgroup not in (None, _NONE)
            else None
        )
    return None


_OF_SIZE = pattern(r"\b(?:size|bytes?|[kmg]i?b|large|big|small)")
"""Without one of these words, bare numbers beside a file or an image are its versions, or how many
there are.
"""

_OF_SPEED = pattern(r"\b(?:speeds?|speed-?ups?|performance|efficiency)\b[^,;(|]{0,15}$")
_BETTER_IF_MORE = pattern(r"\b(?:speeds?|performance|perf|efficiency|parallel scaling)\b")


_SUBJECT = 60
"""Characters before a verb in which its subject is searched."""


def sense_of(effect: Effect, metric: ClaimMetric, around: Around) -> Sense | None:
    """Return what the change means: more time is worse.

    More speed or performance, which also concern time, is better.
    """
    if (
        metric is not ClaimMetric.TIME
        or effect.sense not in (Sense.RISE, Sense.FALL)
        or effect.is_pair
    ):
        return effect.sense
    told = f"{around.inside} {around.right[:_AFTERWARDS].partition('(')[0]}"
    if effect.word in SIGNS:
        nearest = _NOUNS.match(around.right, 1) or _last_noun(around.left[-_SUBJECT:])
        told = nearest[0] if nearest else ""
    elif not any(match.lastgroup == "TIME" for match in _NOUNS.finditer(told)):
        labels = around.left.partition(" | ")[2] if around.is_table else ""
        told = labels if _NOUNS.search(labels) else around.left[-_SUBJECT:]
    if not _BETTER_IF_MORE.search(told):
        return effect.sense
    return Sense.GAIN if effect.sense is Sense.RISE else Sense.LOSS


# --- settings

_BRACKET = pattern(r"\([^()]{0,80}\)|`[^`=\n]{1,40}=[^`\n]{1,40}`|`[^`\s]{1,30} [^`\n]{1,80}`")
"""Text in brackets, arguments and commands, which never names what the figures measure."""

_CORRECTED = pattern(r"[\s(\[]*fixed\b")


_SPENT = pattern(
    rf"(?<![a-z])(?:{METRICS[ClaimMetric.TIME]}|{METRICS[ClaimMetric.COST]})|regress|peak|rss|usage|uses?\b|using|footprint|resident|binary|bundle"
    r"|gr[oe]w|needs?\b|churn|worse|token|\bper (?:run|call|request|month|day|review)\b"
)
"""Words that say that time, bytes or money are spent, and not allowed."""

_REDUCED = pattern(r"(?:reduc|lower|decreas|shorten)\w*[\s*_`]*$")


def is_a_setting(effect: Effect, around: Around) -> bool:
    """Return whether the figures are of a setting, a limit or a corrected error.

    `timeout 30s → 60s`, `kept 14 days (was 90 days)`.
    """
    behind = _BRACKET.sub("", around.right.lstrip("`")) if "`" in around.right else around.right
    if _CORRECTED.match(behind) or SETTINGS.search(behind[:_AFTERWARDS]) or _is_set(effect, around):
        return True
    before = f"{around.sentence[-120:]} {around.inside}"
    return (
        SETTINGS.search(_BRACKET.sub("", before) if "(" in before or "`" in before else before)
        is not None
    )


def _is_set(effect: Effect, around: Around) -> bool:
    """Return whether the pair is of days or money, or grows between round figures.

    No word may say that they are spent.
    """
    before, after = effect.before, effect.after
    if before is None or after is None or before.unit is None:
        return False
    grows = (
        before.metric in (ClaimMetric.TIME, ClaimMetric.MEMORY)
        and after.scaled()[0] > before.scaled()[1]
    )
    if grows and _REDUCED.search(
        around.left
    ):  # `reduced from 1s to 5s` is of how often something happens
        return True
    is_open = (
        grows
        and is_round(before)
        and is_round(after)
        and not (around.is_table or effect.change or effect.is_order_open)
    )
    if not (
        is_open or before.metric is ClaimMetric.COST or before.unit.name in ("d", "day", "days")
    ):
        return False
    return not any(map(_SPENT.search, (around.left[-100:], around.inside, around.right)))


def is_round(figure: Quantity) -> bool:
    """Return whether it is a number that people set, and that is seldom measured."""
    if figure.low != figure.high or figure.low != int(figure.low):
        return False
    whole = int(figure.low)
    return whole < 10 or whole % 5 == 0 or whole % 12 == 0 or whole.bit_count() == 1
