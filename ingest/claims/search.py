"""The triggers of a text, found in one search, and the passages around them.

Most texts claim nothing, so this is where the time goes. One automaton looks for all literals at
once, 4 µs for 800 characters. A trigger that comes with a number is spelled out with each digit, so
that plain prose hardly ever hits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

from ingest.claims.numbers import NUMBER_WORDS
from ingest.claims.qualitative import beginnings
from ingest.claims.words import AFTER, BEFORE, BULLETS, CHANGE, folded
from ingest.literals import LiteralSearch, pattern

# --- triggers

_DIGITS = "0123456789"
_NUMBER_STARTS = (
    *_DIGITS,
    *"~≈<>$(",
    *(f"`{digit}" for digit in _DIGITS),
    "**",
    "about ",
    "around ",
    "roughly ",
    "nearly ",
    "under ",
    "over ",
    "only ",
    "just ",
    "sub-",
)
_UNITS = (
    "ns",
    "µs",
    "us",
    "ms",
    "sec",
    "seconds",
    "minutes",
    "hours",
    "KB",
    "kB",
    "MB",
    "GB",
    "bytes",
)
_NEAR = 40
_FIGURE = pattern(
    r"\d\s?(?:[nµum]?s|m?sec\w*|min\w*|milli\w+|h|hours?|[kKMGT]i?B|\w*bytes|[\w ]{1,"
    r"12}/s|[frqt]ps|calls|queries|alloc\w*|requests)\b"
)
_VAIN = pattern(
    r"\d{1,4}\.\d{1,4}\.\d|\d{4}-\d\d-\d\d|\d[\d,.]{0,9}[*`]{0,3} "
    r"(?:tests?|pass(?:ed|ing)|assertions)\b"
    r"|%[)*_`]{0,3} (?:(?:line |branch )?coverage|complete(?! in)|success|done\b|wasted|of "
    r"total)|[xX]\w"
)
"""Text that begins no claim, matched at the last character of a trigger: `to 0.37.16`, `→ 569
tests`, `98.5% complete`, `24x24`.
"""


def _joined(*parts: Iterable[str]) -> list[str]:
    return ["".join(each) for each in product(*parts)]


@cache
def _triggers() -> tuple[LiteralSearch, list[re.Pattern[str] | bool]]:
    """Return the search, and for each literal what must follow it.

    For a trigger of a number, whether a figure must be near.
    """
    seconds = _joined(_DIGITS, ("", " "), "s")
    numbers = {
        *_joined(
            (*_DIGITS, *_joined(_DIGITS, "+")),
            (
                "x",
                "X",
                "%",
                "×",
                " x ",
                " %",
                " ×",
                " percent",
                " Prozent",
                "-fold",
                "fold",
                "-mal ",
                " mal ",
                "mal so",
            ),
        ),
        *_joined(("→", "->", "=>", "⇒", "➜", "➔", "⟶", "➡", "➡️"), ("", " "), _NUMBER_STARTS),
        *_joined(
            (
                "from",
                "down to",
                "drops to",
                "to",
                "vs",
                "vs.",
                "versus",
                "against",
                "instead of",
                "rather than",
                "compared to",
                "compared with",
                "was",
                "now",
                "took",
                "takes",
                "factor of",
                "speedup of",
                "speed-up of",
                "speed up of",
                "saves",
                "Saves",
                "saving",
                "liminates",
                "nchanged at",
                "not the",
                "efore",
            ),
            (" ", "\n"),
            _NUMBER_STARTS,
        ),
        *_joined((*_UNITS, *seconds, *("allocations", "calls", "queries")), (" saved", " savings")),
        *_joined((*_joined((*_DIGITS, " "), _UNITS), *seconds), (" before", " (before")),
        *(
            "twice",
            "Twice",
            "half",
            "Half",
            "halv",
            "Halv",
            "doubl",
            "Doubl",
            "tripl",
            "Tripl",
            "quadrupl",
            "Quadrupl",
            "of magnitude",
            "a third",
            "two-thirds",
            "two thirds",
            "a quarter",
            "against ",
            "efore:",
            "efore**:",
            "efore |",
            "| before",
            "| Before",
            "| main",
            "| Main",
            "| baseline",
            "| Baseline",
            "| base ",
            "| old",
            "| Old",
            "| Original",
            "BEFORE",
            "aseline",
            "riginal:",
            "(before",
            "no measurable",
            "no significant",
            "no change",
            "(unchanged",
            "times faster",
            "times quick",
            "times slower",
            "times less",
            "times more",
            "times fewer",
            "times smaller",
            "times lower",
            "times higher",
            "times as",
            *(f"{word}fold" for word in NUMBER_WORDS),
            "mal so schnell",
            "mal schneller",
        ),
    }
    phrases = beginnings()
    # Names of the baseline, which mark a claim only near a figure with a unit.
    near = [
        word
        for word in dict.fromkeys(
            (
                "ld:",
                " old ",
                "Old ",
                "(old",
                "riginal",
                "aseline",
                "noptimi",
                "aive",
                "egacy",
                "revious",
                "was:",
                "Was",
                "ain:",
                "aster:",
                "on main",
                "on master",
                "main ",
                "ithout ",
                "ithout:",
                "efore",
            )
        )
        if word not in numbers
    ]
    literals = [*sorted(numbers), *near, *phrases]
    return LiteralSearch(literals), [
        *(False for _ in numbers),
        *(True for _ in near),
        *phrases.values(),
    ]


def find_triggers(text: str) -> tuple[list[int], list[tuple[int, int, re.Pattern[str]]]]:
    """Return the places of possible claims, in order.

    First the offsets of the last character of each trigger of a number, then the beginnings of
    phrases that claim without one: start, end, and what must follow.
    """
    search, follows = _triggers()
    found = search.find(text)
    if not found:
        return [], []
    numbers, phrases = [], []
    for literal, start, end in found:
        rest = follows[literal]
        if not isinstance(rest, bool):
            phrases.append((start, end, rest))
        elif (
            _FIGURE.search(text, max(0, start - _NEAR), end + _NEAR)
            if rest
            else not _VAIN.match(text, end - 1)
        ):
            numbers.append(end - 1)
    return numbers, phrases


# --- passages


class Passage(NamedTuple):
    """A part of the text that is read as one.

    A bullet with the lines it wraps over, a paragraph, labelled lines, or a table.
    """

    start: int
    end: int
    is_table: bool = False
    is_labelled: bool = False


_BLOCK = pattern(rf"[ \t]*(?:$|[{BULLETS}]\s|\d{{1,3}}[.)]\s|#{{1,6}}\s|\||>|```)", re.MULTILINE)
_TABLE = pattern(r"[ \t]*\|")
_LABEL = pattern(
    r"[ \t\-*•+◦│║|]*(?:\d+[.)][ \t]*)?[*_`]*(?:\w+[ \t]+){0,2}?"
    rf"(?:(?P<before>{BEFORE})|(?P<after>{AFTER})|(?P<change>{CHANGE}|time "
    rf"savings?))\b[^:=\n]{{0,40}}[:=]"
)
"""For a line in lower case: ignoring case would be three times as slow."""

_LONGEST = 20_000
"""Limit of the characters of a passage after its trigger; the rest is read as another passage."""

_LABELLED_LINES = 8


def passages(text: str, triggers: Iterable[int]) -> Iterator[Passage]:
    """Yield the passages with triggers, in order and without overlap."""
    done = 0
    for trigger in triggers:
        if trigger >= done:
            passage = passage_at(text, trigger, done)
            end = min(passage.end, max(passage.start, trigger) + _LONGEST)
            done = max(end, done + 1)
            yield passage._replace(end=end)


def passage_at(text: str, position: int, floor: int = 0) -> Passage:
    """Return the passage that contains the position; it does not reach above `floor`."""
    start = _line_start(text, position, floor)
    if _TABLE.match(text, start):
        return _table(text, start, floor)
    labelled = _labelled(text, start, floor)
    return labelled or _paragraph(text, start, floor)


def _line_start(text: str, position: int, floor: int) -> int:
    return max(text.rfind("\n", floor, position) + 1, floor)


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _table(text: str, start: int, floor: int) -> Passage:
    end = _line_end(text, start)
    while start > floor and _TABLE.match(text, above := _line_start(text, start - 1, floor)):
        start = above
    while end < len(text) and _TABLE.match(text, end + 1):
        end = _line_end(text, end + 1)
    if end + 1 < len(text) and text.rfind("|", start, end) < text.rfind(
        "\n", start, end
    ):  # a cell that wraps
        end = _line_end(text, end + 1)
    return Passage(start, end, is_table=True)


def _paragraph(text: str, start: int, floor: int) -> Passage:
    end = _line_end(text, start)
    while start > floor and not _BLOCK.match(text, start):
        above = _line_start(text, start - 1, floor)
        if not text[above : start - 1].strip() or _TABLE.match(text, above):
            break
        start = above
    while end < len(text) and not _BLOCK.match(text, end + 1):
        end = _line_end(text, end + 1)
    return Passage(start, end)


def _labelled(text: str, start: int, floor: int) -> Passage | None:
    """Return the run of labelled lines around the line.

    From the figure before on, or the two lines above a change and the change.
    """
    if label(text, start) is None:
        return None
    return (
        _above_change(text, start, floor)
        or _from_before(text, start, floor)
        or _candidate_first(text, start, floor)
    )


def _from_before(text: str, start: int, floor: int) -> Passage | None:
    first = start
    for _ in range(_LABELLED_LINES):
        if label(text, first) == "before":
            break
        if first <= floor or not text[first : _line_end(text, first)].strip():
            return None
        first = _line_start(text, first - 1, floor)
    end, lines = _line_end(text, first), 1
    while end < len(text) and lines < _LABELLED_LINES and _continues(text, end + 1):
        end, lines = _line_end(text, end + 1), lines + 1
    return Passage(first, end, is_labelled=True) if lines > 1 and end >= start else None


def _candidate_first(text: str, start: int, floor: int) -> Passage | None:
    """Return two lines of which the first is the candidate: `this branch: 2 s` / `main: 3 s`."""
    first = (
        start
        if label(text, start) == "after" or start <= floor
        else _line_start(text, start - 1, floor)
    )
    second = _line_end(text, first) + 1
    if label(text, first) != "after" or label(text, second) != "before":
        return None
    return Passage(first, _line_end(text, second), is_labelled=True)


def _above_change(text: str, start: int, floor: int) -> Passage | None:
    """Return `Sequential: 4046 ms` / `Parallel: 805 ms` / `Improvement: 80%`.

    The trigger may be in any of the three.
    """
    change = start
    for _ in range(3):
        if label(text, change) == "change":
            second = _line_start(text, change - 1, floor) if change > floor else floor
            first = _line_start(text, second - 1, floor) if second > floor else second
            fits = (
                first < second < change and _ITEM.match(text, first) and _ITEM.match(text, second)
            )
            return Passage(first, _line_end(text, change), is_labelled=True) if fits else None
        change = _line_end(text, change) + 1
        if change >= len(text) or not _ITEM.match(text, change):
            return None
    return None


@lru_cache(maxsize=16)
def label(text: str, start: int) -> str | None:
    """Return the kind of the line's label, which ends with a colon or an equals sign.

    `before`, `after` or `change`.
    """
    line = text[start : _line_end(text, start)]
    found = _LABEL.match(folded(line)) if ":" in line or "=" in line else None
    return found.lastgroup if found else None


_ITEM = pattern(r"[ \t]*(?:[-*•+◦]\s|[^\n:|]{2,50}:)[^\n]*\d")
_OTHER_LABEL = pattern(r"[\s\-*•+│║]*[*_`]*[A-Z][^:\n]{0,40}:[*_`]*\s*[~<≈]?\d")


def _continues(text: str, start: int) -> bool:
    return label(text, start) in ("after", "change") or _OTHER_LABEL.match(text, start) is not None
