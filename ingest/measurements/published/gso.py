"""Reports of GSO: speedups of an agent's patch over the code before and over the human's commit, per task, without the values.

`gm`, `hm` and `am` are the geometric and harmonic mean of the ratios of the tests, and the ratio of the mean times. A report has them only
for tasks that reached its goal, and lists the tasks that failed. It names no model: the manifest beside the reports calls each file by
its model. The manifest's `score` is the share of tasks that reached the goal, in percent.

Source: https://github.com/gso-bench/gso (MIT), `src/gso/harness/grading/evalscript.py`, and `results/` of gso-experiments (MIT).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from schemas.rows.claim import Scope
from schemas.rows.measurement import Failure, MeasuredStatus, MeasurementRow, Variant
from schemas.units import Better

_MEANS = {"gm": "geometric_mean", "hm": "harmonic_mean", "am": "mean"}
_PAIRS = {
    "patch_base": (Variant.CANDIDATE, Variant.BASELINE),
    "patch_commit": (Variant.CANDIDATE, Variant.REFERENCE),
    "commit_base": (Variant.REFERENCE, Variant.BASELINE),
}
_FAILURES = {
    "base_failed_ids": Failure.INFRASTRUCTURE,
    "patch_failed_ids": Failure.PATCH,
    "empty_patch_ids": Failure.PATCH,
    "test_failed_ids": Failure.INCORRECT,
    "error_ids": Failure.UNKNOWN,
}
"""Lists of tasks without a speedup → why."""

_INSTANCE = re.compile(r"(?P<owner>.+?)__(?P<repo>.+)-(?P<commit>[0-9a-f]{7,40})")


def _is_report(file: MeasuredFile) -> bool:
    content = file.object
    stats, sets = content.get("opt_stats"), content.get("instance_sets")
    return isinstance(stats, dict) and isinstance(sets, dict) and isinstance(sets.get("opt_commit_ids"), list)


def _read_report(file: MeasuredFile) -> Iterator[Measured]:
    model = file.file_name.partition(".json")[0]
    for instance, stats in file.object["opt_stats"].items():
        yield from _of_task(_origin(instance, model, file.name), stats)
    for key, failure in _FAILURES.items():
        for instance in file.object["instance_sets"].get(key) or ():
            origin = replace(_origin(instance, model, file.name), variant=Variant.CANDIDATE)
            yield Measured(origin=origin, status=MeasuredStatus.FAILED, failure=failure, detail=key.removesuffix("_ids").replace("_", " "))


def _of_task(origin: Origin, stats: Mapping[str, Any]) -> Iterator[Measured]:
    for pair, (variant, base) in _PAIRS.items():
        own = origin if variant is Variant.CANDIDATE else replace(origin, model=None)
        for short, statistic in _MEANS.items():
            value = stats.get(f"{short}_speedup_{pair}")
            if value is not None:
                yield Measured(
                    origin=replace(own, variant=variant), metric="speedup", statistic=statistic, value=value, unit="ratio", ratio_base=base
                )


def _origin(instance: str, model: str, batch: str) -> Origin:
    """The id of a task holds the repository and the human's commit: `numpy__numpy-1b861a2`."""
    parts = _INSTANCE.fullmatch(instance)
    return Origin(
        repo=f"{parts['owner']}/{parts['repo']}" if parts else None,
        commit=parts["commit"] if parts else None,
        task=instance,
        instance=instance,
        model=model,
        benchmark="GSO",
        batch=batch,
        scope=Scope.UNSPECIFIED,
    )


def _is_manifest(file: MeasuredFile) -> bool:
    models = file.object.get("models")
    return isinstance(models, dict) and any(_score(one) is not None and "report" in one for one in models.values())


def _read_manifest(file: MeasuredFile) -> Iterator[Measured]:
    for model, one in file.object["models"].items():
        if (score := _score(one)) is not None:
            origin = Origin(variant=Variant.CANDIDATE, model=model, benchmark="GSO", scope=Scope.UNSPECIFIED)
            yield Measured(origin=origin, metric="score", value=score, unit="%", better=Better.HIGHER)


def _score(one: Any) -> float | None:
    summary = one.get("summary") if isinstance(one, dict) else None
    score = summary.get("score") if isinstance(summary, dict) and "opt_commit" in summary else None
    return score if isinstance(score, int | float) else None


class Reached(NamedTuple):
    """The tasks with a speedup over the code before, and those as fast as the human's commit as well."""

    base: frozenset[str]
    commit: frozenset[str]


def reached(rows: Iterable[MeasurementRow]) -> Reached:
    """GSO's verdict from the rows of one report.

    Base: geometric mean over the code before of at least 1.2, rounded to one digit, and the mean time is shorter. Commit: that, and the
    harmonic mean over the human's commit is above 0.95.
    """
    ratios: dict[str, dict[tuple[Variant | None, str | None], float]] = defaultdict(dict)
    for row in rows:
        if row.variant is Variant.CANDIDATE and row.instance and row.value is not None:
            ratios[row.instance][row.ratio_base, row.statistic] = row.value
    base = frozenset(instance for instance, found in ratios.items() if _is_faster(found))
    is_as_fast = {instance for instance, found in ratios.items() if found.get((Variant.REFERENCE, "harmonic_mean"), 0.0) > 0.95}
    return Reached(base, base & is_as_fast)


def _is_faster(found: Mapping[tuple[Variant | None, str | None], float]) -> bool:
    geometric, times = found.get((Variant.BASELINE, "geometric_mean"), 0.0), found.get((Variant.BASELINE, "mean"), 0.0)
    return round(geometric, 1) >= 1.2 and times > 1


REPORT = Tool("gso_report", ('"opt_stats"', '"instance_sets"', '"opt_commit_ids"'), _is_report, _read_report)
MANIFEST = Tool("gso_manifest", ('"models"', '"opt_commit"', '"report"'), _is_manifest, _read_manifest, marks_suffice=False)
