"""Google Benchmark `--benchmark_format=json`: wall and processor time of a function, rates and counters.

Source: https://github.com/google/benchmark, `src/json_reporter.cc`, `docs/user_guide.md`. A benchmark has an entry for every repetition, or
for the aggregates of all, or both. Fitted complexities (`_BigO`, `_RMS`) are no measurements; `stddev` is the spread of the mean.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, stdev
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from ingest.measurements.values import joined, metric_name, number, written_time
from schemas.rows.claim import Scope
from schemas.rows.measurement import MeasuredStatus

Entry = Mapping[str, Any]

_UNNAMED = ("mean", "median", "stddev", "cv")
"""Aggregates of versions before 1.5, which only the end of the name tells from a repetition."""

_NO_VALUE = frozenset(("stddev", "cv", "bigo", "rms"))
"""Aggregates that are no value of a run."""

_QUANTITIES: Mapping[str, tuple[str, str]] = {
    "bytes_per_second": ("throughput", "bytes/s"),
    "items_per_second": ("throughput", "items/s"),
    "allocs_per_iter": ("allocations", "allocs"),
    "max_bytes_used": ("memory", "bytes"),
    "total_allocated_bytes": ("allocated_bytes", "bytes"),
    "net_heap_growth": ("net_heap_growth", "bytes"),
}
"""Key of an entry -> metric and unit. Any other number is a counter of the benchmark, whose unit only its author knows."""

_TIMES: Mapping[str, str] = {"real_time": "time", "cpu_time": "cpu_time"}
"""Key of an entry -> metric, in the entry's `time_unit`."""

_DESCRIBING = frozenset(
    "family_index per_family_instance_index repetitions repetition_index threads iterations cpu_coefficient real_coefficient rms".split()  # noqa: SIM905 - a list reads worse
)
"""Numbers of an entry that measure nothing."""


@dataclass
class _Benchmark:
    """The entries of one benchmark. `aggregates`: by `mean`, `median`, `stddev` and those of the benchmark's author."""

    runs: list[Entry] = field(default_factory=list)
    aggregates: dict[str, Entry] = field(default_factory=dict)

    def quantities(self) -> Iterator[tuple[str, Entry]]:
        """(key, an entry that has it) of everything that was measured."""
        found: dict[str, Entry] = {}
        for entry in (*self.runs, *self.aggregates.values()):
            found |= {key: entry for key in entry if key not in _DESCRIBING and key not in found and number(entry[key]) is not None}
        yield from found.items()


def _recognises(file: MeasuredFile) -> bool:
    entries = file.object.get("benchmarks")
    return isinstance(entries, list) and bool(entries) and all("name" in entry and _is_entry(entry) for entry in entries)


def _is_entry(entry: Entry) -> bool:
    return {"real_time", "cpu_time"} <= entry.keys() or entry.get("run_type") in ("iteration", "aggregate")


def _read(file: MeasuredFile) -> Iterator[Measured]:
    context = file.object.get("context") or {}
    for name, benchmark in _benchmarks(file.object["benchmarks"]).items():
        origin = Origin(
            benchmark=name,
            machine=joined((context.get("host_name"), f"{context['num_cpus']} CPUs" if "num_cpus" in context else None)),
            measured_at=written_time(context.get("date")),
            scope=Scope.MICRO,
        )
        failure = _failure(origin, benchmark.runs)
        yield from (failure,) if failure else _values(origin, benchmark)


def _benchmarks(entries: Sequence[Entry]) -> dict[str, _Benchmark]:
    """Benchmarks by name, in the order of the file."""
    found: dict[str, _Benchmark] = {}
    repeated = {str(entry["name"]).removesuffix("_stddev") for entry in entries if str(entry["name"]).endswith("_stddev")}
    for entry in entries:
        aggregate = _aggregate(entry, repeated)
        name = str(entry.get("run_name") or str(entry["name"]).removesuffix(f"_{aggregate}"))
        benchmark = found.setdefault(name, _Benchmark())
        if aggregate is None:
            benchmark.runs.append(entry)
        elif aggregate.lower() not in ("bigo", "rms"):
            benchmark.aggregates[aggregate] = entry
    return found


def _aggregate(entry: Entry, repeated: set[str]) -> str | None:
    """What the entry aggregates repetitions to; None for a repetition."""
    if "run_type" in entry:
        return entry.get("aggregate_name") if entry["run_type"] == "aggregate" else None
    base, _, end = str(entry["name"]).rpartition("_")
    return end if end in _UNNAMED and base in repeated else None


def _failure(origin: Origin, runs: Sequence[Entry]) -> Measured | None:
    """A benchmark that reported an error, or that skipped itself, in one of its repetitions."""
    for run in runs:
        if run.get("error_occurred"):
            return Measured(origin=origin, status=MeasuredStatus.FAILED, detail=run.get("error_message"))
        if run.get("skipped"):
            return Measured(origin=origin, status=MeasuredStatus.NOT_RUN, detail=run.get("skip_message"))
    return None


def _values(origin: Origin, benchmark: _Benchmark) -> Iterator[Measured]:
    every = defaultdict[str, list[float]](list)
    for run in benchmark.runs:
        for key in run:
            if (value := number(run[key])) is not None:
                every[key].append(value)
    for key, entry in benchmark.quantities():
        metric, unit = _metric(key, entry)
        samples = every.get(key, [])
        statistics = _statistics(key, samples, benchmark.aggregates)
        for statistic, value in statistics.items():
            if statistic not in _NO_VALUE:
                yield Measured(
                    origin=origin,
                    metric=metric,
                    statistic=statistic,
                    value=value,
                    unit=unit,
                    n=len(samples) or entry.get("repetitions"),
                    spread=Spread.around(value, statistics.get("stddev")) if statistic == "mean" else None,
                    samples=samples if statistic in ("mean", "median") else (),
                )


def _metric(key: str, entry: Entry) -> tuple[str, str | None]:
    if key in _TIMES:
        return _TIMES[key], entry.get("time_unit")
    return _QUANTITIES.get(key) or (metric_name(key), None)


def _statistics(key: str, samples: Sequence[float], aggregates: Mapping[str, Entry]) -> dict[str, float]:
    """The published aggregates of a quantity; those of its repetitions where they are not published. The time of one is a mean."""
    own = {"mean": fmean(samples)} if samples else {}
    if len(samples) > 1:
        own |= {"median": median(samples), "stddev": stdev(samples)}
    published = {name: value for name, entry in aggregates.items() if (value := _in_unit(entry, key)) is not None}
    return own | published


def _in_unit(entry: Entry, key: str) -> float | None:
    """A value of an aggregate; None where the aggregate is a share, such as `cv`."""
    return number(entry.get(key)) if entry.get("aggregate_unit") != "percentage" else None


TOOL = Tool("google-benchmark", ('"benchmarks"', '"real_time"', '"cpu_time"'), _recognises, _read)
