"""Gemini CLI's chat files → runs, one for each session: one object, or since 2026-04 lines that are appended.

A message is written again, with the same id, when the results of its tools arrive: its last version counts. `$set` may write all messages
again, and `$rewindTo` takes back a message and those behind it, which were paid nevertheless. Sub-agents have files of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import NO_TYPE, AgentReader, ContextOf, Found
from ingest.agents.kept_run import complaints, ended
from ingest.agents.shared.google_tokens import summed, text_of, tokens_of
from ingest.agents.shared.runs import ActiveTime, By, ToolCounts, canonical_hash, is_uuid, merged, milliseconds_between
from ingest.agents.shared.tokens import Tokens
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import GEMINI
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.gemini import MESSAGE_TYPES, ChatMessage, ChatSession, ChatTokens

MESSAGES_KEPT = 50_000
"""Messages of a session that may be written again. Of more, the oldest count as they were."""
TEXTS_KEPT = 256
_UNCOUNTED = "Some responses of this model have no token counts."


@dataclass(slots=True)
class _Message:
    """What counts of a message."""

    type: str | None
    model: str | None
    tokens: Tokens | None


@dataclass
class _Session:
    """One session so far. `texts`: of the last messages, by id; None for those that are not the model's."""

    last: Document
    session_id: str | None = None
    is_subagent: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    active: ActiveTime = field(default_factory=ActiveTime)
    is_calling: bool = False
    messages: dict[str, _Message] = field(default_factory=dict)
    sums: dict[str | None, Tokens] = field(default_factory=dict)
    uncounted: dict[str | None, str] = field(default_factory=dict)
    turns: int = 0
    unread: bool = False
    prompt: str | None = None
    error: str | None = None
    texts: dict[str, str | None] = field(default_factory=dict)
    tools: ToolCounts = field(default_factory=ToolCounts)


class GeminiChat(AgentReader):
    """Chat files, `chats/session-*.json` and `.jsonl`."""

    agent: ClassVar[str] = GEMINI.key
    event_types: ClassVar[frozenset[str]] = MESSAGE_TYPES | {NO_TYPE}

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._session: _Session | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        if "type" in value:
            return "content" in value and isinstance(value.get("id"), str) and "timestamp" in value and "message" not in value
        return _is_header(value) or _is_update(value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        try:
            return self._read(document)
        except ValidationError as error:
            if self._session:
                self._session.unread = True
            raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error

    def _read(self, document: Document) -> Iterable[Found | Unreadable]:
        value = document.value
        if _is_header(value):
            return self._header(document, ChatSession.model_validate(value))
        if self._session is None and _is_update(value):
            return ()  # it sets something of another program
        session = self._session = self._session or _Session(document)
        if "$rewindTo" in value:
            _rewind(session, value["$rewindTo"])
        elif "$set" in value:
            _note_session(session, ChatSession.model_validate(value["$set"] or {}))
        else:
            _note(session, ChatMessage.model_validate(value))
        session.last = document
        return ()

    def _header(self, document: Document, header: ChatSession) -> Iterable[Found | Unreadable]:
        """The first line of a session, or all of it."""
        closed = tuple(self.end())
        self._session = _Session(document)
        _note_session(self._session, header)
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        if self._session:
            yield ended(self._session.last, _kept(self._session), self._context_of)
        self._session = None


def _is_header(value: dict[str, Any]) -> bool:
    return isinstance(value.get("sessionId"), str) and "projectHash" in value


def _is_update(value: dict[str, Any]) -> bool:
    return value.keys() in ({"$set"}, {"$rewindTo"})


def _note_session(session: _Session, told: ChatSession) -> None:
    session.session_id = told.session_id or session.session_id
    session.is_subagent = session.is_subagent or told.kind == "subagent"
    session.started_at = event_time(told.start_time) or session.started_at
    _note_time(session, told.last_updated)
    for message in told.messages:
        _note(session, message)


def _note_time(session: _Session, written: object) -> None:
    if time := event_time(written):
        session.started_at = session.started_at or time
        session.ended_at = max(time, session.ended_at or time)


def _note(session: _Session, message: ChatMessage) -> None:
    _note_time(session, message.timestamp)
    session.active.note(event_time(message.timestamp), _made_by(session, message))
    session.is_calling = bool(message.tool_calls)
    name = message.id or f"message {len(session.messages)}"
    is_new = name not in session.messages
    if len(session.messages) >= MESSAGES_KEPT and is_new:
        _count(session, session.messages.pop(next(iter(session.messages))))
    session.messages[name] = _Message(message.type, message.model, _tokens(message.tokens))
    text = text_of(message.content)
    if message.type == "user" and is_new:
        session.turns += 1
        session.prompt = session.prompt or text
    if message.type in ("user", "gemini", "error"):
        session.error = text if message.type == "error" else None
    session.texts[name] = text if message.type == "gemini" else None
    if len(session.texts) > TEXTS_KEPT:
        del session.texts[next(iter(session.texts))]
    for call in message.tool_calls or ():
        session.tools.called(call.id, call.name or "tool")
        if call.status == "error" and call.id:
            session.tools.failed(call.id)


def _made_by(session: _Session, message: ChatMessage) -> By:
    """Who made a message. The tools that the one before called ran until an answer came."""
    if message.type != "gemini":
        return By.OTHERS
    return By.TOOL if session.is_calling else By.MODEL


def _rewind(session: _Session, to: object) -> None:
    """The texts of a message and those behind it are taken back; of an unknown one all are. Their tokens were paid."""
    while session.texts and session.texts.popitem()[0] != to:
        pass


def _tokens(told: ChatTokens | None) -> Tokens | None:
    if told is None:
        return None
    return tokens_of(told.input, told.cached, told.output, told.thoughts, tool=told.tool, total=told.total)


def _count(session: _Session, message: _Message) -> None:
    """Add the tokens of a message for good."""
    if message.type != "gemini":
        return
    if message.tokens is None or not message.tokens.total:
        session.uncounted[message.model] = _UNCOUNTED
    session.sums[message.model] = session.sums.get(message.model, Tokens()) + (message.tokens or Tokens())


def _models(session: _Session) -> list[dict[str, Any]]:
    for message in session.messages.values():
        _count(session, message)
    if session.unread:
        session.uncounted |= dict.fromkeys(session.sums, "Some messages could not be read.")
    return summed(session.sums, session.uncounted)


def _kept(session: _Session) -> dict[str, Any]:
    """What is known of the session. A sub-agent has its name for an id, or in older versions the session of its parent."""
    started_at, ended_at = session.started_at, session.ended_at
    of_parent = session.is_subagent and is_uuid(session.session_id)
    is_own = is_uuid(session.session_id) and not of_parent
    told = {"session": session.session_id, "start": str(started_at)}
    return {
        "run_id": session.session_id if is_own else canonical_hash(told),
        "agent": GEMINI.key,
        "record_kind": RecordKind.TRANSCRIPT,
        "rank": 2,
        "session_id": None if of_parent else session.session_id,
        "parent_session_id": session.session_id if of_parent else None,
        "models": _models(session),
        "started_at": started_at,
        "ended_at": ended_at,
        "duration_ms": milliseconds_between(started_at, ended_at),
        "active_ms": session.active.ms,
        "num_turns": session.turns or None,
        "outcome": Outcome.UNKNOWN,
        "errors": [session.error] if session.error else [],
        "prompt": session.prompt,
        "final_text": next((text for text in reversed(session.texts.values()) if text), None),
        "tool_calls": merged(session.tools),
    }
