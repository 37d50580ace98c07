"""`go test -bench`: text with a line per run of a benchmark, `BenchmarkName-8  1000  325 ns/op  48 B/op`. Runs of one name are one row.

Source: the Go benchmark data format, https://go.dev/design/14313-benchmark-format, and `benchfmt` of https://github.com/golang/perf. Lines
`key: value` hold for the lines after them, `Unit u better=higher` for the whole file. The value of a row is the median of its runs, as in
benchstat.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.bounds import MOST_VALUES, TooManyValues
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.values import joined, metric_name
from schemas.rows.claim import Scope
from schemas.rows.measurement import Failure, MeasuredStatus
from schemas.units import Better

_NUMBER = r"[-+]?(?:(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?\d++)?|NaN|Inf)"
_RUN = re.compile(rf"(Benchmark(?![a-z])\S++)\s++\d++((?:\s+{_NUMBER}\s++[^\s\d]\S*+)++)\s*+")
_CONFIGURATION = re.compile(r"([^\sA-Z:]++):(?:[ \t]++(.*+))?")
_FAILED = re.compile(r"\s*+--- (FAIL|SKIP): (Benchmark\S++).*+|panic: .*+|FAIL\s++(\S++) \[\w++ failed\]")
_UNIT = re.compile(r"Unit\s++(\S++)\s(?:.*\s)?better=(lower|higher)\b.*+")
_END = re.compile(r"PASS|FAIL\b.*|ok\s+\S+\s.*|\?\s+\S+\s.*|exit status \d+")
"""The last line of `go test`."""


_METRICS: Mapping[str, str] = {
    "ns/op": "time",
    "us/op": "time",
    "ms/op": "time",
    "sec/op": "time",
    "B/op": "allocated_bytes",
    "allocs/op": "allocations",
    "MB/s": "throughput",
    "B/s": "throughput",
}
"""Unit -> metric. Any other unit, which the benchmark's author chose, names the quantity itself."""

_MACHINE = ("goos", "goarch", "cpu")
_OF_CODE = ("commit", "commit-time", "branch", "pkg")
"""Configuration of the measured code. What is neither of these nor of the machine describes what the benchmark did."""

_MOST_KEYS = 64
"""Each row is told by the whole configuration."""

Configuration = tuple[tuple[str, str], ...]


class _Series(NamedTuple):
    """What the runs of one row have in common."""

    configuration: Configuration
    name: str
    unit: str


@dataclass
class _Output:
    """What the lines of a file said so far."""

    configuration: dict[str, str] = field(default_factory=dict)
    runs: dict[_Series, list[float]] = field(default_factory=dict)
    better: dict[str, Better] = field(default_factory=dict)
    failures: list[Measured] = field(default_factory=list)

    def add(self, line: str) -> None:
        """One line, without its end. A line of no known form is the output of a test."""
        if run := _RUN.fullmatch(line):
            self._add_run(run[1], run[2].split())
        elif unit := _UNIT.fullmatch(line):
            self.better[unit[1]] = Better(unit[2])
        elif failed := _FAILED.fullmatch(line):
            self._add_failure(failed[2], failed[3], line.strip(), is_skipped=failed[1] == "SKIP")
        elif line[:1].islower() and (pair := _CONFIGURATION.fullmatch(line)):
            self.configuration[pair[1]] = (pair[2] or "").strip()
            if len(self.configuration) > _MOST_KEYS:
                raise TooManyValues(f"it has more than {_MOST_KEYS} keys of a configuration")
        if len(self.runs) + len(self.failures) > MOST_VALUES:
            raise TooManyValues(f"it holds more than {MOST_VALUES:,} values")

    def _add_run(self, name: str, words: list[str]) -> None:
        configuration = tuple((key, value) for key, value in self.configuration.items() if value)
        for written, unit in zip(words[::2], words[1::2], strict=True):
            if math.isfinite(value := float(written)):
                self.runs.setdefault(_Series(configuration, name, unit), []).append(value)

    def _add_failure(self, name: str | None, package: str | None, line: str, *, is_skipped: bool) -> None:
        status = MeasuredStatus.NOT_RUN if is_skipped else MeasuredStatus.FAILED
        failure = Failure.CRASH if line.startswith("panic: ") else None
        origin = _origin((*self.configuration.items(), *((("pkg", package),) if package else ())), name)
        self.failures.append(Measured(origin=origin, status=status, failure=failure, detail=line))


def _recognises(file: MeasuredFile) -> bool:
    """Whether it ends like the output of `go test`, or half of it are runs. A page that quotes runs may have them from before and after."""
    runs, count, last = 0, 0, ""
    for line in filter(str.strip, file.lines):
        runs += line.startswith("Benchmark") and _RUN.fullmatch(line) is not None
        count, last = count + 1, line
    return runs > 0 and (2 * runs >= count or _END.fullmatch(last.rstrip()) is not None) and not file.is_page


def _read(file: MeasuredFile) -> Iterator[Measured]:
    output = _Output()
    for line in file.lines:
        output.add(line)
    for series, values in output.runs.items():
        yield _measured(series, values, output.better.get(series.unit))
    yield from output.failures


def _measured(series: _Series, values: list[float], better: Better | None) -> Measured:
    return Measured(
        origin=_origin(series.configuration, series.name),
        metric=_METRICS.get(series.unit) or metric_name(series.unit),
        statistic="median",
        value=median(values),
        unit=series.unit,
        better=better,
        n=len(values),
        samples=values,
    )


def _origin(configuration: Configuration, name: str | None) -> Origin:
    """The package is a part of the name, since packages may have benchmarks of one name."""
    said = dict(configuration)
    platform = "/".join(said[key] for key in ("goos", "goarch") if said.get(key))
    return Origin(
        benchmark=".".join(part for part in (said.get("pkg"), name) if part) or None,
        params={key: value for key, value in said.items() if key not in _MACHINE + _OF_CODE},
        commit=said.get("commit"),
        machine=joined((platform, said.get("cpu"))),
        scope=Scope.MICRO,
    )


TOOL = Tool("go-bench", ("Benchmark",), _recognises, _read, marks_suffice=False)
