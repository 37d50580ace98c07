"""Cheap signs of a claim: what no claim does without, found in one pass over the text.

Most texts claim nothing, so this is where the time goes. One automaton looks for all literals at once (10 µs for a text of
3,000 characters; forty times `str.find` takes five times that). A sign that comes with a number is spelled out with each digit,
so that plain prose hardly ever hits. The signs are listed in `words/signs.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, product

from ingest.claims.changes.qualitative import beginnings
from ingest.claims.find.multi_search import Literals
from ingest.claims.numbers.spelled import NUMBER_WORDS
from ingest.claims.words.tables import table
from ingest.claims.words.vocabulary import ARROWS, HEDGE_WORDS

_DIGITS = "0123456789"
_NUMBER_STARTS = (
    *_DIGITS,
    *"~≈<>$(",
    "`~",
    *(f"`{digit}" for digit in _DIGITS),
    "**",
    *(f"{word} " for word in (*HEDGE_WORDS, "only", "just") if " " not in word),
    "sub-",
)
_CANDIDATE_WORDS = ("now", "new", "after", "branch", "PR", "this PR", "warm", "hot", "cached")
"""Words that may be between an arrow and the candidate figure."""

_TENS = ("twenty", "thirty", "forty", "sixty")


def _joined(*parts: Iterable[str]) -> Iterator[str]:
    """Each of the first parts with each of the second, and so on."""
    return map("".join, product(*parts))


_SECONDS = list(_joined(_DIGITS, ("", " "), ("s",)))
_SPELLED_OUT: dict[str, Callable[[list[str]], Iterable[str]]] = {
    "behind_a_digit": lambda listed: chain(_joined((*_DIGITS, "+"), listed), _joined((" ", "(", "*", "~", "\n"), ("x", "×"), _DIGITS)),
    "arrows_before_a_number": lambda listed: chain(
        _joined((*ARROWS, *listed), ("", " "), _NUMBER_STARTS), _joined(ARROWS, (" ",), _CANDIDATE_WORDS, (" ",))
    ),
    "before_a_number": lambda listed: _joined(listed, (" ", "\n"), _NUMBER_STARTS),
    "units": lambda listed: chain(
        _joined((*listed, *_SECONDS), (" saved", " savings")),
        _joined((*_joined((*_DIGITS, " "), listed), *_SECONDS), (" before", " (before")),
    ),
    "counts": lambda listed: _joined(listed, (" saved", " savings")),
    "units_and_to": lambda listed: _joined(listed, (" ",), ("to ", "down to ")),
    "spelled_units": lambda listed: chain(_joined((*NUMBER_WORDS, *_TENS), (" ",), listed), _joined(NUMBER_WORDS, ("fold",))),
    "behind_times": lambda listed: _joined(("times ",), (*listed, *map(str.upper, listed))),
    "baseline_labels": lambda listed: _joined(listed, (":", "**:", "`:")),
    "baseline_headers": lambda listed: _joined(("|",), (" ", ""), (*listed, *map(str.capitalize, listed))),
}
"""Sections of the table whose signs are put together with what is around them in a text; all others are searched as they are."""


def literals(section: str) -> list[str]:
    """The strings that the signs of a section stand for."""
    listed: list[str] = table("signs")[section]["signs"]
    return list(_SPELLED_OUT[section](listed)) if section in _SPELLED_OUT else listed


_LITERALS = sorted({literal for section in table("signs") for literal in literals(section)})
_BEGINNINGS = beginnings()
_AUTOMATON = Literals([*_LITERALS, *_BEGINNINGS])
_FOLLOWS = [*(None for _ in _LITERALS), *_BEGINNINGS.values()]


def signs(text: str) -> tuple[list[int], list[tuple[int, int, re.Pattern[str]]]]:
    """Where claims may be, in order.

    First the offset of the last character of each sign of a number; then the beginnings of phrases without a number: start, end, and the
    pattern that must follow.
    """
    numbers: list[int] = []
    begun: list[tuple[int, int, re.Pattern[str]]] = []
    for pattern, start, end in _AUTOMATON.find(text):
        follows = _FOLLOWS[pattern]
        if follows is None:
            numbers.append(end - 1)
        else:
            begun.append((start, end, follows))
    return numbers, begun
