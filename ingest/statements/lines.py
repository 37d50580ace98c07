"""The lines of a text that hold a word, without splitting the text: most texts of a million characters hold none."""

from __future__ import annotations

REACH = 400
"""A statement stands within so many characters of its word. Lines longer than that are read in windows, so time stays linear."""

Span = tuple[int, int]
"""Start and end in the text, the end exclusive."""


def lines_with(text: str, *words: str) -> list[Span]:
    """The lines that hold one of the words, each once and in order; of longer lines what is within REACH."""
    found: list[Span] = []
    for word in words:
        at = text.find(word)
        while at >= 0:
            reach = at - REACH if at > REACH else 0
            start = text.rfind("\n", reach, at) + 1 or reach
            end = _line_end(text, at)
            found.append((start, end))
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
