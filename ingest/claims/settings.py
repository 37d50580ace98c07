"""Pairs of figures that are no performance: timeouts, limits and intervals that were set, conditions, and errors that were corrected."""

from __future__ import annotations

import re

from ingest.claims.around import Around
from ingest.claims.effect import Effect
from ingest.claims.lexicon import METRICS, SETTINGS
from ingest.claims.quantities import Quantity
from schemas.claim import ClaimMetric

_SETTINGS = re.compile(SETTINGS)
_AFTERWARDS = 25
"""Characters behind a figure in which a word is taken to be that of the figure."""

_BRACKET = re.compile(r"\([^()]{0,80}\)|`[^`=\n]{1,40}=[^`\n]{1,40}`")
"""What stands in brackets, and arguments: neither says what the figures are of."""

_CORRECTED = re.compile(r"[\s(\[]*fixed\b")
_EVERY = re.compile(r"\b(?:every|each|once per|kept|keeps?|for up to)\s+[*_`~]*$")
_CONDITION = re.compile(r"\b(?:if|whenever|once|as soon as)\s+(?:the\s+|an?\s+)?(?:\w+\s+){1,3}$")
_DIFFSTAT = re.compile(r"\| bin $")
_RAISED = re.compile(r"\b(?:rais|bump|extend|widen|enlarg)\w*\s+(?:[\w./`-]+\s+){0,4}$|^\W*(?:\[[^\]]*\]\s*)?increas\w*\b")
_TIME = re.compile(rf"(?<![a-z])(?:{METRICS[ClaimMetric.TIME]})|regress|cost")
_REDUCED = re.compile(r"(?:reduc|lower|decreas|shorten)\w*[\s*_`]*$")


def is_a_setting(effect: Effect, around: Around) -> bool:
    """Whether the figures are of a setting, a condition or a corrected error."""
    if _CORRECTED.match(around.right) or _SETTINGS.search(around.right[:_AFTERWARDS]):
        return True
    if _DIFFSTAT.search(around.near) or (effect.is_pair and _RAISED.search(around.left) and _is_of_setting(effect, around)):
        return True
    if _EVERY.search(around.left) or (effect.is_pair and _CONDITION.search(around.left)) or _grows_like_a_setting(effect, around):
        return True
    before = f"{around.sentence[-120:]} {around.inside}"
    return bool(_SETTINGS.search(_BRACKET.sub("", before) if "(" in before or "`" in before else before))


def _is_of_setting(effect: Effect, around: Around) -> bool:
    """Whether it is bare numbers, or a time that nobody says is spent: who raises those changes a setting."""
    if _TIME.search(around.left):
        return False
    return all(figure.metric in (None, ClaimMetric.TIME) for figure in (effect.before, effect.after) if figure)


def _grows_like_a_setting(effect: Effect, around: Around) -> bool:
    """Whether a time was reduced to more, or went from one round figure to another above it with no word that it is spent."""
    before, after = effect.before, effect.after
    if before is None or after is None or before.metric is not ClaimMetric.TIME or after.sized()[0] <= before.sized()[1]:
        return False
    if _REDUCED.search(around.left):  # `reduced from 1s to 5s` is of how often something happens
        return True
    is_told = around.is_table or effect.change or effect.swaps or any(map(_TIME.search, (around.left[-100:], around.inside, around.right)))
    return not is_told and _is_round(before) and _is_round(after)


def _is_round(figure: Quantity) -> bool:
    """Whether it is a number that people set, and seldom one that is measured."""
    return figure.low == figure.high == int(figure.low) and (figure.low < 10 or figure.low % 5 == 0 or figure.low % 12 == 0)
