"""Figures between the two of a pair that are of neither: `562 s (was 1.09 in 1573 s)`, `2 s over 20 runs, compared with 4 s`."""

from __future__ import annotations

import re

from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.words.regex_parts import ARROW

REMARKED = 4
"""Figures that a remark may have, and the one behind it."""

_BRACKETED_FORMER = re.compile(r"[*_`]*\s*\((?:was|from)\b")
_VERSION = re.compile(r"[*_`]*\s(?:in|on|with|for)\s(?:v|version\s)?\d+(?:\.\d+){1,3}")
"""`5.2 s in 1.6 vs 4.1 s in 1.5`"""

_REMARK = re.compile(r"\s*\([^()\n]{1,60}\)\s*")


def step_to_other(text: str, ahead: list[Quantity]) -> int:
    """How many quantities on the other of a pair is: `562 s (was 1.09 in 1573 s)`, `from 40 min (2 × 20 min) to 7 min`."""
    first = ahead[0]
    if len(ahead) < 3 or first.unit is None:
        return 1
    if ahead[2].metric in (first.metric, None) and _is_beside(text, first, ahead[1]):
        return 2
    if ahead[1].unit is None and ahead[2].metric is first.metric and _VERSION.fullmatch(text, first.end, ahead[1].end):
        return 2
    if ahead[1].unit is not None and ahead[2].metric is first.metric is not ahead[1].metric:
        return 2
    if ahead[1].unit is None and ahead[2].metric is first.metric and _BRACKETED_FORMER.match(text, first.end, ahead[1].start):
        return 2
    return _behind_remark(text, ahead)


_OF_SAMPLES = re.compile(
    r"\s(?:over|across|in|for|of|with|on|at|after|per)\s(?:the |a |an |all |each )?(?:[a-z-]+ (?:of )?)?$", re.IGNORECASE
)
_SAMPLES = re.compile(
    r"[\s-](?:runs?|samples?|iterations?|repetitions?|repeats?|rounds|trials?|seeds|steps|passes|requests|files|rows|items|records|chunks"
    r"|messages|documents|users|cores|threads|workers|entries|nodes|tokens|lines|objects|events|connections|shards|pages)\b"
)
_PER = re.compile(r"\s(?:\w+\s)?per\s$")


def _is_beside(text: str, first: Quantity, second: Quantity) -> bool:
    """Whether the second says on how many the first was seen: `2 s over 20 runs`, `40 queries per 500 rows`."""
    if second.start - first.end > 30 or second.kind is not Kind.VALUE:
        return False
    if _PER.search(text, first.end, second.start):
        return True
    return bool(_OF_SAMPLES.fullmatch(text, first.end, second.start) and _SAMPLES.match(text, second.end))


def _behind_remark(text: str, ahead: list[Quantity]) -> int:
    first = ahead[0]
    remark = _REMARK.match(text, first.end) if text.find("(", first.end, first.end + 3) >= 0 else None
    if remark is None:
        return 1
    step = next((index for index, quantity in enumerate(ahead) if quantity.start >= remark.end()), 0)
    is_bare = step == 2 and ahead[1].unit is None
    is_other = step > 1 and ahead[step].metric in (first.metric, None) and (is_bare or bool(_LEADS_ON.match(text, remark.end())))
    return step if is_other else 1


_LEADS_ON = re.compile(rf"(?:down |up )?to\s|{ARROW}|\((?:was|previously|formerly|from|down from|up from)\s")
