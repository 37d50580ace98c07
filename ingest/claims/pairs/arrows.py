"""Pairs with an arrow between the figures: `2822 → 2172 ms`, `85 s before -> 25 s`, `~~24 s~~ 12 s`."""

from __future__ import annotations

import re

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.pair_candidate import Candidate
from ingest.claims.words.regex_parts import ARROW, DECOR, HEDGE

LEADS = re.compile(
    rf"[\s*_`'\")\]]*(?:\([^()\n]{{0,40}}\)\s*)?(?:[\w/.,-]+\s+){{0,4}}?(?:{ARROW}|から|에서)"
    r"(?:\s*[*_`]*(?:now|new|after|branch|this (?:pr|branch)|pr|head|warm|hot|cached|cache[- ]hit|steady)[*_`]*:?(?=\s))?"
    rf"(?:\s?[\w.+-]{{1,20}}(?:\s\(|:\s))?{DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)


def by_arrow(candidate: Candidate) -> Effect | None:
    if (
        not LEADS.fullmatch(candidate.glue)
        and not _STRUCK.fullmatch(candidate.glue)
        and not (candidate.has_units and _BEFORE_ARROW.fullmatch(candidate.glue))
    ):
        return None
    if candidate.first.unit is None and candidate.second.unit is not None and _SET_TO.search(candidate.left):
        return None
    if candidate.first.unit is None and candidate.second.unit is None and _is_numbered(candidate):
        return None
    is_condition = candidate.second.unit is None and candidate.text[candidate.first.start] in "><≥≤"  # `> 10 MB → 413`
    return None if is_condition or _NAME_GOES_ON.match(candidate.text, candidate.second.end) else candidate.whole


_SET_TO = re.compile(r"\w\s?=\s?$")
"""`qps = 4 => 43 ms`: what was seen at that setting."""


def _is_numbered(candidate: Candidate) -> bool:
    """`Kernel 11 → 349.0` above or below `Kernel 12 → 355.0`: the first number is part of a name."""
    text, start = candidate.text, candidate.first.start
    line = text.rfind("\n", 0, start) + 1
    name = text[line:start]
    if not name.strip(" -*:`"):
        return False
    above, below = text.rfind("\n", 0, max(line - 1, 0)) + 1, text.find("\n", start) + 1
    return any(text.startswith(name, other) and text[other + len(name) :][:1].isdigit() for other in (above, below) if other != line)


_STRUCK = re.compile(rf"~~\s{{1,3}}{DECOR}{HEDGE}")
"""`~~24 s~~ 12 s`"""

_BEFORE_ARROW = re.compile(
    rf"[*_`]*\s[^\n→.;:\d]{{0,60}}?\b(?:before|previously|baseline|today|currently|old|earlier)\b[*_`)]*\s*{ARROW}{DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)
"""`60 s under bursts of reconnects before → 5 s`"""

_NAME_GOES_ON = re.compile(r"-[A-Za-z]|\.[A-Za-z]")
"""`{36-bitmaps.conf => 76-bitmaps.conf}` are names of files."""
