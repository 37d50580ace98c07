"""Running text: which quantities make an effect.

Two make a pair, `2822 → 2172 ms`, or one is a change, `3x faster`, `twice as fast`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from re import IGNORECASE, MULTILINE, Match, Pattern
from typing import NamedTuple

from ingest.claims.judge import agrees
from ingest.claims.numbers import Effect, Kind, Quantity, unit
from ingest.claims.sides import names_baseline, ordered_by_names, side_behind
from ingest.claims.words import (
    COMPARISONS,
    DECOR,
    HEDGE,
    SAME_SENTENCE,
    VERBS,
    Sense,
    folded,
    sense_in,
    senses,
)
from ingest.literals import pattern


def effects(text: str, found: list[Quantity], start: int, end: int) -> Iterator[Effect]:
    """Yield the effects that the quantities of the passage make, in order.

    None reads what another has used.
    """
    index, floor = 0, start
    last: Effect | None = None
    while index < len(found):
        effect, taken = pair_from(text, found, index, floor)
        if effect is None and taken == 1:
            effect = change(text, found[index], floor, end, last)
        index += taken
        if effect:
            floor, last = effect.end, effect
            yield effect


# --- pairs

_REACH = 90
"""Limit of the characters between the two figures of a pair."""

_LEFT = 60
"""Characters before a pair that are searched for the word that makes it one."""

_LINKS = 2
"""Limit of the figures of a chain beyond the first two."""


class TwoFigures(NamedTuple):
    """Two neighbouring quantities with the text between and before them."""

    text: str
    first: Quantity
    second: Quantity
    between: str
    left: str

    @property
    def whole(self) -> Effect:
        return Effect(self.first.start, self.second.end, self.first, self.second)

    @property
    def has_units(self) -> bool:
        """Whether both figures have a unit; if not, only an arrow or `from … to` is clear."""
        return self.first.metric is not None and self.second.metric is not None


def pair_from(
    text: str, found: list[Quantity], index: int, floor: int
) -> tuple[Effect | None, int]:
    """Return the pair that begins with that quantity, if any, and how many quantities it used.

    Nothing before `floor` is read.
    """
    if row := columns(text, found, index):
        return row, sum(quantity.end <= row.end for quantity in found[index : index + 6])
    step = 2 if _skips(text, found[index : index + 3]) else 1
    if index + step < len(found) and (
        effect := pair(text, found[index], found[index + step], floor)
    ):
        return _whole_chain(text, found, index + step + 1, effect, step + 1)
    return None, 1


def pair(text: str, first: Quantity, second: Quantity, floor: int) -> Effect | None:
    """Return the pair of two neighbouring quantities, if the text between them makes them one."""
    if not 0 < second.start - first.end <= _REACH or not _alike(first, second):
        return None
    two = TwoFigures(
        text,
        first,
        second,
        text[first.end : second.start],
        text[max(floor, first.start - _LEFT) : first.start],
    )
    is_pair = (
        first.kind is second.kind and first.kind is not Kind.PERCENT
    )  # 62% → 95% is a rate, and no rate is performance
    if second.kind is Kind.TIMES and _COMPARED.match(
        text, second.end
    ):  # `from 10x up to 70x faster`
        return None
    if (
        is_pair
        and (first.unit or second.unit)
        and (named := ordered_by_names(text, first, second, two.left))
    ):
        return named
    return next((effect for rule in _RULES if (effect := rule(two))), None) if is_pair else None


def _alike(first: Quantity, second: Quantity) -> bool:
    """Return whether two quantities can be a pair.

    Of one kind, and of one metric if both have units.
    """
    if first.kind is not second.kind:
        return (
            first.kind is Kind.VALUE and first.unit is None and second.kind is not Kind.VALUE
        )  # between 2 and 5 times
    return first.unit is None or second.unit is None or first.unit.metric is second.unit.metric


_ARROW = pattern(
    r"[\s*_`'\")\]]*(?:\([^()\n]{0,40}\)\s*)?(?:[\w/.,-]+\s+){0,4}?(?:-{1,2}>|={1,"
    r"2}>|→|⇒|➜|➔|➡️?|⟶|—>|–>)"
    rf"{DECOR}{HEDGE}{DECOR}",
    IGNORECASE,
)


def _by_arrow(two: TwoFigures) -> Effect | None:
    if not _ARROW.fullmatch(two.between):
        return None
    is_condition = (
        two.second.unit is None and two.text[two.first.start] in "><≥≤"
    )  # `> 10 MB → 413`
    return None if is_condition or _NAME_GOES_ON.match(two.text, two.second.end) else two.whole


_NAME_GOES_ON = pattern(r"-[A-Za-z]|\.[A-Za-z]")
"""Continuations of file names: `{36-bitmaps.conf => 76-bitmaps.conf}`."""


_FROM = pattern(rf"\b(?:from|(?<!factor )of|von|de|desde)\s+{DECOR}{HEDGE}{DECOR}$", IGNORECASE)
_TO = pattern(
    rf"{SAME_SENTENCE}{{0,60}}?(?:\b(?:down\s+|up\s+)?(?:to|into|auf|à|a|para)\s+){DECOR}{HEDGE}{DECOR}",
    IGNORECASE,
)


def _from_to(two: TwoFigures) -> Effect | None:
    if not _TO.fullmatch(two.between) or not (start := _FROM.search(two.left)):
        return None
    return two.whole._replace(start=two.first.start - len(two.left) + start.start())


_BARE_TO = pattern(rf"\s+(?:down\s+|up\s+)?to\s+{DECOR}{HEDGE}", IGNORECASE)
_CHANGING = pattern(
    rf"\b(?:{VERBS[Sense.FALL]}|{VERBS[Sense.RISE]}|goes|went|going)\b[^.;\n]{{0,40}}$", IGNORECASE
)
_BECAME = pattern(
    rf"{SAME_SENTENCE}{{0,50}}?\b(?:compressed|shrunk|shrank|shrinks|reduced|cut|drop(?:s|ped)|fell|falls|goes|went|lowered|brought|trimmed"
    rf"|improved|sped up)(?:\s+down)?\s+to\s+{DECOR}{HEDGE}{DECOR}",
    IGNORECASE,
)


def _by_verb(two: TwoFigures) -> Effect | None:
    """`drops 12 s to 5 s`, `a log of 200 MB, compressed to 20 MB`."""
    if not two.has_units:
        return None
    is_to = _BARE_TO.fullmatch(two.between)
    falls = is_to and two.first.scaled()[0] > two.second.scaled()[1]  # a range goes up
    return (
        two.whole
        if falls or _BECAME.fullmatch(two.between) or (is_to and _CHANGING.search(two.left))
        else None
    )


_FORMER = pattern(
    rf"{SAME_SENTENCE}{{0,70}}?(?P<word>\binstead of|\brather "
    r"than|\b(?:down|up)\s+from|\bcompared (?:to|with)|\bversus|\bvs\.?"
    r"|\bagainst|\bwas|\bpreviously|\bformerly|\boriginally|\bnot "
    r"the|\bbefore:?|\bbaseline:?|\bin place of)(?!\w)\s*"
    rf"(?:[\w.`'’/()-]+\s+){{0,3}}?{DECOR}{HEDGE}{DECOR}",
    IGNORECASE,
)
_NEXT_LINE = pattern(r"\n[ \t]*[A-Z]")
_ASIDE = pattern(r"(?:[(,;—–]|\s-)[^()]*\b(?:was|before)\b", IGNORECASE)


def _latter_first(two: TwoFigures) -> Effect | None:
    """`0.2 s instead of 11 s`, `5 s, down from 20 s`, `562 s (was 1573 s)`, `82 ms vs 84 ms`."""
    has_unit = two.first.metric is not None or two.second.metric is not None
    former = (
        _FORMER.fullmatch(two.between) if has_unit and not _NEXT_LINE.search(two.between) else None
    )
    if former is None:
        return None
    word = former["word"].lower().rstrip(":")
    if (word in ("was", "before") and not _ASIDE.search(two.between)) or (
        two.first.unit is None
        and word in ("was", "before", "baseline", "previously", "formerly", "originally")
    ):
        return None
    pair = Effect(two.first.start, two.second.end, two.second, two.first)
    if (
        # Words that do not say which of the two figures was first.
        not word.startswith(("vs", "versus", "against", "compared"))
        or "(" in two.between
        or names_baseline(two.between)
        or (side := side_behind(two.text, two.second)) == "baseline"
    ):
        return pair
    return pair.reversed() if side else pair._replace(is_order_open=True)


_LATER = pattern(
    rf"{SAME_SENTENCE}{{0,60}}?\b(?:now|after|new|becomes?|became|currently|optimi[sz]ed|to)\b[^.;\n]{{0,30}}",
    IGNORECASE,
)
_EARLIER = pattern(
    (
        r"\b(?:before|old|original|originally|previously|baseline|was|were|took|used "
        r"to|taking)\b[^.;\n]{0,40}$"
    ),
    IGNORECASE,
)


def _by_tense(two: TwoFigures) -> Effect | None:
    """`took 20 s, now 5 s`."""
    is_later = two.has_units and _LATER.fullmatch(two.between) and _EARLIER.search(two.left)
    return two.whole if is_later else None


_RULES: tuple[Callable[[TwoFigures], Effect | None], ...] = (
    _by_arrow,
    _from_to,
    _by_verb,
    _latter_first,
    _by_tense,
)
"""Rules for pairs, in the order tried."""


def _skips(text: str, three: list[Quantity]) -> bool:
    """Return whether the second of three figures is only a remark.

    `562 s (was 1.09 in 1573 s)`, `from 47 s on 25 GB to 12 s`.
    """
    if (
        len(three) < 3
        or three[0].unit is None
        or three[2].metric is not three[0].metric
        or three[1].metric is three[0].metric
    ):
        return False
    return three[1].unit is not None or "(was" in text[three[0].end : three[1].start]


def _whole_chain(
    text: str, found: list[Quantity], index: int, effect: Effect, taken: int
) -> tuple[Effect | None, int]:
    """`85s → 40s → 25s` goes from first to last; a longer chain is a schedule, no effect."""
    links = 0
    while index < len(found) and (longer := _chained(text, effect, found[index])):
        effect, index, taken, links = longer, index + 1, taken + 1, links + 1
    return (effect if links <= _LINKS else None), taken


def _chained(text: str, effect: Effect, further: Quantity) -> Effect | None:
    glue = text[effect.end : further.start] if further.start - effect.end <= 12 else ""
    if glue and effect.before and _alike(effect.before, further) and _ARROW.fullmatch(glue):
        return effect._replace(end=further.end, after=further)
    return None


# --- figures in columns without lines, as tools print them

_SPREAD = r"(?P<size>[nuµμm])?(?:[ \t]{0,2}±[ \t]{0,3}[\d.∞]{1,5}[ \t]?%)?(?:[ \t]\(\d{1,3}\))?"
"""Text after a figure: a unit of one letter, the uncertainty, and the number of repetitions."""

_GAP = pattern(rf"{_SPREAD}[ \t]+")
_WIDE_GAP = pattern(rf"{_SPREAD}(?:[ \t]{{2,}}|\t+)")
_LAST_COLUMN = pattern(r"[ \t]*(?:$|\||\(p=|[^\n(]{0,24}\))", MULTILINE)
_SIZES = {"n": unit("ns"), "u": unit("µs"), "µ": unit("µs"), "μ": unit("µs"), "m": unit("ms")}

_FEW = 4
"""Limit of the numbers of a row after the first figure: the second figure, the change, and
repetitions.
"""


def columns(text: str, found: list[Quantity], index: int) -> Effect | None:
    """Return two like figures with a third that is their change.

    Without a word beside it, the change must have a sign and fit.
    """
    first = found[index]
    ahead = found[index + 1 : index + 1 + _FEW]
    following = [
        quantity
        for quantity in ahead
        if quantity.kind is not Kind.VALUE or text[quantity.start - 1] != "("
    ]
    if (
        len(following) < 2
        or following[1].kind is Kind.VALUE
        or not first.kind is following[0].kind is Kind.VALUE
    ):
        return None
    return _row(text, first, following[0], following[1])


def _row(text: str, first: Quantity, second: Quantity, change: Quantity) -> Effect | None:
    signed = bool(change.sign) and bool(_LAST_COLUMN.match(text, change.end))
    gap = (_GAP if signed else _WIDE_GAP).fullmatch(text, first.end, second.start)
    behind = _GAP.match(text, second.end, change.start)
    if gap is None or not (signed or (first.unit and _LAST_COLUMN.match(text, change.end))):
        return None
    before, after = _sized(first, gap), _sized(second, behind)
    if before.unit and after.unit and before.unit.metric is not after.unit.metric:
        return None
    whole = Effect(first.start, change.end, before, after, change)
    is_change = (
        signed or after.low < before.low or "(" in text[second.end : change.start]
    )  # a column of growth is none
    return whole if is_change and agrees(whole, change) else None


def _sized(figure: Quantity, behind: Match[str] | None) -> Quantity:
    size = behind["size"] if behind and figure.unit is None else None
    return figure._replace(unit=_SIZES[size]) if size else figure


# --- changes


class Place(NamedTuple):
    """A quantity, and the text that may be read for it.

    `left` is the text before it, from `base` on.
    """

    text: str
    quantity: Quantity
    base: int
    ceiling: int
    left: str

    def behind(self, pattern: Pattern[str], reach: int = _REACH) -> Match[str] | None:
        return pattern.match(
            self.text, self.quantity.end, min(self.ceiling, self.quantity.end + reach)
        )

    def effect(self, start: int, end: int, sense: Sense, word: str) -> Effect:
        """Return the effect of the quantity as a change; `start` counts in `left`."""
        return Effect(self.base + start, end, change=self.quantity, sense=sense, word=word.lower())

    @property
    def before(self) -> int:
        """Where the quantity starts, counted in `left`."""
        return len(self.left)


def change(
    text: str, quantity: Quantity, floor: int, ceiling: int, last: Effect | None
) -> Effect | None:
    """Return the effect of one quantity, with its words in the text between `floor` and `ceiling`.

    `last` is the effect before it.
    """
    base = max(floor, quantity.start - _REACH)
    place = Place(
        text, _as_factor(text, quantity, floor), base, ceiling, text[base : quantity.start]
    )
    rules = _OF_VALUES if place.quantity.kind is Kind.VALUE else _OF_CHANGES
    return next((effect for rule in rules if (effect := rule(place))), None) or coordinated(
        text, quantity, last
    )


_FACTOR = pattern(r"\b(?:factor|speed[- ]?up) of\s+$", IGNORECASE)


def _as_factor(text: str, quantity: Quantity, floor: int) -> Quantity:
    """`by a factor of 3.5` is `3.5x`."""
    is_factor = (
        quantity.kind is Kind.VALUE
        and quantity.unit is None
        and _FACTOR.search(text, max(floor, quantity.start - 20), quantity.start)
    )
    if not is_factor:
        return quantity
    return quantity._replace(kind=Kind.TIMES)


_STOP = r"(?!(?:of|and|or|in|to|for|on|at|with|the|is|are|was|when|if|vs|than|but|that|tests?)\b)"
_COMPARED = pattern(
    rf"(?!\s*\n\s*(?-i:[A-Z]))[\s*_`]*-?(?:{_STOP}[\w./'%-]*[\w%][\s*_`]+){{0,3}}?(?:{senses(COMPARISONS)})(?![a-z])",
    IGNORECASE,
)


def _compared(place: Place) -> Effect | None:
    """`3x faster`, `42% less peak memory`, `27.7% latency reduction`."""
    found = place.behind(_COMPARED)
    return (
        place.effect(place.before, found.end(), (sense := sense_in(found)), found[sense.name])
        if found
        else None
    )


_AMOUNT = pattern(
    (
        r"[\s*_`]*(?:the |higher |more |better "
        r")?(?P<word>throughput|bandwidth|performance|speed|fps)\b"
    ),
    IGNORECASE,
)


def _multiplied(place: Place) -> Effect | None:
    """`2x throughput`."""
    found = place.behind(_AMOUNT, 40) if place.quantity.kind is Kind.TIMES else None
    return place.effect(place.before, found.end(), Sense.GAIN, found["word"]) if found else None


_SHARE = pattern(rf"\b(?:{VERBS[Sense.FALL]})\b[^.;\n]{{0,50}}\bto\s+{HEDGE}$", IGNORECASE)
_OF = pattern(
    (
        r"\s+of (?:the |its |what )?(?:\w+ )?(?:original|former|previous|baseline|before|old|it "
        r"was|size|time|cost)"
    ),
    IGNORECASE,
)


def _left_over(place: Place) -> Effect | None:
    """`reduced to 25% of the original`."""
    found = _SHARE.search(place.left) if place.behind(_OF) else None
    return place.effect(found.start(), place.quantity.end, Sense.SHARE, "to") if found else None


_NAMED = pattern(
    rf"(?<![A-Za-z])(?:{senses(COMPARISONS)})s?\b[\s*_`]*(?:\([^()]{{0,30}}\)\s*)?(?:of|by|:|=|is|was|at|—|–|-|\()*[\s*_`]*{HEDGE}{DECOR}$",
    IGNORECASE,
)


_VERB_BEFORE = pattern(
    rf"\b(?:{senses({sense: VERBS[sense] for sense in (Sense.GAIN, Sense.FALL)})})\b[^.;\n]{{0,40}}$",  # noqa: E501
    IGNORECASE,
)


def _named(place: Place) -> Effect | None:
    """`a speedup of 3x`, `Improvement: 40%`."""
    if (found := _NAMED.search(place.left)) is None:
        return None
    sense, verb = sense_in(found), _VERB_BEFORE.search(place.left, 0, found.start())
    if found[sense.name].lower() == "overhead" or (
        verb and sense is Sense.FALL and sense_in(verb) is Sense.GAIN
    ):
        return None  # `overhead: 5%` is a state; `speeds up the compression by 70%`
    return place.effect(found.start(), place.quantity.end, sense, found[sense.name])


_CHANGED_BY = pattern(
    (
        rf"\b(?:{senses(VERBS)})\b(?P<object>(?:(?![.;:!?]\s)[^→|]){{0,50}}?)(?P<by>\bby)?(?:\s+a "
        rf"factor of)?[\s*_`]*{HEDGE}{DECOR}$"
    ),
    IGNORECASE,
)
_OBJECT_WORDS = 3
"""Limit of the words between a verb and its number without `by`."""


def _changed_by(place: Place) -> Effect | None:
    """`reduced memory by 40%`, `cut reallocations 85%`."""
    found = _last(_CHANGED_BY, place.left)
    words = found["object"].split() if found else []
    is_state = place.quantity.kind is Kind.PERCENT and words[-1:] in (["to"], ["from"])
    if found is None or is_state or not (found["by"] or len(words) <= _OBJECT_WORDS):
        return None
    sense, word = sense_in(found), found[sense_in(found).name]
    if (
        word.lower() == "down"
        and "slow" in place.left[max(0, found.start() - 30) : found.start()].lower()
    ):
        sense = Sense.LOSS  # `slows the parser down by 12%`
    return place.effect(found.start(), place.quantity.end, sense, word)


def _last(pattern: Pattern[str], text: str) -> Match[str] | None:
    """Return the match that starts last among those that end with the text."""
    found = pattern.search(text)
    while found and (nearer := pattern.search(text, found.start() + 1)):
        found = nearer
    return found


_APPLIED = pattern(r"[*_`]*\s+(?:for|on|in|with|at|when|over|under|from|against)\b")


def _signed(place: Place) -> Effect | None:
    """`−30%`, if a noun that touches it says of what."""
    sign = place.quantity.sign if place.quantity.kind is Kind.PERCENT else ""
    return (
        place.effect(
            place.before, place.quantity.end, Sense.RISE if sign == "+" else Sense.FALL, sign
        )
        if sign
        else None
    )


_OF_CHANGES: tuple[Callable[[Place], Effect | None], ...] = (
    _compared,
    _multiplied,
    _left_over,
    _named,
    _changed_by,
    _signed,
)
"""Rules for multipliers and percentages, in the order tried."""

_UNMOVED = pattern(
    r"\b(?:unchanged at|no (?:measurable |significant |observable "
    r")?(?:change|difference|improvement|regression)[^.;\n\d]{0,30}\()"
    rf"\s*{HEDGE}$",
    IGNORECASE,
)


def _unmoved(place: Place) -> Effect | None:
    """`unchanged at 23.5 ms`."""
    found = _UNMOVED.search(place.left) if place.quantity.unit else None
    return (
        Effect(place.base + found.start(), place.quantity.end, place.quantity, place.quantity)
        if found
        else None
    )


_SAVED = pattern(
    r"[\s*_`]*(?:[\w-]+\s+){0,2}?(?:saved|savings?|faster|less|fewer|shorter)\b", IGNORECASE
)
_SAVES = pattern(
    (
        r"\b(?:sav(?:es|ing|ed)|shav(?:es|ing|ed)(?: "
        rf"off)?|eliminates|avoids|removes)\s+{HEDGE}{DECOR}$"
    ),
    IGNORECASE,
)


def _saved(place: Place) -> Effect | None:
    """`saves 12 ms per call`, `150 ms saved`: an absolute saving."""
    if place.quantity.unit is None:
        return None
    if behind := place.behind(_SAVED, 40):
        return Effect(
            place.quantity.start, behind.end(), after=place.quantity, sense=Sense.FALL, word="saved"
        )
    if found := _SAVES.search(place.left[-40:]):
        start = place.quantity.start - len(place.left[-40:]) + found.start()
        return Effect(
            start, place.quantity.end, after=place.quantity, sense=Sense.FALL, word="saves"
        )
    return None


_OF_VALUES: tuple[Callable[[Place], Effect | None], ...] = (_unmoved, _saved)
"""Rules for single figures, in the order tried."""

_COORDINATES = pattern(r"(?:[^.;]|\.(?=\d)){0,60}?(?:,|\band|,\s*and|\bor)\s+(?:by\s+)?[*_`~≈]*")


def coordinated(text: str, quantity: Quantity, last: Effect | None) -> Effect | None:
    """`8.2x speedup for reads and 7.6x for writes`: the second takes its word from the first."""
    if (
        last is None
        or last.is_pair
        or last.change is None
        or quantity.kind is Kind.VALUE
        or last.change.kind is not quantity.kind
    ):
        return None
    if not (
        _COORDINATES.fullmatch(text, last.end, quantity.start)
        and _APPLIED.match(text, quantity.end)
    ):
        return None
    return Effect(quantity.start, quantity.end, change=quantity, sense=last.sense, word=last.word)


# --- changes told without a numeral

_OBJECT = r"\s+(?:the\s+|our\s+|its\s+)?(?:[\w./-]+\s+){0,3}?"
_NOUN = (
    r"(?:latenc(?:y|ies)|times?|run "
    r"?time|duration|memory|footprint|size|throughput|speed|performance|bandwidth|allocations?"
    r"|quer(?:y|ies)|requests?|calls?|cost|tokens?|overhead|volume|traffic|usage|consumption|start-?up|builds?|bundle|binary)\b"
)


_ABOUT = r"(?: (?:about|roughly|nearly|almost))?"


def _less_by(part: str) -> str:
    """`cuts the build time by a third`, `memory is down by a third`."""
    by = rf"{_ABOUT}(?: by| in)?{_ABOUT} {part}\b"
    return (
        rf"\b(?:{VERBS[Sense.FALL]}){_OBJECT}{_NOUN}[^.;\n]{{0,20}}?{by}|\b{_NOUN} (?:[\w/]+ "
        rf"){{0,4}}?(?:{VERBS[Sense.FALL]}){by}"
    )


_IDIOMS: tuple[tuple[str, Pattern[str], float, Sense], ...] = tuple(
    (hint, pattern(words, IGNORECASE), factor, sense)
    for hint, words, factor, sense in (
        (
            "twice",
            r"\btwice (?:as (?:fast|quick)\w*|the (?:speed|throughput|performance))\b",
            2,
            Sense.GAIN,
        ),
        ("twice", r"\btwice as (?:slow|long)\b", 2, Sense.LOSS),
        (
            "half",
            (
                rf"\b(?:in )?half (?:of )?the (?:[\w-]+ )?{_NOUN}|\bhalf as "
                rf"(?:much|many|long)(?: {_NOUN})?"
            ),
            2,
            Sense.FALL,
        ),
        (
            "halv",
            (
                rf"\bhalv(?:e[sd]?|ing)(?! time){_OBJECT}{_NOUN}|\b{_NOUN} (?:is |was |were |are "
                r")?halved\b"
            ),
            2,
            Sense.FALL,
        ),
        (
            "doubl",
            rf"\bdoubl(?:e[sd]|ing|e the){_OBJECT}{_NOUN}|\b{_NOUN} (?:has |is |was )?doubled\b",
            2,
            Sense.RISE,
        ),
        (
            "tripl",
            rf"\btripl(?:e[sd]|ing|e the){_OBJECT}{_NOUN}|\b{_NOUN} (?:has |is |was )?tripled\b",
            3,
            Sense.RISE,
        ),
        ("quadrupl", rf"\bquadrupl(?:e[sd]|ing|e the){_OBJECT}{_NOUN}", 4, Sense.RISE),
        ("half", _less_by("half"), 2, Sense.FALL),
        ("third", _less_by("(?:a|one)[ -]third"), 1.5, Sense.FALL),
        ("third", _less_by("two[ -]thirds"), 3, Sense.FALL),
        ("quarter", _less_by("(?:a|one)[ -]quarter"), 4 / 3, Sense.FALL),
        *(
            (
                "magnitude",
                rf"\b(?:{count}) orders? of magnitude (?:\w+ )?(?:{COMPARISONS[sense]})",
                factor,
                sense,
            )
            for count, factor in {"an?|one": 10, "two": 100, "three": 1000, "four": 10_000}.items()
            for sense in (Sense.GAIN, Sense.LOSS, Sense.FALL)
        ),
    )
)
"""Expressions of changes, each with a word that is in all of its matches, in small letters."""

_HINTS = ("wice", "half", "Half", "alv", "oubl", "ripl", "uadrupl", "magnitude", "third", "quarter")


def idiomatic(text: str, start: int, end: int) -> Iterator[Effect]:
    """Yield the changes without a numeral in that part of the text."""
    part = text[start:end]
    if not [hint for hint in _HINTS if hint in part]:
        return
    lower = folded(part)
    possible = [(words, factor, sense) for hint, words, factor, sense in _IDIOMS if hint in lower]
    # the first of all matches from here on; of those that begin at one place, that of the first
    # idiom
    while possible:
        matches = [
            (found, factor, sense)
            for words, factor, sense in possible
            if (found := words.search(text, start, end))
        ]
        if not matches:
            return
        found, factor, sense = min(matches, key=lambda match: match[0].start())
        change = Quantity(*found.span(), Kind.TIMES, factor, factor, None, factor >= 10, "")
        yield Effect(
            *found.span(), change=change, sense=sense, word=found[0].lower(), is_idiom=True
        )
        start = found.end()
