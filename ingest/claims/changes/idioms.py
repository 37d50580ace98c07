"""Changes told without a numeral: `twice as fast`, `halves the latency`, `doubles throughput`, `an order of magnitude`, `by a third`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.words.change_words import COMPARISONS, HEDGES, VERBS, Sense
from ingest.claims.words.regex_parts import by_sense, sense_in

_OBJECT = r"\s+(?:the\s+|our\s+|its\s+)?(?:[\w./-]+\s+){0,3}?"
_NOUN = (
    r"(?:latenc(?:y|ies)|times?|run ?time|duration|memory|footprint|size|throughput|speed|performance|bandwidth|allocations?"
    r"|quer(?:y|ies)|requests?|calls?|cost|tokens?|overhead|volume|traffic|usage|consumption|start-?up|builds?|bundle|binary|pauses?"
    r"|rss|v?ram|heap|allocs|round-?trips|syscalls"
    r"|p50|p9[059]|cpu|[fqrtn]ps|frame ?rates?|resident set|(?:cache|branch) misses|(?:db|database|query|server|cpu) load"
    r"|(?:allocation|query|call|request|syscall) counts?)\b"
)


_ABOUT = rf"(?: (?:{HEDGES}))?"


def _less_by(part: str) -> tuple[str, ...]:
    """`cuts the build time by a third`, `memory is down by a third`, `saves a third of the memory`."""
    by = rf"{_ABOUT}(?: by| in)?{_ABOUT} {part}\b(?!-)"
    return (
        rf"\b(?:{VERBS[Sense.FALL]}){_OBJECT}{_NOUN}[^.;\n]{{0,20}}?{by}",
        rf"\b{_NOUN} (?:[\w/`.-]+ ){{0,12}}?(?:{VERBS[Sense.FALL]}){by}",
        rf"\b(?:{VERBS[Sense.FALL]}){_ABOUT} {part} (?:of|off|off of) (?:the |its |our )?(?:[\w-]+ )?{_NOUN}",
    )


_PARTS = ((r"(?:a )?half", 2), (r"(?:a|one)[ -]third", 1.5), (r"two[ -]thirds", 3), (r"(?:a|one)[ -]quarter", 4 / 3))

_SHARES = (
    (r"(?:a|one)[ -]third", 3),
    (r"(?:a|one)[ -](?:quarter|fourth)|1/4(?:th)?", 4),
    (r"(?:a|one)[ -]fifth|1/5(?:th)?", 5),
    (r"(?:a|one)[ -]tenth|1/10(?:th)?", 10),
    (r"1/2", 2),
)
_AT = r"in|at|to|is|with|using|(?:takes?|uses?|needs?|consumes?)(?: only| just)?"
_OF_OLD = r"(?:original |former |previous |old )?(?:[\w-]+ )?"
"""`in a tenth of the time`: how much is left."""

_IDIOMS: tuple[tuple[re.Pattern[str], float, Sense], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), factor, sense)
    for pattern, factor, sense in (
        (r"\btwice (?:as (?:fast|quick)\w*|the (?:speed|throughput|performance))\b", 2, Sense.GAIN),
        (r"\btwice as (?:slow|long)\b", 2, Sense.LOSS),
        (rf"\b(?:in )?half (?:of )?the (?:[\w-]+ )?{_NOUN}|\bhalf as (?:much|many|long)(?: {_NOUN})?", 2, Sense.FALL),
        (rf"\bhalv(?:e[sd]?|ing)(?! time){_OBJECT}{_NOUN}|\b{_NOUN} (?:is |was |were |are )?(?:(?:{HEDGES}) )?halved\b", 2, Sense.FALL),
        (r"\bhalv(?:e[sd]?|ing) (?:it|this|that|them)\b|\bmore or less halved\b", 2, Sense.FALL),
        *(
            (rf"\b(?:{part}) (?:faster|quicker)\b", factor, Sense.GAIN)
            for part, factor in ((r"(?:a|one)[ -]third", 4 / 3), (r"(?:a|one)[ -]quarter", 1.25))
        ),
        *(
            (rf"\b(?:is|are|now) {_ABOUT}(?:{part}) of what (?:it|they) (?:was|were|used to be|took)\b", factor, Sense.FALL)
            for part, factor in _SHARES
        ),
        (rf"\bdoubl(?:e[sd]?|ing){_OBJECT}{_NOUN}|\b{_NOUN} (?:doubles|(?:has |is |was )?(?:(?:{HEDGES}) )?doubled)\b", 2, Sense.RISE),
        (rf"\btripl(?:e[sd]?|ing){_OBJECT}{_NOUN}|\b{_NOUN} (?:triples|(?:has |is |was )?tripled)\b", 3, Sense.RISE),
        (rf"\bquadrupl(?:e[sd]?|ing){_OBJECT}{_NOUN}|\b{_NOUN} (?:quadruples|(?:has |is |was )?quadrupled)\b", 4, Sense.RISE),
        *(
            (rf"\b(?:{_AT}){_ABOUT} (?:{part})(?: of)? (?:of )?(?:the|its) {_OF_OLD}{_NOUN}", factor, Sense.FALL)
            for part, factor in _SHARES
        ),
        *((rf"\b(?:{part}) (?:less|fewer|smaller|lower|shorter)\b(?: {_NOUN})?", factor, Sense.FALL) for part, factor in _PARTS),
        *((pattern, factor, Sense.FALL) for part, factor in _PARTS for pattern in _less_by(part)),
    )
)
_MAGNITUDES = re.compile(
    r"\b(?P<count>an?|one|two|three|four|[1-4]) (?:orders? of )?magnitude (?:\w+ )?(?:"
    + by_sense({sense: COMPARISONS[sense] for sense in (Sense.GAIN, Sense.LOSS, Sense.FALL)})
    + ")",
    re.IGNORECASE,
)
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "1": 1, "2": 2, "3": 3, "4": 4}
_DENIED = re.compile(r"\b(?:without|not|never|avoid(?:s|ing)?|rather than|instead of)\s+$", re.IGNORECASE)
"""`without doubling the cost`."""

_HINTS = ("wice", "alf", "alv", "oubl", "ripl", "uadrupl", "magnitude", "third", "quarter", "fourth", "fifth", "tenth", "1/")


def idiomatic(text: str, start: int, end: int) -> Iterator[Effect]:
    """The effects of that part of the text that are told in words."""
    passage = text[start:end]
    if not any(hint in passage for hint in _HINTS):
        return
    for pattern, factor, sense in _IDIOMS:
        for match in pattern.finditer(text, start, end):
            if not _DENIED.search(text, max(start, match.start() - 16), match.start()):
                yield _effect(match, factor, sense, hedged=False)
    for match in _MAGNITUDES.finditer(text, start, end):
        yield _effect(match, 10.0 ** _COUNTS[match["count"].lower()], sense_in(match), hedged=True)


def _effect(match: re.Match[str], factor: float, sense: Sense, *, hedged: bool) -> Effect:
    change = Quantity(match.start(), match.end(), Kind.TIMES, factor, factor, None, hedged, "")
    return Effect(match.start(), match.end(), change=change, sense=sense, word=match[0].lower(), is_idiom=True)
