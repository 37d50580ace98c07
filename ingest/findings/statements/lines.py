"""The lines of a text with a mark of a statement, found without splitting the text: most long texts have none.

The text is searched once, for the statements and for those rules that read lines (`ingest.findings.rules`). The marks are as specific as
possible, `+4` instead of `+`, since each one found costs time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from ingest.claims.find.multi_search import LiteralSearch

REACH = 400
"""A statement is within so many characters of its mark. Longer lines are read in windows around their marks, in linear time."""

Span = tuple[int, int]
"""Start and end in the text, the end exclusive."""


class Lines(NamedTuple):
    """By mark, the spans of the lines with that mark, each once and in order; of longer lines the part within REACH."""

    artefacts: list[Span]
    commits: list[Span]
    deliverables: list[Span]
    files: list[Span]
    lines_changed: list[Span]
    tests_failed: list[Span]
    tests_passed: list[Span]
    verbs: list[Span]
    blocked: list[Span]
    instances: list[Span]
    occurrences: list[Span]
    call_sites: list[Span]
    total: list[Span]


_VERBS = ("odified", "reated", "pdated", "hanged", "dited", "ewrote", "eleted")
"""Verbs of changes to files, without first letters, which may be capitals."""

_WORDS = {
    "artefacts": (".diff", ".patch"),
    "deliverables": ("eliverable",),
    "commits": ("ommit",),
    "files": ("iles", "FILES_MODIFIED"),
    "tests_failed": (" fail",),
    "tests_passed": ("pass", "TESTS_STATUS"),
    "verbs": tuple(f"{verb} {quote}" for verb in _VERBS for quote in ("`", "*`", "**`")),
    "blocked": ("blocked", "BLOCKED"),
    "instances": ("nstances",),
    "occurrences": ("ccurrences",),
    "call_sites": ("call sites",),
    "total": (" total)",),
    "lines_changed": (" line", " new line", " insertion", " new insertion"),  # last: they are marks only where `_COUNTED` matches
}
"""By mark, the literals one of which is in every such line: few and not short, for speed (`ingest.claims.find.multi_search`).

A plus before a digit marks changed lines too; it is too short for this search (`_PLUS`).
"""

_LITERALS = LiteralSearch(list(chain.from_iterable(_WORDS.values())), leftmost=True)
_MARKS = [Lines._fields.index(mark) for mark, words in _WORDS.items() for _ in words]
"""For each literal, the index of its mark in `Lines`."""
_LINES_CHANGED = _MARKS[-1]
_COUNTS_FROM = _MARKS.index(_LINES_CHANGED)
_COUNTED = re.compile("[0-9] (?:new )?(?:lines? [a-z]|insertion)")
_PLUS = re.compile(r"\+[0-9]")

NO_LINES = Lines._make([] for _ in Lines._fields)


def marked_lines(text: str) -> Lines:
    """The lines of every mark; NO_LINES if there is no mark."""
    marks = _marks(text)
    if not marks:
        return NO_LINES
    found: list[list[Span]] = [[] for _ in NO_LINES]
    start, end = 0, -1
    for at, mark in marks:
        lines = found[mark]
        if lines and at < lines[-1][1]:
            continue
        if at >= end or end - start >= REACH:  # each mark of a longer line has its own window
            reach = at - REACH if at > REACH else 0
            start = text.rfind("\n", reach, at) + 1 or reach
            end = text.find("\n", at, at + REACH)
            if end < 0:
                end = min(len(text), at + REACH)
        lines.append((start, end))
    return Lines._make(found)


def _marks(text: str) -> list[tuple[int, int]]:
    """The marks of the text, in order: offset, and index in `Lines`."""
    finds = _LITERALS.find(text)
    marks = [(at, _MARKS[word]) for word, at, _ in finds if word < _COUNTS_FROM or _COUNTED.match(text, at - 1)]
    plus = [(plus.start(), _LINES_CHANGED) for plus in _PLUS.finditer(text)] if "+" in text else ()
    return sorted((*marks, *plus)) if plus else marks


def lines_below(text: str, end: int) -> Iterator[Span]:
    """The lines below the one that ends at `end`; of longer ones the first REACH characters."""
    last = len(text) - 1
    while end < last and text[end] == "\n":
        start = end + 1
        end = text.find("\n", start)
        if end < 0:
            end = len(text)
        yield start, end if end - start < REACH else start + REACH


def list_below(text: str, end: int) -> Iterator[Span]:
    """The lines below a heading that ends at `end`, without a blank one first."""
    lines = lines_below(text, end)
    first = next(lines, None)
    return lines if first is None or not text[slice(*first)].strip() else chain((first,), lines)
