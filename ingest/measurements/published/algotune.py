"""AlgoTune `reports/agent_summary.json` (a speedup for each task and model) and `reports/generation.json` (times of the baseline).

`final_speedup` is text, or "N/A" where the model's program failed. A run of the baseline is the mean, over the problems of the task, of
each problem's shortest time in ms; its standard deviation is that of the problems, not of runs.

Source: https://github.com/oripress/AlgoTune, `reports/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from schemas.rows.claim import Scope
from schemas.rows.measurement import MeasuredStatus, Variant

_NO_SPEEDUP = "N/A"
_PROBLEMS = ("n", "dataset_size", "target_time_ms")


def _is_summary(file: MeasuredFile) -> bool:
    results = [result for models in file.object.values() for result in models.values()]
    return bool(results) and all("final_speedup" in result for result in results)


def _read_summary(file: MeasuredFile) -> Iterator[Measured]:
    for task, models in file.object.items():
        for model, result in models.items():
            origin = Origin(variant=Variant.CANDIDATE, task=task, benchmark=task, model=model, scope=Scope.MICRO)
            yield _speedup(result["final_speedup"], origin)


def _speedup(written: str, origin: Origin) -> Measured:
    blank = Measured(origin=origin, metric="speedup", unit="x", ratio_base=Variant.BASELINE)
    if written == _NO_SPEEDUP:
        return replace(blank, status=MeasuredStatus.FAILED, detail="AlgoTune has no speedup for it: final_speedup is N/A")
    return replace(blank, value=float(written))


def _is_baseline(file: MeasuredFile) -> bool:
    return bool(file.object) and all(task.keys() >= {"baseline_runs", "dataset_size"} for task in file.object.values())


def _read_baseline(file: MeasuredFile) -> Iterator[Measured]:
    for task, setting in file.object.items():
        params = {name: setting.get(name) for name in _PROBLEMS}
        origin = Origin(variant=Variant.BASELINE, task=task, benchmark=task, params=params, scope=Scope.MICRO)
        for _, run in sorted(setting["baseline_runs"].items()):
            yield _time(run, origin)


def _time(run: Mapping[str, Any], origin: Origin) -> Measured:
    if not run["success"]:
        return Measured(origin=origin, metric="time", status=MeasuredStatus.FAILED, detail="the run of the baseline failed")
    return Measured(origin=origin, metric="time", statistic="mean", value=run["avg_min_ms"], unit="ms", n=1)


SUMMARY = Tool("algotune_summary", ('"final_speedup"',), _is_summary, _read_summary)
BASELINE = Tool("algotune_baseline", ('"baseline_runs"', '"avg_min_ms"'), _is_baseline, _read_baseline)
