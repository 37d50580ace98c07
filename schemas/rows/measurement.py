"""Measured results of benchmarks, as stored.

One row per variant, metric, statistic and run of the benchmark.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import pyarrow as pa

from schemas.rows.claim import ScopeName
from schemas.rows.row import (
    ArrowType,
    Count,
    Flag,
    Labels,
    LongText,
    Names,
    Quantity,
    Row,
    Text,
    UtcTime,
    column,
    optional,
)
from schemas.units import Better


class Variant(StrEnum):
    """The code that was measured."""

    BASELINE = "baseline"

    REFERENCE = "reference"
    """A known good change, such as the human one."""

    CANDIDATE = "candidate"


class MeasuredStatus(StrEnum):
    """Whether the benchmark gave a value."""

    OK = "ok"
    FAILED = "failed"
    NOT_RUN = "not_run"


class Failure(StrEnum):
    """The reason why a benchmark gave no value."""

    PATCH = "patch"

    CRASH = "crash"
    TIMEOUT = "timeout"
    INFRASTRUCTURE = "infra"
    """The benchmark did not start, or lacked a model, a machine or memory: not the fault of the
    change.
    """

    INCORRECT = "incorrect"

    UNKNOWN = "unknown"


class PatchApplied(StrEnum):
    """Whether the measured code included the patch."""

    YES = "yes"
    NO = "no"
    PARTIAL = "partial"
    UNKNOWN = "unknown"


class SpreadKind(StrEnum):
    """The meaning of `spread_lo` and `spread_hi` around the value."""

    STD = "std"

    SEM = "sem"

    CI = "ci"

    IQR = "iqr"

    MAD = "mad"
    """The median absolute deviation of single runs."""

    SAMPLES = "samples"
    """Every run has its value in `samples`."""

    NONE = "none"


class MeasurementRow(Row):
    """One measured value, or one failure to measure.

    Values are in the stored units of `schemas.units`.
    """

    source_id: Text = column(title="Source id", description="The file (sources.source_id).")
    measurement_no: Count = column(
        title="Measurement number", description="Number of the row within its file, from 1."
    )
    format: Text = column(title="Format", description="The tool that wrote the file.")
    measured_by: Text | None = optional(
        "Measured by", "Who ran the benchmark, as far as the file says."
    )
    repo: Text | None = optional("Repository", "Repository that was measured.")
    task: Text | None = optional("Task", "Task that the measured change belongs to.")
    commit_full: Text | None = optional(
        "Commit",
        "Commit that names the task, such as that of the reference: in full, or its beginning.",
    )
    commit_names_task: Flag = column(
        default=False,
        title="Commit names task",
        description="Whether all variants of a task carry this commit, as in ISO-Bench.",
    )
    parent_full: Text | None = optional(
        "Parent commit", "Commit of the baseline: in full, or its beginning."
    )
    instance: Text | None = optional("Instance", "Id of the task instance in the benchmark.")
    variant: Annotated[Variant, ArrowType(pa.string())] | None = optional(
        "Variant", "baseline, reference or candidate. Empty: the file does not say it."
    )
    agent: Text | None = optional("Agent", "Agent that made the candidate (runs.agent).")
    agent_version: Text | None = optional("Agent version", "Version of that agent, as written.")
    model: Text | None = optional("Model", "Model of that agent, as written.")
    effort: Text | None = optional(
        "Effort", "Reasoning effort of that model, as written: low, medium, high, xhigh, max."
    )
    run_path: Text | None = optional(
        "Run folder", "Folder of the measured run, as the file names it."
    )
    run_id: Text | None = optional("Run", "Id of the measured run, where the file has it.")
    patch_sha256: Text | None = optional("Patch", "sha256 of the measured patch.")
    patch_applied: Annotated[PatchApplied, ArrowType(pa.string())] = column(
        default=PatchApplied.UNKNOWN,
        title="Patch applied",
        description="yes, no, partial or unknown.",
    )
    benchmark: Text | None = optional("Benchmark", "Name of the benchmark or of one of its tests.")
    params: LongText | None = optional(
        "Parameters", "Parameters of the benchmark, as JSON with sorted keys."
    )
    command: LongText | None = optional("Command", "Command that ran the benchmark.")
    workload_fp: Text | None = optional(
        "Workload", "Fingerprint of parameters and command. Empty: unknown."
    )
    bench_model: Text | None = optional(
        "Benchmark's model", "Model that the benchmark served or ran."
    )
    machine: Text | None = optional("Machine", "Machine or accelerator.")
    batch: Text | None = optional(
        "Batch", "Measurements of one batch were made together, on one set-up. Empty: unknown."
    )
    scope: ScopeName = column(
        title="Scope", description="How much of the software the benchmark covers."
    )
    metric: Text | None = optional("Metric", "What was measured. Empty: nothing was.")
    is_primary: Flag = column(
        default=False, title="Primary", description="Whether the benchmark judges by this metric."
    )
    statistic: Text | None = optional("Statistic", "mean, median, p99, min, max, total or rate.")
    unit: Text | None = optional(
        "Unit", "Unit of the value: ms, B, tok/s, req/s, op/s, B/s, count, ratio. Empty: unknown."
    )
    unit_raw: Text | None = optional("Unit as written", "Unit of the value in the file.")
    better: Annotated[Better, ArrowType(pa.string())] = column(
        title="Better", description="lower, higher or unknown."
    )
    value: Quantity | None = optional("Value", "The measured value.")
    value_raw: Quantity | None = optional(
        "Value as written", "The value in the file, in its own unit."
    )
    label: Text | None = optional(
        "Judgement", "A published judgement in place of a value, such as beats or same_target."
    )
    ratio_base: Annotated[Variant, ArrowType(pa.string())] | None = optional(
        "Ratio against", "Of a value that is a ratio already: the variant it was divided by."
    )
    n: Count | None = optional("Runs", "Number of runs that the value sums up.")
    spread_kind: Annotated[SpreadKind, ArrowType(pa.string())] = column(
        default=SpreadKind.NONE,
        title="Spread",
        description="std, sem, ci, iqr, mad, samples or none.",
    )
    spread_lo: Quantity | None = optional("Spread from", "Lower end, in the unit of the value.")
    spread_hi: Quantity | None = optional("Spread to", "Upper end, in the unit of the value.")
    samples: Annotated[tuple[float, ...], ArrowType(pa.list_(pa.float64()))] = column(
        default=(), title="Samples", description="The value of every run, in the unit of the value."
    )
    log_error: Quantity | None = optional(
        "Log error", "Standard error of ln(value) from run to run. Empty: unknown, as with one run."
    )
    log_df: Quantity | None = optional(
        "Degrees of freedom", "Degrees of freedom of that error. Empty: of a published interval."
    )
    noise_floor: Quantity | None = optional(
        "Noise floor",
        (
            "By how much two measurements of the same code may differ: 0.02 for 2%. Empty: not "
            "determined with the measurement."
        ),
    )
    status: Annotated[MeasuredStatus, ArrowType(pa.string())] = column(
        title="Status", description="ok, failed or not_run."
    )
    failure: Annotated[Failure, ArrowType(pa.string())] | None = optional(
        "Failure", "patch, crash, timeout, infra, incorrect or unknown."
    )
    failure_detail: LongText | None = optional("What failed", "The error, as written.")
    measured_at: UtcTime | None = optional("Measured at", "When it was measured (UTC).")
    tz_known: Flag = column(
        default=False,
        title="Zone known",
        description="Whether the file says the time zone of that time.",
    )
    flags: Names = column(
        default=(), title="Flags", description="What is doubtful about the value (schemas.units)."
    )


class SourceMeasuresRow(Row):
    """What people say about all measurements of a file, where the file does not say it itself."""

    ingest_id: Count = column(description="The ingest that said it.")
    source_id: Text = column(description="Id of the file.")
    given: Labels = column(description="Column of measurements -> value.")
