"""Pieces of regular expressions that stand between a number and its words."""

from __future__ import annotations

from ingest.claims.lexicon import HEDGES

DECOR = r"[\s*_`'\"(\[]*"
"""Markdown, quotes and opening brackets."""

HEDGE = rf"(?:(?:{HEDGES}|only|just|a|an|merely|un|um|una)\s+)*[~≈<>*_`]*"
"""Words and signs that make the number behind them inexact."""

SENTENCE = r"(?:(?![.;!?]\s)[^→])"
"""A character of one and the same sentence."""
