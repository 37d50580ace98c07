"""The outcome of one benchmark run of ISO-Bench → its rows.

Its quantities, whether the patch was in the code, why it failed.

Keys of metrics are `ttft_mean_ms`, `p99_tpot_ms`, `output_token_throughput_tok_s`, `latency_avg`
and others. If a key has no unit, rates are tokens or requests per second and latencies ms: vLLM
prints seconds, and the harness multiplies by 1000. The log of the benchmark goes before the key:
`throughput_tok_s` is a rate of requests if the log has `9.18 requests/s`.

The harness books any server that does not start after the patch as "Server crashed after applying
patch". The log often shows another cause, which is not the fault of the change: a model that does
not exist, a missing package, no memory, arguments unknown to the benchmark.

vLLM's latency benchmark prints no rate, so the harness takes one from the engine's log. That line
is written every 10 s and counts the tokens of batches that began in this time: with 512 tokens per
batch, 1, 2, 3, … batches are 51.2, 102.4, 153.6, … tok/s. One step more or less looks like a
speedup of 5 % at 20 steps and of 2x at one: such rates are too coarse to compare.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ingest.measurements.base import lines_of
from ingest.measurements.measured import Measured, ResultOrigin
from ingest.measurements.words import quantity
from schemas.rows.measurement import Failure, MeasuredStatus, PatchApplied, Variant
from schemas.units import Flagged

SUCCESS = ("success", "completed", "ok")
_LONGEST = 2000

_RATES = {"tok_s": "tok/s", "tokens_per_sec": "tok/s", "req_s": "req/s"}
_METRICS = {
    "throughput_output": "output_throughput",
    "throughput_total": "total_throughput",
    "input_token_throughput": "input_throughput",
    "benchmark_duration": "time",
}
_PRIMARY = ("ttft", "output_throughput", "throughput", "request_throughput", "total_throughput")
STEP = 51.2
"""tok/s: 512 tokens in a window of 10 s."""

_LONGER = 0.005
"""Longest relative excess of a window over 10 s, which lowers its rate: seen 10.00 to 10.05 s."""

_ROUNDING = 0.05
_MOST_STEPS = 100
"""Beyond it, one step is below 1 % of the value, and no longer too coarse."""

_CHANCE = 0.12
"""Highest accepted probability that other rates look like steps by chance: one rate of up to 24
steps, or two of up to 69.
"""

_PATCH = re.compile(
    r"patch[_ ]failed|patch does not apply|corrupt patch|only non-Python files", re.IGNORECASE
)
_TIMEOUT = re.compile(r"timed[ _]?out|timeout", re.IGNORECASE)
_NO_MEMORY = re.compile(
    r"out of memory|OutOfMemory|No available memory for the cache|Free memory on device"
)
_NOT_OF_THE_CHANGE = re.compile(
    r"""(?x)
    \b40[134]\ (?:Client\ Error|Not\ Found) | \(404\ Not\ Found\) | Repository\ ?Not\ ?Found | GatedRepo | gated\ repo
    | Invalid\ repository\ ID | not\ a\ valid\ model\ identifier | Unknown\ RoPE\ scaling | fundamental\ model\ compatibility
    | unrecognized\ arguments | arguments\ are\ required | error:\ argument
    | Error\ response\ from\ daemon | manifest\ unknown | no\ space\ left | Sandbox\ error | Broken\ pipe
    | cancelled\ by\ user | index\.lock | No\ such\ file\ or\ directory:\ '/(?:cache|data)
    | No\ (?:baseline\ )?wheel | wheel\ not\ available | install\ failed
    | baseline\ image | Could\ not\ find\ vLLM | port\ binding\ bug
    | exceeds\ the\ total\ number\ of\ available\ GPUs
    | No\ module\ named\ '(?!(?:vllm|sglang)\.) | cannot\ import\ name\ \S++\ from\ '(?!vllm|sglang) | is\ not\ installed\.
    | undefined\ symbol
    | is\ required\ for\ a\ normal\ functioning | Could\ not\ load\ any\ common_ops | Tokenizer(?:(?!Tokenizer)\w)*+\ has\ no\ attribute
    """  # noqa: E501
)
_DID_NOT_START = re.compile(
    r"(?:failed|fails) to start|server crashed|SERVER_(?:CRASHED|START_FAILED)", re.IGNORECASE
)
_CRASH = re.compile(
    r"[Cc]rash|CRASH|[Ff]ailed to start|Traceback|(?:Error|Exception)\b|core "
    r"dumped|\bKilled\b|build failed|exit (?:code|status)"
)

_REJECTED = re.compile(r"(?<!\d)(\d++) out of (\d++) hunks? FAILED -- saving rejects")
_APPLIED = re.compile(
    r"AGENT_PATCH_APPLIED|Patch applied successfully|patch result rc=0|\+ patch$", re.MULTILINE
)
_WRITTEN = re.compile(r"^patching file \S++(?<!\.diff)$", re.MULTILINE)
"""A patched file; a patch that contains itself, as some agents leave it, does not count as patched
code.
"""


class Value(NamedTuple):
    """One number of a benchmark, in the unit as written."""

    metric: str
    statistic: str | None
    unit: str | None
    number: float


class BenchmarkOutcome(NamedTuple):
    """Result of one benchmark of one variant. `has_metrics`: false if it was not run.

    `log`: its output.
    """

    origin: ResultOrigin
    values: tuple[Value, ...]
    has_metrics: bool
    status: str | None
    error: str | None
    log: str
    patch_applied: object = None


def rows_together(outcomes: Sequence[BenchmarkOutcome]) -> Iterator[Measured]:
    """Yield the rows of one comparison with at most one baseline.

    One per value, or one with the reason for a variant without values.
    """
    baseline = next(
        (one.values for one in outcomes if one.origin.variant is Variant.BASELINE), None
    )
    of_latency = [
        one.values for one in outcomes if any(value.metric == "latency" for value in one.values)
    ]
    rates = [value for values in of_latency for value in values if value.metric == "throughput"]
    coarse = set(rates) if is_quantised(rate.number for rate in rates) else set()
    for outcome in outcomes:
        origin, values, status, error = (
            outcome.origin,
            outcome.values,
            outcome.status,
            outcome.error,
        )
        if origin.variant is Variant.CANDIDATE:  # with one number alone, the same may be chance
            same = (
                (Flagged.SAME_AS_BASELINE,)
                if baseline and len(values) > 1 and set(values) == set(baseline)
                else ()
            )
            origin = replace(
                origin,
                patch_applied=patch_in(outcome.patch_applied, outcome.log),
                flags=(*origin.flags, *same),
            )
        # ISO-Bench judges by the mean time to first token, else the throughput; of SGLang by the
        # throughput
        judged_by = _PRIMARY if origin.repo != "sglang" else _PRIMARY[1:]
        primary = next(
            (
                one
                for name in judged_by
                for one in values
                if one.metric == name and one.statistic in ("mean", "rate")
            ),
            None,
        )
        for value in values:
            flags = (Flagged.QUANTISED,) if value in coarse else ()
            yield Measured(
                origin,
                *value[:2],
                value.number,
                value.unit,
                1,
                is_primary=value is primary,
                flags=flags,
            )
        if values:
            continue
        detail = detail_of(error, outcome.log)
        if status in ("skipped", "not_run", "no_perf_command", "no_patch") or (
            not outcome.has_metrics and status in (None, *SUCCESS) and not error
        ):
            yield Measured(origin, status=MeasuredStatus.NOT_RUN, detail=detail)
            continue
        failure = failure_of(
            status,
            error,
            outcome.log,
            origin.variant,
            baseline_ran=None if baseline is None else bool(baseline),
        )
        empty = (Flagged.EMPTY_METRICS,) if status in SUCCESS and not error else ()
        yield Measured(
            origin, status=MeasuredStatus.FAILED, failure=failure, detail=detail, flags=empty
        )


def values_of(
    metrics: Mapping[str, Any] | None, benchmark: str | None, log: str = ""
) -> tuple[Value, ...]:
    """Return the values in a mapping of metrics. `log`: the benchmark's output.

    A number under two names is one value.

    A rate of no named kind is one of output tokens if the benchmark counts tokens of both kinds,
    and one of the prefill in `one_batch`; else it is `throughput`.
    """
    logged = {
        (unit, float(number))
        for number, unit in re.findall(
            r"(?:Throughput|Avg latency):\s++(\d++(?:\.\d*+)?) (requests/s|seconds)", log
        )
    }
    found: list[Value] = []
    for key, number in (metrics or {}).items():
        if (
            isinstance(number, int | float)
            and not isinstance(number, bool)
            and (value := _value(key, number))
        ):
            if value.metric == "throughput" and ("requests/s", number) in logged:
                value = value._replace(metric="request_throughput", unit="req/s")
            elif value.metric == "latency" and ("seconds", number) in logged:
                value = value._replace(unit="s")
            found.append(value)
    named_rates = {one.number for one in found if one.metric.endswith("_throughput")}
    kept = [one for one in found if one.metric != "throughput" or one.number not in named_rates]
    counts_tokens = "total_generated_tokens" in (metrics or {}) or any(
        one.metric in ("ttft", "input_throughput") for one in kept
    )
    rate = (
        "output_throughput"
        if counts_tokens or benchmark in ("serving", "prefix_caching")
        else "throughput"
    )
    rate = "prefill_throughput" if benchmark == "one_batch" else rate
    named = [one._replace(metric=rate) if one.metric == "throughput" else one for one in kept]
    return tuple({(one.metric, one.statistic): one for one in reversed(named)}.values())[::-1]


def _value(key: str, number: float) -> Value | None:
    """Return a value; None for a key without a result and for the spread of requests in one run."""
    ending = next((ending for ending in _RATES if key.endswith(f"_{ending}")), None)
    name = key.removesuffix(f"_{ending}") if ending else key
    metric, statistic, unit = quantity(name)
    unit = _RATES[ending] if ending else unit
    # inputs and counts of the benchmark, and the time of the whole job
    is_counted = name.startswith(("total_", "successful_", "failed_", "completed", "num_"))
    is_of_job = name.removesuffix(f"_{unit}") in ("duration", "server_startup_time", "returncode")
    if statistic == "std" or is_of_job:
        return None
    if is_counted and unit is None and "throughput" not in name:
        return None
    metric = _METRICS.get(metric, metric)
    if "throughput" in metric:
        metric = "request_throughput" if metric == "throughput" and unit == "req/s" else metric
        return Value(
            metric,
            statistic or "rate",
            unit or ("req/s" if metric == "request_throughput" else "tok/s"),
            number,
        )
    if metric in ("ttft", "tpot", "itl", "e2el", "latency"):
        return Value(metric, statistic, unit or "ms", number)
    return Value(metric, statistic or ("total" if unit == "s" else None), unit, number)


def is_quantised(rates: Iterable[float]) -> bool:
    """Return whether all rates of a latency benchmark, in tok/s, are whole steps, beyond chance.

    False without rates.
    """
    counted = [(rate, round(rate * (1 + _LONGER / 2) / STEP)) for rate in rates]
    are_steps = all(
        0 < steps <= _MOST_STEPS
        and steps * STEP / (1 + _LONGER) - _ROUNDING <= rate <= steps * STEP + _ROUNDING
        for rate, steps in counted
    )
    return (
        bool(counted)
        and are_steps
        and math.prod(steps * _LONGER for _, steps in counted) <= _CHANCE
    )


def failure_of(
    status: str | None,
    error: str | None,
    log: str = "",
    variant: Variant | None = None,
    *,
    baseline_ran: bool | None = None,
) -> Failure:
    """Return why a benchmark failed.

    `baseline_ran`: whether the same job has values for the code before the change; None: unknown.

    If it has, memory and server suffice, so a change that runs out of them is at fault. If it has
    not, nothing is at fault.
    """
    written = f"{status or ''}\n{error or ''}"
    everything = f"{written}\n{log}"
    is_changed = variant in (Variant.CANDIDATE, None)
    never_starts = variant is Variant.REFERENCE or baseline_ran is False
    causes = (
        (Failure.PATCH, is_changed and _PATCH.search(written)),
        (Failure.TIMEOUT, _TIMEOUT.search(written) or "timed out after " in log),
        (Failure.INFRASTRUCTURE, variant is Variant.BASELINE and (error or log)),
        (Failure.INFRASTRUCTURE, _NOT_OF_THE_CHANGE.search(everything)),
        (Failure.INFRASTRUCTURE, not baseline_ran and _NO_MEMORY.search(everything)),
        (Failure.INFRASTRUCTURE, never_starts and _DID_NOT_START.search(written)),
        (Failure.CRASH, _CRASH.search(everything)),
    )
    return next((failure for failure, found in causes if found), Failure.UNKNOWN)


def detail_of(error: str | None, log: str = "") -> str | None:
    """Return the error and the log's error lines, or the end of a log without such lines.

    At most 2,000 characters.
    """
    telling = (
        line
        for line in lines_of(log)
        if _NOT_OF_THE_CHANGE.search(line) or _NO_MEMORY.search(line) or _CRASH.search(line)
    )
    lines = [line.strip() for line in deque(telling, 12)]
    shown = "\n".join(dict.fromkeys(lines)) if lines else log.strip()
    parts = [(error or "")[:_LONGEST].strip(), shown[-_LONGEST:]]
    return "\n".join(part for part in parts if part)[:_LONGEST] or None


def patch_in(recorded: object, log: str) -> PatchApplied:
    """Return whether the patch was applied. `recorded`: the field for it, true or false.

    A log with rejected hunks goes before it.
    """
    rejected = _REJECTED.findall(log)
    if rejected:
        whole = sum(count == of for count, of in rejected)
        return (
            PatchApplied.PARTIAL
            if max(len(rejected), len(_WRITTEN.findall(log))) > whole
            else PatchApplied.NO
        )
    if isinstance(recorded, bool):
        return PatchApplied.YES if recorded else PatchApplied.NO
    return PatchApplied.YES if _APPLIED.search(log) else PatchApplied.UNKNOWN
