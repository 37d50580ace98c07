"""Which quantities of a passage make an effect: a pair (before, after), a factor or percentage of change, an absolute saving."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.effect import Effect
from ingest.claims.lexicon import COMPARISONS, HEDGES, VERBS, Sense
from ingest.claims.quantities import Kind, Quantity, quantities
from ingest.claims.ratios import agrees

_REACH = 90
"""Characters that may stand between the two figures of a pair, or a number and its word of comparison."""

_DECOR = r"[\s*_`'\"(\[]*"
_HEDGE = rf"(?:(?:{HEDGES}|only|just|a|an|merely)\s+)*[~≈<>*_`]*"
_ARROW = re.compile(
    rf"[\s*_`'\")\]]*(?:\([^()\n]{{0,40}}\)\s*)?(?:[\w/.,-]+\s+){{0,4}}?(?:-{{1,2}}>|={{1,2}}>|→|⇒|➜|➔|➡️?|⟶|—>|–>){_DECOR}{_HEDGE}{_DECOR}",
    re.IGNORECASE,
)
_FROM = re.compile(rf"\b(?:from|of|von|de|desde)\s+{_DECOR}{_HEDGE}{_DECOR}$|从\s*$", re.IGNORECASE)
_TO = re.compile(
    rf"(?:(?![.;!?]\s)[^→]){{0,60}}?(?:\b(?:down\s+|up\s+)?(?:to|into|auf|à|a|para)\s+|降到|降至|降低到|减少到|到)(?:sub-?)?{_DECOR}{_HEDGE}{_DECOR}",
    re.IGNORECASE,
)
_BARE_TO = re.compile(rf"\s+(?:down\s+|up\s+)?to\s+{_DECOR}{_HEDGE}", re.IGNORECASE)
_CHANGING = re.compile(rf"\b(?:{VERBS[Sense.FALL]}|{VERBS[Sense.RISE]}|goes|went|going)\b[^.;\n]{{0,40}}$", re.IGNORECASE)
_BECAME = re.compile(
    r"(?:(?![.;!?]\s)[^→]){0,50}?\b(?:compressed|shrunk|shrank|shrinks|reduced|cut|drop(?:s|ped)|fell|falls|goes|went|lowered|brought|trimmed|improved|sped up)"
    rf"(?:\s+down)?\s+to\s+{_DECOR}{_HEDGE}{_DECOR}",
    re.IGNORECASE,
)
_FORMER = re.compile(
    r"(?:(?![.;!?]\s)[^→]){0,70}?(?P<word>\binstead of|\brather than|\b(?:down|up)\s+from|\bfrom|\bcompared (?:to|with)|\bversus|\bvs\.?|\bagainst"
    rf"|\bwas|\bpreviously|\bformerly|\boriginally|\bnot the|\bbefore:?|\bbaseline:?|\bin place of)(?!\w)\s*(?:[\w.`'’/()-]+\s+){{0,3}}?{_DECOR}{_HEDGE}{_DECOR}",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"(?:(?![.;!?]\s)[^→]){0,60}?\b(?:now|after|new|becomes?|became|currently|optimi[sz]ed|to)\b[^.;\n]{0,30}", re.IGNORECASE
)
_EARLIER = re.compile(
    r"\b(?:before|old|original|originally|previously|baseline|was|were|took|used to|taking)\b[^.;\n]{0,40}$", re.IGNORECASE
)
_TAGGED_BEFORE = re.compile(r"\s*\(?(?:before|earlier|previously|old|baseline|originally)\)?[\s,;/]+(?:and |to |vs\.? |now )?", re.IGNORECASE)
_TAGGED_AFTER = re.compile(r"\s*\(?(?:after(?:wards)?|now|new|today|later|optimi[sz]ed)\b", re.IGNORECASE)
_SWAPPING = ("vs", "versus", "against", "compared")


def effects(text: str, found: list[Quantity], start: int, end: int) -> Iterator[Effect]:
    """The effects that the quantities of the passage make, in order."""
    index, floor = 0, start
    last: Effect | None = None
    while index < len(found):
        effect, taken = _pair_from(text, found, index, floor)
        if effect is None and taken == 1:
            effect = (
                relative(text, found[index], floor, end) or coordinated(text, found[index], last) or saving(text, found[index], floor, end)
            )
        index += taken
        if effect:
            floor, last = effect.end, effect
            yield effect


def _pair_from(text: str, found: list[Quantity], index: int, floor: int) -> tuple[Effect | None, int]:
    """The pair that begins with that quantity, if one does, and how many quantities were used up."""
    three = found[index : index + 3]
    step = 2 if _skips(text, three) else 1
    if index + step < len(found) and (effect := pair(text, found[index], found[index + step], floor) or _columns(text, three)):
        return _whole_chain(text, found, index + step + 1, effect, step + 1)
    return None, 1


def _skips(text: str, three: list[Quantity]) -> bool:
    """Whether the second of three figures is a bare one before the former figure: `562 s (was 1.09 in 1573 s)`."""
    first, second, third = three if len(three) == 3 else (None, None, None)
    return bool(
        first
        and second
        and third
        and first.unit
        and not second.unit
        and third.metric is first.metric
        and re.match(r"\s*\((?:was|from)\b", text[first.end : second.start])
    )


def _columns(text: str, three: list[Quantity]) -> Effect | None:
    """Two like figures in columns without lines, the change that is theirs in a third: `2226 ms   1159 ms   (48% faster)`."""
    if len(three) < 3 or three[0].unit is None or not _alike(three[0], three[1]) or three[2].kind is Kind.VALUE:
        return None
    whole = Effect(three[0].start, three[1].end, three[0], three[1])
    if not _GAP.fullmatch(text[three[0].end : three[1].start]) or not _LAST_COLUMN.match(text, three[2].end):
        return None
    is_less = three[1].low < three[0].low or "(" in text[three[1].end : three[2].start]  # a column of growth is no change
    return whole._replace(end=three[2].end) if is_less and agrees(whole, three[2]) else None


def _whole_chain(text: str, found: list[Quantity], index: int, effect: Effect, taken: int) -> tuple[Effect | None, int]:
    """`85s → 40s → 25s` goes from the first to the last; a longer chain is a schedule, no effect."""
    links = 0
    while index < len(found) and (longer := _chained(text, effect, found[index])):
        effect, index, taken, links = longer, index + 1, taken + 1, links + 1
    return (effect if links <= _LINKS else None), taken


_LAST_COLUMN = re.compile(r"[ \t]*(?:$|\||[^\n(]{0,24}\))", re.MULTILINE)
_GAP = re.compile(r"[ \t]{2,}|\t+")
_LINKS = 2
"""Figures that a chain may have beyond the first two."""


def pair(text: str, first: Quantity, second: Quantity, floor: int) -> Effect | None:
    """The pair that two neighbouring quantities make, if what stands between them says so."""
    glue = text[first.end : second.start] if second.start - first.end <= _REACH else ""
    if not glue or not _alike(first, second):
        return None
    whole = Effect(first.start, second.end, first, second)
    if _ARROW.fullmatch(glue):
        return whole
    left = text[max(floor, first.start - 60) : first.start]
    if (start := _FROM.search(left)) and _TO.fullmatch(glue):
        return whole._replace(start=first.start - len(left) + start.start())
    if first.kind is not Kind.VALUE:
        return None
    if first.metric and second.metric and (_BECAME.fullmatch(glue) or (_BARE_TO.fullmatch(glue) and _CHANGING.search(left))):
        return whole
    if (former := _FORMER.fullmatch(glue)) and _is_former(former["word"].lower(), left, glue):
        swaps = former["word"].lower().startswith(_SWAPPING)
        return Effect(first.start, second.end, second, first, swaps=swaps)
    if not (first.metric and second.metric):
        return None
    if _EARLIER.search(left) and _LATER.fullmatch(glue):
        return whole
    return whole if _TAGGED_BEFORE.fullmatch(glue) and _TAGGED_AFTER.match(text, second.end) else None


def _is_former(word: str, left: str, glue: str) -> bool:
    """Whether `from` and `was` really lead to the figure before: `to 5 s from 12 s`, `5 s (was 12 s)`."""
    if word == "from":
        return bool(re.search(rf"\bto\s+{_HEDGE}$", left))
    if word in ("was", "before", "before:"):
        return bool(re.search(rf"[(,;—–-][^()]*\b{word}", glue))
    return True


def _alike(first: Quantity, second: Quantity) -> bool:
    """Whether two quantities can be the same thing before and after: kinds agree, and units where both have one."""
    if first.kind is not second.kind:
        return False
    return first.unit is None or second.unit is None or first.unit.metric is second.unit.metric


def _chained(text: str, effect: Effect, further: Quantity) -> Effect | None:
    """`85s → 40s → 25s` goes from the first to the last."""
    assert effect.before
    assert effect.after
    glue = text[effect.end : further.start] if further.start - effect.end <= 12 else ""
    if glue and _alike(effect.before, further) and _ARROW.fullmatch(glue):
        return effect._replace(end=further.end, after=further)
    return None


_STOP = r"(?!(?:of|and|or|in|to|for|on|at|with|the|is|are|was|when|if|vs|than|but|that|tests?)\b)"
_BEHIND = re.compile(
    rf"[\s*_`]*-?(?:{_STOP}[\w./'%-]+[\s*_`]+){{0,3}}?(?:"
    + "|".join(f"(?P<{sense.name}>{words})" for sense, words in COMPARISONS.items())
    + r")(?![a-z])",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"[\s*_`]*(?:the |higher |more |better )?(?P<word>throughput|bandwidth|performance|speed|fps)\b", re.IGNORECASE)
_NAMED = re.compile(
    "(?:"
    + "|".join(f"(?P<{sense.name}>{words})" for sense, words in COMPARISONS.items())
    + rf")s?\b[\s*_`]*(?:\([^()]{{0,30}}\)\s*)?(?:of|by|:|=|is|was|at|—|–|-|\()*[\s*_`]*{_HEDGE}{_DECOR}$",
    re.IGNORECASE,
)
_CHANGED_BY = re.compile(
    r"\b(?:"
    + "|".join(f"(?P<{sense.name}>{words})" for sense, words in VERBS.items())
    + rf")\b(?P<object>(?:(?![.;:!?]\s)[^\n|→]|\n){{0,50}}?)(?P<by>\bby)?(?:\s+a factor of)?[\s*_`]*{_HEDGE}{_DECOR}$",
    re.IGNORECASE,
)


def relative(text: str, quantity: Quantity, floor: int, ceiling: int) -> Effect | None:
    """The change that a multiplier or percentage states, with the word of comparison behind it or before it."""
    if quantity.kind is Kind.VALUE and quantity.unit is None and _FACTOR.search(text[max(floor, quantity.start - 20) : quantity.start]):
        quantity = quantity._replace(kind=Kind.TIMES)
    if quantity.kind is Kind.VALUE:
        return None
    behind = _BEHIND.match(text, quantity.end, min(ceiling, quantity.end + _REACH))
    if behind:
        return _changed(quantity, behind, quantity.start, behind.end())
    if quantity.kind is Kind.TIMES and (amount := _AMOUNT.match(text, quantity.end, min(ceiling, quantity.end + 40))):
        return Effect(quantity.start, amount.end(), change=quantity, sense=Sense.GAIN, word=amount["word"])
    base = max(floor, quantity.start - _REACH)
    left = text[base : quantity.start]
    if (share := _SHARE.search(left)) and _OF.match(text, quantity.end):
        return Effect(base + share.start(), quantity.end, change=quantity, sense=Sense.SHARE, word="to")
    if quantity.kind is Kind.TIMES and (raised := _RAISED.search(left)):
        return Effect(base + raised.start(), quantity.end, change=quantity, sense=Sense.RISE, word="to")
    if found := _NAMED.search(left):
        return _changed(quantity, found, base + found.start(), quantity.end)
    if (found := _last(_CHANGED_BY, left)) and (found["by"] or len(found["object"].split()) <= 3):
        return _changed(quantity, found, base + found.start(), quantity.end)
    if found := _CHINESE.search(left):
        return _changed(quantity, found, base + found.start(), quantity.end)
    if quantity.sign and quantity.kind is Kind.PERCENT:
        return Effect(quantity.start, quantity.end, change=quantity, sense=Sense.RISE if quantity.sign == "+" else Sense.FALL, word=quantity.sign)
    return None


_FACTOR = re.compile(r"\bfactor of\s+$", re.IGNORECASE)
_RAISED = re.compile(rf"\b(?:{VERBS[Sense.RISE]}|{VERBS[Sense.GAIN]})\b[^.;\n]{{0,50}}\bto\s+{_HEDGE}$", re.IGNORECASE)
_SHARE = re.compile(rf"\b(?:{VERBS[Sense.FALL]})\b[^.;\n]{{0,50}}\bto\s+{_HEDGE}$", re.IGNORECASE)
_OF = re.compile(r"\s+of (?:the |its |what )?(?:\w+ )?(?:original|former|previous|baseline|before|old|it was|size|time|cost)", re.IGNORECASE)
_CHINESE = re.compile(r"(?:(?P<FALL>降低|减少|缩短|下降|减小|节省)|(?P<GAIN>提升|提高|加速|加快|快))了?\s*(?:约|大约|近|超过)?\s*$")


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The match that starts last of those that end with the text."""
    found = pattern.search(text)
    while found and (nearer := pattern.search(text, found.start() + 1)):
        found = nearer
    return found


def _changed(quantity: Quantity, found: re.Match[str], start: int, end: int) -> Effect:
    name = (
        found.lastgroup
        if found.lastgroup in Sense.__members__
        else next(n for n in Sense.__members__ if n in found.re.groupindex and found[n])
    )
    return Effect(start, end, change=quantity, sense=Sense[name], word=found[name].lower())


_COORDINATES = re.compile(r"[^.;\d]{0,60}?(?:,|\band|,\s*and|\bor)\s+(?:by\s+)?[*_`~≈]*")


def coordinated(text: str, quantity: Quantity, last: Effect | None) -> Effect | None:
    """`8.2x speedup for sequential reads and 7.6x for random reads`: the second factor takes its word from the first."""
    if last is None or last.change is None or last.is_pair or last.change.kind is not quantity.kind or quantity.start - last.end > 60:
        return None
    if not _COORDINATES.fullmatch(text, last.end, quantity.start) or not re.match(
        r"[*_`]*\s+(?:for|on|in|with)\b", text[quantity.end : quantity.end + 8]
    ):
        return None
    return Effect(quantity.start, quantity.end, change=quantity, sense=last.sense, word=last.word)


_SAVED = re.compile(r"[\s*_`]*(?:[\w-]+\s+){0,2}?(?:saved|savings?|faster|less|fewer|shorter)\b", re.IGNORECASE)
_SAVES = re.compile(rf"\b(?:sav(?:es|ing|ed)|shav(?:es|ing|ed)(?: off)?|eliminates|avoids|removes)\s+{_HEDGE}{_DECOR}$", re.IGNORECASE)


_UNMOVED = re.compile(
    rf"\b(?:unchanged at|no (?:measurable |significant |observable )?(?:change|difference|improvement|regression)[^.;\n\d]{{0,30}}\()\s*{_HEDGE}$", re.IGNORECASE
)
_SIGNED = re.compile(r"[\s*_`]*\((?P<percent>[+−-]\d[\d.]*\s?%)\)")


def saving(text: str, quantity: Quantity, floor: int, ceiling: int) -> Effect | None:
    """An absolute saving told as an outcome: `saves 12 ms per call`, `150 ms saved`."""
    if quantity.kind is not Kind.VALUE or quantity.unit is None:
        return None
    if signed := _SIGNED.match(text, quantity.end, min(ceiling, quantity.end + 24)):
        percent = next(quantities(text, signed.start("percent"), signed.end("percent")))
        return Effect(quantity.start, signed.end(), change=percent, after=quantity, sense=Sense.FALL if percent.sign in "-−" else Sense.RISE, word=percent.sign)
    base = max(floor, quantity.start - 60)
    if quantity.metric and (same := _UNMOVED.search(text[base : quantity.start])):
        return Effect(base + same.start(), quantity.end, quantity, quantity)
    if behind := _SAVED.match(text, quantity.end, min(ceiling, quantity.end + 40)):
        return Effect(quantity.start, behind.end(), after=quantity, sense=Sense.FALL, word="saved")
    base = max(floor, quantity.start - 40)
    if found := _SAVES.search(text[base : quantity.start]):
        return Effect(base + found.start(), quantity.end, after=quantity, sense=Sense.FALL, word="saves")
    return None
