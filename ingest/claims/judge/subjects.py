"""Whose change it is: that of the candidate, or that of the baseline: `the old parser is 3x slower than the new one` is a speedup of 3.

The names are those of `pairs.side_labels`, where both sides have a figure.
"""

from __future__ import annotations

from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.pairs.side_labels import BASELINE_NAMES, CANDIDATE_NAMES
from ingest.claims.patterns import pattern

_DETERMINER = r"(?:the |our |this |its |with |on |of |for ){0,2}[`*_]*"
_MORE = r"[`*_]*(?:\s(?!(?:and|or|than|over|to|is|was|with)\b)[`*_]*[a-z][\w`*/-]*){0,2}"
_VERB = (
    r"(?:is|was|are|were|runs?|ran|takes?|took|uses?|used|has|had|needs?|needed|handles?|handled|achieves?|achieved|gets?|got|shows?|showed"
    r"|reach(?:es|ed)|performs?|performed|consumes?|consumed|allocates?|allocated|serves?|served|delivers?|delivered|sustains?|sustained)"
)
_UP_TO_CHANGE = rf"{_MORE}(?:,?\s(?:which|that))?(?:\s{_VERB}(?:\s[a-z~≈]+){{0,3}})?\s*[~≈*_`(]*$"
_START = (
    r"(?:^(?:(?!than|over)[\w'-]+\s){0,2}|[,;:.(|>\n]\s*[*_`-]*\s?"
    r"|\b(?:but|and|while|whereas|since|because|as|that|with|of|latency|throughput|memory)\s)"
)

_OF_BASELINE = pattern(rf"{_START}{_DETERMINER}(?:{BASELINE_NAMES}|before,? it)\b{_UP_TO_CHANGE}")
"""The baseline as the subject of the change: `the old parser is 3x slower`."""

_COMPARED_WITH_CANDIDATE = pattern(
    rf"\b(?:compared (?:to|with)|relative to|versus|vs\.?|against)\s{_DETERMINER}(?:{CANDIDATE_NAMES})\b{_MORE},\s"
    rf"{_DETERMINER}(?:{BASELINE_NAMES})\b{_UP_TO_CHANGE}"
)
"""The candidate named first: `compared to the new parser, the old one is 3x slower`."""

_THAN_CANDIDATE = pattern(
    rf"\b(?:than|over|as|compared (?:to|with)|relative to|versus|vs\.?|against|(?:speed|performance|throughput|time|size) of)\s"
    rf"{_DETERMINER}(?:{CANDIDATE_NAMES})\b"
)
"""The candidate named behind the change: `3x slower than the new parser`."""

_ALONE = pattern(
    rf"{_START}(?:the |our )?[`*_]*(?:old|original|baseline|unoptimi[sz]ed|na[iï]ve|legacy|unpatched|uncached|previous|before,? it)\b"
    rf"(?!\s(?:attempt|regression|change|commit|fix|patch|pr|optimi[sz]ation|try|experiment|run|iteration|round|step)\b)"
    rf"{_MORE}(?:,?\s(?:which|that))?\s{_VERB}(?:\s[a-z~≈]+){{0,3}}\s*[~≈*_`(]*$"
)
"""A baseline as the subject, for a change that says no more than that it is worse: `the original loop was 3x slower`."""

_COMPARED = pattern(r"\b(?:than|over|compared|relative|versus|vs|against|as)\b")
_REACH = 60
"""Characters of the change and behind it in which the candidate is named."""


def is_of_baseline(nearby: Surroundings, *, is_worse: bool) -> bool:
    """Whether the sentence says how the baseline compares with the candidate, which is named, or left out of a change for the worse."""
    if nearby.is_table or not _OF_BASELINE.search(nearby.left):
        return False
    compared = f"{nearby.inside[-_REACH:]}{nearby.right[:_REACH]}"
    if _THAN_CANDIDATE.search(compared) or _COMPARED_WITH_CANDIDATE.search(nearby.left):
        return True
    return is_worse and not _COMPARED.search(compared) and _ALONE.search(nearby.left) is not None
