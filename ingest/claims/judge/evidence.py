"""Evidence, hedge, origin and subject of a claim, from the words around its effect."""

from __future__ import annotations

from functools import lru_cache

from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.numbers.effect import Effect
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import (
    BULLETS,
    CITED,
    EMOJI,
    ESTIMATES,
    HEDGES,
    INPUTS,
    MEASURED,
    SEEN_ON,
    SWITCH,
)
from schemas.rows.claim import ClaimMetric, Evidence, Origin

_HEDGED_INSIDE = pattern(rf"[~≈]|\b(?:{HEDGES})\s+[\d~]|\d\+(?![\d.])")
_HEDGED = pattern(rf"(?:\b(?:{HEDGES})\s+|[~≈]\s?)(?:\w+\s)?[*_`(]*(?:\w+\s)?$")
_HEDGED_BEHIND = pattern(r"\s*(?:\+|or (?:more|better|less))")


def is_hedged(effect: Effect, nearby: Surroundings) -> bool:
    """Whether the number is inexact: `~3x`, `about 3x`, `up to 3x`, `3x or more`, `3x+`."""
    if any(quantity.hedged for quantity in (effect.before, effect.after, effect.change) if quantity):
        return True
    return bool(_HEDGED_INSIDE.search(nearby.inside) or _HEDGED.search(nearby.just_before) or _HEDGED_BEHIND.match(nearby.right))


_ESTIMATES = pattern(ESTIMATES)
_EXPECTED = pattern(r"[^\w\n]*(?:expected|estimated|projected|potential|target|theoretical|anticipated|planned)\b")
_HINTS = ("xpected", "stimated", "rojected", "otential", "arget", "heoretical", "nticipated", "lanned")
"""Parts of the words of `_EXPECTED`, as in the heading `### Expected improvements`: a cheap test of the whole text."""


@lru_cache(maxsize=2)
def _has_expectations(text: str) -> bool:
    """Whether the text has any word of expectation; cached, since every effect of a text asks."""
    return any(hint in text for hint in _HINTS)


_MEASURED = pattern(MEASURED)
_SEEN_ON = pattern(SEEN_ON)
_INPUTS = pattern(INPUTS)
_RAN = pattern(
    r"\b(?:benchmark(?:s|ing)? (?:script |test |run )?(?:results?|shows?|showed|completed|confirm\w*|demonstrat\w*|verif\w*|were run"
    r"|validat\w*|output|on|with|of|across|against)|verification benchmark|micro-?benchmark\w*|bench_scratch|benchmarked"
    r"|(?:ran|run|running|re-ran) (?:the |a |my )?(?:\w+ )?benchmarks?|measured (?:with|by|on|using))\b"
)
"""Words by which a report says that benchmarks of its changes were run: they hold for all of its figures."""

_TIMES = pattern(r"\d\s?(?:ns|[µμ]s|ms|s|sec)\b")
_SECTION, _LINES, _CLAUSES = 600, 220, 120
"""Characters around a number in which a word of evidence applies to it: of a measurement in its section, of a tool or machine in the lines
around, of an input in the clauses around. For a change without figures, a measurement too counts only in the lines around.
"""


def evidence_of(text: str, effect: Effect, nearby: Surroundings, metric: ClaimMetric, figures: Evidence | None) -> Evidence:
    """The evidence of an effect. `figures` is that of a pair elsewhere in the text that agrees with it, None without one.

    In this order: words of expectation (`estimated`), words of measurement or a table of other figures than sizes (`benchmarked`), figures,
    else `stated`.
    """
    if _is_expected(nearby):
        return Evidence.ESTIMATED
    if _has_expectations(text) and _EXPECTED.match(nearby.list_heading()):
        return Evidence.ESTIMATED
    if effect.is_pair:
        is_measured = (nearby.is_table and metric is not ClaimMetric.SIZE) or _is_measured(text, effect, nearby)
        return Evidence.BENCHMARKED if is_measured else Evidence.FIGURES
    if figures:
        return figures
    if nearby.is_table:
        is_measured = bool(_MEASURED.search(nearby.left) or _TIMES.search(_table_around(text, effect)))
    else:
        is_guess = effect.change is not None and effect.change.is_range and _IMPACT.match(nearby.left)
        is_measured = not is_guess and _is_measured(text, effect, nearby)
    return Evidence.BENCHMARKED if is_measured else Evidence.STATED


def _is_expected(nearby: Surroundings) -> bool:
    """Whether words around the number say that it is expected; in a table, header cells and row label that begin with one."""
    if nearby.is_table:
        return any(map(_EXPECTED.match, nearby.left.split(" | "))) or _ESTIMATES.search(nearby.inside) is not None
    return bool(_ESTIMATES.search(nearby.left) or _ESTIMATES.search(nearby.inside) or _ESTIMATES.search(nearby.right, 0, 30))


_IMPACT = pattern(r"[\s*_`•-]*(?:expected |overall )?(?:impact|benefits?|gains?)\b[*_`]*:")
"""`**Impact**: 2-4% gain`: the word of its author, in a report that measures other things."""


def _is_measured(text: str, effect: Effect, nearby: Surroundings) -> bool:
    """Whether the title, or the text near the number, says how it was measured: benchmark, tool, machine, or the size of the input."""
    if _says_measured(nearby.title.lower) or _says_ran(text):
        return True
    if _MEASURED.search(_near(text, effect, _SECTION if effect.is_pair else _LINES)):
        return True
    if _SEEN_ON.search(_near(text, effect, _LINES)):
        return True
    if not effect.is_pair:
        return _INPUTS.search(nearby.left) is not None
    before, after = text[max(0, effect.start - _CLAUSES) : effect.start].lower(), text[effect.end : effect.end + _CLAUSES].lower()
    return bool(_INPUTS.search(before) or _INPUTS.search(after))


@lru_cache(maxsize=16)
def _says_measured(title: str) -> bool:
    """Whether the title has a word of measurement; cached, since every effect of a text asks."""
    return _MEASURED.search(title) is not None


@lru_cache(maxsize=2)
def _says_ran(text: str) -> bool:
    """Whether the text says anywhere that benchmarks were run; cached, since every effect of a text asks."""
    return _RAN.search(text.lower()) is not None


def _near(text: str, effect: Effect, reach: int) -> str:
    """The text around the effect, `reach` characters on both sides, in lower case."""
    return text[max(0, effect.start - reach) : effect.end + reach].lower()


_MOST_ROWS = 30


def _table_around(text: str, effect: Effect) -> str:
    """The line of the effect with the rows of its table above and below it, 30 at most each."""
    start, end = text.rfind("\n", 0, effect.start) + 1, text.find("\n", effect.end)
    end = end if end >= 0 else len(text)
    for _ in range(_MOST_ROWS):
        above = text.rfind("\n", 0, max(0, start - 1)) + 1
        if not start or "|" not in text[above : start - 1]:
            break
        start = above
    for _ in range(_MOST_ROWS):
        below = text.find("\n", end + 1)
        below = below if below >= 0 else len(text)
        if "|" not in text[end + 1 : below]:
            break
        end = below
    return text[start:end]


_CITED = pattern(CITED)
_SWITCH = pattern(SWITCH)


def origin_of(effect: Effect, nearby: Surroundings) -> Origin:
    """`own`, or `cited` if the sentence quotes another project's number or begins with adopting its tool (`Switch to …`)."""
    if effect.is_pair:
        return Origin.OWN
    return Origin.CITED if _CITED.search(nearby.left) or _SWITCH.match(nearby.left.lstrip("-*# ")) else Origin.OWN


_LABEL = pattern(rf"[\s#>|{BULLETS}]*(?:\d+[.)]\s+)?[*_`{EMOJI}]*\s*(?P<label>[^:\n|]{{2,80}}?)[*_`]*:")
_FOR = pattern(r"[\s*_`]*(?:for|of|in|on)\s+(?P<thing>(?:[^.,;:()\n]|\.(?=\w)){2,60})")


def subject_of(nearby: Surroundings) -> str | None:
    """The subject in the words of the text: those behind `for`, else the label of the line, else the words before, else the title."""
    if behind := _FOR.match(nearby.raw_right):
        return _tidy(behind["thing"])
    left = nearby.raw_left[-100:]
    if label := _LABEL.match(left):
        return _tidy(label["label"])
    return _tidy(left[-80:].partition(" ")[2] if len(left) > 80 else left) or _tidy(nearby.title.raw)


_MARKDOWN = str.maketrans("", "", "*`")


def _tidy(words: str) -> str | None:
    """The words on one line, without Markdown and punctuation at their ends; None if none are left."""
    return " ".join(words.translate(_MARKDOWN).split()).strip(" -–—•:|#>([,.~") or None
