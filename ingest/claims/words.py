"""The words of `words.toml` as pieces of regular expressions, and pieces shared by modules."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from ingest.literals import pattern
from schemas.claims import ClaimMetric

_VARIANTS = str.maketrans("İıſ", "iis")


def folded(text: str) -> str:
    """Return the text in lower case as `re.IGNORECASE` compares it, with the same offsets.

    `ſ` is `s`.
    """
    return text.lower() if text.isascii() else text.translate(_VARIANTS).lower()


class Sense(Enum):
    """The meaning of a word of comparison."""

    GAIN = "better: `3x faster`"
    LOSS = "worse: `3x slower`"
    FALL = "less: `40% fewer`"
    RISE = "more: `40% higher`"
    SHARE = "the share that is left: `to 25% of the original`"


TABLES: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)


def any_of(section: str, *names: str) -> str:
    """Return the words of tables as one alternation."""
    return "|".join("|".join(TABLES[section][name]) for name in names)


_UNNEEDED = re.compile(
    r"(?:\((?:[^()]|\([^()]*\))*\)|\[[^]]*\]|\\.)(?:[?*+]|\{[^}]*\})?|.(?:[?*]|\{[^}]*\})|[.+^$]",
)
"""What a match of an expression may lack: groups, classes, escapes, and characters that may be
repeated.
"""


def needed(section: str, *names: str) -> list[str]:
    """Return for each of the words of tables the longest part that all of its matches have."""
    return [
        max(_UNNEEDED.split(words), key=len) for name in names for words in TABLES[section][name]
    ]


def whole_words(section: str, *names: str) -> str:
    """Return the words of tables as an alternation that matches only where a word begins."""
    return rf"(?<![A-Za-z])(?:{any_of(section, *names)})"


def _by_sense(section: str) -> dict[Sense, str]:
    return {Sense[name.upper()]: any_of(section, name) for name in TABLES[section]}


def senses(words: Mapping[Sense, str]) -> str:
    """Return an alternation whose groups are named like senses."""
    return "|".join(f"(?P<{sense.name}>{alternatives})" for sense, alternatives in words.items())


def sense_in(found: re.Match[str]) -> Sense:
    """Return the sense of the group of `senses` that matched."""
    return next(sense for sense in Sense if sense.name in found.re.groupindex and found[sense.name])


COMPARISONS, VERBS = _by_sense("comparisons"), _by_sense("verbs")
METRICS = {ClaimMetric(name): any_of("metrics", name) for name in TABLES["metrics"]}
BEFORE, AFTER, CHANGE = (any_of("labels", name) for name in ("before", "after", "change"))
BASELINES, CANDIDATES = (any_of("sides", name) for name in ("baseline", "candidate"))
SETTINGS = pattern(whole_words("not_claims", "settings"))
NOT_PERFORMANCE = any_of("not_claims", "nouns")
ESTIMATES, MEASURED = (whole_words("evidence", name) for name in ("estimates", "measured"))

BULLETS = r"\-*•+◦▪●✅✓✔☑🚀⚡📊📈🔥💾🎯✨"
"""Bullets of list items, as the inside of a character class."""

ARROW = r"(?:-{1,2}>|={1,2}>|→|⇒|➜|➔|➡️?|⟶|—>|–>)"

DECOR = r"[\s*_`'\"(\[]*"
"""Markdown, quotes and opening brackets."""

HEDGE = rf"(?:(?:{any_of('evidence', 'hedges')}|only|just|a|an|merely)\s+)*[~≈<>*_`]*"
"""Words and signs that make the number behind them inexact."""

SAME_SENTENCE = r"(?:(?![.;!?]\s)[^→])"
"""A character that does not end the sentence."""

TAGS: dict[str, list[str]] = TABLES["tags"]
"""Tag → words that the fitted model looks for."""
