"""Keys of ISO-Bench's metrics → quantities: `ttft_mean_ms`, `p99_tpot_ms`, `output_token_throughput_tok_s`, `latency_avg` and others.

Where a key says no unit, rates are tokens or requests per second and latencies ms: vLLM prints seconds, and the harness multiplies by
1000. The log of the benchmark goes before the key: `throughput_tok_s` is a rate of requests where the log says `9.18 requests/s`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

_STATISTICS = {"mean": "mean", "avg": "mean", "median": "median", "p50": "median"} | {name: name for name in ("min", "max", "std")}
_PERCENTILE = re.compile(r"p\d{1,2}")
_UNITS = {"tok_s": "tok/s", "tokens_per_sec": "tok/s", "tok_per_s": "tok/s", "req_s": "req/s", "ms": "ms", "s": "s"}
_LATENCIES = ("ttft", "tpot", "itl", "e2el", "latency")
_METRICS = {
    "e2e_latency": "e2el",
    "output_token_throughput": "output_throughput",
    "throughput_output": "output_throughput",
    "total_token_throughput": "total_throughput",
    "throughput_total": "total_throughput",
    "input_token_throughput": "input_throughput",
    "benchmark_duration": "time",
    "elapsed_time": "time",
}
"""Names in these files → canonical metrics."""

_NO_RESULTS = frozenset(("duration", "server_startup_time", "returncode", "num_prompts", "num_trials"))
_COUNTED = re.compile(r"(?:total|successful|failed|completed|num)_|completed$")
"""What was asked of the benchmark or counted on the way, and the time of the whole job: no results."""

_LOGGED_REQUESTS = re.compile(r"Throughput:\s++(\d++(?:\.\d*+)?) requests/s")
_LOGGED_SECONDS = re.compile(r"Avg latency:\s++(\d++(?:\.\d*+)?) seconds")


@dataclass(frozen=True)
class Value:
    """One number of a benchmark, in the unit as written."""

    metric: str
    statistic: str | None
    unit: str | None
    number: float


def values_of(metrics: Mapping[str, Any] | None, benchmark: str | None, log: str = "") -> tuple[Value, ...]:
    """The values in a mapping of metrics. `log`: what the benchmark printed. A number under two names is one value.

    A rate of no named kind is one of output tokens where the benchmark counts tokens of both kinds, and one of the prefill in
    `one_batch`; else it is `throughput`.
    """
    requests, seconds = ({float(each) for each in pattern.findall(log)} for pattern in (_LOGGED_REQUESTS, _LOGGED_SECONDS))
    found = [_by_log(one, requests, seconds) for one in _named(metrics or {})]
    special = {one.number for one in found if one.metric.endswith("_throughput")}
    kept = [one for one in found if one.metric != "throughput" or one.number not in special]
    rate = _kind_of_rate(kept, metrics or {}, benchmark)
    named = [replace(one, metric=rate) if one.metric == "throughput" else one for one in kept]
    return tuple({(one.metric, one.statistic): one for one in reversed(named)}.values())[::-1]


def primary_of(values: Sequence[Value], repo: str | None) -> Value | None:
    """The value that ISO-Bench judges by: mean time to first token, else throughput; of SGLang throughput. None where it has neither."""
    order = _PRIMARY if repo != "sglang" else _PRIMARY[1:]
    return next((one for metric in order for one in values if one.metric == metric and one.statistic in ("mean", "rate")), None)


_PRIMARY = ("ttft", "output_throughput", "throughput", "request_throughput", "total_throughput")


def _named(metrics: Mapping[str, Any]) -> Iterator[Value]:
    for key, number in metrics.items():
        if isinstance(number, int | float) and not isinstance(number, bool) and (value := _value(key, number)):
            yield value


def _value(key: str, number: float) -> Value | None:
    """None for a key that names no result, and for the spread of requests within one run."""
    name, unit = _unit(key)
    if name in _NO_RESULTS or (_COUNTED.match(name) and unit is None and "throughput" not in name):
        return None
    metric, statistic = _statistic(name)
    metric = _METRICS.get(metric, metric)
    if statistic == "std":
        return None
    if "throughput" in metric:
        metric = "request_throughput" if metric == "throughput" and unit == "req/s" else metric
        return Value(metric, statistic or "rate", unit or ("req/s" if metric == "request_throughput" else "tok/s"), number)
    if metric in _LATENCIES:
        return Value(metric, statistic, unit or "ms", number)
    return Value(metric, statistic or ("total" if unit == "s" else None), unit, number)


def _unit(key: str) -> tuple[str, str | None]:
    ending = next((ending for ending in _UNITS if key.endswith(f"_{ending}")), None)
    return (key.removesuffix(f"_{ending}"), _UNITS[ending]) if ending else (key, None)


def _statistic(name: str) -> tuple[str, str | None]:
    """The name without its first or last word, where that is a statistic."""
    words = name.split("_")
    for place in (0, -1):
        if len(words) > 1 and (words[place] in _STATISTICS or _PERCENTILE.fullmatch(words[place])):
            word = words.pop(place)
            return "_".join(words), _STATISTICS.get(word, word)
    return name, None


def _by_log(value: Value, requests: Collection[float], seconds: Collection[float]) -> Value:
    """The value with the unit that the log says it has: the rates of requests and the times in the log."""
    if value.metric == "throughput" and value.number in requests:
        return replace(value, metric="request_throughput", unit="req/s")
    if value.metric == "latency" and value.number in seconds:
        return replace(value, unit="s")
    return value


def _kind_of_rate(values: list[Value], metrics: Mapping[str, Any], benchmark: str | None) -> str:
    if benchmark == "one_batch":
        return "prefill_throughput"
    counts_tokens = "total_generated_tokens" in metrics or any(one.metric in ("ttft", "input_throughput") for one in values)
    return "output_throughput" if counts_tokens or benchmark in ("serving", "prefix_caching") else "throughput"
