"""Triggers: literals, at least one of which is in every claim. A text without any is not read further.

Most texts claim nothing, so most of the time is spent here. One automaton searches all literals at once (10 µs for a text of 3,000
characters; forty calls of `str.find` take five times that). A trigger beside a number is expanded with each digit, `to 0`, `to 1`, …, so
that plain prose seldom has one. The triggers are in the tables `[triggers.…]` of `words/*.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise, product

from ingest.claims.changes.idioms import hints_in
from ingest.claims.changes.qualitative import phrase_starts
from ingest.claims.find.multi_search import LiteralSearch
from ingest.claims.numbers.spelled import NUMBER_WORDS, has_number_words
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import ARROWS, HEDGE_WORDS
from ingest.claims.words.word_tables import trigger_tables

_DIGITS = "0123456789"
_BEGINNING = 4
"""Characters of a hedge that are searched: more would seldom save a hit, and the automaton takes longer to make."""

_NUMBER_STARTS = (
    *_DIGITS,
    *"~≈<>$(",
    "`~",
    *(f"`{digit}" for digit in _DIGITS),
    "**",
    *(f"{word} "[:_BEGINNING] for word in (*HEDGE_WORDS, "only", "just") if " " not in word),
    "sub-",
)
_CANDIDATE_WORDS = ("now", "new", "after", "branch", "PR", "this PR", "warm", "hot", "cached")
"""Words between an arrow and the candidate figure: `12 ms → now 4 ms`."""

_TENS = ("twenty", "thirty", "forty", "sixty")


def _joined(*parts: Iterable[str]) -> Iterator[str]:
    """All concatenations of one string from each part: `("a", "b"), ("1",)` gives `a1`, `b1`."""
    return map("".join, product(*parts))


_SECONDS = list(_joined(_DIGITS, ("", " "), ("s",)))
_SPELLED_OUT: dict[str, Callable[[list[str]], Iterable[str]]] = {
    "behind_a_digit": lambda listed: chain(_joined(_DIGITS, ("", "+"), listed), _joined((" ", "(", "*", "~", "\n"), ("x", "×"), _DIGITS)),
    "units_behind_a_digit": lambda listed: _joined(_DIGITS, listed),
    "arrows_before_a_number": lambda listed: chain(
        _joined((*ARROWS, *listed), ("", " "), _NUMBER_STARTS), _joined(ARROWS, (" ",), _CANDIDATE_WORDS, (" ",))
    ),
    "before_a_number": lambda listed: _joined(listed, (" ", "\n"), _NUMBER_STARTS),
    "units": lambda listed: chain(
        _joined((*listed, *_SECONDS), (" saved", " savings")),
        _joined((*_joined((*_DIGITS, " "), listed), *_SECONDS), (" before", " (before")),
    ),
    "counts": lambda listed: _joined(listed, (" saved", " savings")),
    "units_and_to": lambda listed: _joined((*listed, *map(str.capitalize, listed)), (" ",), ("to ", "down to ")),
    "spelled_units": lambda listed: chain(_joined((*NUMBER_WORDS, *_TENS), (" ",), listed), _joined(NUMBER_WORDS, ("fold",))),
    "behind_times": lambda listed: _joined(("times ",), (*listed, *map(str.upper, listed))),
    "baseline_labels": lambda listed: _joined(listed, (":", "**:", "`:")),
    "baseline_headers": lambda listed: _joined(("|",), (" ", ""), (*listed, *map(str.capitalize, listed))),
}
"""How the triggers of a table are expanded with the characters beside them in a text; other tables are searched as they are."""


def literals(section: str) -> list[str]:
    """The strings searched for the triggers of a table, `units` say: `ms saved`, `ms savings` and so on."""
    listed: list[str] = trigger_tables()[section]["triggers"]
    return list(_SPELLED_OUT[section](listed)) if section in _SPELLED_OUT else listed


_LITERALS = sorted({literal for section in trigger_tables() for literal in literals(section)})
_PHRASE_STARTS = phrase_starts()
_AUTOMATON = LiteralSearch([*_LITERALS, *_PHRASE_STARTS])
_FOLLOWS = [*(None for _ in _LITERALS), *_PHRASE_STARTS.values()]

_OPENERS = tuple("~≈<>$(`*")
_OPENING = {
    literal for section in ("before_a_number", "arrows_before_a_number") for literal in literals(section) if literal.endswith(_OPENERS)
}
_OPENS = [literal in _OPENING for literal in _LITERALS]
"""Whether a trigger ends with a character that may begin a number, or anything else: `to ~`."""

_NO_FIGURE = pattern(
    r"[~`*$(]{0,3}(?:\d{1,4}\.\d{1,4}\.\d|\d{4}-\d\d-\d\d|\d[\d,.]{0,9}[*`]{0,3} (?:tests?|pass(?:ed|ing)|assertions|stories)\b(?!/))",
    re.IGNORECASE,
)
_NO_CHANGE = pattern(r"[*_`]{0,3} (?:(?:line |branch )?coverage|complete(?! in)|success|done\b|wasted|of total)", re.IGNORECASE)
_NO_FACTOR = pattern(r"\w")
_IN_VAIN = {"%": (_NO_CHANGE, 0), "x": (_NO_FACTOR, 0), "X": (_NO_FACTOR, 0), **dict.fromkeys((*_DIGITS, *_OPENERS), (_NO_FIGURE, -1))}
_VAIN = [_IN_VAIN.get(literal[-1]) for literal in _LITERALS]
"""What shows that a trigger begins no claim, by its last character, and from where it is searched, counted from the trigger's end:
`to 0.37.16`, `to 2026-05-17`, `→ 569 tests`, `98.5% complete`, `24x24`. Many texts that claim nothing have no other triggers."""

_UNITS = {literal for section in ("units_behind_a_digit", "rates") for literal in literals(section)}
_IS_UNIT = [literal in _UNITS for literal in _LITERALS]
"""Whether a trigger is only the unit of a figure: it takes two figures to make a claim."""

_IS_MORE = pattern(r"(?:onds?|utes?)? (?:saved|savings|\(?before|to|down to|faster|less|shorter)\b")
"""What makes a unit the beginning of a longer trigger, `ms saved`: of overlapping literals only the one that ends first is found."""

_NEIGHBOUR = 250
"""Characters between two units that may be those of a pair."""

_NUMBER_REACH = 20
"""Characters behind such a trigger in which the number begins: `to **only about 3`."""


def find_triggers(text: str) -> tuple[list[int], list[tuple[int, int, re.Pattern[str]]]]:
    """The triggers of quantified claims, and the starts of phrases that may be qualitative claims; both in order of the text.

    Of each trigger the offset of its last character; of each phrase the start, the end of what was found, and the pattern that must follow.
    """
    triggers: list[int] = []
    units: list[int] = []
    phrases: list[tuple[int, int, re.Pattern[str]]] = []
    for literal, start, end in _AUTOMATON.find(text):
        follows = _FOLLOWS[literal]
        if follows is not None:
            phrases.append((start, end, follows))
        elif _is_in_vain(text, literal, end):
            continue
        elif _IS_UNIT[literal]:
            (triggers if _IS_MORE.match(text, end) else units).append(end - 1)
        elif not _OPENS[literal] or _has_number(text[end : end + _NUMBER_REACH]):
            triggers.append(end - 1)
    return (sorted({*triggers, *_neighbours(units)}) if len(units) > 1 else triggers), phrases


def _neighbours(units: list[int]) -> Iterator[int]:
    """The offsets, in order, that are near another one."""
    for offset, following in pairwise(units):
        if 0 < following - offset <= _NEIGHBOUR:
            yield offset
            yield following


def _is_in_vain(text: str, literal: int, end: int) -> bool:
    vain = _VAIN[literal]
    return vain is not None and vain[0].match(text, end + vain[1]) is not None


_DIGIT = pattern(r"\d")


def _has_number(part: str) -> bool:
    """Whether a part of the text has a number, in digits or words: `to ~3`, not `to ~/bin`."""
    return _DIGIT.search(part) is not None or has_number_words(part)


def triggers_beside_numbers(text: str, triggers: Iterable[int]) -> Iterator[int]:
    """The triggers, in order, in whose block of lines a number or an idiom is; without one, no rule for a passage applies.

    A passage goes on across a blank line only from a line with a number.
    """
    end, has_number = -1, False
    for trigger in triggers:
        if trigger >= end:
            start, end = max(text.rfind("\n\n", 0, trigger), 0), text.find("\n\n", trigger)
            end = end if end >= 0 else len(text)
            block = text[start:end]
            has_number = _has_number(block) or bool(hints_in(block))
        if has_number:
            yield trigger
