"""An older session file of the Copilot CLI (`history-session-state/session_*.json`, until late 2025) → a run without tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.copilot.events import run_id
from ingest.agents.kept_run import found, kept
from ingest.agents.shared.runs import ToolCounts, merged, milliseconds_between, wire_record
from ingest.sources.document import Document
from ingest.sources.times import event_time
from schemas.agents import COPILOT
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.copilot import CopilotHistory

_NAMES = frozenset(("sessionId", "chatMessages", "timeline"))
_MOST_ITEMS = 1000
"""The file is written again as the session goes on: one with more items is a later state, up to this many."""


class CopilotHistories(AgentReader):
    """Older session files, one object each."""

    agent: ClassVar[str] = COPILOT.key

    @staticmethod
    def recognises(document: Document) -> bool:
        return all(name in document.value for name in _NAMES)

    def feed(self, document: Document) -> Iterable[Found]:
        return (found(document, kept(_kept(wire_record(CopilotHistory, document))), self._context_of),)


def _kept(record: CopilotHistory) -> dict[str, Any]:
    """The log does not say how the session ended."""
    times = [time for item in record.timeline if (time := event_time(item.timestamp))]
    started_at = event_time(record.start_time) or min(times, default=None)
    ended_at = max(times, default=None)
    asked = [item.text for item in record.timeline if item.type == "user"]
    said = [item.text for item in record.timeline if item.type == "copilot" and item.text and item.text.strip()]
    return {
        "run_id": run_id(record.session_id, str(record.start_time)),
        "agent": COPILOT.key,
        "record_kind": RecordKind.TRANSCRIPT,
        "rank": min(len(record.timeline), _MOST_ITEMS),
        "session_id": record.session_id,
        "started_at": started_at,
        "ended_at": ended_at,
        "duration_ms": milliseconds_between(started_at, ended_at),
        "num_turns": len(asked) or None,
        "outcome": Outcome.UNKNOWN,
        "errors": [item.text for item in record.timeline if item.type == "error" and item.text],
        "prompt": next(filter(None, asked), None),
        "final_text": said[-1] if said else None,
        "tool_calls": merged(_tools(record)),
    }


def _tools(record: CopilotHistory) -> ToolCounts:
    """A call is requested and completed under one id."""
    counts = ToolCounts()
    for item in record.timeline:
        if item.type in ("tool_call_requested", "tool_call_completed"):
            counts.called(item.call_id, item.name or "tool")
            if item.call_id and item.result and item.result.get("type", "success") != "success":
                counts.failed(item.call_id)
    return counts
