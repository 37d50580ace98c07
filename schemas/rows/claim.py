"""Claims and other statements of a summary, as stored."""

from __future__ import annotations

from typing import Annotated

import pyarrow as pa

from schemas.claims import ClaimKind, ClaimMetric, Direction, Evidence, Origin, Scope, StatementKind
from schemas.rows.confidence import SHOWN_FROM
from schemas.rows.row import (
    ArrowType,
    Count,
    Flag,
    LongText,
    Offset,
    Quantity,
    Ratio,
    Row,
    Share,
    Text,
    column,
    optional,
)

ClaimMetricName = Annotated[ClaimMetric, ArrowType(pa.string())]
EvidenceName = Annotated[Evidence, ArrowType(pa.string())]
ScopeName = Annotated[Scope, ArrowType(pa.string())]


class ClaimRow(Row):
    """One performance claim of a summary.

    Offsets are Unicode code points into runs.result, the end exclusive.
    """

    run_id: Text = column(title="Run", description="Id of the run.")
    claim_no: Count = column(
        title="Claim number", description="Number of the claim within its summary, from 1."
    )
    start: Offset = column(
        title="Start", description="Position in the summary where the claim starts."
    )
    end: Offset = column(title="End", description="Position in the summary where the claim ends.")
    quote: LongText = column(title="Quote", description="The claim as the summary words it.")
    kind: Annotated[ClaimKind, ArrowType(pa.string())] = column(
        title="Kind", description="quantified: with a number; qualitative: without one."
    )
    metric: ClaimMetricName = column(
        title="Metric", description="The quantity claimed to have changed."
    )
    direction: Annotated[Direction, ArrowType(pa.string())] = column(
        title="Direction", description="better, worse or same."
    )
    ratio: Ratio | None = optional(
        "Claimed ratio",
        "Improvement factor. Above 1: better. Empty where the claim gives no ratio.",
    )
    ratio_low: Ratio | None = optional("Ratio from", "Lower end of a claimed range.")
    ratio_high: Ratio | None = optional("Ratio to", "Upper end of a claimed range.")
    before: Quantity | None = optional("Before", "Value before the change, as written.")
    after: Quantity | None = optional("After", "Value after the change, as written.")
    unit: Text | None = optional("Unit", "Unit of the values before and after, as written.")
    evidence: EvidenceName = column(
        title="Evidence",
        description=(
            "How well the text supports the claim: method stated, before–after values, a number "
            "only, or a projection."
        ),
    )
    scope: ScopeName = column(
        title="Scope", description="How much of the software the claim covers."
    )
    hedged: Flag = column(
        title="Qualified", description="Whether the text qualifies the number (~, about, up to)."
    )
    origin: Annotated[Origin, ArrowType(pa.string())] = column(
        title="Origin", description="own: about the run's own work; quoted: from somebody else."
    )
    subject: Text | None = optional("About", "What the claim is about.")
    confidence: Share | None = optional(
        "Confidence",
        f"Probability that the claim is read rightly, from 0 to 1. Below {SHOWN_FROM:.0%} it is "
        "hidden and counted nowhere. Empty for claims without a number.",
    )


class StatementRow(Row):
    """One fact that a summary states beside its claims.

    Offsets are Unicode code points into runs.result, the end exclusive.
    """

    run_id: Text = column(description="Id of the run.")
    statement_no: Count = column(description="Number of the statement in its summary, from 1.")
    kind: Annotated[StatementKind, ArrowType(pa.string())] = column(
        description=(
            "commit, artefact, tests_passed, tests_failed, files_changed, lines_inserted or "
            "lines_deleted."
        )
    )
    start: Offset = column(description="Position in the summary where the statement starts.")
    end: Offset = column(description="Position in the summary where the statement ends.")
    quote: LongText = column(description="The words that say it.")
    subject: Text | None = column(
        default=None, description="The commit's hash or the artefact's path, as the text gives it."
    )
    count: Count | None = column(
        default=None,
        description=(
            "Tests, files or lines, as the text counts them; of an artefact, its lines. NULL: "
            "not said."
        ),
    )
