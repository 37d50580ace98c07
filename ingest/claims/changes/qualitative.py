"""Claims without a number: `eliminates redundant allocations`, `lower memory bandwidth usage`.

Only a word of improvement right before a noun of performance counts, both from `words/qualitative.toml`. Scope and subject stay open.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import product

from ingest.claims.claim import Claim
from ingest.claims.patterns import pattern
from ingest.claims.words.word_tables import table, words
from schemas.rows.claim import ClaimKind, ClaimMetric, Direction, Evidence, Origin, Scope


def _stems(section: str) -> list[str]:
    """The inflected verbs or adjectives of a section: `reduce`, `reduces`, `reduced`."""
    return [f"{stem}{ending}" for stem, endings, *_ in table("qualitative")[section] for ending in endings]


def _nouns(kind: str) -> dict[ClaimMetric, list[str]]:
    """The nouns of the sections whose names begin so, `burdens_` or `benefits_`, by metric."""
    return {ClaimMetric(name.removeprefix(kind)): words("qualitative", name) for name in table("qualitative") if name.startswith(kind)}


_LESS = [*_stems("less"), *words("qualitative", "less_of")]
_MORE = _stems("more")
_NEEDLESS = [f"{word} " for word in words("qualitative", "needless")]
_BURDENS, _BENEFITS = _nouns("burdens_"), _nouns("benefits_")


def _either_case(lower: Iterable[str]) -> list[str]:
    """Each word in lower case and capitalized."""
    return [form for word in lower for form in (word, f"{word[0].upper()}{word[1:]}")]


def _alternation(nouns: dict[ClaimMetric, list[str]]) -> str:
    """The nouns of each metric, as a group of its name; longer nouns first, since `memory allocation` is not `memory`."""
    return "|".join(f"(?P<{metric.name}>{'|'.join(sorted(names, key=len, reverse=True))})" for metric, names in nouns.items())


_LESS_OF = pattern(rf"(?:{'|'.join(_NEEDLESS)})?(?:{_alternation(_BURDENS)})")
_MORE_OF = pattern(rf"(?:the |overall )?(?:{_alternation(_BENEFITS)})\b")


_FIRST_CHARACTERS = 2
"""Characters of the noun that are searched together with the verb: `reduces al`, which plain prose seldom has."""


def _first_characters(nouns: dict[ClaimMetric, list[str]], *before: str) -> set[str]:
    """The first characters of the nouns, and of the words before them."""
    return {word[:_FIRST_CHARACTERS] for names in nouns.values() for word in (*names, *before) if word}


def phrase_starts() -> dict[str, re.Pattern[str]]:
    """The literals with which phrases begin, `reduces al`, each with the pattern of the noun that must follow the verb."""
    less = product(_either_case(_LESS), _first_characters(_BURDENS, *_NEEDLESS))
    more = product(_either_case(_MORE), _first_characters(_BENEFITS, "the ", "overall "))
    return {f"{verb} {start}": _LESS_OF for verb, start in less} | {f"{verb} {start}": _MORE_OF for verb, start in more}


_REST = pattern(r"[a-zA-Z]*(?: (?:overhead|usage|time|traffic))?")
_DENIALS = frozenset(words("qualitative", "unreal"))
_ESTIMATED = frozenset(words("qualitative", "estimated"))


def qualitative_claims(text: str, found: list[tuple[int, int, re.Pattern[str]]], quantified: list[Claim]) -> Iterator[Claim]:
    """The qualitative claims of the phrases `found` (start, end, pattern that must follow), in order.

    No claim is made behind a denial, `cannot eliminate allocations`, or in the clause of a quantified claim. `quantified` is in order.
    """
    starts = [claim.start for claim in quantified]
    for start, end, follows in found:
        phrase = follows.match(text, end - _FIRST_CHARACTERS)
        if phrase is None or phrase.lastgroup is None:
            continue
        before = text[max(0, start - 60) : start].rpartition(". ")[2].lower().split()
        if not _DENIALS.isdisjoint(before) or _is_quantified_nearby(start, end, quantified, starts):
            continue
        rest = _REST.match(text, phrase.end())
        evidence = Evidence.STATED if _ESTIMATED.isdisjoint(before) else Evidence.ESTIMATED
        yield _claim(text, start, rest.end() if rest else phrase.end(), ClaimMetric[phrase.lastgroup], evidence)


_CLAUSE_REACH = 40
"""Two claims at most so many characters apart are in one clause."""


def _is_quantified_nearby(start: int, end: int, quantified: list[Claim], starts: list[int]) -> bool:
    """Whether a quantified claim is in the same clause; `quantified` is in order."""
    index = bisect_left(starts, start)
    if index and start < quantified[index - 1].end + _CLAUSE_REACH:
        return True
    return index < len(starts) and starts[index] - _CLAUSE_REACH < end


def _claim(text: str, start: int, end: int, metric: ClaimMetric, evidence: Evidence) -> Claim:
    """The claim for that part of the text: better, without figures, scope and subject."""
    quote = text[start:end]
    figures = (None, None, None, None, None, None)  # ratio, its ends, before, after, unit
    return Claim(
        start,
        end,
        quote,
        ClaimKind.QUALITATIVE,
        metric,
        Direction.BETTER,
        *figures,
        evidence,
        Scope.UNSPECIFIED,
        hedged=False,
        origin=Origin.OWN,
        subject=None,
        confidence=None,
    )
