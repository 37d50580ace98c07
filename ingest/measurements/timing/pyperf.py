"""pyperf `-o FILE`: every value of every process of a benchmark, in seconds, bytes or numbers.

Source: https://pyperf.readthedocs.io/en/latest/api.html#pyperf-json-file-format. Warm-ups and the values of processes that only calibrate
(they have no `values`) are no results. Mean, standard deviation and median are those that `pyperf stats` prints.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from datetime import datetime
from statistics import fmean, median, stdev
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from ingest.measurements.values import joined, numbers, written_time
from schemas.rows.claim import Scope

_QUANTITIES = {"second": ("time", "second"), "byte": ("memory", "byte"), "integer": ("value", None)}
"""`metadata.unit` -> metric and unit. Without one the values are seconds."""

_WORKLOAD = ("timeit_stmt", "timeit_setup", "timeit_teardown", "description")
"""Metadata that say what the benchmark did."""


def _recognises(file: MeasuredFile) -> bool:
    document = file.object
    benchmarks = document.get("benchmarks")
    return (
        isinstance(document.get("version"), str)
        and isinstance(benchmarks, list)
        and bool(benchmarks)
        and all(isinstance(benchmark["runs"], list) and _is_run(benchmark["runs"][0]) for benchmark in benchmarks)
    )


def _is_run(run: Mapping[str, Any]) -> bool:
    return "values" in run or "warmups" in run


def _read(file: MeasuredFile) -> Iterator[Measured]:
    common = file.object.get("metadata") or {}
    for benchmark in file.object["benchmarks"]:
        runs = [run for run in benchmark["runs"] if run.get("values")]
        metadata = ChainMap(benchmark.get("metadata") or {}, common)
        if runs:
            dates = [date for run in runs if (date := written_time((run.get("metadata") or {}).get("date")))]
            values = [value for run in runs for value in numbers(run["values"])]
            origin = _origin(metadata.new_child(runs[0].get("metadata") or {}), dates)
            yield from _of_benchmark(origin, metadata.get("unit", "second"), values)


def _origin(metadata: Mapping[str, Any], dates: list[datetime]) -> Origin:
    command = metadata.get("command")
    return Origin(
        benchmark=metadata.get("name"),
        params={key: metadata.get(key) for key in _WORKLOAD},
        command=command,
        machine=joined((metadata.get("hostname"), metadata.get("cpu_model_name"))),
        measured_at=min(dates, default=None),
        scope=Scope.END_TO_END if command else Scope.MICRO,
    )


def _of_benchmark(origin: Origin, unit: str, values: list[float]) -> Iterator[Measured]:
    metric, written = _QUANTITIES.get(unit) or (unit, unit)
    mean = fmean(values)
    spread = Spread.around(mean, stdev(values)) if len(values) > 1 else None
    for statistic, value in (("mean", mean), ("median", median(values))):
        yield Measured(
            origin=origin,
            metric=metric,
            statistic=statistic,
            value=value,
            unit=written,
            n=len(values),
            spread=spread if statistic == "mean" else None,
            samples=values,
        )


TOOL = Tool("pyperf", ('"benchmarks"', '"runs"', '"metadata"', '"values"'), _recognises, _read)
