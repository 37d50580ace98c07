"""Claude Code's file beside the transcript of a sub-agent: `agent-<id>.meta.json` beside `agent-<id>.jsonl`, since 2.1.14."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ingest.agents.base import Subagent
from ingest.context.small_files import json_object

_BEGINNING, _END, _BESIDE = "agent-", ".jsonl", ".meta.json"
_LONGEST = 200


def subagent_beside(path: Path) -> Subagent | None:
    """What the file beside a transcript says of its sub-agent; None where there is none, or it says nothing. Raises nothing."""
    if not path.name.startswith(_BEGINNING) or _END not in path.name:
        return None
    told = json_object(path.with_name(path.name.partition(_END)[0] + _BESIDE))
    found = Subagent(_words(told, "agentType"), _words(told, "description"))
    return found if any(found) else None


def is_beside_subagent(path: Path) -> bool:
    """Whether a file is one that says what a sub-agent is: then it is no record, and ignored. Raises nothing."""
    return path.name.startswith(_BEGINNING) and path.name.endswith(_BESIDE) and "agentType" in json_object(path)


def _words(told: dict[str, Any], name: str) -> str | None:
    text = told.get(name)
    return " ".join(text.split())[:_LONGEST] or None if isinstance(text, str) else None
