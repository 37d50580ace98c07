"""Results that benchmarks of coding agents publish: AlgoTune, GSO, KernelBench, SWE-fficiency.

**AlgoTune** (https://github.com/oripress/AlgoTune, `reports/`): `agent_summary.json` has a speedup
  for each task and model as text, or
"N/A" if the model's program failed, and in some versions the score of each model
(`_overall_scores`); `generation.json` times of the baseline. A run of the baseline is the mean,
over the problems of the
task, of each problem's shortest time in ms; its standard deviation is that of the problems, not of
runs.

**GSO** (https://github.com/gso-bench/gso, `src/gso/harness/grading/evalscript.py`, and `results/`
  of gso-experiments; both MIT): speedups
of an agent's patch over the code before and over the human's commit, per task, without the values.
`gm`, `hm` and `am` are the geometric
and harmonic mean of the ratios of the tests, and the ratio of the mean times. A report has them
only for tasks that
reached its goal, and lists the tasks that passed its tests or failed: those without the goal are
`worse` than the human's commit. Tasks
without a prediction are in no list, only in the total. It names no model: its file is called by
that, with the effort behind it. `score` is
the share of all tasks that reached the goal, in percent; `score_hack_control` counts those that a
judge calls a hack as failed, and is
missing where nobody judged.

**KernelBench** (https://github.com/ScalingIntelligence/KernelBench, `results/timing/README.md`,
  `scripts/generate_baseline_time.py`):
`baseline_time_*.json` has times of the PyTorch module that kernels are compared with, in ms.
PyTorch's mode (eager, or the compiler) is
only in the name of the file, so two files for one machine have the same problems.
`runs/NAME/eval_results.json` (`scripts/eval_from_generations.py`) has, for the number of each
problem,
whether the samples compiled and were correct, and their time in ms; the level is only in the name
of
the run. Older versions have one sample instead of a list. Only sample 0 is scored.

**SWE-fficiency** (https://github.com/swefficiency/swefficiency, `scripts/eval`,
  `eval_reports/*.csv`; runtimes in seconds): for each
instance the runtime before any change and the speedups of two patches over it. `pred_speedup_ratio`
is of the agent's patch,
`gold_speedup_ratio` of the people's, `human_speedup_ratio` the first over the second: 1.0 means "as
fast as the people's", not "no
change". If tests fail, or there is no runtime, the file has 1.0 for the agent: that is a failure
here. In a report on the people's own
patches both are the same measurement: it has no candidate. The name of the file is that of the
evaluated folder: of OpenHands
(`evaluation/utils/shared.py`) with model and version, of SWE-agent (`sweagent/run/run_batch.py`)
with configuration and model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import (
    Judgement,
    Measured,
    ResultOrigin,
    Spread,
    statistics_of,
)
from ingest.prices.model_ids import without_effort
from schemas.claims import Scope
from schemas.rows.measurement import Failure, MeasuredStatus, Variant
from schemas.rows.published import Judged
from schemas.units import Better

_FAILED = MeasuredStatus.FAILED

_GSO_MEANS = {"gm": "geometric_mean", "hm": "harmonic_mean", "am": "mean"}
_GSO_PAIRS = {
    "patch_base": (Variant.CANDIDATE, Variant.BASELINE),
    "patch_commit": (Variant.CANDIDATE, Variant.REFERENCE),
    "commit_base": (Variant.REFERENCE, Variant.BASELINE),
}
_GSO_FAILURES = {
    "base_failed_ids": Failure.INFRASTRUCTURE,
    "patch_failed_ids": Failure.PATCH,
    "empty_patch_ids": Failure.PATCH,
    "test_failed_ids": Failure.INCORRECT,
    "error_ids": Failure.UNKNOWN,
}
_GSO_INSTANCE = re.compile(r"(?P<owner>.+?)__(?P<repo>.+)-(?P<commit>[0-9a-f]{7,40})")

_KERNELBENCH_KEYS = frozenset(("mean", "std", "min", "max", "num_trials", "hardware", "device"))
_KERNELBENCH_SAMPLE = frozenset(("compiled", "correctness", "runtime"))
_KERNELBENCH_MODE = re.compile(r"baseline_time_(\w+)\.json")
_KERNELBENCH_EAGER = "torch"
_KERNELBENCH_LEVEL = re.compile(r"(?:^|[^a-z])l(?:evel)?[-_]?(\d)(?!\d)")
_NO_MEMORY = re.compile(r"out of memory", re.IGNORECASE)

_SWEFFICIENCY_COLUMNS = frozenset(
    (
        "instance_id",
        "pred_speedup_ratio",
        "raw_pred_speedup_ratio",
        "gold_speedup_ratio",
        "human_speedup_ratio",
        "correctness",
        "pre_edit_runtime",
    )
)
_SWEFFICIENCY_RUNS = (
    ("openhands", re.compile(r"(?P<model>.+)_maxiter_\d+(?:_N_v(?P<version>\d+(?:\.\d+)*).*)?")),
    ("swe-agent", re.compile(r".+?__(?P<model>.+)__t-[\d.]+__.*")),
)
"""Agent → the name of the folder of its results."""


def _model_and_effort(name: str) -> dict[str, Any]:
    """Return the fields `model` and `effort` of a model that a benchmark names with its effort."""
    model, effort = without_effort(name)
    return {"model": model, "effort": effort}


_ALGOTUNE_SCORES = "_overall_scores"


def _is_algotune_summary(file: MeasuredFile) -> bool:
    results = [
        result
        for task, models in file.object.items()
        if task != _ALGOTUNE_SCORES
        for result in models.values()
    ]
    return bool(results) and all("final_speedup" in result for result in results)


def _read_algotune_summary(file: MeasuredFile) -> Iterator[Measured]:
    tasks = dict(file.object)
    for score in tasks.pop(_ALGOTUNE_SCORES, {}).values():
        origin = ResultOrigin(
            Variant.CANDIDATE, **_model_and_effort(score["model_name"]), benchmark="AlgoTune"
        )
        yield Measured(
            origin, "score", value=float(score["harmonic_mean"]), unit="x", better=Better.HIGHER
        )
    for task, models in tasks.items():
        for model, result in models.items():
            written = result["final_speedup"]
            origin = ResultOrigin(
                Variant.CANDIDATE,
                task=task,
                benchmark=task,
                **_model_and_effort(model),
                scope=Scope.MICRO,
            )
            blank = Measured(origin, "speedup", unit="x", ratio_base=Variant.BASELINE)
            if written == "N/A":
                yield replace(
                    blank,
                    status=_FAILED,
                    detail="AlgoTune has no speedup for it: final_speedup is N/A",
                )
            else:
                yield replace(blank, value=float(written))


def _read_algotune_baseline(file: MeasuredFile) -> Iterator[Measured]:
    for task, setting in file.object.items():
        params = {name: setting.get(name) for name in ("n", "dataset_size", "target_time_ms")}
        origin = ResultOrigin(
            Variant.BASELINE, task=task, benchmark=task, params=params, scope=Scope.MICRO
        )
        for _, run in sorted(setting["baseline_runs"].items()):
            if run["success"]:
                yield Measured(origin, "time", "mean", run["avg_min_ms"], "ms", n=1)
            else:
                yield Measured(
                    origin, "time", status=_FAILED, detail="the run of the baseline failed"
                )


def _is_gso_report(file: MeasuredFile) -> bool:
    stats, sets = file.object.get("opt_stats"), file.object.get("instance_sets")
    return (
        isinstance(stats, dict)
        and isinstance(sets, dict)
        and isinstance(sets.get("opt_commit_ids"), list)
    )


def _read_gso_report(file: MeasuredFile) -> Iterator[Measured | Judgement]:
    name, summary = file.file_name.partition(".json")[0], file.object.get("summary")
    yield from _gso_scores(name, summary if isinstance(summary, dict) else {})
    for instance, stats in file.object["opt_stats"].items():
        for pair, (variant, base) in _GSO_PAIRS.items():
            origin = _gso_origin(instance, file, variant)
            for short, statistic in _GSO_MEANS.items():
                value = stats.get(f"{short}_speedup_{pair}")
                if value is not None:
                    yield Measured(origin, "speedup", statistic, value, "ratio", ratio_base=base)
    sets = file.object["instance_sets"]
    reached, hacks = sets["opt_commit_ids"], sets.get("hacked_ids")
    for instance in dict.fromkeys((*reached, *hacks)) if isinstance(hacks, list) else ():
        is_hack = instance in hacks
        yield Judgement(
            _gso_origin(instance, file, Variant.CANDIDATE),
            Judged.HACK if is_hack else Judged.CLEAN,
            "hacked" if is_hack else None,
            judged_by="GSO",
        )
    for instance in dict.fromkeys(
        chain.from_iterable(sets.get(key) or () for key in ("passed_ids", *_GSO_FAILURES))
    ):
        label = "similar" if instance in reached else "worse"
        yield Measured(_gso_origin(instance, file, Variant.CANDIDATE), "hard", "label", label=label)
    for key, failure in _GSO_FAILURES.items():
        detail = key.removesuffix("_ids").replace("_", " ")
        for instance in file.object["instance_sets"].get(key) or ():
            yield Measured(
                _gso_origin(instance, file, Variant.CANDIDATE),
                status=_FAILED,
                failure=failure,
                detail=detail,
            )


def _gso_origin(instance: str, file: MeasuredFile, variant: Variant) -> ResultOrigin:
    """Return the origin of a task; its id contains the repository and the human's commit.

    `numpy__numpy-1b861a2`.
    """
    parts = _GSO_INSTANCE.fullmatch(instance)
    return ResultOrigin(
        variant,
        repo=f"{parts['owner']}/{parts['repo']}" if parts else None,
        commit=parts["commit"] if parts else None,
        task=instance,
        instance=instance,
        **(
            _model_and_effort(file.file_name.partition(".json")[0])
            if variant is Variant.CANDIDATE
            else {}
        ),
        benchmark="GSO",
        batch=file.name,
    )


def _is_gso_manifest(file: MeasuredFile) -> bool:
    models = file.object.get("models")
    return isinstance(models, dict) and any(
        _gso_summary(one) and "report" in one for one in models.values()
    )


def _read_gso_manifest(file: MeasuredFile) -> Iterator[Measured]:
    for name, one in file.object["models"].items():
        yield from _gso_scores(name, _gso_summary(one))


def _gso_summary(one: Any) -> dict[str, Any]:
    summary = one.get("summary") if isinstance(one, dict) else None
    return (
        summary
        if isinstance(summary, dict) and "opt_commit" in summary and "score" in summary
        else {}
    )


def _gso_scores(name: str, summary: dict[str, Any]) -> Iterator[Measured]:
    """Yield the number of tasks and the scores of a model.

    A score that is null or missing was not judged.
    """
    origin = ResultOrigin(Variant.CANDIDATE, **_model_and_effort(name), benchmark="GSO")
    for key, metric, unit in (
        ("total_instances", "tasks", "count"),
        ("score", "score", "%"),
        ("score_hack_control", "score_hack_control", "%"),
    ):
        if isinstance(value := summary.get(key), int | float):
            yield Measured(origin, metric, value=value, unit=unit, better=Better.HIGHER)


def _is_kernelbench(file: MeasuredFile) -> bool:
    problems = [problem for level in file.object.values() for problem in level.values()]
    return bool(problems) and all(problem.keys() >= _KERNELBENCH_KEYS for problem in problems)


def _read_kernelbench(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the times of PyTorch.

    Kernels are compared with its eager mode; the compiler's times are of another benchmark.
    """
    mode = _KERNELBENCH_MODE.fullmatch(file.file_name)
    compiler = mode[1] if mode and mode[1] != _KERNELBENCH_EAGER else None
    for level, problems in file.object.items():
        for problem, times in problems.items():
            number = problem.partition("_")[0]
            task = f"{level}/{number if number.isdecimal() else problem}"
            origin = ResultOrigin(
                Variant.BASELINE,
                task=task,
                instance=f"{level}/{problem}",
                benchmark=" ".join(filter(None, (task, compiler))),
                params={"mode": compiler},
                machine=times["hardware"],
                scope=Scope.MICRO,
            )
            found = {name: times[name] for name in ("mean", "min", "max")}
            yield from statistics_of(
                origin, "time", "ms", found, times["num_trials"], deviation=times["std"]
            )


def _kernelbench_samples(problem: Any) -> list[dict[str, Any]]:
    samples = problem if isinstance(problem, list) else [problem]
    return (
        samples
        if all(isinstance(one, dict) and one.keys() >= _KERNELBENCH_SAMPLE for one in samples)
        else []
    )


def _is_kernelbench_evaluation(file: MeasuredFile) -> bool:
    problems = file.object
    return bool(problems) and all(
        number.isdecimal() and _kernelbench_samples(one) for number, one in problems.items()
    )


def _read_kernelbench_evaluation(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the times of kernels.

    A sample other than 0 is of another benchmark, since KernelBench does not score it.
    """
    [run] = re.split(r"[/!\\]", file.name)[-2:-1] or [None]
    level = _KERNELBENCH_LEVEL.search(run.lower()) if run else None
    for number, problem in file.object.items():
        task = f"level{level[1]}/{number}" if level else number
        for sample in _kernelbench_samples(problem):
            about, stats, place = (
                sample.get("metadata") or {},
                sample.get("runtime_stats") or {},
                sample.get("sample_id") or 0,
            )
            origin = ResultOrigin(
                Variant.CANDIDATE,
                task=task,
                benchmark=f"{task} sample {place}" if place else task,
                machine=about.get("hardware"),
                run_path=run,
                scope=Scope.MICRO,
            )
            if sample["correctness"] and sample["runtime"] > 0:
                spread = Spread.around(sample["runtime"], stats.get("std"))
                yield Measured(
                    origin,
                    "time",
                    "mean",
                    sample["runtime"],
                    "ms",
                    stats.get("num_trials"),
                    spread=spread,
                )
                continue
            known = (
                about.get(key)
                for key in ("compilation_error", "runtime_error", "correctness_issue")
            )
            detail = next(
                (str(one) for one in known if one),
                "it did not compile" if not sample["compiled"] else "there is no time",
            )
            if _NO_MEMORY.search(detail):
                failure = Failure.INFRASTRUCTURE
            elif sample["correctness"]:
                failure = Failure.UNKNOWN
            else:
                failure = Failure.INCORRECT if about.get("correctness_issue") else Failure.CRASH
            yield Measured(
                origin, "time", "mean", unit="ms", status=_FAILED, failure=failure, detail=detail
            )


def _swefficiency_run(name: str) -> dict[str, Any]:
    """Return agent, version and model in the name of an evaluated folder.

    Nothing for any other name.
    """
    for agent, pattern in _SWEFFICIENCY_RUNS:
        if found := pattern.fullmatch(name):
            model = re.sub(r"-v(\d)_(\d)$", r"-v\1:\2", found["model"]).replace(
                "--", "/"
            )  # as the id was before it named a folder
            return {
                "agent": agent,
                "agent_version": found.groupdict().get("version"),
                "model": model,
            }
    return {}


def _read_swefficiency(file: MeasuredFile) -> Iterator[Measured]:
    rows = [line.cells for line in file.rows]
    is_of_reference = all(
        row.get("pred_speedup_ratio") == row.get("gold_speedup_ratio") for row in rows
    )
    run = file.file_name.removesuffix(".csv").removeprefix("eval_report_")
    for row in rows:
        name = row["instance_id"]
        before = ResultOrigin(
            Variant.BASELINE,
            task=name,
            instance=name,
            benchmark=name,
            batch=file.name,
            scope=Scope.COMPONENT,
        )
        if row.get("pre_edit_runtime"):
            yield Measured(before, "time", "mean", float(row["pre_edit_runtime"]), "s")
        if gold := row.get("gold_speedup_ratio"):
            reference = replace(before, variant=Variant.REFERENCE)
            yield Measured(
                reference, "speedup", value=float(gold), unit="x", ratio_base=Variant.BASELINE
            )
        if is_of_reference:
            continue
        candidate = replace(
            before, variant=Variant.CANDIDATE, run_path=run, **_swefficiency_run(run)
        )
        speedup = Measured(candidate, "speedup", unit="x", ratio_base=Variant.BASELINE)
        raw = row.get("raw_pred_speedup_ratio")
        if raw and float(row["correctness"]) == 1:
            yield replace(speedup, value=float(row["pred_speedup_ratio"]))
            yield replace(
                speedup, value=float(row["human_speedup_ratio"]), ratio_base=Variant.REFERENCE
            )
        elif raw:
            detail = f"tests fail with the patch, whose speedup would be {raw}"
            yield replace(speedup, status=_FAILED, failure=Failure.INCORRECT, detail=detail)
        else:
            yield replace(
                speedup,
                status=_FAILED,
                failure=Failure.UNKNOWN,
                detail="there is no runtime with the patch",
            )


TOOLS = (
    Tool(
        "algotune_baseline",
        ('"baseline_runs"', '"avg_min_ms"'),
        lambda file: (
            bool(file.object)
            and all(
                task.keys() >= {"baseline_runs", "dataset_size"} for task in file.object.values()
            )
        ),
        _read_algotune_baseline,
    ),
    Tool("algotune_summary", ('"final_speedup"',), _is_algotune_summary, _read_algotune_summary),
    Tool(
        "gso_manifest",
        ('"models"', '"opt_commit"', '"report"'),
        _is_gso_manifest,
        _read_gso_manifest,
        marks_suffice=False,
    ),
    Tool(
        "gso_report",
        ('"opt_stats"', '"instance_sets"', '"opt_commit_ids"'),
        _is_gso_report,
        _read_gso_report,
    ),
    Tool(
        "kernelbench",
        ('"num_trials"', '"hardware"', '"device"'),
        _is_kernelbench,
        _read_kernelbench,
    ),
    Tool(
        "kernelbench_evaluation",
        ('"compiled"', '"correctness"', '"runtime"'),
        _is_kernelbench_evaluation,
        _read_kernelbench_evaluation,
        marks_suffice=False,
    ),
    Tool(
        "swefficiency",
        ("raw_pred_speedup_ratio", "human_speedup_ratio"),
        lambda file: set(file.columns) >= _SWEFFICIENCY_COLUMNS,
        _read_swefficiency,
    ),
)
