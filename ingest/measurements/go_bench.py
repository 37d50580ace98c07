"""`go test -bench`: text with a line per run of a benchmark.

Example: `BenchmarkName-8 1000 325 ns/op 48 B/op`. Runs of one name are one row.

Source: the Go benchmark data format, https://go.dev/design/14313-benchmark-format, and `benchfmt`
of https://github.com/golang/perf. Lines `key: value` apply to the lines after them, `Unit u
better=higher` to the whole file. The value of a row is the median of its runs, as in benchstat.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from statistics import median

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import MOST_VALUES, Measured, ResultOrigin, TooManyValues
from ingest.measurements.words import joined, metric_name
from schemas.claims import Scope
from schemas.rows.measurement import Failure, MeasuredStatus
from schemas.units import Better

_RUN = re.compile(
    r"(Benchmark(?![a-z])\S++)\s++\d++"
    r"((?:\s+[-+]?(?:(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?\d++)?|NaN|Inf)\s++[^\s\d]\S*+)++)\s*+"
)
_FAILED = re.compile(
    r"\s*+--- (FAIL|SKIP): (Benchmark\S++).*+|panic: .*+|FAIL\s++(\S++) \[\w++ failed\]"
)
_METRICS = {
    **dict.fromkeys(("ns/op", "us/op", "ms/op", "sec/op"), "time"),
    "B/op": "allocated_bytes",
    "allocs/op": "allocations",
    **dict.fromkeys(("MB/s", "B/s"), "throughput"),
}
"""Unit -> metric. Any other unit comes from the benchmark's author, and names the quantity itself.
"""

_MOST_KEYS = 64
"""A bound, since each row repeats the whole configuration."""


def _recognises(file: MeasuredFile) -> bool:
    """Return whether it ends like the output of `go test`, or half of it are runs.

    A page may quote runs from before and after.
    """
    if "\nBenchmark" not in f"\n{file.text}":  # as in any other text with this word
        return False
    runs, count, last = 0, 0, ""
    for line in filter(str.strip, file.lines):
        runs += line.startswith("Benchmark") and _RUN.fullmatch(line) is not None
        count, last = count + 1, line
    return (
        runs > 0
        and (2 * runs >= count or last.split()[0] in ("PASS", "FAIL", "ok", "?", "exit"))
        and not file.is_page
    )


def _read(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the rows of runs, then those of failures. A line of no known form is test output."""
    configuration: dict[str, str] = {}
    runs: dict[
        tuple[tuple[tuple[str, str], ...], str, str], list[float]
    ] = {}  # by configuration, name and unit
    better: dict[str, Better] = {}
    failures: list[Measured] = []
    for line in file.lines:
        if run := _RUN.fullmatch(line):
            known = tuple((key, value) for key, value in configuration.items() if value)
            figures = run[2].split()
            for written, unit in zip(figures[::2], figures[1::2], strict=True):
                if math.isfinite(value := float(written)):
                    runs.setdefault((known, run[1], unit), []).append(value)
        elif (words := line.split())[:1] == ["Unit"]:
            settings = dict(word.split("=", 1) for word in words[2:] if "=" in word)
            if settings.get("better") in ("lower", "higher"):
                better[words[1]] = Better(settings["better"])
        elif failed := _FAILED.fullmatch(line):
            origin = _origin(
                (*configuration.items(), *((("pkg", failed[3]),) if failed[3] else ())), failed[2]
            )
            status = MeasuredStatus.NOT_RUN if failed[1] == "SKIP" else MeasuredStatus.FAILED
            failure = Failure.CRASH if line.strip().startswith("panic: ") else None
            failures.append(Measured(origin, status=status, failure=failure, detail=line.strip()))
        elif (
            line[:1].islower()
            and (key := words[0]).lower() == key
            and key.find(":") + 1 == len(key)
        ):
            configuration[key[:-1]] = line.removeprefix(key).strip()
            if len(configuration) > _MOST_KEYS:
                raise TooManyValues(f"it has more than {_MOST_KEYS} keys of a configuration")
        if len(runs) + len(failures) > MOST_VALUES:
            raise TooManyValues(f"it holds more than {MOST_VALUES:,} values")
    for (known, name, unit), values in runs.items():
        origin, metric = _origin(known, name), _METRICS.get(unit) or metric_name(unit)
        yield Measured(
            origin,
            metric,
            "median",
            median(values),
            unit,
            len(values),
            better=better.get(unit),
            samples=values,
        )
    yield from failures


def _origin(configuration: Iterable[tuple[str, str]], name: str | None) -> ResultOrigin:
    """Return the origin. The package is part of the name: packages may share benchmark names."""
    settings = dict(configuration)
    platform = "/".join(settings[key] for key in ("goos", "goarch") if settings.get(key))
    no_workload = {"goos", "goarch", "cpu", "commit", "commit-time", "branch", "pkg"}
    return ResultOrigin(
        benchmark=".".join(part for part in (settings.get("pkg"), name) if part) or None,
        params={key: value for key, value in settings.items() if key not in no_workload},
        commit=settings.get("commit"),
        machine=joined(platform, settings.get("cpu")),
        scope=Scope.MICRO,
    )


TOOL = Tool("go-bench", ("Benchmark",), _recognises, _read, marks_suffice=False)
