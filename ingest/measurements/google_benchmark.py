"""Google Benchmark `--benchmark_format=json`.

Wall and processor time of a function, rates and counters.

Source: https://github.com/google/benchmark, `src/json_reporter.cc`, `docs/user_guide.md`. A
benchmark has an entry per repetition, or per aggregate of them, or both. Fitted complexities
(`_BigO`, `_RMS`) are no measurements; `stddev` is the spread of the mean.

By `AddCustomContext` or `--benchmark_context`, `context` may name the commit: `GIT_COMMIT_HASH`
(Kokkos), `git_sha`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median, stdev
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, ResultOrigin, statistics_of
from ingest.measurements.words import is_hash, joined, metric_name, number, written_time
from schemas.claims import Scope
from schemas.rows.measurement import MeasuredStatus

Entry = Mapping[str, Any]

_QUANTITIES = {
    "real_time": ("time", None),
    "cpu_time": ("cpu_time", None),
    "bytes_per_second": ("throughput", "bytes/s"),
    "items_per_second": ("throughput", "items/s"),
    "allocs_per_iter": ("allocations", "allocs"),
    "max_bytes_used": ("memory", "bytes"),
    "total_allocated_bytes": ("allocated_bytes", "bytes"),
    "net_heap_growth": ("net_heap_growth", "bytes"),
}
"""Key of an entry -> metric and unit; of times the entry has it. Any other number is a counter of
the benchmark in an unknown unit.
"""

_MEASURE_NOTHING = frozenset(
    (
        "family_index per_family_instance_index repetitions repetition_index threads iterations "
        "cpu_coefficient real_coefficient rms"
    ).split()
)


def _commit(context: Mapping[str, Any]) -> str | None:
    """Return the commit that the context names.

    None without one, with several, or if what was measured was not committed.
    """
    texts = {key: str(value).strip() for key, value in context.items()}
    hashes = {
        text.lower()
        for key, text in texts.items()
        if is_hash(text) and {"git", "commit", "revision"} & {*metric_name(key).split("_")}
    }
    is_dirty = any(
        text.lower() == "dirty"
        or (key.lower().endswith("dirty") and text.lower() in ("true", "1", "yes"))
        for key, text in texts.items()
    )
    return hashes.pop() if len(hashes) == 1 and not is_dirty else None


def _recognises(file: MeasuredFile) -> bool:
    entries = file.object.get("benchmarks")
    return (
        isinstance(entries, list)
        and bool(entries)
        and all(
            "name" in entry
            and (
                {"real_time", "cpu_time"} <= entry.keys()
                or entry.get("run_type") in ("iteration", "aggregate")
            )
            for entry in entries
        )
    )


def _read(file: MeasuredFile) -> Iterator[Measured]:
    context, entries = file.object.get("context") or {}, file.object["benchmarks"]
    commit = _commit(context)
    repeated = {
        str(entry["name"]).removesuffix("_stddev")
        for entry in entries
        if str(entry["name"]).endswith("_stddev")
    }
    benchmarks: dict[
        str, tuple[list[Entry], dict[str, Entry]]
    ] = {}  # repetitions, and aggregates by `mean`, `median`, `stddev` and others
    for entry in entries:
        base, _, end = str(entry["name"]).rpartition("_")
        aggregate = (
            end if end in ("mean", "median", "stddev", "cv") and base in repeated else None
        )  # before 1.5 only its name has it
        if "run_type" in entry:
            aggregate = entry.get("aggregate_name") if entry["run_type"] == "aggregate" else None
        name = str(entry.get("run_name") or str(entry["name"]).removesuffix(f"_{aggregate}"))
        runs, aggregates = benchmarks.setdefault(name, ([], {}))
        if aggregate is None:
            runs.append(entry)
        elif aggregate.lower() not in ("bigo", "rms"):
            aggregates[aggregate] = entry
    for name, (runs, aggregates) in benchmarks.items():
        origin = ResultOrigin(
            benchmark=name,
            commit=commit,
            machine=joined(
                context.get("host_name"),
                f"{context['num_cpus']} CPUs" if "num_cpus" in context else None,
            ),
            measured_at=written_time(context.get("date")),
            scope=Scope.MICRO,
        )
        stopped = next(
            (run for run in runs if run.get("error_occurred") or run.get("skipped")), None
        )
        if stopped and stopped.get("error_occurred"):
            yield Measured(
                origin, status=MeasuredStatus.FAILED, detail=stopped.get("error_message")
            )
        elif stopped:
            yield Measured(
                origin, status=MeasuredStatus.NOT_RUN, detail=stopped.get("skip_message")
            )
        else:
            yield from _values(origin, runs, aggregates)


def _values(
    origin: ResultOrigin, runs: Sequence[Entry], aggregates: Mapping[str, Entry]
) -> Iterator[Measured]:
    """Yield the published aggregates of each quantity, else those of its repetitions.

    The time of one repetition is a mean.
    """
    quantities: dict[str, Entry] = {}  # the first entry with each quantity
    for entry in (*runs, *aggregates.values()):
        for key in entry:
            if key not in _MEASURE_NOTHING and number(entry[key]) is not None:
                quantities.setdefault(key, entry)
    for key, entry in quantities.items():
        samples = [value for run in runs if (value := number(run.get(key))) is not None]
        statistics = {"mean": fmean(samples)} if samples else {}
        if len(samples) > 1:
            statistics |= {"median": median(samples), "stddev": stdev(samples)}
        for name, aggregate in aggregates.items():
            value = number(aggregate.get(key))
            if (
                value is not None and aggregate.get("aggregate_unit") != "percentage"
            ):  # a share, such as `cv`
                statistics[name] = value
        metric, unit = _QUANTITIES.get(key) or (metric_name(key), None)
        if key in ("real_time", "cpu_time"):
            unit = entry.get("time_unit")
        deviation = statistics.pop("stddev", None)
        statistics.pop("cv", None)
        runs_of_value = len(samples) or entry.get("repetitions")
        yield from statistics_of(
            origin, metric, unit, statistics, runs_of_value, samples=samples, deviation=deviation
        )


TOOL = Tool("google-benchmark", ('"benchmarks"', '"real_time"', '"cpu_time"'), _recognises, _read)
