"""The lines of a text that have a mark of a statement. The text is not split: most texts of a million characters have none.

The text is read once, for the statements and for the rules that look at lines (`ingest.findings.rules`). What the words leave out costs
nothing, so they are as specific as possible: `+4` and not `+`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from ingest.literals import LiteralSearch

REACH = 400
"""A statement is within so many characters of its mark. Longer lines are read in windows, so that time stays linear."""

Span = tuple[int, int]
"""Start and end in the text, the end exclusive."""


class Lines(NamedTuple):
    """By mark: the lines with that mark, each once, in order; of longer lines the window within REACH."""

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
"""Verbs for changes of a file, without their first letters."""

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
    "lines_changed": (" line", " new line", " insertion", " new insertion"),  # the last ones: they count as in _COUNTED only
}
"""By mark: words of which every such line has one. Few and not short, for speed (`ingest.literals`).

A plus before a digit marks changed lines, too: it would be too short.
"""

_LITERALS = LiteralSearch(list(chain.from_iterable(_WORDS.values())), leftmost=True)
_MARKS = [Lines._fields.index(mark) for mark, words in _WORDS.items() for _ in words]
"""For each word, the index of its mark in Lines."""
_LINES_CHANGED = _MARKS[-1]
_COUNTS_FROM = _MARKS.index(_LINES_CHANGED)
_COUNTED = re.compile("[0-9] (?:new )?(?:lines? [a-z]|insertion)")
_PLUS = re.compile(r"\+[0-9]")

NO_LINES = Lines._make([] for _ in Lines._fields)


def marked_lines(text: str) -> Lines:
    """The lines of every mark; NO_LINES where no line has any."""
    marks = _marks(text)
    if not marks:
        return NO_LINES
    found: list[list[Span]] = [[] for _ in NO_LINES]
    start, end = 0, -1
    for at, mark in marks:
        lines = found[mark]
        if lines and at < lines[-1][1]:
            continue
        if at >= end or end - start >= REACH:  # of a longer line, each mark has its window
            reach = at - REACH if at > REACH else 0
            start = text.rfind("\n", reach, at) + 1 or reach
            end = text.find("\n", at, at + REACH)
            if end < 0:
                end = min(len(text), at + REACH)
        lines.append((start, end))
    return Lines._make(found)


def _marks(text: str) -> list[tuple[int, int]]:
    """(place, mark) in order of place."""
    finds = _LITERALS.find(text)
    marks = [(at, _MARKS[word]) for word, at, _ in finds if word < _COUNTS_FROM or _COUNTED.match(text, at - 1)]
    plus = [(plus.start(), _LINES_CHANGED) for plus in _PLUS.finditer(text)] if "+" in text else ()
    return sorted((*marks, *plus)) if plus else marks


def lines_below(text: str, end: int) -> Iterator[Span]:
    """The lines after the line that ends at `end`; of longer lines the first REACH characters."""
    last = len(text) - 1
    while end < last and text[end] == "\n":
        start = end + 1
        end = text.find("\n", start)
        if end < 0:
            end = len(text)
        yield start, end if end - start < REACH else start + REACH


def list_below(text: str, end: int) -> Iterator[Span]:
    """The lines of the list below a heading: the same lines, without a blank first one."""
    lines = lines_below(text, end)
    first = next(lines, None)
    return lines if first is None or not text[slice(*first)].strip() else chain((first,), lines)
