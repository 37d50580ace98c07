"""hyperfine `--export-json`: one result per command, seconds, with the time of every run.

Source: https://github.com/sharkdp/hyperfine, `src/export/json.rs` and `src/benchmark/benchmark_result.rs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from schemas.rows.claim import Scope
from schemas.rows.measurement import Failure, MeasuredStatus

_STATISTICS = ("mean", "median", "min", "max")


def _recognises(file: MeasuredFile) -> bool:
    results = file.object.get("results")
    return (
        isinstance(results, list) and bool(results) and all(isinstance(one, dict) and {"command", "mean"} <= one.keys() for one in results)
    )


def _read(file: MeasuredFile) -> Iterator[Measured]:
    for result in file.object["results"]:
        yield from _of_command(result)


def _of_command(result: Mapping[str, Any]) -> Iterator[Measured]:
    origin = Origin(benchmark=result["command"], command=result["command"], params=result.get("parameters") or {}, scope=Scope.END_TO_END)
    times = tuple(result.get("times") or ())
    failed = sum(code != 0 for code in result.get("exit_codes") or () if code is not None)
    if failed:
        detail = f"{failed} of {len(result['exit_codes'])} runs of the command failed"
        yield Measured(origin=origin, status=MeasuredStatus.FAILED, failure=Failure.CRASH, detail=detail)
        return
    for statistic in _STATISTICS:
        if (value := result.get(statistic)) is not None:
            yield Measured(
                origin=origin,
                metric="time",
                statistic=statistic,
                value=value,
                unit="s",
                n=len(times) or None,
                spread=Spread.around(value, result.get("stddev")) if statistic == "mean" else None,
                samples=times if statistic in ("mean", "median") else (),
            )


TOOL = Tool("hyperfine", ('"results"', '"command"', '"mean"'), _recognises, _read)
