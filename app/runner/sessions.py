"""The transcripts of a run whose standard output has no record: files of sessions that the agent wrote into its home meanwhile."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from schemas.agents import Agent, Home

Sizes = Mapping[Path, int]
"""Files of sessions → their size in bytes."""

_SUFFIXES = (".jsonl", ".json", ".zst")
_HEAD_BYTES = 1 << 20


def sessions_of(agent: Agent | None, environment: Mapping[str, str] = os.environ) -> Sizes:
    """The files of sessions that an agent keeps on this machine; none for an agent whose home is not known."""
    return dict(_files(agent.home, environment)) if agent and agent.home else {}


def written_since(before: Sizes, agent: Agent | None, cwd: Path, environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Files that were begun since then and name the folder of the run; where there is none, files that have grown. Oldest name first.

    Other sessions may go on beside the run, mostly in other folders.
    """
    now = sessions_of(agent, environment)
    begun = [path for path in sorted(now) if path not in before and _names(path, cwd)]
    return begun or [path for path in sorted(now) if path in before and now[path] > before[path] and _names(path, cwd)]


def _files(home: Home, environment: Mapping[str, str]) -> Iterator[tuple[Path, int]]:
    for folder in home.folders(environment):
        for path in folder.rglob("*"):
            if path.suffix in _SUFFIXES:
                with suppress(OSError):
                    yield path, path.stat().st_size


def _names(path: Path, cwd: Path) -> bool:
    """Whether the beginning of a file names a folder. A compressed one cannot be looked into so, and counts."""
    if path.suffix == ".zst":
        return True
    with suppress(OSError), path.open("rb") as file:
        return json.dumps(str(cwd), ensure_ascii=False).encode(errors="surrogateescape") in file.read(_HEAD_BYTES)
    return False
