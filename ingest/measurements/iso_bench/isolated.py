"""`<commit>_isolated.json`: baseline, human and every agent of one SGLang commit, each measured in a container of its own by one job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.iso_bench import place
from ingest.measurements.iso_bench.fields import commit_of, mapping, parent_of, text
from ingest.measurements.iso_bench.outcome import Outcome, Together
from ingest.measurements.iso_bench.workload import kind_of, measured_at
from ingest.measurements.measured import Measured, Origin
from schemas.rows.claim import Scope
from schemas.rows.measurement import Variant
from schemas.wire.iso_bench import agent_named, model_named


def _recognises(file: MeasuredFile) -> bool:
    variants = mapping(file.object.get("variants"))
    has_statuses = all(isinstance(mapping(one).get("status"), str) for one in variants.values())
    return has_statuses and bool(commit_of(file.object)) and any(_variant(name) for name in variants)


def _variant(name: str) -> Variant | None:
    """`trae_gpt5` and other names of an agent and its model are the candidate."""
    return place.VARIANTS.get(name) or (Variant.CANDIDATE if agent_named(name) else None)


def _read(file: MeasuredFile) -> Iterator[Measured]:
    variants = file.object["variants"]
    kind = next((kind for one in variants.values() if (kind := kind_of(one, one.get("metrics")))), None)
    outcomes = [_outcome(one, _origin(file, name, one, kind)) for name, one in variants.items() if _variant(name)]
    yield from Together(tuple(outcomes)).rows()


def _outcome(one: Mapping[str, Any], origin: Origin) -> Outcome:
    """The patch is only told of an agent's variant."""
    log = "\n".join(told for key in ("patch_message", "raw_output") if (told := text(one, key)))
    return Outcome(
        origin=origin,
        metrics=one.get("metrics") or {},
        status=one["status"],
        error=text(one, "error"),
        log=log,
        patch_applied=one.get("patch_applied"),
    )


def _origin(file: MeasuredFile, name: str, one: Mapping[str, Any], kind: str | None) -> Origin:
    content = file.object
    command = text(one, "perf_command", "command") or text(content, "perf_command", "command")
    return Origin(
        variant=_variant(name),
        repo=place.repo_of(file, text(one, "benchmark_module")),
        commit=commit_of(content),
        commit_names_task=True,
        parent=parent_of(content),
        agent=agent_named(name),
        model=model_named(name),
        benchmark=kind,
        command=command,
        bench_model=text(one, "model") or text(content, "model"),
        machine=text(content, "gpu_config"),
        batch=file.name,
        scope=Scope.END_TO_END,
        measured_at=measured_at(one),
    )


TOOL = Tool("iso_bench_isolated", ('"variants"', '"variant"', '"base_commit"'), _recognises, _read)
