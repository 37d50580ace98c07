"""Results of ISO-Bench, in nine schemas that share one map of fields.

ISO-Bench measures the patches of agents for vLLM and SGLang.

Source: https://github.com/Lossfunk/ISO-Bench (Apache-2.0), before that
https://github.com/thekernelcompany/OmniPerf-Bench (MIT), `archive/results/` and
`omniperf_results*/`. Every value is one run. A reference is the patch of the human commit that
names the task. `FORMATS` has the schemas: each yields jobs, which are comparisons of one task, and
lists the keys of each figure of a variant.

An experiment is one folder, such as `2026-01/omniperf_results_3way_claude_code`, with the results
of one agent and its comparisons in `results/`, `results/separate_agent/`,
`results/separate_baseline/` or `baseline_benchmark_results/`, one file per commit and variant; or
`2026-05-x3` with `baseline/` and one folder per agent. So all files of an experiment are one batch,
as in the published analysis; files with different workloads or models are still never compared.
`docker/` is a set-up of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from ingest.measurements import words
from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.iso_bench_outcomes import (
    SUCCESS,
    Outcome,
    detail_of,
    failure_of,
    rows_together,
    values_of,
)
from ingest.measurements.measured import Measured, Origin
from schemas.agents import ISO_BENCH_AGENTS
from schemas.rows.claim import Scope
from schemas.rows.measurement import MeasuredStatus, Variant
from schemas.units import Flagged
from schemas.wire.iso_bench import agent_named, model_named, run_folder

Fields = Mapping[str, Any]

KEYS = {
    "commit": (
        "human_commit_full",
        "commit_full",
        "full_commit",
        "commit_hash",
        "human_commit",
        "commit",
        "commit_short",
    ),
    "parent": ("parent_commit", "parent_hash", "parent_short", "base_commit"),
    "patch": ("patch_path", "agent_patch"),
    "command": ("perf_command", "test_command"),
    "kind": ("benchmark_type", "bench_type", "benchmark_mode"),
    "time": ("timestamp", "benchmark_date"),
    "notes": ("note", "notes"),
}
"""Keys of the same field in the schemas: the first with a non-empty text counts. A full commit goes
before a short one.
"""

VARIANTS = words.VARIANTS | dict.fromkeys(ISO_BENCH_AGENTS, Variant.CANDIDATE)
_THREE = ("baseline", "human", "agent")
_REPOSITORIES = ("sglang", "vllm")
_DATED = re.compile(r"20\d\d-\d\d(?:-\S+)?")
_WITHIN_EXPERIMENT = re.compile(
    r"results|separate_(?:agent|baseline)|(?:baseline|isolated)_benchmark_results|reruns|logs|modal|docker|hf_export|vllm|sglang|human|agent"
    rf"|baseline|(?:{'|'.join(ISO_BENCH_AGENTS)})(?:_(?:sonnet|gpt)\w*)?|[0-9a-f]{{8}}"
)
_OF_VLLM = re.compile(r"omniperf_results_3way_(?!sglang)\w+")
"""Experiments named after an agent are vLLM's; SGLang's are named after SGLang."""

_OF_BASELINES = re.compile(r"(?:separate_)?baseline(?:_benchmark_results)?")
_OF_VARIANT = re.compile(r"_(human|agent|baseline)_result\.json")

_KINDS = ("serving", "latency", "throughput", "prefix_caching", "one_batch")
_IN_COMMAND = {
    "prefix_caching": re.compile(r"prefix_caching\.py"),
    "one_batch": re.compile(r"bench_one_batch"),
    "serving": re.compile(r"bench(?:mark)?_serving|bench serve"),
    "latency": re.compile(r"benchmark_latency|bench latency"),
    "throughput": re.compile(r"benchmark_throughput|bench(?:_offline)? ?_?throughput"),
}
_BY_METRIC = (("ttft", "serving"), ("output_token_throughput", "serving"), ("latency", "latency"))
_MODEL = re.compile(r"--model(?:-path)?[ =](['\"]?)(?P<model>[^\s'\"]++)\1")
_SUBSTITUTED = re.compile(
    (
        r"^(?>.*?\bmodel\b).*\b(?:(?:due|instead|missing)\b|corrected|substitut\w|replaced)|\bcorrected "  # noqa: E501
        r"from\b"
    ),
    re.IGNORECASE | re.MULTILINE,
)
_STAGE = re.compile(r"(?:\b|_)(baseline|human|agent)(?:\b|_)", re.IGNORECASE)
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_INPUT_TOKENS = re.compile(r"Total input tokens:\s+(\d+)")
_NOT_MEASURED = (
    "human_improvement_",
    "agent_improvement_",
    "agent_vs_human_",
    "agent_name",
    "agent_model",
    "baseline_raw",
    "human_raw",
    "agent_raw",
)
"""Columns of the table with the prefix of a variant's metrics that are no metrics."""

_FLAT = re.compile(r"ttft|tpot|itl|latency|throughput|benchmark_duration|total_generated_tokens")
"""Keys of metrics in a file without `metrics`."""


class Job(NamedTuple):
    """One comparison of a task.

    The fields shared by its variants, and the object with the figures of each variant, by its word.

    The word is empty in a file of one variant: folder and name decide.
    """

    shared: Fields
    parts: Mapping[str, Fields]
    batch: str | None
    flags: tuple[Flagged, ...] = ()


class Format(NamedTuple):
    """A schema.

    `metrics`, `status`, `error`, `log`: the keys of a variant's figures in its object; `{}` is its
    word.

    Without `status` the job has one status for all variants.
    """

    name: str
    marks: tuple[str, ...]
    recognises: Callable[[MeasuredFile], bool]
    jobs: Callable[[MeasuredFile], Iterable[Job]]
    metrics: str = "metrics"
    status: str = "status"
    error: tuple[str, ...] = ("error",)
    log: tuple[str, ...] = ("raw_output",)
    marks_suffice: bool = True


def text(fields: Fields, *keys: str) -> str | None:
    """Return the first of these values that is a non-empty text."""
    return next(
        (value for key in keys if isinstance(value := fields.get(key), str) and value.strip()), None
    )


def mapping(value: Any) -> dict[str, Any]:
    """Return a JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def model_in(command: str | None) -> str | None:
    """Return the model named in a command."""
    found = _MODEL.search(command) if command else None
    return found["model"] if found else None


def substituted(fields: Fields) -> tuple[Flagged, ...]:
    """Return a flag if the file or its command shows that another model ran than the task names."""
    ran, original = (
        text(fields, "model"),
        text(fields, "original_model") or model_in(text(fields, "perf_command")),
    )
    is_noted = any(
        _SUBSTITUTED.search(note) for key in KEYS["notes"] if (note := text(fields, key))
    )
    return (
        (Flagged.MODEL_SUBSTITUTED,) if is_noted or (ran and original and ran != original) else ()
    )


def _kind_of(fields: Fields, metrics: Any = None) -> str | None:
    """Return serving, latency, throughput, prefix_caching or one_batch.

    As declared, else by its command, else by its metrics.
    """
    said = text(fields, *KEYS["kind"])
    if said in _KINDS:
        return said
    command, measured = text(fields, *KEYS["command"]) or "", " ".join(metrics or ())
    named = next((kind for kind, pattern in _IN_COMMAND.items() if pattern.search(command)), None)
    return named or next((kind for word, kind in _BY_METRIC if word in measured), None)


def _measured_at(fields: Fields) -> datetime | None:
    """Return when the benchmark ran, with a zone only if the file has one."""
    written = text(fields, *KEYS["time"]) or ""
    for form in ("%Y%m%d_%H%M%S", "%Y-%m-%d"):
        with suppress(ValueError):
            return datetime.strptime(written, form)  # noqa: DTZ007 - the zone is unknown
    return words.written_time(written)


def _repo_of(file: MeasuredFile, *texts: str | None) -> str | None:
    """Return the repository, `vllm` or `sglang`.

    From the first text that names one, from a folder, or the file's more frequent one.
    """
    for one in (*texts, *reversed(file.folders)):
        if one and (named := next((repo for repo in _REPOSITORIES if repo in one.lower()), None)):
            return named
    if any(_OF_VLLM.fullmatch(folder) for folder in file.folders):
        return "vllm"
    return file.most_frequent(_REPOSITORIES)


def _experiment(file: MeasuredFile) -> str | None:
    """Return the folder of the experiment, with the dated folder around it.

    None for a file without folders of its own.
    """
    places = [
        place
        for place, folder in enumerate(file.folders)
        if folder and not _WITHIN_EXPERIMENT.fullmatch(folder)
    ]
    if not places:
        return None
    last = places[-1]
    first = last - 1 if last and _DATED.fullmatch(file.folders[last - 1]) else last
    name = "/".join(file.folders[first : last + 1])
    return f"{name}/docker" if "docker" in file.folders else name


def _origin(file: MeasuredFile, job: Job, word: str = "", part: Fields | None = None) -> Origin:
    """Return the origin of a variant's values.

    Run, agent and model are those of the candidate only.

    They come from the variant's word (`trae_gpt5`), the file, the path of the patch, or the
    innermost folder that names an agent.
    """
    shared = job.shared
    fields = (
        {**shared, **{key: value for key, value in part.items() if value is not None}}
        if part and part is not shared
        else shared
    )
    variant = (VARIANTS.get(word) or Variant.CANDIDATE) if word else _variant_of(file, shared)
    run, command = run_folder(text(shared, *KEYS["patch"])), text(fields, *KEYS["command"])
    agent = model = None
    if variant is Variant.CANDIDATE:
        folder = next((folder for folder in reversed(file.folders) if agent_named(folder)), "")
        agent, model = text(shared, "agent_name"), text(shared, "agent_model")
        agent = (
            agent_named(word)
            or (agent and agent_named(agent))
            or agent
            or (run and run.agent)
            or agent_named(folder)
        )
        model = (
            (model and model_named(model)) or model or (run and run.model) or model_named(folder)
        )
        model = model_named(word) if agent_named(word) else model
    return Origin(
        variant,
        repo=_repo_of(
            file,
            text(shared, "repo"),
            run and run.path,
            text(fields, "docker_image"),
            text(fields, "benchmark_module"),
            command,
        ),
        task=text(shared, "task_id") or (run.item if run else None),
        commit=text(shared, *KEYS["commit"]),
        commit_names_task=True,
        parent=text(shared, *KEYS["parent"]),
        agent=agent,
        model=model,
        run_path=run.path if run and variant is Variant.CANDIDATE else None,
        command=command,
        bench_model=text(fields, "model"),
        machine=text(shared, "gpu_config"),
        batch=job.batch,
        scope=Scope.END_TO_END,
        measured_at=_measured_at(fields),
        flags=(*substituted(shared), *job.flags),
    )


def _variant_of(file: MeasuredFile, content: Fields) -> Variant | None:
    """Return the variant of a file with one. Content goes before folder and name.

    A folder of baselines goes before the name: in `2026-05-x3/baseline/` the files are called
    `…_agent_result.json`. Files of `docker/` do not show whether the parent commit or the human's
    was measured: their variant is unknown.
    """
    for key in ("benchmark_source", "benchmark_type"):
        word = (text(content, key) or "").split(" ")[0].lower()
        if word in VARIANTS:
            return VARIANTS[word]
    if "BASELINE mode" in (text(content, "raw_output") or "") or any(
        _OF_BASELINES.fullmatch(folder) for folder in file.folders
    ):
        return Variant.BASELINE
    named = _OF_VARIANT.search(file.file_name)
    return VARIANTS[named[1]] if named else None


def _read(form: Format, file: MeasuredFile) -> Iterator[Measured]:
    for job in form.jobs(file):
        metrics_of = {word: part.get(form.metrics.format(word)) for word, part in job.parts.items()}
        kinds = {
            word: _kind_of({**job.shared, **part}, metrics_of[word])
            for word, part in job.parts.items()
        }
        kind_of_job = next(filter(None, kinds.values()), None)
        outcomes = []
        for word, part in job.parts.items():
            metrics, kind, error = (
                metrics_of[word],
                kinds[word] or kind_of_job,
                text(part, *(key.format(word) for key in form.error)),
            )
            logs = (
                *(text(part, key.format(word)) for key in form.log),
                text(mapping(metrics), "raw_output"),
            )
            log = "\n".join(filter(None, logs))
            status = part[form.status] if form.status else None
            values = values_of(metrics, kind, log) if status in (None, *SUCCESS) else ()
            if not form.status and not values:
                status, error = _why_without_values(word, job.shared, error)
            origin = replace(
                _origin(file, job, word, part if form.status else None), benchmark=kind
            )
            if not word and not origin.command:
                origin = replace(
                    origin, params={"total_input_tokens": _input_tokens(part, metrics, log)}
                )
            outcomes.append(
                Outcome(
                    origin,
                    values,
                    metrics is not None,
                    status,
                    error,
                    log,
                    part.get("patch_applied"),
                )
            )
        yield from rows_together(outcomes)


def _input_tokens(content: Fields, metrics: Any, log: str) -> int | None:
    """Return the number of input tokens.

    The fingerprint of a workload that older files do not record.

    It separates incomparable runs: 20,000 tokens in one run and 22,398 in the other are not the
    same requests.
    """
    written, logged = (
        mapping(metrics).get("total_input_tokens", content.get("total_input_tokens")),
        _INPUT_TOKENS.findall(log),
    )
    return written if isinstance(written, int) else int(logged[-1]) if logged else None


def _why_without_values(word: str, shared: Fields, own_error: str | None) -> tuple[str, str | None]:
    """Return (status, error) of a variant without values.

    A job's error belongs to the variant it names first, or to all.

    Later variants were not run.
    """
    if own_error:
        return "error", own_error
    error, status = text(shared, "error", "error_message"), text(shared, "status") or ""
    if status == "success" and not error:
        return status, None
    found = _STAGE.search((error or "").split("\n")[0]) or _STAGE.search(status)
    stage = found[1].lower() if found else None
    return (
        (status, error) if stage is None or VARIANTS[stage] is VARIANTS[word] else ("not_run", None)
    )


def _is_result(file: MeasuredFile) -> bool:
    content = file.object
    return (
        {"human_commit", "status"} <= content.keys()
        and isinstance(content["status"], str)
        and _has_results(content)
    )


def _is_early_result(file: MeasuredFile) -> bool:
    """Recognise an early result; every key but status and commit is missing in some file."""
    content = file.object
    has_commit = bool(_COMMIT.fullmatch(text(content, *KEYS["commit"]) or ""))
    return (
        has_commit
        and isinstance(content.get("status"), str)
        and "human_commit" not in content
        and _has_results(content)
    )


def _has_results(content: Fields) -> bool:
    known = {"benchmark_type", "throughput_tok_s", "ttft_mean", "skip_reason"} & content.keys()
    return bool(known) or isinstance(content.get("metrics"), dict)


def _one_variant(file: MeasuredFile) -> Iterator[Job]:
    """Yield `<commit>_{human,agent,baseline}_result.json`, and those of `docker/`.

    Metrics are in `metrics` or beside the other keys.
    """
    content = file.object
    if "metrics" not in content:
        content = content | {
            "metrics": {key: value for key, value in content.items() if _FLAT.search(key)}
        }
    yield Job(content, {"": content}, _experiment(file))


def _is_side_by_side(content: Fields) -> bool:
    other = {"human_metrics", "agent_metrics", "patched_metrics"} & content.keys()
    return "baseline_metrics" in content and bool(other) and isinstance(content.get("status"), str)


def _is_instance(file: MeasuredFile) -> bool:
    """Recognise an instance, except benchmarks of one function (with times in `baseline_ms`)."""
    instance, result = mapping(file.object.get("instance")), mapping(file.object.get("result"))
    return (
        "commit_hash" in instance
        and isinstance(result.get("status"), str)
        and "baseline_ms" not in result
    )


def _is_progress(file: MeasuredFile) -> bool:
    """Recognise a log with values.

    A log of failures alone has less information than the files of its results.
    """
    results = file.object.get("results")
    if not isinstance(results, list) or not {"completed", "timestamp"} <= file.object.keys():
        return False
    found = [result for result in results if isinstance(result, dict) and _is_side_by_side(result)]
    return any(
        mapping(result.get(f"{word}_metrics")) for result in found for word in (*_THREE, "patched")
    )


def _side_by_side(file: MeasuredFile, result: Fields, instance: Fields) -> Job:
    """Return a job that measured the variants one after another.

    All three, or baseline and patched. The file is a batch.
    """
    of_instance = {
        "repo": instance.get("repo"),
        "test_command": instance.get("perf_command"),
        "commit_short": instance.get("commit_hash"),
    }
    shared = {**of_instance, **result}
    shared["model"] = text(result, "model") or model_in(text(shared, *KEYS["command"]))
    sides = ("baseline", "patched") if "patched_metrics" in result else _THREE
    return Job(shared, dict.fromkeys(sides, result), file.name)


def _progress(file: MeasuredFile) -> Iterator[Job]:
    """Yield the jobs of a whole run's log, from its list of results."""
    for result in file.object["results"]:
        if isinstance(result, dict) and text(result, *KEYS["commit"]) and text(result, "status"):
            yield _side_by_side(
                file,
                {"timestamp": file.object["timestamp"]} | result,
                mapping(result.get("instance")),
            )


def _variants_in(content: Fields) -> dict[str, dict[str, Any]]:
    """Return the objects of a rerun's variants, at the top or in `results`."""
    holder = mapping(content.get("results")) or content
    return {word: holder[word] for word in _THREE if isinstance(holder.get(word), dict)}


def _is_rerun(file: MeasuredFile) -> bool:
    variants = _variants_in(file.object)
    has_statuses = all(isinstance(one.get("status"), str) for one in variants.values())
    return len(variants) > 1 and bool(text(file.object, *KEYS["commit"])) and has_statuses


def _rerun(file: MeasuredFile) -> Iterator[Job]:
    """Yield the jobs. A baseline with another command than the other two is another workload."""
    content, parts = file.object, {}
    for word, one in _variants_in(content).items():
        command = content.get("baseline_command" if word == "baseline" else "test_command")
        parts[word] = {**one, "metrics": mapping(one.get("metrics")), "test_command": command}
    yield Job({**content, "test_command": None}, parts, file.name)


def _is_isolated(file: MeasuredFile) -> bool:
    variants = mapping(file.object.get("variants"))
    has_statuses = all(isinstance(mapping(one).get("status"), str) for one in variants.values())
    return (
        has_statuses
        and bool(text(file.object, *KEYS["commit"]))
        and any(word in VARIANTS or agent_named(word) for word in variants)
    )


def _isolated(file: MeasuredFile) -> Iterator[Job]:
    """Yield the jobs of one SGLang commit: baseline, human and every agent, each in its container.

    `trae_gpt5` is agent and model.
    """
    parts = {
        word: one
        for word, one in file.object["variants"].items()
        if word in VARIANTS or agent_named(word)
    }
    yield Job(
        file.object,
        {word: {**one, "metrics": one.get("metrics") or {}} for word, one in parts.items()},
        file.name,
    )


def _table(file: MeasuredFile) -> Iterator[Job]:
    """Yield the jobs of `hf_export/*.csv`.

    One row per commit and agent, with columns `{baseline,human,agent}_{metric}` and the three logs.

    Most rows were merged from several experiments, such as those of `codex_modal`, which repeat the
    baseline of another agent's row: a row is a batch only if `data_source` names one experiment. A
    row without any value is skipped, unless the log or the source shows a failure. A `standalone`
    benchmark is one of latency or of throughput: its metrics decide, since some commands are of
    another run.
    """
    for number, (_, row) in enumerate(file.rows, 1):
        parts = {}
        for word in _THREE:
            metrics = {}
            for key, cell in row.items():
                if key.startswith(f"{word}_") and not key.startswith(_NOT_MEASURED):
                    try:
                        metrics[key.removeprefix(f"{word}_")] = float(cell)
                    except ValueError:
                        continue
            error = (
                row.get("data_source", "").partition("FAILED:")[2] or None
                if word == "agent"
                else None
            )
            if metrics or error or f"{word}_raw" in row:
                status = "success" if metrics else "error"
                parts[word] = {
                    "metrics": metrics,
                    "status": status,
                    "error": error,
                    "raw_output": row.get(f"{word}_raw"),
                }
        kind = row.get("benchmark_mode")
        if kind == "standalone":
            kind = (
                "latency" if any(f"{word}_latency_avg" in row for word in _THREE) else "throughput"
            )
        is_one = row.get("data_source") in (
            "modal",
            "docker",
            "separate",
            "claude_code_rerun_fixable",
        )
        flags = () if is_one else (Flagged.MERGED,)
        yield Job(
            {**row, "benchmark_mode": kind},
            parts,
            f"{file.name}: row {number}" if is_one else None,
            flags,
        )


def _read_table(form: Format, file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values of the table, which names no units: times are ms.

    `throughput` is the rate of output tokens in serving benchmarks, that of the engine's log in
    latency benchmarks, and in throughput benchmarks sometimes requests, sometimes tokens per
    second, so its unit stays unknown there.
    """
    for row in _read(form, file):
        yield (
            replace(row, unit=None)
            if row.metric == "throughput" and row.origin.benchmark == "throughput"
            else row
        )


_SIDE_BY_SIDE = partial(
    Format,
    metrics="{}_metrics",
    status="",
    error=("{}_error", "{}_skip_reason"),
    log=("{}_raw", "{}_server_logs"),
)
_SINGLE = partial(
    Format, error=("error", "skip_reason"), log=("raw_output", "docker_image")
)  # fmt: skip # the name of an image that ends in `+ patch` says that the patch was in it

FORMATS = (
    _SIDE_BY_SIDE(
        "iso_bench_instance",
        ('"instance"', '"result"', '"commit_hash"'),
        _is_instance,
        lambda file: (_side_by_side(file, file.object["result"], file.object["instance"]),),
        marks_suffice=False,
    ),
    _SIDE_BY_SIDE(
        "iso_bench_progress",
        ('"results"', '"completed"', '"baseline_metrics"'),
        _is_progress,
        _progress,
    ),
    _SIDE_BY_SIDE(
        "iso_bench_triple",
        ('"baseline_metrics"', '"status"'),
        lambda file: _is_side_by_side(file.object),
        lambda file: (_side_by_side(file, file.object, {}),),
    ),
    Format(
        "iso_bench_isolated",
        ('"variants"', '"variant"', '"base_commit"'),
        _is_isolated,
        _isolated,
        log=("patch_message", "raw_output"),
    ),
    Format(
        "iso_bench_rerun",
        ('"baseline"', '"human"', '"agent"', "commit"),
        _is_rerun,
        _rerun,
        marks_suffice=False,
    ),
    _SINGLE("iso_bench_result", ('"human_commit"', '"status"'), _is_result, _one_variant),
    _SINGLE(
        "iso_bench_early_result",
        ('"status"', "commit"),
        _is_early_result,
        _one_variant,
        marks_suffice=False,
    ),
    Format(
        "iso_bench_table",
        ("commit_hash", "agent_name", "baseline_throughput", "human_throughput"),
        lambda file: (
            set(file.columns)
            >= {"commit_hash", "agent_name", *(f"{word}_throughput" for word in _THREE)}
        ),
        _table,
        marks_suffice=False,
    ),
)

_STATISTICS = {"avg_ms": "mean", "p50_ms": "median", "p95_ms": "p95"}
_NOT_OF_THE_WORKLOAD = frozenset(
    ("impl_tag", "commit_hash", "eq_level", "opt_path_hit", "error_code", *_STATISTICS)
)


def _is_function(file: MeasuredFile) -> bool:
    result = mapping(file.object.get("result"))
    return {"baseline_ms", "patched_ms"} <= result.keys() and "commit_hash" in mapping(
        file.object.get("instance")
    )


def _read_function(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values of benchmarks of one function before and after an agent's patch.

    They ran on one machine's CPU, by a model-written script.

    `…_output` has mean, median and 95th percentile of its iterations, and its settings: device,
    type of the numbers, sizes.
    """
    result = file.object["result"]
    job, commit = (
        _side_by_side(file, result, file.object["instance"]),
        text(file.object["instance"], "commit_hash"),
    )
    error, log, baseline_ran = (
        text(result, "error_message"),
        text(result, "stderr") or "",
        result["baseline_ms"] is not None,
    )
    params_of_baseline: dict[str, Any] = {}
    for word in ("baseline", "patched"):
        output, mean = mapping(result.get(f"{word}_output")), result[f"{word}_ms"]
        settings = {
            key: value
            for key, value in output.items()
            if isinstance(value, str | int | float) and key not in _NOT_OF_THE_WORKLOAD
        }
        params = settings if "avg_ms" in output else {}
        origin = replace(
            _origin(file, job, word),
            commit=commit,
            benchmark="function benchmark",
            command=None,
            params=params,
            scope=Scope.MICRO,
        )
        if mean is not None:
            for key, statistic in _STATISTICS.items():
                value = output.get(key, mean if key == "avg_ms" else None)
                if value is not None:
                    yield Measured(origin, "time", statistic, value, "ms", output.get("iters"))
        elif word == "patched" and not baseline_ran:
            yield Measured(
                replace(origin, params=params_of_baseline), status=MeasuredStatus.NOT_RUN
            )
        else:
            failure = failure_of(
                text(result, "status"), error, log, origin.variant, baseline_ran=word == "patched"
            )
            yield Measured(
                origin, status=MeasuredStatus.FAILED, failure=failure, detail=detail_of(error, log)
            )
        params_of_baseline = params_of_baseline or params


TOOLS = (
    Tool(
        "iso_bench_function",
        ('"instance"', '"baseline_ms"', '"patched_ms"'),
        _is_function,
        _read_function,
    ),
    *(
        Tool(
            form.name,
            form.marks,
            form.recognises,
            partial(_read_table if form.jobs is _table else _read, form),
            form.marks_suffice,
        )
        for form in FORMATS
    ),
)
