"""Files with one variant of one commit: `<commit>_{human,agent,baseline}_result.json`, and those of `docker/`.

Metrics are in `metrics`, or beside the other keys. What kind of workload ran is told by none of the older files, but how many tokens went
in by nearly all, in a field or in the log: so this number is the fingerprint of the workload. It keeps apart what must not be divided:
20,000 tokens in one run and 22,398 in the other are not the same requests. Newer files have `perf_command` instead.

Files of `docker/` do not say whether the parent commit or the human's was measured: their variant is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.iso_bench import place
from ingest.measurements.iso_bench.fields import commit_of, mapping, parent_of, text
from ingest.measurements.iso_bench.outcome import Outcome, Together
from ingest.measurements.iso_bench.workload import kind_of, measured_at, substituted
from ingest.measurements.measured import Measured, Origin, Parameter
from schemas.rows.claim import Scope
from schemas.rows.measurement import Variant
from schemas.wire.iso_bench import run_folder

_FLAT = re.compile(r"ttft|tpot|itl|latency|throughput|benchmark_duration|total_generated_tokens")
"""Keys of metrics that stand beside the other keys of a file."""

_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_INPUT_TOKENS = re.compile(r"Total input tokens:\s+(\d+)")
_BASELINE_LOG = "BASELINE mode"


def _is_result(file: MeasuredFile) -> bool:
    content = file.object
    return {"human_commit", "status"} <= content.keys() and isinstance(content["status"], str) and _has_results(content)


def _is_early_result(file: MeasuredFile) -> bool:
    """Every key but status and commit is missing in one file or another."""
    content = file.object
    has_commit = bool(_COMMIT.fullmatch(commit_of(content) or ""))
    return has_commit and isinstance(content.get("status"), str) and "human_commit" not in content and _has_results(content)


def _has_results(content: Mapping[str, Any]) -> bool:
    told = {"benchmark_type", "throughput_tok_s", "ttft_mean", "skip_reason"} & content.keys()
    return bool(told) or isinstance(content.get("metrics"), dict)


def _read(file: MeasuredFile) -> Iterator[Measured]:
    content = file.object
    metrics = content.get("metrics", {key: value for key, value in content.items() if _FLAT.search(key)})
    outcome = Outcome(
        origin=_origin(file, content, mapping(metrics)),
        metrics=metrics,
        status=content["status"],
        error=text(content, "error", "skip_reason"),
        log=_log(content),
    )
    yield from Together((outcome,)).rows()


def _log(content: Mapping[str, Any]) -> str:
    """What was printed, and the image that ran: a name that ends in `+ patch` says that the patch was in it."""
    return "\n".join(told for key in ("raw_output", "docker_image") if (told := text(content, key)))


def _origin(file: MeasuredFile, content: Mapping[str, Any], metrics: Mapping[str, Any]) -> Origin:
    variant = _variant(file, content)
    run = run_folder(text(content, "agent_patch", "patch_path"))
    of_agent = variant is Variant.CANDIDATE
    command = text(content, "perf_command")
    return Origin(
        variant=variant,
        repo=place.repo_of(file, run and run.path, text(content, "docker_image"), command),
        task=text(content, "task_id") or (run.item if run else None),
        commit=commit_of(content),
        commit_names_task=True,
        parent=parent_of(content),
        agent=((run and run.agent) or place.agent_of(file)) if of_agent else None,
        model=((run and run.model) or place.model_of(file)) if of_agent else None,
        run_path=run.path if run else None,
        benchmark=kind_of(content, metrics),
        params={} if command else _params(content, metrics),
        command=command,
        bench_model=text(content, "model"),
        machine=text(content, "gpu_config"),
        batch=place.batch_of_experiment(file),
        scope=Scope.END_TO_END,
        measured_at=measured_at(content),
        flags=substituted(content),
    )


def _variant(file: MeasuredFile, content: Mapping[str, Any]) -> Variant | None:
    """What the content says goes before the name of the file."""
    for key in ("benchmark_source", "benchmark_type", "variant"):
        word = (text(content, key) or "").split(" ")[0].lower()
        if word in place.VARIANTS:
            return place.VARIANTS[word]
    return Variant.BASELINE if _BASELINE_LOG in _log(content) else place.variant_of(file)


def _params(content: Mapping[str, Any], metrics: Mapping[str, Any]) -> dict[str, Parameter]:
    told = metrics.get("total_input_tokens", content.get("total_input_tokens"))
    logged = _INPUT_TOKENS.findall(_log(content))
    tokens = told if isinstance(told, int) else int(logged[-1]) if logged else None
    return {"total_input_tokens": tokens}


RESULT = Tool("iso_bench_result", ('"human_commit"', '"status"'), _is_result, _read)
EARLY_RESULT = Tool("iso_bench_early_result", ('"status"', "commit"), _is_early_result, _read, marks_suffice=False)
