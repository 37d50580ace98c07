"""What the words around an effect say of it: evidence, scope, hedge, whose number it is, and its subject."""

from __future__ import annotations

import re
from functools import lru_cache

from ingest.claims.judge.surroundings import Around
from ingest.claims.numbers.effect import Effect
from ingest.claims.words.change_words import BEGINS, HEDGES
from ingest.claims.words.context_words import CITED, ESTIMATES, INPUTS, MEASURED, SCOPES, SEEN_ON, SWITCH, WHOLE
from ingest.claims.words.regex_parts import BULLETS, SIGNS
from schemas.rows.claim import ClaimMetric, Evidence, Origin, Scope

_HEDGED_INSIDE = re.compile(rf"[~≈]|\b(?:{HEDGES})\s+[\d~]|\d\+(?![\d.])")
_HEDGED = re.compile(rf"(?:\b(?:{HEDGES})\s+|[~≈]\s?)(?:\w+\s)?[*_`(]*(?:\w+\s)?$")
_HEDGED_BEHIND = re.compile(r"\s*(?:\+|or (?:more|better|less))")


def is_hedged(effect: Effect, around: Around) -> bool:
    """Whether a sign or word makes a number inexact."""
    if any(quantity.hedged for quantity in (effect.before, effect.after, effect.change) if quantity):
        return True
    return bool(_HEDGED_INSIDE.search(around.inside) or _HEDGED.search(around.near) or _HEDGED_BEHIND.match(around.right))


_ESTIMATES = re.compile(ESTIMATES)
_EXPECTED = re.compile(r"[^\w\n]*(?:expected|estimated|projected|potential|target|theoretical|anticipated|planned)\b")
_HINTS = ("xpected", "stimated", "rojected", "otential", "arget", "heoretical", "nticipated", "lanned")
"""The heading of what is not yet seen: `### Expected improvements`."""


@lru_cache(maxsize=2)
def _has_expectations(text: str) -> bool:
    return any(hint in text for hint in _HINTS)


_MEASURED = re.compile(f"{MEASURED}|计测|測|测试(?:结果|环境|数据|表明|显示|报告)|基准测试|压测|实测")
_SEEN_ON = re.compile(SEEN_ON)
_INPUTS = re.compile(INPUTS)
_TO_THE_DIGIT = re.compile(r"\d\.\d{4,}\s?s(?:ec(?:ond)?s?)?\b")
_TIMES = re.compile(r"\d\s?(?:ns|[µμ]s|ms|s|sec)\b")
_SECTION, _LINES, _CLAUSES = 600, 220, 120
"""Characters around a number in which a word on how it came about is taken to be of it: measuring is told once for a section, a tool or
machine with its figures, an input beside them. A factor alone has only its lines."""


def evidence_of(text: str, effect: Effect, around: Around, figures: Evidence | None) -> Evidence:
    """What the number rests on. `figures` is the evidence of the pair elsewhere in the text that says the same."""
    if _ESTIMATES.search(around.left) or _ESTIMATES.search(around.inside) or _ESTIMATES.search(around.right, 0, 30):
        return Evidence.ESTIMATED
    if _has_expectations(text) and _EXPECTED.match(around.lead()):
        return Evidence.ESTIMATED
    if effect.is_pair:  # a table of figures is one of measurements
        return Evidence.BENCHMARKED if around.is_table or _is_measured(text, effect, around) else Evidence.FIGURES
    if figures:
        return figures
    if around.is_table:
        is_measured = bool(_MEASURED.search(around.left) or _TIMES.search(_line(text, effect)))
    else:
        is_measured = _is_measured(text, effect, around)
    return Evidence.BENCHMARKED if is_measured else Evidence.STATED


def _is_measured(text: str, effect: Effect, around: Around) -> bool:
    """Whether the text says near the number, or in its title, how it came about, or on what input of which size."""
    if _says_measured(around.title.lower):
        return True
    if _MEASURED.search(_near(text, effect, _SECTION if effect.is_pair else _LINES)):
        return True
    if _SEEN_ON.search(_near(text, effect, _LINES)) or _TO_THE_DIGIT.search(around.inside):
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


def scope_of(effect: Effect, metric: ClaimMetric, around: Around) -> Scope:
    """How much of the software it covers: a word for the whole, a name as in code, else the nearest word that says so."""
    if _WHOLE.search(around.left[-60:]) or _WHOLE.search(around.right[:30]) or _WHOLE.search(around.inside):
        return Scope.END_TO_END
    if _COMMAND.search(around.raw_left[-60:]):
        return Scope.END_TO_END
    timed = _by_size(effect)
    if timed:
        return timed
    if _NAME.search(around.raw_left[-50:]) or _NAME.match(around.raw_right.lstrip(" *for")):
        return Scope.MICRO if metric is not ClaimMetric.SIZE else Scope.END_TO_END  # a file that is named
    nearest = _last_scope(around.left[-120:]) or next(
        filter(None, map(_SCOPES.search, (around.right, around.inside, around.title.lower))), None
    )
    if nearest and nearest.lastgroup:
        return Scope[nearest.lastgroup]
    return Scope.MICRO if _NAME.search(around.title.raw) else _by_metric(effect, metric)


def _last_scope(part: str) -> re.Match[str] | None:
    last = None
    for match in _SCOPES.finditer(part):
        last = match
    return last


_INSTANT, _NOTICEABLE, _LONG = 1e-3, 1.0, 5.0
"""Seconds: below the one only a piece of code is timed, from the other on somebody waits."""


_USUAL = {ClaimMetric.MEMORY: Scope.END_TO_END, ClaimMetric.SIZE: Scope.END_TO_END, ClaimMetric.OPERATIONS: Scope.COMPONENT}
"""What a figure is usually taken of: memory of the process, size of the product, operations of a part."""


def _by_metric(effect: Effect, metric: ClaimMetric) -> Scope:
    """What is left to go by where no word tells; a lone factor stays open."""
    if metric is ClaimMetric.TIME and effect.before is not None:
        return Scope.END_TO_END if effect.before.sized()[1] >= _NOTICEABLE else Scope.COMPONENT
    return _USUAL.get(metric, Scope.UNSPECIFIED)


def _by_size(effect: Effect) -> Scope | None:
    """What the length of a time tells of its subject."""
    if effect.before is None or effect.before.metric is not ClaimMetric.TIME:
        return None
    seconds = effect.before.sized()[1]
    return Scope.MICRO if seconds < _INSTANT else Scope.END_TO_END if seconds >= _LONG else None


_CITED = re.compile(CITED)
_SWITCH = re.compile(SWITCH)


def origin_of(effect: Effect, around: Around) -> Origin:
    """Whose number it is: one's own unless the sentence quotes another's or takes up another's tool for it."""
    if effect.is_pair:
        return Origin.OWN
    return Origin.CITED if _CITED.search(around.left) or _SWITCH.match(around.left.lstrip("-*# ")) else Origin.OWN


_LABEL = re.compile(rf"[\s#>|{BULLETS}]*(?:\d+[.)]\s+)?[*_`{SIGNS}]*\s*(?P<label>[^:\n|]{{2,80}}?)[*_`]*:")
_FOR = re.compile(r"[\s*_`]*(?:for|of|in|on)\s+(?P<thing>(?:[^.,;:()\n]|\.(?=\w)){2,60})")


def subject_of(around: Around) -> str | None:
    """What the claim is about, in the words of the text: the label of its line, what follows `for`, or the words before."""
    if behind := _FOR.match(around.raw_right):
        return _tidy(behind["thing"])
    left = around.raw_left[-100:]
    if label := _LABEL.match(left):
        return _tidy(label["label"])
    return _tidy(left[-80:].partition(" ")[2] if len(left) > 80 else left) or _tidy(around.title.raw)


_MARKDOWN = str.maketrans("", "", "*`")


def _tidy(words: str) -> str | None:
    """On one line, without Markdown."""
    return " ".join(words.translate(_MARKDOWN).split()).strip(" -–—•:|#>([,.~") or None
