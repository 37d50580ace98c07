"""Pairs whose words say which of the two figures was the former: `12 ms (was 36 ms)`, `took 20 s, now 5 s`, `down to 5 calls from 40`."""

from __future__ import annotations

import re

from ingest.claims.candidate import Candidate
from ingest.claims.effect import Effect
from ingest.claims.glue import DECOR, HEDGE, SENTENCE
from ingest.claims.legends import FORMER_FIRST, LATTER_FIRST, is_told
from ingest.claims.lexicon import Sense
from schemas.claim import ClaimMetric

_FORMER = re.compile(
    rf"{SENTENCE}{{0,70}}?(?P<word>\binstead of|\brather than|\b(?:down|up)\s+from|\bfrom|\bcompared (?:to|with)|\bversus|\bvs\.?"
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

_COUNTED_THINGS = re.compile(r"\s[a-z]{3,}s\b")
"""`10 seconds, instead of 10 iterations` are two things."""

_BARE_FORMER = re.compile(rf"[*_`]*\s?\((?:was|from|down from|up from|previously|formerly|before:?)\s{DECOR}{HEDGE}", re.IGNORECASE)
"""`5.8k (was ~384k)`: of what, the label or head tells."""

_ASIDE = re.compile(r"(?:[(,;—–]|\s-\s)[^()]*\b(?:was|before|antes|avant|vorher|zuvor)\b", re.IGNORECASE)
_NAMED_OTHERWISE = re.compile(r"\s*[A-Za-z]")
"""`a 2.2 GHz board, where AES was at 250 MB/s`: what the first figure counts is not what the second is of."""

_LABELLED_BEFORE = re.compile(r"\s*\((?:before|old|was)[:\s]\s*", re.IGNORECASE)
_LABELLED_AFTER = re.compile(r"\s*[,;/]\s*(?:after|new|now)\b", re.IGNORECASE)
"""`by 300 ms (before: 857, after: 538)`: the bracket has both figures."""

_NEVER_COUNTED = (ClaimMetric.TIME, ClaimMetric.MEMORY)
_OTHER_THINGS = re.compile(r"[\s-][a-z]{3,}")
"""`sharded to 6 runners, down from 52 minutes`, `the 521-page rows instead of 4 ms`: the first counts something."""

_WISHED = re.compile(r"\b(?:like|want|wish|prefer|need)(?:ed|s)? to\b[^.;]*$", re.IGNORECASE)
_OWNED = re.compile(rf"\b(?:have|has|had|(?:configured|shipped|equipped|come[s]?|ships?) with)\s+{HEDGE}$", re.IGNORECASE)
"""`runners have 64 GB of memory, compared to 32 GB`: nobody made it so."""

_MODEL = re.compile(r"\b(?:RTX|GTX|Ryzen|Xeon|Core|Radeon|Pi|M|iPhone|Pixel|EPYC|Threadripper)[ -]$")
"""`28 fps on the RTX 3060, down from 92 fps`"""

_COSTS = re.compile(r"\bcosts?\b\W*$", re.IGNORECASE)
_OF_ANOTHER = re.compile(r"\s(?:to|for)\s\w")
"""`the dominant cost (1 s vs 40 ms to tessellate)`: two parts of one thing."""

_AIMED_AT = re.compile(r"[*_`]*\s(?:caps?|ticks?|deadlines?|targets?|goals?|budgets?|limits?|requirements?|slos?)\b", re.IGNORECASE)
"""`30 FPS cap vs 60 FPS target`: neither was measured."""

_OPENS = re.compile(rf"\(\s*{HEDGE}$")
_TO_BEFORE = re.compile(rf"\bto\s+{HEDGE}$", re.IGNORECASE)


def latter_first(candidate: Candidate) -> Effect | None:
    """`0.2 s instead of 11 s`, `5 s, down from 20 s`, `562 s (was 1573 s)`, `82 ms vs 84 ms`."""
    has_unit = candidate.first.metric is not None or candidate.second.metric is not None
    former = _FORMER.fullmatch(candidate.glue) if has_unit or _BARE_FORMER.fullmatch(candidate.glue) else None
    if former is None or _are_two_things(candidate):
        return None
    word = former["word"].lower().rstrip(":")
    if word.startswith(_SWAPPING) and (_OF_FORMER.match(candidate.glue) or is_told(candidate, FORMER_FIRST)):
        return candidate.whole
    is_aside = _ASIDE.search(candidate.glue) and (candidate.first.unit or not _NAMED_OTHERWISE.match(candidate.glue))
    if (word == "from" and not _TO_BEFORE.search(candidate.left) and not _OPENS.search(candidate.left)) or (
        word in _AMBIGUOUS and not is_aside
    ):
        return None
    is_open = word.startswith(_SWAPPING) and not _is_told_which(candidate)
    sense = Sense.LOSS if is_open and _is_worse(candidate) else None
    return Effect(candidate.first.start, candidate.second.end, candidate.second, candidate.first, sense=sense, swaps=is_open, word=word)


def _are_two_things(candidate: Candidate) -> bool:
    """Whether a word between or behind the figures keeps them from being the same thing before and after."""
    text, first, second = candidate.text, candidate.first, candidate.second
    if second.unit is None and _COUNTED_THINGS.match(text, second.end):
        return True
    if _TAGGED_BEFORE.fullmatch(candidate.glue) and _TAGGED_AFTER.match(text, second.end):
        return True
    if _LABELLED_BEFORE.fullmatch(candidate.glue) and _LABELLED_AFTER.match(text, second.end):
        return True
    if first.unit is None and second.unit is not None and _MODEL.search(candidate.left):
        return True
    if _COSTS.search(candidate.left) and _OF_ANOTHER.match(text, second.end):
        return True
    if first.unit is None and second.metric in _NEVER_COUNTED and _OTHER_THINGS.match(candidate.glue):
        return True
    if _WISHED.search(candidate.left) or (first.metric is ClaimMetric.MEMORY and _OWNED.search(candidate.left)):
        return True
    return any(map(bool, (_AIMED_AT.match(text, second.end), _AIMED_AT.match(candidate.glue))))


_WORSE = re.compile(r"\b(?:worse|slower|regress\w*|slow-?downs?|heavier|more (?:memory|time|cpu|ram|disk|space)|longer)\b", re.IGNORECASE)
_MORE, _FEWER = (
    re.compile(r"\b(?:higher|larger|bigger|increased?)\b", re.IGNORECASE),
    re.compile(r"\b(?:lower|less|fewer|drop(?:s|ped)?)\b", re.IGNORECASE),
)


def _is_worse(candidate: Candidate) -> bool:
    """`uses more memory, 735 MB vs 479 MB`, `378 ms vs 365 ms slower`: a word of comparison that says which is which."""
    told = candidate.left[-50:] + candidate.text[candidate.second.end : candidate.second.end + 20]
    words = _FEWER if candidate.first.metric is ClaimMetric.THROUGHPUT else _MORE
    return bool(_WORSE.search(told) or words.search(candidate.left[-50:]))


_REFERENCE = re.compile(r"[*_`]*(?:/[\w ]{1,12})?\s?\((?:vs\.?|versus|against|compared (?:to|with))\s[^()]*")
_OF_LATTER = re.compile(r"[^()\n]{0,30}\b(?:now|after|with|new)\b")
_WITHOUT = re.compile(
    r"[*_`)]*\s+\(?(?:without|before|previously|originally|at baseline|(?<=\()(?:main|master|base|baseline|develop|trunk|old)\b|(?:on|for|in|at|with) (?:(?:the|its|our) )?"
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
    return bool(_REFERENCE.fullmatch(candidate.glue)) and not _EARLIER.search(candidate.left) and not _OF_LATTER.match(text, end)


_OF_FORMER = re.compile(r"[`*_]*\s\(?(?:on|in|at|for|with) (?:the |our |its )?(?:main|master|base|baseline|old \w+)\b")
"""`3.3 ms on main versus 3.2 ms`"""


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
_EARLIER = re.compile(
    r"\b(?:before|old|original|originally|previously|baseline|was|were|took|used|used to|needed|taking|until now|so far|cost|spent|seeing|saw)\b[^.;\n]{0,40}$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s(?:[a-z]+\s)?(?:quer(?:y|ies)|calls|requests|allocations|round[- ]?trips|syscalls|lookups|scans|renders)\b", re.IGNORECASE
)
"""`issued 62 SQL queries; it now issues 4`: what is counted is said once."""

_TAGGED_BEFORE = re.compile(
    r"\s*\(?(?:before|earlier|previously|old|baseline|originally)\)?[\s,;/]+(?:and |to |vs\.? |now )?", re.IGNORECASE
)
_TAGGED_AFTER = re.compile(r"\s*\(?(?:after(?:wards)?|now|new|today|later|optimi[sz]ed)\b", re.IGNORECASE)
_NOW = re.compile(rf"[*_`]*(?:[\s-][a-z][\w/-]*){{1,3}}\s+(?:is|are|takes|takes? only)\s+now\s+{DECOR}{HEDGE}{DECOR}", re.IGNORECASE)
"""`the 12 s startup is now 3 s`"""

_AND_IS = re.compile(rf",?\s(?:and|but)\s(?:it\s)?(?:is|takes|needs|uses|costs)\s+{DECOR}{HEDGE}{DECOR}", re.IGNORECASE)
"""`was 54 minutes and is 51 minutes now`"""

_EVERY = re.compile(r"\b(?:every|each|per|last|past)\s+\W*$", re.IGNORECASE)


def by_tense(candidate: Candidate) -> Effect | None:
    """`took 20 s, now 5 s`, `20 s before, 5 s after`."""
    is_counted = candidate.first.metric is ClaimMetric.OPERATIONS and candidate.second.unit is None
    if not (candidate.has_units or is_counted or _COUNTED.match(candidate.glue) or _is_shorter(candidate)):
        return None
    if _LATER.fullmatch(candidate.glue) and _EARLIER.search(candidate.left):
        return candidate.whole
    tagged = _TAGGED_BEFORE.fullmatch(candidate.glue) and _TAGGED_AFTER.match(candidate.text, candidate.second.end)
    if _AND_IS.fullmatch(candidate.glue) and _TAGGED_AFTER.match(candidate.text, candidate.second.end) and _EARLIER.search(candidate.left):
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
    contrasts = has_unit and not _EARLIER.search(candidate.left) and _CONTRAST.fullmatch(candidate.glue)
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
