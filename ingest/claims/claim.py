"""What the extractor gives: those fields of `schemas.rows.claim.ClaimRow` that come from the text."""

from __future__ import annotations

from typing import NamedTuple

from schemas.rows.claim import ClaimKind, ClaimMetric, Direction, Evidence, Origin, Scope


class Claim(NamedTuple):
    """One performance claim of a text. Offsets are code points into the text, the end exclusive; ratios are above 1 where better."""

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
