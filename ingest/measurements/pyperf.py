"""pyperf `-o FILE`: every value of every process of a benchmark, in seconds, bytes or numbers.

Source: https://pyperf.readthedocs.io/en/latest/api.html#pyperf-json-file-format. Warm-ups, and
processes that only calibrate (without `values`), are skipped. Mean, standard deviation and median
are those that `pyperf stats` prints.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator
from statistics import fmean, median, stdev

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, ResultOrigin, statistics_of
from ingest.measurements.words import joined, numbers, written_time
from schemas.claims import Scope

_QUANTITIES = {"second": ("time", "second"), "byte": ("memory", "byte"), "integer": ("value", None)}
"""`metadata.unit` -> metric and unit. Without one the values are seconds."""

_WORKLOAD = ("timeit_stmt", "timeit_setup", "timeit_teardown", "description")


def _recognises(file: MeasuredFile) -> bool:
    benchmarks = file.object.get("benchmarks")
    return (
        isinstance(file.object.get("version"), str)
        and isinstance(benchmarks, list)
        and bool(benchmarks)
        and all(
            isinstance(one["runs"], list)
            and ("values" in one["runs"][0] or "warmups" in one["runs"][0])
            for one in benchmarks
        )
    )


def _read(file: MeasuredFile) -> Iterator[Measured]:
    common = file.object.get("metadata") or {}
    for benchmark in file.object["benchmarks"]:
        runs = [run for run in benchmark["runs"] if run.get("values")]
        if not runs:
            continue
        of_benchmark = ChainMap(benchmark.get("metadata") or {}, common)
        metadata = of_benchmark.new_child(runs[0].get("metadata") or {})
        dates = [
            date for run in runs if (date := written_time((run.get("metadata") or {}).get("date")))
        ]
        values = [value for run in runs for value in numbers(run["values"])]
        command, written = metadata.get("command"), of_benchmark.get("unit", "second")
        origin = ResultOrigin(
            benchmark=metadata.get("name"),
            params={key: metadata.get(key) for key in _WORKLOAD},
            command=command,
            machine=joined(metadata.get("hostname"), metadata.get("cpu_model_name")),
            measured_at=min(dates, default=None),
            scope=Scope.END_TO_END if command else Scope.MICRO,
        )
        metric, unit = _QUANTITIES.get(written) or (written, written)
        yield from statistics_of(
            origin,
            metric,
            unit,
            {"mean": fmean(values), "median": median(values)},
            len(values),
            samples=values,
            deviation=stdev(values) if len(values) > 1 else None,
        )


TOOL = Tool("pyperf", ('"benchmarks"', '"runs"', '"metadata"', '"values"'), _recognises, _read)
