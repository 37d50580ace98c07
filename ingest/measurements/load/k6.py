"""k6: the data of `handleSummary` (values under `values`, with `type` and `contains`) and the older `--summary-export` (flat).

Both hold times in ms, whatever unit the summary on the screen has. A metric's tags, as in `http_req_duration{expected_response:true}`,
are a parameter of its own. Gauges are no results: they hold the last value of a setting or a state.

Source: https://github.com/grafana/k6, `internal/js/summary.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.values import is_number
from ingest.measurements.words import statistic_named
from schemas.rows.claim import Scope
from schemas.units import Better, Flagged

_TIMES = ("http_req_", "grpc_req_", "ws_", "iteration_duration", "group_duration")
"""Beginnings of k6's own trends. All of them are times; what a script's own trend holds is only in the newer form."""

_METRICS = {"http_req_duration": "latency", "http_reqs": "request_throughput"}
_COUNTED = {"http_reqs": "req/s", "iterations": "iter/s", "data_received": "B/s", "data_sent": "B/s"}
_BETTER = {"http_req_failed": Better.LOWER, "checks": Better.HIGHER, "data_received": Better.UNKNOWN, "data_sent": Better.UNKNOWN}
_UNITS = {"time": "ms", "data": "B"}


def _recognises(file: MeasuredFile) -> bool:
    metrics = file.object.get("metrics")
    return isinstance(metrics, dict) and "vus_max" in metrics and all(isinstance(one, dict) for one in metrics.values())


def _read(file: MeasuredFile) -> Iterator[Measured]:
    metrics = file.object["metrics"]
    users = _values(metrics["vus_max"]).get("max")
    failed = _share(_values(metrics.get("http_req_failed", {})))
    origin = Origin(params={"vus_max": users}, scope=Scope.END_TO_END, flags=(Flagged.ERRORS,) if failed else ())
    for name, metric in sorted(metrics.items()):
        untagged, _, tags = name.partition("{")
        tagged = replace(origin, params={"vus_max": users, "tags": tags.rstrip("}")}) if tags else origin
        yield from _of_metric(untagged, metric, tagged)


def _of_metric(name: str, metric: Mapping[str, Any], origin: Origin) -> Iterator[Measured]:
    values = _values(metric)
    better = _BETTER.get(name)
    if "avg" in values or "med" in values:
        yield from _trend(name, metric.get("contains"), values, origin)
    elif {"passes", "fails"} <= values.keys() and (share := _share(values)) is not None:
        yield Measured(origin=origin, metric=name, statistic="rate", value=share, unit="ratio", better=better or Better.UNKNOWN, n=1)
    elif "count" in values and is_number(rate := values.get("rate")):
        unit = _COUNTED.get(name, "count/s")
        yield Measured(origin=origin, metric=_METRICS.get(name, name), statistic="rate", value=rate, unit=unit, better=better, n=1)


def _trend(name: str, contains: str | None, values: Mapping[str, Any], origin: Origin) -> Iterator[Measured]:
    """Every statistic that the script asked for."""
    unit = "ms" if contains is None and name.startswith(_TIMES) else _UNITS.get(contains or "")
    for written, value in values.items():
        statistic = statistic_named(written.replace("p(", "p").rstrip(")"))
        if statistic and is_number(value):
            yield Measured(origin=origin, metric=_METRICS.get(name, name), statistic=statistic, value=value, unit=unit, n=1)


def _values(metric: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of a metric in either form."""
    values = metric.get("values")
    return values if isinstance(values, dict) else metric


def _share(values: Mapping[str, Any]) -> float | None:
    """The share of a rate metric: `rate`, or, in the older form, `value`."""
    share = values.get("rate", values.get("value"))
    return share if is_number(share) else None


TOOL = Tool("k6", ('"metrics"', '"vus_max"'), _recognises, _read)
