"""Results that benchmarks of coding agents publish: AlgoTune, GSO, KernelBench, SWE-fficiency.

**AlgoTune** (https://github.com/oripress/AlgoTune, `reports/`): `agent_summary.json` has a speedup for each task and model as text, or
"N/A" if the model's program failed; `generation.json` times of the baseline. A run of the baseline is the mean, over the problems of the
task, of each problem's shortest time in ms; its standard deviation is that of the problems, not of runs.

**GSO** (https://github.com/gso-bench/gso, `src/gso/harness/grading/evalscript.py`, and `results/` of gso-experiments; both MIT): speedups
of an agent's patch over the code before and over the human's commit, per task, without the values. `gm`, `hm` and `am` are the geometric
and harmonic mean of the ratios of the tests, and the ratio of the mean times. A report has them only for tasks that
reached its goal, and lists the tasks that passed its tests or failed: those without the goal are `worse` than the human's commit. It names
no model: the manifest beside the reports names the model of each file. The manifest's `score` is the share of tasks that reached the goal,
in percent.

**KernelBench** (https://github.com/ScalingIntelligence/KernelBench, `results/timing/README.md`, `scripts/generate_baseline_time.py`):
`baseline_time_*.json` has times of the PyTorch module that kernels are compared with, in ms. PyTorch's mode (eager, or the compiler) is
only in the name of the file, so two files for one machine have the same problems.

**SWE-fficiency** (https://github.com/swefficiency/swefficiency, `scripts/eval`, `eval_reports/*.csv`; runtimes in seconds): for each
instance the runtime before any change and the speedups of two patches over it. `pred_speedup_ratio` is of the agent's patch,
`gold_speedup_ratio` of the people's, `human_speedup_ratio` the first over the second: 1.0 means "as fast as the people's", not "no
change". If tests fail, or there is no runtime, the file has 1.0 for the agent: that is a failure here. In a report on the people's own
patches both are the same measurement: it has no candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin, Spread
from schemas.rows.claim import Scope
from schemas.rows.measurement import Failure, MeasuredStatus, Variant
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
_KERNELBENCH_MODE = re.compile(r"baseline_time_(\w+)\.json")

_SWEFFICIENCY_COLUMNS = frozenset(
    (
        "instance_id", "pred_speedup_ratio", "raw_pred_speedup_ratio", "gold_speedup_ratio", "human_speedup_ratio", "correctness",
        "pre_edit_runtime",
    )
)  # fmt: skip


def _is_algotune_summary(file: MeasuredFile) -> bool:
    results = [result for models in file.object.values() for result in models.values()]
    return bool(results) and all("final_speedup" in result for result in results)


def _read_algotune_summary(file: MeasuredFile) -> Iterator[Measured]:
    for task, models in file.object.items():
        for model, result in models.items():
            origin, written = Origin(Variant.CANDIDATE, task=task, benchmark=task, model=model, scope=Scope.MICRO), result["final_speedup"]
            blank = Measured(origin, "speedup", unit="x", ratio_base=Variant.BASELINE)
            if written == "N/A":
                yield replace(blank, status=_FAILED, detail="AlgoTune has no speedup for it: final_speedup is N/A")
            else:
                yield replace(blank, value=float(written))


def _read_algotune_baseline(file: MeasuredFile) -> Iterator[Measured]:
    for task, setting in file.object.items():
        params = {name: setting.get(name) for name in ("n", "dataset_size", "target_time_ms")}
        origin = Origin(Variant.BASELINE, task=task, benchmark=task, params=params, scope=Scope.MICRO)
        for _, run in sorted(setting["baseline_runs"].items()):
            if run["success"]:
                yield Measured(origin, "time", "mean", run["avg_min_ms"], "ms", n=1)
            else:
                yield Measured(origin, "time", status=_FAILED, detail="the run of the baseline failed")


def _is_gso_report(file: MeasuredFile) -> bool:
    stats, sets = file.object.get("opt_stats"), file.object.get("instance_sets")
    return isinstance(stats, dict) and isinstance(sets, dict) and isinstance(sets.get("opt_commit_ids"), list)


def _read_gso_report(file: MeasuredFile) -> Iterator[Measured]:
    for instance, stats in file.object["opt_stats"].items():
        for pair, (variant, base) in _GSO_PAIRS.items():
            origin = _gso_origin(instance, file, variant)
            for short, statistic in _GSO_MEANS.items():
                value = stats.get(f"{short}_speedup_{pair}")
                if value is not None:
                    yield Measured(origin, "speedup", statistic, value, "ratio", ratio_base=base)
    sets = file.object["instance_sets"]
    reached = set(sets["opt_commit_ids"])
    for instance in dict.fromkeys(chain.from_iterable(sets.get(key) or () for key in ("passed_ids", *_GSO_FAILURES))):
        label = "similar" if instance in reached else "worse"
        yield Measured(_gso_origin(instance, file, Variant.CANDIDATE), "hard", "label", label=label)
    for key, failure in _GSO_FAILURES.items():
        detail = key.removesuffix("_ids").replace("_", " ")
        for instance in file.object["instance_sets"].get(key) or ():
            yield Measured(_gso_origin(instance, file, Variant.CANDIDATE), status=_FAILED, failure=failure, detail=detail)


def _gso_origin(instance: str, file: MeasuredFile, variant: Variant) -> Origin:
    """Return the origin of a task; its id contains the repository and the human's commit: `numpy__numpy-1b861a2`."""
    parts = _GSO_INSTANCE.fullmatch(instance)
    return Origin(
        variant,
        repo=f"{parts['owner']}/{parts['repo']}" if parts else None,
        commit=parts["commit"] if parts else None,
        task=instance,
        instance=instance,
        model=file.file_name.partition(".json")[0] if variant is Variant.CANDIDATE else None,
        benchmark="GSO",
        batch=file.name,
    )


def _is_gso_manifest(file: MeasuredFile) -> bool:
    models = file.object.get("models")
    return isinstance(models, dict) and any(_gso_score(one) is not None and "report" in one for one in models.values())


def _read_gso_manifest(file: MeasuredFile) -> Iterator[Measured]:
    for model, one in file.object["models"].items():
        if (score := _gso_score(one)) is not None:
            origin = Origin(Variant.CANDIDATE, model=model, benchmark="GSO")
            yield Measured(origin, "score", value=score, unit="%", better=Better.HIGHER)


def _gso_score(one: Any) -> float | None:
    summary = one.get("summary") if isinstance(one, dict) else None
    score = summary.get("score") if isinstance(summary, dict) and "opt_commit" in summary else None
    return score if isinstance(score, int | float) else None


def _is_kernelbench(file: MeasuredFile) -> bool:
    problems = [problem for level in file.object.values() for problem in level.values()]
    return bool(problems) and all(problem.keys() >= _KERNELBENCH_KEYS for problem in problems)


def _read_kernelbench(file: MeasuredFile) -> Iterator[Measured]:
    mode = _KERNELBENCH_MODE.fullmatch(file.file_name)
    params = {"mode": mode[1]} if mode else {}
    for level, problems in file.object.items():
        for problem, times in problems.items():
            name, machine = f"{level}/{problem}", times["hardware"]
            origin = Origin(Variant.BASELINE, task=name, benchmark=name, params=params, machine=machine, scope=Scope.MICRO)
            for statistic in ("mean", "min", "max"):
                spread = Spread.around(times["mean"], times["std"]) if statistic == "mean" else None
                yield Measured(origin, "time", statistic, times[statistic], "ms", times["num_trials"], spread=spread)


def _read_swefficiency(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values. The file name contains the run's agent and model."""
    rows = [line.cells for line in file.rows]
    is_of_reference = all(row.get("pred_speedup_ratio") == row.get("gold_speedup_ratio") for row in rows)
    run = file.file_name.removesuffix(".csv").removeprefix("eval_report_")
    for row in rows:
        name = row["instance_id"]
        before = Origin(Variant.BASELINE, task=name, instance=name, benchmark=name, batch=file.name, scope=Scope.COMPONENT)
        if row.get("pre_edit_runtime"):
            yield Measured(before, "time", "mean", float(row["pre_edit_runtime"]), "s")
        if gold := row.get("gold_speedup_ratio"):
            reference = replace(before, variant=Variant.REFERENCE)
            yield Measured(reference, "speedup", value=float(gold), unit="x", ratio_base=Variant.BASELINE)
        if is_of_reference:
            continue
        speedup = Measured(replace(before, variant=Variant.CANDIDATE, run_path=run), "speedup", unit="x", ratio_base=Variant.BASELINE)
        raw = row.get("raw_pred_speedup_ratio")
        if raw and float(row["correctness"]) == 1:
            yield replace(speedup, value=float(row["pred_speedup_ratio"]))
            yield replace(speedup, value=float(row["human_speedup_ratio"]), ratio_base=Variant.REFERENCE)
        elif raw:
            detail = f"tests fail with the patch, whose speedup would be {raw}"
            yield replace(speedup, status=_FAILED, failure=Failure.INCORRECT, detail=detail)
        else:
            yield replace(speedup, status=_FAILED, failure=Failure.UNKNOWN, detail="there is no runtime with the patch")


TOOLS = (
    Tool(
        "algotune_baseline",
        ('"baseline_runs"', '"avg_min_ms"'),
        lambda file: bool(file.object) and all(task.keys() >= {"baseline_runs", "dataset_size"} for task in file.object.values()),
        _read_algotune_baseline,
    ),
    Tool("algotune_summary", ('"final_speedup"',), _is_algotune_summary, _read_algotune_summary),
    Tool("gso_manifest", ('"models"', '"opt_commit"', '"report"'), _is_gso_manifest, _read_gso_manifest, marks_suffice=False),
    Tool("gso_report", ('"opt_stats"', '"instance_sets"', '"opt_commit_ids"'), _is_gso_report, _read_gso_report),
    Tool("kernelbench", ('"num_trials"', '"hardware"', '"device"'), _is_kernelbench, _read_kernelbench),
    Tool(
        "swefficiency",
        ("raw_pred_speedup_ratio", "human_speedup_ratio"),
        lambda file: set(file.columns) >= _SWEFFICIENCY_COLUMNS,
        _read_swefficiency,
    ),
)
