"""Facts of a benchmark harness about a log in its folders.

Its trial, its agent and model, and its score.

- A log in `agent/` belongs to Harbor's trial with a `result.json` beside that folder, which names
  the requested model; one in
`agent-logs/` or `sessions/` to terminal-bench's trial with a `results.json` there.
- `run_metadata.json` names the agent and the model of terminal-bench's `results.json` beside it or
  two folders below, and the model of the
logs beside those.
- `metadata.json` names the agent and the model of the OpenHands Index's results in the folder
  `instance_results/` beside it.
- Without a result, the rewards of Harbor's verifier (`ingest.context.rewards`) grade a trial, and
  its configuration names its task.
- SWE-bench's `report.json` grades the log beside it, and `logs/TASK/report.json` the log
  `trajs/TASK.…`
or `trajs/TASK/TASK.…`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ingest.context.rewards import (
    LOGS,
    REWARD,
    REWARD_TEXT,
    TRIAL_CONFIG,
    TRIAL_RESULT,
    VERIFIER,
    flags_of,
    rewards_in,
    score_of,
    task_of_trial,
)
from ingest.context.small_files import json_object, split
from ingest.facts import Facts
from schemas.agents import agent_key

RESULTS, METADATA, GRADE = "results.json", "run_metadata.json", "report.json"
_OF_INDEX, _INDEX_METADATA = "instance_results", "metadata.json"
_TRAJECTORIES, _GRADES = "trajs/", "logs/"
_TRAJECTORY = "trajectory"
"""Beginning of the names of Harbor's trajectories: `trajectory.json`, `trajectory.cont-1.json`."""

_LAYOUTS = {LOGS: TRIAL_RESULT, "agent-logs": RESULTS, "sessions": RESULTS}
"""Folder of an agent's logs → the harness's result beside it: Harbor's, or terminal-bench's."""

PlaceOf = Callable[[str], "str | Path | None"]
"""Folder name ('x/') → path on disk, or None."""


def named_by_harness(names: Iterable[str]) -> Iterator[str]:
    """Yield the names of files that may describe other files among `names`.

    Only their content shows whether they do.
    """
    for name in names:
        folder, file = split(name)
        if file in (METADATA, GRADE, REWARD, REWARD_TEXT):
            yield name
        if file in (REWARD, REWARD_TEXT) and split(folder[:-1])[1] == VERIFIER:
            yield split(folder[:-1])[0] + TRIAL_CONFIG
            yield split(folder[:-1])[0] + TRIAL_RESULT
        if split(folder[:-1])[1] == _OF_INDEX:
            yield split(folder[:-1])[0] + _INDEX_METADATA
        for beside, logs in _places(name):
            yield beside + _LAYOUTS[logs]
            if logs == LOGS:
                yield beside + TRIAL_CONFIG


def differs_in_folder(name: str) -> bool:
    """Return whether a file's facts may differ from those of other files in its folder."""
    return (
        name.endswith((RESULTS, METADATA, GRADE))
        or f"/{_TRAJECTORIES}" in name
        or split(name)[1].startswith(_TRAJECTORY)
    )


def harness_facts(name: str, place_of: PlaceOf) -> Facts:
    """Return the harness's facts about a file. `name`: as a source, on disk the absolute path.

    Never raises.
    """
    folder, file = split(name)
    above, last = split(folder[:-1])

    def read(folder: str, name: str) -> dict[str, Any]:
        place = place_of(folder)
        return json_object(Path(place, name)) if place is not None else {}

    def metadata(folder: str) -> tuple[str | None, str | None]:
        """Return (agent, model) of the run with its results in the folder."""
        for at in (folder, split(split(folder[:-1])[0][:-1])[0]):
            value = read(at, METADATA)
            if "agent_name" in value and "run_id" in value:
                return _text(value["agent_name"]), _text(value.get("model_name"))
        return None, None

    logs = [
        (beside, kind, result)
        for beside, kind in _places(folder)
        if (result := read(beside, _LAYOUTS[kind]))
    ]
    if logs:
        from ingest.agents import harbor  # its models take 30 ms to make
    index = read(above, _INDEX_METADATA) if last == _OF_INDEX and file != RESULTS else {}
    agent = model = None
    if file == RESULTS:
        agent, model = metadata(folder)
    elif "agent_name" in index and "directory_name" in index:
        agent, model = _text(index["agent_name"]), _text(index.get("model"))
        agent = agent and agent_key(agent)
    else:  # the model that the agent was started with whose logs lie in the folder
        for beside, _, result in logs:
            of_run = metadata(beside)[1] if harbor.run_of_terminal_benchs_logs(result) else None
            model = model or harbor.model_of_harbors_logs(result) or of_run
    score = None
    if file != GRADE:
        score = _graded(read(folder, GRADE), last)
    task = file.split(".traj", maxsplit=1)[0].removesuffix(".json")
    trajectories = above if last == task else folder  # agents write a folder per task
    if score is None and split(trajectories[:-1])[1] == _TRAJECTORIES[:-1]:
        score = _graded(
            read(f"{trajectories.removesuffix(_TRAJECTORIES)}{_GRADES}{task}/", GRADE), task
        )
    trials = (
        harbor.run_of_harbors_logs(result)
        if kind == LOGS
        else harbor.run_of_terminal_benchs_logs(result)
        for _, kind, result in logs
    )
    trial_id = next(filter(None, trials), None)
    facts = Facts(agent=agent, requested_model=model, harness_model=model)
    if trial_id or score is not None:
        return replace(facts, trial_id=trial_id, score=score)
    return replace(facts, **_rewarded(name, place_of))


def _rewarded(name: str, place_of: PlaceOf) -> dict[str, Any]:
    """Return the facts in the rewards of a trial's verifier and in its configuration.

    The verifier's are in a folder of their own, or beside a trajectory.
    """
    folder, file = split(name)
    at = [(above, f"{above}{VERIFIER}/") for above, logs in _places(name) if logs == LOGS]
    for trial, verifier in [(folder, folder)] * file.startswith(_TRAJECTORY) + at:
        place, of_trial = place_of(verifier), place_of(trial)
        rewards = rewards_in(Path(place)) if place is not None else {}
        config = json_object(Path(of_trial, TRIAL_CONFIG)) if of_trial is not None else {}
        score = score_of(rewards)
        if score is not None or "trial_name" in config:  # that of a killed trial is all there is
            return {
                "score": score,
                "task": task_of_trial(split(trial[:-1])[1], {}, config),
                "is_verified": score is not None,
                "labels": flags_of(rewards),
            }
    return {}


def _places(name: str) -> Iterator[tuple[str, str]]:
    """Yield (parent of the folder of the logs, name of the folder of the logs), nearest first."""
    folder = split(name)[0]
    while folder:
        above, logs = split(folder[:-1])
        if logs in _LAYOUTS and folder.endswith("/"):
            yield above, logs
        folder = above


def _graded(report: dict[str, Any], task: str) -> float | None:
    """Return the grade of a task, from a report of one task, at its top or under its name."""
    inside = report.get(task, report)
    if (
        isinstance(inside, dict)
        and "patch_exists" in inside
        and isinstance(inside.get("resolved"), bool)
    ):
        return float(inside["resolved"])
    return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
