"""Fields of ISO-Bench's files: the same thing has another key in each schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def commit_of(content: Mapping[str, Any]) -> str | None:
    """The commit that names the task, in full where the file has it."""
    return text(content, "human_commit_full", "commit_full", "full_commit", "commit_hash", "human_commit", "commit", "commit_short")


def parent_of(content: Mapping[str, Any]) -> str | None:
    """The commit of the baseline."""
    return text(content, "parent_commit", "parent_hash", "parent_short", "base_commit")


def text(content: Mapping[str, Any], *keys: str) -> str | None:
    """The first of these values that is a text and not empty."""
    return next((value for key in keys if isinstance(value := content.get(key), str) and value.strip()), None)


def mapping(value: Any) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}
