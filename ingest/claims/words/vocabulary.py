"""The word tables as pieces of regular expressions, and the pieces that several rules share.

Words match at the start of a word and case-insensitively. The tables are closed on purpose: a word that is in none makes no claim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from ingest.claims.patterns import pattern
from ingest.claims.words.word_tables import alternation, table
from ingest.claims.words.word_tables import words as listed
from schemas.rows.claim import ClaimMetric, Scope


class Sense(Enum):
    """The meaning of a word of comparison for the quantity."""

    GAIN = "better: `3x faster`"
    LOSS = "worse: `3x slower`"
    FALL = "less: `40% fewer`"
    RISE = "more: `40% higher`"
    SHARE = "the remaining share: `to 25% of the original`"


BEGINS = r"(?<![A-Za-z])(?=[\w`|/$])"
"""Where a word or symbol can begin. Tested before a long alternation, it saves a third of the time."""


def whole_words(*alternatives: str) -> str:
    """An alternation of words or stems, each at the start of a word."""
    return rf"{BEGINS}(?:{'|'.join(alternatives)})"


def longest_first(literals: list[str]) -> str:
    """An alternation of plain strings, longest first, so that `-->` wins over `->`."""
    return "|".join(map(re.escape, sorted(literals, key=len, reverse=True)))


def by_sense(patterns: Mapping[Sense, str]) -> str:
    """An alternation of the words of all senses; the group that matched bears the name of the sense."""
    return "|".join(f"(?P<{sense.name}>{words})" for sense, words in patterns.items())


def sense_in(found: re.Match[str]) -> Sense:
    """The sense of the group of `by_sense` that matched."""
    return next(sense for sense in Sense if sense.name in found.re.groupindex and found[sense.name])


def _senses(kind: str) -> dict[Sense, str]:
    """The words of each sense of a table, in the order of its sections."""
    names = [name for name in table(kind) if name.upper() in Sense.__members__]
    return {Sense[name.upper()]: alternation(kind, name).replace("{HEDGES}", HEDGES) for name in names}


# --- before a number, and between two numbers

ARROWS = tuple(listed("hedges", "arrows"))
HEDGE_WORDS = tuple(listed("hedges", "words"))
HEDGES = "|".join(word.replace(".", r"\.") for word in sorted(HEDGE_WORDS, key=len, reverse=True))

DECORATION = r"[\s*_`'\"(\[]*"
"""Markdown, quotes and opening brackets."""

_FILLERS = r"fairly|rather|between|only|just|merely|a|an|un|um|una|steady|stable|constant|consistent|sustained|(?:average|mean|median) of"
HEDGE = rf"(?:(?:{HEDGES}|{_FILLERS})\s+)*[~≈<>*_`]*"
"""Hedges, fillers and Markdown right before a number: `only about **`."""

ARROW = rf"(?:{longest_first(list(ARROWS))})\ufe0f?"
"""An arrow, with or without the variation selector of an emoji."""

SAME_SENTENCE = r"(?:(?![.;!?]\s)[^→])"
"""One character that does not end the sentence."""

EMOJI = "✅✓✔☑❌⚠🔹🔸🟢🔴🚀⚡📊📈📉🔥💾🎯✨⏱🐌🐢"
BULLETS = rf"\-*•+◦▪●▸►‣·{EMOJI}\ufe0f"
"""Bullets of list items, as the inside of a character class; emoji may have no blank behind them."""

TABLE_ROW = pattern(r"[ \t]*\|")
"""The beginning of a row of a table with outer bars."""

# --- beside a number: comparison and metric

COMPARISONS = _senses("comparisons")
VERBS = _senses("verbs")
CJK_CHANGES = _senses("cjk_changes")
METRICS = {ClaimMetric(section): alternation("metrics", section) for section in table("metrics")}

BARE_FACTOR = "("
"""The word of comparison of a factor that has none: `(33x)`, `decode 1.03×`. In a text about speed it is a speedup, elsewhere no claim."""

OTHER_SPEEDS = pattern(
    r"[\s*_]*(?:\w+ )?(?:(?:win|pass|hit|success)[ -]?rates?|playback|develop\w*|onboarding|iteration|deliver\w*"
    r"|than (?:real[- ]time|normal|estimated|expected|planned|usual))\b",
    re.IGNORECASE,
)
"""Speeds and rates of people, games and films, which are not performance."""

GAMES = alternation("settings", "games")
SETTINGS = whole_words(GAMES, alternation("settings", "settings"))
NOT_PERFORMANCE = "|".join([alternation("not_performance", "people"), GAMES, alternation("not_performance", "nouns")])

# --- baseline, candidate, change: labels of lines and header cells, words beside figures, headings

BASELINE_LABELS = alternation("labels", "baseline")
CANDIDATE_LABELS = alternation("labels", "candidate")
CHANGE_LABELS = alternation("labels", "change")
GAIN_HEADERS = alternation("labels", "gain")
FALL_HEADERS = alternation("labels", "fall")
RECIPROCAL_HEADERS = pattern(r"\bvs\.? (?:native|c\b)|overhead|slowdown|slower", re.IGNORECASE)
"""Header cells above multipliers of cost, `Overhead`: above 1 is worse."""

# --- around a claim: evidence, scope, origin

ESTIMATES = whole_words(alternation("evidence", "estimates"))
MEASURED = f"{whole_words(alternation('evidence', 'measured'))}|{alternation('evidence', 'measured_cjk')}"
SEEN_ON = whole_words(alternation("evidence", "tools"), alternation("evidence", "machines"))
"""Tools and machines in one alternation, since it is searched around every claim."""

INPUTS = alternation("evidence", "inputs")
SCOPES = {scope: alternation("scope", scope.value) for scope in (Scope.MICRO, Scope.COMPONENT, Scope.END_TO_END)}
WHOLE = whole_words(alternation("scope", "whole"))
CITED = whole_words(alternation("origin", "cited"))
SWITCH = whole_words(alternation("origin", "switch"))
