"""Where agents keep the transcripts of their sessions on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from schemas.agents import AGENTS, is_folder

HOMES = tuple(agent.home for agent in AGENTS.values() if agent.home)


def session_folders(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Return every folder with transcripts on this machine."""
    return [folder for home in HOMES for folder in home.folders(environment)]


def only_sessions(paths: Iterable[Path]) -> list[Path]:
    """Restrict an agent's home to its folders with transcripts.

    So settings and credentials beside them are never opened.
    """
    folders = []
    for path in paths:
        inside = [
            folder
            for home in HOMES
            if is_folder(path) and home.is_at(path)
            for folder in home.inside(path)
        ]
        folders += inside or [path]
    return folders
