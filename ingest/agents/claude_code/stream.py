"""Facts about result records in the other events of their Claude Code stream.

The events are those of the SDK's typings (`SDKMessage` in @anthropic-ai/claude-agent-sdk, sdk.d.ts). User events of newer versions have a
`timestamp`, and so has every event of saved transcripts or of some wrappers. A stream may have millions of events, so
all but the rare init event are read by a few dict lookups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ingest.agents.base import NO_FACTS, RunFacts
from ingest.agents.shared.prompts import prompt_of
from ingest.agents.shared.tool_counts import LONGEST_NAME, TOOLS_KEPT, ToolCounts, merged
from ingest.documents.times import event_time
from schemas.marks import EVENT_TYPES
from schemas.text import paired
from schemas.wire.agents.claude_code_events import InitEvent

SESSIONS_KEPT = 64
"""Sessions of one stream that are remembered. Of more, the one without events for the longest time is forgotten."""
_LONGEST_PATH = 4096


@dataclass(slots=True)
class _Session:
    """One session so far. `init` is kept after a result; everything else starts again."""

    init: RunFacts = NO_FACTS
    seen: bool = False
    first: datetime | None = None
    last: datetime | None = None
    prompt: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)

    def at(self, time: datetime) -> None:
        """Note the time of an event. Events are slightly out of order, so the first one need not be the earliest."""
        if self.first is None or time < self.first:
            self.first = time
        if self.last is None or time > self.last:
            self.last = time

    def renew(self) -> None:
        """Start again after a result."""
        self.first = self.last = self.prompt = None
        self.tools = ToolCounts()


class StreamContext:
    """Collects the facts of a stream event by event, in bounded memory.

    Order matters in three ways only: a result ends the counts and times of its session, a later init replaces an earlier one
    field by field, and the result of a tool must follow its call. Events without a session belong to every session.
    """

    def __init__(self) -> None:
        self._unnamed = _Session()
        self._sessions: dict[str, _Session] = {}
        self._current_id: str | None = None
        self._current = self._unnamed

    def see(self, event: dict[str, Any], logged_at: datetime | None = None) -> None:
        """Note an event. `logged_at`: the time in front of it in the log. Never raises, whatever the object is."""
        kind = event.get("type")
        if not isinstance(kind, str):
            return
        session_id = event.get("session_id") or event.get("sessionId")
        session = self._current if session_id == self._current_id else self._switch(session_id)
        stamp = event.get("timestamp")
        if time := event_time(stamp) if stamp is not None else logged_at:
            session.at(time)
        if not session.seen:
            session.seen = kind != "result" and (session is not self._unnamed or kind in EVENT_TYPES)
        if reader := _READERS.get(kind):
            reader(session, event)

    def at_result(self, session_id: str | None, logged_at: datetime | None = None) -> RunFacts:
        """The facts about the next result record. Counts and times then start again for the session's next result.

        A record without a session belongs to the session of the last event. The result event itself may be noted before or after: only
        its `timestamp` or log time counts.
        """
        session = self._sessions.get(session_id) if session_id else self._current
        facts = _facts(session or self._unnamed, self._unnamed)
        for ended in (session, self._unnamed):
            if ended:
                ended.renew()
        return replace(facts, ended_at=max(logged_at, facts.ended_at or logged_at)) if logged_at else facts

    def _switch(self, session_id: object) -> _Session:
        """Make the session with that id the current one, and return it."""
        if not isinstance(session_id, str) or len(session_id) > LONGEST_NAME:
            self._current_id, self._current = None, self._unnamed
            return self._unnamed
        own: str = paired(session_id)  # as the session id of the record is read
        session = self._sessions.pop(own, None) or _Session()
        if len(self._sessions) >= SESSIONS_KEPT:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[own] = session
        self._current_id, self._current = own, session
        return session


def _facts(session: _Session, unnamed: _Session) -> RunFacts:
    """A session's facts, together with those of events without a session."""
    both = (session,) if session is unnamed else (session, unnamed)
    own, shared = session.init, unnamed.init
    return RunFacts(
        agent_version=own.agent_version or shared.agent_version,
        requested_model=own.requested_model or shared.requested_model,
        cwd=own.cwd or shared.cwd,
        permission_mode=own.permission_mode or shared.permission_mode,
        tools=own.tools or shared.tools,
        prompt=session.prompt or unnamed.prompt,
        started_at=min((each.first for each in both if each.first), default=None),
        ended_at=max((each.last for each in both if each.last), default=None),
        in_stream=any(each.seen for each in both),
        tool_calls=merged(*(each.tools for each in both)),
    )


def _see_system(session: _Session, event: dict[str, Any]) -> None:
    if event.get("subtype") != "init":
        return
    init = InitEvent.model_validate(paired(event))
    was = session.init
    session.init = replace(
        was,
        agent_version=_text_within(init.claude_code_version) or was.agent_version,
        requested_model=_text_within(init.model) or was.requested_model,
        cwd=_text_within(init.cwd, _LONGEST_PATH) or was.cwd,
        permission_mode=_text_within(init.permission_mode) or was.permission_mode,
        tools=tuple(filter(None, map(_text_within, (init.tools or [])[:TOOLS_KEPT]))) or was.tools,
    )


def _see_assistant(session: _Session, event: dict[str, Any]) -> None:
    for block in _content(event):
        if isinstance(block, dict) and block.get("type") == "tool_use":
            tool = block.get("name")
            if isinstance(tool, str) and tool:
                session.tools.called(_call_id(block.get("id")), tool)


def _see_user(session: _Session, event: dict[str, Any]) -> None:
    if session.prompt is None:
        session.prompt = prompt_of(event)
    for block in _content(event):
        if isinstance(block, dict) and block.get("is_error") is True and block.get("type") == "tool_result":
            call = _call_id(block.get("tool_use_id"))
            if call:
                session.tools.failed(call)


def _content(event: dict[str, Any]) -> list[Any]:
    """The blocks of an event's message; none where its content is plain text."""
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def _call_id(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= LONGEST_NAME else None


def _text_within(value: object, longest: int = LONGEST_NAME) -> str | None:
    """A text of plausible length; None for anything else."""
    return value if isinstance(value, str) and 0 < len(value) <= longest else None


_READERS: dict[str, Callable[[_Session, dict[str, Any]], None]] = {
    "system": _see_system,
    "assistant": _see_assistant,
    "user": _see_user,
}
