"""What `tachograph measure` writes: one benchmark, run in turns on a baseline and on a candidate.

Runs come in blocks of four whose order is mirrored (A B B A), so that a steady drift of the machine
cancels. The blocks of the first phase run the baseline against itself and show the noise. Ratios
above 1 mean that the candidate is better.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.rows.measurement import Failure
from schemas.units import Better


class MeasureVerdict(StrEnum):
    """What a paired benchmark shows about its candidate."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    """The whole interval lies within 5 % of 1."""

    INSIDE_NOISE = "inside_noise"
    """The difference is smaller than two measurements of the same code may show."""

    FAILED = "failed"
    """The candidate's patch, set-up, check or benchmark failed."""

    NOT_MEASURED = "not_measured"
    """It was interrupted before the first comparison."""


class Arm(StrEnum):
    """The code of one run. In the noise phase both arms are the baseline."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class BenchmarkRun(_Wire):
    """One run of the command. `values`: of each benchmark, in the unit of its series."""

    phase: Literal["noise", "compared"]
    block: int = Field(description="Number of the block within its phase, from 1.")
    arm: Arm
    load: float | None = Field(
        default=None, description="Load average of the machine over the last minute, at the start."
    )
    values: list[float]


class Series(_Wire):
    """One measured quantity over all runs, and what they show.

    Several benchmarks have their geometric mean as the first series.
    """

    members: list[int] = Field(
        description=(
            "Indexes into the values of a run; several are combined by their geometric mean."
        )
    )
    benchmark: str | None = None
    metric: str
    statistic: str | None = None
    unit: str
    better: Better
    verdict: MeasureVerdict
    noise_floor: float | None = Field(
        default=None,
        ge=0,
        description="0.02: two measurements of the same code differ by up to 2 %.",
    )
    ratio: float | None = Field(default=None, description="Geometric mean over the blocks.")
    ratio_low: float | None = Field(
        default=None, description="Lower end of the 95 % interval (Student's t over the blocks)."
    )
    ratio_high: float | None = None
    median_ratio: float | None = Field(default=None, description="Ratio of the medians.")
    median_low: float | None = Field(
        default=None, description="Lower end of its 95 % interval (bootstrap)."
    )
    median_high: float | None = None
    p_value: float | None = Field(default=None, description="Mann-Whitney, two-sided.")


class Machine(_Wire):
    """The machine that measured."""

    name: str
    system: str
    processor: str
    cores: int


class PairedBenchmark(_Wire):
    """The whole measurement."""

    tachograph_measure: Literal[1]
    version: str
    measured_at: str
    ended_at: str
    repo: str
    run_id: str | None = None
    task: str | None = None
    baseline_commit: str
    candidate_commit: str | None = None
    patch_sha256: str | None = None
    command: list[str]
    setup: str | None = None
    check: str | None = None
    machine: Machine
    ended_by: str = Field(
        default="", description="Why it ended early: decided, until, time, interrupted or baseline."
    )
    failure: Failure | None = None
    failure_detail: str | None = None
    series: list[Series] = Field(default_factory=list)
    runs: list[BenchmarkRun] = Field(default_factory=list)
