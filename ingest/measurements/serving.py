"""Benchmarks of inference engines: vLLM's and SGLang's.

vLLM has `bench serve`, `latency` and `throughput`, SGLang `bench_serving`,
`bench_offline_throughput` and `bench_one_batch`. Both write one object per run, with the same names
of quantities: times in ms or seconds, rates per second, and counts of tokens. `std_…` is the spread
of requests within one run, not of runs: no row has it. SGLang appends a line of JSON per run; its
old versions have fewer quantities, and an infinite request rate is a bare `Infinity`. vLLM's
`serve` may append, too (`--append-result`); values of `--metadata` are strings beside its own keys,
and name the workload, the variant, or the measured build. A file `….pytorch.json` beside a result
repeats its values for another program: no tool recognises it, so that no value has two rows.

Sources: https://github.com/vllm-project/vllm, `vllm/benchmarks/{serve,latency,throughput}.py`;
https://github.com/sgl-project/sglang,
`python/sglang/bench_{serving,offline_throughput,one_batch,one_batch_server}.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Parameter, ResultOrigin, statistics_of
from ingest.measurements.words import (
    NamedQuantity,
    batch_of,
    is_number,
    quantity,
    snake_case,
    variant_named,
)
from schemas.claims import Scope
from schemas.rows.measurement import MeasuredStatus
from schemas.units import Flagged

Run = Mapping[str, Any]

_REQUESTS = {"request_throughput": NamedQuantity("request_throughput", "rate", "req/s")}
_TOKENS = {
    name: NamedQuantity(name, "rate", "tok/s")
    for name in (
        "input_throughput",
        "output_throughput",
        "total_throughput",
        "last_gen_throughput",
    )
}
_SERVING = {
    "duration": NamedQuantity("time", "total", "s"),
    **_REQUESTS,
    "request_goodput": NamedQuantity("goodput", "rate", "req/s"),
    "request_goodput:": NamedQuantity("goodput", "rate", "req/s"),  # as vLLM wrote it in 2025
    **_TOKENS,
    "total_token_throughput": NamedQuantity("total_throughput", "rate", "tok/s"),
    "max_output_tokens_per_s": NamedQuantity("output_throughput", "max", "tok/s"),
    "total_input_tokens": NamedQuantity("total_input_tokens", "total", "tokens"),
    "total_output_tokens": NamedQuantity("total_output_tokens", "total", "tokens"),
    "accept_length": NamedQuantity("accept_length", "mean", "tokens"),
    "spec_decode_acceptance_length": NamedQuantity("accept_length", "mean", "tokens"),
}
_VLLM_THROUGHPUT = {
    "elapsed_time": NamedQuantity("time", "total", "s"),
    "requests_per_second": NamedQuantity("request_throughput", "rate", "req/s"),
    "tokens_per_second": NamedQuantity(
        "total_throughput", "rate", "tok/s"
    ),  # tokens in and out together
}
_SGLANG_OFFLINE = {
    "total_latency": NamedQuantity("time", "total", "s"),
    **_REQUESTS,
    **_TOKENS,
}
_SGLANG_ONE_BATCH = {
    "total_latency": NamedQuantity("latency", "total", "s"),
    "latency": NamedQuantity(
        "latency", "total", "s"
    ),  # of the program that sends requests to a server
    "prefill_latency": NamedQuantity("prefill_latency", "total", "s"),
    "prefill_throughput": NamedQuantity("prefill_throughput", "rate", "tok/s"),
    "median_decode_latency": NamedQuantity("decode_latency", "median", "s"),
    "median_decode_throughput": NamedQuantity("decode_throughput", "median", "tok/s"),
    "overall_throughput": NamedQuantity("total_throughput", "rate", "tok/s"),
    **_TOKENS,
}
_TIME = re.compile(r"(?:mean|median|min|max|p\d{1,2}(?:\.\d+)?)_\w+_ms")

_VLLM_TRAFFIC = (
    "backend",
    "tokenizer_id",
    "num_prompts",
    "request_rate",
    "burstiness",
    "max_concurrency",
    "best_of",
    "use_beam_search",
    "ramp_up_strategy",
    "ramp_up_start_rps",
    "ramp_up_end_rps",
)
_VLLM_TEXTS = frozenset((*_VLLM_TRAFFIC, "date", "endpoint_type", "label", "model_id"))
_NO_WORKLOAD = frozenset(
    "agent branch build comment commit date dir id image label note notes parent path repo "
    "revision run sha tag task time url user "
    "variant version".split()
)
"""Words in the names of metadata about the measured code, place or time: no part of the workload.
"""

_MACHINES = ("machine", "hardware", "gpu", "gpu_type", "gpu_name", "device", "accelerator")
_SGLANG_REQUESTS = (
    "backend",
    "dataset_name",
    "request_rate",
    "max_concurrency",
    "completed",
    "sharegpt_output_len",
    "fixed_output_len",
    "random_input_len",
    "random_output_len",
    "random_range_ratio",
)
_BATCH = ("batch_size", "input_len", "output_len")


def _has(keys: Iterable[str], file: MeasuredFile) -> bool:
    """Return whether every object of the file has all keys."""
    return bool(file.objects) and all(run.keys() >= frozenset(keys) for run in file.objects)


def _values(
    names: Mapping[str, NamedQuantity], run: Run, origin: ResultOrigin
) -> Iterator[Measured]:
    """Yield the values of one run named in the table.

    Of two for one quantity, the first: a 50th percentile repeats the median.
    """
    found: dict[NamedQuantity, Any] = {}
    for key, named in names.items():
        if is_number(value := run.get(key)):
            found.setdefault(named, value)
    for named, value in found.items():
        yield Measured(origin, named.metric, named.statistic, value, named.unit, n=1)


def _serving_values(run: Run, origin: ResultOrigin) -> Iterator[Measured]:
    if run.get("completed") == 0:
        yield Measured(origin, status=MeasuredStatus.FAILED, detail="no request was completed")
    else:
        yield from _values(
            _SERVING | {key: quantity(key) for key in run if _TIME.fullmatch(key)}, run, origin
        )


def _params(run: Run, names: Iterable[str]) -> dict[str, Parameter]:
    """Return its known parameters among these. An infinite request rate is "inf" in every tool."""
    known = {name: value for name in names if (value := run.get(name)) is not None}
    return {
        name: "inf"
        if value == float("inf")
        else value
        if isinstance(value, str | int | float)
        else str(value)
        for name, value in known.items()
    }


def _read_vllm_serve(file: MeasuredFile) -> Iterator[Measured]:
    batch = batch_of(file.name, (variant_named(run.get("variant")) for run in file.objects))
    for run in file.objects:
        metadata = {
            key: value
            for key, value in run.items()
            if isinstance(value, str) and key not in _VLLM_TEXTS
        }
        workload = [
            key
            for key in metadata
            if key not in _MACHINES and not _NO_WORKLOAD & set(snake_case(key).split("_"))
        ]
        try:  # the local time of the machine, whose zone is not in the file
            measured_at = datetime.strptime(str(run.get("date")), "%Y%m%d-%H%M%S")  # noqa: DTZ007
        except ValueError:
            measured_at = None
        failed = run.get(
            "failed", run["num_prompts"] - run["completed"]
        )  # older files have only the number of those completed
        origin = ResultOrigin(
            variant_named(metadata.get("variant")),
            commit=metadata.get("commit"),
            parent=metadata.get("parent"),
            repo=metadata.get("repo"),
            task=metadata.get("task"),
            agent=metadata.get("agent"),
            benchmark="vllm bench serve",
            params=_params(run, (*_VLLM_TRAFFIC, *workload)),
            bench_model=run["model_id"],
            machine=next((metadata[key] for key in _MACHINES if key in metadata), None),
            batch=batch,
            scope=Scope.END_TO_END,
            measured_at=measured_at,
            flags=(Flagged.ERRORS,) if failed > 0 or any(run.get("errors") or ()) else (),
        )
        yield from _serving_values(run, origin)


def _read_vllm_latency(file: MeasuredFile) -> Iterator[Measured]:
    """Return seconds per iteration: a whole batch of prompts from start to end."""
    latencies = tuple(file.object["latencies"])
    origin = ResultOrigin(benchmark="vllm bench latency", scope=Scope.END_TO_END)
    found = {"mean": file.object["avg_latency"]}
    found |= {
        "median" if name == "50" else f"p{name}": value
        for name, value in file.object["percentiles"].items()
    }
    return statistics_of(origin, "latency", "s", found, len(latencies), samples=latencies)


def _read_vllm_throughput(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values.

    Every answer has its full length, so the number of tokens is part of the workload.
    """
    params = _params(file.object, ("num_requests", "total_num_tokens"))
    return _values(
        _VLLM_THROUGHPUT,
        file.object,
        ResultOrigin(benchmark="vllm bench throughput", params=params, scope=Scope.END_TO_END),
    )


def _read_sglang_serving(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values. The file lacks the number of prompts, so completed ones are used.

    Only newer versions write the model.
    """
    for run in file.objects:
        server = run.get("server_info")
        model, params = (
            server.get("model_path") if isinstance(server, dict) else None,
            _params(run, _SGLANG_REQUESTS),
        )
        yield from _serving_values(
            run,
            ResultOrigin(
                benchmark="sglang bench_serving",
                params=params,
                bench_model=model,
                scope=Scope.END_TO_END,
            ),
        )


def _read_sglang_offline(file: MeasuredFile) -> Iterator[Measured]:
    for run in file.objects:
        params = _params(run, ("backend", "successful_requests", "total_input_tokens"))
        yield from _values(
            _SGLANG_OFFLINE,
            run,
            ResultOrigin(
                benchmark="sglang bench_offline_throughput", params=params, scope=Scope.END_TO_END
            ),
        )


def _read_sglang_one_batch(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values. Only the user-given name of the run can name a variant."""
    batch = batch_of(file.name, (variant_named(run["run_name"]) for run in file.objects))
    for run in file.objects:
        variant, params = variant_named(run["run_name"]), _params(run, _BATCH)
        origin = ResultOrigin(
            variant,
            benchmark="sglang bench_one_batch",
            params=params,
            batch=batch,
            scope=Scope.END_TO_END,
        )
        yield from _values(_SGLANG_ONE_BATCH, run, origin)


def _tool(
    name: str, keys: tuple[str, ...], read: Callable[[MeasuredFile], Iterator[Measured]]
) -> Tool:
    return Tool(name, tuple(f'"{key}"' for key in keys), partial(_has, keys), read)


TOOLS = (
    _tool(
        "sglang_offline",
        ("successful_requests", "total_latency", "last_gen_throughput"),
        _read_sglang_offline,
    ),
    _tool("sglang_one_batch", ("run_name", *_BATCH, "overall_throughput"), _read_sglang_one_batch),
    _tool(
        "sglang_serving",
        ("total_output_tokens_retokenized", "output_throughput", "median_ttft_ms"),
        _read_sglang_serving,
    ),
    Tool(
        "vllm_latency",
        ('"avg_latency"', '"latencies"', '"percentiles"'),
        lambda file: (
            isinstance(file.object.get("latencies"), list)
            and {"avg_latency", "percentiles"} <= file.object.keys()
        ),
        _read_vllm_latency,
    ),
    _tool(
        "vllm_serve",
        ("model_id", "num_prompts", "completed", "request_throughput"),
        _read_vllm_serve,
    ),
    Tool(
        "vllm_throughput",
        tuple(f'"{key}"' for key in _VLLM_THROUGHPUT),
        lambda file: file.object.keys() >= {*_VLLM_THROUGHPUT, "num_requests"},
        _read_vllm_throughput,
    ),
)
