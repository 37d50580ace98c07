"""Benchmarks of one function before and after an agent's patch: `instance` and `result` with `baseline_ms` and `patched_ms`.

They ran on the CPU of one machine, from a script that a model wrote for the commit. `…_output` holds mean, median and 95th percentile of
its iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.iso_bench import place
from ingest.measurements.iso_bench.failures import detail_of, failure_of
from ingest.measurements.iso_bench.fields import mapping, text
from ingest.measurements.measured import Measured, Origin
from schemas.rows.claim import Scope
from schemas.rows.measurement import MeasuredStatus, Variant
from schemas.wire.iso_bench import run_folder

_STATISTICS = {"avg_ms": "mean", "p50_ms": "median", "p95_ms": "p95"}
_NOT_OF_THE_WORKLOAD = frozenset(("impl_tag", "commit_hash", "eq_level", "opt_path_hit", "error_code", *_STATISTICS))


def _recognises(file: MeasuredFile) -> bool:
    result = mapping(file.object.get("result"))
    return {"baseline_ms", "patched_ms"} <= result.keys() and "commit_hash" in mapping(file.object.get("instance"))


def _read(file: MeasuredFile) -> Iterator[Measured]:
    """Where the baseline failed, the patched code was not run."""
    result = file.object["result"]
    baseline, patched = (mapping(result.get(f"{word}_output")) for word in ("baseline", "patched"))
    origin = _origin(file, result, file.object["instance"])
    before = replace(origin, variant=Variant.BASELINE, agent=None, model=None, run_path=None, params=_params(baseline))
    after = replace(origin, variant=Variant.CANDIDATE, params=_params(patched))
    yield from _values(before, baseline, result["baseline_ms"]) if result["baseline_ms"] is not None else _failed(before, result)
    if result["patched_ms"] is not None:
        yield from _values(after, patched, result["patched_ms"])
    elif result["baseline_ms"] is None:
        yield Measured(origin=replace(after, params=_params(baseline)), status=MeasuredStatus.NOT_RUN)
    else:
        yield from _failed(after, result)


def _origin(file: MeasuredFile, result: Mapping[str, Any], instance: Mapping[str, Any]) -> Origin:
    run = run_folder(text(result, "patch_path"))
    return Origin(
        repo=place.repo_of(file, text(instance, "repo"), run and run.path),
        task=run.item if run else None,
        commit=text(instance, "commit_hash"),
        commit_names_task=True,
        agent=(run and run.agent) or place.agent_of(file),
        model=(run and run.model) or place.model_of(file),
        run_path=run.path if run else None,
        benchmark="function benchmark",
        batch=file.name,
        scope=Scope.MICRO,
    )


def _params(output: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the script: device, type of the numbers, iterations, sizes."""
    settings = {name: value for name, value in output.items() if isinstance(value, str | int | float) and name not in _NOT_OF_THE_WORKLOAD}
    return settings if "avg_ms" in output else {}


def _values(origin: Origin, output: Mapping[str, Any], mean: float) -> Iterator[Measured]:
    iterations = output.get("iters")
    for key, statistic in _STATISTICS.items():
        value = output.get(key, mean if key == "avg_ms" else None)
        if value is not None:
            yield Measured(origin=origin, metric="time", statistic=statistic, value=value, unit="ms", n=iterations)


def _failed(origin: Origin, result: Mapping[str, Any]) -> Iterator[Measured]:
    error, log = text(result, "error_message"), text(result, "stderr") or ""
    failure = failure_of(text(result, "status"), error, log, origin.variant, baseline_ran=origin.variant is Variant.CANDIDATE)
    yield Measured(origin=origin, status=MeasuredStatus.FAILED, failure=failure, detail=detail_of(error, log))


TOOL = Tool("iso_bench_function", ('"instance"', '"baseline_ms"', '"patched_ms"'), _recognises, _read)
