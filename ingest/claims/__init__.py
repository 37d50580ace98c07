"""Performance claims of a text.

What became faster, smaller or cheaper, by how much, and on what evidence.

`extract(text)` returns the claims. What does not clearly speak of performance is no claim: a false
one costs more trust than a missed one.

Terms. The *baseline* figure is from before the change, the *candidate* figure from after it; both
are a *pair*. A *change* is a factor or percentage. An *effect* is a pair, a change, or both, as
written. A *trigger* is a literal without which there is no claim.

| step | module | look here if |
|---|---|---|
| 1 triggers, and the bullet, paragraph or table around each | `search` | nothing is found, or a
  passage is cut at the wrong place |
| 2 numbers with units | `numbers` | a number, range, sign or unit is wrong |
| 3 effects of running text | `readings` | a pair or change is missed, its order or sense wrong |
| of labelled lines and printed results | `printed` | `Before: 8 s` / `After: 2 s`, `bind_ms=9.5` |
|   of tables | `tables` | a column is taken for another |
| 4 which side is the baseline | `sides` | a gain is read as a loss |
| 5 ratio, metric, settings, expressions of one effect | `judge` | the ratio or metric is wrong, or
  a timeout is a claim |
| 6 evidence, hedge, origin, subject | `evidence` | one of these is wrong |
| 7 confidence and scope, fitted | `model`, `weights.toml` | a claim is hidden, or shown that is
  none |
| 8 claims without a number | `qualitative` | `eliminates allocations` |

All words are in `words.toml`. `extraction` puts it together. The rules are frozen: docs/claims.md
says what a change must show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schemas.claims import ClaimKind, ClaimMetric, Direction, Evidence, Origin, Scope
from schemas.rows.confidence import SHOWN_FROM

__all__ = ["MOST_TRIGGERS", "Claim", "extract", "extract_all", "triggers_in"]

MOST_TRIGGERS = 5000
"""Limit of the triggers that are read; a text with more is data, no summary."""


class Claim(NamedTuple):
    """One performance claim of a text.

    The fields of `schemas.rows.claim.ClaimRow` that come from the text.

    Offsets are code points into the text, the end exclusive. Ratios are improvement factors, above
    1 where better; `ratio_low` and `ratio_high` are set for a range, of which `ratio` is the
    geometric mean. `before` and `after` are in `unit`. `confidence` is the probability that a
    careful reader finds this claim with this ratio; a claim without a number has none. None is
    unknown.
    """

    start: int
    end: int
    quote: str
    kind: ClaimKind
    metric: ClaimMetric
    direction: Direction
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    before: float | None
    after: float | None
    unit: str | None
    evidence: Evidence
    scope: Scope
    hedged: bool
    origin: Origin
    subject: str | None
    confidence: float | None


def extract(text: str, least_confidence: float = SHOWN_FROM) -> tuple[Claim, ...]:
    """Return the performance claims of a text, ordered by their starts.

    Any text is accepted, nothing is raised.

    Claims with a number have at least `least_confidence`; 0 gives all that are read.
    """
    return extract_all([text], least_confidence)[0]


def extract_all(
    texts: Sequence[str], least_confidence: float = SHOWN_FROM
) -> list[tuple[Claim, ...]]:
    """Return the claims of each text: faster than one by one."""
    from ingest.claims.extraction import claims_of  # noqa: PLC0415  whoever only names a claim needs none of the rules

    return claims_of(texts, least_confidence)


def triggers_in(text: str) -> int:
    """Return how many numbers of the text might be claims."""
    from ingest.claims.search import find_triggers  # noqa: PLC0415

    return len(find_triggers(text)[0])
