"""Formats of services that watch benchmarks over time: Bencher, and github-action-benchmark.

Bencher Metric Format is `{benchmark: {measure: {value, lower_value?, upper_value?}}}`. Measures
that Bencher itself defines have a fixed unit; any other has none in the file. The meaning of the
lower and the upper value depends on the tool that wrote them: they are kept as bounds of an unknown
kind if the value lies between them.

github-action-benchmark has the array that its custom tools read, and its history,
`window.BENCHMARK_DATA = {…}` in `data.js`. Only the history shows which direction is better, by the
name of the tool. The array has units: more of a time is worse, of a rate better, and of anything
else unknown (megabytes may be used or free ones). `range` is free text: a distance, or percent of
the value. Its meaning is known for some tools; for the others only its position is kept.

Sources: https://bencher.dev/docs/reference/bencher-metric-format/ and
https://bencher.dev/docs/how-to/track-custom-benchmarks/;
https://github.com/benchmark-action/github-action-benchmark, `src/extract.ts`, `src/write.ts`
(`biggerIsBetter`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, ResultOrigin, Spread
from ingest.measurements.words import UNNAMED, is_number, metric_of_unit, snake_case
from ingest.sources.times import unix_time
from schemas.rows.measurement import SpreadKind
from schemas.units import Better, stored_unit

_BENCHER = {
    "latency": ("latency", "ns"),
    "throughput": ("throughput", "ops/s"),
    "build-time": ("build_time", "s"),
    "file-size": ("size", "B"),
}
"""Measure that Bencher defines -> metric and unit."""

_HISTORY = re.compile(r"\s*+window\.BENCHMARK_DATA\s*+=\s*+")
_RANGE = re.compile(r"\s*+(?:(?:±|\+-|\+/-)\s*+)?(\d++(?:\.\d++)?(?:[eE][-+]?\d++)?)\s*+(%?)\s*+")
_RUNS = re.compile(r"\b(\d++) samples\b|\brounds: (\d++)")


class _Harness(NamedTuple):
    """Values of a tool in the history.

    The better direction, their statistic, and the meaning of their range.
    """

    better: Better | None
    statistic: str | None = None
    spread: SpreadKind = SpreadKind.NONE


_HARNESSES = {
    "cargo": _Harness(Better.LOWER, "median"),
    "go": _Harness(Better.LOWER, "mean"),
    "benchmarkjs": _Harness(Better.HIGHER, "mean", SpreadKind.CI),
    "benchmarkluau": _Harness(Better.LOWER),
    "pytest": _Harness(Better.HIGHER, "mean"),
    "googlecpp": _Harness(Better.LOWER, "mean"),
    "catch2": _Harness(Better.LOWER, "mean", SpreadKind.STD),
    "julia": _Harness(Better.LOWER),
    "jmh": _Harness(Better.LOWER, "mean"),
    "benchmarkdotnet": _Harness(Better.LOWER, "mean", SpreadKind.STD),
    "customBiggerIsBetter": _Harness(Better.HIGHER),
    "customSmallerIsBetter": _Harness(Better.LOWER),
}


def _is_bencher(file: MeasuredFile) -> bool:
    """Return whether all of it has the form, and some part is Bencher's own.

    Other programs nest values in two objects too.
    """
    measures = [
        (name, metric) for of_one in file.object.values() for name, metric in of_one.items()
    ]
    is_bmf = all(
        metric.keys() <= {"value", "lower_value", "upper_value"} and is_number(metric["value"])
        for _, metric in measures
    )
    return is_bmf and any(
        name in _BENCHER or "lower_value" in metric or "upper_value" in metric
        for name, metric in measures
    )


def _read_bencher(file: MeasuredFile) -> Iterator[Measured]:
    for benchmark, measures in file.object.items():
        origin = ResultOrigin(benchmark=benchmark)
        for measure, metric in measures.items():
            value, low, high = metric["value"], metric.get("lower_value"), metric.get("upper_value")
            is_around = (low is None or low <= value) and (high is None or high >= value)
            spread = Spread(kind=SpreadKind.NONE, low=low, high=high) if is_around else None
            name, unit = _BENCHER.get(measure) or (snake_case(measure), None)
            yield Measured(origin, name, None, value, unit, spread=spread)


def _is_action(file: MeasuredFile) -> bool:
    """Return whether it is the history, or an array of results only, without unknown keys.

    Unknown keys are those the tool does not have.
    """
    if _HISTORY.match(file.text):
        return True
    found = file.documents[0]
    return (
        isinstance(found, list)
        and bool(found)
        and all(
            isinstance(one, dict)
            and {"name", "unit", "value", "range", "extra"}
            >= one.keys()
            >= {"name", "unit", "value"}
            and isinstance(one["unit"], str)
            for one in found
        )
    )


def _read_action(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the results of an array, or of every commit of every suite.

    Names may repeat across suites, so the suite is a parameter.
    """
    start = _HISTORY.match(file.text)
    if not start:
        for bench in file.documents[0]:
            yield _measured(bench, ResultOrigin(benchmark=bench["name"]), _Harness(None))
        return
    try:
        history: Mapping[str, Any] = json.loads(file.text[start.end() :].rstrip().rstrip(";"))
    except ValueError as error:
        raise ValueError(
            "what follows window.BENCHMARK_DATA is no valid JSON, and may be cut off"
        ) from error
    repo = urlsplit(history.get("repoUrl") or "").path.strip("/") or None
    for suite, entries in history["entries"].items():
        for entry in entries:
            commit, measured_at, harness = (
                entry["commit"]["id"],
                unix_time(entry["date"]),
                _HARNESSES.get(entry.get("tool"), _Harness(None)),
            )
            for bench in entry["benches"]:
                origin = ResultOrigin(
                    repo=repo,
                    commit=commit,
                    benchmark=bench["name"],
                    params={"suite": suite},
                    measured_at=measured_at,
                )
                yield _measured(bench, origin, harness)


def _measured(bench: Mapping[str, Any], origin: ResultOrigin, harness: _Harness) -> Measured:
    """Return one result.

    For a value in percent, a range in percent is ambiguous (of the value, or points) and is
    ignored.
    """
    value, unit, written = float(bench["value"]), bench["unit"], bench.get("range")
    metric, runs, stored = (
        metric_of_unit(unit),
        _RUNS.search(str(bench.get("extra") or "")),
        stored_unit(unit),
    )
    found = _RANGE.fullmatch(str(written)) if written is not None else None
    spread = None
    if found and not (found[2] and stored and stored.unit == "%"):
        spread = Spread.around(
            value, float(found[1]) * (abs(value) / 100 if found[2] else 1), harness.spread
        )
    return Measured(
        origin,
        metric,
        harness.statistic,
        value,
        unit,
        n=int(runs[1] or runs[2]) if runs else None,
        better=harness.better or (Better.UNKNOWN if metric == UNNAMED else None),
        spread=spread,
    )


TOOLS = (
    Tool("bencher_bmf", ('"value"',), _is_bencher, _read_bencher, marks_suffice=False),
    # half in quotes: its history is JavaScript
    Tool(
        "github_action_benchmark",
        ('name"', 'unit"', 'value"'),
        _is_action,
        _read_action,
        marks_suffice=False,
    ),
)
