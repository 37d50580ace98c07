"""Numbers in words: `three`, `twenty-five`, `three and a half`, and the counts and times behind them."""

from __future__ import annotations

from ingest.claims.find.multi_search import LiteralSearch
from ingest.claims.words.word_tables import table


def _numbers(section: str) -> dict[str, float]:
    """Words and values of a section of `words/numbers.toml`."""
    return {word: number for word, number, *_ in table("numbers")[section]}


NUMBER_WORDS = _numbers("multipliers")
"""Number words before `times` and `fold`, and their values."""

_ONES = {"one": 1.0, **{word: number for word, number in NUMBER_WORDS.items() if number < 10}}
_WORDS = _ONES | _numbers("german") | _numbers("others") | _numbers("tens")
_PARTS = _numbers("parts")

_WHOLE = rf"(?:(?:twent|thirt|fort|fift|sixt|sevent|eight|ninet)y-(?:{'|'.join(_ONES)})|(?:{'|'.join(_WORDS)}))"

SPELLED = rf"(?a:{_WHOLE}(?:\sand\sa\s(?:{'|'.join(_PARTS)})\b)?)"
"""A number in words. ASCII case rules, since Unicode's match `ſix`, which is not in the tables."""

BEGINNINGS = r"mi|on|t[whe]|f[iouü]|s[iue]|e[il]|ni|zw|dr|vi|ha|an?\s"
"""The beginnings of numbers in words, of `minus`, and of the articles of `under a minute`: tested first, they skip most words of a text."""

SPELLED_TIME = r"(?:milli)?seconds?|minutes?|hours?"
SPELLED_COUNT = (
    r"quer(?:y|ies)|calls?|requests?|allocations?|round-trips?|syscalls?|passes|pass|copies|lookups?|scans?|fetches|reads|writes"
)


def spelled(words: str) -> float:
    """The value of a number in words, 25 for `twenty-five`; 1 for an article: `under a minute`, `to a single query`."""
    parts = words.lower().replace("-", " ").split()
    return sum(_WORDS.get(part) or _PARTS.get(part, 0.0) for part in parts) or 1.0


_MENTIONS = LiteralSearch([*_WORDS, "half", "single", "minus", "milli", "second", "minute", "hour"])


def has_number_words(text: str) -> bool:
    """Whether the text may have a number in words, `three times`, or one that needs a word: `minus 3`, `under a minute`. Most have none."""
    lower = text.lower()
    return any(not lower[max(0, start - 1) : start].isalpha() for _, start, _ in _MENTIONS.find(lower))
