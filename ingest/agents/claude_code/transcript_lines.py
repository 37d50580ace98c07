"""Which objects are lines of a session transcript of Claude Code."""

from __future__ import annotations

from typing import Any

from schemas.marks import FIGURES
from schemas.wire.claude_transcript import JOURNAL_TYPES

_MESSAGES = ("user", "assistant", None)
"""Types of lines with a message; a damaged line may lack its type."""

_OF_OTHERS = ("session_id", "parent_tool_use_id", "usageMetadata", "systemPayload")
"""Fields of events of streams, and of Qwen Code's chat files."""


def is_line(value: dict[str, Any]) -> bool:
    """Whether an object is a line of a transcript. Raises nothing."""
    if "isSidechain" in value and "sessionId" in value:  # as nearly all have
        return "session_id" not in value
    kind, message = value.get("type"), value.get("message")
    if any(name in value for name in _OF_OTHERS) or not (kind is None or isinstance(kind, str)):
        return False
    has_session = isinstance(value.get("sessionId"), str)
    if isinstance(message, dict):
        is_known = has_session or "isSidechain" in value or (kind is not None and "timestamp" in value)
        return is_known and kind in _MESSAGES and "parts" not in message
    return _is_without_message(value, kind, has_session=has_session)


def _is_without_message(value: dict[str, Any], kind: object, *, has_session: bool) -> bool:
    if kind == "summary":
        return "leafUuid" in value
    if kind == "file-history-snapshot":
        return "messageId" in value
    if kind in JOURNAL_TYPES:
        return "agentId" in value and FIGURES.isdisjoint(value)
    return isinstance(kind, str) and has_session
