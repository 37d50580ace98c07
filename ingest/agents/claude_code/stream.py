"""Facts about result records from the other events of their Claude Code stream.

The events are those of the SDK's typings (`SDKMessage` in @anthropic-ai/claude-agent-sdk,
sdk.d.ts). User events of newer versions have a `timestamp`, as have all events of saved transcripts
and of some wrappers. A stream may have millions of events, so all but the rare init event are read
with a few dict lookups.

A stream without a result comes from a killed process or a truncated log. The cost of its responses
is known except for the end of their output: most events have only the initial output count.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from ingest.agents.claude_code.responses import ClaudeResponses, Speaker
from ingest.agents.shared.runs import LONGEST_NAME, TOOLS_KEPT, ToolCounts, canonical_hash, merged
from ingest.agents.shared.texts import prompt_of
from ingest.facts import NO_FACTS, Facts
from ingest.sources.document import Document
from ingest.sources.times import event_time
from schemas.agents import CLAUDE_EVENT_TYPES
from schemas.text import paired

SESSIONS_KEPT = 64
"""Maximum number of sessions remembered per stream; beyond it, the one idle the longest is
forgotten.
"""
_LONGEST_PATH = 4096
_WENT_IN = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_CAME_OUT = ("output_tokens", "output_tokens_details", "server_tool_use", "iterations")


@dataclass(slots=True)
class StreamSegment:
    """The events of one process since its last result: so far, those of a run that was cut off.

    `begun`: whether an agent began or answered in it. `started`: the message of each response being
    streamed, by the tool call of its sub-agent. `last`: the document of its last event.
    """

    first: datetime | None = None
    latest: datetime | None = None
    prompt: str | None = None
    text: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)
    responses: ClaudeResponses = field(default_factory=partial(ClaudeResponses, in_stream=True))
    started: dict[str | None, dict[str, Any]] = field(default_factory=dict)
    init_id: str | None = None
    first_event: dict[str, Any] | None = None
    begun: bool = False
    events: int = 0
    last: Document | None = None

    def ids(self, session_id: str | None) -> tuple[str, ...]:
        """Return the ids of the stream, best first.

        From its init event, else from its first response, then its earlier ids.
        """
        if not self.begun:
            return ()
        first = self.first_event if self.init_id is None else None
        marks = filter(None, (self.init_id or self.responses.first_id, first))
        return tuple(canonical_hash({"stream": mark, "session": session_id}) for mark in marks)


@dataclass(slots=True)
class StreamSession:
    """One session so far. A result resets everything except `init` and `is_claudes`.

    `before`: earlier segments without a result, written by other processes. `is_claudes`: whether
    it has an event that only Claude Code writes.
    """

    session_id: str | None = None
    init: Facts = NO_FACTS
    seen: bool = False
    is_claudes: bool = False
    segment: StreamSegment = field(default_factory=StreamSegment)
    before: list[StreamSegment] = field(default_factory=list)

    def note_init(self, event: dict[str, Any]) -> None:
        """Read the settings at the start of the agent.

        Long-lived processes write them once per turn.
        """
        was = self.init
        self.is_claudes = (
            self.is_claudes
            or "claude_code_version" in event
            or {"permissionMode", "mcp_servers"} <= event.keys()
        )
        self.segment.begun = True
        self.segment.init_id = _text_within(event.get("uuid"))
        tools = event.get("tools")
        named = map(_text_within, paired(tools[:TOOLS_KEPT])) if isinstance(tools, list) else ()
        self.init = replace(
            was,
            agent_version=paired(_text_within(event.get("claude_code_version")))
            or was.agent_version,
            requested_model=paired(_text_within(event.get("model"))) or was.requested_model,
            cwd=paired(_text_within(event.get("cwd"), _LONGEST_PATH)) or was.cwd,
            permission_mode=paired(_text_within(event.get("permissionMode")))
            or was.permission_mode,
            tools=tuple(filter(None, named)) or was.tools,
        )

    def note_assistant(self, event: dict[str, Any]) -> None:
        """Read a model's message: tokens, tool calls and text.

        A sub-agent's text is never the final text.
        """
        segment, message = self.segment, event.get("message")
        if not isinstance(message, dict):
            return
        segment.begun = True
        if "usage" in message:
            self.is_claudes = self.is_claudes or _is_claudes(event, message)
            self._respond(event, message)
        content, text = message.get("content"), None
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_use":
                tool = block.get("name")
                if isinstance(tool, str) and tool:
                    segment.tools.called(_text_within(block.get("id")), tool)
            elif (
                block.get("type") == "text"
                and isinstance(block.get("text"), str)
                and not event.get("parent_tool_use_id")
            ):
                text = block["text"]
        segment.text = text or segment.text

    def _respond(self, event: dict[str, Any], message: dict[str, Any]) -> None:
        """Count the tokens of a response. A sub-agent is only known by the call that started it."""
        agent = event.get("parent_tool_use_id")
        line = event | {"requestId": event["request_id"]} if "request_id" in event else event
        self.segment.responses.add(line, message, Speaker(agent is not None, _text_within(agent)))

    def note_piece(self, event: dict[str, Any]) -> None:
        """Read a piece of a streamed response.

        The first has the input tokens, the last the output tokens.
        """
        piece, agent = event.get("event"), _text_within(event.get("parent_tool_use_id"))
        if not isinstance(piece, dict):
            return
        started, message, usage = self.segment.started, piece.get("message"), piece.get("usage")
        if piece.get("type") == "message_start" and isinstance(message, dict):
            started[agent] = message
            self.note_assistant(event | {"message": message})
        elif (
            piece.get("type") == "message_delta"
            and isinstance(usage, dict)
            and (began := started.get(agent))
        ):
            first = began.get("usage")
            known = (
                first
                if isinstance(first, dict) and any(first.get(name) for name in _WENT_IN)
                else usage
            )
            delta = piece.get("delta")
            whole = known | {name: usage[name] for name in _CAME_OUT if usage.get(name) is not None}
            reason = delta.get("stop_reason") if isinstance(delta, dict) else None
            self._respond(event, began | {"usage": whole, "stop_reason": reason, "content": []})

    def note_user(self, event: dict[str, Any]) -> None:
        segment, message = self.segment, event.get("message")
        if segment.prompt is None:
            segment.prompt = prompt_of(event)
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if (
                isinstance(block, dict)
                and block.get("is_error") is True
                and block.get("type") == "tool_result"
            ):
                call = _text_within(block.get("tool_use_id"))
                if call:
                    segment.tools.failed(call)


@dataclass(frozen=True)
class CutOff:
    """A process that ended without a result."""

    session_id: str | None
    init: Facts
    segment: StreamSegment


class StreamContext:
    """Collects the facts of a stream event by event, in bounded memory.

    Only the responses since the last result are unbounded.

    A stream is named after its beginning. Otherwise order matters in three ways only: a result
    resets the counts and times of its session, a later init replaces an earlier one field by field,
    and the result of a tool must follow its call. Events without a session belong to every session.
    """

    def __init__(self) -> None:
        self._unnamed = StreamSession()
        self._sessions: dict[str, StreamSession] = {}
        self._current_id: str | None = None
        self._current = self._unnamed
        self._cut: list[CutOff] = []

    def see(
        self,
        event: dict[str, Any],
        logged_at: datetime | None = None,
        document: Document | None = None,
    ) -> None:
        """Read an event. `logged_at`: the time in front of it in the log.

        Never raises, whatever the object is.
        """
        kind = event.get("type")
        if not isinstance(kind, str):
            return
        session_id = event.get("session_id") or event.get("sessionId")
        session = self._current if session_id == self._current_id else self._switch(session_id)
        is_init = kind == "system" and event.get("subtype") == "init"
        if is_init and len(
            session.segment.responses
        ):  # those before it without a result are of a process that was cut off
            session.before.append(session.segment)
            session.segment = StreamSegment()
        segment = session.segment
        segment.last, segment.events = document, segment.events + 1
        if segment.first_event is None and kind in CLAUDE_EVENT_TYPES:
            segment.first_event = event
        stamp = event.get("timestamp")
        if (
            time := event_time(stamp) if stamp is not None else logged_at
        ):  # events are slightly out of order
            if segment.first is None or time < segment.first:
                segment.first = time
            if segment.latest is None or time > segment.latest:
                segment.latest = time
        if not session.seen:
            session.seen = kind != "result" and (
                session is not self._unnamed or kind in CLAUDE_EVENT_TYPES
            )
        if kind == "assistant":
            session.note_assistant(event)
        elif kind == "user":
            session.note_user(event)
        elif kind == "stream_event":
            session.note_piece(event)
        elif is_init:
            session.note_init(event)

    def at_result(self, session_id: str | None, logged_at: datetime | None = None) -> Facts:
        """Return the facts about the next result record, and reset counts and times.

        They are reset for the session's next result.

        A record without a session belongs to the session of the last event. The result event itself
        may be read before or after: only its `timestamp` or log time counts.
        """
        unnamed, session = (
            self._unnamed,
            self._sessions.get(session_id) if session_id else self._current,
        )
        ended = [unnamed] if session is None or session is unnamed else [session, unnamed]
        segments = [each.segment for each in ended]
        for each in ended:
            self._cut_off(each, each.before)
            each.segment, each.before = StreamSegment(), []
        own, shared = ended[0].init, unnamed.init
        latest = [each.latest for each in segments if each.latest] + (
            [logged_at] if logged_at else []
        )
        return Facts(
            agent_version=own.agent_version or shared.agent_version,
            requested_model=own.requested_model or shared.requested_model,
            cwd=own.cwd or shared.cwd,
            permission_mode=own.permission_mode or shared.permission_mode,
            tools=own.tools or shared.tools,
            prompt=next(filter(None, (each.prompt for each in segments)), None),
            started_at=min((each.first for each in segments if each.first), default=None),
            ended_at=max(latest, default=None),
            in_stream=ended[0].seen or unnamed.seen,
            tool_calls=merged(*(each.tools for each in segments)),
            part_ids=tuple(one for each in segments for one in each.ids(ended[0].session_id)),
            streamed_tokens=sum(each.responses.went_in() for each in segments) or None,
        )

    def end(self) -> list[CutOff]:
        """Return the processes that ended without a result, at the end of the stream."""
        for session in (self._unnamed, *self._sessions.values()):
            self._cut_off(session, [*session.before, session.segment])
        return self._cut

    def _cut_off(self, session: StreamSession, segments: list[StreamSegment]) -> None:
        if session.is_claudes:
            self._cut += [
                CutOff(session.session_id, session.init, segment)
                for segment in segments
                if segment.begun
            ]

    def _switch(self, session_id: object) -> StreamSession:
        """Make the session with that id the current one, and return it."""
        if not isinstance(session_id, str) or len(session_id) > LONGEST_NAME:
            self._current_id, self._current = None, self._unnamed
            return self._unnamed
        own: str = paired(session_id)  # as the session id of the record is read
        session = self._sessions.pop(own, None) or StreamSession(own)
        if len(self._sessions) >= SESSIONS_KEPT:
            forgotten = self._sessions.pop(next(iter(self._sessions)))
            self._cut_off(forgotten, [*forgotten.before, forgotten.segment])
        self._sessions[own] = session
        self._current_id, self._current = own, session
        return session


def _is_claudes(event: dict[str, Any], message: dict[str, Any]) -> bool:
    """Return whether only Claude Code writes such a message with tokens.

    Qwen Code's and Amp's look alike but contain totals.
    """
    usage = message["usage"]
    if (
        not isinstance(usage, dict)
        or "total_tokens" in usage
        or "max_tokens" in usage
        or str(event.get("session_id")).startswith("T-")
    ):
        return False
    return "parent_tool_use_id" in event or str(message.get("id")).startswith("msg_")


def _text_within(value: object, longest: int = LONGEST_NAME) -> str | None:
    """Return a text of plausible length, or None for anything else."""
    return value if isinstance(value, str) and 0 < len(value) <= longest else None
