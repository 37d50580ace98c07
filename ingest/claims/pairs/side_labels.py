"""Pairs with a label beside each figure: `4.8 s on main, 1.2 s with this PR`, `without cache: 4.8 s; with cache: 1.2 s`.

Or with the name of its side somewhere before or behind it: `the original loop took 9 s, the optimized loop took 3 s`.

A legend names both sides once, for all pairs that follow: `this head vs main: list 2 s vs 20 s, show 10 s vs 30 s`. The words are in
`words/labels.toml`.
"""

from __future__ import annotations

import re

from ingest.claims.numbers.effect import NAMED_SIDES, Effect, TwoFigures
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import ARROW, DECORATION, HEDGE
from ingest.claims.words.word_tables import alternation

_BASELINE_SIDE = rf"(?:the )?(?:{alternation('labels', 'baseline_legend')})(?: \w+)?"
_CANDIDATE_SIDE = rf"(?:(?:this|the|new|my) )?(?:{alternation('labels', 'candidate_legend')})(?: \w+)?"
_VERSUS = rf"[`*_]*\s?(?:vs\.?|versus|against|/|{ARROW}|compared (?:to|with))\s?[`*_]*"

CANDIDATE_FIRST = pattern(rf"\b{_CANDIDATE_SIDE}{_VERSUS}{_BASELINE_SIDE}\b[`*_]*\)?[:,]", re.IGNORECASE)
BASELINE_FIRST = pattern(rf"\b{_BASELINE_SIDE}{_VERSUS}{_CANDIDATE_SIDE}\b[`*_]*\)?[:,]", re.IGNORECASE)

_LEGEND_REACH = 300
"""Characters before a pair in which its legend is searched."""


def is_stated_above(two: TwoFigures, legend: re.Pattern[str]) -> bool:
    """Whether the legend, such as `main vs this PR:`, is before the pair in the same paragraph."""
    start = max(two.text.rfind("\n\n", 0, two.first.start), two.first.start - _LEGEND_REACH, 0)
    return legend.search(two.text, start, two.first.start) is not None


_BASELINE, _CANDIDATE = alternation("labels", "baseline_beside"), alternation("labels", "candidate_beside")
_VERBS = (
    r"(?:is|was|at|takes|took|taking|uses|used|using|needs|needed|needing|does|did|reaches|reached|hits|hit|sustains|sustained|holds|handles"
    r"|handled|gets|got|makes|made|(?:runs|ran|running|finishes|finished|completes|completed) in)"
)
_LABEL = rf"[`*_]*(?:\s?[:=]|\s[—–]|(?:,?\s(?:it|this|that))?(?:\s(?:only|just))?\s{_VERBS})?\s*"
_WITH = r"(?:\s[\w./`-]+){0,3}"

_BASELINE_LABEL = pattern(rf"\b(?:{_BASELINE}|without{_WITH}){_LABEL}{DECORATION}{HEDGE}$", re.IGNORECASE)
_CANDIDATE_LABEL = pattern(rf"\b(?:{_CANDIDATE}|pr|branch|head|with(?!out){_WITH}){_LABEL}{DECORATION}{HEDGE}$", re.IGNORECASE)
_SEPARATES = pattern(
    rf"[`*_)]*(?:\s[A-Za-z/-]{{2,12}})?(?:\s?[,;./|]|\s(?:and|vs\.?|versus)|\s{ARROW})\s+(?:and |vs\.? )?(?:on "
    rf"|in )?(?P<label>[^,;.\d]{{2,30}})$"
)

_BASELINE_BEHIND = pattern(rf"[`*_]*\s\(?(?:(?:on|in|at|with) )?(?:{_BASELINE}|without{_WITH})\b[`*_]*", re.IGNORECASE)
_WITHOUT_BEHIND = pattern(r"[*_`]*\swithout\b", re.IGNORECASE)
_CANDIDATE_BEHIND = pattern(
    rf"[`*_]*\s\(?(?:(?:(?:on|in|at|with) )?(?:{_CANDIDATE})|(?:on|in|at|for) [^.,;()\n\d]{{1,30}}? afterwards?)\b", re.IGNORECASE
)
_AND = pattern(rf"\)?[,;]?\s+(?:and |vs\.? |to |{ARROW} |/ )?{DECORATION}{HEDGE}")
_ASIDE = pattern(rf"[`*_]*(?:\s[a-z]+){{0,2}}(?:\s?\(|[,;]\s){DECORATION}{HEDGE}", re.IGNORECASE)
_BEFORE_AFTER = rf"\(?(?:before|old|main)\s?(?:/|{ARROW}|\bvs\.?)\s?(?:after|new|branch|pr|now)\)?"
_BOTH_BEFORE = pattern(rf"{_BEFORE_AFTER}{_LABEL}{DECORATION}{HEDGE}$", re.IGNORECASE)
_BOTH_BEHIND = pattern(rf"[`*_]*\s?{_BEFORE_AFTER}", re.IGNORECASE)
_SLASH = pattern(rf"[`*_]*\s?/\s?{DECORATION}{HEDGE}")


def by_side_labels(two: TwoFigures) -> Effect | None:
    """Two figures with labels before or behind them, `4.8 s on main, 1.2 s with this PR`; or `before/after: 4.8 s / 1.2 s`.

    The baseline figure may be the only one with a label, in brackets: `1.2 s (4.8 s on main)`.
    """
    if not two.has_units:
        return None
    if _SLASH.fullmatch(two.between):
        is_before_after = _BOTH_BEFORE.search(two.left) or _BOTH_BEHIND.match(two.text, two.second.end)
        if is_before_after or is_stated_above(two, BASELINE_FIRST):
            return two.baseline_first
        return two.candidate_first if is_stated_above(two, CANDIDATE_FIRST) else None
    return _by_labels(two) or _by_labels_behind(two)


_CLAUSE_JOINS = (
    r"[*_`)]*(?:\s?[,;.|/]|\s(?:and|but|while|whereas|vs\.?|versus|against|compared (?:to|with))|\s[-–—]"
    rf"|\s?{ARROW})\s+(?:(?:and|but|while|whereas|vs\.?|versus)\s)?"
)
_NAME_GOES_ON = (
    r"(?:\s(?!(?:and|to|than|compared|against|whereas|vs|versus|with|without|before|after|but|while|from|over|for|is|was|old|new|main|base(?:line)?)\b)"
    r"[`*_]*[A-Za-z][\w`*-]*){0,3}"
)
_NAMED = rf"{_NAME_GOES_ON}[`*_]*(?:\s?[:=(]|\s[—–-]|\s{_VERBS})?\s*(?:only\s)?{DECORATION}{HEDGE}$"
BASELINE_NAMES, CANDIDATE_NAMES = (
    f"{alternation('labels', f'{side}_legend')}|{alternation('labels', f'{side}_name')}" for side in ("baseline", "candidate")
)
_BASELINE_NAMES, _CANDIDATE_NAMES = f"{BASELINE_NAMES}|current", f"{CANDIDATE_NAMES}|current"
_NAMED_BASELINE = pattern(rf"\b(?:{_BASELINE_NAMES}){_NAMED}", re.IGNORECASE)
_NAMED_CANDIDATE = pattern(rf"\b(?:{_CANDIDATE_NAMES}){_NAMED}", re.IGNORECASE)
_THEN_BASELINE, _THEN_CANDIDATE = (
    pattern(rf"{_CLAUSE_JOINS}[`*_]*(?:(?:the|this|our|its|on|in|with)\s){{0,2}}[`*_]*(?:{names}){_NAMED}", re.IGNORECASE)
    for names in (_BASELINE_NAMES, _CANDIDATE_NAMES)
)
_OF_BASELINE, _OF_CANDIDATE = (
    pattern(
        rf"[`*_]*\s\(?(?:(?:on|in|at|with|for|using|by)\s)?(?:(?:the|this|our|its)\s)?[`*_]*(?:{names})\b{_NAME_GOES_ON}[`*_)]*",
        re.IGNORECASE,
    )
    for names in (_BASELINE_NAMES, _CANDIDATE_NAMES)
)
_THEN_FIGURE = pattern(rf"{_CLAUSE_JOINS}{DECORATION}{HEDGE}{DECORATION}")


def by_named_sides(two: TwoFigures) -> Effect | None:
    """`main 80 req/s vs branch 76 req/s`, `the original loop took 9 s, the optimized loop took 3 s`: a name for each figure.

    The names say which figure is the baseline, which `vs` alone, or a past tense, would take to be the second. `current` is the candidate
    beside `original`, and the baseline beside `optimized`.
    """
    if two.has_units:
        is_baseline_first = _are_named(two, _NAMED_BASELINE, _THEN_CANDIDATE) or _are_named_behind(two, _OF_BASELINE, _OF_CANDIDATE)
        is_candidate_first = _are_named(two, _NAMED_CANDIDATE, _THEN_BASELINE) or _are_named_behind(two, _OF_CANDIDATE, _OF_BASELINE)
        if is_baseline_first is not is_candidate_first:
            return (two.baseline_first if is_baseline_first else two.candidate_first)._replace(word=NAMED_SIDES)
    return _by_labels(two) if _VS.search(two.between) else None


def _are_named(two: TwoFigures, first: re.Pattern[str], second: re.Pattern[str]) -> bool:
    """Whether the names are before the figures: `the original loop took 9 s, the optimized loop took 3 s`."""
    return second.fullmatch(two.between) is not None and first.search(two.left) is not None


def _are_named_behind(two: TwoFigures, first: re.Pattern[str], second: re.Pattern[str]) -> bool:
    """Whether the names are behind the figures: `9 s with the original loop, 3 s with the optimized loop`, `3 s (new) vs 9 s (old)`."""
    name = first.match(two.between)
    return (
        name is not None
        and _THEN_FIGURE.fullmatch(two.between, name.end()) is not None
        and second.match(two.text, two.second.end) is not None
    )


_VS = pattern(r"\s(?:vs\.?|versus)\s", re.IGNORECASE)


def _by_labels(two: TwoFigures) -> Effect | None:
    """The labels are before the figures: `without cache: 4.8 s; with cache: 1.2 s`."""
    parted = _SEPARATES.match(two.between)
    if parted is None:
        return None
    if _BASELINE_LABEL.search(two.left) and _CANDIDATE_LABEL.fullmatch(parted["label"]):
        return two.baseline_first
    return two.candidate_first if _CANDIDATE_LABEL.search(two.left) and _BASELINE_LABEL.fullmatch(parted["label"]) else None


def _by_labels_behind(two: TwoFigures) -> Effect | None:
    """The labels are behind the figures: `4.8 s on main, 1.2 s with this PR`, `1.2 s (4.8 s on main)`."""
    text, end = two.text, two.second.end
    if (baseline := _BASELINE_BEHIND.match(two.between)) and _AND.fullmatch(two.between, baseline.end()):
        return two.baseline_first if _CANDIDATE_BEHIND.match(text, end) else None
    candidate_label = _CANDIDATE_BEHIND.match(two.between)
    if candidate_label is None and _WITHOUT_BEHIND.match(text, end) and two.second.scaled() < two.first.scaled():
        return None  # `10 s (5 s without the checks)`: a possible saving, not a baseline
    joins = _AND.fullmatch(two.between, candidate_label.end()) if candidate_label else _ASIDE.fullmatch(two.between)
    return two.candidate_first if joins and _BASELINE_BEHIND.match(text, end) else None
