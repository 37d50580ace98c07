"""hyperfine `--export-json`: one result per command, seconds, with the time of every run.

Source: https://github.com/sharkdp/hyperfine, `src/export/json.rs` and
`src/benchmark/benchmark_result.rs`. hyperfine stops at a failing run unless failures are ignored;
only then a file contains times of failed runs, which are not times of the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, ResultOrigin, statistics_of
from ingest.measurements.words import number, numbers
from schemas.claims import Scope
from schemas.rows.measurement import Failure, MeasuredStatus


def _recognises(file: MeasuredFile) -> bool:
    results = file.object.get("results")
    return (
        isinstance(results, list)
        and bool(results)
        and all(isinstance(one, dict) and {"command", "mean"} <= one.keys() for one in results)
    )


def _read(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values: times, two means of processor time, and each run's peak memory.

    hyperfine keeps only two means of processor time, and peak memory since 1.19.
    """
    for result in file.object["results"]:
        command, params = (
            result["command"],
            result.get("parameters") or {},
        )  # of `--parameter-scan` and `--parameter-list`, as texts
        origin = ResultOrigin(
            benchmark=command, command=command, params=params, scope=Scope.END_TO_END
        )
        codes = result.get("exit_codes") or []
        failed = [
            code for code in codes if code
        ]  # 128 + the signal that ended a run; a code of null is unknown, and no failure
        if failed:
            exits = ", ".join(map(str, sorted(set(failed))))
            detail = f"{len(failed)} of {len(codes)} runs of the command failed: exit code {exits}"
            yield Measured(
                origin, status=MeasuredStatus.FAILED, failure=Failure.CRASH, detail=detail
            )
            continue
        samples = numbers(result.get("times"))
        runs = len(samples) or None
        times = {name: result.get(name) for name in ("mean", "median", "min", "max")}
        yield from statistics_of(
            origin, "time", "s", times, runs, samples=samples, deviation=result.get("stddev")
        )
        user, system = number(result.get("user")), number(result.get("system"))
        if user is not None and system is not None:
            yield Measured(origin, "cpu_time", "mean", user + system, "s", runs)
        if memory := numbers(result.get("memory_usage_byte")):
            yield Measured(
                origin, "memory", "mean", fmean(memory), "byte", len(memory), samples=memory
            )


TOOL = Tool("hyperfine", ('"results"', '"command"', '"mean"'), _recognises, _read)
