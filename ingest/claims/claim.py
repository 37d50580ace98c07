"""The result of the extractor: those fields of `schemas.rows.claim.ClaimRow` that come from the text."""

from __future__ import annotations

from typing import NamedTuple

from schemas.rows.claim import ClaimKind, ClaimMetric, Direction, Evidence, Origin, Scope


class Claim(NamedTuple):
    """One performance claim of a text.

    Offsets are code points into the text, the end exclusive. Ratios are improvement factors, above 1 where better; `ratio_low` and
    `ratio_high` are set for a range, of which `ratio` is the geometric mean. `before` and `after` are in `unit`. `confidence` is the
    probability that a careful reader finds this claim with this ratio; a claim without a number has none. None is unknown.
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
