"""What the files of a benchmark harness say of a log in their folders: the trial that it is of, its agent and model, and its score.

- A log in `agent/` belongs to Harbor's trial whose `result.json` lies beside that folder and names the model that the agent was started
  with; one in `agent-logs/` or `sessions/` to terminal-bench's trial with a `results.json` there.
- `run_metadata.json` names the agent and the model of terminal-bench's `results.json` beside it or two folders below, and the model of the
  logs beside those.
- `metadata.json` names the agent and the model of the OpenHands Index's results in the folder `instance_results/` beside it.
- SWE-bench's `report.json` grades the log beside it, and `logs/TASK/report.json` the log `trajs/TASK.…`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ingest.agents.harbor import model_of_harbors_logs, run_of_harbors_logs, run_of_terminal_benchs_logs
from ingest.context.small_files import json_object, split
from schemas.agents import agent_key

RESULTS, METADATA, GRADE = "results.json", "run_metadata.json", "report.json"
_OF_INDEX, _INDEX_METADATA = "instance_results", "metadata.json"

_LAYOUTS: dict[str, tuple[str, Callable[[dict[str, Any]], str | None]]] = {
    "agent": ("result.json", run_of_harbors_logs),
    "agent-logs": (RESULTS, run_of_terminal_benchs_logs),
    "sessions": (RESULTS, run_of_terminal_benchs_logs),
}
"""Folder of an agent's logs → the harness's result beside it, and the function that finds the id of its run in it."""

_TRAJECTORIES, _GRADES = "trajs/", "logs/"

Actual = Callable[[str], str | None]
"""The name of a folder, with a slash at its end → the folder on disk, None where it has none."""


class HarnessFacts(NamedTuple):
    """What a harness says of a log; None where it says nothing. `trial_id`: the run that the log belongs to; `model`: as asked for."""

    trial_id: str | None = None
    agent: str | None = None
    model: str | None = None
    score: float | None = None


NO_HARNESS_FACTS = HarnessFacts()


def named_by_harness(names: Iterable[str]) -> Iterator[str]:
    """The names of files that tell something of other files among `names`; only their content shows whether they do."""
    for name in names:
        folder, file = split(name)
        if file in (METADATA, GRADE):
            yield name
        if split(folder[:-1])[1] == _OF_INDEX:
            yield split(folder[:-1])[0] + _INDEX_METADATA
        for beside, logs in _places(name):
            yield beside + _LAYOUTS[logs][0]


def differs_in_folder(name: str) -> bool:
    """Whether the facts of a file may differ from those of the others in its folder."""
    return name.endswith((RESULTS, METADATA, GRADE)) or f"/{_TRAJECTORIES}" in name


def harness_facts(name: str, actual: Actual) -> HarnessFacts:
    """What the harness says of a file. `name`: as a source, on disk the absolute path. Raises nothing."""
    folder, file = split(name)
    agent, model = _metadata(folder, actual) if file == RESULTS else _of_index(folder, actual) or (None, _model(folder, actual))
    return HarnessFacts(_trial(folder, actual), agent, model, _score(folder, file, actual))


def _places(name: str) -> Iterator[tuple[str, str]]:
    """(folder that holds the folder of the logs, name of the folder of the logs), the nearest first."""
    folder = split(name)[0]
    while folder:
        above, logs = split(folder[:-1])
        if logs in _LAYOUTS and folder.endswith("/"):
            yield above, logs
        folder = above


def _trial(folder: str, actual: Actual) -> str | None:
    for beside, logs in _places(folder):
        result, run_of_logs = _LAYOUTS[logs]
        if found := run_of_logs(_json(beside, result, actual)):
            return found
    return None


def _model(folder: str, actual: Actual) -> str | None:
    """The model that the agent was started with whose logs lie in the folder."""
    for beside, logs in _places(folder):
        result = _json(beside, _LAYOUTS[logs][0], actual)
        if found := model_of_harbors_logs(result) or (_metadata(beside, actual)[1] if run_of_terminal_benchs_logs(result) else None):
            return found
    return None


def _metadata(folder: str, actual: Actual) -> tuple[str | None, str | None]:
    """(agent, model) of the run whose results lie in the folder."""
    for above in (folder, split(split(folder[:-1])[0][:-1])[0]):
        value = _json(above, METADATA, actual)
        if "agent_name" in value and "run_id" in value:
            return _text(value["agent_name"]), _text(value.get("model_name"))
    return None, None


def _of_index(folder: str, actual: Actual) -> tuple[str | None, str | None] | None:
    """(agent, model) of the results of the OpenHands Index in the folder; None where it holds no such results."""
    above, last = split(folder[:-1])
    value = _json(above, _INDEX_METADATA, actual) if last == _OF_INDEX else {}
    if "agent_name" not in value or "directory_name" not in value:
        return None
    agent = _text(value["agent_name"])
    return agent and agent_key(agent), _text(value.get("model"))


def _score(folder: str, file: str, actual: Actual) -> float | None:
    """1.0 or 0.0: whether the task is resolved."""
    above, last = split(folder[:-1])
    if f"{last}/" == _TRAJECTORIES:
        task = file.split(".traj", maxsplit=1)[0].removesuffix(".json")
        return _graded(_json(f"{above}{_GRADES}{task}/", GRADE, actual), task)
    return None if file == GRADE else _graded(_json(folder, GRADE, actual), last)


def _graded(report: dict[str, Any], task: str) -> float | None:
    """The grade of a task, in a report of one task, by itself or under its name."""
    inside = report.get(task, report)
    if isinstance(inside, dict) and "patch_exists" in inside and isinstance(inside.get("resolved"), bool):
        return float(inside["resolved"])
    return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _json(folder: str, name: str, actual: Actual) -> dict[str, Any]:
    place = actual(folder)
    return json_object(Path(place, name)) if place is not None else {}
