"""vLLM `bench serve --save-result`, `bench latency --output-json` and `bench throughput --output-json`.

`serve` may append its objects to one file (`--append-result`); values given with `--metadata` are strings beside its own keys, and
say the workload, the variant, or which build was measured. A file `….pytorch.json` beside a result repeats its values for another
program: no tool recognises it, so that no value has two rows.

Source: https://github.com/vllm-project/vllm, `vllm/benchmarks/{serve,latency,throughput}.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.load.client_results import named_values, parameters, serving_values
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.words import Quantity, batch_of, snake_case, variant_named
from schemas.rows.claim import Scope
from schemas.units import Flagged

_SERVE = ("model_id", "num_prompts", "completed", "request_throughput")
_TRAFFIC = ("backend", "tokenizer_id", "num_prompts", "request_rate", "burstiness", "max_concurrency", "best_of", "use_beam_search")
_RAMP_UP = ("ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps")
_OWN_TEXTS = frozenset((*_TRAFFIC, *_RAMP_UP, "date", "endpoint_type", "label", "model_id"))
_NO_WORKLOAD = frozenset(
    "agent branch build comment commit date dir id image label note notes parent path repo revision run sha tag task time url user "  # noqa: SIM905 - a list reads worse
    "variant version".split()
)
"""Metadata with such a word in its name says what was measured, where or when: no part of the workload."""

_MACHINES = ("machine", "hardware", "gpu", "gpu_type", "gpu_name", "device", "accelerator")


def _is_serve(file: MeasuredFile) -> bool:
    return bool(file.objects) and all(result.keys() >= set(_SERVE) for result in file.objects)


def _read_serve(file: MeasuredFile) -> Iterator[Measured]:
    batch = batch_of(file, (variant_named(result.get("variant")) for result in file.objects))
    for result in file.objects:
        yield from serving_values(result, _origin(result, batch))


def _origin(result: Mapping[str, Any], batch: str | None) -> Origin:
    metadata = {key: value for key, value in result.items() if isinstance(value, str) and key not in _OWN_TEXTS}
    workload = [key for key in metadata if key not in _MACHINES and not _NO_WORKLOAD & set(snake_case(key).split("_"))]
    return Origin(
        variant=variant_named(metadata.get("variant")),
        commit=metadata.get("commit"),
        parent=metadata.get("parent"),
        repo=metadata.get("repo"),
        task=metadata.get("task"),
        agent=metadata.get("agent"),
        benchmark="vllm bench serve",
        params=parameters(result, (*_TRAFFIC, *_RAMP_UP, *workload)),
        bench_model=result["model_id"],
        machine=next((metadata[key] for key in _MACHINES if key in metadata), None),
        batch=batch,
        scope=Scope.END_TO_END,
        measured_at=_date(result.get("date")),
        flags=(Flagged.ERRORS,) if _has_errors(result) else (),
    )


def _date(written: Any) -> datetime | None:
    """The local time of the machine that ran the benchmark, whose zone is not in the file."""
    try:
        return datetime.strptime(str(written), "%Y%m%d-%H%M%S")  # noqa: DTZ007 - the zone is unknown
    except ValueError:
        return None


def _has_errors(result: Mapping[str, Any]) -> bool:
    """Whether requests failed. Files before `failed` have only the number of those completed."""
    failed = result.get("failed", result["num_prompts"] - result["completed"])
    return failed > 0 or any(result.get("errors") or ())


def _is_latency(file: MeasuredFile) -> bool:
    return isinstance(file.object.get("latencies"), list) and {"avg_latency", "percentiles"} <= file.object.keys()


def _read_latency(file: MeasuredFile) -> Iterator[Measured]:
    """Seconds per iteration: a whole batch of prompts from start to end."""
    result, latencies = file.object, tuple(file.object["latencies"])
    origin = Origin(benchmark="vllm bench latency", scope=Scope.END_TO_END)
    found = {"mean": result["avg_latency"]} | {_percentile(name): value for name, value in result["percentiles"].items()}
    for statistic, value in found.items():
        samples = latencies if statistic in ("mean", "median") else ()
        yield Measured(origin=origin, metric="latency", statistic=statistic, value=value, unit="s", n=len(latencies), samples=samples)


def _percentile(name: str) -> str:
    return "median" if name == "50" else f"p{name}"


_THROUGHPUT = {
    "elapsed_time": Quantity("time", "total", "s"),
    "requests_per_second": Quantity("request_throughput", "rate", "req/s"),
    "tokens_per_second": Quantity("total_throughput", "rate", "tok/s"),  # tokens in and out together
}


def _is_throughput(file: MeasuredFile) -> bool:
    return file.object.keys() >= {*_THROUGHPUT, "num_requests"}


def _read_throughput(file: MeasuredFile) -> Iterator[Measured]:
    """Every answer has its full length, so the number of tokens is part of the workload."""
    params = parameters(file.object, ("num_requests", "total_num_tokens"))
    origin = Origin(benchmark="vllm bench throughput", params=params, scope=Scope.END_TO_END)
    return named_values(_THROUGHPUT, file.object, origin)


SERVE = Tool("vllm_serve", tuple(f'"{key}"' for key in _SERVE), _is_serve, _read_serve)
LATENCY = Tool("vllm_latency", ('"avg_latency"', '"latencies"', '"percentiles"'), _is_latency, _read_latency)
THROUGHPUT = Tool("vllm_throughput", ('"elapsed_time"', '"requests_per_second"', '"tokens_per_second"'), _is_throughput, _read_throughput)
