"""Values of Harbor's verifiers (https://github.com/harbor-framework/harbor, `src/harbor/verifier`).

`reward.json` of a trial.

Beside the reward, which is the score of the run, a task's verifier writes what it measured, by
names of its own. A name with `speedup` is a ratio over the code before. One that begins with
`baseline` or `reference` is that side's value of the metric behind it, or of `metric`
(`reference_score` beside `metric`); all others are of the agent's change. The reference is better
than the baseline, which gives the direction of a metric that has both. If the verifier found the
change wrong, its values are failures. The flag `suspicious` is its judgement: of a result that is
too good, or of code that only looks right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ingest.context.rewards import (
    LOGS,
    REWARD,
    TRIAL_CONFIG,
    TRIAL_RESULT,
    VERIFIER,
    score_of,
    task_of_trial,
)
from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Judgement, Measured, ResultOrigin
from ingest.measurements.words import number
from schemas.rows.measurement import Failure, MeasuredStatus, Variant
from schemas.rows.published import Judged
from schemas.units import Better

_SIDES = {Variant.BASELINE.value: Variant.BASELINE, Variant.REFERENCE.value: Variant.REFERENCE}
_METRIC, _SPEEDUP, _SUSPICIOUS = "metric", "speedup", "suspicious"
_LONGEST_DETAIL = 1000


def _recognises(file: MeasuredFile) -> bool:
    is_named = file.file_name == REWARD or any(
        _SPEEDUP in name for name in file.object
    )  # a training log has rewards, too
    return is_named and score_of(file.object) is not None and any(_read(file))


def _read(file: MeasuredFile) -> Iterator[Measured | Judgement]:
    origin = _origin(file)
    yield from _values(file.object, origin)
    if isinstance(is_hack := file.object.get(_SUSPICIOUS), bool):
        judged = Judged.HACK if is_hack else Judged.CLEAN
        yield Judgement(
            origin, judged, _SUSPICIOUS if is_hack else None, judged_by="the task's verifier"
        )


def _origin(file: MeasuredFile) -> ResultOrigin:
    """Return the origin: the trial's folder names the run, where its logs or its result are."""
    folders, config = file.folders, file.beside(TRIAL_CONFIG)
    result: Mapping[str, Any] = {}
    logs = folders
    if folders[-1:] == (VERIFIER,):
        result, config, folders = (
            file.beside(f"../{TRIAL_RESULT}"),
            file.beside(f"../{TRIAL_CONFIG}"),
            folders[:-1],
        )
        logs = folders if result else (*folders, LOGS)
    task = task_of_trial(folders[-1] if folders else "", result, config)
    return ResultOrigin(
        Variant.CANDIDATE,
        task=task,
        benchmark=task,
        run_path="/".join(logs) or None,
        batch=file.name,
    )


def _values(found: Mapping[str, Any], origin: ResultOrigin) -> Iterator[Measured]:
    known = {
        name: value
        for name, one in found.items()
        if name != "reward" and (value := number(one)) is not None
    }
    parts = {name: _part(name, known) for name in known}
    sides = {part: known[name] for name, part in parts.items() if known[name]}
    ratio: dict[str, Any] = {"unit": "x", "ratio_base": Variant.BASELINE}
    of_change: dict[str, Any] = {}
    if any(name.startswith("correct") and value is False for name, value in found.items()):
        detail = next(
            (found[name] for name in ("error", "reason") if isinstance(found.get(name), str)), ""
        )
        of_change = {
            "status": MeasuredStatus.FAILED,
            "failure": Failure.INCORRECT,
            "detail": detail[:_LONGEST_DETAIL] or None,
        }
    for name, one in found.items():
        if _SPEEDUP in name and (name in known or (of_change and one is None)):
            yield Measured(origin, name, value=known.get(name), **ratio, **of_change)
        elif name in known:
            variant, metric = parts[name]
            before, good = (
                sides.get((side, metric)) for side in (Variant.BASELINE, Variant.REFERENCE)
            )
            better = None
            if before is not None and good is not None and before != good:
                better = Better.HIGHER if good > before else Better.LOWER
            if variant is Variant.CANDIDATE:
                yield Measured(origin, metric, value=known[name], better=better, **of_change)
            else:
                yield Measured(
                    replace(origin, variant=variant, run_path=None),
                    metric,
                    value=known[name],
                    better=better,
                )
        elif name == _METRIC and of_change and one is None:
            yield Measured(origin, name, **of_change)


def _part(name: str, known: Mapping[str, Any]) -> tuple[Variant, str]:
    """Return the variant and the metric that a name is about."""
    first, _, metric = name.partition("_")
    if first not in _SIDES:
        return Variant.CANDIDATE, name
    return _SIDES[first], metric if metric in known or _METRIC not in known else _METRIC


TOOL = Tool("harbor", ('"reward"',), _recognises, _read, marks_suffice=False)
