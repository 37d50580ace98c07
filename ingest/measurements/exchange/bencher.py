"""Bencher Metric Format: `{benchmark: {measure: {value, lower_value?, upper_value?}}}`.

Measures that Bencher itself defines have a fixed unit; any other has none in the file. What the lower and the upper value are depends
on the tool that wrote them: they are kept where the value lies between them, as bounds of an unknown kind.

Source: https://bencher.dev/docs/reference/bencher-metric-format/ and https://bencher.dev/docs/how-to/track-custom-benchmarks/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from ingest.measurements.values import is_number
from ingest.measurements.words import snake_case
from schemas.rows.measurement import SpreadKind

_UNITS = {"latency": "ns", "throughput": "ops/s", "build-time": "s", "file-size": "B"}
"""Bencher's own measures and their units."""

_METRICS = {"build-time": "build_time", "file-size": "size"}
_KEYS = frozenset(("value", "lower_value", "upper_value"))


def _recognises(file: MeasuredFile) -> bool:
    """Whether all of it has the form, and something in it is Bencher's own: other programs nest values in two objects too."""
    measures = [(name, metric) for of_one in file.object.values() for name, metric in of_one.items()]
    is_bmf = all(metric.keys() <= _KEYS and is_number(metric["value"]) for _, metric in measures)
    return is_bmf and any(name in _UNITS or "lower_value" in metric or "upper_value" in metric for name, metric in measures)


def _read(file: MeasuredFile) -> Iterator[Measured]:
    for benchmark, measures in file.object.items():
        origin = Origin(benchmark=benchmark)
        for measure, metric in measures.items():
            yield Measured(
                origin=origin,
                metric=_METRICS.get(measure, snake_case(measure)),
                value=metric["value"],
                unit=_UNITS.get(measure),
                spread=_bounds(metric),
            )


def _bounds(metric: Mapping[str, Any]) -> Spread | None:
    low, high = metric.get("lower_value"), metric.get("upper_value")
    is_around = (low is None or low <= metric["value"]) and (high is None or high >= metric["value"])
    return Spread(kind=SpreadKind.NONE, low=low, high=high) if is_around else None


TOOL = Tool("bencher_bmf", ('"value"',), _recognises, _read, marks_suffice=False)
