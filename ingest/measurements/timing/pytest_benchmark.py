"""pytest-benchmark `--benchmark-json`: statistics of every test in seconds, and the time of every round with `--benchmark-save-data`.

Source: https://github.com/ionelmc/pytest-benchmark, `src/pytest_benchmark/{session,stats,utils}.py`. `ops` is not read: it is 1 ÷ mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from ingest.measurements.timing.summaries import times
from ingest.measurements.values import joined, number, numbers, written_time
from schemas.rows.claim import Scope
from schemas.rows.measurement import SpreadKind


def _recognises(file: MeasuredFile) -> bool:
    tests = file.object.get("benchmarks")
    return {"machine_info", "commit_info"} <= file.object.keys() and isinstance(tests, list) and all("stats" in test for test in tests)


def _read(file: MeasuredFile) -> Iterator[Measured]:
    for test in file.object["benchmarks"]:
        yield from _of_test(_origin(file.object, test), test["stats"])


def _origin(document: Mapping[str, Any], test: Mapping[str, Any]) -> Origin:
    """With changes that were not committed (`dirty`) the commit is the parent of what was measured."""
    machine, commit = document["machine_info"] or {}, document["commit_info"] or {}
    cpu = machine.get("cpu") or {}
    return Origin(
        benchmark=test.get("fullname") or test["name"],
        params=test.get("params") or {},
        repo=commit.get("project"),
        commit=None if commit.get("dirty") else commit.get("id"),
        parent=commit.get("id") if commit.get("dirty") else None,
        machine=joined((machine.get("node"), cpu.get("brand_raw") or cpu.get("brand"))),
        measured_at=written_time(document.get("datetime")),
        scope=Scope.MICRO,
    )


def _of_test(origin: Origin, stats: Mapping[str, Any]) -> Iterator[Measured]:
    rounds, data = stats.get("rounds"), numbers(stats.get("data"))
    samples = data if len(data) == rounds else ()
    return times(origin, stats, rounds, samples, lambda statistic, value: _spread(statistic, value, stats) if rounds != 1 else None)


def _spread(statistic: str, value: float, stats: Mapping[str, Any]) -> Spread | None:
    """The standard deviation around the mean, the quartiles around the median."""
    if statistic == "mean":
        return Spread.around(value, number(stats.get("stddev")))
    low, high = number(stats.get("q1")), number(stats.get("q3"))
    return Spread(kind=SpreadKind.IQR, low=low, high=high) if statistic == "median" and None not in (low, high) else None


TOOL = Tool("pytest-benchmark", ('"machine_info"', '"commit_info"', '"benchmarks"'), _recognises, _read)
