"""A change with one number: `3x faster`, `reduced memory by 40%`, `a speedup of 3`, `−30% latency`, `saves 12 ms`."""

from __future__ import annotations

import re

from ingest.claims.changes.coordinated import coordinated, next_signed_percentage
from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import REACH, Effect, NumberInText, ReadingRule, first_result
from ingest.claims.numbers.quantities import CLOCK, Kind, Quantity, quantities
from ingest.claims.patterns import lowered, pattern
from ingest.claims.words.vocabulary import (
    BARE_FACTOR,
    CJK_CHANGES,
    COMPARISONS,
    DECORATION,
    HEDGE,
    VERBS,
    Sense,
    by_sense,
    sense_in,
)

_DELTA = pattern(r"[\s*_`]*(?:(?:mean|median|avg|average|geomean|p\d\d|total|wall)\s)?\((?P<percent>[+−–-]\d[\d.]*\s?%)\)")


def _change_in_bracket(number: NumberInText) -> Effect | None:
    """`1374.9M trits/sec (+23.2%)`: a candidate figure with its change in brackets."""
    found = number.followed_by(_DELTA, 24) if number.quantity.unit else None
    if found is None:
        return None
    percent = next(quantities(number.text, found.start("percent"), found.end("percent")), None)
    if percent is None:  # `(+2.30000000000000000000000003%)`: more digits than a quantity has
        return None
    sense = Sense.RISE if percent.sign == "+" else Sense.FALL
    return Effect(number.quantity.start, found.end(), after=number.quantity, change=percent, sense=sense, word=percent.sign)


_AGAINST = pattern(
    r"[\s*_`]*\((?P<percent>[+−–-]\d[\d.]*\s?%)\s(?:vs\.?|versus|from|against|over|compared (?:to|with)|relative to)\s"
    r"(?:[a-z]+\s){0,3}(?P<baseline>~?\d[\d.,]*\s?[A-Za-zµ/]+)(?:\s[a-z ]{2,20})?\)"
)


def _change_against_figure(number: NumberInText) -> Effect | None:
    """`36 s (−67% vs 108 s)`: a candidate figure with its change and its baseline in brackets."""
    found = number.followed_by(_AGAINST) if number.quantity.unit else None
    inside = list(quantities(number.text, found.start("percent"), found.end("baseline"))) if found else []
    if found is None or len(inside) != 2:
        return None
    percent, baseline = inside
    pair = Effect(number.quantity.start, found.end(), baseline, number.quantity, percent)
    return pair if baseline.has_metric_of(number.quantity) and agrees(pair, percent) else None


_LOST = pattern(
    r"[\s*_`]*\((?P<percent>~?\d[\d.]*\s?%)\s(?:total |size |memory )?"
    r"(?P<word>reduction|smaller|less|lower|decrease|savings?|saved|shorter)\b"
)


def _reduction_in_bracket(number: NumberInText) -> Effect | None:
    """`160 KB (65% reduction)`: a candidate figure with what it lost in brackets."""
    found = number.followed_by(_LOST, 40) if number.quantity.unit else None
    percent = next(quantities(number.text, *found.span("percent")), None) if found else None
    if found is None or percent is None:
        return None
    return Effect(number.quantity.start, found.end(), after=number.quantity, change=percent, sense=Sense.FALL, word=found["word"])


_UNCHANGED = pattern(
    r"\b(?:unchanged at|no (?:measurable |significant |observable )?(?:change|difference|improvement|regression)[^.;\n\d]{0,30}\()"
    rf"\s*{HEDGE}$",
    re.IGNORECASE,
)


def _unchanged(number: NumberInText) -> Effect | None:
    """`unchanged at 23.5 ms`: a pair of equal figures."""
    found = _UNCHANGED.search(number.left) if number.quantity.unit else None
    return Effect(number.base + found.start(), number.quantity.end, number.quantity, number.quantity) if found else None


_SAVED = pattern(
    r"[\s*_`]*(?:(?!and\b|or\b|to\b|but\b)[\w-]+\s+){0,2}?(?:saved|savings?|faster|less|fewer|shorter)\b(?! than \d)", re.IGNORECASE
)
_SAVES = pattern(
    rf"\b(?:sav(?:es|ing|ed)|shav(?:es|ing|ed)(?: off)?|eliminates|avoids|removes)\s+{HEDGE}{DECORATION}$",
    re.IGNORECASE,
)

_LACKS = pattern(rf"\b(?:needs?|must|want|require[sd]?|short of|missing)\s+(?:to save\s+)?{HEDGE}$", re.IGNORECASE)
"""`needs 2 MB more savings`: not saved yet."""


def _saving(number: NumberInText) -> Effect | None:
    """`saves 12 ms per call`, `150 ms saved`: an absolute saving, stated as a result."""
    if number.quantity.unit is None or number.quantity.unit is CLOCK or _LACKS.search(number.left):
        return None
    if followed_by := number.followed_by(_SAVED, 40):
        return Effect(number.quantity.start, followed_by.end(), after=number.quantity, sense=Sense.FALL, word="saved")
    if found := _SAVES.search(number.left[-40:]):
        start = number.quantity.start - len(number.left[-40:]) + found.start()
        return Effect(start, number.quantity.end, after=number.quantity, sense=Sense.FALL, word="saves")
    return None


RULES_OF_VALUES: tuple[ReadingRule[NumberInText, Effect], ...] = (
    ReadingRule("change in a bracket", _change_in_bracket, "delta: -80ms median (-20.0%)", "time 1.25"),
    ReadingRule("change against a figure", _change_against_figure, "Startup time: 108 s (+200% vs 36 s)", "time 0.333"),
    ReadingRule("reduction in a bracket", _reduction_in_bracket, "hero.webp: 160 KB (60% reduction)", "memory 2.5"),
    ReadingRule("unchanged", _unchanged, "unchanged at 23.5 ms", "time 1"),
    ReadingRule("saving", _saving, "saves 12 ms per call", "time none"),
)
"""The rules for a change with a single figure with a unit, in the order in which they are tried."""


_CJK_BEFORE = pattern(rf"(?:{by_sense(CJK_CHANGES)})(?:了|至多)?{DECORATION}(?:约|大约|近|超过|約|最大)?{DECORATION}$")
_CJK_REACH = 16
_CJK_BEHIND = pattern(rf"[\s*_`]*(?:的|の|以上)?(?:[一-鿿ぁ-ヿA-Z]{{0,6}}?)[のを]?(?:{by_sense(CJK_CHANGES)})")


def _cjk_word(number: NumberInText) -> Effect | None:
    """`降低 40%`, `3倍提升`, `40%短縮`: a Chinese, Japanese or Korean word of change before or behind the number."""
    if not number.left.isascii() and (found := _CJK_BEFORE.search(number.left)):
        return number.effect(found.start(), number.quantity.end, (sense := sense_in(found)), found[sense.name])
    end = number.quantity.end
    found = None if number.text[end : end + _CJK_REACH].isascii() else number.followed_by(_CJK_BEHIND, _CJK_REACH)
    return number.effect(number.start_in_left, found.end(), (sense := sense_in(found)), found[sense.name]) if found else None


_ENDS = pattern(
    r"[*_`]*(?:[,;)](?!\d)|\.?[ \t]*$|\s(?:on|at|with|for|in|across|over|@|avg|average|typical|overall|end-to-end|e2e|wins?)"
    r"(?=[\s,.;)]|$)"
    r"|\s\([a-z][\w .=-]{1,30}\)(?!\s\w)|\s[A-Za-z]{1,3}=|\svs\.?\s(?!\d))",
    re.MULTILINE,
)


def bare_factor(number: NumberInText) -> Effect | None:
    """A factor alone, `1.4x on long inputs`; `judge.metrics` makes it a claim only in a text about speed."""
    if (
        number.quantity.kind is not Kind.TIMES
        or number.quantity.high <= 1.005
        or number.text[number.quantity.end - 1] not in "xX×0123456789"
    ):
        return None
    if number.text[number.quantity.start] in "xX×" and not _INTRODUCES.search(number.left):  # `gc.collect() x3`, registers x7, x8
        return None
    stands_alone = not _COUNTS.search(number.left) and (number.followed_by(_ENDS) or _names_what_it_is_of(number))
    return number.effect(number.start_in_left, number.quantity.end, Sense.GAIN, BARE_FACTOR) if stands_alone else None


_INTRODUCES = pattern(r"(?:[:=|]|[^)`]\s\(|[–—-]\s)\s*[*_~≈]*$")
"""`speed: x3`, `a third step (x3)`: what may be before a factor with its sign first."""

_OF_SOMETHING = pattern(r"(?!\s(?:under|over|below|above|within)\s)(?:\s[a-z][a-z-]*(?<!ing)(?<!s)){1,3}(?:[,;)]|\s\()")


def _names_what_it_is_of(number: NumberInText) -> bool:
    """Whether the factor is one that nobody sets, with what it is of behind it: `(3.1x silu)`, not `4x unrolling`."""
    return "." in number.text[number.quantity.start : number.quantity.end] and number.followed_by(_OF_SOMETHING, 40) is not None


_COUNTS = pattern(
    r"(?:[x×](?:,?\s(?:and\s)?|/)|\b(?:called|timed|built|ran|run|repeated|done|executed|invoked|burst|retr(?:y|ied)|fan-?out|by|zoom"
    r"|(?<![:|] )(?<!  )up to|scale[sd]?|points|stacked|loaded|tried)"
    rf"\s|(?<!speedup )factor:\W{{0,3}}){HEDGE}{DECORATION}$",
    re.IGNORECASE,
)


def change_effect(text: str, quantity: Quantity, floor: int, ceiling: int, last: Effect | None) -> Effect | None:
    """The change that the quantity states; None if no rule applies.

    Words are read between `floor` and `ceiling`, offsets into the text. `last` is the previous effect of the passage, whose word of
    comparison may apply to this quantity as well.
    """
    base = max(floor, quantity.start - REACH)
    if listed := next_signed_percentage(text, quantity, last):
        return listed
    factor = _as_factor(text, quantity, floor)
    if factor.kind is Kind.VALUE and factor.unit is None:  # a bare number: no rule applies, and most numbers are bare
        return None
    number = NumberInText(text, factor, base, ceiling, text[base : quantity.start])
    rules = RULES_OF_VALUES if factor.kind is Kind.VALUE else RULES_OF_CHANGES
    return first_result(rules, number) or coordinated(text, quantity, last) or bare_factor(number)


_FACTOR = pattern(
    rf"\b(?:(?:factor|speed[- ]?up) of|speed[- ]?up(?: factor)?(?: is| was|:)(?: by)?(?: an?)?(?: factor of)?"
    rf"|divid\w+ (?:[\w-]+ ){{0,4}}by)\s+{HEDGE}$",
    re.IGNORECASE,
)
_HINTS_OF_FACTOR = ("factor", "speed", "divid")
"""Parts of its words: a cheap test, since most numbers are bare."""

_SHAPES = pattern(
    r"\b(?:unroll|til|interleav|zoom|scal|upsampl|downsampl|oversampl|subsampl|replicat|widen|pad)\w*\W{1,3}"
    r"(?:it |them )?(?:by )?(?:a )?factor of"
)
"""`unrolling (by a factor of 4)`: how the code is made, not how much faster it is."""

_OTHER_END = pattern(r"\s(?:to|and)\s(?P<high>\d{1,6}(?:\.\d{1,6})?)\b(?!\s*(?:ms|s|sec|%)\b)")


def _as_factor(text: str, quantity: Quantity, floor: int) -> Quantity:
    """The number of `by a factor of 3.5` or `a speedup of 2 to 3` as a multiplier; any other quantity unchanged."""
    if quantity.kind is not Kind.VALUE or quantity.unit is not None:
        return quantity
    left = max(floor, quantity.start - 40)
    lower = lowered(text[left : quantity.start])
    if not any(hint in lower for hint in _HINTS_OF_FACTOR) or not _FACTOR.search(text, left, quantity.start) or _SHAPES.search(lower):
        return quantity
    to = _OTHER_END.match(text, quantity.end)
    return quantity._replace(kind=Kind.TIMES, high=float(to["high"]), end=to.end()) if to else quantity._replace(kind=Kind.TIMES)


_STOP = r"(?!(?:via|through|thanks|by|using|of|and|or|in|to|for|on|at|with|the|is|are|was|when|if|vs|than|but|that|without|tests?)\b)"
_COMPARED = pattern(
    rf"[\s*_`]*\+?(?:\([\d.,]{{1,8}}[x×]\)[\s*_`]*)?(?:\)(?!\s*[-–—,;:.]))?[\s*_`]*-?(?:in\s(?=[\w ]{{0,20}}(?:reduction"
    rf"|savings)))?(?:{_STOP}[\w./'%-]+(?<!\.)[\s*_`]+){{0,3}}?(?:{by_sense(COMPARISONS)})(?![a-z])",
    re.IGNORECASE,
)


def _comparison_behind(number: NumberInText) -> Effect | None:
    """`3x faster`, `42% less peak memory`, `27.7% latency reduction`: the word of comparison is behind the number."""
    found = number.followed_by(_COMPARED)
    if found is None or _is_bound(number, found[(sense := sense_in(found)).name]) or _NEW_LINE.search(found[0]):
        return None
    return number.effect(number.start_in_left, found.end(), sense, found[sense.name])


_NEW_LINE = pattern(r"\n[ \t]*(?:[A-Z]|[-*•+] )")
"""A new line that begins a sentence or list item."""


def _is_bound(number: NumberInText, word: str) -> bool:
    """Whether it is a bound, not a change: `< 2% overhead`."""
    return word.lower() == "overhead" and number.text[number.quantity.start] in "<≤"


_SLOWER_IN_BRACKET = pattern(rf"[*_`]*\s?\(~?\d[\d.]{{0,6}}\s?[%x×]\s(?:{by_sense({Sense.LOSS: COMPARISONS[Sense.LOSS]})})", re.IGNORECASE)


def _speedup_below_one(number: NumberInText) -> Effect | None:
    """`0.86x (14% slower)`: the factor decides, not the percentage that rounds it."""
    is_below = number.quantity.kind is Kind.TIMES and number.quantity.high < 1
    found = number.followed_by(_SLOWER_IN_BRACKET, 30) if is_below else None
    return number.effect(number.start_in_left, found.end(), Sense.LOSS, found["LOSS"]) if found else None


_AMOUNT = pattern(
    r"[\s*_`]*(?:of )?(?:the |higher |more |better |(?:dev|ci|build|test|read|write|query|runtime|overall) )?"
    r"(?:(?:baseline|original|former|previous|old|stock)(?:'s)? )?"
    r"(?P<word>throughput|bandwidth|performance|perf\b|speed|fps|[nqrt]ps|iops|(?:tok(?:en)?s?|req(?:uest)?s?|ops)/s(?:ec)?|(?:ttft|decode|prefill|single-stream)"
    r"(?! (?:cost|memory|steps?|calls?|tokens)))\b",
    re.IGNORECASE,
)


_AMOUNT_BEFORE = pattern(r"\b(?P<word>throughput|bandwidth|performance|speed|fps)[*_`]*:?\s?\(?$", re.IGNORECASE)


def _multiplied(number: NumberInText) -> Effect | None:
    """`2x throughput`, `throughput ×2`: a multiplier beside a noun of which more is better."""
    if (
        number.quantity.kind is Kind.TIMES
        and number.text[number.quantity.end - 1].isdigit()
        and (found := _AMOUNT_BEFORE.search(number.left))
    ):
        return number.effect(found.start(), number.quantity.end, Sense.GAIN, found["word"])
    found = number.followed_by(_AMOUNT, 40) if number.quantity.kind is Kind.TIMES else None
    return number.effect(number.start_in_left, found.end(), Sense.GAIN, found["word"]) if found else None


_BETTER_AMOUNT = pattern(
    r"\b(?:better|faster|higher|improved?)\s(?:[\w-]+\s){0,2}(?P<word>speed|performance|throughput|bandwidth)\s(?:on|for|with|in)\s"
    r"[^.,;:()\n\d]{2,30}\s\(~?$",
    re.IGNORECASE,
)


def _better_amount(number: NumberInText) -> Effect | None:
    """`better decompression speed on large files (+7%)`: the noun is before its condition."""
    found = _BETTER_AMOUNT.search(number.left) if number.quantity.sign == "+" and number.quantity.kind is Kind.PERCENT else None
    return number.effect(found.start(), number.quantity.end, Sense.GAIN, found["word"].lower()) if found else None


_SHARE = pattern(rf"\b(?:{VERBS[Sense.FALL]})\b[^.;\n]{{0,50}}\bto\s+{HEDGE}$", re.IGNORECASE)
_OF_ORIGINAL = pattern(
    r"[*_`]*\s+of (?:the |its |what )?(?:\w+ )?(?:original|former|previous|baseline|before|old|it was|size|time|cost)", re.IGNORECASE
)


_REMOVES = pattern(rf"\b(?:remov|eliminat|sav|sheds?|cut)(?:e?[sd]|ing|s)?\s+{HEDGE}{DECORATION}$", re.IGNORECASE)
_OF_THE_WHOLE = pattern(r"[*_`]*\s+of\s+(?:the|all|its|their)\s(?:[\w-]+\s){0,2}?[\w-]+", re.IGNORECASE)


def _share_removed(number: NumberInText) -> Effect | None:
    """`removes 28% of the instructions`: the share that is gone. `judge.metrics` makes it a claim only beside a noun."""
    removes = _REMOVES.search(number.left) if number.quantity.kind is Kind.PERCENT else None
    behind = number.followed_by(_OF_THE_WHOLE, 40) if removes else None
    return number.effect(removes.start(), behind.end(), Sense.FALL, "removes") if removes and behind else None


_OF_PREVIOUS = pattern(
    r"[*_`]*\s+of (?:its|the|their) (?:previous|original|former|old|initial) (?:run-?)?(?:time|size|cost|memory|latency|duration)\b",
    re.IGNORECASE,
)
"""`25% of its previous time`"""

_IS = pattern(rf"\b(?:is|are|was|were|takes?|needs?|uses?|at)\s+(?:now\s+)?{HEDGE}{DECORATION}$", re.IGNORECASE)
_ONLY = pattern(
    rf"\b(?:(?:takes?|needs?|uses?|costs?)\s+(?:only|just)|only\s+(?:takes?|needs?|uses?|costs?))\s+{HEDGE}{DECORATION}$", re.IGNORECASE
)
_OF_ALL = pattern(r"[*_]*\s+of (?:the|its) (?:time|memory|space|storage)\b(?! (?:in|on|for|when|waiting|spent|to)\b)", re.IGNORECASE)
_DONE_IN = pattern(rf"\b(?:runs?|finish(?:es)?|completes?|executes?|is done) in\s+{HEDGE}{DECORATION}$", re.IGNORECASE)
_OF_BASELINE = pattern(
    r"[*_]*\s+(?:of|as much as|as long as) (?:the |its )?"
    r"(?:(?:original|former|previous|old|baseline)\b|main\b|master\b|"
    r"(?:time|memory|space) (?:that )?(?:it|they) (?:used to|took|did|needed|was|were)\b|(?:what )?it (?:was|used to be|took))",
    re.IGNORECASE,
)


def _share_left(number: NumberInText) -> Effect | None:
    """`reduced to 25% of the original`, `is 30% of what it was`: the share that remains."""
    found = (number.followed_by(_OF_ORIGINAL) and _SHARE.search(number.left)) or (
        number.followed_by(_OF_BASELINE) and _IS.search(number.left)
    )
    found = found or (number.followed_by(_OF_ALL) and (_ONLY.search(number.left) or _DONE_IN.search(number.left)))
    if not found and number.quantity.kind is Kind.PERCENT and (behind := number.followed_by(_OF_PREVIOUS)):
        return number.effect(number.start_in_left, behind.end(), Sense.SHARE, "to")
    return number.effect(found.start(), number.quantity.end, Sense.SHARE, "to") if found else None


_SEEN = r"(?:(?:that |which )?(?:i|we|they) (?:\w+ )?(?:measured?|saw|see|observed?|got|get) )?(?:is|was|are|were)(?=\s)"
_OF = rf"(?:{_SEEN}|of|by(?: a factor of)?|:(?:\s(?:[\w./`-]+\s){{1,2}}(?=\S*$))?|=|at|—|–|-|\()*"
_NAMED = pattern(
    rf"(?<![A-Za-z])(?:{by_sense(COMPARISONS)})s?\b[\s*_`]*(?:than (?:before|previously|main|master)\s)?(?:\([^()]{{0,30}}\)\s*)?"
    rf"(?:\s?(?:on|for|with|over)\s[^.,;:()\n\d]{{2,25}}\s(?=(?:is|was|of)\b)|\sacross\s[^.,;:()\n]{{2,40}}(?=:))?{_OF}[\s*_`]*{HEDGE}{DECORATION}$"
)


_SPED = pattern(rf"\b(?:{VERBS[Sense.GAIN]})\b[^.;\n]{{0,30}}$", re.IGNORECASE)


def _comparison_before(number: NumberInText) -> Effect | None:
    """`a speedup of 3x`, `Improvement: 40%`: the word of comparison is before the number."""
    found = _NAMED.search(lowered(number.left))
    if found and sense_in(found) is Sense.FALL and _SPED.search(number.left, 0, found.start()):  # `speeds up the compression by 70%`
        return None
    if found and number.quantity.sign == "-" and (found["GAIN"] or found["LOSS"] == "overhead"):  # `faster (-14%)` is 14% less time
        return number.effect(found.start(), number.quantity.end, Sense.FALL, found["GAIN"] or found["LOSS"])
    if found is None or _is_bound(number, found[(sense := sense_in(found)).name]):
        return None
    if sense in (Sense.FALL, Sense.RISE) and _counts_things(number):
        return None
    if sense is Sense.LOSS and _REDUCED.search(number.left, 0, found.start()):
        return None
    return number.effect(found.start(), number.quantity.end, sense, found[sense.name])


_REDUCED = pattern(rf"\b(?:{VERBS[Sense.FALL]}|{VERBS[Sense.GAIN]}|removes?|removing)\s[^.;:!?]{{0,50}}$", re.IGNORECASE)
"""`reduces the overhead by 40%`: less of a loss is a fall, not a loss."""

_CHANGED_BY = pattern(
    rf"\b(?:{by_sense(VERBS)})\b(?P<object>(?:(?![.;:!?]\s)[^→|]){{0,75}}?)(?P<by>\bby"
    rf"|\bin(?=[\s*_`]*$))?(?:\s+up)?(?:\s+a factor of)?(?:\s+{HEDGE}{DECORATION}[\d.,–-]{{1,12}}\s?[a-zA-Zµ]{{1,5}}[*_`]*\s?\()?"
    rf"[\s*_`]*{HEDGE}{DECORATION}$"
)
_FROM = pattern(rf"\b(?:from\s*{HEDGE}(?:$|\d[\d.]*\s?%)|(?:beyond|past|above|below|under)\s*$)", re.IGNORECASE)
"""`drops from 80%`, `push beyond 50%`: a level, not a change."""

_OBJECT_WORDS = 3
"""The most words between a verb and its number without `by` or `up to`."""

_UP_TO = pattern(r"\bup to\W*$")


def _verb_before(number: NumberInText) -> Effect | None:
    """`reduced memory by 40%`, `cut reallocations 85%`: a verb of change before the number."""
    found = _last(_CHANGED_BY, lowered(number.left))
    if found is None or _FROM.search(found["object"]) or _is_level(number, found["object"]):
        return None
    if not found["by"] and len(found["object"].split()) > _OBJECT_WORDS and not _UP_TO.search(number.left):
        return None
    if not found["by"] and _counts_things(number):
        return None
    if number.quantity.sign == "-" and found["GAIN"]:  # `improved TTFT (-18%)`
        return number.effect(found.start(), number.quantity.end, Sense.FALL, found["GAIN"])
    if slows := _SLOWS.search(number.left, 0, found.start() + len("down")):  # `slows the parser down by 12%`
        return number.effect(slows.start(), number.quantity.end, Sense.LOSS, "slow")
    return number.effect(found.start(), number.quantity.end, (sense := sense_in(found)), found[sense.name])


_TO = pattern(rf"\bto\s*{HEDGE}{DECORATION}$", re.IGNORECASE)


def _is_level(number: NumberInText, words: str) -> bool:
    """Whether a percentage is where something is now, `the share fell to 69%`, not by how much it changed."""
    return number.quantity.kind is Kind.PERCENT and _TO.search(words) is not None and not _UP_TO.search(words)


_COUNTED = pattern(r"[*_]*\s(?:`|(?!(?:on|in|for|with|vs|at|when|over|across|and|or|by|from|to|after|while|since)\b)[a-z]{4,})")


def _counts_things(number: NumberInText) -> bool:
    """Whether the multiplier counts the noun behind it: `drops 40x memset calls` is 40 calls less, not a factor."""
    return number.quantity.kind is Kind.TIMES and number.followed_by(_COUNTED, 12) is not None


_SLOWS = pattern(r"\bslow(?:s|ed|ing)?\s(?:[\w`'./-]+\s){0,5}down$", re.IGNORECASE)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Of all matches, the one that starts last: the nearest verb, `cut` in `improves caching, cut latency by`."""
    found = pattern.search(text)
    while found and (nearer := pattern.search(text, found.start() + 1)):
        found = nearer
    return found


def _signed(number: NumberInText) -> Effect | None:
    """`−30%`: a signed percentage. `judge.metrics` makes it a claim only beside a noun."""
    sign = number.quantity.sign if number.quantity.kind is Kind.PERCENT and not number.left.endswith(("+", "-", "±")) else ""
    return number.effect(number.start_in_left, number.quantity.end, Sense.RISE if sign == "+" else Sense.FALL, sign) if sign else None


RULES_OF_CHANGES: tuple[ReadingRule[NumberInText, Effect], ...] = (
    ReadingRule("speedup below one", _speedup_below_one, "Parsing: 0.5x (50% slower)", "time 0.5"),
    ReadingRule("compared", _comparison_behind, "Parsing is 3x faster.", "time 3"),
    ReadingRule("multiplied", _multiplied, "Query throughput ×10", "throughput 10"),
    ReadingRule("better amount", _better_amount, "better read speed on large files (+40%)", "time 1.4"),
    ReadingRule("share left", _share_left, "Latency was reduced to 25% of the original", "time 4"),
    ReadingRule("share removed", _share_removed, "removes 50% of the allocations", "operations 2"),
    ReadingRule("comparison before", _comparison_before, "blur speedup: 0.90x", "time 0.9"),
    ReadingRule("verb before", _verb_before, "It reduces latency by 50%.", "time 2"),
    ReadingRule("Chinese, Japanese, Korean", _cjk_word, "内存减少 50%", "memory 2"),
    ReadingRule("signed", _signed, "-50% latency", "time 2"),
)
"""The rules for a change as a multiplier or percentage, in the order in which they are tried; `coordinated` follows."""
