"""Facts about result records in the other events of their Claude Code stream.

The events are those of the SDK's typings (`SDKMessage` in @anthropic-ai/claude-agent-sdk, sdk.d.ts). User events of newer versions have a
`timestamp`, and so has every event of saved transcripts or of some wrappers. A stream may have millions of events, so
all but the rare init event are read by a few dict lookups.

A stream that ends without a result is that of a process that was killed, or a log that was cut. What the responses in it cost is known but
for the end of their output: most events tell only the output count of the beginning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, cast

from ingest.agents.base import NO_FACTS, RunFacts
from ingest.agents.claude_code.transcript_responses import Responses, Speaker
from ingest.agents.shared.runs import LONGEST_NAME, TOOLS_KEPT, ToolCounts, canonical_hash, merged
from ingest.agents.shared.texts import prompt_of
from ingest.sources.document import Document
from ingest.sources.times import event_time
from schemas.marks import EVENT_TYPES
from schemas.text import paired
from schemas.wire.claude_code_events import InitEvent
from schemas.wire.claude_transcript import Line, Message

SESSIONS_KEPT = 64
"""Sessions of one stream that are remembered. Of more, the one without events for the longest time is forgotten."""
_LONGEST_PATH = 4096


@dataclass(slots=True)
class Segment:
    """The events of one process since its last result: so far, those of a run that was cut off.

    `begun`: whether an agent began or answered in it. `started`: the message of each response that is being streamed in pieces, by the tool
    call of its sub-agent. `last`: the document of its last event.
    """

    first: datetime | None = None
    latest: datetime | None = None
    prompt: str | None = None
    text: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)
    responses: Responses = field(default_factory=partial(Responses, in_stream=True))
    started: dict[str | None, dict[str, Any]] = field(default_factory=dict)
    init_id: str | None = None
    first_event: dict[str, Any] | None = None
    begun: bool = False
    events: int = 0
    last: Document | None = None

    def at(self, time: datetime) -> None:
        """Note the time of an event. Events are slightly out of order, so the first one need not be the earliest."""
        if self.first is None or time < self.first:
            self.first = time
        if self.latest is None or time > self.latest:
            self.latest = time

    def ids(self, session_id: str | None) -> tuple[str, ...]:
        """The ids of the stream, the best first: by its init event, else by its first response, and as it was known before that came."""
        if not self.begun:
            return ()
        first = self.first_event if self.init_id is None else None
        marks = filter(None, (self.init_id or self.responses.first_id, first))
        return tuple(canonical_hash({"stream": mark, "session": session_id}) for mark in marks)


@dataclass(slots=True)
class Session:
    """One session so far. `init` and `is_claudes` are kept after a result; everything else starts again.

    `before`: segments before the current one without a result, which other processes wrote. `is_claudes`: whether an event of it
    is one that only Claude Code writes.
    """

    session_id: str | None = None
    init: RunFacts = NO_FACTS
    seen: bool = False
    is_claudes: bool = False
    segment: Segment = field(default_factory=Segment)
    before: list[Segment] = field(default_factory=list)

    def begin(self) -> None:
        """A process began: responses before it without a result are those of one that was cut off. Other events before it are its own."""
        if len(self.segment.responses):
            self.before.append(self.segment)
            self.segment = Segment()

    def end(self) -> Segment:
        """End with a result. Returns what it is the result of."""
        own, self.segment = self.segment, Segment()
        return own


@dataclass(frozen=True)
class CutOff:
    """A process whose stream ends without a result."""

    session_id: str | None
    init: RunFacts
    segment: Segment


class StreamContext:
    """Collects the facts of a stream event by event; besides the responses since the last result, in bounded memory.

    A stream is named after its beginning. Otherwise order matters in three ways only: a result ends the counts and times of its session, a
    later init replaces an earlier one field by field, and the result of a tool must follow its call. Events without a session belong to
    every session.
    """

    def __init__(self) -> None:
        self._unnamed = Session()
        self._sessions: dict[str, Session] = {}
        self._current_id: str | None = None
        self._current = self._unnamed
        self._cut: list[CutOff] = []

    def see(self, event: dict[str, Any], logged_at: datetime | None = None, document: Document | None = None) -> None:
        """Note an event. `logged_at`: the time in front of it in the log. Never raises, whatever the object is."""
        kind = event.get("type")
        if not isinstance(kind, str):
            return
        session_id = event.get("session_id") or event.get("sessionId")
        session = self._current if session_id == self._current_id else self._switch(session_id)
        if kind == "system" and event.get("subtype") == "init":
            session.begin()
        segment = session.segment
        segment.last, segment.events = document, segment.events + 1
        if segment.first_event is None and kind in EVENT_TYPES:
            segment.first_event = event
        stamp = event.get("timestamp")
        if time := event_time(stamp) if stamp is not None else logged_at:
            segment.at(time)
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
        ended = [self._unnamed] if session is None or session is self._unnamed else [session, self._unnamed]
        own = [each.end() for each in ended]
        for each in ended:
            self._cut_off(each, each.before)
            each.before = []
        facts = _facts(ended[0], self._unnamed, own)
        return replace(facts, ended_at=max(logged_at, facts.ended_at or logged_at)) if logged_at else facts

    def cut_off(self, *, at_end: bool = False) -> list[CutOff]:
        """The processes whose part of the stream ended without a result, each once; `at_end`: and of the stream there is no more."""
        if at_end:
            for session in (self._unnamed, *self._sessions.values()):
                self._cut_off(session, [*session.before, session.segment])
            self._sessions.clear()
        cut, self._cut = self._cut, []
        return cut

    def _cut_off(self, session: Session, segments: list[Segment]) -> None:
        if session.is_claudes:
            self._cut += [CutOff(session.session_id, session.init, segment) for segment in segments if segment.begun]

    def _switch(self, session_id: object) -> Session:
        """Make the session with that id the current one, and return it."""
        if not isinstance(session_id, str) or len(session_id) > LONGEST_NAME:
            self._current_id, self._current = None, self._unnamed
            return self._unnamed
        own: str = paired(session_id)  # as the session id of the record is read
        session = self._sessions.pop(own, None) or Session(own)
        if len(self._sessions) >= SESSIONS_KEPT:
            forgotten = self._sessions.pop(next(iter(self._sessions)))
            self._cut_off(forgotten, [*forgotten.before, forgotten.segment])
        self._sessions[own] = session
        self._current_id, self._current = own, session
        return session


def _facts(session: Session, unnamed: Session, segments: list[Segment]) -> RunFacts:
    """The facts of the segments of a session's process, together with those of events without a session."""
    own, shared = session.init, unnamed.init
    return RunFacts(
        agent_version=own.agent_version or shared.agent_version,
        requested_model=own.requested_model or shared.requested_model,
        cwd=own.cwd or shared.cwd,
        permission_mode=own.permission_mode or shared.permission_mode,
        tools=own.tools or shared.tools,
        prompt=next(filter(None, (each.prompt for each in segments)), None),
        started_at=min((each.first for each in segments if each.first), default=None),
        ended_at=max((each.latest for each in segments if each.latest), default=None),
        in_stream=session.seen or unnamed.seen,
        tool_calls=merged(*(each.tools for each in segments)),
        part_ids=tuple(one for each in segments for one in each.ids(session.session_id)),
        streamed_tokens=sum(each.responses.went_in() for each in segments) or None,
    )


_OF_OTHERS = ("total_tokens", "max_tokens")
"""Tokens that messages of Qwen Code and of Amp tell, which look like those of Claude Code."""


def _is_claudes(event: dict[str, Any], message: dict[str, Any]) -> bool:
    """Whether a message with tokens is one that only Claude Code writes."""
    usage = message["usage"]
    if not isinstance(usage, dict) or any(name in usage for name in _OF_OTHERS) or str(event.get("session_id")).startswith("T-"):
        return False
    return "parent_tool_use_id" in event or str(message.get("id")).startswith("msg_")


def _see_system(session: Session, event: dict[str, Any]) -> None:
    if event.get("subtype") != "init":
        return
    session.is_claudes = session.is_claudes or "claude_code_version" in event or {"permissionMode", "mcp_servers"} <= event.keys()
    session.segment.begun = True
    session.segment.init_id = _text_within(event.get("uuid"))
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


def _see_assistant(session: Session, event: dict[str, Any]) -> None:
    segment = session.segment
    message = event.get("message")
    if not isinstance(message, dict):
        return
    segment.begun = True
    if "usage" in message:
        session.is_claudes = session.is_claudes or _is_claudes(event, message)
        _respond(segment, event, message)
    text = None
    for block in _content(event):
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_use":
            tool = block.get("name")
            if isinstance(tool, str) and tool:
                segment.tools.called(_call_id(block.get("id")), tool)
        elif block.get("type") == "text" and isinstance(block.get("text"), str) and not event.get("parent_tool_use_id"):
            text = block["text"]
    segment.text = text or segment.text


def _respond(segment: Segment, event: dict[str, Any], message: dict[str, Any]) -> None:
    """Note the tokens of a response. Of a sub-agent only the call is known that started it."""
    agent = event.get("parent_tool_use_id")
    line = event | {"requestId": event["request_id"]} if "request_id" in event else event
    segment.responses.add(cast("Line", line), cast("Message", message), Speaker(agent is not None, _text_within(agent)))


def _see_piece(session: Session, event: dict[str, Any]) -> None:
    """A piece of a response that is being streamed: it begins with the tokens that went in, and ends with those that came out."""
    piece, agent = event.get("event"), _text_within(event.get("parent_tool_use_id"))
    if not isinstance(piece, dict):
        return
    started, message, usage = session.segment.started, piece.get("message"), piece.get("usage")
    if piece.get("type") == "message_start" and isinstance(message, dict):
        started[agent] = message
        _see_assistant(session, event | {"message": message})
    elif piece.get("type") == "message_delta" and isinstance(usage, dict) and (began := started.get(agent)):
        told = began.get("usage")
        known = told if isinstance(told, dict) and any(told.get(name) for name in _WENT_IN) else usage
        delta = piece.get("delta")
        whole = known | {name: usage[name] for name in _CAME_OUT if usage.get(name) is not None}
        reason = delta.get("stop_reason") if isinstance(delta, dict) else None
        _respond(session.segment, event, began | {"usage": whole, "stop_reason": reason, "content": []})


_WENT_IN = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_CAME_OUT = ("output_tokens", "output_tokens_details", "server_tool_use", "iterations")


def _see_user(session: Session, event: dict[str, Any]) -> None:
    segment = session.segment
    if segment.prompt is None:
        segment.prompt = prompt_of(event)
    for block in _content(event):
        if isinstance(block, dict) and block.get("is_error") is True and block.get("type") == "tool_result":
            call = _call_id(block.get("tool_use_id"))
            if call:
                segment.tools.failed(call)


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


_READERS: dict[str, Callable[[Session, dict[str, Any]], None]] = {
    "system": _see_system,
    "assistant": _see_assistant,
    "user": _see_user,
    "stream_event": _see_piece,
}
