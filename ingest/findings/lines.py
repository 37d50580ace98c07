"""The lines of a text with the mark of a statement, for `statements` and for `rules` on lines.

The text is read once and not split: most texts of a million characters have no such line. Marks are
as specific as possible, `+4` instead of `+`: every line without one is free.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from ingest.literals import LiteralSearch, pattern

REACH = 400
"""Distance in characters between a statement and its mark. Longer lines are read in windows, so
that time stays linear.
"""

Span = tuple[int, int]


class Lines(NamedTuple):
    """The lines of each mark, each once, in order; of a longer line the window within REACH."""

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


# by mark: every such line has one of the words. Few and not short, for speed (`ingest.literals`)
_WORDS = {
    "artefacts": (".diff", ".patch"),
    "deliverables": ("eliverable",),
    "commits": ("ommit",),
    "files": ("iles", "FILES_MODIFIED"),
    "tests_failed": (" fail",),
    "tests_passed": ("pass", "TESTS_STATUS"),
    "verbs": tuple(
        f"{verb} {quote}"
        for verb in ("odified", "reated", "pdated", "hanged", "dited", "ewrote", "eleted")
        for quote in ("`", "*`", "**`")
    ),
    "blocked": ("blocked", "BLOCKED"),
    "instances": ("nstances",),
    "occurrences": ("ccurrences",),
    "call_sites": ("call sites",),
    "total": (" total)",),
    "lines_changed": (
        " line",
        " new line",
        " insertion",
        " new insertion",
    ),  # the last ones: they count as in _COUNTED only
}

_LITERALS = LiteralSearch(list(chain.from_iterable(_WORDS.values())), leftmost=True)
_MARKS = [
    Lines._fields.index(mark) for mark, words in _WORDS.items() for _ in words
]  # for each word, the index of its mark in Lines
_LINES_CHANGED = _MARKS[-1]
_COUNTS_FROM = _MARKS.index(_LINES_CHANGED)
_COUNTED = pattern("[0-9] (?:new )?(?:lines? [a-z]|insertion)")
_PLUS = pattern(r"\+[0-9]")

NO_LINES = Lines._make([] for _ in Lines._fields)


def marked_lines(text: str) -> Lines:
    """Return the lines of every mark; NO_LINES if no line has any.

    A plus before a digit marks changed lines, too.
    """
    finds = _LITERALS.find(text)
    marks = [
        (at, _MARKS[word])
        for word, at, _ in finds
        if word < _COUNTS_FROM or _COUNTED.match(text, at - 1)
    ]
    if "+" in text and (
        plus := [(found.start(), _LINES_CHANGED) for found in _PLUS.finditer(text)]
    ):
        marks = sorted((*marks, *plus))
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


def list_below(text: str, end: int) -> Iterator[Span]:
    """Yield the lines after the heading that ends at `end`, without a blank first one.

    Of longer lines the first REACH characters.
    """
    last, is_first = len(text) - 1, True
    while end < last and text[end] == "\n":
        start = end + 1
        end = text.find("\n", start)
        if end < 0:
            end = len(text)
        line = start, end if end - start < REACH else start + REACH
        if not is_first or text[slice(*line)].strip():
            yield line
        is_first = False
