"""What the words around an effect say about it: evidence, scope, hedge, whose number it is, and its subject."""

from __future__ import annotations

import re
from functools import lru_cache

from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.numbers.effect import Effect
from ingest.claims.words.vocabulary import (
    BEGINS,
    BULLETS,
    CITED,
    EMOJI,
    ESTIMATES,
    HEDGES,
    INPUTS,
    MEASURED,
    SCOPES,
    SEEN_ON,
    SWITCH,
    WHOLE,
)
from schemas.rows.claim import ClaimMetric, Evidence, Origin, Scope

_HEDGED_INSIDE = re.compile(rf"[~≈]|\b(?:{HEDGES})\s+[\d~]|\d\+(?![\d.])")
_HEDGED = re.compile(rf"(?:\b(?:{HEDGES})\s+|[~≈]\s?)(?:\w+\s)?[*_`(]*(?:\w+\s)?$")
_HEDGED_BEHIND = re.compile(r"\s*(?:\+|or (?:more|better|less))")


def is_hedged(effect: Effect, nearby: Surroundings) -> bool:
    """Whether a sign or word makes a number inexact."""
    if any(quantity.hedged for quantity in (effect.before, effect.after, effect.change) if quantity):
        return True
    return bool(_HEDGED_INSIDE.search(nearby.inside) or _HEDGED.search(nearby.just_before) or _HEDGED_BEHIND.match(nearby.right))


_ESTIMATES = re.compile(ESTIMATES)
_EXPECTED = re.compile(r"[^\w\n]*(?:expected|estimated|projected|potential|target|theoretical|anticipated|planned)\b")
_HINTS = ("xpected", "stimated", "rojected", "otential", "arget", "heoretical", "nticipated", "lanned")
"""The heading of expected results: `### Expected improvements`."""


@lru_cache(maxsize=2)
def _has_expectations(text: str) -> bool:
    return any(hint in text for hint in _HINTS)


_MEASURED = re.compile(MEASURED)
_SEEN_ON = re.compile(SEEN_ON)
_INPUTS = re.compile(INPUTS)
_TO_THE_DIGIT = re.compile(r"\d\.\d{4,}\s?s(?:ec(?:ond)?s?)?\b")
_TIMES = re.compile(r"\d\s?(?:ns|[µμ]s|ms|s|sec)\b")
_SECTION, _LINES, _CLAUSES = 600, 220, 120
"""How far from a number a word of evidence counts, in characters: a measurement for the whole section, a tool or machine for the
lines around, an input for the clauses around. For a factor alone, only the lines around count.
"""


def evidence_of(text: str, effect: Effect, nearby: Surroundings, figures: Evidence | None) -> Evidence:
    """What the number rests on. `figures` is the evidence of a pair elsewhere in the text with the same ratio."""
    if _ESTIMATES.search(nearby.left) or _ESTIMATES.search(nearby.inside) or _ESTIMATES.search(nearby.right, 0, 30):
        return Evidence.ESTIMATED
    if _has_expectations(text) and _EXPECTED.match(nearby.list_heading()):
        return Evidence.ESTIMATED
    if effect.is_pair:  # a table of figures is one of measurements
        return Evidence.BENCHMARKED if nearby.is_table or _is_measured(text, effect, nearby) else Evidence.FIGURES
    if figures:
        return figures
    if nearby.is_table:
        is_measured = bool(_MEASURED.search(nearby.left) or _TIMES.search(_line(text, effect)))
    else:
        is_measured = _is_measured(text, effect, nearby)
    return Evidence.BENCHMARKED if is_measured else Evidence.STATED


def _is_measured(text: str, effect: Effect, nearby: Surroundings) -> bool:
    """Whether the text says near the number, or in its title, how it was measured, or on an input of which size."""
    if _says_measured(nearby.title.lower):
        return True
    if _MEASURED.search(_near(text, effect, _SECTION if effect.is_pair else _LINES)):
        return True
    if _SEEN_ON.search(_near(text, effect, _LINES)) or _TO_THE_DIGIT.search(nearby.inside):
        return True
    before, after = text[max(0, effect.start - _CLAUSES) : effect.start].lower(), text[effect.end : effect.end + _CLAUSES].lower()
    return effect.is_pair and bool(_INPUTS.search(before) or _INPUTS.search(after))


@lru_cache(maxsize=16)
def _says_measured(title: str) -> bool:
    return _MEASURED.search(title) is not None


def _near(text: str, effect: Effect, reach: int) -> str:
    return text[max(0, effect.start - reach) : effect.end + reach].lower()


def _line(text: str, effect: Effect) -> str:
    start, end = text.rfind("\n", 0, effect.start) + 1, text.find("\n", effect.end)
    return text[start : end if end >= 0 else len(text)]


_SCOPES = re.compile(BEGINS + "(?:" + "|".join(f"(?P<{scope.name}>{words})" for scope, words in SCOPES.items()) + ")")
_WHOLE = re.compile(WHOLE)
_COMMAND = re.compile(r"`[\w./-]+ [^`\n]{1,50}`")
_NAME = re.compile(r"`[\w.:/]+(?:\(\))?`|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|\b\w+\(\)|\b[a-z]+_[a-z_]+\b|\b\w+\.\w+\.\w+\b")
"""A name as code has them."""


def scope_of(effect: Effect, metric: ClaimMetric, nearby: Surroundings) -> Scope:
    """How much of the software it covers: by a word for the whole, else by a name as in code, else by the nearest word of scope."""
    if _WHOLE.search(nearby.left[-60:]) or _WHOLE.search(nearby.right[:30]) or _WHOLE.search(nearby.inside):
        return Scope.END_TO_END
    if _COMMAND.search(nearby.raw_left[-60:]):
        return Scope.END_TO_END
    timed = _scope_of_time(effect)
    if timed:
        return timed
    if _NAME.search(nearby.raw_left[-50:]) or _NAME.match(nearby.raw_right.lstrip(" *for")):
        return Scope.MICRO if metric is not ClaimMetric.SIZE else Scope.END_TO_END  # a file that is named
    nearest = _last_scope(nearby.left[-120:]) or next(
        filter(None, map(_SCOPES.search, (nearby.right, nearby.inside, nearby.title.lower))), None
    )
    if nearest and nearest.lastgroup:
        return Scope[nearest.lastgroup]
    return Scope.MICRO if _NAME.search(nearby.title.raw) else _scope_of_metric(effect, metric)


def _last_scope(part: str) -> re.Match[str] | None:
    last = None
    for match in _SCOPES.finditer(part):
        last = match
    return last


_INSTANT, _NOTICEABLE, _LONG = 1e-3, 1.0, 5.0
"""Seconds. Below the first, only a piece of code is timed; from the second on, somebody waits; from the third on, it is the whole."""


_USUAL_SCOPE = {ClaimMetric.MEMORY: Scope.END_TO_END, ClaimMetric.SIZE: Scope.END_TO_END, ClaimMetric.OPERATIONS: Scope.COMPONENT}
"""The usual scope of a metric: memory of the process, size of the product, operations of a part."""


def _scope_of_metric(effect: Effect, metric: ClaimMetric) -> Scope:
    """The scope where no word says it: by metric and length of time; a factor alone stays open."""
    if metric is ClaimMetric.TIME and effect.before is not None:
        return Scope.END_TO_END if effect.before.in_base_units()[1] >= _NOTICEABLE else Scope.COMPONENT
    return _USUAL_SCOPE.get(metric, Scope.UNSPECIFIED)


def _scope_of_time(effect: Effect) -> Scope | None:
    """The scope that the length of a time implies."""
    if effect.before is None or effect.before.metric is not ClaimMetric.TIME:
        return None
    seconds = effect.before.in_base_units()[1]
    return Scope.MICRO if seconds < _INSTANT else Scope.END_TO_END if seconds >= _LONG else None


_CITED = re.compile(CITED)
_SWITCH = re.compile(SWITCH)


def origin_of(effect: Effect, nearby: Surroundings) -> Origin:
    """Whose number it is: the author's, unless the sentence quotes another's or takes up another's tool."""
    if effect.is_pair:
        return Origin.OWN
    return Origin.CITED if _CITED.search(nearby.left) or _SWITCH.match(nearby.left.lstrip("-*# ")) else Origin.OWN


_LABEL = re.compile(rf"[\s#>|{BULLETS}]*(?:\d+[.)]\s+)?[*_`{EMOJI}]*\s*(?P<label>[^:\n|]{{2,80}}?)[*_`]*:")
_FOR = re.compile(r"[\s*_`]*(?:for|of|in|on)\s+(?P<thing>(?:[^.,;:()\n]|\.(?=\w)){2,60})")


def subject_of(nearby: Surroundings) -> str | None:
    """The subject in the words of the text: what follows `for`, else the label of its line, else the words before it."""
    if behind := _FOR.match(nearby.raw_right):
        return _tidy(behind["thing"])
    left = nearby.raw_left[-100:]
    if label := _LABEL.match(left):
        return _tidy(label["label"])
    return _tidy(left[-80:].partition(" ")[2] if len(left) > 80 else left) or _tidy(nearby.title.raw)


_MARKDOWN = str.maketrans("", "", "*`")


def _tidy(words: str) -> str | None:
    """On one line, without Markdown."""
    return " ".join(words.translate(_MARKDOWN).split()).strip(" -–—•:|#>([,.~") or None
