"""Where agents keep the transcripts of their sessions on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from schemas.agents import CLAUDE_CODE, CODEX, Agent


@dataclass(frozen=True)
class Home:
    """The folder in which an agent keeps settings, credentials and sessions.

    `variable`: the environment variable that names it, or several of them with commas between. `usual`: where it is without one.
    `sessions`: its folders with transcripts. `others`: names of which it has at least one beside them.
    """

    agent: Agent
    variable: str
    usual: tuple[str, ...]
    sessions: tuple[str, ...]
    others: tuple[str, ...]

    def folders(self, environment: Mapping[str, str]) -> Iterator[Path]:
        """The folders with transcripts that exist. The variable may name one of them, too."""
        named = [part.strip() for part in environment.get(self.variable, "").split(",") if part.strip()]
        for home in map(Path, named or self.usual):
            place = home.expanduser()
            yield from [place] if place.name in self.sessions and _is_folder(place) else self.inside(place)

    def inside(self, home: Path) -> list[Path]:
        """The folders with transcripts in a home."""
        return [folder for folder in (home / name for name in self.sessions) if _is_folder(folder)]

    def is_at(self, path: Path) -> bool:
        """Whether a folder is such a home: by its usual name or by what else is in it."""
        is_usual = path.name in {Path(usual).name for usual in self.usual if Path(usual).name.startswith(".")}
        return is_usual or any(os.path.exists(path / name) for name in self.others)  # noqa: PTH110  Path.exists() may raise


HOMES = (
    Home(
        CLAUDE_CODE,
        "CLAUDE_CONFIG_DIR",
        ("~/.config/claude", "~/.claude"),
        ("projects",),
        ("settings.json", ".credentials.json", "history.jsonl", "stats-cache.json", "shell-snapshots"),
    ),
    Home(CODEX, "CODEX_HOME", ("~/.codex",), ("sessions", "archived_sessions"), ("config.toml", "auth.json", "history.jsonl")),
)
"""Sources: the agents' documentation of these variables."""


def session_folders(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Every folder with transcripts on this machine."""
    return [folder for home in HOMES for folder in home.folders(environment)]


def only_sessions(paths: Iterable[Path]) -> list[Path]:
    """The same paths; of an agent's home only the folders with transcripts: settings and credentials beside them are never opened."""
    return [folder for path in paths for folder in _inside(path)]


def _inside(path: Path) -> list[Path]:
    found = [folder for home in HOMES if _is_folder(path) and home.is_at(path) for folder in home.inside(path)]
    return found or [path]


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  Path.is_dir() may raise, as in a folder without permission
