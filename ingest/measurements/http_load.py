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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, ResultOrigin
from ingest.measurements.words import is_number, statistic_named
from schemas.claims import Scope
from schemas.units import Better, Flagged

_TIMES = ("http_req_", "grpc_req_", "ws_", "iteration_duration", "group_duration")
"""Prefixes of k6's own trends, which are all times. Only the newer form has the type of a script's
own trend.
"""

_K6 = {
    "http_req_duration": ("latency", None, None),
    "http_req_failed": ("http_req_failed", None, Better.LOWER),
    "checks": ("checks", None, Better.HIGHER),
    "http_reqs": ("request_throughput", "req/s", None),
    "iterations": ("iterations", "iter/s", None),
    "data_received": ("data_received", "B/s", Better.UNKNOWN),
    "data_sent": ("data_sent", "B/s", Better.UNKNOWN),
}
"""k6's own metrics -> metric, unit of a rate, and the better direction."""

_AMOUNT = re.compile(r"(\d++(?:\.\d++)?)([A-Za-z]*+)")
_WRK_UNITS = {
    "": "req/s",
    **{unit: unit for unit in ("us", "ms", "s", "h")},
    "m": "min",
    "B": "B/s",
    **{f"{prefix}B": f"{prefix}iB/s" for prefix in "KMG"},
}


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
    origin = ResultOrigin(
        params={"vus_max": users}, scope=Scope.END_TO_END, flags=(Flagged.ERRORS,) if failed else ()
    )
    for tagged_name, metric in sorted(metrics.items()):
        name, _, tags = tagged_name.partition("{")
        own = (
            replace(origin, params={"vus_max": users, "tags": tags.rstrip("}")}) if tags else origin
        )
        values = _values(metric)
        canonical, unit_of_rate, better = _K6.get(name, (name, "count/s", None))
        if "avg" in values or "med" in values:
            contains = metric.get("contains", "time" if name.startswith(_TIMES) else None)
            unit = {"time": "ms", "data": "B"}.get(contains)
            for written, value in values.items():
                statistic = statistic_named(written.replace("p(", "p").rstrip(")"))
                if statistic and is_number(value):
                    yield Measured(own, canonical, statistic, value, unit, n=1)
        elif {"passes", "fails"} <= values.keys() and (share := _share(values)) is not None:
            yield Measured(own, name, "rate", share, "ratio", n=1, better=better or Better.UNKNOWN)
        elif "count" in values and is_number(rate := values.get("rate")):
            yield Measured(own, canonical, "rate", rate, unit_of_rate, n=1, better=better)


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
    command = None
    tests: list[tuple[ResultOrigin, list[list[str]]]] = []
    for line in file.lines:
        match line.split():
            case ["Running", duration, "test", "@", url]:
                params = {"duration": duration}
                origin = ResultOrigin(
                    benchmark=url, params=params, command=command, scope=Scope.END_TO_END
                )
                tests.append((origin, []))
                command = None
            case words if re.search(r"(?<!\S)-c ?\d", line):
                command = line.strip()
            case words if tests:
                tests[-1][1].append(words)
    for origin, lines in tests:
        yield from _wrk_values(origin, lines)


def _wrk_values(origin: ResultOrigin, lines: Iterable[Sequence[str]]) -> Iterator[Measured]:
    """Yield the values of a test by the words of its lines."""
    set_point, is_corrected = tuple[Flagged, ...](), True
    amounts: dict[tuple[str, str], str] = {}
    for words in lines:
        match words:
            case [threads, "thread" | "threads", "and", connections, *_]:
                load = {"threads": int(threads), "connections": int(connections)}
                origin = replace(origin, params={**origin.params, **load})
            case ["Socket", "errors:", *_] | ["Non-2xx", *_]:
                origin = replace(origin, flags=(Flagged.ERRORS,))
            case ["Latency", "Distribution", "(HdrHistogram", "-", kind, *_]:
                set_point, is_corrected = (Flagged.SET_POINT,), kind != "Uncorrected"
            case ["Thread", "calibration:", *_]:
                set_point = (Flagged.SET_POINT,)
            case ["Latency", mean, _, longest, *_] if is_corrected:
                amounts |= {("latency", "mean"): mean, ("latency", "max"): longest}
            case [percent, time] if percent.endswith("%") and is_corrected:
                # not of 100 %, which is the maximum again
                if statistic := statistic_named(f"p{float(percent[:-1]):g}"):
                    amounts["latency", statistic] = time
            case ["Requests/sec:", rate]:
                amounts["request_throughput", "rate"] = rate
            case ["Transfer/sec:", sent]:
                amounts["transfer", "rate"] = sent
    for (metric, statistic), amount in amounts.items():
        if found := _AMOUNT.fullmatch(amount):
            yield Measured(
                origin,
                metric,
                statistic,
                float(found[1]),
                _WRK_UNITS.get(found[2]),
                n=1,
                # more bytes per second may be larger answers, or more of them
                better=Better.UNKNOWN if metric == "transfer" else None,
                # the rate of wrk2 is a setting: only its latencies are results
                flags=() if metric == "latency" else set_point,
            )


TOOLS = (
    Tool("k6", ('"metrics"', '"vus_max"'), _is_k6, _read_k6),
    Tool(
        "wrk",
        (" test @ ", "Requests/sec:"),
        lambda file: any(_read_wrk(file)),
        _read_wrk,
    ),
)
