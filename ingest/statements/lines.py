"""The lines of a text that hold a mark of a statement, without splitting the text: most texts of a million characters hold none.

The text is read once, for the statements and for the rules that look at lines (`ingest.audit`). What the words leave out costs
nothing, so they say as much as they can: `+4` and no mere `+`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from string import digits

from ingest.literals import Literals

REACH = 400
"""A statement stands within so many characters of its mark. Lines longer than that are read in windows, so time stays linear."""

Span = tuple[int, int]
"""Start and end in the text, the end exclusive."""


class Mark(IntEnum):
    """What a line may hold, by the words that no such line does without."""

    ARTEFACTS = 0
    COMMITS = 1
    DELIVERABLES = 2
    FILES = 3
    LINES_CHANGED = 4
    TESTS_FAILED = 5
    TESTS_PASSED = 6
    VERBS = 7
    BLOCKED = 8
    INSTANCES = 9
    OCCURRENCES = 10
    CALL_SITES = 11
    TOTAL = 12


_VERBS = ("odified", "reated", "pdated", "hanged", "dited", "ewrote", "eleted")
"""What was done to a file, without their first letters."""

_WORDS = {
    ".diff": Mark.ARTEFACTS,
    ".patch": Mark.ARTEFACTS,
    "eliverable": Mark.DELIVERABLES,
    "ommit": Mark.COMMITS,
    "iles": Mark.FILES,
    "FILES_MODIFIED": Mark.FILES,
    "blocked": Mark.BLOCKED,
    "BLOCKED": Mark.BLOCKED,
    "nstances": Mark.INSTANCES,
    "ccurrences": Mark.OCCURRENCES,
    "call sites": Mark.CALL_SITES,
    " total)": Mark.TOTAL,
    "pass": Mark.TESTS_PASSED,
    "TESTS_STATUS": Mark.TESTS_PASSED,
    " fail": Mark.TESTS_FAILED,
}
_WORDS |= {f"+{digit}": Mark.LINES_CHANGED for digit in digits}
_WORDS |= {f"{digit} {word}": Mark.LINES_CHANGED for digit in digits for word in ("line", "new line", "insertion", "new insertion")}
_WORDS |= {f"{verb} {quote}": Mark.VERBS for verb in _VERBS for quote in ("`", "*`", "**`")}
_LITERALS = Literals(list(_WORDS))
_MARKS = [int(mark) for mark in _WORDS.values()]

Lines = Sequence[list[Span]]
"""By Mark, the lines that hold it, each once and in order; of longer lines what is within REACH."""

NO_LINES: Lines = tuple([] for _ in Mark)


def marked_lines(text: str) -> Lines:
    """The lines of every mark; NO_LINES where no line has any."""
    finds = _LITERALS.find(text)
    if not finds:
        return NO_LINES
    found: list[list[Span]] = [[] for _ in NO_LINES]
    for word, at, _ in finds:
        lines = found[_MARKS[word]]
        if not lines or at >= lines[-1][1]:
            reach = at - REACH if at > REACH else 0
            end = text.find("\n", at, at + REACH)
            lines.append((text.rfind("\n", reach, at) + 1 or reach, end if end >= 0 else min(len(text), at + REACH)))
    return found


def lines_below(text: str, end: int) -> Iterator[Span]:
    """The lines after the one that ends at `end`, of longer ones the first REACH characters."""
    last = len(text) - 1
    while end < last and text[end] == "\n":
        start = end + 1
        end = text.find("\n", start)
        if end < 0:
            end = len(text)
        yield start, end if end - start < REACH else start + REACH


def list_below(text: str, end: int) -> Iterator[Span]:
    """The same lines, without the first one if it is blank: what a heading's list begins with."""
    for number, line in enumerate(lines_below(text, end)):
        if number or text[slice(*line)].strip():
            yield line
