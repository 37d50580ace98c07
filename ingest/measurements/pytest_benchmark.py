"""pytest-benchmark `--benchmark-json`.

Statistics of every test in seconds, and the time of every round with `--benchmark-save-data`.

Source: https://github.com/ionelmc/pytest-benchmark,
`src/pytest_benchmark/{session,stats,utils}.py`. `ops` is not read: it is 1 ÷ mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, ResultOrigin, Spread, statistics_of
from ingest.measurements.words import joined, number, numbers, written_time
from schemas.claims import Scope
from schemas.rows.measurement import SpreadKind


def _recognises(file: MeasuredFile) -> bool:
    tests = file.object.get("benchmarks")
    return (
        {"machine_info", "commit_info"} <= file.object.keys()
        and isinstance(tests, list)
        and all("stats" in test for test in tests)
    )


def _read(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values.

    With uncommitted changes (`dirty`) the commit is the parent of the measured code.
    """
    machine, commit = file.object["machine_info"] or {}, file.object["commit_info"] or {}
    cpu = machine.get("cpu") or {}
    for test in file.object["benchmarks"]:
        origin = ResultOrigin(
            benchmark=test.get("fullname") or test["name"],
            # parameters that are no JSON are written as `UNSERIALIZABLE[…]`, with their `repr`: its
            # address in memory is another one in each process
            params={
                name: re.sub(r" at 0x[0-9a-fA-F]+", "", value) if isinstance(value, str) else value
                for name, value in (test.get("params") or {}).items()
            },
            repo=commit.get("project"),
            commit=None if commit.get("dirty") else commit.get("id"),
            parent=commit.get("id") if commit.get("dirty") else None,
            machine=joined(machine.get("node"), cpu.get("brand_raw") or cpu.get("brand")),
            measured_at=written_time(file.object.get("datetime")),
            scope=Scope.MICRO,
        )
        stats = test["stats"]
        rounds, data = stats.get("rounds"), numbers(stats.get("data"))
        low, high = number(stats.get("q1")), number(stats.get("q3"))
        has_quartiles = rounds != 1 and low is not None and high is not None
        for one in statistics_of(
            origin,
            "time",
            "s",
            {name: stats.get(name) for name in ("mean", "median", "min", "max")},
            rounds,
            samples=data if len(data) == rounds else (),
            deviation=stats.get("stddev") if rounds != 1 else None,
        ):
            is_between = one.statistic == "median" and has_quartiles
            quartiles = Spread(kind=SpreadKind.IQR, low=low, high=high)
            yield replace(one, spread=quartiles) if is_between else one


TOOL = Tool(
    "pytest-benchmark", ('"machine_info"', '"commit_info"', '"benchmarks"'), _recognises, _read
)
