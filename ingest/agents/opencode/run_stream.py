"""The events of `opencode run --format json` → runs, one for each session.

There is no model and no end: steps are summed, and a run whose last step did not stop was interrupted. Sessions that the `task` tool
starts are not in the stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.kept_run import ended
from ingest.agents.opencode.steps import Steps, message_of, note_tool, outcome_of, run_id
from ingest.agents.shared.runs import ToolCounts, merged, milliseconds_between, wire_event, wire_record
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import OPENCODE
from schemas.errors import InvalidRecord
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.opencode import RUN_TYPES, OpenCodeError, OpenCodeEvent, OpenCodePart

SESSIONS_OPEN = 64
"""Sessions of one source that may be open at once; of more, the first one is taken as ended."""
STEPS_KEPT = 4096
"""Ends of steps that are remembered, since a log may repeat events."""

_IN_STEP = "The last step has no end."
_SUB_AGENTS = "Sessions that its task tool started are not in the stream."
_UNREADABLE = "A step could not be read."


@dataclass
class _Run:
    """The run of a session so far."""

    last: Document
    first_message: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    in_step: bool = False
    steps: Steps = field(default_factory=Steps)
    ends: dict[str, None] = field(default_factory=dict)
    reason: str | None = None
    error: OpenCodeError | None = None
    text: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)


class OpenCodeRun(AgentReader):
    """Streams of `opencode run --format json`."""

    agent: ClassVar[str] = OPENCODE.key
    event_types: ClassVar[frozenset[str]] = RUN_TYPES

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._open: dict[str, _Run] = {}
        self._last: _Run | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        return _is_event(document.value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        session: str = document.value["sessionID"]
        closed: tuple[Found | Unreadable, ...] = ()
        if session not in self._open and len(self._open) >= SESSIONS_OPEN:
            closed = (self._ended(next(iter(self._open))),)
        run = self._last = self._open.setdefault(session, _Run(document))
        try:
            _note(run, wire_record(OpenCodeEvent, document))
            run.last = document
        except InvalidRecord as error:
            run.steps.doubt(_UNREADABLE)
            return (*closed, document.refused(error.reason, error.detail))
        return closed

    def note(self, event: dict[str, Any]) -> bool:
        """Of the session of the event before: each run ends with its own last document."""
        if not _is_event(event) or self._last is None or self._open.get(event["sessionID"]) is not self._last:
            return False
        if told := wire_event(OpenCodeEvent, event):
            _note(self._last, told)
        return told is not None

    def noted(self, last: Document) -> None:
        if self._last:
            self._last.last = last

    def end(self) -> Iterator[Found | Unreadable]:
        for session in tuple(self._open):
            yield self._ended(session)

    def _ended(self, session: str) -> Found | Unreadable:
        run = self._open.pop(session)
        return ended(run.last, _kept(session, run), self._context_of)


def _is_event(event: dict[str, Any]) -> bool:
    is_event = event.get("type") in RUN_TYPES and isinstance(event.get("sessionID"), str)
    return is_event and ("error" in event or isinstance(event.get("part"), dict))


def _note(run: _Run, event: OpenCodeEvent) -> None:
    if time := event_time(event.timestamp):
        run.started_at = min(run.started_at or time, time)
        run.ended_at = max(run.ended_at or time, time)
    if event.type == "error":
        run.error = event.error or OpenCodeError()
    if part := event.part:
        run.first_message = run.first_message or part.message_id
        _note_part(run, event.type, part)


def _note_part(run: _Run, kind: str, part: OpenCodePart) -> None:
    if kind == "text":
        run.text = part.text if part.text and part.text.strip() else run.text
    elif kind == "tool_use":
        note_tool(run.tools, part)
        if part.tool == "task":
            run.steps.doubt(_SUB_AGENTS)
    elif kind == "step_start":
        run.in_step = True
    elif kind == "step_finish" and part.id not in run.ends:
        _note_end(run, part)


def _note_end(run: _Run, part: OpenCodePart) -> None:
    run.in_step, run.reason = False, part.reason
    if part.tokens:
        run.steps.add(part.tokens)
    run.steps.pay(part.cost)
    if part.id and part.id.startswith("prt_"):
        run.ends[part.id] = None
        if len(run.ends) > STEPS_KEPT:
            del run.ends[next(iter(run.ends))]


def _kept(session: str, run: _Run) -> dict[str, Any]:
    if run.in_step:
        run.steps.doubt(_IN_STEP)
    outcome = outcome_of(run.error, None if run.in_step else run.reason)
    own_id = run_id(session, run.first_message, str(run.started_at))
    return {
        "run_id": own_id,
        "agent": OPENCODE.key,
        "record_kind": RecordKind.STREAM,
        "rank": 2,
        "session_id": session,
        "models": [run.steps.as_model(None, None)],
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "duration_ms": milliseconds_between(run.started_at, run.ended_at),
        "num_turns": run.steps.count or None,
        "outcome": outcome,
        "is_error": bool(run.error) if outcome is not Outcome.INTERRUPTED else None,
        "ended_as": run.reason,
        "errors": [message_of(run.error)] if run.error else [],
        "cost_usd": run.steps.cost,
        "final_text": run.text,
        "tool_calls": merged(run.tools),
    }
