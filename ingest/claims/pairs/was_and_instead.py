"""Pairs whose words say which of the two figures was the former: `12 ms (was 36 ms)`, `0.2 s instead of 11 s`, `82 ms vs 84 ms`."""

from __future__ import annotations

import re

from ingest.claims.find.column_legends import FORMER_FIRST, LATTER_FIRST, is_told
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.pair_candidate import Candidate
from ingest.claims.pairs.not_a_pair import are_strangers
from ingest.claims.pairs.tenses import EARLIER
from ingest.claims.words.change_words import Sense
from ingest.claims.words.regex_parts import ARROW, DECOR, HEDGE, SENTENCE
from schemas.rows.claim import ClaimMetric

_FORMER = re.compile(
    rf"{SENTENCE}{{0,70}}?(?P<word>\binstead of|\brather than|\b(?:down|up)\s+from"
    r"|(?<=\()(?:improved|reduced|dropped|cut|decreased|lowered)\s+from(?![^()]*\sto\s)|\bfrom|\bcompared (?:to|with)|\bversus|\bvs\.?"
    r"|\bagainst|\bwas|\b(?:previously|formerly|originally)(?!,?\s(?:and|but)\b|;)|\b(?:antes|avant|vorher|zuvor)\b(?: era| était)?"
    r"|\bnot the|\bbefore:?|\bbaseline:?|\bin place of)"
    r"(?!\w)\s*"
    rf"(?:[\w.`'’/()-]+\s+){{0,3}}?{DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)
_SWAPPING = ("vs", "versus", "against", "compared")
"""Words that do not say which of the two figures was first."""

_AMBIGUOUS = ("was", "before", "antes", "avant", "vorher", "zuvor")
"""Words that tell of a former figure only in an aside."""

_BARE_FORMER = re.compile(rf"[*_`]*\s?\((?:was|from|down from|up from|previously|formerly|before:?)\s{DECOR}{HEDGE}", re.IGNORECASE)
"""`5.8k (was ~384k)`: of what, the label or head tells."""

_ASIDE = re.compile(r"(?:[(,;—–]|\s-\s)[^()]*\b(?:was|before|antes|avant|vorher|zuvor)\b", re.IGNORECASE)
_NAMED_OTHERWISE = re.compile(r"\s*[A-Za-z]")
"""`a 2.2 GHz board, where AES was at 250 MB/s`: what the first figure counts is not what the second is of."""

_IN_BRACKET = re.compile(rf"\(from\s{DECOR}{HEDGE}$", re.IGNORECASE)
"""`12 s (from 16 s)`"""

_GOES_ON = re.compile(rf"[*_`]*\s(?:(?:down |up )?to\s|{ARROW})")

_LATTER_BEFORE = re.compile(rf"(?:\bto\s+|\(\s*){HEDGE}$", re.IGNORECASE)
"""`to 5 s from 20 s`, `(5 s from 20 s)`"""


def latter_first(candidate: Candidate) -> Effect | None:
    """`0.2 s instead of 11 s`, `5 s, down from 20 s`, `562 s (was 1573 s)`, `82 ms vs 84 ms`."""
    has_unit = candidate.first.metric is not None or candidate.second.metric is not None
    former = _FORMER.fullmatch(candidate.glue) if has_unit or _BARE_FORMER.fullmatch(candidate.glue) else None
    if former is None or are_strangers(candidate):
        return None
    word = former["word"].lower().rstrip(":")
    if word.startswith(_SWAPPING) and (_OF_FORMER.match(candidate.glue) or is_told(candidate, FORMER_FIRST)):
        return candidate.whole
    is_aside = _ASIDE.search(candidate.glue) and (candidate.first.unit or not _NAMED_OTHERWISE.match(candidate.glue))
    comes_first = _LATTER_BEFORE.search(candidate.left) or (
        _IN_BRACKET.search(candidate.glue) and candidate.second.unit and not _GOES_ON.match(candidate.text, candidate.second.end)
    )
    if (word == "from" and not comes_first) or (word in _AMBIGUOUS and not is_aside):
        return None
    is_open = word.startswith(_SWAPPING) and not _is_told_which(candidate)
    sense = Sense.LOSS if is_open and _is_worse(candidate) else None
    return Effect(candidate.first.start, candidate.second.end, candidate.second, candidate.first, sense=sense, swaps=is_open, word=word)


_WORSE = re.compile(r"\b(?:worse|slower|regress\w*|slow-?downs?|heavier|more (?:memory|time|cpu|ram|disk|space)|longer)\b", re.IGNORECASE)
_MORE, _FEWER = (
    re.compile(r"\b(?:higher|larger|bigger|increased?)\b", re.IGNORECASE),
    re.compile(r"\b(?:lower|less|fewer|drop(?:s|ped)?)\b", re.IGNORECASE),
)


def _is_worse(candidate: Candidate) -> bool:
    """`uses more memory, 735 MB vs 479 MB`, `378 ms vs 365 ms slower`: a word of comparison that says which is which."""
    told = candidate.left[-50:] + candidate.text[candidate.second.end : candidate.second.end + 20]
    words = _FEWER if ClaimMetric.THROUGHPUT in (candidate.first.metric, candidate.second.metric) else _MORE
    return bool(_WORSE.search(told) or words.search(candidate.left[-50:]))


_REFERENCE = re.compile(r"[*_`]*(?:/[\w ]{1,12})?\s?\((?:vs\.?|versus|against|compared (?:to|with))\s[^()]*")
_OF_LATTER = re.compile(r"[^()\n]{0,30}\b(?:now|after|with|new)\b")
_WITHOUT = re.compile(
    r"[*_`)]*\s+\(?(?:without|before|previously|originally|at baseline|(?<=\()(?:main|master|base|baseline|develop|trunk|old)\b"
    r"|(?:on|for|in|at|with) (?:(?:the|its|our) )?"
    r"(?:[\w-]+ )?(?:main|master|base|baseline|old|original|previous|pre-\w+|unpatched|upstream|stock)\b)"
)


_LATTER_SIDE = re.compile(r"\b(?:branch|pr|patch(?:ed)?|new|after|optimi[sz]ed)\b[^,;.()]{0,20}$", re.IGNORECASE)
_FORMER_SIDE = re.compile(r"\b(?:main|master|base(?:line)?|before|old|original)\b", re.IGNORECASE)


def _is_told_which(candidate: Candidate) -> bool:
    """`126 ms (vs 86 ms)`, `18.6 MB vs 17.8 MB without`: what stands in the bracket, or what something is without, is the former."""
    text, end = candidate.text, candidate.second.end
    if _WITHOUT.match(text, end) or is_told(candidate, LATTER_FIRST):
        return True
    if _LATTER_SIDE.search(candidate.left) and _FORMER_SIDE.search(candidate.glue):
        return True
    return bool(_REFERENCE.fullmatch(candidate.glue)) and not EARLIER.search(candidate.left) and not _OF_LATTER.match(text, end)


_OF_FORMER = re.compile(r"[`*_]*\s\(?(?:on|in|at|for|with) (?:the |our |its )?(?:main|master|base|baseline|old \w+)\b")
"""`3.3 ms on main versus 3.2 ms`"""
