"""Pairs with a word right before the baseline figure: `12 ms (was 36 ms)`, `0.2 s instead of 11 s`, `82 ms vs 84 ms`."""

from __future__ import annotations

import re

from ingest.claims.numbers.effect import Effect, TwoFigures
from ingest.claims.numbers.quantities import Kind
from ingest.claims.pairs.side_labels import BASELINE_FIRST, BASELINE_NAMES, CANDIDATE_FIRST, is_stated_above
from ingest.claims.pairs.tenses import AFTER_BEHIND_FIGURE, BEFORE_BEHIND_FIGURE, EARLIER
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import ARROW, DECORATION, HEDGE, SAME_SENTENCE, Sense
from schemas.rows.claim import ClaimMetric

_PLURAL_BEHIND = pattern(r"\s[a-z]{3,}s\b")
"""`10 seconds, instead of 10 iterations`: a time and a count, no pair."""

_LABELLED_BEFORE = pattern(r"\s*\((?:before|old|was)[:\s]\s*", re.IGNORECASE)
_LABELLED_AFTER = pattern(r"\s*[,;/]\s*(?:after|new|now)\b", re.IGNORECASE)
"""`by 300 ms (before: 857, after: 538)`: the pair is inside the bracket, and `300 ms` is not part of it."""

_NOT_COUNTS = (ClaimMetric.TIME, ClaimMetric.MEMORY)
_NOUN_BEHIND = pattern(r"[\s-][a-z]{3,}")
"""`sharded to 6 runners, down from 52 minutes`, `the 521-page rows instead of 4 ms`: the first figure is a count."""

_WISHED = pattern(r"\b(?:like|want|wish|prefer|need)(?:ed|s)? to\b[^.;]*$", re.IGNORECASE)
_EQUIPMENT = pattern(rf"\b(?:have|has|had|(?:configured|shipped|equipped|come[s]?|ships?) with)\s+{HEDGE}$", re.IGNORECASE)
"""`runners have 64 GB of memory, compared to 32 GB`: equipment, not usage."""

_PRODUCT_NAME = pattern(r"\b(?:RTX|GTX|Ryzen|Xeon|Core|Radeon|Pi|M|iPhone|Pixel|EPYC|Threadripper)[ -]$")
"""`28 fps on the RTX 3060, down from 92 fps`: `3060` is part of a name."""

_COSTS = pattern(r"\bcosts?\b\W*$", re.IGNORECASE)
_OF_ANOTHER = pattern(r"\s(?:to|for)\s\w")
"""`the dominant cost (1 s vs 40 ms to tessellate)`: two parts of one whole."""

_TARGET = pattern(
    r"[*_`]*\s(?:caps?|ticks?|deadlines?|targets?|goals?|budgets?|limits?|requirements?|slos?|estimates?|estimated"
    r"|planned)\b",
    re.IGNORECASE,
)
"""`30 FPS cap vs 60 FPS target`: neither was measured."""


_INPUT_BEHIND = pattern(
    r"\s(?:inputs?|blocks?|messages?|buffers?|pages?|chunks?|payloads?|keys?|strings?|vectors?|lines?|packets?|writes?|reads?)\b",
    re.IGNORECASE,
)
"""`512-byte inputs compared to 384 bytes`: sizes of inputs."""


def are_unrelated_figures(two: TwoFigures) -> bool:
    """Whether the words around the figures show that they are no pair, but counts, wishes, targets or labelled figures."""
    return _count_different_things(two) or _are_read_by_their_labels(two) or _are_wishes_or_limits(two)


def _count_different_things(two: TwoFigures) -> bool:
    """Whether one figure counts things or is part of a name, or both are parts of one whole: `10 s, instead of 10 iterations`."""
    text, first, second = two.text, two.first, two.second
    if second.unit is None and _PLURAL_BEHIND.match(text, second.end):
        return True
    if first.metric is ClaimMetric.MEMORY and "-" in text[first.start : first.end] and _INPUT_BEHIND.match(text, first.end):
        return True
    is_bare = first.unit is None and second.unit is not None
    if is_bare and (_PRODUCT_NAME.search(two.left) or (second.metric in _NOT_COUNTS and _NOUN_BEHIND.match(two.between))):
        return True
    return bool(_COSTS.search(two.left) and _OF_ANOTHER.match(text, second.end))


def _are_read_by_their_labels(two: TwoFigures) -> bool:
    """Whether both figures have labels, `20 s before, 5 s after`: another rule reads those."""
    text, end = two.text, two.second.end
    if BEFORE_BEHIND_FIGURE.fullmatch(two.between) and AFTER_BEHIND_FIGURE.match(text, end):
        return True
    return bool(_LABELLED_BEFORE.fullmatch(two.between) and _LABELLED_AFTER.match(text, end))


def _are_wishes_or_limits(two: TwoFigures) -> bool:
    """Whether the figures are wishes, equipment or targets: `30 FPS cap vs 60 FPS target`."""
    if _WISHED.search(two.left) or (two.first.metric is ClaimMetric.MEMORY and _EQUIPMENT.search(two.left)):
        return True
    return bool(_TARGET.match(two.text, two.second.end) or _TARGET.match(two.between))


_BASELINE_WORD = pattern(
    rf"{SAME_SENTENCE}{{0,70}}?(?:(?P<word>\binstead of|\brather than|\b(?:down|up)\s+from"
    r"|(?<=\()(?:improved|reduced|dropped|cut|decreased|lowered)\s+from(?![^()]*\sto\s)|\bfrom|\bcompared (?:to|with)|\bversus|\bvs\.?"
    r"|\bagainst|\bwas|\b(?:previously|formerly|originally)(?!,?\s(?:and|but)\b|;)|\b(?:antes|avant|vorher|zuvor)\b(?: era| était)?"
    r"|\bnot the|\bbefore:?|(?<=\()old:?|\bbaseline:?(?![ \t]*\n)|\bin place of)"
    r"(?!\w)(?!\)[ \t]*\n)\s*|而不是(?:之前|原来|以前)?的?)"
    rf"(?:[\w.`'’/()-]+\s+){{0,3}}?{DECORATION}{HEDGE}{DECORATION}",
    re.IGNORECASE,
)
_LABEL_OF_NEXT_LINE = pattern(r"\n[^\n:]*\bvs\.?\s[^\n:]*:", re.IGNORECASE)
"""Below `Parallel vs Baseline: 1.02x` a line `Parallel vs Cached: 0.86x`."""

_GOES_TO = pattern(rf"\)\s(?:to|{ARROW})\s{HEDGE}{DECORATION}$", re.IGNORECASE)
"""`677 kB (before) to 612 kB`: the bracket is of the first figure."""

_EITHER_ORDER = ("vs", "versus", "against", "compared")
"""Beginnings of words that do not say which figure is the baseline: `46 ms vs 51 ms`."""

_AMBIGUOUS = ("was", "before", "antes", "avant", "vorher", "zuvor")
"""Words that mark a baseline figure only in brackets or behind a comma: `5 s, was 20 s`."""

_BASELINE_IN_BRACKET = pattern(
    rf"[*_`]*\s?\((?:was|from|down from|up from|previously|formerly|before:?)\s{DECORATION}{HEDGE}", re.IGNORECASE
)
"""`5.8k (was ~384k)`: accepted without units, since a label or header cell may name the metric."""

_STATE_FALLS = pattern(r"[*_`]*,?\s(?:down|up) from\s", re.IGNORECASE)
"""`1.5x, down from 40x`: how many times as long as something else it takes."""

_ASIDE = pattern(r"(?:[(,;—–]|\s-\s)[^()]*\b(?:was|before|antes|avant|vorher|zuvor)\b", re.IGNORECASE)
_NAMED_OTHERWISE = pattern(r"\s*[A-Za-z]")
"""`a 2.2 GHz board, where AES was at 250 MB/s`: a unit that is not known follows the first figure, so it is no pair."""

_IN_BRACKET = pattern(rf"\(from\s{DECORATION}{HEDGE}$", re.IGNORECASE)
"""`12 s (from 16 s)`"""

_GOES_ON = pattern(rf"[*_`]*\s(?:(?:down |up )?to\s|{ARROW})")

_CANDIDATE_BEFORE = pattern(rf"(?:\bto\s+|\(\s*){HEDGE}$", re.IGNORECASE)
"""`to 5 s from 20 s`, `(5 s from 20 s)`"""


def by_marked_baseline(two: TwoFigures) -> Effect | None:
    """`0.2 s instead of 11 s`, `5 s, down from 20 s`, `562 s (was 1573 s)`, `82 ms vs 84 ms`: the candidate, then the baseline.

    Around `vs` and the like, labels give the order (`3.3 ms on main vs 3.2 ms`), or it stays open: `judge.ratios` then assumes a gain,
    unless a word says that it is a loss.
    """
    has_unit = two.first.metric is not None or two.second.metric is not None
    are_states = two.first.kind is two.second.kind is Kind.TIMES and _STATE_FALLS.match(two.between) is not None
    is_told = has_unit or are_states or _BASELINE_IN_BRACKET.fullmatch(two.between)
    baseline = _BASELINE_WORD.fullmatch(two.between) if is_told else None
    if baseline is None or are_unrelated_figures(two):
        return None
    word = (baseline["word"] or "").lower().rstrip(":")
    if _LABEL_OF_NEXT_LINE.search(two.between) or (word in _AMBIGUOUS and _GOES_TO.search(two.between)):
        return None
    if word.startswith(_EITHER_ORDER) and (_ON_BASELINE.match(two.between) or is_stated_above(two, BASELINE_FIRST)):
        return two.baseline_first
    is_aside = _ASIDE.search(two.between) and (two.first.unit or not _NAMED_OTHERWISE.match(two.between))
    comes_first = _CANDIDATE_BEFORE.search(two.left) or (
        _IN_BRACKET.search(two.between) and two.second.unit and not _GOES_ON.match(two.text, two.second.end)
    )
    if (word == "from" and not comes_first) or (word in _AMBIGUOUS and not is_aside):
        return None
    is_open = word.startswith(_EITHER_ORDER) and not _names_the_baseline(two)
    sense = Sense.LOSS if is_open and _is_worse(two) else None
    return two.candidate_first._replace(sense=sense, is_order_open=is_open, word=word)


_WORSE = pattern(r"\b(?:worse|slower|regress\w*|slow-?downs?|heavier|more (?:memory|time|cpu|ram|disk|space)|longer)\b", re.IGNORECASE)
_MORE, _FEWER = (
    pattern(r"\b(?:higher|larger|bigger|increased?)\b", re.IGNORECASE),
    pattern(r"\b(?:lower|less|fewer|drop(?:s|ped)?)\b", re.IGNORECASE),
)


def _is_worse(two: TwoFigures) -> bool:
    """Whether words near the figures say that it became worse: `uses more memory, 735 MB vs 479 MB`, `378 ms vs 365 ms slower`."""
    words_near = two.left[-50:] + two.text[two.second.end : two.second.end + 20]
    words = _FEWER if ClaimMetric.THROUGHPUT in (two.first.metric, two.second.metric) else _MORE
    return bool(_WORSE.search(words_near) or words.search(two.left[-50:]))


_REFERENCE = pattern(r"[*_`]*(?:/[\w ]{1,12})?\s?\((?:vs\.?|versus|against|compared (?:to|with))\s[^()]*")
_CANDIDATE_BEHIND = pattern(r"[^()\n]{0,30}\b(?:now|after|with|new)\b")
_WITHOUT = pattern(
    r"[*_`)]*\s+\(?(?:without|before|previously|originally|at baseline|(?<=\()(?:main|master|base|baseline|develop|trunk|old)\b"
    r"|(?:on|for|in|at|with) (?:(?:the|its|our) )?"
    r"(?:[\w-]+ )?(?:main|master|base|baseline|old|original|previous|pre-\w+|unpatched|upstream|stock)\b)"
)


_CANDIDATE_NAME = pattern(r"\b(?:branch|pr|patch(?:ed)?|new|after|optimi[sz]ed)\b[^,;.()]{0,20}$", re.IGNORECASE)
_BASELINE_NAME = pattern(rf"\b(?:{BASELINE_NAMES})\b", re.IGNORECASE)
_NAMED_BASELINE = pattern(
    r"\b(?:vs\.?|versus|against|compared (?:to|with))\s(?:(?:an?|the|our|its)\s)?[`*_]*"
    rf"(?:{BASELINE_NAMES})\b",
    re.IGNORECASE,
)
"""`100 ms compared to a baseline of 80 ms`"""


def _names_the_baseline(two: TwoFigures) -> bool:
    """Whether the second figure is surely the baseline: in brackets, `126 ms (vs 86 ms)`, or labelled, `18.6 MB vs 17.8 MB without`."""
    text, end = two.text, two.second.end
    if _WITHOUT.match(text, end) or is_stated_above(two, CANDIDATE_FIRST):
        return True
    if _NAMED_BASELINE.search(two.between) or (_CANDIDATE_NAME.search(two.left) and _BASELINE_NAME.search(two.between)):
        return True
    return bool(_REFERENCE.fullmatch(two.between)) and not EARLIER.search(two.left) and not _CANDIDATE_BEHIND.match(text, end)


_ON_BASELINE = pattern(r"[`*_]*\s\(?(?:on|in|at|for|with) (?:the |our |its )?(?:main|master|base|baseline|old \w+)\b")
"""`3.3 ms on main versus 3.2 ms`"""
