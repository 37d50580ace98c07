"""Which side is the baseline.

`the original loop took 9 s, the optimized loop took 3 s`, `the old parser is 3x slower than the new
one`.

A claim with the wrong sign is the worst error. So names of sides beside both figures decide before
any other rule does.
"""

from __future__ import annotations

from re import IGNORECASE, Match

from ingest.claims.evidence import Around
from ingest.claims.numbers import Effect, Quantity
from ingest.claims.words import ARROW, BASELINES, CANDIDATES, DECOR, HEDGE, Sense
from ingest.literals import pattern

_VERB = (
    r"(?:is|was|are|were|at|takes?|took|taking|uses?|used|using|has|had|needs?|needed|does|did|gets?|got|hits?|shows?|showed|reach(?:es|ed)"
    r"|achieve[sd]?|handle[sd]?|perform(?:s|ed)|consume[sd]?|allocate[sd]?|serve[sd]?|deliver(?:s|ed)|sustain(?:s|ed)"
    r"|(?:runs?|ran|running|finishe[sd]|complete[sd]) (?:in|at))"
)
_SIDES = rf"(?:(?P<baseline>{BASELINES})|(?P<candidate>{CANDIDATES}))"
_DETERMINER = r"(?:the |this |our |its |on |in |with |for |of )*[`*_]*"
_MORE = (
    r"(?:\s(?!(?:and|to|than|compared|against|whereas|vs|versus|with|without|before|after|but|while|from|over|for|is|was|old|new|main)\b)"
    r"[`*_]*[A-Za-z][\w`*-]*){0,3}"
)
_JOIN = (
    r"[*_`)]*(?:\s?[,;.|/]|\s(?:and|but|while|whereas|vs\.?|versus|against|compared "
    rf"(?:to|with))|\s[-–—]|\s?{ARROW})\s+"
    r"(?:(?:and|but|while|whereas|vs\.?|versus|compared (?:to|with))\s)?"
)
_UP_TO_FIGURE = (
    rf"{_MORE}[`*_]*(?:\s?[:=(]|\s[—–-]|,?\s(?:it\s)?{_VERB})?\s*(?:only\s)?{DECOR}{HEDGE}{DECOR}$"
)
_NAME = pattern(rf"\b{_SIDES}{_UP_TO_FIGURE}", IGNORECASE)
_THEN_NAME = pattern(rf"{_JOIN}{_DETERMINER}{_SIDES}{_UP_TO_FIGURE}", IGNORECASE)
_NAME_BEHIND = pattern(rf"[`*_]*\s?[\s(]{_DETERMINER}{_SIDES}\b{_MORE}[`*_)]*", IGNORECASE)
_THEN_FIGURE = pattern(
    rf"{_JOIN}(?:{_VERB}\s+)?{DECOR}{HEDGE}{DECOR}|\s*\({DECOR}{HEDGE}{DECOR}", IGNORECASE
)


def ordered_by_names(text: str, first: Quantity, second: Quantity, left: str) -> Effect | None:
    """Return the pair of two neighbouring figures if the name of a side is beside each of them.

    `left` is the text before the first.
    """
    between = text[first.end : second.start]
    one, other = _NAME.search(left), _THEN_NAME.fullmatch(between)
    if other and other["baseline"] and not one:  # `in 0.4 s; the old code took 95 s`
        return Effect(first.start, second.end, second, first)
    if not (one and other):
        one, other = _NAME_BEHIND.match(between), _NAME_BEHIND.match(text, second.end)
        if one and not _THEN_FIGURE.fullmatch(between, one.end()):
            return None
        if (
            one is None and other and other["baseline"] and between.strip(" *_`~").endswith("(")
        ):  # `1.2 s (4.8 s on main)`
            return Effect(first.start, second.end, second, first)
    if one is None or other is None:
        return None
    is_first = _is_baseline(one, other)
    if is_first is None:
        return None
    pair = Effect(first.start, second.end, first, second)
    return pair if is_first else pair.reversed()


def names_baseline(before: str) -> bool:
    """Return whether the words right before a figure name the baseline.

    `compared to a baseline of `.
    """
    found = _NAME.search(before)
    return found is not None and found["baseline"] is not None


def side_behind(text: str, figure: Quantity) -> str | None:
    """Return the side that is named right behind a figure, `baseline` or `candidate`.

    `14 s before`, `14 s on main`.
    """
    found = _NAME_BEHIND.match(text, figure.end)
    return found.lastgroup if found else None


def _is_baseline(one: Match[str], other: Match[str]) -> bool | None:
    """Return whether the first name is the baseline's, or None if unknown.

    `current` is the baseline beside another candidate.
    """
    if bool(one["baseline"]) is not bool(other["baseline"]):
        return bool(one["baseline"])
    are_current = [(found["candidate"] or "").lower() == "current" for found in (one, other)]
    return are_current[0] if are_current[0] is not are_current[1] else None


# --- a change of one side

_UP_TO_CHANGE = (
    rf"{_MORE}(?:,"
    rf"?\s(?:which|that))?(?:\s(?:{_VERB}|rises|drops|falls|grows|increases|decreases)(?:\s[a-z~≈]+){{0,3}})?\s*{DECOR}{HEDGE}$"
)
_START = (
    r"(?:^(?:(?!than|over)[\w'-]+\s){0,2}|[,;:.(|>\n]\s*[*_`-]*\s?"
    r"|\b(?:but|and|while|whereas|since|because|as|that|with|of|latency|throughput|memory)\s)"
)
_AGAINST = (
    r"\b(?:than|over|as|compared (?:to|with)|relative "
    r"to|versus|vs\.?|against|(?:speed|performance|throughput|time|size) of)\s"
)
_OF_BASELINE = pattern(rf"{_START}{_DETERMINER}(?:{BASELINES}|before,? it)\b{_UP_TO_CHANGE}")
_THAN_CANDIDATE = pattern(rf"{_AGAINST}{_DETERMINER}(?:{CANDIDATES})\b")
_AGAINST_CANDIDATE = pattern(
    rf"{_AGAINST}{_DETERMINER}(?:{CANDIDATES})\b{_MORE},"
    rf"\s{_DETERMINER}(?:{BASELINES})\b{_UP_TO_CHANGE}"
)
_ALONE = pattern(
    r"\b(?:old|original|baseline|unoptimi[sz]ed|na[iï]ve|legacy|unpatched|uncached|previous|before,"
    r"? it)\b"
    r"(?!\s(?:attempt|regression|change|commit|fix|patch|pr|optimi[sz]ation|try|experiment|run|iteration|round|step)\b)"
)
"""A baseline whose change for the worse needs no candidate: `the original loop was 3x slower`."""

_COMPARED = pattern(r"\b(?:than|over|compared|relative|versus|vs|against|as)\b")


def is_of_baseline(around: Around, *, is_worse: bool) -> bool:
    """Return whether the sentence says how the baseline compares with the candidate."""
    if around.is_table or not (subject := _OF_BASELINE.search(around.left)):
        return False
    behind = f"{around.inside[-60:]}{around.right[:60]}"
    if _THAN_CANDIDATE.search(behind) or _AGAINST_CANDIDATE.search(around.left):
        return True
    return is_worse and not _COMPARED.search(behind) and _ALONE.search(subject[0]) is not None


OPPOSITE = {Sense.GAIN: Sense.LOSS, Sense.LOSS: Sense.GAIN}


def ordered_by_sign(pair: Effect, change: Quantity) -> Effect:
    """Return the pair with its figures in the order given by the signed percentage.

    Example: `12 s | 15 s | +25%`.
    """
    return pair if pair.rises is (change.sign == "+") else pair.reversed()
