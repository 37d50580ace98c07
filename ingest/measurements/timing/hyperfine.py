"""hyperfine `--export-json`: one result per command, seconds, with the time of every run.

Source: https://github.com/sharkdp/hyperfine, `src/export/json.rs` and `src/benchmark/benchmark_result.rs`. hyperfine stops at a run that
fails unless it is told to ignore failures, so times of failed runs are in a file only then: they are not the time of the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from ingest.measurements.timing.summaries import times
from ingest.measurements.values import number, numbers
from schemas.rows.claim import Scope
from schemas.rows.measurement import Failure, MeasuredStatus


def _recognises(file: MeasuredFile) -> bool:
    results = file.object.get("results")
    return (
        isinstance(results, list) and bool(results) and all(isinstance(one, dict) and {"command", "mean"} <= one.keys() for one in results)
    )


def _read(file: MeasuredFile) -> Iterator[Measured]:
    for result in file.object["results"]:
        yield from _of_command(result)


def _of_command(result: Mapping[str, Any]) -> Iterator[Measured]:
    """`parameters`: those of `--parameter-scan` and `--parameter-list`, as texts."""
    origin = Origin(benchmark=result["command"], command=result["command"], params=result.get("parameters") or {}, scope=Scope.END_TO_END)
    if failed := _failed(result):
        yield Measured(origin=origin, status=MeasuredStatus.FAILED, failure=Failure.CRASH, detail=failed)
        return
    yield from _times(origin, result)
    yield from _resources(origin, result)


def _failed(result: Mapping[str, Any]) -> str | None:
    """How many runs failed, with their exit codes (128 + the signal that ended a run). A code of null is unknown, and no failure."""
    codes = result.get("exit_codes") or []
    failed = [code for code in codes if code]
    if not failed:
        return None
    return f"{len(failed)} of {len(codes)} runs of the command failed: exit code {', '.join(map(str, sorted(set(failed))))}"


def _times(origin: Origin, result: Mapping[str, Any]) -> Iterator[Measured]:
    samples = numbers(result.get("times"))

    def spread_of(statistic: str, value: float) -> Spread | None:
        return Spread.around(value, number(result.get("stddev"))) if statistic == "mean" else None

    return times(origin, result, len(samples) or None, samples, spread_of)


def _resources(origin: Origin, result: Mapping[str, Any]) -> Iterator[Measured]:
    """Processor time, of which hyperfine keeps the two means, and since 1.19 the largest memory of every run."""
    user, system = number(result.get("user")), number(result.get("system"))
    memory = numbers(result.get("memory_usage_byte"))
    runs = len(numbers(result.get("times"))) or None
    if user is not None and system is not None:
        yield Measured(origin=origin, metric="cpu_time", statistic="mean", value=user + system, unit="s", n=runs)
    if memory:
        yield Measured(origin=origin, metric="memory", statistic="mean", value=fmean(memory), unit="byte", n=len(memory), samples=memory)


TOOL = Tool("hyperfine", ('"results"', '"command"', '"mean"'), _recognises, _read)
