"""By what a run is known: the field names of result records, and the events of agents' streams.

One place for all who ask: what finds records in text, what says why one is broken, what tells a log from any other file.
"""

from __future__ import annotations

import re
from typing import Any

FIGURES = frozenset(("total_cost_usd", "cost_usd", "total_cost", "num_turns", "modelUsage", "usage"))
"""Fields of which every result record has one, beside its wall time."""

RECORD_FIELDS = ("total_cost_usd", "duration_api_ms", "num_turns")
"""Fields that hardly any other JSON has."""

WRAPPED_FIELDS = ("duration_ms", "total_cost_usd", "num_turns")
"""Fields of which one stands in every text that holds a record."""

LEGIBLE_FIELDS = ("subtype", "is_error", "num_turns", "total_cost_usd", "duration_ms", "duration_api_ms")
"""Fields that are told of a record which is broken."""

RESULT = '{"type":"result"'
"""How newer versions begin a record."""

RECORD = re.compile(rf'"(?:type"\s*:\s*"result|{"|".join(RECORD_FIELDS)})"')
"""A mark of a result record in the text of an object."""

EVENT_START = re.compile(r'\{"type"\s*:')
"""How an event begins."""

EVENT_TYPES = frozenset(
    {
        *("system", "assistant", "user", "stream_event", "rate_limit_event", "tool_progress", "tool_use_summary", "auth_status"),
        *("keep_alive", "control_request", "control_response", "control_cancel_request"),
    }
)
"""Types of the events of a stream. Other JSON with a `type` is printed into logs too, so without a session it proves no stream."""

_QUOTE = r'(?:\\"|""|&quot;|&#34;|\x27)'
QUOTED_RECORD = re.compile(
    rf"{_QUOTE}total_cost_usd{_QUOTE}\s{{0,3}}:\s{{0,3}}(?:[\d.]|null|None)|\bResultMessage\([^\n]{{0,2000}}?total_cost_usd=(?:[\d.]|None)"
)
"""A field of a record and its figure in the quoted text of a log, in CSV, in HTML, and as Python prints a dict or the object of its SDK."""

_SESSIONS = ("session_id", "sessionId", "thread_id")
_CODEX = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed"})
_TYPE = '{"type":'
_BEGINNINGS = tuple(f'{_TYPE}"{kind}"' for kind in ("result", *sorted(EVENT_TYPES | _CODEX)))
_LONGEST_BEGINNING = 40
_EVENT_BEGINNING = re.compile(rf'\{{"type"\s*:\s*"(?:result|{"|".join(sorted(map(re.escape, EVENT_TYPES | _CODEX)))})"')


def is_agents_event(value: dict[str, Any]) -> bool:
    """Whether an object is an event of an agent's stream: it is of a known type or names its session."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind in _CODEX or any(isinstance(value.get(name), str) for name in _SESSIONS):
        return True
    return kind in EVENT_TYPES and (isinstance(value.get("message"), dict) or isinstance(value.get("subtype"), str))


def bears_marks(text: str) -> bool:
    """Whether the text of an object that cannot be read has the marks of a record or of an agent's event, or was cut in the first one."""
    return RECORD.search(text) is not None or _EVENT_BEGINNING.match(text) is not None or _is_cut_in_first(text.rstrip())


def _is_cut_in_first(text: str) -> bool:
    """Whether a text ends within the type that an event begins with."""
    return len(_TYPE) <= len(text) < _LONGEST_BEGINNING and any(start.startswith(text.replace(" ", "")) for start in _BEGINNINGS)
