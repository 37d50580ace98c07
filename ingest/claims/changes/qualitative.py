"""Claims without a number: `eliminates redundant allocations`, `lower memory bandwidth usage`, `O(n²) → O(n)`.

Only a word of improvement right before a word of performance counts; a text is not searched for more than that, and what it
is about is not guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import product

from ingest.claims.claim import Claim
from schemas.rows.claim import ClaimKind, ClaimMetric, Direction, Evidence, Origin, Scope

_STEMS = {
    "eliminat": ("e", "es", "ed", "ing"),
    "reduc": ("e", "es", "ed", "ing"),
    "avoid": ("", "s", "ed", "ing"),
    "minimiz": ("e", "es", "ed", "ing"),
    "decreas": ("e", "es", "ed", "ing"),
    "lower": ("", "s", "ed", "ing"),
    "cut": ("s", "ting"),
    "remov": ("es", "ed", "ing"),
}
_LESS = ("fewer", "less", "smaller")
_MORE = {
    "improv": ("e", "es", "ed", "ing"),
    "increas": ("e", "es", "ed", "ing"),
    "boost": ("s", "ed", "ing"),
    "higher": ("",),
    "better": ("",),
}
_USELESS = (
    "",
    "the ",
    "redundant ",
    "unnecessary ",
    "repeated ",
    "extra ",
    "needless ",
    "wasteful ",
    "per-call ",
    "per-request ",
    "any ",
    "all ",
)

_BURDENS: dict[ClaimMetric, tuple[str, ...]] = {
    ClaimMetric.OPERATIONS: (
        "allocation", "heap allocation", "tensor allocation", "memory allocation", "copies", "copying", "memory copies",
        "kernel launch", "round-trip", "round trip", "syscall",
        "system call", "queries", "database queries", "lookups", "recomputation", "computation", "re-render", "network request",
        "API call", "zero initialization", "reallocation",
        "cache misses", "lock contention", "synchronization", "disk I/O", "memory initialization", "initialization", "parsing",
    ),
    ClaimMetric.MEMORY: (
        "memory usage", "memory footprint", "memory consumption", "memory pressure", "peak memory", "memory bandwidth",
        "GC pressure", "memory traffic",
    ),
    ClaimMetric.TIME: (
        "latency", "overhead", "allocation overhead", "startup time", "build time", "load time", "response time", "CPU usage",
        "CPU time", "execution time", "cold start",
    ),
    ClaimMetric.SIZE: ("bundle size", "binary size", "payload size", "file size", "image size"),
}  # fmt: skip
_BENEFITS: dict[ClaimMetric, tuple[str, ...]] = {
    ClaimMetric.THROUGHPUT: ("throughput",),
    ClaimMetric.TIME: (
        "performance",
        "the performance",
        "inference performance",
        "query performance",
        "startup performance",
        "response times",
        "latency",
        "speed",
    ),
    ClaimMetric.MEMORY: ("memory efficiency", "memory allocation efficiency"),
}


def _with_endings(stems: dict[str, tuple[str, ...]]) -> list[str]:
    return [f"{stem}{ending}" for stem, endings in stems.items() for ending in endings]


def _either_case(words: Iterable[str]) -> list[str]:
    return [form for word in words for form in (word, f"{word[0].upper()}{word[1:]}")]


def _alternation(nouns: dict[ClaimMetric, tuple[str, ...]]) -> str:
    """Longer nouns first: `memory allocation` is no `memory`."""
    return "|".join(f"(?P<{metric.name}>{'|'.join(sorted(words, key=len, reverse=True))})" for metric, words in nouns.items())


_LESS_OF = re.compile(rf"(?:{'|'.join(filter(None, _USELESS))})?(?:{_alternation(_BURDENS)})")
_MORE_OF = re.compile(rf"(?:the |overall )?(?:{_alternation(_BENEFITS)})\b")


_BEGINNING = 2
"""Characters of the word behind the verb that are looked for with it: enough to miss nearly all prose."""


def _starts(nouns: dict[ClaimMetric, tuple[str, ...]], *before: str) -> set[str]:
    return {word[:_BEGINNING] for words in nouns.values() for word in (*words, *before) if word}


def beginnings() -> dict[str, re.Pattern[str]]:
    """What phrases may begin with, each with what must follow its first word."""
    less = product(_either_case([*_with_endings(_STEMS), *_LESS]), _starts(_BURDENS, *_USELESS))
    more = product(_either_case(_with_endings(_MORE)), _starts(_BENEFITS, "the ", "overall "))
    return {f"{verb} {start}": _LESS_OF for verb, start in less} | {f"{verb} {start}": _MORE_OF for verb, start in more}


_REST = re.compile(r"[a-zA-Z]*(?: (?:overhead|usage|time|traffic))?")
_UNREAL = frozenset(
    [
        "not",
        "don't",
        "doesn't",
        "didn't",
        "cannot",
        "can't",
        "without",
        "never",
        "how",
        "need",
        "needs",
        "needed",
        "trying",
        "goal",
        "requested",
        "task",
    ]
)
_ESTIMATED = frozenset(
    [
        "expected",
        "should",
        "would",
        "could",
        "may",
        "might",
        "will",
        "potentially",
        "theoretically",
        "likely",
        "planned",
        "target",
        "targets",
    ]
)


def qualitative(text: str, found: list[tuple[int, int, re.Pattern[str]]], quantified: list[Claim]) -> Iterator[Claim]:
    """The claims of the beginnings found, without those that a quantified claim already tells in the same clause."""
    starts = [claim.start for claim in quantified]
    for start, end, follows in found:
        phrase = follows.match(text, end - _BEGINNING)
        if phrase is None or phrase.lastgroup is None:
            continue
        before = text[max(0, start - 60) : start].rpartition(". ")[2].lower().split()
        if not _UNREAL.isdisjoint(before) or _is_told(start, end, quantified, starts):
            continue
        rest = _REST.match(text, phrase.end())
        evidence = Evidence.STATED if _ESTIMATED.isdisjoint(before) else Evidence.ESTIMATED
        yield _claim(text, start, rest.end() if rest else phrase.end(), ClaimMetric[phrase.lastgroup], evidence)


_CLAUSE = 40
"""Characters between two claims that are taken to be in one clause."""


def _is_told(start: int, end: int, quantified: list[Claim], starts: list[int]) -> bool:
    """Whether a quantified claim stands in the same clause; they are in order."""
    index = bisect_left(starts, start)
    if index and start < quantified[index - 1].end + _CLAUSE:
        return True
    return index < len(starts) and starts[index] - _CLAUSE < end


def _claim(text: str, start: int, end: int, metric: ClaimMetric, evidence: Evidence) -> Claim:
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
    )
