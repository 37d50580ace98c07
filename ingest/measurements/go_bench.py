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
from ingest.measurements.measured import MOST_VALUES, Measured, Origin, TooManyValues
from ingest.measurements.words import joined, metric_name
from schemas.rows.claim import Scope
from schemas.rows.measurement import Failure, MeasuredStatus
from schemas.units import Better

_NUMBER = r"[-+]?(?:(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?\d++)?|NaN|Inf)"
_AT_A_LINE = re.compile(r"Benchmark(?<![^\r\n]Benchmark)")
_RUN = re.compile(rf"(Benchmark(?![a-z])\S++)\s++\d++((?:\s+{_NUMBER}\s++[^\s\d]\S*+)++)\s*+")
_CONFIGURATION = re.compile(r"([^\sA-Z:]++):(?:[ \t]++(.*+))?")
_FAILED = re.compile(
    r"\s*+--- (FAIL|SKIP): (Benchmark\S++).*+|panic: .*+|FAIL\s++(\S++) \[\w++ failed\]"
)
_UNIT = re.compile(r"Unit\s++(\S++)\s(?:.*\s)?better=(lower|higher)\b.*+")
_LAST_LINE = re.compile(r"PASS|FAIL\b.*|ok\s+\S+\s.*|\?\s+\S+\s.*|exit status \d+")

_METRICS = {
    **dict.fromkeys(("ns/op", "us/op", "ms/op", "sec/op"), "time"),
    "B/op": "allocated_bytes",
    "allocs/op": "allocations",
    **dict.fromkeys(("MB/s", "B/s"), "throughput"),
}
"""Unit -> metric. Any other unit comes from the benchmark's author, and names the quantity itself.
"""

_NOT_OF_THE_WORKLOAD = ("goos", "goarch", "cpu", "commit", "commit-time", "branch", "pkg")
"""Configuration of the machine and of the measured code. Any other describes the workload."""

_MOST_KEYS = 64
"""A bound, since each row repeats the whole configuration."""


def _recognises(file: MeasuredFile) -> bool:
    """Return whether it ends like the output of `go test`, or half of it are runs.

    A page may quote runs from before and after.
    """
    if not _AT_A_LINE.search(file.text):  # as in any other text with this word
        return False
    runs, count, last = 0, 0, ""
    for line in filter(str.strip, file.lines):
        runs += line.startswith("Benchmark") and _RUN.fullmatch(line) is not None
        count, last = count + 1, line
    return (
        runs > 0
        and (2 * runs >= count or _LAST_LINE.fullmatch(last.rstrip()) is not None)
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
            known, words = (
                tuple((key, value) for key, value in configuration.items() if value),
                run[2].split(),
            )
            for written, unit in zip(words[::2], words[1::2], strict=True):
                if math.isfinite(value := float(written)):
                    runs.setdefault((known, run[1], unit), []).append(value)
        elif found := _UNIT.fullmatch(line):
            better[found[1]] = Better(found[2])
        elif failed := _FAILED.fullmatch(line):
            origin = _origin(
                (*configuration.items(), *((("pkg", failed[3]),) if failed[3] else ())), failed[2]
            )
            status = MeasuredStatus.NOT_RUN if failed[1] == "SKIP" else MeasuredStatus.FAILED
            failure = Failure.CRASH if line.strip().startswith("panic: ") else None
            failures.append(Measured(origin, status=status, failure=failure, detail=line.strip()))
        elif line[:1].islower() and (pair := _CONFIGURATION.fullmatch(line)):
            configuration[pair[1]] = (pair[2] or "").strip()
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


def _origin(configuration: Iterable[tuple[str, str]], name: str | None) -> Origin:
    """Return the origin. The package is part of the name: packages may share benchmark names."""
    said = dict(configuration)
    platform = "/".join(said[key] for key in ("goos", "goarch") if said.get(key))
    return Origin(
        benchmark=".".join(part for part in (said.get("pkg"), name) if part) or None,
        params={key: value for key, value in said.items() if key not in _NOT_OF_THE_WORKLOAD},
        commit=said.get("commit"),
        machine=joined(platform, said.get("cpu")),
        scope=Scope.MICRO,
    )


TOOL = Tool("go-bench", ("Benchmark",), _recognises, _read, marks_suffice=False)
