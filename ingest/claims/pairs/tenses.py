"""Pairs told by tense and contrast: `took 20 s, now 5 s`, `20 s before, 5 s after`, `in 0.4 s; the old code took 95 s`."""

from __future__ import annotations

import re

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.pair_candidate import Candidate
from ingest.claims.words.regex_parts import DECOR, HEDGE, SENTENCE
from schemas.rows.claim import ClaimMetric

_SPENDS = (
    r"takes?|uses?|needs?|issues?|makes?|sends?|does|performs?|allocates?|executes?"
    r"|(?:runs?|completes?|finish(?:es)?|loads?|is done|are done) in|is (?:down to|at|now|only|just)|sits at|drops? to|falls to"
    r"|does (?:it|this|that|so) in|(?:brings|cuts|reduces|gets|lowers|drops) (?:it|this|that|them)(?: down)? to"
)
"""Verbs of what the new version takes."""

_LATER = re.compile(
    rf"(?:{SENTENCE}{{0,60}}?|[;,]\s(?:and\s)?|[^.;\n\d]{{0,60}}\.\s+(?=Now\s))\b(?:now|after|new|becomes?|became|currently"
    rf"|optimi[sz]ed|to|(?:and|but|it) takes)\b"
    rf"[^.;\n]{{0,30}}|[,;]\s+(?:and\s)?(?:it\s)?is\s(?:now\s)?{DECOR}{HEDGE}|\.\s+(?:after|now|new)\b[^.;\n\d]{{0,30}}"
    rf"|[;,]\s(?:and\s|but\s)?(?:it|they)['’](?:s|re)\s(?:now\s)?{DECOR}{HEDGE}"
    r"|[^.;\n\d]{0,40}(?:[;,]\s(?:and\s|but\s)?(?:after|with|now|it now|they now|the new|this (?:pr|branch|patch|change|commit))"
    r"|\.\s+(?:with|after|now|using|thanks to|the new|this|it now|they now|it|they))"
    rf"\b[^.;\n\d]{{0,60}}?\b(?:{_SPENDS})\s+{DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)
EARLIER = re.compile(
    r"\b(?:before|old|original|originally|previously|baseline|was|were|took|used|used to|needed|taking|until now|so far|cost|spent"
    r"|seeing|saw)\b[^.;\n]{0,40}$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s(?:[a-z]+\s)?(?:quer(?:y|ies)|calls|requests|allocations|round[- ]?trips|syscalls|lookups|scans|renders)\b", re.IGNORECASE
)
"""`issued 62 SQL queries; it now issues 4`: what is counted is said once."""

TAGGED_BEFORE = re.compile(
    r"\s*\(?(?:before|earlier|previously|old|baseline|originally)\)?[\s,;/]+(?:and |to |vs\.? |now )?", re.IGNORECASE
)
TAGGED_AFTER = re.compile(r"\s*\(?(?:after(?:wards)?|now|new|today|later|optimi[sz]ed)\b", re.IGNORECASE)
_NOW = re.compile(rf"[*_`]*(?:[\s-][a-z][\w/-]*){{1,3}}\s+(?:is|are|takes|takes? only)\s+now\s+{DECOR}{HEDGE}{DECOR}", re.IGNORECASE)
"""`the 12 s startup is now 3 s`"""

_REDUCES_IT = re.compile(
    rf"[^.;\n\d]{{0,60}}\.\s+(?:this|the) (?:pr|patch|change|commit)\b[^.;\n\d]{{0,30}}"
    rf"\b(?:reduces|brings|cuts|lowers|drops|gets) (?:it|this|that|them)(?: down)? to\s+{DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)
"""`207 queries to show it. This PR reduces it to 5`"""

_AND_IS = re.compile(rf",?\s(?:and|but)\s(?:it\s)?(?:is|takes|needs|uses|costs)\s+{DECOR}{HEDGE}{DECOR}", re.IGNORECASE)
"""`was 54 minutes and is 51 minutes now`"""

_EVERY = re.compile(r"\b(?:every|each|per|last|past)\s+\W*$", re.IGNORECASE)


def by_tense(candidate: Candidate) -> Effect | None:
    """`took 20 s, now 5 s`, `20 s before, 5 s after`."""
    is_counted = candidate.first.metric is ClaimMetric.OPERATIONS and candidate.second.unit is None
    if not (candidate.has_units or is_counted or _COUNTED.match(candidate.glue) or _is_shorter(candidate)):
        return None
    if _REDUCES_IT.fullmatch(candidate.glue):
        return candidate.whole
    if _LATER.fullmatch(candidate.glue) and EARLIER.search(candidate.left):
        return candidate.whole
    tagged = TAGGED_BEFORE.fullmatch(candidate.glue) and TAGGED_AFTER.match(candidate.text, candidate.second.end)
    if _AND_IS.fullmatch(candidate.glue) and TAGGED_AFTER.match(candidate.text, candidate.second.end) and EARLIER.search(candidate.left):
        return candidate.whole
    if _NOW.fullmatch(candidate.glue) and not _EVERY.search(candidate.left):
        return candidate.whole
    return candidate.whole if tagged else None


_ENDS = re.compile(r"[*_`]*(?:[.,;)]|$)", re.MULTILINE)


def _is_shorter(candidate: Candidate) -> bool:
    """`took 40 seconds and now it takes around 5`: the unit is given once."""
    first, second = candidate.first, candidate.second
    is_bare = first.metric is ClaimMetric.TIME and second.unit is None and second.low < first.low
    return is_bare and _ENDS.match(candidate.text, second.end) is not None


_CONTRAST = re.compile(
    rf"[^.;\n\d]{{0,40}}(?:[;,:—–]\s+(?:the |it |they |that )?(?:old|previous(?:ly)?|former(?:ly)?|before|earlier|used to)\b"
    rf"[^.;\n\d]{{0,40}}|\.\s+(?:originally|previously|formerly|before(?: this(?: \w+)?)?,?)[:,]? (?:(?:it|they|this"
    rf"|that) [^.;\n\d]{{0,30}})?"
    rf"|\bwhere (?:it|they|this|that) (?:took|needed|used|was|were)\s+){DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)


def by_contrast(candidate: Candidate) -> Effect | None:
    """`in 0.4 s; the old code took 95 s`, `7 minutes where they took 40`."""
    has_unit = candidate.first.metric is not None
    contrasts = has_unit and not EARLIER.search(candidate.left) and _CONTRAST.fullmatch(candidate.glue)
    return Effect(candidate.first.start, candidate.second.end, candidate.second, candidate.first) if contrasts else None


_DOWN_TO = re.compile(
    rf"\b(?:down|reduced|dropped|cut|fell|falls|shrunk|shrank|went|goes|trimmed|lowered|decreased)(?: down)?\s+to\s+{DECOR}{HEDGE}$",
    re.IGNORECASE,
)
_THINGS_FROM = re.compile(rf"(?:\s+[a-z][\w/-]*){{1,3}}\s+from\s+{DECOR}{HEDGE}{DECOR}", re.IGNORECASE)
_INSTEAD_OF = re.compile(
    rf"\b(?:instead of|rather than|compared (?:to|with)|down from|where .{{2,30}} took)\s+{DECOR}{HEDGE}{DECOR}$", re.IGNORECASE
)
_ONLY = re.compile(
    rf"[^.;:\n\d]{{0,40}},\s+[^.;:\n\d]{{0,40}}?\b(?:only|just|now|(?:this|it) is|takes?|needs?|finish(?:es)?|runs? in|completes? in)\b"
    rf"[^.;:,\n\d]{{0,20}}"
    rf"(?<![-+]){DECOR}",
    re.IGNORECASE,
)


def former_told_first(candidate: Candidate) -> Effect | None:
    """`instead of 5 min for the whole run, only 2 min are spent`."""
    if not candidate.has_units or not (start := _INSTEAD_OF.search(candidate.left)) or not _ONLY.fullmatch(candidate.glue):
        return None
    return candidate.whole._replace(start=candidate.first.start - len(candidate.left) + start.start())


def things_from(candidate: Candidate) -> Effect | None:
    """`down to 23 draw calls from 41k`: what is counted stands between the figures."""
    if not (_THINGS_FROM.fullmatch(candidate.glue) and _DOWN_TO.search(candidate.left)):
        return None
    return Effect(candidate.first.start, candidate.second.end, candidate.second, candidate.first)
