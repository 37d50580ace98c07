"""The passage around each trigger.

A passage is a bullet with its continuation lines, a paragraph, a run of labelled lines (`Before: … / After: …`), or a whole table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingest.claims.patterns import lowered, pattern
from ingest.claims.words.vocabulary import BASELINE_LABELS, BULLETS, CANDIDATE_LABELS, CHANGE_LABELS, EMOJI, TABLE_ROW


class Passage(NamedTuple):
    """A part of the text, read as a unit. Offsets are code points, the end exclusive."""

    start: int
    end: int
    is_table: bool = False
    is_labelled: bool = False


_BLOCK = pattern(rf"[ \t]*(?:$|[{BULLETS}]\s|\d{{1,3}}[.)]\s|#{{1,6}}\s|\||>|```|[{EMOJI}])", re.MULTILINE)
_LABEL = pattern(
    rf"[ \t│║|{BULLETS}]*(?:\d+[.)][ \t]*|(?:#|//)[ \t](?=[^\n]*\d))?"
    rf"[*_`]{{0,3}}(?:(?:[\w/.-]+[ \t]+){{1,5}}\(|(?:\w+[ \t]+){{0,3}}?)[*_`]{{0,3}}"
    rf"(?:(?P<before>{BASELINE_LABELS})|(?P<after>{CANDIDATE_LABELS})|(?P<change>{CHANGE_LABELS}|time savings?))\b"
    r"(?:[*_]{2}\.[ \t](?=[~<≈]?\d)|[^:=\n]{0,40}(?:[:=]|[ \t][-–—][ \t](?=[~<≈]?\d))"
    r"|[ \t]{2,12}(?=[~<≈]?\d)|[ \t](?=\d[\d.,]*[ \t]?[a-z/]{1,6}[ \t]*$))"
)
"""The label of a line in lower case."""

_ENDS_A_LABEL = pattern(r"[:=]|\*\*\.|[ \t][ \t–—\d-]")
_LONGEST_LABEL = 160
"""Characters of a line within which its label ends with one of these: five times cheaper to test than the label itself."""

_LONGEST = 20_000
"""Characters of a passage behind its first trigger; the rest is another passage."""

_LABELLED_LINES = 8
"""The most lines of a run of labelled lines."""


def passages(text: str, triggers: Iterable[int]) -> Iterator[Passage]:
    """The passages around the triggers (offsets, in order), in order and without overlaps."""
    done = 0
    for trigger in triggers:
        if trigger >= done:
            passage = passage_at(text, trigger, done)
            end = min(passage.end, max(passage.start, trigger) + _LONGEST)
            done = max(end, done + 1)
            yield passage._replace(end=end)


def passage_at(text: str, position: int, floor: int = 0) -> Passage:
    """The passage around the position; it begins at `floor` or later."""
    start = _line_start(text, position, floor)
    if TABLE_ROW.match(text, start):
        return _table(text, start, floor)
    if open_table := _open_table(text, start, floor):
        return open_table
    labelled = _labelled(text, start, floor)
    return labelled or _paragraph(text, start, floor, position)


def _line_start(text: str, position: int, floor: int) -> int:
    return max(text.rfind("\n", floor, position) + 1, floor)


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _table(text: str, start: int, floor: int) -> Passage:
    end = _line_end(text, start)
    while start > floor and TABLE_ROW.match(text, above := _line_start(text, start - 1, floor)):
        start = above
    while end < len(text) and TABLE_ROW.match(text, end + 1):
        end = _line_end(text, end + 1)
    if end + 1 < len(text) and _OPEN_RULE.match(text, end + 1) and (below := _open_table(text, start, floor)):  # a header with bars
        return below
    if end + 1 < len(text) and text.rfind("|", start, end) < text.rfind("\n", start, end):  # a cell that wraps
        end = _line_end(text, end + 1)
    return Passage(start, end, is_table=True)


_BAR = pattern(r"[^\n|]*\|")
_OPEN_RULE = pattern(r"[ \t]*:?-{2,}:?[ \t]*\|[ \t:|-]*$", re.MULTILINE)
_OPEN_ROWS = 60
"""The most rows, above a trigger, of a table without outer bars."""


def _open_table(text: str, start: int, floor: int) -> Passage | None:
    """The table without outer bars around the line: `Case | Before | After`, `--- | --- | ---`, `load | 8 s | 2 s`."""
    if not _BAR.match(text, start):
        return None
    end, rows, is_ruled = _line_end(text, start), 1, False
    while start > floor and rows < _OPEN_ROWS and _BAR.match(text, above := _line_start(text, start - 1, floor)):
        is_ruled = is_ruled or _OPEN_RULE.match(text, above) is not None
        start, rows = above, rows + 1
    while end < len(text) and rows < 2 * _OPEN_ROWS and _BAR.match(text, end + 1):
        is_ruled = is_ruled or _OPEN_RULE.match(text, end + 1) is not None
        end, rows = _line_end(text, end + 1), rows + 1
    return Passage(start, end, is_table=True) if is_ruled else None


def _paragraph(text: str, start: int, floor: int, position: int) -> Passage:
    """The paragraph or bullet around the line; it ends before a blank line, the next bullet, or a run of labelled lines."""
    end = _line_end(text, start)
    while start > floor and not _BLOCK.match(text, start):
        above = _line_start(text, start - 1, floor)
        if not text[above : start - 1].strip() or TABLE_ROW.match(text, above):
            break
        start = above
    while end < len(text) and not _BLOCK.match(text, end + 1) and not (end >= position and _begins_run(text, end + 1)):
        end = _line_end(text, end + 1)
    return Passage(start, end)


_COLON_WITHIN = 60
"""Characters of a line in which its label ends."""


def _begins_run(text: str, start: int) -> bool:
    """Whether the line is the first of a run of labelled lines, `Before: 8 s` above `After: 2 s`, and not part of the paragraph above."""
    if text.find(":", start, start + _COLON_WITHIN) < 0 or role_of_label(text, start) != "before":
        return False
    end = _line_end(text, start)
    return bool(_DIGIT.search(text, start, end)) and role_of_label(text, end + 1) == "after"


def _labelled(text: str, start: int, floor: int) -> Passage | None:
    """The run of labelled lines around the line; None for a line in none.

    A line without a label for baseline, candidate or change may be one of two above a change.
    """
    if role_of_label(text, start) is None:
        return _run_above_change(text, start, floor) if _FIGURE_ONLY.match(text, start) else None
    return _run_above_change(text, start, floor) or _run_from_baseline(text, start, floor) or _run_candidate_first(text, start, floor)


_FIGURE_ONLY = pattern(rf"[ \t]*(?:[{BULLETS}][ \t]+)?[*_`]{{0,3}}[^\n:|]{{2,40}}:[*_`]{{0,3}}[ \t]*[~≈]?\d[^\n:]{{0,30}}$", re.MULTILINE)
"""`Parallel: 805 ms`: a label and a figure, no sentence."""

_DIGIT = pattern(r"\d")


def _run_from_baseline(text: str, start: int, floor: int) -> Passage | None:
    """`Before: 240 s` / `After: 110 s` / `Speedup: 2.2x`: from the baseline line to the last labelled line."""
    first = start
    for _ in range(_LABELLED_LINES):
        if role_of_label(text, first) == "before":
            break
        if first <= floor or not text[first : _line_end(text, first)].strip():
            return None
        first = _line_start(text, first - 1, floor)
    end, lines = _line_end(text, first), 1
    if not _DIGIT.search(text, first, end):  # a heading
        return None
    while end < len(text) and lines < _LABELLED_LINES:
        blank = _BLANK.match(text, end) if lines <= len(_BEHIND_A_BLANK) else None
        below = blank.end() if blank else end + 1
        if not (role_of_label(text, below) == _BEHIND_A_BLANK[lines - 1] if blank else _continues(text, below)):
            break
        end, lines = _line_end(text, below), lines + 1
    return Passage(first, end, is_labelled=True) if lines > 1 and end >= start else None


_BEHIND_A_BLANK = ("after", "change")
"""What the second line of a run may be, and the third, if a blank line is above it."""

_BLANK = pattern(r"\n[ \t]*\n(?=[^\n]*\d)")
"""A blank line before a line with a number."""


def _run_candidate_first(text: str, start: int, floor: int) -> Passage | None:
    """`this branch: 2 s` / `main: 3 s`: two lines, the candidate first, and no further labelled line next to them."""
    first = start if role_of_label(text, start) == "after" or start <= floor else _line_start(text, start - 1, floor)
    second = _line_end(text, first) + 1
    if role_of_label(text, second) != "before" or role_of_label(text, first) != "after" or not _DIGIT.search(text, first, second):
        return None
    end = _line_end(text, second)
    is_alone = first <= floor or role_of_label(text, _line_start(text, first - 1, floor)) is None
    is_last = end >= len(text) or role_of_label(text, end + 1) is None
    return Passage(first, end, is_labelled=True) if is_alone and is_last and end >= start else None


def _run_above_change(text: str, start: int, floor: int) -> Passage | None:
    """`Sequential: 4046 ms` / `Parallel: 805 ms` / `Improvement: 80%`; the trigger may be in any of the three."""
    change = start
    for _ in range(3):
        if role_of_label(text, change) == "change" or (change > start and _CHANGE_ALONE.match(text, change)):
            second = _line_start(text, change - 1, floor) if change > floor else floor
            first = _line_start(text, second - 1, floor) if second > floor else second
            fits = first < second < change and _ITEM.match(text, first) and _ITEM.match(text, second)
            return Passage(first, _line_end(text, change), is_labelled=True) if fits else None
        change = _line_end(text, change) + 1
        if change >= len(text) or not (_ITEM.match(text, change) or role_of_label(text, change) == "change"):
            return None
    return None


def role_of_label(text: str, start: int) -> str | None:
    """What the label of the line names: `before` (baseline), `after` (candidate) or `change`; None for any other line."""
    found = _label(text, start) if _ENDS_A_LABEL.search(text, start, start + _LONGEST_LABEL) else None
    if found and found["before"] == _CURRENT and _is_below_baseline(text, start):
        return "after"
    return found.lastgroup if found else None


_CURRENT = "current"
"""`Current: 10 s` is the candidate below `Previous: 30 s`, and the baseline elsewhere."""


def _is_below_baseline(text: str, start: int) -> bool:
    """Whether the line above, or above a blank line, has another label for the baseline."""
    end = start - 2 if text.startswith("\n\n", start - 2) else start - 1
    above = _line_start(text, end, 0) if end > 0 else start
    label = _label(text, above) if above < start else None
    return label is not None and label["before"] not in (None, _CURRENT)


def _label(text: str, start: int) -> re.Match[str] | None:
    return _LABEL.match(lowered(text[start : _line_end(text, start)]))


_ITEM = pattern(rf"[ \t]*(?:[{BULLETS}]\s|[^\n:|]{{2,50}}:)[^\n]*\d")
_OTHER_LABEL = pattern(rf"[ \t│║{BULLETS}]{{0,12}}(?:[*_`]{{0,3}}[A-Z][^:\n]{{0,40}}|[*_]{{0,3}}`[^`:\n]{{2,60}}`)[*_]*:[*_`]*\s*[~<≈]?\d")


_CHANGE_ALONE = pattern(
    rf"[ \t]*(?:[{BULLETS}][ \t]+)?(?:speed-?up|improvement|reduction) of (?=[~≈]?\d)|"
    rf"[ \t]*(?:[{BULLETS}][ \t]+)?[=≈~*_(+−-]{{0,4}}[ \t]?"
    r"\d[\d.,]{0,8}[ \t]?(?:%|percent|x|×)(?:[ \t][\w ]{0,30})?[)*_.!]{0,4}[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""`24% faster` alone on the line below its figures."""


def _continues(text: str, start: int) -> bool:
    """Whether the line belongs to the run of labelled lines above: another labelled line, `- p95: 3 s`, or a change alone, `24% faster`."""
    label = _label(text, start)
    if label and label["before"] == _CURRENT and _is_below_baseline(text, start):
        return True
    return bool((label and not label["before"]) or _OTHER_LABEL.match(text, start) or _CHANGE_ALONE.match(text, start))


_BARS, _DASHES, _CORNERS = "│┃║├┝┠╞╟╠┤┥┨╡╢╣┼┿╂╪╫╬", "─━═", "┌┐└┘┏┓┗┛╔╗╚╝╒╕╘╛┬┴┯┷┳┻╤╧╦╩"
_MARKDOWN = str.maketrans(_BARS + _DASHES + _CORNERS, "|" * len(_BARS) + "-" * len(_DASHES) + " " * len(_CORNERS))


def drawn_tables_as_markdown(text: str) -> str:
    """The text with box-drawn tables (`│ decode │ 8 ms │ 2 ms │`) as Markdown tables.

    Each character is replaced by one, so that offsets stay the same. A text without such a table is returned as the same object; only
    tables have crossings, folder trees and framed headings have none.
    """
    if text.isascii() or not ("┼" in text or "╬" in text or "╪" in text or "╫" in text):  # a generator takes five times as long
        return text
    return text.translate(_MARKDOWN)
