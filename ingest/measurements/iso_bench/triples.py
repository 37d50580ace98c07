"""Files with baseline, human and agent of one commit, which one job measured one after another: each file is a batch.

Three schemas: `{baseline,human,agent}_metrics` side by side, also inside `result` beside `instance`, or with `patched_metrics` for the
agent's; one object per variant (reruns, and `results` of `docker/`); and logs of a whole run, with a list of the first kind in `results`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.iso_bench import place
from ingest.measurements.iso_bench.fields import commit_of, mapping, parent_of, text
from ingest.measurements.iso_bench.outcome import Outcome, Together
from ingest.measurements.iso_bench.workload import kind_of, measured_at, model_in, substituted
from ingest.measurements.measured import Measured, Origin
from schemas.rows.claim import Scope
from schemas.rows.measurement import Variant
from schemas.wire.iso_bench import agent_named, model_named, run_folder

_WORDS = {"baseline": "baseline", "human": "human", "agent": "agent", "patched": "agent"}
"""Beginnings of keys → words of variants."""

_STAGE = re.compile(r"\b(baseline|human|agent)\b|(?<=_)(baseline|human|agent)_|\b(baseline|human|agent)_", re.IGNORECASE)


def _is_triple(file: MeasuredFile) -> bool:
    return _is_result(file.object)


def _is_result(content: Mapping[str, Any]) -> bool:
    other = {"human_metrics", "agent_metrics", "patched_metrics"} & content.keys()
    return "baseline_metrics" in content and bool(other) and isinstance(content.get("status"), str)


def _read_triple(file: MeasuredFile) -> Iterator[Measured]:
    yield from _rows(file, file.object, {})


def _is_instance(file: MeasuredFile) -> bool:
    """Not of the benchmarks of one function, whose times are `baseline_ms`."""
    instance, result = mapping(file.object.get("instance")), mapping(file.object.get("result"))
    return "commit_hash" in instance and isinstance(result.get("status"), str) and "baseline_ms" not in result


def _read_instance(file: MeasuredFile) -> Iterator[Measured]:
    yield from _rows(file, file.object["result"], file.object["instance"])


def _is_progress(file: MeasuredFile) -> bool:
    """Only with values: a log of failures alone says less than the files of its results."""
    content = file.object
    results = content.get("results")
    if not isinstance(results, list) or not {"completed", "timestamp"} <= content.keys():
        return False
    return any(_has_values(result) for result in results if isinstance(result, dict))


def _has_values(result: Mapping[str, Any]) -> bool:
    return _is_result(result) and any(mapping(result.get(f"{word}_metrics")) for word in _WORDS)


def _read_progress(file: MeasuredFile) -> Iterator[Measured]:
    for result in file.object["results"]:
        if isinstance(result, dict) and commit_of(result) and text(result, "status"):
            yield from _rows(file, {"timestamp": file.object["timestamp"]} | result, mapping(result.get("instance")))


def _rows(file: MeasuredFile, result: Mapping[str, Any], instance: Mapping[str, Any]) -> Iterator[Measured]:
    """The rows of one job: of all three variants, or of baseline and patched."""
    words = ("baseline", "patched") if "patched_metrics" in result else ("baseline", "human", "agent")
    origin = _origin(file, result, instance, words)
    outcomes = (_outcome(word, result, _of_variant(origin, _WORDS[word])) for word in words)
    yield from Together(tuple(outcomes)).rows()


def _origin(file: MeasuredFile, result: Mapping[str, Any], instance: Mapping[str, Any], words: tuple[str, ...]) -> Origin:
    """What all variants have in common, with the run, the agent and the model of the candidate."""
    run = run_folder(text(result, "patch_path", "agent_patch"))
    command = text(result, "perf_command") or text(instance, "perf_command")
    measured = next((metrics for word in words if (metrics := mapping(result.get(f"{word}_metrics")))), None)
    return Origin(
        repo=place.repo_of(file, text(instance, "repo"), run and run.path, command),
        task=text(result, "task_id") or (run.item if run else None),
        commit=commit_of(result) or commit_of(instance),
        commit_names_task=True,
        parent=parent_of(result),
        agent=agent_named(text(result, "agent_name") or "") or (run and run.agent) or place.agent_of(file),
        model=_model(text(result, "agent_model")) or (run and run.model) or place.model_of(file),
        run_path=run.path if run else None,
        benchmark=kind_of({"perf_command": command} | dict(result), measured),
        command=command,
        bench_model=text(result, "model") or model_in(command),
        machine=text(result, "gpu_config"),
        batch=file.name,
        scope=Scope.END_TO_END,
        measured_at=measured_at(result),
        flags=substituted(result),
    )


def _model(written: str | None) -> str | None:
    return (model_named(written) or written) if written else None


def _of_variant(origin: Origin, word: str) -> Origin:
    """The agent's name belongs to its own variant only."""
    variant = place.VARIANTS[word]
    if variant is Variant.CANDIDATE:
        return replace(origin, variant=variant)
    return replace(origin, variant=variant, agent=None, model=None, run_path=None)


def _outcome(word: str, result: Mapping[str, Any], origin: Origin) -> Outcome:
    """The error of a job is that of the variant it names, or of all without values; what came after that variant was not run."""
    metrics, error = result.get(f"{word}_metrics"), text(result, f"{word}_error", f"{word}_skip_reason")
    logs = (text(result, f"{word}_raw"), text(result, f"{word}_server_logs"), text(mapping(metrics), "raw_output"))
    made = Outcome(origin=origin, metrics=metrics, status="success", error=error, log="\n".join(filter(None, logs)))
    if made.values:
        return made
    if error:
        return replace(made, status="error")
    told = text(result, "error", "error_message")
    status = text(result, "status") or ""
    if status == "success" and not told:
        return made
    stage = _stage(told, status)
    return replace(made, status=status, error=told) if stage in (None, _WORDS[word]) else replace(made, status="not_run")


def _stage(error: str | None, status: str) -> str | None:
    """The variant that an error is about: the first that its text names, else the status."""
    found = _STAGE.search((error or "").split("\n")[0]) or _STAGE.search(status)
    return next(group for group in found.groups() if group).lower() if found else None


def _is_per_variant(file: MeasuredFile) -> bool:
    variants = _variants(file.object)
    return len(variants) > 1 and bool(commit_of(file.object)) and all(isinstance(one.get("status"), str) for one in variants.values())


def _variants(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The objects of the variants, at the top or in `results`."""
    holder = mapping(content.get("results")) or content
    return {word: holder[word] for word in ("baseline", "human", "agent") if isinstance(holder.get(word), dict)}


def _read_per_variant(file: MeasuredFile) -> Iterator[Measured]:
    """The baseline may have another command than the other two: it is then another workload."""
    content, variants = file.object, _variants(file.object)
    origin = _origin(file, content, {}, ())
    outcomes = []
    for word, one in variants.items():
        command = text(content, "baseline_command" if word == "baseline" else "test_command")
        own = replace(_of_variant(origin, word), command=command, bench_model=text(one, "model") or origin.bench_model)
        metrics = mapping(one.get("metrics"))
        own = replace(own, benchmark=kind_of({"test_command": command} | content | one, metrics), repo=origin.repo or place.repo_of(file))
        outcomes.append(
            Outcome(origin=own, metrics=metrics, status=one["status"], error=text(one, "error"), log=text(one, "raw_output") or "")
        )
    yield from Together(tuple(outcomes)).rows()


TRIPLE = Tool("iso_bench_triple", ('"baseline_metrics"', '"status"'), _is_triple, _read_triple)
INSTANCE = Tool("iso_bench_instance", ('"instance"', '"result"', '"commit_hash"'), _is_instance, _read_instance, marks_suffice=False)
PROGRESS = Tool("iso_bench_progress", ('"results"', '"completed"', '"baseline_metrics"'), _is_progress, _read_progress)
PER_VARIANT = Tool(
    "iso_bench_rerun", ('"baseline"', '"human"', '"agent"', "commit"), _is_per_variant, _read_per_variant, marks_suffice=False
)
