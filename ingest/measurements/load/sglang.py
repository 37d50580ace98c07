"""SGLang `bench_serving`, `bench_offline_throughput` and `bench_one_batch`: JSONL, one run per line, appended.

`bench_serving` writes a bare `Infinity`, times in ms; the others times in seconds. Old versions have fewer quantities.

Source: https://github.com/sgl-project/sglang, `python/sglang/bench_{serving,offline_throughput,one_batch,one_batch_server}.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.load.client_results import named_values, parameters, serving_values
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.words import Quantity, batch_of, variant_named
from schemas.rows.claim import Scope

_SERVING = ("total_output_tokens_retokenized", "output_throughput", "median_ttft_ms")
_REQUESTS = ("backend", "dataset_name", "request_rate", "max_concurrency", "completed", "sharegpt_output_len", "fixed_output_len")
_LENGTHS = ("random_input_len", "random_output_len", "random_range_ratio")


def _is_serving(file: MeasuredFile) -> bool:
    return bool(file.objects) and all(run.keys() >= set(_SERVING) for run in file.objects)


def _read_serving(file: MeasuredFile) -> Iterator[Measured]:
    """The number of prompts is not in the file: how many were completed stands for it."""
    for run in file.objects:
        params = parameters(run, (*_REQUESTS, *_LENGTHS))
        origin = Origin(benchmark="sglang bench_serving", params=params, bench_model=_served(run), scope=Scope.END_TO_END)
        yield from serving_values(run, origin)


def _served(run: Mapping[str, Any]) -> str | None:
    """The model, which only the newer versions write, among the settings of the server."""
    server = run.get("server_info")
    return server.get("model_path") if isinstance(server, dict) else None


_OFFLINE = {
    "total_latency": Quantity("time", "total", "s"),
    "request_throughput": Quantity("request_throughput", "rate", "req/s"),
    "input_throughput": Quantity("input_throughput", "rate", "tok/s"),
    "output_throughput": Quantity("output_throughput", "rate", "tok/s"),
    "total_throughput": Quantity("total_throughput", "rate", "tok/s"),
    "last_gen_throughput": Quantity("last_gen_throughput", "rate", "tok/s"),
}


def _is_offline(file: MeasuredFile) -> bool:
    return bool(file.objects) and all(run.keys() >= {"successful_requests", "total_latency", "last_gen_throughput"} for run in file.objects)


def _read_offline(file: MeasuredFile) -> Iterator[Measured]:
    for run in file.objects:
        params = parameters(run, ("backend", "successful_requests", "total_input_tokens"))
        yield from named_values(_OFFLINE, run, Origin(benchmark="sglang bench_offline_throughput", params=params, scope=Scope.END_TO_END))


_ONE_BATCH = {
    "total_latency": Quantity("latency", "total", "s"),
    "latency": Quantity("latency", "total", "s"),  # of the variant that asks a server
    "prefill_latency": Quantity("prefill_latency", "total", "s"),
    "prefill_throughput": Quantity("prefill_throughput", "rate", "tok/s"),
    "median_decode_latency": Quantity("decode_latency", "median", "s"),
    "median_decode_throughput": Quantity("decode_throughput", "median", "tok/s"),
    "input_throughput": Quantity("input_throughput", "rate", "tok/s"),
    "output_throughput": Quantity("output_throughput", "rate", "tok/s"),
    "overall_throughput": Quantity("total_throughput", "rate", "tok/s"),
    "last_gen_throughput": Quantity("last_gen_throughput", "rate", "tok/s"),
}
_BATCH = ("batch_size", "input_len", "output_len")


def _is_one_batch(file: MeasuredFile) -> bool:
    return bool(file.objects) and all(run.keys() >= {"run_name", *_BATCH, "overall_throughput"} for run in file.objects)


def _read_one_batch(file: MeasuredFile) -> Iterator[Measured]:
    """The name of the run, which a person gave, is the only place for a variant."""
    batch = batch_of(file, (variant_named(run["run_name"]) for run in file.objects))
    for run in file.objects:
        variant, params = variant_named(run["run_name"]), parameters(run, _BATCH)
        origin = Origin(variant=variant, benchmark="sglang bench_one_batch", params=params, batch=batch, scope=Scope.END_TO_END)
        yield from named_values(_ONE_BATCH, run, origin)


SERVING = Tool("sglang_serving", tuple(f'"{key}"' for key in _SERVING), _is_serving, _read_serving)
OFFLINE = Tool("sglang_offline", ('"successful_requests"', '"total_latency"', '"last_gen_throughput"'), _is_offline, _read_offline)
ONE_BATCH = Tool("sglang_one_batch", ('"run_name"', '"batch_size"', '"overall_throughput"'), _is_one_batch, _read_one_batch)
