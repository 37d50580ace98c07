"""The words of claims by what they mean, as pieces of regular expressions made of the word tables, and the pieces that rules share.

Words match without regard to case and at the start of a word. The tables are closed on purpose: a word that is not there makes no claim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from ingest.claims.words.word_tables import alternation, table
from ingest.claims.words.word_tables import words as listed
from schemas.rows.claim import ClaimMetric, Scope


class Sense(Enum):
    """What a word of comparison says became of the quantity."""

    GAIN = "it became better"
    LOSS = "it became worse"
    FALL = "there is less of it"
    RISE = "there is more of it"
    SHARE = "so much of it is left"


BEGINS = r"(?<![A-Za-z])(?=[\w`|/$])"
"""Where a word or sign can begin: seen first, it saves a third of the time that long alternations take."""


def whole_words(*alternatives: str) -> str:
    """An alternation of whole words or stems."""
    return rf"{BEGINS}(?:{'|'.join(alternatives)})"


def longest_first(literals: list[str]) -> str:
    """An alternation of plain strings in which none hides a longer one."""
    return "|".join(map(re.escape, sorted(literals, key=len, reverse=True)))


def by_sense(patterns: Mapping[Sense, str]) -> str:
    """An alternation of the words, each sense a group of its name."""
    return "|".join(f"(?P<{sense.name}>{words})" for sense, words in patterns.items())


def sense_in(found: re.Match[str]) -> Sense:
    """The sense whose group of `by_sense` took part in the match."""
    return next(sense for sense in Sense if sense.name in found.re.groupindex and found[sense.name])


def _senses(kind: str) -> dict[Sense, str]:
    names = [name for name in table(kind) if name.upper() in Sense.__members__]
    return {Sense[name.upper()]: alternation(kind, name).replace("{HEDGES}", HEDGES) for name in names}


# --- before a number, and between two

ARROWS = tuple(listed("hedges", "arrows"))
HEDGE_WORDS = tuple(listed("hedges", "words"))
HEDGES = "|".join(word.replace(".", r"\.") for word in sorted(HEDGE_WORDS, key=len, reverse=True))

DECORATION = r"[\s*_`'\"(\[]*"
"""Markdown, quotes and opening brackets."""

_FILLERS = r"fairly|rather|between|only|just|merely|a|an|un|um|una|steady|stable|constant|consistent|sustained|(?:average|mean|median) of"
HEDGE = rf"(?:(?:{HEDGES}|{_FILLERS})\s+)*[~≈<>*_`]*"
"""Words and signs that may be right before a number."""

ARROW = rf"(?:{longest_first(list(ARROWS))})\ufe0f?"
"""An arrow, in colour or not."""

SAME_SENTENCE = r"(?:(?![.;!?]\s)[^→])"
"""A character of one and the same sentence."""

EMOJI = "✅✓✔☑❌⚠🔹🔸🟢🔴🚀⚡📊📈📉🔥💾🎯✨⏱🐌🐢"
BULLETS = rf"\-*•+◦▪●▸►‣·{EMOJI}\ufe0f"
"""What items of lists begin with, as the inside of a character class; emoji may have no blank behind them."""

TABLE_ROW = re.compile(r"[ \t]*\|")
"""How a row of a table with outer bars begins."""

# --- beside a number: what became of it, and what it measures

COMPARISONS = _senses("comparisons")
VERBS = _senses("verbs")
CJK_CHANGES = _senses("cjk_changes")
METRICS = {ClaimMetric(section): alternation("metrics", section) for section in table("metrics")}

BARE_FACTOR = "("
"""Takes the place of the word of comparison for a factor that has none, in a bracket or bare; in a text about speed it is one of speed."""

OTHER_SPEEDS = re.compile(
    r"[\s*_]*(?:\w+ )?(?:(?:win|pass|hit|success)[ -]?rates?|playback|develop\w*|onboarding|iteration|deliver\w*"
    r"|than (?:real[- ]time|normal|estimated|expected|planned|usual))\b",
    re.IGNORECASE,
)
"""Speeds of people and films, which are no performance."""

GAMES = alternation("settings", "games")
SETTINGS = whole_words(GAMES, alternation("settings", "settings"))
NOT_PERFORMANCE = "|".join([alternation("not_performance", "people"), GAMES, alternation("not_performance", "nouns")])

# --- labels of lines and header cells

BASELINE_LABELS = alternation("labels", "baseline")
CANDIDATE_LABELS = alternation("labels", "candidate")
CHANGE_LABELS = alternation("labels", "change")
BASELINE_BESIDE, CANDIDATE_BESIDE = alternation("labels", "baseline_beside"), alternation("labels", "candidate_beside")
BASELINE_LEGEND, CANDIDATE_LEGEND = alternation("labels", "baseline_legend"), alternation("labels", "candidate_legend")
BASELINE_HEADING, CANDIDATE_HEADING = alternation("labels", "baseline_heading"), alternation("labels", "candidate_heading")
BASELINE_VERSION_HEADING = alternation("labels", "baseline_version_heading")
CANDIDATE_VERSION_HEADING = alternation("labels", "candidate_version_heading")
BASELINE_OUTPUT, CANDIDATE_OUTPUT = alternation("labels", "baseline_output"), alternation("labels", "candidate_output")
GAIN_HEADERS = alternation("labels", "gain")
FALL_HEADERS = alternation("labels", "fall")
RECIPROCAL_HEADERS = re.compile(r"\bvs\.? (?:native|c\b)|overhead|slowdown|slower", re.IGNORECASE)
"""Header cells whose multiplier says how much more is needed."""

# --- around a claim: what it rests on, how much it covers, whose it is

ESTIMATES = whole_words(alternation("evidence", "estimates"))
MEASURED = f"{whole_words(alternation('evidence', 'measured'))}|{alternation('evidence', 'measured_cjk')}"
SEEN_ON = whole_words(alternation("evidence", "tools"), alternation("evidence", "machines"))
"""Tools and machines in one alternation: it is searched around every claim."""

INPUTS = alternation("evidence", "inputs")
SCOPES = {scope: whole_words(alternation("scope", scope.value)) for scope in (Scope.MICRO, Scope.COMPONENT, Scope.END_TO_END)}
WHOLE = whole_words(alternation("scope", "whole"))
CITED = whole_words(alternation("origin", "cited"))
SWITCH = whole_words(alternation("origin", "switch"))
