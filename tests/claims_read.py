"""What the rules read in a text, before a claim is judged: for tests of the rules and of the words, whose examples are a line or two."""

from __future__ import annotations

from ingest.claims import Claim, extract
from ingest.claims.extraction import judged
from schemas.rows.claim import ClaimKind


def claims_read(text: str) -> tuple[Claim, ...]:
    """All claims, whatever their confidence, but settings and changes whose metric no word tells."""
    unstated = {(claim.start, claim.end) for claim, candidate in judged(text) if not candidate.measure.is_stated}
    return tuple(claim for claim in extract(text, 0) if (claim.start, claim.end) not in unstated)


def ratios(text: str) -> list[float | None]:
    """The ratios of the claims with a number."""
    return [claim.ratio for claim in claims_read(text) if claim.kind is ClaimKind.QUANTIFIED]


def table(heads: str, *rows: str) -> str:
    """A Markdown table: the header cells and the cells of each row, separated by bars."""
    return "\n".join([f"| {heads} |", "|---" * (heads.count("|") + 1) + "|", *(f"| {row} |" for row in rows)])
