"""Pieces of regular expressions for what stands between a number and its words, and for the words by their sense."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ingest.claims.words.change_words import ARROWS, HEDGES, Sense

DECOR = r"[\s*_`'\"(\[]*"
"""Markdown, quotes and opening brackets."""

SIGNS = "✅✓✔☑❌⚠🔹🔸🟢🔴🚀⚡📊📈📉🔥💾🎯✨⏱🐌🐢"
BULLETS = rf"\-*•+◦▪●▸►‣·{SIGNS}\ufe0f"
"""What lines of lists begin with, as the inside of a class of characters; the signs stand without a blank behind them, too."""

_LOOSE = r"fairly|rather|between|only|just|merely|a|an|un|um|una|steady|stable|constant|consistent|sustained|(?:average|mean|median) of"
HEDGE = rf"(?:(?:{HEDGES}|{_LOOSE})\s+)*[~≈<>*_`]*"
"""Words and signs that make the number behind them inexact."""

ARROW = rf"(?:{'|'.join(map(re.escape, sorted(ARROWS, key=len, reverse=True)))})\ufe0f?"
"""An arrow, in colour or not."""

SENTENCE = r"(?:(?![.;!?]\s)[^→])"
"""A character of one and the same sentence."""


def by_sense(patterns: Mapping[Sense, str]) -> str:
    """An alternation of the words, each sense a group of its name."""
    return "|".join(f"(?P<{sense.name}>{words})" for sense, words in patterns.items())


def sense_in(found: re.Match[str]) -> Sense:
    """The sense whose group of `by_sense` took part in the match."""
    return next(sense for sense in Sense if sense.name in found.re.groupindex and found[sense.name])
