"""Cheap signs of a claim: what no claim does without, found in one pass over the text.

Most texts claim nothing, so this is where the time goes. One automaton looks for all literals at once (10 µs for a text of
3,000 characters; forty times `str.find` takes five times that). A sign that comes with a number is spelled out with each digit,
so that plain prose hardly ever hits.
"""

from __future__ import annotations

import re
from itertools import product

from ingest.claims.changes.qualitative import beginnings
from ingest.claims.find.multi_search import Literals
from ingest.claims.numbers.spelled import NUMBER_WORDS
from ingest.claims.words.change_words import ARROWS, HEDGE_WORDS

_DIGITS = "0123456789"
_NUMBER_STARTS = (
    *_DIGITS,
    *"~≈<>$(",
    "`~",
    *(f"`{digit}" for digit in _DIGITS),
    "**",
    *(f"{word} " for word in (*HEDGE_WORDS, "only", "just") if " " not in word),
    "sub-",
)

_BEHIND_A_DIGIT = (
    "x", "X", "%", "×", " x ", " %", " ×", "倍", " 倍", " percent", " pct", " Prozent",
    "-fold", "fold", "-mal ", " mal ", "mal so", " times",
)  # fmt: skip
_BEFORE_A_NUMBER = (*ARROWS, "➡️", "에서")
_WORDS_BEFORE_A_NUMBER = (
    "from", "down to", "drops to", "to", "vs", "vs.", "versus", "against", "instead of", "rather than", "compared to",
    "compared with", "was", "now", "took", "takes", "taking",
    "factor of", "speedup of", "speed-up of", "speed up of", "saves", "Saves", "saving", "liminates",
    "nchanged at", "von", "de", "not the", "efore", "Main",
    "fter:",
    "antes", "avant", "vorher", "zuvor",
    "reviously", "ormerly", "riginally", "this PR", "this PR:", "this branch", "branch", "branch:", "main", "ithout", "ithout:",
    "Old:", "old", "new", "baseline", "uses", "needs", "used", "needed", "sustains", "holds", "handles",
    "complete in", "completes in", "finishes in", "finish in",
    "runs in", "run in", "loads in", "sits at", "is at", "Speedup of", "factor of roughly", "factor of about",
    "is now",
    "are now",
)  # fmt: skip
_UNITS = ("ns", "µs", "us", "ms", "sec", "seconds", "minutes", "hours", "KB", "kB", "MB", "GB", "bytes")
_SECONDS = tuple(f"{digit}{gap}s" for digit in _DIGITS for gap in ("", " "))
_SPELLED_TIMES = tuple(
    f"{word} {unit}" for word, unit in product((*NUMBER_WORDS, "twenty", "thirty", "forty", "sixty"), ("second", "minute", "hour"))
)
_TO_WORDS = tuple(
    f"{unit} {to}"
    for unit, to in product(
        ("second", "seconds", "minute", "minutes", "hour", "hours", "queries", "calls", "requests", "allocations", "passes", "scans"),
        ("to ", "down to "),
    )
)
"""`from nine minutes to four and a half`"""

_COUNTED = ("allocations", "calls", "queries")
_FORMER_LABELS = tuple(
    f"{label}{colon}"
    for label, colon in product(
        (
            "efore", "riginal", "erial", "urrent", "nitial", "main", "aster", "Was", "revious", "reviously", "Old", "old", "rior",
            "egacy", "ithout", "ingle-threaded", "npatched", "noptimized", "aseline",
        ),
        (":", "**:", "`:"),
    )
)  # fmt: skip
"""`**Previously**: 41 requests`: a line that tells of what was."""

_CHANGE_LABELS = ("eduction:", "eduction**:", "peedup:", "peedup**:", "avings:", "mprovement:", "mprovement**:")
_FORMER_HEADS = tuple(
    f"|{gap}{form}"
    for word in (
        "before", "main", "baseline", "base", "old", "original", "previous", "naive", "legacy", "master", "unoptimized", "was ", "stock",
        "vanilla", "upstream", "current", "prior", "initial", "without ", "avant", "vorher", "antes", "trunk", "develop",
    )
    for form in (word, word.capitalize())
    for gap in (" ", "")
)  # fmt: skip
"""Heads of columns that hold what was."""

_TIMES_MORE = tuple(
    f"times {form}"
    for word in ("faster", "quicker", "slower", "less", "more", "fewer", "smaller", "lower", "higher", "shorter", "longer", "larger", "as")
    for form in (word, word.upper())
)
_WORDS = (
    *_FORMER_LABELS, *_CHANGE_LABELS, *_FORMER_HEADS, *_TIMES_MORE, *_SPELLED_TIMES, *_TO_WORDS,
    "twice", "Twice", "half", "Half", "halv", "Halv", "doubl", "Doubl", "tripl", "Tripl", "quadrupl", "Quadrupl", "magnitude",
    "a third", "a fifth", "a tenth", "one tenth", "1/10th", "1/2 the", "1/3 the", "1/4 the", "1/3 of", "1/4 of", "1/5 of", "1/10 of",
    "two-thirds", "two thirds", "a quarter",
    "against ", "efore |", "BEFORE", "aseline", "(before", "no measurable", "no significant", "no change",
    "(unchanged", "equential", "urrent Size", "urrent size", "riginal size", "ld size",
    " on main,", " on main and", " on master,", " on main vs", "*Before ", "# Before ",
    "master |", "main |", " branch |", "(develop)", "| HEAD~", " PR |", "(PR) |",
    "peedup |", "peedup** |", "peed-up |", "peed up |", "peedup is ", "fore — ",
    "(before/after", "(old/new", "efore / after", "- old:", "old  ", "aseline  ", "main  ", "efore  ",
    "riginal Size", "nitial size", "nitial Size", "| PR ", "efore (", "(main)", "(Before",
    "(base", "efore** ", "used to take", "ld implementation:", "ew implementation:", "ld version:", "ew version:",
    "used to need", "ld = ", "efore = ", "aseline = ", "main = ", "ncached ", "ncached: ",
    " before, ", "/s before", "from taking ", "~~ ", "涨到", "增至", "升至", "Without ",
    "Old ", "Previous ", "Original ", "rom: ",
    "Main branch ",
    "\nBase ", "\nbase ", "\nMaster ", "\nmaster ", "\nmain ", "- before ", "- Before ", "# old", "\nBefore th", "\nBefore\n", "Relative |",
    "change: [", "# Old", "*Old*", "# Baseline", "ew size", "ew Size",
    *(f"{word}fold" for word in NUMBER_WORDS),
    "mal so schnell", "mal schneller", "降", "减少", "缩短", "から", "# Before", "*Before",
    "(old)", "to as low as ", "to as little as ", "it now ", "they now ", "\nwithout ",
    "ivided by ", "ivide ", "ivides ", "without it", "without the ", "without this ",
    "average of ", "median of ", "mean of ",
    "优化前", "修复前", "改善前", "変更前", "之前",
)  # fmt: skip


def _literals() -> list[str]:
    arrows_to = [
        f"{arrow} {word} " for arrow, word in product(ARROWS, ("now", "new", "after", "branch", "PR", "this PR", "warm", "hot", "cached"))
    ]
    prefixed = [f"{start}{sign}{digit}" for start, sign, digit in product((" ", "(", "*", "~", "\n"), ("x", "×"), _DIGITS)]
    numbers = [f"{digit}{sign}" for digit, sign in product((*_DIGITS, "+"), _BEHIND_A_DIGIT)]
    arrows = [f"{arrow}{gap}{start}" for arrow, gap, start in product(_BEFORE_A_NUMBER, ("", " "), _NUMBER_STARTS)]
    words = [f"{word}{gap}{start}" for word, gap, start in product(_WORDS_BEFORE_A_NUMBER, (" ", "\n"), _NUMBER_STARTS)]
    units = [f"{unit}{word}" for unit, word in product((*_UNITS, *_SECONDS, *_COUNTED), (" saved", " savings"))]
    leads = [f"{lead}{unit}" for lead, unit in product((*_DIGITS, " "), _UNITS)]
    units += [f"{unit}{word}" for unit, word in product((*leads, *_SECONDS), (" before", " (before"))]
    return sorted({*units, *arrows_to, *numbers, *prefixed, *arrows, *words, *_WORDS})


_LITERALS = _literals()
_BEGINNINGS = beginnings()
_AUTOMATON = Literals([*_LITERALS, *_BEGINNINGS])
_FOLLOWS = [*(None for _ in _LITERALS), *_BEGINNINGS.values()]


def signs(text: str) -> tuple[list[int], list[tuple[int, int, re.Pattern[str]]]]:
    """Where claims may be, in order.

    First the offsets of the last character of each sign of a number claimed, then the beginnings of phrases that claim without one:
    start, end, and what must follow.
    """
    numbers: list[int] = []
    begun: list[tuple[int, int, re.Pattern[str]]] = []
    for pattern, start, end in _AUTOMATON.find(text):
        follows = _FOLLOWS[pattern]
        if follows is None:
            numbers.append(end - 1)
        else:
            begun.append((start, end, follows))
    return numbers, begun
