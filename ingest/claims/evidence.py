"""The words around an effect, cut once for everything that judges it.

And evidence, hedge, origin and subject by these words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cache, lru_cache
from re import MULTILINE, Pattern
from typing import NamedTuple

from ingest.claims.numbers import Effect
from ingest.claims.search import Passage
from ingest.claims.words import BULLETS, ESTIMATES, MEASURED, TAGS, any_of, needed, whole_words
from ingest.literals import LiteralSearch, pattern
from schemas.claims import ClaimMetric, Evidence, Origin

_LEFT, _RIGHT, _NEAR = 160, 60, 24

_SENTENCE = pattern(rf"[.;!?\n](?:(?<!\n)\s|(?<=\n)[ \t]*(?:(?:[{BULLETS}]|\d+[.)])[ \t]|\n))")
"""The end of a sentence. It begins with a class, so that `re` skips ahead."""


class Title(NamedTuple):
    """The first line of a text: in lower case, as written, and its end."""

    lower: str
    raw: str
    end: int


class Around(NamedTuple):
    """The words around an effect, in lower case; those of the `raw_` fields as written."""

    left: str
    """The sentence before it, starting after the previous effect; in a table the caption, row label
    and header cells, separated by bars.
    """
    inside: str
    right: str
    """The sentence behind it, up to the next effect; in a table the rest of its cell."""
    near: str
    """A few characters before it, also across sentences."""
    sentence: str
    """The sentence before it, with other effects."""
    raw_left: str
    raw_right: str
    title: Title
    is_table: bool
    text: str
    start: int
    """The whole text, and the offset of the effect in it."""

    def heading(self) -> str:
        """Return the nearest heading above in lower case.

        A Markdown heading, a bold line, or a line that ends with a colon.
        """
        return _heading(self.text, self.text.rfind("\n", 0, self.start) + 1)


_HEADING = pattern(
    (
        r"[ \t]*#{1,6}[ \t]|[^\n]{2,300}:[*_]{0,2}[ \t]*$|[ \t]*(?:\*\*|__)[^\n]{2,"
        r"80}(?:\*\*|__)[ \t]*$"
    ),
    MULTILINE,
)
_LINES_ABOVE = 14
"""Lines above the effect that are searched for its heading."""


@lru_cache(maxsize=64)
def _heading(text: str, start: int) -> str:
    for _ in range(_LINES_ABOVE):
        if start <= 0:
            break
        above = text.rfind("\n", 0, start - 1) + 1
        if _HEADING.match(text, above, start - 1):
            return text[max(above, start - 121) : start - 1].lower()
        start = above
    return ""


@lru_cache(maxsize=4)
def lowered(text: str) -> str:
    """Return the text in lower case, with the same offsets."""
    return text.replace("İ", "i").lower()  # the only character that has two in lower case


_NEEDED = {
    "setting": needed("not_claims", "settings"),
    "measured": needed("evidence", "measured"),
    "seen on": needed("evidence", "tools", "machines"),
}
"""Expressions that match only where one of these words is."""


@cache
def _search() -> tuple[LiteralSearch, list[tuple[str, str, bool | None]]]:
    """Return the search for all words that matter around a claim.

    Each word has its tag and whether it must be whole; None is anywhere.
    """
    known: list[tuple[str, str, bool | None]] = [
        (word, tag, None) for tag, words in _NEEDED.items() for word in words
    ]
    known += [
        (word.rstrip("."), tag, word.endswith(".")) for tag, words in TAGS.items() for word in words
    ]
    return LiteralSearch([word for word, _, _ in known]), known


@lru_cache(maxsize=16)
def tagged(lower: str) -> dict[str, list[int]]:
    """Return the offsets of each tag's words in a lower-case text, in order, by one search."""
    search, known = _search()
    found: dict[str, list[int]] = defaultdict(list)
    for index, start, end in search.find(lower, overlapping=True):
        _, tag, is_whole = known[index]
        if is_whole is None or not (
            (start and lower[start - 1].isalpha()) or (is_whole and lower[end : end + 1].isalnum())
        ):
            found[tag].append(start)
    for offsets in found.values():
        offsets.sort()
    return dict(found)


def title_of(text: str) -> Title:
    """Return the first line of the text that is not blank."""
    start = len(text) - len(text.lstrip()) if text[:1].isspace() else 0
    end = text.find("\n", start)
    raw = text[start : min(end if end >= 0 else len(text), start + 200)]
    return Title(raw.lower(), raw, start + len(raw))


def around(
    text: str, effect: Effect, passage: Passage, low: int, high: int, title: Title
) -> Around:
    """Return the words around an effect of running text.

    They lie between the offsets `low` and `high` of its neighbours.
    """
    left = effect.labels or _last_sentence(text[max(low, effect.start - _LEFT) : effect.start])
    right = _SENTENCE.split(text[effect.end : min(high, effect.end + _RIGHT)], maxsplit=1)[0]
    if effect.labels:  # its line has a label, and so has the next one
        right = right.partition("\n")[0]
    near = text[max(0, effect.start - _NEAR) : effect.start].lower()
    lower, inside = left.lower(), text[effect.start : effect.end].lower()
    whole = (
        lower
        if low == passage.start
        else _last_sentence(text[max(passage.start, effect.start - _LEFT) : effect.start]).lower()
    )
    return Around(
        lower,
        inside,
        right.lower(),
        near,
        whole,
        left,
        right,
        title,
        is_table=False,
        text=text,
        start=effect.start,
    )


def in_table(text: str, effect: Effect, caption: str, title: Title) -> Around:
    """Return the words around an effect of a table.

    The line above the table, the label of its row and its header cells.
    """
    lower, inside = caption.lower(), text[effect.start : effect.end].lower()
    return Around(
        lower,
        inside,
        "",
        "",
        lower,
        caption,
        "",
        title,
        is_table=True,
        text=text,
        start=effect.start,
    )


def _last_sentence(part: str) -> str:
    return _SENTENCE.split(part)[-1]


# --- what they say

_HEDGES = any_of("evidence", "hedges")
_HEDGED_INSIDE = pattern(rf"[~≈]|\b(?:{_HEDGES})\s+[\d~]|\d\+(?![\d.])")
_HEDGED = pattern(rf"(?:\b(?:{_HEDGES})\s+|[~≈]\s?)[*_`(]*(?:\w+\s)?$")


def is_hedged(effect: Effect, around: Around) -> bool:
    """Return whether a sign or word makes a number inexact.

    `~3x`, `about 3x`, `up to 3x`, `3x or more`, `3x+`.
    """
    if any(
        quantity.hedged for quantity in (effect.before, effect.after, effect.change) if quantity
    ):
        return True
    if around.right.lstrip().startswith(("+", "or more", "or better", "or less")):
        return True
    return bool(_HEDGED_INSIDE.search(around.inside) or _HEDGED.search(around.near))


_ESTIMATES = pattern(ESTIMATES)
_EXPECTED = pattern(
    r"[^\w\n]*(?:expected|estimated|projected|potential|target|theoretical|anticipated|planned)\b"
)
_MEASURED = pattern(MEASURED)
_SEEN_ON = pattern(whole_words("evidence", "tools", "machines"))
_INPUTS = pattern(any_of("evidence", "inputs"))
_RAN = pattern(
    r"\b(?:benchmark(?:s|ing)? (?:script |test |run "
    r")?(?:results?|shows?|showed|completed|confirm\w*|demonstrat\w*|verif\w*|were run"
    r"|validat\w*|output|on|with|of|across|against)|verification "
    r"benchmark|micro-?benchmark\w*|bench_scratch|benchmarked"
    r"|(?:ran|run|running|re-ran) (?:the |a |my )?(?:\w+ )?benchmarks?|measured "
    r"(?:with|by|on|using))\b"
)
"""Words that say that benchmarks of the changes were run: they apply to all figures of the report.
"""

_SECTION, _LINES, _CLAUSES = 600, 220, 120
"""Distance in characters at which a word of evidence applies to a number: a measurement in its
section, a tool or machine in the lines around, an input in the clauses around. For a change without
figures, a measurement must be in the lines around, too.
"""


def evidence_of(
    text: str, effect: Effect, around: Around, metric: ClaimMetric, figures: Evidence | None
) -> Evidence:
    """Return the evidence of an effect.

    `figures` is that of a pair elsewhere in the text that agrees with it, if any.

    In this order: words of expectation (`estimated`), words of measurement or a table of timings
    (`benchmarked`), figures, else `stated`.
    """
    if around.is_table:
        is_expected = any(map(_EXPECTED.match, around.left.split(" | "))) or _ESTIMATES.search(
            around.inside
        )
    else:
        is_expected = (
            _ESTIMATES.search(around.left)
            or _ESTIMATES.search(around.inside)
            or _ESTIMATES.search(around.right, 0, 30)
        )
    if is_expected or _EXPECTED.match(around.heading()):
        return Evidence.ESTIMATED
    if effect.is_pair:
        is_measured = (around.is_table and metric is not ClaimMetric.SIZE) or _is_measured(
            text, effect, around
        )
        return Evidence.BENCHMARKED if is_measured else Evidence.FIGURES
    if figures:
        return figures
    is_measured = (
        _MEASURED.search(around.left) is not None
        if around.is_table
        else _is_measured(text, effect, around)
    )
    return Evidence.BENCHMARKED if is_measured else Evidence.STATED


def _is_measured(text: str, effect: Effect, around: Around) -> bool:
    """Return whether the title, or the text near the number, says how it was measured.

    Benchmark, tool, machine, or input size.
    """
    lower, start, end = lowered(text), effect.start, effect.end
    if _says_ran(text, around.title.lower):
        return True
    reach = _SECTION if effect.is_pair else _LINES
    if _says("measured", _MEASURED, lower, start - reach, end + reach) or _says(
        "seen on", _SEEN_ON, lower, start - _LINES, end + _LINES
    ):
        return True
    if not effect.is_pair:
        return _INPUTS.search(around.left) is not None
    return bool(
        _INPUTS.search(lower, max(0, start - _CLAUSES), start)
        or _INPUTS.search(lower, end, end + _CLAUSES)
    )


def _says(tag: str, words: Pattern[str], lower: str, low: int, high: int) -> bool:
    """Return whether the words match between `low` and `high`.

    A match has a word of the tag, so only around these it is searched.
    """
    offsets = tagged(lower).get(tag, ())
    return any(
        words.search(lower, max(0, low, at - _PHRASE), min(high, at + _PHRASE))
        for at in offsets[bisect_left(offsets, low) : bisect_left(offsets, high)]
    )


_PHRASE = 32
"""More characters than any phrase of measurement, tool or machine has."""


@lru_cache(maxsize=4)
def _says_ran(text: str, title: str) -> bool:
    """Return whether the title speaks of a measurement, or the text of benchmarks that were run."""
    lower = lowered(text)
    if "measured" in tagged(lower) and _MEASURED.search(title):
        return True
    return ("bench" in lower or "easured " in text) and any(
        _RAN.search(line) for line in lower.split("\n") if "bench" in line or "measured " in line
    )


_CITED = pattern(whole_words("evidence", "cited"))


def origin_of(effect: Effect, around: Around) -> Origin:
    """Return `cited` if the sentence quotes another project's number, else `own`."""
    if effect.is_pair:
        return Origin.OWN
    return Origin.CITED if _CITED.search(around.left) else Origin.OWN


_LABEL = pattern(rf"[\s#>|{BULLETS}]*(?:\d+[.)]\s+)?[*_`]*\s*(?P<label>[^:\n|]{{2,80}}?)[*_`]*:")
_FOR = pattern(r"[\s*_`]*(?:for|of|in|on)\s+(?P<thing>(?:[^.,;:()\n]|\.(?=\w)){2,60})")


def subject_of(around: Around) -> str | None:
    """Return the subject from the words behind `for`, the label, the words before, or the title.

    The first that exists counts. The label is that of the line.
    """
    if behind := _FOR.match(around.raw_right):
        return _tidy(behind["thing"])
    left = around.raw_left[-100:]
    if label := _LABEL.match(left):
        return _tidy(label["label"])
    return _tidy(left[-80:].partition(" ")[2] if len(left) > 80 else left) or _tidy(
        around.title.raw
    )


_MARKDOWN = str.maketrans("", "", "*`")


def _tidy(words: str) -> str | None:
    """Return the words on one line, without Markdown and punctuation at their ends.

    None if none are left.
    """
    return " ".join(words.translate(_MARKDOWN).split()).strip(" -–—•:|#>([,.~") or None
