"""Two figures, before and after: `2822 → 2172 ms`, `from 85 s to 25 s`, `12 ms (was 36 ms)`, `took 20 s, now 5 s`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ingest.claims.columns import columns
from ingest.claims.effect import Effect
from ingest.claims.glue import DECOR, HEDGE, SENTENCE, by_sense, sense_in
from ingest.claims.lexicon import COMPARISONS, VERBS, Sense
from ingest.claims.quantities import Kind, Quantity, quantities
from ingest.claims.ratios import agrees

_REACH = 90
"""Characters that may stand between the two figures of a pair."""

_LEFT = 60
"""Characters before a pair that are read for the word that makes it one."""

_LINKS = 2
"""Figures that a chain may have beyond the first two."""


class Candidate(NamedTuple):
    """Two neighbouring quantities, what stands between them and what before them."""

    text: str
    first: Quantity
    second: Quantity
    glue: str
    left: str

    @property
    def whole(self) -> Effect:
        """The pair in the order of the text."""
        return Effect(self.first.start, self.second.end, self.first, self.second)

    @property
    def has_units(self) -> bool:
        """Whether both figures have a unit: without one, only an arrow or `from … to` is clear enough."""
        return self.first.metric is not None and self.second.metric is not None


def pair_from(text: str, found: list[Quantity], index: int, floor: int) -> tuple[Effect | None, int]:
    """The pair that begins with that quantity, if one does, and how many quantities were used up. Nothing before `floor` is read."""
    if row := columns(text, found, index):
        return row, sum(quantity.end <= row.end for quantity in found[index : index + 6])
    step = _step(text, found[index : index + 1 + _REMARKED])
    if index + step < len(found) and (effect := pair(text, found[index], found[index + step], floor)):
        return _whole_chain(text, found, index + step + 1, effect, step + 1)
    return None, 1


def pair(text: str, first: Quantity, second: Quantity, floor: int) -> Effect | None:
    """The pair that two neighbouring quantities make, if what stands between them says so."""
    if not 0 < second.start - first.end <= _REACH or not _alike(first, second):
        return None
    candidate = Candidate(text, first, second, text[first.end : second.start], text[max(floor, first.start - _LEFT) : first.start])
    if _OF_FACTOR.search(candidate.left):  # by a factor of 2 to 3
        return None
    is_pair = first.kind is second.kind and first.kind is not Kind.PERCENT  # 62% → 95% is a rate, and no rate is performance
    return _between(candidate) or (next((effect for rule in _RULES if (effect := rule(candidate))), None) if is_pair else None)


def _alike(first: Quantity, second: Quantity) -> bool:
    """Whether two quantities can be the same thing before and after: kinds agree, and units where both have one."""
    if first.kind is not second.kind:
        return first.kind is Kind.VALUE and first.unit is None and second.kind is not Kind.VALUE  # between 2 and 5 times
    return first.unit is None or second.unit is None or first.unit.metric is second.unit.metric


_ARROW = re.compile(
    r"[\s*_`'\")\]]*(?:\([^()\n]{0,40}\)\s*)?(?:[\w/.,-]+\s+){0,4}?(?:-{1,2}>|={1,2}>|→|⇒|➜|➔|➡️?|⟶|—>|–>|から)"
    rf"{DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)


def _by_arrow(candidate: Candidate) -> Effect | None:
    if not _ARROW.fullmatch(candidate.glue):
        return None
    is_condition = candidate.second.unit is None and candidate.text[candidate.first.start] in "><≥≤"  # `> 10 MB → 413`
    return None if is_condition or _NAME_GOES_ON.match(candidate.text, candidate.second.end) else candidate.whole


_NAME_GOES_ON = re.compile(r"-[A-Za-z]|\.[A-Za-z]")
"""`{36-bitmaps.conf => 76-bitmaps.conf}` are names of files."""


_FROM = re.compile(rf"\b(?:from|of|von|de|desde)\s+{DECOR}{HEDGE}{DECOR}$|从\s*$", re.IGNORECASE)
_TO = re.compile(
    rf"{SENTENCE}{{0,60}}?(?:\b(?:down\s+|up\s+)?(?:to|into|auf|à|a|para)\s+|降到|降至|降低到|减少到|到){DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)


def _from_to(candidate: Candidate) -> Effect | None:
    if not _TO.fullmatch(candidate.glue) or not (start := _FROM.search(candidate.left)):
        return None
    return candidate.whole._replace(start=candidate.first.start - len(candidate.left) + start.start())


_BARE_TO = re.compile(rf"\s+(?:down\s+|up\s+)?to\s+{DECOR}{HEDGE}", re.IGNORECASE)
_CHANGING = re.compile(rf"\b(?:{VERBS[Sense.FALL]}|{VERBS[Sense.RISE]}|goes|went|going)\b[^.;\n]{{0,40}}$", re.IGNORECASE)
_FALLING = re.compile(rf"\b(?:fell|fall(?:s|ing)|drop(?:s|ped|ping)|go(?:es|ing)|went)\s+{HEDGE}$", re.IGNORECASE)
_BECAME = re.compile(
    rf"{SENTENCE}{{0,50}}?\b(?:compressed|shrunk|shrank|shrinks|reduced|cut|drop(?:s|ped)|fell|falls|goes|went|lowered|brought|trimmed"
    rf"|improved|sped up)(?:\s+down)?\s+to\s+{DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)


_OF_FACTOR = re.compile(r"\bfactor of\s+$", re.IGNORECASE)
_BOUNDS = re.compile(rf"\b(?:from|between)\s+{DECOR}{HEDGE}$", re.IGNORECASE)
_BOUNDED = re.compile(rf"\s+(?:(?:up )?to|and)\s+{HEDGE}", re.IGNORECASE)
_COMPARED = re.compile(rf"\s+(?:{by_sense({sense: COMPARISONS[sense] for sense in (Sense.GAIN, Sense.LOSS, Sense.FALL)})})", re.IGNORECASE)


def _between(candidate: Candidate) -> Effect | None:
    """`between 2.5 and 5 times faster`, `from 10x up to 70x faster`: the ends of a range."""
    first, second = candidate.first, candidate.second
    compared = _COMPARED.match(candidate.text, second.end) if second.kind is not Kind.VALUE else None
    if compared is None or not (_BOUNDED.fullmatch(candidate.glue) and _BOUNDS.search(candidate.left)) or first.low >= second.high:
        return None
    sense = sense_in(compared)
    change = second._replace(start=first.start, low=first.low)
    return Effect(first.start, compared.end(), change=change, sense=sense, word=compared[sense.name].lower())


def _by_verb(candidate: Candidate) -> Effect | None:
    """`drops 12 s to 5 s`, `a log of 200 MB, compressed to 20 MB`."""
    if not candidate.has_units and not (_FALLING.search(candidate.left) and _BARE_TO.fullmatch(candidate.glue)):
        return None
    is_to = _BARE_TO.fullmatch(candidate.glue)
    falls = is_to and candidate.has_units and candidate.first.sized()[0] > candidate.second.sized()[1]  # a range goes up
    changes = falls or _BECAME.fullmatch(candidate.glue) or (is_to and _CHANGING.search(candidate.left))
    return candidate.whole if changes else None


_FORMER = re.compile(
    rf"{SENTENCE}{{0,70}}?(?P<word>\binstead of|\brather than|\b(?:down|up)\s+from|\bfrom|\bcompared (?:to|with)|\bversus|\bvs\.?"
    r"|\bagainst|\bwas|\bpreviously|\bformerly|\boriginally|\bnot the|\bbefore:?|\bbaseline:?|\bin place of)(?!\w)\s*"
    rf"(?:[\w.`'’/()-]+\s+){{0,3}}?{DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)
_SWAPPING = ("vs", "versus", "against", "compared")
"""Words that do not say which of the two figures was first."""

_COUNTED_THINGS = re.compile(r"\s[a-z]{3,}s\b")
"""`10 seconds, instead of 10 iterations` are two things."""

_ASIDE = re.compile(r"[(,;—–-][^()]*\b(?:was|before)\b", re.IGNORECASE)
_TO_BEFORE = re.compile(rf"\bto\s+{HEDGE}$", re.IGNORECASE)


def _latter_first(candidate: Candidate) -> Effect | None:
    """`0.2 s instead of 11 s`, `5 s, down from 20 s`, `562 s (was 1573 s)`, `82 ms vs 84 ms`."""
    has_unit = candidate.first.metric is not None or candidate.second.metric is not None
    former = _FORMER.fullmatch(candidate.glue) if has_unit else None
    if former is None or (candidate.second.unit is None and _COUNTED_THINGS.match(candidate.text, candidate.second.end)):
        return None
    if _TAGGED_BEFORE.fullmatch(candidate.glue) and _TAGGED_AFTER.match(candidate.text, candidate.second.end):
        return None
    word = former["word"].lower().rstrip(":")
    if (word == "from" and not _TO_BEFORE.search(candidate.left)) or (word in ("was", "before") and not _ASIDE.search(candidate.glue)):
        return None
    return Effect(candidate.first.start, candidate.second.end, candidate.second, candidate.first, swaps=word.startswith(_SWAPPING))


_LATER = re.compile(
    rf"(?:{SENTENCE}{{0,60}}?|[;,]\s(?:and\s)?)\b(?:now|after|new|becomes?|became|currently|optimi[sz]ed|to)\b[^.;\n]{{0,30}}",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"\b(?:before|old|original|originally|previously|baseline|was|were|took|used to|taking)\b[^.;\n]{0,40}$", re.IGNORECASE
)
_TAGGED_BEFORE = re.compile(
    r"\s*\(?(?:before|earlier|previously|old|baseline|originally)\)?[\s,;/]+(?:and |to |vs\.? |now )?", re.IGNORECASE
)
_TAGGED_AFTER = re.compile(r"\s*\(?(?:after(?:wards)?|now|new|today|later|optimi[sz]ed)\b", re.IGNORECASE)


def _by_tense(candidate: Candidate) -> Effect | None:
    """`took 20 s, now 5 s`, `20 s before, 5 s after`."""
    if not candidate.has_units:
        return None
    if _LATER.fullmatch(candidate.glue) and _EARLIER.search(candidate.left):
        return candidate.whole
    tagged = _TAGGED_BEFORE.fullmatch(candidate.glue) and _TAGGED_AFTER.match(candidate.text, candidate.second.end)
    return candidate.whole if tagged else None


_CONTRAST = re.compile(
    rf"[^.;\n\d]{{0,40}}(?:[;,:—–]\s+(?:the |it |they |that )?(?:old|previous(?:ly)?|former(?:ly)?|before|earlier|used to)\b"
    rf"[^.;\n\d]{{0,40}}|\bwhere (?:it|they|this|that) (?:took|needed|used|was|were)\s+){DECOR}{HEDGE}{DECOR}",
    re.IGNORECASE,
)


def _by_contrast(candidate: Candidate) -> Effect | None:
    """`in 0.4 s; the old code took 95 s`, `7 minutes where they took 40`."""
    has_unit = candidate.first.metric is not None
    contrasts = has_unit and not _EARLIER.search(candidate.left) and _CONTRAST.fullmatch(candidate.glue)
    return Effect(candidate.first.start, candidate.second.end, candidate.second, candidate.first) if contrasts else None


_DELTA = re.compile(r"[*_`]*(?:\s(?:at|on|for|with)\s[^()\n;]{1,25})?\s?\((?P<change>[+−-]\d[\d.]*\s?%)")
_JOINED = re.compile(rf"\s+(?:(?P<to>to)|vs\.?|versus|against|compared (?:to|with))\s+{DECOR}{HEDGE}{DECOR}", re.IGNORECASE)


def _by_bracket(candidate: Candidate) -> Effect | None:
    """`70 to 78.6 tok/s (+12.2%)`, `31 vs 23 µs (+32%)`: the percentage in the bracket is that of the figures, and tells their order."""
    delta = _DELTA.match(candidate.text, candidate.second.end)
    joined = _JOINED.fullmatch(candidate.glue) if delta else None
    change = next(quantities(candidate.text, *delta.span("change")), None) if delta and joined else None
    if joined is None or change is None or not agrees(candidate.whole, change):
        return None
    first, second = candidate.first, candidate.second
    falls = second.low < first.low
    pair = candidate.whole if falls is (change.sign != "+") else Effect(first.start, second.end, second, first)
    return None if joined["to"] and pair.before is not first else pair._replace(end=change.end + 1, change=change)


_RULES: tuple[Callable[[Candidate], Effect | None], ...] = (
    _by_bracket,
    _by_arrow,
    _from_to,
    _by_verb,
    _latter_first,
    _by_tense,
    _by_contrast,
)
"""What makes a pair of two quantities, in the order asked."""


_REMARKED = 4
"""Figures that a remark may have, and the one behind it."""

_BRACKETED_FORMER = re.compile(r"\s*\((?:was|from)\b")
_REMARK = re.compile(r"\s*\([^()\n]{1,60}\)\s*")


def _step(text: str, ahead: list[Quantity]) -> int:
    """How many quantities on the other of a pair is: `562 s (was 1.09 in 1573 s)`, `from 40 min (2 × 20 min) to 7 min`."""
    first = ahead[0]
    if len(ahead) < 3 or first.unit is None:
        return 1
    if ahead[1].unit is not None and ahead[2].metric is first.metric is not ahead[1].metric:
        return 2
    if ahead[1].unit is None and ahead[2].metric is first.metric and _BRACKETED_FORMER.match(text, first.end, ahead[1].start):
        return 2
    return _behind_remark(text, ahead)


def _behind_remark(text: str, ahead: list[Quantity]) -> int:
    first = ahead[0]
    remark = _REMARK.match(text, first.end) if text.find("(", first.end, first.end + 3) >= 0 else None
    if remark is None:
        return 1
    step = next((index for index, quantity in enumerate(ahead) if quantity.start >= remark.end()), 0)
    is_bare = step == 2 and ahead[1].unit is None
    is_other = step > 1 and ahead[step].metric is first.metric and (is_bare or bool(_LEADS_ON.match(text, remark.end())))
    return step if is_other else 1


_LEADS_ON = re.compile(r"(?:down |up )?to\s|→|->|=>")


def _whole_chain(text: str, found: list[Quantity], index: int, effect: Effect, taken: int) -> tuple[Effect | None, int]:
    """`85s → 40s → 25s` goes from the first to the last; a longer chain is a schedule, no effect."""
    links = 0
    while index < len(found) and (longer := _chained(text, effect, found[index])):
        effect, index, taken, links = longer, index + 1, taken + 1, links + 1
    return (effect if links <= _LINKS else None), taken


def _chained(text: str, effect: Effect, further: Quantity) -> Effect | None:
    glue = text[effect.end : further.start] if further.start - effect.end <= 12 else ""
    if glue and effect.before and _alike(effect.before, further) and _ARROW.fullmatch(glue):
        return effect._replace(end=further.end, after=further)
    return None
