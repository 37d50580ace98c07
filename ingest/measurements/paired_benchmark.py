"""What `tachograph measure` writes.

A benchmark run in turns on a baseline and a candidate (`schemas.wire.paired_benchmark`).

The error of the ratio is that of its blocks, which the row of the candidate carries whole.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, ResultOrigin
from schemas.rows.measurement import MeasuredStatus, PatchApplied, Variant
from schemas.units import Better
from schemas.wire.paired_benchmark import Arm, BenchmarkRun, PairedBenchmark, Series

RUNS_OF_BLOCK = 2
"""Runs of each side in a block."""


def _read(file: MeasuredFile) -> Iterator[Measured]:
    """Yield a row of the baseline and one of the candidate for each quantity.

    A candidate that failed has one row. Raises ValueError.
    """
    made = PairedBenchmark.model_validate(file.object)
    machine = f"{made.machine.name}, {made.machine.processor}, {made.machine.cores} cores"
    baseline = ResultOrigin(
        Variant.BASELINE,
        repo=made.repo,
        task=made.task,
        instance=f"{made.repo}@{made.baseline_commit}",
        parent=made.baseline_commit,
        command=" ".join(made.command),
        machine=machine,
        batch=f"{made.machine.name} {made.measured_at}",
        measured_at=datetime.fromisoformat(made.measured_at),
        measured_by=f"tachograph {made.version}",
    )
    candidate = replace(
        baseline,
        variant=Variant.CANDIDATE,
        commit=made.candidate_commit,
        run_id=made.run_id,
        patch_sha256=made.patch_sha256,
        patch_applied=PatchApplied.YES if made.patch_sha256 else PatchApplied.UNKNOWN,
    )
    if made.failure:
        yield Measured(
            candidate,
            status=MeasuredStatus.FAILED,
            failure=made.failure,
            detail=made.failure_detail,
        )
    for number, series in enumerate(made.series):
        for arm in Arm:
            is_candidate = arm is Arm.CANDIDATE
            runs = [run for run in made.runs if run.phase == "compared" and run.arm is arm]
            samples = [mean_of(run, series.members) for run in runs]
            if not samples or (is_candidate and made.failure):
                continue
            yield Measured(
                replace(candidate if is_candidate else baseline, benchmark=series.benchmark),
                series.metric,
                series.statistic,
                statistics.geometric_mean(samples),
                series.unit,
                len(samples),
                is_primary=number == 0,
                better=series.better,
                samples=samples,
                noise_floor=series.noise_floor,
                log_error=_error(made, series) if is_candidate else (0.0, None),
            )


def _error(made: PairedBenchmark, series: Series) -> tuple[float, float] | tuple[None, None]:
    """Return the standard error of the ratio's logarithm over the blocks.

    Its degrees of freedom are returned too; None for fewer than two blocks.
    """
    figures = block_figures(
        [run for run in made.runs if run.phase == "compared"], series.members, series.better
    )
    return (
        (statistics.stdev(figures) / math.sqrt(len(figures)), len(figures) - 1)
        if len(figures) > 1
        else (None, None)
    )


def block_figures(
    runs: Sequence[BenchmarkRun], members: Sequence[int], better: Better
) -> list[float]:
    """Return ln(baseline ÷ candidate) of each whole block, or its reverse if higher is better."""
    sides: Mapping[int, Mapping[Arm, list[float]]] = defaultdict(lambda: {arm: [] for arm in Arm})
    for run in runs:
        sides[run.block][run.arm].append(math.log(mean_of(run, members)))
    sign = 1 if better is Better.LOWER else -1
    whole = [
        block for block in sides.values() if all(len(block[arm]) == RUNS_OF_BLOCK for arm in Arm)
    ]
    return [
        sign * (sum(block[Arm.BASELINE]) - sum(block[Arm.CANDIDATE])) / RUNS_OF_BLOCK
        for block in whole
    ]


def mean_of(run: BenchmarkRun, members: Sequence[int]) -> float:
    """Return the geometric mean of some of a run's values."""
    return statistics.geometric_mean([run.values[index] for index in members])


TOOL = Tool(
    "tachograph measure",
    ('"tachograph_measure"',),
    lambda file: bool(file.object.get("tachograph_measure") == 1),
    _read,
)
