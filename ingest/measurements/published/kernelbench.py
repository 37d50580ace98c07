"""KernelBench `results/timing/…/baseline_time_*.json`: times of the PyTorch module that kernels are compared with, in ms.

`{level: {problem: {mean, std, min, max, num_trials, hardware, device}}}`. How PyTorch ran (eager, or compiled and by what) stands only
in the name of the file, so that two files for one machine have the same problems.

Source: https://github.com/ScalingIntelligence/KernelBench, `results/timing/README.md`, `scripts/generate_baseline_time.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.spread import Spread
from schemas.rows.claim import Scope
from schemas.rows.measurement import Variant

_KEYS = frozenset(("mean", "std", "min", "max", "num_trials", "hardware", "device"))
_MODE = re.compile(r"baseline_time_(\w+)\.json")


def _recognises(file: MeasuredFile) -> bool:
    problems = [problem for level in file.object.values() for problem in level.values()]
    return bool(problems) and all(problem.keys() >= _KEYS for problem in problems)


def _read(file: MeasuredFile) -> Iterator[Measured]:
    mode = _MODE.fullmatch(file.file_name)
    for level, problems in file.object.items():
        for problem, times in problems.items():
            name = f"{level}/{problem}"
            origin = Origin(
                variant=Variant.BASELINE,
                task=name,
                benchmark=name,
                params={"mode": mode[1]} if mode else {},
                machine=times["hardware"],
                scope=Scope.MICRO,
            )
            yield from _of_problem(times, origin)


def _of_problem(times: Mapping[str, Any], origin: Origin) -> Iterator[Measured]:
    for statistic in ("mean", "min", "max"):
        spread = Spread.around(times["mean"], times["std"]) if statistic == "mean" else None
        value, runs = times[statistic], times["num_trials"]
        yield Measured(origin=origin, metric="time", statistic=statistic, value=value, unit="ms", n=runs, spread=spread)


TOOL = Tool("kernelbench", ('"num_trials"', '"hardware"', '"device"'), _recognises, _read)
