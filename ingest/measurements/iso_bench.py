"""Results of ISO-Bench, in nine schemas that share one map of fields.

ISO-Bench measures the patches of agents for vLLM and SGLang.

Source: https://github.com/Lossfunk/ISO-Bench (Apache-2.0), before that
https://github.com/thekernelcompany/OmniPerf-Bench (MIT), `archive/results/` and
`omniperf_results*/`. Every value is one run. A reference is the patch of the human commit that
names the task. Each schema yields jobs: comparisons of one task with the figures of each variant
under the same keys.

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
    BenchmarkOutcome,
    detail_of,
    failure_of,
    rows_together,
    values_of,
)
from ingest.measurements.measured import Measured, ResultOrigin
from schemas.agents import ISO_BENCH_AGENTS
from schemas.claims import Scope
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
_KINDS = {
    "prefix_caching": ("prefix_caching.py",),
    "one_batch": ("bench_one_batch",),
    "serving": ("bench_serving", "benchmark_serving", "bench serve"),
    "latency": ("benchmark_latency", "bench latency"),
    "throughput": ("benchmark_throughput", "bench throughput", "bench_offline_throughput"),
}
"""Kind of a benchmark -> what its commands contain."""

_OF_BASELINES = ("baseline", "separate_baseline", "baseline_benchmark_results")
_WITHIN_EXPERIMENT = frozenset(
    (
        *("results", "reruns", "logs", "modal", "docker", "hf_export", "vllm", "sglang"),
        *("human", "agent", "separate_agent", "isolated_benchmark_results"),
        *(*_OF_BASELINES, *ISO_BENCH_AGENTS),
    )
)
_MODEL = re.compile(r"--model(?:-path)?[ =](['\"]?)(?P<model>[^\s'\"]++)\1")
_SUBSTITUTED = re.compile(
    r"^(?>.*?\bmodel\b).*\b(?:(?:due|instead|missing)\b|corrected|substitut\w|replaced)"
    r"|\bcorrected from\b",
    re.IGNORECASE | re.MULTILINE,
)


class Job(NamedTuple):
    """One comparison of a task.

    `shared`: the fields of all its variants. `parts`: the figures of each variant by its word, with
    `metrics`, `status`, `error`, and the texts of its `logs`; the status is None where one counts
    for the whole job. The word is empty in a file of one variant: folder and name decide.
    """

    shared: Fields
    parts: Mapping[str, Fields]
    batch: str | None
    flags: tuple[Flagged, ...] = ()


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
    ran = text(fields, "model")
    original = text(fields, "original_model") or model_in(text(fields, "perf_command"))
    is_other = bool(ran and original and ran != original)
    notes = filter(None, (text(fields, key) for key in KEYS["notes"]))
    return (Flagged.MODEL_SUBSTITUTED,) if is_other or any(map(_SUBSTITUTED.search, notes)) else ()


def _kind_of(fields: Fields, metrics: Iterable[str]) -> str | None:
    """Return the kind of a benchmark: as declared, else by its command, else by its metrics."""
    declared, command = text(fields, *KEYS["kind"]), text(fields, *KEYS["command"]) or ""
    if declared in _KINDS:
        return declared
    for kind, programs in _KINDS.items():
        if any(program in command for program in programs):
            return kind
    measured = " ".join(metrics)
    if "ttft" in measured or "output_token_throughput" in measured:
        return "serving"
    return "latency" if "latency" in measured else None


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
    repositories = ("sglang", "vllm")
    for one in (*texts, *reversed(file.folders)):
        for repo in repositories:
            if one and repo in one.lower():
                return repo
    # experiments that are named after an agent are vLLM's
    if any(folder.startswith("omniperf_results_3way_") for folder in file.folders):
        return "vllm"
    return file.most_frequent(repositories)


def _experiment(file: MeasuredFile) -> str | None:
    """Return the folder of the experiment, with the dated folder around it.

    None for a file without folders of its own.
    """
    folders = [*file.folders]
    while folders and (
        words.is_hash(folders[-1])
        or re.sub(r"_(?:sonnet|gpt)\w*", "", folders[-1]) in _WITHIN_EXPERIMENT
        or not folders[-1]
    ):
        folders.pop()
    if not folders:
        return None
    is_dated = re.match(r"20\d\d-\d\d(?:-|$)", folders[-2]) if len(folders) > 1 else None
    name = "/".join(folders[-2 if is_dated else -1 :])
    return f"{name}/docker" if "docker" in file.folders else name


def _origin(file: MeasuredFile, job: Job, word: str, part: Fields) -> ResultOrigin:
    """Return the origin of a variant's values.

    Run, agent and model are those of the candidate only.

    They come from the variant's word (`trae_gpt5`), the file, the path of the patch, or the
    innermost folder that names an agent.
    """
    shared = job.shared
    fields = {**shared, **{key: value for key, value in part.items() if value is not None}}
    variant = (VARIANTS.get(word) or Variant.CANDIDATE) if word else _variant_of(file, shared)
    run, command = run_folder(text(shared, *KEYS["patch"])), text(fields, *KEYS["command"])
    agent = model = None
    if variant is Variant.CANDIDATE:
        folder = next(filter(agent_named, reversed(file.folders)), "")
        agent, model = text(shared, "agent_name"), text(shared, "agent_model")
        agent = agent_named(word) or agent_named(agent or "") or agent or (run and run.agent)
        agent = agent or agent_named(folder)
        model = model_named(model or "") or model or (run and run.model) or model_named(folder)
        if agent_named(word):
            model = model_named(word)
    return ResultOrigin(
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
    is_baseline = "BASELINE mode" in (text(content, "raw_output") or "")
    if is_baseline or not {*_OF_BASELINES}.isdisjoint(file.folders):
        return Variant.BASELINE
    _, _, named = file.file_name.removesuffix("_result.json").rpartition("_")
    return VARIANTS[named] if named in _THREE else None


def _read(jobs: Callable[[MeasuredFile], Iterable[Job]], file: MeasuredFile) -> Iterator[Measured]:
    for job in jobs(file):
        kinds = {
            word: _kind_of({**job.shared, **part}, mapping(part["metrics"]))
            for word, part in job.parts.items()
        }
        outcomes = []
        for word, part in job.parts.items():
            metrics, status, error = part["metrics"], part["status"], part["error"]
            kind = kinds[word] or next(filter(None, kinds.values()), None)
            logs = (*part["logs"], text(mapping(metrics), "raw_output"))
            log = "\n".join(filter(None, logs))
            values = values_of(metrics, kind, log) if status in (None, *SUCCESS) else ()
            if status is None and not values:
                status, error = _why_without_values(word, job.shared, error)
            origin = replace(_origin(file, job, word, part), benchmark=kind)
            if not word and not origin.command:
                tokens = _input_tokens(part, metrics, log)
                origin = replace(origin, params={"total_input_tokens": tokens})
            applied = part.get("patch_applied")
            has_metrics = metrics is not None
            outcomes.append(
                BenchmarkOutcome(origin, values, has_metrics, status, error, log, applied)
            )
        yield from rows_together(outcomes)


def _input_tokens(content: Fields, metrics: Any, log: str) -> int | None:
    """Return the number of input tokens.

    The fingerprint of a workload that older files do not record.

    It separates incomparable runs: 20,000 tokens in one run and 22,398 in the other are not the
    same requests.
    """
    written = mapping(metrics).get("total_input_tokens", content.get("total_input_tokens"))
    logged = re.findall(r"Total input tokens:\s+(\d+)", log)
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
    stage = re.compile(r"(?:\b|_)(baseline|human|agent)(?:\b|_)", re.IGNORECASE)
    found = stage.search((error or "").split("\n")[0]) or stage.search(status)
    is_own = found is None or VARIANTS[found[1].lower()] is VARIANTS[word]
    return (status, error) if is_own else ("not_run", None)


def _is_result(file: MeasuredFile) -> bool:
    """Recognise the result of one variant; every key but status and commit is missing in some."""
    content = file.object
    has_commit = "human_commit" in content or words.is_hash(text(content, *KEYS["commit"]))
    known = {"benchmark_type", "throughput_tok_s", "ttft_mean", "skip_reason"} & content.keys()
    has_results = bool(known) or isinstance(content.get("metrics"), dict)
    return has_commit and isinstance(content.get("status"), str) and has_results


def _one_variant(file: MeasuredFile) -> Iterator[Job]:
    """Yield `<commit>_{human,agent,baseline}_result.json`, and those of `docker/`.

    Metrics are in `metrics` or beside the other keys. The name of an image that ends in `+ patch`
    says that the patch was in it.
    """
    content = file.object
    flat = r"ttft|tpot|itl|latency|throughput|benchmark_duration|total_generated_tokens"
    part = {
        "metrics": {key: value for key, value in content.items() if re.search(flat, key)},
        **content,
        "error": text(content, "error", "skip_reason"),
        "logs": (text(content, "raw_output"), text(content, "docker_image")),
    }
    yield Job(content, {"": part}, _experiment(file))


def _is_side_by_side(content: Fields) -> bool:
    other = {"human_metrics", "agent_metrics", "patched_metrics"} & content.keys()
    return "baseline_metrics" in content and bool(other) and isinstance(content.get("status"), str)


def _is_instance(file: MeasuredFile) -> bool:
    """Recognise an instance, except benchmarks of one function (with times in `baseline_ms`)."""
    instance, result = mapping(file.object.get("instance")), mapping(file.object.get("result"))
    has_status = isinstance(result.get("status"), str)
    return "commit_hash" in instance and has_status and "baseline_ms" not in result


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
    shared = {
        "repo": instance.get("repo"),
        "test_command": instance.get("perf_command"),
        "commit_short": instance.get("commit_hash"),
        **result,
    }
    shared["model"] = text(result, "model") or model_in(text(shared, *KEYS["command"]))
    sides = ("baseline", "patched") if "patched_metrics" in result else _THREE
    parts = {
        word: {
            "metrics": result.get(f"{word}_metrics"),
            "status": None,
            "error": text(result, f"{word}_error", f"{word}_skip_reason"),
            "logs": (text(result, f"{word}_raw"), text(result, f"{word}_server_logs")),
        }
        for word in sides
    }
    return Job(shared, parts, file.name)


def _progress(file: MeasuredFile) -> Iterator[Job]:
    """Yield the jobs of a whole run's log, from its list of results."""
    for result in file.object["results"]:
        if isinstance(result, dict) and text(result, *KEYS["commit"]) and text(result, "status"):
            dated = {"timestamp": file.object["timestamp"]} | result
            yield _side_by_side(file, dated, mapping(result.get("instance")))


def _parts(variants: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the figures of variants that have an object each."""
    return {
        word: {
            **one,
            "metrics": mapping(one.get("metrics")),
            "error": text(one, "error"),
            "logs": (text(one, "patch_message"), text(one, "raw_output")),
        }
        for word, one in variants.items()
    }


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
    content, parts = file.object, _parts(_variants_in(file.object))
    for word, part in parts.items():
        part["test_command"] = content.get(
            "baseline_command" if word == "baseline" else "test_command"
        )
    yield Job({**content, "test_command": None}, parts, file.name)


def _is_isolated(file: MeasuredFile) -> bool:
    variants = mapping(file.object.get("variants"))
    has_statuses = all(isinstance(mapping(one).get("status"), str) for one in variants.values())
    is_known = any(word in VARIANTS or agent_named(word) for word in variants)
    return has_statuses and bool(text(file.object, *KEYS["commit"])) and is_known


def _isolated(file: MeasuredFile) -> Iterator[Job]:
    """Yield the jobs of one SGLang commit: baseline, human and every agent, each in its container.

    `trae_gpt5` is agent and model.
    """
    variants = file.object["variants"].items()
    known = {word: one for word, one in variants if word in VARIANTS or agent_named(word)}
    yield Job(file.object, _parts(known), file.name)


def _is_table(file: MeasuredFile) -> bool:
    throughputs = (f"{word}_throughput" for word in _THREE)
    return {*file.columns} >= {"commit_hash", "agent_name", *throughputs}


def _table(file: MeasuredFile) -> Iterator[Job]:
    """Yield the jobs of `hf_export/*.csv`.

    One row per commit and agent, with columns `{baseline,human,agent}_{metric}` and the three logs.

    Most rows were merged from several experiments, such as those of `codex_modal`, which repeat the
    baseline of another agent's row: a row is a batch only if `data_source` names one experiment. A
    row without any value is skipped, unless the log or the source shows a failure. A `standalone`
    benchmark is one of latency or of throughput: its metrics decide, since some commands are of
    another run.
    """
    no_metrics = ("improvement_", "vs_human_", "name", "model", "raw")
    for number, (_, row) in enumerate(file.rows, 1):
        parts = {}
        source = row.get("data_source", "")
        for word in _THREE:
            metrics = {}
            for column, cell in row.items():
                key = column.removeprefix(f"{word}_")
                if key != column and not key.startswith(no_metrics):
                    with suppress(ValueError):
                        metrics[key] = float(cell)
            error = source.partition("FAILED:")[2] or None if word == "agent" else None
            if metrics or error or f"{word}_raw" in row:
                parts[word] = {
                    "metrics": metrics,
                    "status": "success" if metrics else "error",
                    "error": error,
                    "logs": (row.get(f"{word}_raw"),),
                }
        kind = row.get("benchmark_mode")
        if kind == "standalone":
            has_latency = any(f"{word}_latency_avg" in row for word in _THREE)
            kind = "latency" if has_latency else "throughput"
        is_one = source in ("modal", "docker", "separate", "claude_code_rerun_fixable")
        batch = f"{file.name}: row {number}" if is_one else None
        flags = () if is_one else (Flagged.MERGED,)
        yield Job({**row, "benchmark_mode": kind}, parts, batch, flags)


def _read_table(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values of the table, which names no units: times are ms.

    `throughput` is the rate of output tokens in serving benchmarks, that of the engine's log in
    latency benchmarks, and in throughput benchmarks sometimes requests, sometimes tokens per
    second, so its unit stays unknown there.
    """
    for row in _read(_table, file):
        is_of_any_unit = row.metric == row.origin.benchmark == "throughput"
        yield replace(row, unit=None) if is_of_any_unit else row


def _is_function(file: MeasuredFile) -> bool:
    result = mapping(file.object.get("result"))
    instance = mapping(file.object.get("instance"))
    return {"baseline_ms", "patched_ms"} <= result.keys() and "commit_hash" in instance


def _read_function(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values of benchmarks of one function before and after an agent's patch.

    They ran on one machine's CPU, by a model-written script.

    `…_output` has mean, median and 95th percentile of its iterations, and its settings: device,
    type of the numbers, sizes.
    """
    result, instance = file.object["result"], file.object["instance"]
    job = _side_by_side(file, result, instance)
    statistics = {"avg_ms": "mean", "p50_ms": "median", "p95_ms": "p95"}
    no_settings = {"impl_tag", "commit_hash", "eq_level", "opt_path_hit", "error_code", *statistics}
    error, log = text(result, "error_message"), text(result, "stderr") or ""
    params_of_baseline: dict[str, Any] = {}
    for word in ("baseline", "patched"):
        output, mean = mapping(result.get(f"{word}_output")), result[f"{word}_ms"]
        settings = {
            key: value
            for key, value in output.items()
            if isinstance(value, str | int | float) and key not in no_settings
        }
        params = settings if "avg_ms" in output else {}
        origin = replace(
            _origin(file, job, word, {}),
            commit=text(instance, "commit_hash"),
            benchmark="function benchmark",
            command=None,
            params=params,
            scope=Scope.MICRO,
        )
        if mean is not None:
            for key, statistic in statistics.items():
                value = output.get(key, mean if key == "avg_ms" else None)
                if value is not None:
                    yield Measured(origin, "time", statistic, value, "ms", output.get("iters"))
        elif word == "patched" and result["baseline_ms"] is None:
            origin = replace(origin, params=params_of_baseline)
            yield Measured(origin, status=MeasuredStatus.NOT_RUN)
        else:
            status, ran = text(result, "status"), word == "patched"
            failure = failure_of(status, error, log, origin.variant, baseline_ran=ran)
            detail = detail_of(error, log)
            yield Measured(origin, status=MeasuredStatus.FAILED, failure=failure, detail=detail)
        params_of_baseline = params_of_baseline or params


TOOLS = (
    Tool(
        "iso_bench_function",
        ('"instance"', '"baseline_ms"', '"patched_ms"'),
        _is_function,
        _read_function,
    ),
    Tool(
        "iso_bench_instance",
        ('"instance"', '"result"', '"commit_hash"'),
        _is_instance,
        partial(
            _read,
            lambda file: (_side_by_side(file, file.object["result"], file.object["instance"]),),
        ),
        marks_suffice=False,
    ),
    Tool(
        "iso_bench_progress",
        ('"results"', '"completed"', '"baseline_metrics"'),
        _is_progress,
        partial(_read, _progress),
    ),
    Tool(
        "iso_bench_triple",
        ('"baseline_metrics"', '"status"'),
        lambda file: _is_side_by_side(file.object),
        partial(_read, lambda file: (_side_by_side(file, file.object, {}),)),
    ),
    Tool(
        "iso_bench_isolated",
        ('"variants"', '"variant"', '"base_commit"'),
        _is_isolated,
        partial(_read, _isolated),
    ),
    Tool(
        "iso_bench_rerun",
        ('"baseline"', '"human"', '"agent"', "commit"),
        _is_rerun,
        partial(_read, _rerun),
        marks_suffice=False,
    ),
    Tool(
        "iso_bench_result",
        ('"human_commit"', '"status"'),
        _is_result,
        partial(_read, _one_variant),
    ),
    Tool(
        "iso_bench_early_result",
        ('"status"', "commit"),
        _is_result,
        partial(_read, _one_variant),
        marks_suffice=False,
    ),
    Tool(
        "iso_bench_table",
        ("commit_hash", "agent_name", "baseline_throughput", "human_throughput"),
        _is_table,
        _read_table,
        marks_suffice=False,
    ),
)
