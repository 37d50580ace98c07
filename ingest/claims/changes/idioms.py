"""Changes without a numeral: `twice as fast`, `halves the latency`, `doubles throughput`, `an order of magnitude`, `by a third`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import COMPARISONS, HEDGES, VERBS, Sense, by_sense, sense_in

_OBJECT = r"\s+(?:the\s+|our\s+|its\s+)?(?:[\w./-]+\s+){0,3}?"
_NOUN = (
    r"(?:latenc(?:y|ies)|times?|run ?time|duration|memory|footprint|size|throughput|speed|performance|bandwidth|allocations?"
    r"|quer(?:y|ies)|requests?|calls?|cost|tokens?|overhead|volume|traffic|usage|consumption|start-?up|builds?|bundle|binary|pauses?"
    r"|rss|v?ram|heap|allocs|round-?trips|syscalls"
    r"|p50|p9[059]|ttft|tpot|itl|cpu|[fqrtn]ps|frame ?rates?|resident set|(?:cache|branch) misses|(?:db|database|query|server|cpu) load"
    r"|(?:allocation|query|call|request|syscall) counts?)\b"
)


_ABOUT = rf"(?: (?:{HEDGES}))?"
_AT = r"in|at|to|is|with|using|(?:takes?|uses?|needs?|consumes?)(?: only| just)?"
_OF_BASELINE = r"(?:original |former |previous |old )?(?:[\w-]+ )?"


class Idiom(NamedTuple):
    """A change in words: pattern, factor, sense, and an example with the metric and ratio of its claim."""

    pattern: str
    factor: float
    sense: Sense
    example: str
    claim: str


def _times_as_much(verb: str, third_person: str, participle: str, factor: float, example: str, claim: str) -> Idiom:
    """`doubles throughput`, `memory has doubled`: the idiom for a verb stem and two of its forms."""
    hedged = rf"(?:(?:{HEDGES}) )?" if factor == 2 else ""
    imperative = rf"\b{verb}e(?: (?:the|its|our|their)\b{_OBJECT}| ){_NOUN}"
    expression = (
        rf"\b{verb}(?:e[sd]|ing){_OBJECT}{_NOUN}|{imperative}|\b{_NOUN} (?:{third_person}|(?:has |is |was )?{hedged}{participle})\b"
    )
    return Idiom(expression, factor, Sense.RISE, example, claim)


def _of_what_it_was(share: str, factor: float, written: str) -> Idiom:
    """`is now a third of what it was`."""
    expression = rf"\b(?:is|are|now) {_ABOUT}(?:{share}) of what (?:it|they) (?:was|were|used to be|took)\b"
    return Idiom(expression, factor, Sense.FALL, f"Latency is now {written} of what it was.", f"time {factor:.3g}")


def _in_a_share(share: str, factor: float, written: str) -> Idiom:
    """`runs in a quarter of the time`."""
    expression = rf"\b(?:{_AT}){_ABOUT} (?:{share})(?: of)? (?:of )?(?:the|its) {_OF_BASELINE}{_NOUN}"
    return Idiom(expression, factor, Sense.FALL, f"It runs in {written} of the time.", f"time {factor:.3g}")


def _less_by(part: str, factor: float, written: str) -> Iterator[Idiom]:
    """`cuts the build time by a third`, `memory is down by a third`, `saves a third of the memory`."""
    fall, by = VERBS[Sense.FALL], rf"{_ABOUT}(?: by| in)?{_ABOUT} {part}\b(?!-)"
    of = rf"{_ABOUT} {part} (?:of|off|off of) (?:the |its |our )?(?:[\w-]+ )?"
    for expression, example, metric in (
        (rf"\b(?:{fall}){_OBJECT}{_NOUN}[^.;\n]{{0,20}}?{by}", f"It cuts the build time by {written}.", "time"),
        (rf"\b{_NOUN} (?:[\w/`.-]+ ){{0,12}}?(?:{fall}){by}", f"Memory is down by {written}.", "memory"),
        (rf"\b(?:{fall}){of}{_NOUN}", f"It saves {written} off the build time.", "time"),
    ):
        yield Idiom(expression, factor, Sense.FALL, example, f"{metric} {factor:.3g}")


_PARTS = (
    (r"(?:a )?half", 2, "half"),
    (r"(?:a|one)[ -]third", 1.5, "a third"),
    (r"two[ -]thirds", 3, "two thirds"),
    (r"(?:a|one)[ -]quarter", 4 / 3, "a quarter"),
)
"""Parts removed, `a third less`: pattern, factor, and the words of the example."""

_SHARES = (
    (r"(?:a|one)[ -]third", 3, "a third"),
    (r"(?:a|one)[ -](?:quarter|fourth)|1/4(?:th)?", 4, "a quarter"),
    (r"(?:a|one)[ -]fifth|1/5(?:th)?", 5, "a fifth"),
    (r"(?:a|one)[ -]tenth|1/10(?:th)?", 10, "a tenth"),
    (r"1/2", 2, "1/2"),
)
"""Parts that remain, `a third of`: pattern, factor, and the words of the example."""

IDIOMS: tuple[Idiom, ...] = (
    Idiom(r"\btwice (?:as (?:fast|quick)\w*|the (?:speed|throughput|performance))\b", 2, Sense.GAIN, "Parsing is twice as fast.", "time 2"),
    Idiom(r"\btwice as (?:slow|long)\b", 2, Sense.LOSS, "Parsing is twice as slow.", "time 0.5"),
    Idiom(
        rf"\b(?:in )?half (?:of )?the (?:[\w-]+ )?{_NOUN}|\bhalf as (?:much|many|long)(?: {_NOUN})?",
        2, Sense.FALL, "It uses half the memory.", "memory 2",
    ),
    Idiom(
        rf"\bhalv(?:e[sd]?|ing)(?! time){_OBJECT}{_NOUN}|\b{_NOUN} (?:is |was |were |are )?(?:(?:{HEDGES}) )?halved\b",
        2, Sense.FALL, "It halves the latency.", "time 2",
    ),
    Idiom(
        r"\bhalv(?:e[sd]?|ing) (?:it|this|that|them)\b|\bmore or less halved\b",
        2, Sense.FALL, "startup time (more or less halves it)", "time 2",
    ),
    Idiom(r"\b(?:(?:a|one)[ -]third) (?:faster|quicker)\b", 4 / 3, Sense.GAIN, "Parsing is a third faster.", "time 1.33"),
    Idiom(r"\b(?:(?:a|one)[ -]quarter) (?:faster|quicker)\b", 1.25, Sense.GAIN, "Parsing is a quarter faster.", "time 1.25"),
    *(_of_what_it_was(*share) for share in _SHARES),
    _times_as_much("doubl", "doubles", "doubled", 2, "It doubles throughput.", "throughput 2"),
    _times_as_much("tripl", "triples", "tripled", 3, "It triples throughput.", "throughput 3"),
    _times_as_much("quadrupl", "quadruples", "quadrupled", 4, "It quadruples throughput.", "throughput 4"),
    *(_in_a_share(*share) for share in _SHARES),
    *(
        Idiom(
            rf"\b(?:{part}) (?:less|fewer|smaller|lower|shorter)\b(?: {_NOUN})?",
            factor, Sense.FALL, f"The index takes {written} less memory.", f"memory {factor:.3g}",
        )
        for part, factor, written in _PARTS
    ),
    *(idiom for part in _PARTS for idiom in _less_by(*part)),
)  # fmt: skip
"""All idioms except orders of magnitude, in the order in which they are tried."""


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    """The compiled expression of an idiom, made only when a text has one of its hints: most have none."""
    return pattern(expression, re.IGNORECASE)


_MAGNITUDES = pattern(
    r"\b(?P<count>an?|one|two|three|four|[1-4]) (?:orders? of )?magnitude (?:\w+ )?(?:"
    + by_sense({sense: COMPARISONS[sense] for sense in (Sense.GAIN, Sense.LOSS, Sense.FALL)})
    + ")",
    re.IGNORECASE,
)
_BY_MAGNITUDES = pattern(
    r"\b(?:(?P<GAIN>improv\w{1,8}|speed-?ups?|gains?)|(?P<FALL>reduc\w{1,5}|cuts?|lower\w{0,3}|decreas\w{1,3}))\b[^.;\n]{0,40}?"
    r"\b(?:by|of)\b[ a-z~]{0,20}?[*_ ]{1,3}(?P<count>an?|one|two|three|four|[1-4]) orders? of magnitude",
    re.IGNORECASE,
)
"""`a speedup of 3 orders of magnitude`, `cuts the latency by two orders of magnitude`."""

_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "1": 1, "2": 2, "3": 3, "4": 4}
_DENIED = pattern(r"\b(?:without|not|never|avoid(?:s|ing)?|rather than|instead of)\s+$", re.IGNORECASE)
"""`without doubling the cost`."""

HINTS = ("wice", "alf", "alv", "oubl", "ripl", "uadrupl", "magnitude", "third", "quarter", "fourth", "fifth", "tenth", "1/")


def hints_in(text: str) -> frozenset[str]:
    """The parts of words of idioms that are in the text: cheap to test, and most texts have none."""
    return frozenset(hint for hint in HINTS if hint in text)


_hints_needed = cache(hints_in)
"""The parts of words of which the expression of an idiom needs one."""


def idiom_effects(text: str, start: int, end: int) -> Iterator[Effect]:
    """The effects of the idioms between `start` and `end`, idiom by idiom."""
    hints = hints_in(text[start:end])
    for idiom in IDIOMS if hints else ():
        for match in _pattern(idiom.pattern).finditer(text, start, end) if hints & _hints_needed(idiom.pattern) else ():
            if not _DENIED.search(text, max(start, match.start() - 16), match.start()):
                yield _effect(match, idiom.factor, idiom.sense, hedged=False)
    if "magnitude" in hints:
        for match in chain(_MAGNITUDES.finditer(text, start, end), _BY_MAGNITUDES.finditer(text, start, end)):
            yield _effect(match, 10.0 ** _COUNTS[match["count"].lower()], sense_in(match), hedged=True)


def _effect(match: re.Match[str], factor: float, sense: Sense, *, hedged: bool) -> Effect:
    """The effect of an idiom, with the matched words as its word of comparison."""
    change = Quantity(match.start(), match.end(), Kind.TIMES, factor, factor, None, hedged, "")
    return Effect(match.start(), match.end(), change=change, sense=sense, word=match[0].lower(), is_idiom=True)
