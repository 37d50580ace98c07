"""Pairs by tense and contrast: `took 20 s, now 5 s`, `20 s before, 5 s after`, `in 0.4 s; the old code took 95 s`."""

from __future__ import annotations

import re

from ingest.claims.numbers.effect import Effect, TwoFigures
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import DECORATION, HEDGE, SAME_SENTENCE
from schemas.rows.claim import ClaimMetric

_SPENDS = (
    r"takes?|uses?|needs?|issues?|makes?|sends?|does|performs?|allocates?|executes?"
    r"|(?:runs?|completes?|finish(?:es)?|loads?|is done|are done) in|is (?:down to|at|now|only|just)|sits at|drops? to|falls to"
    r"|does (?:it|this|that|so) in|(?:brings|cuts|reduces|gets|lowers|drops) (?:it|this|that|them)(?: down)? to"
)
"""Verbs before the figure of the new version: `it now takes 5 s`."""

_LATER = pattern(
    rf"(?:{SAME_SENTENCE}{{0,60}}?|[;,]\s(?:and\s)?(?:the\s)?|[^.;\n\d]{{0,60}}\.\s+(?=Now\s))\b(?:now|after|new|becomes?|became|currently"
    rf"|optimi[sz]ed|(?:and|but|it) takes)\b"
    rf"[^.;\n]{{0,30}}|{SAME_SENTENCE}{{0,60}}?\bto\s+{DECORATION}{HEDGE}{DECORATION}|[,;]\s+(?:and\s)?(?:it\s)?is\s(?:now\s)?{DECORATION}{HEDGE}|\.\s+(?:after|now|new)\b[^.;\n\d]{{0,30}}"
    rf"|[;,]\s(?:and\s|but\s)?(?:it|they)['’](?:s|re)\s(?:now\s)?{DECORATION}{HEDGE}"
    r"|[^.;\n\d]{0,40}[;,]\s(?:and\s|but\s)?after(?:\s(?:it|that|this))?,?\s"
    rf"|[^.;\n\d]{{0,40}}[.;]\s+The\s(?:optimi[sz]ed|improved|new|patched|batched|concurrent|parallel)\b[^.;\n\d]{{0,60}}?"
    rf"\b(?:took|needed|used|completed in|ran in|finished in|{_SPENDS})\s+(?:only\s)?{DECORATION}{HEDGE}{DECORATION}"
    r"|[^.;\n\d]{0,40}(?:[;,]\s(?:and\s|but\s)?(?:after|with|now|it now|they now|the new|this (?:pr|branch|patch|change|commit))"
    r"|\.\s+(?:with|after|now|using|thanks to|the new|this|it now|they now|it|they))"
    rf"\b[^.;\n\d]{{0,60}}?\b(?:{_SPENDS})\s+{DECORATION}{HEDGE}{DECORATION}",
    re.IGNORECASE,
)
EARLIER = pattern(
    r"\b(?:before|old|original|originally|previously|baseline|was|were|took|used|used to|needed|taking|until now|so far|cost|spent"
    r"|seeing|saw)\b[^.;\n]{0,40}$",
    re.IGNORECASE,
)
_COUNTED = pattern(
    r"\s(?:[a-z]+\s)?(?:quer(?:y|ies)|calls|requests|allocations|round[- ]?trips|syscalls|lookups|scans|renders)\b", re.IGNORECASE
)
"""`issued 62 SQL queries; it now issues 4`: the noun is given once."""

BEFORE_BEHIND_FIGURE = pattern(
    r"\s*(?:total |each |overall )?\(?(?:before|earlier|previously|old|baseline|originally)\)?[\s,;/]+(?:and |to |vs\.? |now )?",
    re.IGNORECASE,
)
AFTER_BEHIND_FIGURE = pattern(r"\s*(?:total |each |overall )?\(?(?:after(?:wards)?|now|new|today|later|optimi[sz]ed)\b", re.IGNORECASE)
_NOW = pattern(rf"[*_`]*(?:[\s-][a-z][\w/-]*){{1,3}}\s+(?:is|are|takes|takes? only)\s+now\s+{DECORATION}{HEDGE}{DECORATION}", re.IGNORECASE)
"""`the 12 s startup is now 3 s`"""

_REDUCES_IT = pattern(
    rf"[^.;\n\d]{{0,60}}\.\s+(?:this|the) (?:pr|patch|change|commit)\b[^.;\n\d]{{0,30}}"
    rf"\b(?:reduces|brings|cuts|lowers|drops|gets) (?:it|this|that|them)(?: down)? to\s+{DECORATION}{HEDGE}{DECORATION}",
    re.IGNORECASE,
)
"""`207 queries to show it. This PR reduces it to 5`"""

_AND_IS = pattern(rf",?\s(?:and|but)\s(?:it\s)?(?:is|takes|needs|uses|costs)\s+{DECORATION}{HEDGE}{DECORATION}", re.IGNORECASE)
"""`was 54 minutes and is 51 minutes now`"""

_EVERY = pattern(r"\b(?:every|each|per|last|past)\s+\W*$", re.IGNORECASE)


def by_tense(two: TwoFigures) -> Effect | None:
    """`took 20 s, now 5 s`, `20 s before, 5 s after`, `the 12 s startup is now 3 s`: past tense, then present."""
    is_counted = two.first.metric is ClaimMetric.OPERATIONS and two.second.unit is None
    if not (two.has_units or is_counted or _COUNTED.match(two.between) or _is_shorter(two)):
        return None
    if _REDUCES_IT.fullmatch(two.between):
        return two.baseline_first
    if _LATER.fullmatch(two.between) and EARLIER.search(two.left):
        return two.baseline_first
    tagged = BEFORE_BEHIND_FIGURE.fullmatch(two.between) and AFTER_BEHIND_FIGURE.match(two.text, two.second.end)
    if _AND_IS.fullmatch(two.between) and AFTER_BEHIND_FIGURE.match(two.text, two.second.end) and EARLIER.search(two.left):
        return two.baseline_first
    if _NOW.fullmatch(two.between) and not _EVERY.search(two.left):
        return two.baseline_first
    return two.baseline_first if tagged else None


_ENDS = pattern(r"[*_`]*(?:[.,;)]|$)", re.MULTILINE)


def _is_shorter(two: TwoFigures) -> bool:
    """Whether the second figure is a smaller bare number at the end of a clause: `took 40 seconds and now it takes around 5`."""
    first, second = two.first, two.second
    is_bare = first.metric is ClaimMetric.TIME and second.unit is None and second.low < first.low
    return is_bare and _ENDS.match(two.text, second.end) is not None


_CONTRAST = pattern(
    rf"[^.;\n]{{0,40}}?(?:[;,:—–]\s+(?:with )?(?:the |it |they |that )?(?:old|previous(?:ly)?|former(?:ly)?|before|earlier|used to)\b"
    rf"[^.;\n\d]{{0,40}}|\.\s+(?:originally|previously|formerly|before(?: this(?: \w+)?)?,?)[:,]? (?:(?:it|they|this"
    rf"|that) [^.;\n\d]{{0,30}})?"
    rf"|[;,]\s+(?:where (?:it|they|this|that)|where the (?:old|previous|original) \w+|(?:it|they)(?= (?:took|needed)))"
    rf" (?:took|needed|used|was|were)\s+|\bwhere (?:it|they|this|that) (?:took|needed|used|was|were)\s+){DECORATION}{HEDGE}{DECORATION}",
    re.IGNORECASE,
)


_IT_TOOK = pattern(r"[;,]\s+(?:it|they) (?:took|needed)\s", re.IGNORECASE)
_TAKES = pattern(rf"\b(?:now|{_SPENDS})\b[^.;\n]{{0,20}}$", re.IGNORECASE)
"""`takes 12 s; it took 95 s`, not `after 12 s the client gives up; it took 95 s before that`."""


def by_contrast(two: TwoFigures) -> Effect | None:
    """`in 0.4 s; the old code took 95 s`, `7 minutes where they took 40`: the candidate first, then the old version."""
    has_unit = two.first.metric is not None
    contrasts = has_unit and not EARLIER.search(two.left) and _CONTRAST.fullmatch(two.between)
    if contrasts and _IT_TOOK.search(two.between) and not _TAKES.search(two.left):
        return None
    return two.candidate_first if contrasts else None
