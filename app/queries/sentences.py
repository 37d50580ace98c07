"""The sentence of a summary in which a claim stands."""

from __future__ import annotations

import re
from typing import NamedTuple

WINDOW = 300
"""Code points on either side of a claim that are looked through for the ends of its sentence."""

_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\n")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#+|>)\s+")


class Span(NamedTuple):
    """A part of a text in code points, the end exclusive."""

    start: int
    end: int


def sentence_span(text: str, start: int, end: int) -> Span:
    """Where the sentence around a span begins and ends: at a full stop, or at the ends of its lines."""
    ends = [found for found in _END.finditer(text) if not (found.start() < end and found.end() > start)]
    first = max((found.end() for found in ends if found.end() <= start), default=0)
    last = min((found.start() for found in ends if found.start() >= end), default=len(text))
    return Span(first, last)


def sentence(around: str, start: int, end: int, *, is_cut: tuple[bool, bool] = (False, False)) -> str:
    """The sentence around a span in one line, without marks of Markdown; `…` where the text was cut before the sentence began or ended."""
    found = sentence_span(around, start, end)
    words = " ".join(_LIST_MARK.sub("", around[found.start : found.end]).replace("**", "").replace("`", "").split())
    before = "… " if is_cut[0] and found.start == 0 else ""
    behind = " …" if is_cut[1] and found.end == len(around) else ""
    return f"{before}{words}{behind}"
