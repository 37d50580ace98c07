"""The marks of a run: field names of result records, and events of agents' streams.

Used to find records in text, to say why a record is broken, and to tell a log from any other file.
"""

from __future__ import annotations

import re
from typing import Any

FIGURES = frozenset(("total_cost_usd", "cost_usd", "total_cost", "num_turns", "modelUsage", "usage"))
"""Every result record has at least one of these fields, and its wall time."""

RECORD_FIELDS = ("total_cost_usd", "duration_api_ms", "num_turns")
"""Fields that are rare in any other JSON."""

WRAPPED_FIELDS = ("duration_ms", "total_cost_usd", "num_turns")
"""Every text with a record inside has at least one of these names."""

LEGIBLE_FIELDS = ("subtype", "is_error", "num_turns", "total_cost_usd", "duration_ms", "duration_api_ms")
"""Fields of a broken record that are quoted in its reject, where they can still be read."""

RESULT_START = '{"type":"result"'
"""The beginning of a record in newer versions."""

RECORD_MARK = re.compile(rf'"(?:type"\s*:\s*"result|{"|".join(RECORD_FIELDS)})"')
"""A field of a result record in the text of an object."""

EVENT_START = re.compile(r'\{"type"\s*:')
"""The beginning of an event."""

EVENT_TYPES = frozenset(
    {
        *("system", "assistant", "user", "stream_event", "rate_limit_event", "tool_progress", "tool_use_summary", "auth_status"),
        *("keep_alive", "control_request", "control_response", "control_cancel_request"),
    }
)
"""Types of the events of a stream. Logs hold other JSON with a `type` too, so any other type without a session proves no stream."""

_TRANSCRIPT_FIELDS = frozenset(("sessionId", "isSidechain"))
"""Fields of the messages in a session transcript of Claude Code, which its streams do not have."""

_QUOTE = r'(?:\\"|""|&quot;|&#34;|\x27)'
QUOTED_RECORD = re.compile(
    rf"{_QUOTE}total_cost_usd{_QUOTE}\s{{0,3}}:\s{{0,3}}(?:[\d.]|null|None)|\bResultMessage\([^\n]{{0,2000}}?total_cost_usd=(?:[\d.]|None)"
)
"""A field of a record with its figure, in quoted text: in a string of JSON, in CSV, in HTML, as a Python dict or an object of the SDK."""

_SESSIONS = ("session_id", "sessionId", "thread_id")
_CODEX = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed"})
_TYPE = '{"type":'
_BEGINNINGS = tuple(f'{_TYPE}"{kind}"' for kind in ("result", *sorted(EVENT_TYPES | _CODEX)))
_LONGEST_BEGINNING = 40
_EVENT_BEGINNING = re.compile(rf'\{{"type"\s*:\s*"(?:result|{"|".join(sorted(map(re.escape, EVENT_TYPES | _CODEX)))})"')


def is_agents_event(value: dict[str, Any]) -> bool:
    """Whether an object is an event of an agent's stream: it has a known type or names its session."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind in _CODEX or any(isinstance(value.get(name), str) for name in _SESSIONS):
        return True
    return kind in EVENT_TYPES and (isinstance(value.get("message"), dict) or isinstance(value.get("subtype"), str))


def is_transcript_event(value: dict[str, Any]) -> bool:
    """Whether an event is of a session transcript of Claude Code, as it keeps them under `~/.claude/projects`."""
    return value.keys() >= _TRANSCRIPT_FIELDS


def has_marks(text: str) -> bool:
    """Whether the text of a broken object has marks of a record or of an agent's event, or was cut off within its `type`."""
    return RECORD_MARK.search(text) is not None or _EVENT_BEGINNING.match(text) is not None or _is_cut_in_first(text.rstrip())


def _is_cut_in_first(text: str) -> bool:
    """Whether a text ends within the type at the beginning of an event."""
    return len(_TYPE) <= len(text) < _LONGEST_BEGINNING and any(start.startswith(text.replace(" ", "")) for start in _BEGINNINGS)
