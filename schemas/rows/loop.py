"""Optimization loops and their experiments, as their logs have them.

What follows from them is derived (`app.queries.loops`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import pyarrow as pa

from schemas.rows.row import (
    ArrowType,
    Count,
    Flag,
    LongText,
    Milliseconds,
    Names,
    Quantity,
    Row,
    Text,
    Tokens,
    Usd,
    UtcTime,
    column,
    optional,
)
from schemas.units import Better


class State(StrEnum):
    """What became of an experiment."""

    BASELINE = "baseline"

    KEPT = "kept"
    """By the decision in the log: it need not be better than what was kept before."""

    DISCARDED = "discarded"

    CRASHED = "crashed"
    """It gave no value, or an invalid one."""

    CHECKS_FAILED = "checks_failed"
    """It was measured, but tests or other checks did not pass."""

    OTHER = "other"
    """Without a decision, or with a word of which the meaning is not known."""


class CostBasis(StrEnum):
    """What a cost in a loop's log is."""

    EXACT = "exact"
    UPPER_BOUND = "upper_bound"
    LOWER_BOUND = "lower_bound"

    EVALUATED = "evaluated"
    """Of the agent that was evaluated in the experiments, not of the one that ran the loop."""


class LoopRow(Row):
    """One optimization loop: one segment of one log, with one metric."""

    source_id: Text = column(title="Source id", description="The log (sources.source_id).")
    loop_no: Count = column(
        title="Loop number", description="Number of the loop within its log, from 1."
    )
    format: Text = column(title="Format", description="Format of the log.")
    name: Text | None = optional("Name", "Name of the loop, as its log says.")
    metric: Text | None = optional(
        "Metric", "What every experiment measures. Empty: unknown, or several."
    )
    unit: Text | None = optional("Unit", "Unit of the metric, as written.")
    better: Annotated[Better, ArrowType(pa.string())] = column(
        default=Better.UNKNOWN, title="Better", description="lower, higher or unknown."
    )
    better_from: Text | None = optional(
        "Direction from",
        "What tells the direction: the log itself, the metric's name, the decisions, …",
    )
    segment: Count = column(
        default=0, title="Segment", description="Number of the segment within the log, from 0."
    )
    folder: Text | None = optional(
        "Folder", "Folder that the agent worked in, where the log says it."
    )
    baseline: Quantity | None = optional(
        "Baseline", "Value of the baseline, where the log tells it apart from the experiments."
    )
    baseline_commit: Text | None = optional("Baseline commit", "Commit of that baseline.")
    noise_floor: Quantity | None = optional(
        "Noise floor", "By how much two measurements may differ, as the log says: 0.02 for 2%."
    )
    is_history: Flag = column(
        default=True,
        title="History",
        description="Whether the log has every experiment. Otherwise it has the best of them only.",
    )
    has_decisions: Flag = column(
        default=True,
        title="Decisions",
        description="Whether the log says what was kept. Otherwise only what failed is known.",
    )
    no_gain: LongText | None = optional(
        "Why no gain", "Why its values make no common series, so that there is no best and no gain."
    )
    notes: Names = column(default=(), title="Notes", description="What is doubtful about the log.")
    cost_reported_usd: Usd | None = optional(
        "Cost as logged", "Cost of the whole loop, where the log tells it."
    )
    cost_basis: Annotated[CostBasis, ArrowType(pa.string())] | None = optional(
        "Cost basis",
        (
            "What the logged cost is: exact, upper_bound, lower_bound, or evaluated (of the "
            "agent that was evaluated)."
        ),
    )


class ExperimentRow(Row):
    """One logged try of a loop, its baseline included."""

    source_id: Text = column(title="Source id", description="The log (sources.source_id).")
    loop_no: Count = column(title="Loop number", description="The loop within its log.")
    experiment_no: Count = column(
        title="Experiment", description="Place of the experiment in its loop, from 1."
    )
    label: Text | None = optional("Label", "What the log calls it: run 21, iteration 4.")
    parent: Text | None = optional(
        "Parent", "Label of the experiment that it is built upon, where the log says it."
    )
    state: Annotated[State, ArrowType(pa.string())] = column(
        title="State", description="baseline, kept, discarded, crashed, checks_failed or other."
    )
    word: Text | None = optional("State as written", "The decision or status in the log.")
    value: Quantity | None = optional("Value", "Value of the loop's metric. Empty: not measured.")
    secondary: LongText | None = optional(
        "Other values", "Values of other metrics, as JSON: name -> value."
    )
    commit: Text | None = optional(
        "Commit", "Commit that the log names: of the try, or of the code that it began from."
    )
    at: UtcTime | None = optional("Time", "When it was logged (UTC).")
    tz_known: Flag = column(
        default=False,
        title="Zone known",
        description="Whether the log says the time zone of that time.",
    )
    description: LongText | None = optional("Description", "What was tried.")
    hypothesis: LongText | None = optional(
        "Hypothesis", "Why it should help, and what was learned."
    )
    model: Text | None = optional("Model", "Model that the log names.")
    duration_ms: Milliseconds | None = optional("Duration", "How long it took, as logged.")
    cost_reported_usd: Usd | None = optional("Cost as logged", "Its cost, as logged.")
    tokens_reported: Tokens | None = optional(
        "Tokens as logged", "Input and output tokens, as logged."
    )
    patch: LongText | None = optional("Patch", "The change, as a diff.")
    repeats: Count | None = optional(
        "Repeats", "Experiment of the loop that measured the same code before."
    )
    fingerprint: Text = column(
        title="Fingerprint", description="The same in every copy and later version of the log."
    )
