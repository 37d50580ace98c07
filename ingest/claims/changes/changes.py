"""A change told by one number: `3x faster`, `reduced memory by 40%`, `a speedup of 3`, `−30% latency`, `saves 12 ms`."""

from __future__ import annotations

import re
from collections.abc import Callable

from ingest.claims.changes.bare_factors import bare, bracketed, given
from ingest.claims.changes.cjk import in_eastern_words
from ingest.claims.changes.coordinated import coordinated, signed_in_a_list
from ingest.claims.changes.savings import OF_VALUES
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.numbers.quantity_context import REACH, Place
from ingest.claims.words.change_words import COMPARISONS, OTHER_SPEEDS, VERBS, Sense
from ingest.claims.words.regex_parts import DECOR, HEDGE, by_sense, sense_in


def change(text: str, quantity: Quantity, floor: int, ceiling: int, last: Effect | None) -> Effect | None:
    """The effect of one quantity, with its words in the text between `floor` and `ceiling`; `last` is the effect before it."""
    base = max(floor, quantity.start - REACH)
    if listed := signed_in_a_list(text, quantity, last):
        return listed
    place = Place(text, _as_factor(text, quantity, floor), base, ceiling, text[base : quantity.start])
    rules = OF_VALUES if place.quantity.kind is Kind.VALUE else _OF_CHANGES
    return next((effect for rule in rules if (effect := rule(place))), None) or coordinated(text, quantity, last) or bare(place)


_FACTOR = re.compile(
    rf"\b(?:(?:factor|speed[- ]?up) of|speed[- ]?up(?: factor)?(?: is| was|:)(?: by)?(?: an?)?(?: factor of)?"
    rf"|divid\w+ (?:[\w-]+ ){{0,4}}by)\s+{HEDGE}$",
    re.IGNORECASE,
)
_OTHER_END = re.compile(r"\s(?:to|and)\s(?P<high>\d{1,6}(?:\.\d{1,6})?)\b(?!\s*(?:ms|s|sec|%)\b)")


def _as_factor(text: str, quantity: Quantity, floor: int) -> Quantity:
    """`by a factor of 3.5` is `3.5x`."""
    is_factor = (
        quantity.kind is Kind.VALUE and quantity.unit is None and _FACTOR.search(text, max(floor, quantity.start - 40), quantity.start)
    )
    if not is_factor:
        return quantity
    to = _OTHER_END.match(text, quantity.end)
    return quantity._replace(kind=Kind.TIMES, high=float(to["high"]), end=to.end()) if to else quantity._replace(kind=Kind.TIMES)


_STOP = r"(?!(?:via|through|thanks|by|using|of|and|or|in|to|for|on|at|with|the|is|are|was|when|if|vs|than|but|that|without|tests?)\b)"
_COMPARED = re.compile(
    rf"[\s*_`]*\+?(?:\([\d.,]{{1,8}}[x×]\)[\s*_`]*)?(?:\)(?!\s*[-–—,;:.]))?[\s*_`]*-?(?:in\s(?=[\w ]{{0,20}}(?:reduction"
    rf"|savings)))?(?:{_STOP}[\w./'%-]+(?<!\.)[\s*_`]+){{0,3}}?(?:{by_sense(COMPARISONS)})(?![a-z])",
    re.IGNORECASE,
)


def _compared(place: Place) -> Effect | None:
    """`3x faster`, `42% less peak memory`, `27.7% latency reduction`."""
    found = place.behind(_COMPARED)
    if found is None or _is_bound(place, found[(sense := sense_in(found)).name]) or _ON_THE_NEXT.search(found[0]):
        return None
    return place.effect(place.before, found.end(), sense, found[sense.name])


_ON_THE_NEXT = re.compile(r"\n[ \t]*(?:[A-Z]|[-*•+] )")
"""A line that begins anew, and does not go on with the sentence."""


def _is_bound(place: Place, word: str) -> bool:
    """`< 2% overhead` is what it may be, and no change."""
    return word.lower() == "overhead" and place.text[place.quantity.start] in "<≤"


_SHARED = re.compile(
    rf"[*_`]*(?:\s?/\s?|,?\s(?:and|or)\s|,\s)(?:{HEDGE}\d[\d.]*\s?(?P<kind>[x×%])(?:,?\s(?:and|or)\s|,\s|\s?/\s?)?){{1,3}}", re.IGNORECASE
)


def _compared_together(place: Place) -> Effect | None:
    """`2.1x and 3.4x faster`, `1.5x/11.4x speedup`: the word stands behind the last of them."""
    others = place.behind(_SHARED, 40)
    if others is None or (others["kind"] == "%") is not (place.quantity.kind is Kind.PERCENT) or place.quantity.sign:
        return None
    found = _COMPARED.match(place.text, others.end(), min(place.ceiling, others.end() + REACH))
    if found is None or OTHER_SPEEDS.match(place.text, found.end()):
        return None
    return place.effect(place.before, place.quantity.end, (sense := sense_in(found)), found[sense.name])


_PART = re.compile(
    r"[*_`]*\s(?:of (?:the |all |its )?(?:[\w-]+\s){1,3}?(?:saved|eliminated|removed|avoided)|(?P<off>off)(?! the shelf)(?: of)?)\b",
    re.IGNORECASE,
)


def _part_gone(place: Place) -> Effect | None:
    """`90% of the tokens saved`, `25% off the build time`."""
    found = place.behind(_PART, 60) if place.quantity.kind is Kind.PERCENT else None
    return place.effect(place.before, place.quantity.end if found["off"] else found.end(), Sense.FALL, "off") if found else None


_AMOUNT = re.compile(
    r"[\s*_`]*(?:of )?(?:the |higher |more |better )?(?:(?:baseline|original|former|previous|old|stock)(?:'s)? )?"
    r"(?P<word>throughput|bandwidth|performance|speed|fps|(?:ttft|decode|prefill|single-stream)"
    r"(?! (?:cost|memory|steps?|calls?|tokens)))\b",
    re.IGNORECASE,
)


_AMOUNT_BEFORE = re.compile(r"\b(?P<word>throughput|bandwidth|performance|speed|fps)[*_`]*:?\s?\(?$", re.IGNORECASE)


def _multiplied(place: Place) -> Effect | None:
    """`2x throughput`, `throughput ×2`."""
    if place.quantity.kind is Kind.TIMES and place.text[place.quantity.end - 1].isdigit() and (found := _AMOUNT_BEFORE.search(place.left)):
        return place.effect(found.start(), place.quantity.end, Sense.GAIN, found["word"])
    found = place.behind(_AMOUNT, 40) if place.quantity.kind is Kind.TIMES else None
    return place.effect(place.before, found.end(), Sense.GAIN, found["word"]) if found else None


_SHARE = re.compile(rf"\b(?:{VERBS[Sense.FALL]})\b[^.;\n]{{0,50}}\bto\s+{HEDGE}$", re.IGNORECASE)
_OF_ORIGINAL = re.compile(
    r"[*_`]*\s+of (?:the |its |what )?(?:\w+ )?(?:original|former|previous|baseline|before|old|it was|size|time|cost)", re.IGNORECASE
)


_IS = re.compile(rf"\b(?:is|are|was|were|takes?|needs?|uses?|at)\s+(?:now\s+)?{HEDGE}{DECOR}$", re.IGNORECASE)
_ONLY = re.compile(
    rf"\b(?:(?:takes?|needs?|uses?|costs?)\s+(?:only|just)|only\s+(?:takes?|needs?|uses?|costs?))\s+{HEDGE}{DECOR}$", re.IGNORECASE
)
_OF_ALL = re.compile(r"[*_]*\s+of (?:the|its) (?:time|memory|space|storage)\b(?! (?:in|on|for|when|waiting|spent|to)\b)", re.IGNORECASE)
_DONE_IN = re.compile(rf"\b(?:runs?|finish(?:es)?|completes?|executes?|is done) in\s+{HEDGE}{DECOR}$", re.IGNORECASE)
_OF_FORMER = re.compile(
    r"[*_]*\s+(?:of|as much as|as long as) (?:the |its )?"
    r"(?:(?:original|former|previous|old|baseline)\b|main\b|master\b|"
    r"(?:time|memory|space) (?:that )?(?:it|they) (?:used to|took|did|needed|was|were)\b|(?:what )?it (?:was|used to be|took))",
    re.IGNORECASE,
)


def _left_over(place: Place) -> Effect | None:
    """`reduced to 25% of the original`, `is 30% of what it was`."""
    found = (place.behind(_OF_ORIGINAL) and _SHARE.search(place.left)) or (place.behind(_OF_FORMER) and _IS.search(place.left))
    found = found or (place.behind(_OF_ALL) and (_ONLY.search(place.left) or _DONE_IN.search(place.left)))
    return place.effect(found.start(), place.quantity.end, Sense.SHARE, "to") if found else None


_THE = re.compile(
    r"[*_`]*\s(?:of )?the (?:(?:peak|total|original|same) )?(?P<word>time|runtime|memory|size|cost|latency|space)\b", re.IGNORECASE
)


def _times_the(place: Place) -> Effect | None:
    """`0.7x the runtime of main`, `3x the memory`."""
    is_factor = place.quantity.kind is Kind.TIMES and place.text[place.quantity.end - 1] in "xX×"
    found = place.behind(_THE, 40) if is_factor else None
    return place.effect(place.before, found.end(), Sense.RISE, "the") if found else None


_RAISED = re.compile(rf"\b(?!up\b)(?:{VERBS[Sense.RISE]}|{VERBS[Sense.GAIN]})\b[^.;\n]{{0,50}}\bto\s+{HEDGE}$", re.IGNORECASE)


def _raised(place: Place) -> Effect | None:
    """`lifts throughput to 2.7x`."""
    found = _RAISED.search(place.left) if place.quantity.kind is Kind.TIMES else None
    return place.effect(found.start(), place.quantity.end, Sense.RISE, "to") if found else None


_SEEN = r"(?:(?:that |which )?(?:I|we|they) (?:\w+ )?(?:measured?|saw|see|observed?|got|get) )?(?:is|was|are|were)(?=\s)"
_OF = rf"(?:{_SEEN}|of|by(?: a factor of)?|:(?:\s(?:[\w./`-]+\s){{1,2}}(?=\S*$))?|=|at|—|–|-|\()*"
_NAMED = re.compile(
    rf"(?<![A-Za-z])(?:{by_sense(COMPARISONS)})s?\b[\s*_`]*(?:\([^()]{{0,30}}\)\s*)?(?:\s?(?:on|for|with"
    rf"|over)\s[^.,;:()\n\d]{{2,25}}\s(?=(?:is|was|of)\b))?{_OF}[\s*_`]*{HEDGE}{DECOR}$",
    re.IGNORECASE,
)


_SPED = re.compile(rf"\b(?:{VERBS[Sense.GAIN]})\b[^.;\n]{{0,30}}$", re.IGNORECASE)


def _named(place: Place) -> Effect | None:
    """`a speedup of 3x`, `Improvement: 40%`."""
    found = _NAMED.search(place.left)
    if found and sense_in(found) is Sense.FALL and _SPED.search(place.left, 0, found.start()):  # `speeds up the compression by 70%`
        return None
    if found and place.quantity.sign == "-" and sense_in(found) is Sense.GAIN:  # `faster (-14%)` is 14% less time
        return place.effect(found.start(), place.quantity.end, Sense.FALL, found[Sense.GAIN.name])
    if found is None or _is_bound(place, found[(sense := sense_in(found)).name]):
        return None
    if sense in (Sense.FALL, Sense.RISE) and _counts_things(place):
        return None
    if sense is Sense.LOSS and _REDUCED.search(place.left, 0, found.start()):
        return None
    return place.effect(found.start(), place.quantity.end, sense, found[sense.name])


_REDUCED = re.compile(rf"\b(?:{VERBS[Sense.FALL]}|{VERBS[Sense.GAIN]}|removes?|removing)\s[^.;:!?]{{0,50}}$", re.IGNORECASE)
"""`reduces the overhead by 40%`: what is bad became less."""

_CHANGED_BY = re.compile(
    rf"\b(?:{by_sense(VERBS)})\b(?P<object>(?:(?![.;:!?]\s)[^→|]){{0,75}}?)(?P<by>\bby"
    rf"|\bin(?=[\s*_`]*$))?(?:\s+up)?(?:\s+a factor of)?(?:\s+{HEDGE}{DECOR}[\d.,–-]{{1,12}}\s?[a-zA-Zµ]{{1,5}}[*_`]*\s?\()?"
    rf"[\s*_`]*{HEDGE}{DECOR}$",
    re.IGNORECASE,
)
_FROM = re.compile(rf"\bfrom\s*{HEDGE}(?:$|\d[\d.]*\s?%)", re.IGNORECASE)
"""`drops from 80%` to whatever: how much it was, and not by how much it fell."""

_OBJECT_WORDS = 3
"""Words between a verb and its number where no `by` joins them."""


def _changed_by(place: Place) -> Effect | None:
    """`reduced memory by 40%`, `cut reallocations 85%`."""
    found = _last(_CHANGED_BY, place.left)
    if found is None or not (found["by"] or len(found["object"].split()) <= _OBJECT_WORDS) or _FROM.search(found["object"]):
        return None
    if not found["by"] and _counts_things(place):
        return None
    if slows := _SLOWS.search(place.left, 0, found.start() + len("down")):  # `slows the parser down by 12%`
        return place.effect(slows.start(), place.quantity.end, Sense.LOSS, "slow")
    return place.effect(found.start(), place.quantity.end, (sense := sense_in(found)), found[sense.name])


_COUNTED = re.compile(r"[*_]*\s(?:`|(?!on\b|in\b|for\b|with\b|vs\b|at\b|when\b|over\b|across\b|and\b|or\b|by\b|from\b|to\b)[a-z]{4,})")


def _counts_things(place: Place) -> bool:
    """`drops 40x memset calls`: so many calls, and not to a fortieth."""
    return place.quantity.kind is Kind.TIMES and place.behind(_COUNTED, 12) is not None


_SLOWS = re.compile(r"\bslow(?:s|ed|ing)?\s(?:[\w`'./-]+\s){0,5}down$", re.IGNORECASE)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The match that starts last of those that end with the text."""
    found = pattern.search(text)
    while found and (nearer := pattern.search(text, found.start() + 1)):
        found = nearer
    return found


def _signed(place: Place) -> Effect | None:
    """`−30%`: of what, a noun must say that touches it."""
    sign = place.quantity.sign if place.quantity.kind is Kind.PERCENT else ""
    return place.effect(place.before, place.quantity.end, Sense.RISE if sign == "+" else Sense.FALL, sign) if sign else None


_OF_CHANGES: tuple[Callable[[Place], Effect | None], ...] = (
    _compared_together,
    _compared,
    _part_gone,
    _multiplied,
    _left_over,
    _times_the,
    _raised,
    _named,
    _changed_by,
    in_eastern_words,
    given,
    bracketed,
    _signed,
)
"""What makes an effect of a multiplier or percentage, in the order asked."""
