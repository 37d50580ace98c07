"""Two sections with like lines: `### Before` / `- First launch: 10 min` and, further down, `### After` / `- First launch: 2 min`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.effect import Effect
from ingest.claims.quantities import Quantity, quantities

_BEFORE_WORDS, _AFTER_WORDS = "before|优化前|修复前|之前|改善前", "after|now|优化后|修复后|之后|改善後"
_MARKED = r"[ \t]*(?:#{1,6}[ \t]+|\*\*|__|[-*•][ \t]+\*\*)(?:\W{1,4})?(?:%s)(?![A-Za-z])[^\n:|\d]{0,40}?[:：]?(?:\*\*|__)?[:：]?[ \t]*$"
_BARE = r"^[ \t]*(?:%s)(?:[ \t]\([^()\n]{1,30}\))?[:：][ \t]*$"
_BEFORE = re.compile(f"{_MARKED % _BEFORE_WORDS}|{_BARE % _BEFORE_WORDS}", re.IGNORECASE | re.MULTILINE)
_AFTER = re.compile(f"{_MARKED % _AFTER_WORDS}|{_BARE % _AFTER_WORDS}", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(
    r"^[ \t]*(?:[-*•+◦][ \t]+)?[*_`]*(?P<label>[^:：\n|]{2,60}?)[*_`]*"
    r"(?:[:：][*_`]*[ \t]*|[ \t]+(?=[~<≈]?\d[\d.,]{0,9}[ \t]?[A-Za-zµ/]{1,8}[ \t]*(?:\(|$)))(?=[^\n]*\d)(?P<rest>[^\n]+)$",
    re.MULTILINE,
)
Span = tuple[int, int]
_REACH = 1200
"""Characters that a section is read for."""


_SIGNS = (
    "# Before",
    "*Before",
    "*Before ",
    "# Before ",
    "BEFORE",
    "efore:",
    "efore**:",
    "前",
    "main:",
    "aseline",
    "# Old",
    "*Old*",
    "change: [",
)


def has_sections(text: str, signs: list[int]) -> bool:
    """Whether one of the signs can be the head of a section."""
    return any(text.endswith(_SIGNS, 0, sign + 1) for sign in signs)


def section_effects(text: str) -> Iterator[Effect]:
    """The figure of each labelled line below `After` against that of the line with the same label below `Before`."""
    for first_span, second_span in below(text, _BEFORE, _AFTER, _REACH):
        first, second = _figures(text, *first_span), _figures(text, *second_span)
        yield from (_effect(first[label], figure) for label, figure in second.items() if label in first)


_TOLD = r"^[ \t]*(?:#{1,6}[ \t]+|\*\*|__|[-*•][ \t]+\*\*)\W{0,4}(?:%s)\b(?P<rest>[^\n]{1,100})$"
_TOLD_BEFORE = re.compile(_TOLD % _BEFORE_WORDS, re.IGNORECASE | re.MULTILINE)
_TOLD_AFTER = re.compile(_TOLD % _AFTER_WORDS, re.IGNORECASE | re.MULTILINE)


def told_in_heads(text: str) -> Iterator[Effect]:
    """`### Before: 4.2 s`, a picture or an output, `### After: 1.1 s`."""
    for head in _TOLD_BEFORE.finditer(text):
        later = _TOLD_AFTER.search(text, head.end() + 2, head.end() + _REACH)  # not on the next line: those are labelled lines
        before = next(quantities(text, *head.span("rest")), None)
        after = next(quantities(text, *later.span("rest")), None) if later else None
        if before and after and before.measures_as(after):
            yield Effect(before.start, after.end, before, after)


def below(text: str, before: re.Pattern[str], after: re.Pattern[str], reach: int) -> Iterator[tuple[Span, Span]]:
    """What stands below each head `before`, and what below the head `after` that follows it within so many characters."""
    for head in before.finditer(text):
        if later := after.search(text, head.end(), head.end() + reach):
            yield (head.end(), later.start()), (later.end(), later.end() + reach)


def _figures(text: str, start: int, end: int) -> dict[str, Quantity]:
    """The first figure of each line, by its label; lines after a blank line behind them are of something else."""
    blank = text.find("\n\n", start + 2, end)
    found: dict[str, Quantity] = {}
    for line in _LINE.finditer(text, start, blank if blank >= 0 else end):
        figure = next(quantities(text, *line.span("rest")), None)
        if figure and figure.unit and figure.start - line.start("rest") <= 3:
            found.setdefault(line["label"].strip().lower(), figure)
    return found


def _effect(before: Quantity, after: Quantity) -> Effect:
    """The pair; it stands where the figure after does."""
    return Effect(after.start, after.end, before, after)
