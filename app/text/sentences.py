"""Parts of sentences: words for counts, lists of names, and the first lines of a screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.text import join_known

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reservation about a screen's figures, and the link to where it can be looked into."""

    text: str
    label: str
    address: str


@dataclass(frozen=True, slots=True)
class Said:
    """The first lines of a screen.

    `heading` is the answer, with an `**emphasised**` part, `second` the one fact that would change
    the reader's mind, `coverage` the data behind both, `doubts` all other reservations, the gravest
    first.
    """

    heading: str
    second: str = ""
    coverage: str = ""
    doubts: Sequence[Doubt] = ()


def spelled(count: int, noun: str = "") -> str:
    """Return a count within a sentence, in words up to nine: `three`, `one run`, `26 runs`."""
    number = _WORDS[count] if 0 <= count < len(_WORDS) else f"{count:,}"
    return f"{number} {noun}{'' if count == 1 else 's'}" if noun else number


def none_or(count: int) -> str:
    """Return `None`, `12`: the first word of a sentence."""
    return f"{count:,}" if count else "None"


def upper_first(sentence: str) -> str:
    """Return the sentence with a capital letter at its beginning; the rest is left alone."""
    return f"{sentence[:1].upper()}{sentence[1:]}"


def lower_first(sentence: str) -> str:
    """Return the words for the middle of a sentence; an abbreviation such as API stays."""
    return sentence if sentence[1:2].isupper() else f"{sentence[:1].lower()}{sentence[1:]}"


def joined(parts: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return join_known(" and ", ", ".join(parts[:-1]), parts[-1]) if parts else ""
