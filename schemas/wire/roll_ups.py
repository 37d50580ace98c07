"""Benchmark files without runs of their own.

Predictions (patches), grades, and sums of runs that have their own records.

Sources: SWE-bench's predictions and reports (swebench.harness), Harbor's result of a job,
terminal-bench's metadata of a run.
"""

from __future__ import annotations

from typing import Any

_PREDICTION = frozenset(("instance_id", "model_patch"))
_OF_PREDICTIONS = _PREDICTION | {"model_name_or_path", "full_output"}
"""All fields of a prediction. An object with more may contain the record of an agent, too."""

_NAMES = (
    frozenset(("patch_is_None", "patch_exists")),
    frozenset(("total_instances", "resolved_ids")),
    frozenset(("n_total_trials", "stats")),
    frozenset(("run_id", "agent_name", "n_attempts")),
    frozenset(("tokensIn", "tokensOut", "totalCost", "task")),
)
"""Fields that identify a grade, a sum of grades, a job of Harbor, the metadata of a run of
terminal-bench, an entry of Cline's list of tasks.
"""


def is_roll_up(value: dict[str, Any]) -> bool:
    """Return whether an object is such a file, an entry of one, or has entries by task.

    It contains no runs, whatever its patches.
    """
    if any(names <= value.keys() for names in _NAMES) or _is_prediction(value):
        return True
    first = next(iter(value.values()), None)
    return isinstance(first, dict) and (_NAMES[0] <= first.keys() or _is_prediction(first))


def _is_prediction(value: dict[str, Any]) -> bool:
    return _PREDICTION <= value.keys() <= _OF_PREDICTIONS
