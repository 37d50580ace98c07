"""The prompt of a run: what its user asked for, from an event of its stream or a file beside it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from schemas.text import paired

LONGEST_PROMPT = 20_000
"""Characters of a prompt that are kept."""

_NOT_THE_USER = ("parent_tool_use_id", "isSynthetic", "isMeta", "isSidechain", "isCompactSummary")
"""Marks of messages in the user's role that the agent wrote: prompts of sub-agents, expanded commands and skills, hooks, summaries."""

_OF_THE_AGENT = (
    "<command-",
    "<local-command-",
    "<system-reminder>",
    "<ide_",
    "<task-notification>",
    "[Request interrupted",
    "Caveat: The messages below",
)
"""How such messages, and blocks of messages, begin that have no mark."""


def prompt_of(event: dict[str, Any]) -> str | None:
    """The text of a `user` event, without results of tools; None where it has none, or where the agent wrote it. Never raises."""
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if any(map(event.get, _NOT_THE_USER)):
        return None
    texts = [content] if isinstance(content, str) else [_text(block) for block in content] if isinstance(content, list) else []
    text = "\n".join(text[:LONGEST_PROMPT] for text in texts if text)[:LONGEST_PROMPT].strip()
    return str(paired(text)) if text and not text.startswith(_OF_THE_AGENT) else None


def prompt_in(path: Path) -> str | None:
    """The beginning of a text file; None where it holds none."""
    with suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
        return file.read(LONGEST_PROMPT).strip() or None
    return None


def _text(block: object) -> str | None:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    return text if isinstance(text, str) and not text.startswith(_OF_THE_AGENT) else None
