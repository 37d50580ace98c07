"""The labelled texts as objects, read strictly.

A label that says something impossible does not load.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, PositiveFloat, model_validator

from schemas.claims import ClaimMetric, Direction, Evidence, Origin, Scope

LABELLED = Path(__file__).parent / "claims.jsonl"


class Strict(BaseModel):
    """Frozen, and no field unknown; enums come as their words."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Label(Strict):
    """One claim as a reader sees it.

    Offsets are code points, the end exclusive; a ratio above 1 is better.
    """

    start: int
    end: int
    ratio: PositiveFloat | None
    ratio_low: PositiveFloat | None = None
    ratio_high: PositiveFloat | None = None
    ratio_alt: PositiveFloat | None = None
    """A second reading that is right too: "40% faster" as 40% less time, "1 GB" as 1,024 MB."""
    metric: ClaimMetric
    direction: Direction
    evidence: Evidence
    scope: Scope
    hedged: bool
    origin: Origin
    optional: bool = False
    """Borderline: neither asked for nor punished."""
    before: float | None = None
    after: float | None = None
    unit: str | None = None
    """Of `before` and `after`; where the text mixes units, that of the later figure."""

    @model_validator(mode="after")
    def says_something_possible(self) -> Self:
        if not 0 <= self.start < self.end:
            raise ValueError("the span is empty")
        if (
            self.ratio is None
            or self.direction is Direction.SAME
            or self.evidence is Evidence.ESTIMATED
        ) and not self.optional:
            raise ValueError("a claim without ratio, of no change, or of the future is optional")
        if self.ratio is not None and self.direction is not _direction(self.ratio):
            raise ValueError(f"ratio {self.ratio} is not {self.direction}")
        return self


def _direction(ratio: float) -> Direction:
    if ratio == 1:
        return Direction.SAME
    return Direction.BETTER if ratio > 1 else Direction.WORSE


class LabelledText(Strict):
    """A text, what it exercises, and its claims in the order of the text."""

    id: str
    kind: str
    text: str
    claims: Annotated[tuple[Label, ...], BeforeValidator(tuple[Any, ...])]

    @model_validator(mode="after")
    def spans_follow_each_other(self) -> Self:
        ends = [0, *(label.end for label in self.claims)]
        starts = [*(label.start for label in self.claims), len(self.text)]
        if any(start < end for start, end in zip(starts, ends, strict=True)):
            raise ValueError(f"{self.id}: spans overlap or leave the text")
        return self

    def quote(self, label: Label) -> str:
        return self.text[label.start : label.end]


def labelled_texts(path: Path = LABELLED) -> tuple[LabelledText, ...]:
    """All texts of the file. Raises pydantic.ValidationError for a label that cannot be."""
    return tuple(
        map(LabelledText.model_validate_json, path.read_text(encoding="utf-8").splitlines())
    )
