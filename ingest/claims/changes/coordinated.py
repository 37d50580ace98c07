"""A change that takes its word of comparison from the one before: `8x faster for reads and 7x for writes`, `avg −17%, worst −67%`."""

from __future__ import annotations

import re

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import HEDGE, METRICS, NOT_PERFORMANCE, Sense
from schemas.rows.claim import ClaimMetric

APPLIED = pattern(r"[*_`]*\s+(?:for|on|in|with|at|when|over|under|from|against|vs|versus)\b")
_COORDINATES = pattern(r"(?:[^.;]|\.(?=\d)){0,60}?(?:,|\band|,\s*and|\bor)\s+(?:by\s+)?[*_`~≈]*")
_COORDINATED_BY = pattern(r"(?:[^.;\n]|\.(?=\d)){0,60}?(?:,\s*and|,|\band)\s+(?:[\w./`-]+\s+){1,3}by\s+[*_`~≈]*")
_ELLIPTIC = pattern(rf"[^.;\n]{{0,120}}[.;]\s+(?:(?:And|while|but)\s+)?it(?:['’]s| is| was)\s+(?:even\s+)?{HEDGE}", re.IGNORECASE)


_LISTED_CHANGE = pattern(rf"[*_`]*(?:,|,?\s+and)\s+(?P<name>(?:(?!\w+ed\s)[\w./`-]+:?\s+){{1,3}}){HEDGE}[*_`]*")
_CLAUSE_ENDS = pattern(r"[*_`]*(?:[,.;)](?!\d)|\s*$|\s+and\b|\s\()", re.MULTILINE)
"""`parses 1.3x faster, lex 1.45x`"""


def coordinated(text: str, quantity: Quantity, last: Effect | None) -> Effect | None:
    """The change with the word of `last`: `8.2x speedup for reads and 7.6x for writes`, `speeds up a by 12% and b by 9%`.

    Also across sentences: `is 5% faster on a. And it is 8% on b`. None if the text between them does not coordinate the two.
    """
    if last is None or quantity.kind is Kind.VALUE:
        return None
    if last.is_pair:
        return _coordinated_with_pair(text, quantity, last)
    if last.change is None or last.change.kind is not quantity.kind:
        return _by_other_means(text, quantity, last)
    joins = _COORDINATES.fullmatch(text, last.end, quantity.start) or _ELLIPTIC.fullmatch(text, last.end, quantity.start)
    listed = _LISTED_CHANGE.fullmatch(text, last.end, quantity.start)
    if listed and not METRIC_NOUNS.search(listed["name"]) and _CLAUSE_ENDS.match(text, quantity.end):
        return Effect(quantity.start, quantity.end, change=quantity, sense=last.sense, word=last.word)
    is_applied = joins and APPLIED.match(text, quantity.end)
    if not is_applied and not _COORDINATED_BY.fullmatch(text, last.end, quantity.start):
        return None
    return Effect(quantity.start, quantity.end, change=quantity, sense=last.sense, word=last.word)


_ALSO_VIA = pattern(rf"[^.;:()\n]{{0,60}}(?:,|,?\s+and)\s+{HEDGE}[*_`]*")
_VIA_BEHIND = pattern(r"[*_`]*\s+(?:via|using)\s[\w`]")


def _by_other_means(text: str, quantity: Quantity, last: Effect) -> Effect | None:
    """`3x faster via the SIMD path, 10-20% via SSE`: a percentage that continues a factor."""
    if last.change is None or quantity.sign or last.sense is not Sense.GAIN or not _ALSO_VIA.fullmatch(text, last.end, quantity.start):
        return None
    is_via = _VIA_BEHIND.match(text, quantity.end) is not None
    return Effect(quantity.start, quantity.end, change=quantity, sense=last.sense, word=last.word) if is_via else None


def _coordinated_with_pair(text: str, quantity: Quantity, last: Effect) -> Effect | None:
    """`tokens fall from 48k to 9k and the bill by 70%`: the verb of the pair applies to the percentage too."""
    if _continues_list_of_times(text, quantity, last):
        return Effect(quantity.start, quantity.end, change=quantity, sense=Sense.GAIN, word="faster")
    if last.change or last.before is None or last.after is None or not _COORDINATED_BY.fullmatch(text, last.end, quantity.start):
        return None
    sense = Sense.FALL if last.after.scaled() < last.before.scaled() else Sense.RISE
    return Effect(quantity.start, quantity.end, change=quantity, sense=sense, word="by")


def _continues_list_of_times(text: str, quantity: Quantity, last: Effect) -> bool:
    """Whether a list of shorter times continues with a factor: `rebuild 27 → 13 ms, fit 1.4x`."""
    before, after = last.before, last.after
    if quantity.kind is not Kind.TIMES or quantity.high <= 1 or before is None or after is None or after.scaled() >= before.scaled():
        return False
    listed = _LISTED_CHANGE.fullmatch(text, last.end, quantity.start) if ClaimMetric.TIME in (before.metric, after.metric) else None
    return bool(listed and not METRIC_NOUNS.search(listed["name"]) and _CLAUSE_ENDS.match(text, quantity.end))


_SIGNS = ("+", "-")
_LISTED_PERCENTAGE = pattern(
    r"[*_`]*(?:\s(?:via|on|with|for|at)\s[\w./`-]{1,30})?(?:\s?/\s?|,\s+|\s+and\s+)(?:and\s+)?(?P<name>(?:[\w./`-]+\s+){0,2})[*_`]*"
)
METRIC_NOUNS = pattern(rf"(?<![a-z])(?:{'|'.join([*METRICS.values(), NOT_PERFORMANCE])})", re.IGNORECASE)
_OWN_NOUN_REACH = 25
"""Characters behind a signed percentage in which a noun belongs to the percentage."""

_PHRASE_ENDS = pattern(r"[,;:()\n—–]")
_LEFT_REACH = 60


def next_signed_percentage(text: str, quantity: Quantity, last: Effect | None) -> Effect | None:
    """`avg throughput −17%, worst −67%`: the later percentages have the metric of the first, unless a noun follows them."""
    if last is None or last.word not in _SIGNS or last.after or not last.change or quantity.kind is not Kind.PERCENT or not quantity.sign:
        return None
    listed = _LISTED_PERCENTAGE.fullmatch(text, last.end, quantity.start)
    if (
        listed is None
        or METRIC_NOUNS.search(listed["name"])
        or METRIC_NOUNS.search(_PHRASE_ENDS.split(text[quantity.end : quantity.end + _OWN_NOUN_REACH], 1)[0])
    ):
        return None
    sense = Sense.RISE if quantity.sign == "+" else Sense.FALL
    left = max(0, last.start - _LEFT_REACH)
    labels = last.labels or text[text.rfind("\n", left, last.start) + 1 or left : last.start]
    return Effect(quantity.start, quantity.end, change=quantity, sense=sense, word=quantity.sign, labels=labels)
