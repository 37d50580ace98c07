"""What says once which side of the comparisons that follow is which: `this head vs main: list 20 s vs 2 s, show 30 s vs 10 s`."""

from __future__ import annotations

import re

from ingest.claims.numbers.pair_candidate import Candidate
from ingest.claims.words.regex_parts import ARROW

_FORMER = r"(?:the )?(?:main|master|base|baseline|before|old|original|previous|prior|stock|upstream|parent)(?: \w+)?"
_LATTER = r"(?:(?:this|the|new|my) )?(?:pr|branch|head|patch|change|commit|fix|after|new|now|patched|optimi[sz]ed|current)(?: \w+)?"
_VERSUS = rf"[`*_]*\s?(?:vs\.?|versus|against|/|{ARROW}|compared (?:to|with))\s?[`*_]*"

LATTER_FIRST = re.compile(rf"\b{_LATTER}{_VERSUS}{_FORMER}\b[`*_]*\)?[:,]", re.IGNORECASE)
FORMER_FIRST = re.compile(rf"\b{_FORMER}{_VERSUS}{_LATTER}\b[`*_]*\)?[:,]", re.IGNORECASE)

_REACH = 300
"""Characters before a pair in which the order of its sides may have been told."""


def is_told(candidate: Candidate, legend: re.Pattern[str]) -> bool:
    """Whether the paragraph says before the pair which of its sides is which."""
    start = max(candidate.text.rfind("\n\n", 0, candidate.first.start), candidate.first.start - _REACH, 0)
    return legend.search(candidate.text, start, candidate.first.start) is not None
