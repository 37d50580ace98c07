"""Tools that put an HTTP server under load: k6's JSON summaries, and the text of wrk and wrk2.

k6 has the data of `handleSummary` (values under `values`, with `type` and `contains`) and the older
`--summary-export` (flat). Both have times in ms, whatever unit the summary on the screen has. A
metric's tags, as in `http_req_duration{expected_response:true}`, are a parameter of its own. Gauges
are no results: they hold the last value of a setting or a state.

wrk prints one or several tests. wrk2 is recognised by its corrected latencies; its rate was set
with `-R`. The standard deviation of the latency is that of requests within one run, and `Req/Sec`
that of one thread: no rows have them. Bytes are counted in powers of 1024. `m` means minutes.

Sources: https://github.com/grafana/k6, `internal/js/summary.go`; https://github.com/wg/wrk and
https://github.com/giltene/wrk2, `src/wrk.c`, `src/units.c`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.words import is_number, statistic_named
from schemas.rows.claim import Scope
from schemas.units import Better, Flagged

_TIMES = ("http_req_", "grpc_req_", "ws_", "iteration_duration", "group_duration")
"""Prefixes of k6's own trends, which are all times. Only the newer form has the type of a script's
own trend.
"""

_METRICS = {"http_req_duration": "latency", "http_reqs": "request_throughput"}
_COUNTED = {
    "http_reqs": "req/s",
    "iterations": "iter/s",
    "data_received": "B/s",
    "data_sent": "B/s",
}
_BETTER = {
    "http_req_failed": Better.LOWER,
    "checks": Better.HIGHER,
    "data_received": Better.UNKNOWN,
    "data_sent": Better.UNKNOWN,
}
_UNITS = {"time": "ms", "data": "B"}

_TEST = re.compile(r"^[ \t]*+Running (?P<duration>\S++) test @ (?P<url>\S++)[ \t]*+$", re.MULTILINE)
_COMMAND = re.compile(r"^.*(?<!\S)-c ?\d.*+$", re.MULTILINE)
_CONNECTIONS = re.compile(
    r"(?<!\d)(?P<threads>\d++) threads? and (?P<connections>\d++) connections?"
)
_TIME = r"(\d++(?:\.\d++)?)(us|ms|s|m|h)\b"
_LATENCY = re.compile(rf"^[ \t]*+Latency[ \t]++{_TIME}[ \t]++\S++[ \t]++{_TIME}", re.MULTILINE)
_PERCENTILE = re.compile(rf"^[ \t]*+(\d++(?:\.\d++)?)%[ \t]++{_TIME}", re.MULTILINE)
_RATE = re.compile(r"^[ \t]*+Requests/sec:[ \t]*+(\d++(?:\.\d++)?)", re.MULTILINE)
_TRANSFER = re.compile(r"^[ \t]*+Transfer/sec:[ \t]*+(\d++(?:\.\d++)?)([KMG]?)B", re.MULTILINE)
_ERRORS = re.compile(r"^[ \t]*+(?:Socket errors:|Non-2xx or 3xx responses:)", re.MULTILINE)
_WRK2 = re.compile(r"Thread calibration:|HdrHistogram - Recorded Latency")
_UNCORRECTED = "HdrHistogram - Uncorrected Latency"
_BYTES = {"": "B/s", "K": "KiB/s", "M": "MiB/s", "G": "GiB/s"}


def _is_k6(file: MeasuredFile) -> bool:
    metrics = file.object.get("metrics")
    return (
        isinstance(metrics, dict)
        and "vus_max" in metrics
        and all(isinstance(one, dict) for one in metrics.values())
    )


def _read_k6(file: MeasuredFile) -> Iterator[Measured]:
    metrics = file.object["metrics"]
    users = _values(metrics["vus_max"]).get("max")
    failed = _share(_values(metrics.get("http_req_failed", {})))
    origin = Origin(
        params={"vus_max": users}, scope=Scope.END_TO_END, flags=(Flagged.ERRORS,) if failed else ()
    )
    for tagged_name, metric in sorted(metrics.items()):
        name, _, tags = tagged_name.partition("{")
        own = (
            replace(origin, params={"vus_max": users, "tags": tags.rstrip("}")}) if tags else origin
        )
        values, contains, canonical = (
            _values(metric),
            metric.get("contains"),
            _METRICS.get(name, name),
        )
        if "avg" in values or "med" in values:
            unit = (
                "ms" if contains is None and name.startswith(_TIMES) else _UNITS.get(contains or "")
            )
            for written, value in values.items():
                statistic = statistic_named(written.replace("p(", "p").rstrip(")"))
                if statistic and is_number(value):
                    yield Measured(own, canonical, statistic, value, unit, n=1)
        elif {"passes", "fails"} <= values.keys() and (share := _share(values)) is not None:
            yield Measured(
                own, name, "rate", share, "ratio", n=1, better=_BETTER.get(name) or Better.UNKNOWN
            )
        elif "count" in values and is_number(rate := values.get("rate")):
            yield Measured(
                own,
                canonical,
                "rate",
                rate,
                _COUNTED.get(name, "count/s"),
                n=1,
                better=_BETTER.get(name),
            )


def _values(metric: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of a metric in either form."""
    values = metric.get("values")
    return values if isinstance(values, dict) else metric


def _share(values: Mapping[str, Any]) -> float | None:
    """Return the share of a rate metric: `rate`, or, in the older form, `value`."""
    share = values.get("rate", values.get("value"))
    return share if is_number(share) else None


def _read_wrk(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values.

    The command of a test is the last line before it with options of wrk, such as a copied command.
    """
    tests = list(_TEST.finditer(file.text))
    starts, ends = [test.start() for test in tests], [test.end() for test in tests]
    for test, before, end in zip(tests, (0, *ends), (*starts[1:], len(file.text)), strict=False):
        text, commands = (
            file.text[test.end() : end],
            _COMMAND.findall(file.text[before : test.start()]),
        )
        load = _CONNECTIONS.search(text)
        origin = Origin(
            benchmark=test["url"],
            params={"duration": test["duration"]}
            | ({name: int(count) for name, count in load.groupdict().items()} if load else {}),
            command=commands[-1].strip() if commands else None,
            scope=Scope.END_TO_END,
            flags=(Flagged.ERRORS,) if _ERRORS.search(text) else (),
        )
        corrected, latencies = text.partition(_UNCORRECTED)[0], dict[str, tuple[str, str]]()
        if latency := _LATENCY.search(corrected):
            latencies = {"mean": (latency[1], latency[2]), "max": (latency[3], latency[4])}
        for percent, value, unit in _PERCENTILE.findall(corrected):
            if statistic := statistic_named(
                f"p{float(percent):g}"
            ):  # not of 100 %, which is the maximum again
                latencies[statistic] = value, unit
        for statistic, (value, unit) in latencies.items():
            yield Measured(
                origin, "latency", statistic, float(value), "min" if unit == "m" else unit, n=1
            )
        is_set = (
            (Flagged.SET_POINT,) if _WRK2.search(text) else ()
        )  # the rate of wrk2 is a setting: only its latencies are results
        if rate := _RATE.search(text):
            yield Measured(
                origin, "request_throughput", "rate", float(rate[1]), "req/s", n=1, flags=is_set
            )
        if sent := _TRANSFER.search(
            text
        ):  # more bytes per second may be larger answers, or more of them
            yield Measured(
                origin,
                "transfer",
                "rate",
                float(sent[1]),
                _BYTES[sent[2]],
                n=1,
                better=Better.UNKNOWN,
                flags=is_set,
            )


TOOLS = (
    Tool("k6", ('"metrics"', '"vus_max"'), _is_k6, _read_k6),
    Tool(
        "wrk",
        (" test @ ", "Requests/sec:"),
        lambda file: bool(_TEST.search(file.text) and _RATE.search(file.text)),
        _read_wrk,
    ),
)
