"""What Harbor's verifier wrote about a trial.

`reward.json`, a number or several by name, or `reward.txt`, a number.

Harbor has them in the trial's folder `verifier/`, beside `agent/`; published sets have one beside
the trajectory. The reward of a task is 1 if it was solved; tasks that measure have other values in
between, or above. Verifiers of benchmarks add texts and flags.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ingest.context.small_files import json_object
from ingest.system.files import read_small_text

REWARD, REWARD_TEXT = "reward.json", "reward.txt"
VERIFIER, LOGS = "verifier", "agent"
TRIAL_RESULT, TRIAL_CONFIG = "result.json", "config.json"
_REWARD_NAME = "reward"

_TRIAL_NAME = re.compile(r"(.+)__[0-9A-Za-z]{7}")
"""Name of a trial: the first 32 characters of its task, and a random part."""

_FLAG = re.compile(r"[A-Za-z]\w{0,63}")
_MOST_FLAGS = 32
_NO_FLAGS = frozenset(("repo", "task", "experiment", "effort", "commit", "date"))
"""Labels with a meaning of their own."""


def rewards_in(folder: Path) -> dict[str, Any]:
    """Return the rewards in a folder by name, with whatever else the verifier wrote.

    Empty if there are none. Never raises.
    """
    found = json_object(folder / REWARD)
    for name in (REWARD, REWARD_TEXT):
        if score_of(found) is None and (folder / name).is_file():  # a pipe may have no end
            with suppress(OSError, ValueError):
                found = found | {_REWARD_NAME: float(read_small_text(folder / name))}
    return found


def score_of(rewards: Mapping[str, Any]) -> float | None:
    """Return the reward: that of this name, else the only one. None if it is no finite number."""
    value = rewards.get(_REWARD_NAME, next(iter(rewards.values())) if len(rewards) == 1 else None)
    with suppress(OverflowError):
        if isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    return None


def flags_of(rewards: Mapping[str, Any]) -> dict[str, str]:
    """Return the verifier's flags as labels, such as `suspicious` → `true`."""
    flags = (
        (name, value)
        for name, value in rewards.items()
        if isinstance(value, bool) and name not in (*_NO_FLAGS, _REWARD_NAME)
    )
    named = [(name, str(value).lower()) for name, value in flags if _FLAG.fullmatch(name)]
    return dict(named[:_MOST_FLAGS])


def task_of_trial(folder: str, result: Mapping[str, Any], config: Mapping[str, Any]) -> str | None:
    """Return the task of a trial from its result, else its configuration, else its folder name."""
    about = config.get("task")
    about = about if isinstance(about, dict) and "trial_name" in config else {}
    path = about.get("path")
    last = path.rstrip("/").rpartition("/")[2] if isinstance(path, str) else None
    for name in (result.get("task_name"), about.get("name"), last):
        if isinstance(name, str) and name:
            return name
    trial = _TRIAL_NAME.fullmatch(folder)
    return trial[1] if trial else folder or None
