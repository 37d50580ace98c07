"""The trial of a benchmark harness that a log belongs to, by the folder in which it lies.

A harness keeps the result of a trial in the trial's folder, and what the agent wrote in a folder beside it: Harbor `result.json` and
`agent/`, terminal-bench `results.json` and `agent-logs/` or `sessions/`.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ingest.agents.harbor.terminal_bench import run_of_logs as run_of_terminal_bench
from ingest.agents.harbor.trial import run_of_logs as run_of_harbor

LARGEST_READ = 64 << 20
"""Bytes of the largest result that is read."""

_LAYOUTS: dict[str, tuple[str, Callable[[dict[str, Any]], str | None]]] = {
    "agent": ("result.json", run_of_harbor),
    "agent-logs": ("results.json", run_of_terminal_bench),
    "sessions": ("results.json", run_of_terminal_bench),
}
"""Folder of an agent's logs → the harness's result beside it, and the function that finds the id of its run in it."""

_LOGS = re.compile(rf"(?:^|[/!])(?P<logs>{'|'.join(map(re.escape, _LAYOUTS))})(?=/)")


def results_beside(names: Iterable[str]) -> frozenset[str]:
    """The names of files that are results of trials if the logs among `names` are those of trials."""
    return frozenset(beside + _LAYOUTS[logs][0] for name in names for beside, logs in _places(name))


def trial_of(folder: str, actual: Callable[[str], str | None]) -> str | None:
    """The id of the run that the logs in a folder belong to; None where they are not of a trial. Raises nothing.

    `folder` ends with a slash. `actual`: the folder on disk of a folder by this name, None where it has none.
    """
    for beside, logs in _places(folder):
        result, run_of_logs = _LAYOUTS[logs]
        place = actual(beside)
        if place is not None and (found := _run_in(Path(place, result), run_of_logs)):
            return found
    return None


def _places(name: str) -> Iterator[tuple[str, str]]:
    """(folder that holds the logs' folder, name of the logs' folder), the nearest first."""
    for found in reversed(list(_LOGS.finditer(name))):
        yield name[: found.start("logs")], found["logs"]


def _run_in(path: Path, run_of_logs: Callable[[dict[str, Any]], str | None]) -> str | None:
    """The run that a result names. A pipe is not opened: it would wait."""
    with suppress(OSError, ValueError, RecursionError):
        found = path.stat()
        if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_READ:
            value = json.loads(path.read_bytes())
            return run_of_logs(value) if isinstance(value, dict) else None
    return None
