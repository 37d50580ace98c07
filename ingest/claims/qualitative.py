"""Claims without a number: `eliminates redundant allocations`, `lower memory bandwidth usage`.

Only a word of improvement right before a word of performance counts, and what the claim is about is
not guessed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import product
from re import Pattern

from ingest.claims import Claim
from ingest.claims.words import TABLES
from ingest.literals import pattern
from schemas.claims import ClaimKind, ClaimMetric, Direction, Evidence, Origin, Scope

_WORDS = TABLES["qualitative"]
_Found = list[tuple[int, int, Pattern[str]]]
"""Beginnings of phrases: start, end, and the pattern that must follow."""


def _nouns(table: dict[str, list[str]]) -> str:
    """Return an alternation whose groups are named like metrics.

    Longer nouns first, since `memory allocation` is no `memory`.
    """
    return "|".join(
        f"(?P<{metric.upper()}>{'|'.join(sorted(words, key=len, reverse=True))})"
        for metric, words in table.items()
    )


_REST = r"(?: (?:overhead|usage|time|traffic))?"
_LESS_OF = pattern(
    rf"(?:(?:{'|'.join(_WORDS['useless'])}) )?(?:{_nouns(_WORDS['burdens'])})[a-zA-Z]*{_REST}"
)
_MORE_OF = pattern(rf"(?:the |overall )?(?:{_nouns(_WORDS['benefits'])})\b{_REST}")
_UNREAL, _ESTIMATED = frozenset(_WORDS["unreal"]), frozenset(_WORDS["estimated"])

_BEGINNING = 2
"""Characters of the word after the verb that are searched with it: enough to skip nearly all prose.
"""


def beginnings() -> dict[str, Pattern[str]]:
    """Return what phrases may begin with, each with what must follow its first word."""
    found: dict[str, Pattern[str]] = {}
    for verbs, nouns, before, rest in (
        ("less", "burdens", _WORDS["useless"], _LESS_OF),
        ("more", "benefits", ["the", "overall"], _MORE_OF),
    ):
        starts = {
            f"{word} "[:_BEGINNING] for words in (*_WORDS[nouns].values(), before) for word in words
        }
        cased = [form for verb in _WORDS[verbs] for form in (verb, verb.capitalize())]
        found |= {f"{verb} {start}": rest for verb, start in product(cased, sorted(starts))}
    return found


_CLAUSE = 40
"""Claims at most so many characters apart count as one clause."""


def qualitative(text: str, found: _Found, quantified: list[Claim]) -> Iterator[Claim]:
    """Yield the claims of the beginnings found, without those covered by a claim with a number.

    A claim is covered if both are in the same clause.
    """
    starts = [claim.start for claim in quantified]
    for start, end, follows in found:
        phrase = follows.match(text, end - _BEGINNING)
        if phrase is None or phrase.lastgroup is None:
            continue
        before = text[max(0, start - 60) : start].rpartition(". ")[2].lower().split()
        index = bisect_left(starts, start)
        beside = quantified[max(0, index - 1) : index + 1]
        if not _UNREAL.isdisjoint(before) or any(
            claim.start - _CLAUSE < end and start < claim.end + _CLAUSE for claim in beside
        ):
            continue
        last = phrase.end()
        yield Claim(
            start,
            last,
            text[start:last],
            ClaimKind.QUALITATIVE,
            ClaimMetric[phrase.lastgroup],
            Direction.BETTER,
            None,
            None,
            None,
            None,
            None,
            None,
            Evidence.STATED if _ESTIMATED.isdisjoint(before) else Evidence.ESTIMATED,
            Scope.UNSPECIFIED,
            hedged=False,
            origin=Origin.OWN,
            subject=None,
            confidence=None,
        )
