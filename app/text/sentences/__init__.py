"""Sentences that answer: made from rows of figures by rules, never stronger than the figures. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """What a screen says first: the answer with its `**emphasised**` part, the second most important fact, and what both rest on."""

    heading: str
    second: str = ""
    coverage: str = ""
