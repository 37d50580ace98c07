"""Joins numbers that describe one effect: `2822 → 2172 ms (23% faster)`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from ingest.claims.judge.ratios import agrees, distance_of_share, factor_of, geometric_mean, same_change
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import ARROW, BULLETS, Sense

_REACH = 90
"""The most characters between two expressions of one effect."""

_OPENS = pattern(rf"[\s*_`]*(?:[\w/-]+\s+){{0,3}}?[\s*_`]*(?:[(\[]|[,:=;—–-]+\s|{ARROW}|\|)[^.;\d]{{0,30}}")
_LEADS_TO = pattern(r",? ?(?:bringing|taking|dropping|cutting|reducing|lowering)\b")
"""`by over 15%, bringing the time from 27 s to 22.5 s`: the pair belongs to the percentage, even if they disagree."""

_TAKES_UP = pattern(
    r"\.\s+(?:This|That(?:['’]s)?|Which|It(?:['’]s)?|(?:So|Thus|Hence),? (?:this|that|it)) "
    r"(?:(?:is|was|represents|amounts to|makes for) )?(?:an? |the )?(?:[\w-]+ )?[~*_]*$"
)
"""`at 50 s, against 40 s. This 25% regression`: the next sentence refers to the pair."""

_OPENS_BRACKET = pattern(r"[\s*_`]*(?:[\w-]+\s+){1,2}\((?:[\w-]+\s+){0,2}")
"""`+8.6% throughput (2.84 → 3.04 GB/s)`: the bracket behind a percentage has its figures, even if they disagree."""

_RESTATES = pattern(r"[*_`]*(?:,|\s[-–—])\s(?:an?|roughly an?|about an?|nearly an?)\s[*_`~]*")
"""`from 40 s to 15 s - a 74% reduction`, `by 25%, from 191 s to 147 s`: figures and percentage in one clause, even if they disagree."""

_BRACKETED = pattern(r"[\w\s*/`-]{0,40}[(\[][^()]{0,30}")
_SENTENCE_ENDS = pattern(rf"(?<!i\.e)(?<!e\.g)[.;!?](?:\*\*|__)?\s|\n\s*[{BULLETS}]")
_NEW_LINE = pattern(r"\n[ \t]*[A-Z]")
_BRACKET_BEHIND = pattern(r"[\s*_`]*\([^()\n]{0,60}?[%x×][^()\n]{0,40}\)|[\s*_`|]*[−–-]?[\d.]+%\*{0,2}")


def with_expressions_joined(text: str, effects: Iterable[Effect]) -> list[Effect]:
    """The effects, in order, with neighbouring expressions of one effect joined: a pair and its percentage, say."""
    out: list[Effect] = []
    for effect in effects:
        if out and _are_one_effect(text, out[-1], effect):
            out[-1] = joined(out[-1], effect)
        else:
            out.append(effect)
    return out


def _are_one_effect(text: str, first: Effect, second: Effect) -> bool:
    """Whether two neighbouring effects are expressions of one. Two pairs never are."""
    gap = text[first.end : second.start] if second.start - first.end <= _REACH else None
    if gap is None or (first.is_pair and second.is_pair):
        return False
    if first.is_pair or second.is_pair:
        return _belongs_to_pair(gap, first, second)
    if first.change and second.change:
        if _OPENS_MEASURED.fullmatch(gap) and _overlap(first.change, second.change):
            return True
        return same_change(first.change, second.change) and not _SENTENCE_ENDS.search(gap) and not _NEW_LINE.search(gap)
    return bool(_OPENS.fullmatch(gap)) and "," not in gap


_OPENS_MEASURED = pattern(r"[\s*_`]*\((?:measured|observed|actually)[ :]+", re.IGNORECASE)
"""`~3x faster (measured 2.68x-3.06x speedup)`"""


def _overlap(first: Quantity, second: Quantity) -> bool:
    """Whether the numbers, of one kind, have a part of their ranges in common, within 2 %."""
    return first.kind is second.kind and max(first.low, second.low) <= min(first.high, second.high) * 1.02


def _belongs_to_pair(gap: str, first: Effect, second: Effect) -> bool:
    """Whether the change or saving belongs to the pair: agreeing figures in one sentence, or a wording that says so."""
    pair, other = (first, second) if first.is_pair else (second, first)
    if pair.before == pair.after:  # `unchanged at 6.3 s (64% speedup kept)`
        return False
    if other.change is None:
        is_difference = pair is second and gap.endswith("(") and _is_difference(pair, other)
        return is_difference or gap.strip(" *_`") == "(" or (pair is first and _RESTATES.fullmatch(gap) is not None)
    bare = gap.strip(" *_`")
    if not agrees(pair, other.change):
        is_restated = pair is first and _RESTATES.fullmatch(gap) is not None
        is_spelled_out = pair is second and bare == "," and other.change.kind is Kind.PERCENT
        return (
            bare in ("(", "[", "(a", "(an", "(roughly a", "(about a", "(nearly a")
            or is_restated
            or is_spelled_out
            or bool(_LEADS_TO.match(bare) or (pair is second and _OPENS_BRACKET.fullmatch(gap)))
        )
    if not pair.unit:  # `from 32 to 128 to reduce passes by 4x` are two effects
        is_restated = pair is first and _RESTATES.fullmatch(gap) is not None
        return is_restated or bare in (",", ":", "-", "—", "–", "=", "") or bool(_BRACKETED.fullmatch(gap))
    return (
        not _SENTENCE_ENDS.search(gap)
        or (pair is first and bool(_TAKES_UP.search(gap)))
        or (len(gap) <= 4 and other.change.kind is Kind.TIMES)
    )


def _is_difference(pair: Effect, saving: Effect) -> bool:
    """Whether the absolute saving is the difference of the figures: `~21s faster across the suite (217s → 196s)`."""
    if not (pair.before and pair.after and saving.after) or not saving.after.has_metric_of(pair.before):
        return False
    difference = abs(pair.before.scaled()[0] - pair.after.scaled()[0])
    return math.isclose(difference, saving.after.scaled()[0], rel_tol=0.05)


def joined(first: Effect, second: Effect) -> Effect:
    """Two expressions of one effect as one, with the span of both, the pair and the change."""
    pair = first if first.is_pair else second
    change = first if first.change else second
    pair = _ordered_by_sense(pair, change) if pair.is_order_open and pair is second else pair
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


def _ordered_by_sense(pair: Effect, change: Effect) -> Effect:
    """The pair in the order that the change implies: `-12% throughput (440 vs 500 ops/sec)` makes 500 the baseline."""
    assert pair.before
    assert pair.after
    if change.change is None or change.sense not in (Sense.RISE, Sense.FALL) or not agrees(pair, change.change):
        return pair
    is_in_order = (pair.after.scaled() < pair.before.scaled()) is (change.sense is Sense.FALL)
    return pair._replace(is_order_open=False) if is_in_order else pair._replace(before=pair.after, after=pair.before, is_order_open=False)


_REFERS_BACK = pattern(
    r"[*_`).|!]*[ \t]*\n[ \t]*(?:[-*•+→✅][ \t]*)*[*_`]*"
    r"(?:(?:this|that|it|which|effectively|result|i\.e\.|for)\b[^.;\n\d]{0,40}|(?:an?|the|roughly|about)?[ \t~≈*_`]*)",
    re.IGNORECASE,
)
_SAYS_WHAT = pattern(r"[*_`]*(?:total |overall )?(?:speed-?up|improvement|reduction|savings?|gain)s?\b", re.IGNORECASE)
_THEN_FIGURES = pattern(r"[*_`).!]*[ \t]*\n[ \t]*[-*•+]?[ \t]*[*_]*(?:before|was|from|baseline|old)\b[^\d\n]{0,30}", re.IGNORECASE)


def is_restated_on_next_line(text: str, first: Effect, second: Effect) -> bool:
    """Whether the pair and its change are on two neighbouring lines.

    `After: 51 ms` / `This is a roughly 10x improvement`; `Size reduction: 70%` / `Before: 1.6 MB → After: 480 KB`.
    """
    gap = text[first.end : second.start] if 0 < second.start - first.end <= _REACH else ""
    pair, other = (first, second) if first.is_pair else (second, first)
    if "\n" not in gap or not pair.is_pair or other.is_pair or other.change is None or pair.change or not agrees(pair, other.change):
        return False
    if pair is second:
        return _THEN_FIGURES.fullmatch(gap) is not None
    echoes = _REFERS_BACK.fullmatch(gap)
    return echoes is not None and (echoes[0].strip(" \n*_`).|!-•+→✅\t") != "" or _SAYS_WHAT.match(text, second.start) is not None)


_LINES_BACK = 2
"""Lines above a change in which the figures can be that it repeats."""

_ROUNDED, _TO_A_DIGIT = 0.0055, 0.0006
"""How far a percentage may be from the figures that it repeats, as a share: half a percent, or with decimals half a tenth."""


def repeats_an_earlier(text: str, earlier: Iterable[Effect], effect: Effect) -> bool:
    """Whether a change without figures only repeats an effect a line or two above.

    `'evict_s': 0.899` / `'evict_s': 0.714` / `Eviction improved by 20.6%`; `Speedup: 3.09x` / `Improvement: 67.6%`.
    """
    if effect.is_pair or effect.change is None or effect.change.is_range or _NAMES_A_RATE.search(text, effect.start, effect.end):
        return False
    if not (_is_precise(text, effect.change) or _is_alone(text, effect)):
        return False
    return any(
        0 < effect.start - other.end <= _REACH_BACK
        and 0 < text.count("\n", other.end, effect.start) <= _LINES_BACK
        and not _ENDS_TABLE.search(text, other.end, effect.start)
        and _is_same(text, other, effect.change)
        for other in earlier
    )


_ENDS_TABLE = pattern(r"\|[ \t]*\n[ \t]*\n")
"""A line below a table sums it up, and is a claim of its own."""


def _is_same(text: str, other: Effect, change: Quantity) -> bool:
    """Whether the change is that of the other effect, as far as it is rounded."""
    if not other.is_pair:
        return other.change is not None and same_change(other.change, change)
    factor = factor_of(other)
    if factor is None or change.kind is Kind.TIMES:
        return factor is not None and agrees(other, change, math.log(1.02))
    share = geometric_mean((change.low, change.high)) / 100
    tolerance = _TO_A_DIGIT if "." in text[change.start : change.end] else _ROUNDED
    return distance_of_share(share, factor) <= tolerance


_NAMES_A_RATE = pattern(r"throughput|bandwidth|memory|latency", re.IGNORECASE)
"""`1.926x throughput` below `48% less time` is a claim of its own."""


def _is_precise(text: str, change: Quantity) -> bool:
    """Whether the number has three digits or more: another effect of the same size is unlikely."""
    return sum(map(str.isdigit, text[change.start : change.end])) > 2


_LABEL_OF_CHANGE = pattern(r"[\W_]*(?:(?:total |overall )?(?:improvement|reduction|speed-?up|savings?|gain|result)s?\b[\W_]*)?")


def _is_alone(text: str, effect: Effect) -> bool:
    """Whether nothing else is before the change on its line, except the word for a change: `Improvement: 67%`, `↑ 76% faster`."""
    start = text.rfind("\n", max(0, effect.start - _REACH_BACK), effect.start) + 1
    return _LABEL_OF_CHANGE.fullmatch(text[start : effect.start].lower()) is not None


_REACH_BACK = 300
"""Characters above a change in which the figures can be that it repeats."""


def with_trailing_bracket(text: str, effect: Effect, end: int) -> Effect:
    """The effect with its span extended up to `end`: a pair by a bracketed change behind it, `3.3s → 0.6s (-82%)`, any by a missing `)`."""
    if effect.is_pair and (bracket := _BRACKET_BEHIND.match(text, effect.end, min(end, effect.end + 110))):
        return effect._replace(end=bracket.end())
    is_open = text.rfind("(", effect.start, effect.end) > text.rfind(")", effect.start, effect.end)
    return effect._replace(end=effect.end + 1) if is_open and text[effect.end : min(end, effect.end + 1)] == ")" else effect
