"""The lines of a text that hold a mark of a statement, without splitting the text: most texts of a million characters hold none."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

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


_WORDS = {
    "+": Mark.LINES_CHANGED,
    " lines": Mark.LINES_CHANGED,
    "nsertion": Mark.LINES_CHANGED,
    ".diff": Mark.ARTEFACTS,
    ".patch": Mark.ARTEFACTS,
    "eliverable": Mark.DELIVERABLES,
    "ommit": Mark.COMMITS,
    "iles": Mark.FILES,
    "FILES_MODIFIED": Mark.FILES,
    "ed `": Mark.VERBS,
    "pass": Mark.TESTS_PASSED,
    "TESTS_STATUS": Mark.TESTS_PASSED,
    " fail": Mark.TESTS_FAILED,
}
_LITERALS = Literals(list(_WORDS))
_MARKS = [int(mark) for mark in _WORDS.values()]

Lines = Sequence[list[Span]]
"""By Mark, the lines that hold it, each once and in order; of longer lines what is within REACH."""


def marked_lines(text: str) -> Lines:
    """The lines of every mark; nothing at all where no line has any."""
    finds = _LITERALS.find(text)
    found: list[list[Span]] = [[] for _ in Mark] if finds else []
    for word, at, _ in finds:
        lines = found[_MARKS[word]]
        if not lines or at >= lines[-1][1]:
            reach = at - REACH if at > REACH else 0
            lines.append((text.rfind("\n", reach, at) + 1 or reach, _line_end(text, at)))
    return found


def lines_with(text: str, *words: str) -> list[Span]:
    """The lines that hold one of the words, each once and in order."""
    found: list[Span] = []
    for word in words:
        at = text.find(word)
        while at >= 0:
            reach = at - REACH if at > REACH else 0
            end = _line_end(text, at)
            found.append((text.rfind("\n", reach, at) + 1 or reach, end))
            at = text.find(word, end)
    return found if len(found) < 2 or len(words) == 1 else sorted(set(found))


def next_line(text: str, end: int) -> Span | None:
    """The line after the one that ends at `end`, up to REACH of it; None after the last."""
    start = end + 1
    if start >= len(text) or text[end] != "\n":
        return None
    return start, _line_end(text, start)


def _line_end(text: str, start: int) -> int:
    found = text.find("\n", start, start + REACH)
    return found if found >= 0 else min(len(text), start + REACH)
