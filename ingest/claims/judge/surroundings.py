"""The words around an effect, cut once for all modules of `judge/`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ingest.claims.find.passages import Passage
from ingest.claims.numbers.effect import Effect
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import BULLETS

_LEFT_REACH, _RIGHT_REACH, _NEAR_REACH = 160, 60, 24

_SENTENCE = pattern(rf"[.;!?]\s|\n[ \t]*(?:[{BULLETS}]|\d+[.)])[ \t]|\n[ \t]*\n|\n(?=[A-Z][a-z]+ )")


class Title(NamedTuple):
    """The first line of a text: in lower case, as written, and the offset of its end."""

    lower: str
    raw: str
    end: int


class Surroundings(NamedTuple):
    """The words around an effect, in lower case; those of the `raw_` fields as written."""

    left: str
    """The sentence before it, from the previous effect on; in a table: caption, row label and header cells, separated by bars."""
    inside: str
    right: str
    """The sentence behind it, up to the next effect."""
    just_before: str
    """A few characters before it, also across sentences."""
    sentence: str
    """The sentence before it, from its beginning, with other effects."""
    raw_left: str
    raw_right: str
    title: Title
    is_table: bool
    text: str
    start: int
    """The whole text, and the offset of the effect in it."""

    def list_heading(self) -> str:
        """The heading of the list or section around the effect, in lower case: a Markdown heading, or a line that ends with a colon."""
        return _list_heading(self.text, self.text.rfind("\n", 0, self.start) + 1)


_LIST_HEADING = pattern(r"[ \t]*#{1,6}[ \t]|[^\n]{2,300}:[*_]{0,2}[ \t]*$|[ \t]*(?:\*\*|__)[^\n]{2,80}(?:\*\*|__)[ \t]*$", re.MULTILINE)
_LINES_ABOVE = 14
"""The most lines above the effect in which its heading is searched."""


@lru_cache(maxsize=64)
def _list_heading(text: str, start: int) -> str:
    """The nearest heading above the line that begins at `start`; empty without one."""
    for _ in range(_LINES_ABOVE):
        if start <= 0:
            break
        above = text.rfind("\n", 0, start - 1) + 1
        if _LIST_HEADING.match(text, above, start - 1):
            return text[max(above, start - 121) : start - 1].lower()
        start = above
    return ""


def title_of(text: str) -> Title:
    """The title of the text: its first line that is not blank, at most 200 characters of it."""
    start = len(text) - len(text.lstrip()) if text[:1].isspace() else 0
    end = text.find("\n", start)
    raw = text[start : min(end if end >= 0 else len(text), start + 200)]
    return Title(raw.lower(), raw, start + len(raw))


def surroundings_of(text: str, effect: Effect, passage: Passage, low: int, high: int, title: Title) -> Surroundings:
    """The words around an effect of running text, between the offsets `low` and `high` of its neighbours."""
    left = effect.labels or _last_sentence(text[max(low, effect.start - _LEFT_REACH) : effect.start])
    right = _first_sentence(text[effect.end : min(high, effect.end + _RIGHT_REACH)])
    if effect.labels:  # its line has a label, and so has the next one
        right = right.partition("\n")[0]
    just_before = text[max(0, effect.start - _NEAR_REACH) : effect.start].lower()
    lower = left.lower()
    whole = lower if low == passage.start else _last_sentence(text[max(passage.start, effect.start - _LEFT_REACH) : effect.start]).lower()
    return Surroundings(
        lower,
        text[effect.start : effect.end].lower(),
        right.lower(),
        just_before,
        whole,
        left,
        right,
        title,
        is_table=False,
        text=text,
        start=effect.start,
    )


def surroundings_in_table(text: str, effect: Effect, caption: str, rest: str, title: Title) -> Surroundings:
    """The words around an effect of a table: `caption` (line above, row label, header cells) and the `rest` of its cell."""
    lower = caption.lower()
    return Surroundings(
        lower,
        text[effect.start : effect.end].lower(),
        rest.lower(),
        "",
        lower,
        caption,
        rest,
        title,
        is_table=True,
        text=text,
        start=effect.start,
    )


def _last_sentence(part: str) -> str:
    """The part of the text behind its last sentence end."""
    end = 0
    for match in _SENTENCE.finditer(part):
        end = match.end()
    return part[end:]


def _first_sentence(part: str) -> str:
    """The part of the text before its first sentence end."""
    match = _SENTENCE.search(part)
    return part[: match.start()] if match else part
