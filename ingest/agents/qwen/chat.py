"""Qwen Code's chat files → runs, one for each session.

The lines look like those of Claude Code's transcripts, but messages have `parts`, and tokens Google's names. A line that is written again
after a resume, with its id, counts once. The time of the model's API is told by lines of telemetry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.kept_run import ended
from ingest.agents.shared.google_tokens import summed, text_of, tokens_of
from ingest.agents.shared.runs import ActiveTime, By, ToolCounts, canonical_hash, is_uuid, merged, milliseconds_between, wire_record
from ingest.agents.shared.tokens import Tokens
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import QWEN
from schemas.errors import InvalidRecord
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.qwen import CHAT_TYPES, QwenChatLine, QwenUsageMetadata

LINES_KEPT = 100_000
"""Lines of a session that are remembered, to count each once."""
_UNCOUNTED = "Some responses of this model have no token counts."
_RESPONSE = "qwen-code.api_response"


@dataclass
class _Session:
    """One session so far. `seen`: id of a line → its time and tokens."""

    last: Document
    session_id: str | None
    seen: dict[str, tuple[object, Tokens | None]] = field(default_factory=dict)
    sums: dict[str | None, Tokens] = field(default_factory=dict)
    uncounted: dict[str | None, str] = field(default_factory=dict)
    started_at: datetime | None = None
    ended_at: datetime | None = None
    active: ActiveTime = field(default_factory=ActiveTime)
    api_ms: float | None = None
    turns: int = 0
    unread: bool = False
    version: str | None = None
    cwd: str | None = None
    branch: str | None = None
    prompt: str | None = None
    text: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)


class QwenChat(AgentReader):
    """Chat files, `~/.qwen/projects/*/chats/*.jsonl`."""

    agent: ClassVar[str] = QWEN.key
    event_types: ClassVar[frozenset[str]] = CHAT_TYPES

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._session: _Session | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        message = value.get("message")
        has_parts = isinstance(message, dict) and "parts" in message
        return isinstance(value.get("sessionId"), str) and (has_parts or "systemPayload" in value or "usageMetadata" in value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        try:
            line = wire_record(QwenChatLine, document)
        except InvalidRecord:
            if self._session:
                self._session.unread = True
            raise
        closed: tuple[Found | Unreadable, ...] = ()
        if self._session is None or line.session_id != self._session.session_id:
            closed = tuple(self.end())
            self._session = _Session(document, line.session_id)
        self._session.last = document
        _note(self._session, line)
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        if self._session:
            yield ended(self._session.last, _kept(self._session), self._context_of)
        self._session = None


def _note(session: _Session, line: QwenChatLine) -> None:
    tokens = _tokens(line.usage_metadata)
    if _is_seen(session, line, tokens):
        return
    if time := event_time(line.timestamp):
        session.started_at = min(time, session.started_at or time)
        session.ended_at = max(time, session.ended_at or time)
        session.active.note(time, {"assistant": By.MODEL, "tool_result": By.TOOL}.get(line.type, By.OTHERS))
    session.version, session.cwd = line.version or session.version, line.cwd or session.cwd
    session.branch = line.git_branch or session.branch
    if line.type == "assistant":
        _note_answer(session, line, tokens)
    elif note := _NOTES.get(line.type):
        note(session, line)


def _is_seen(session: _Session, line: QwenChatLine, tokens: Tokens | None) -> bool:
    """Whether the line is a copy: its id was seen, with the same time or the same tokens."""
    if line.uuid is None:
        return False
    time, spent = session.seen.get(line.uuid, (None, None))
    if line.uuid in session.seen and (time == line.timestamp or spent == tokens):
        return True
    if len(session.seen) >= LINES_KEPT:
        del session.seen[next(iter(session.seen))]
    session.seen[line.uuid] = (line.timestamp, tokens)
    return False


def _tokens(told: QwenUsageMetadata | None) -> Tokens | None:
    if told is None:
        return None
    prompt, cached = told.prompt_token_count, told.cached_content_token_count
    more = {"tool": told.tool_use_prompt_token_count, "total": told.total_token_count}
    return tokens_of(prompt, cached, told.candidates_token_count, told.thoughts_token_count, **more)


def _note_answer(session: _Session, line: QwenChatLine, tokens: Tokens | None) -> None:
    if tokens is None or not tokens.total:
        session.uncounted[line.model] = _UNCOUNTED
    session.sums[line.model] = session.sums.get(line.model, Tokens()) + (tokens or Tokens())
    parts = line.message.parts if line.message else None
    session.text = text_of(parts) or session.text
    for part in parts if isinstance(parts, list) else ():
        call = part.get("functionCall") if isinstance(part, dict) else None
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            session.tools.called(call["id"] if isinstance(call.get("id"), str) else None, call["name"])


def _note_user(session: _Session, line: QwenChatLine) -> None:
    session.turns += 1
    session.prompt = session.prompt or text_of(line.message.parts if line.message else None)


def _note_tool_result(session: _Session, line: QwenChatLine) -> None:
    told = line.tool_call_result
    if told and told.status == "error" and told.call_id:
        session.tools.failed(told.call_id)


def _note_system(session: _Session, line: QwenChatLine) -> None:
    told = line.system_payload.ui_event if line.system_payload else None
    if told and told.name == _RESPONSE and told.duration_ms is not None:
        session.api_ms = (session.api_ms or 0) + told.duration_ms


_NOTES = {"user": _note_user, "tool_result": _note_tool_result, "system": _note_system}


def _kept(session: _Session) -> dict[str, Any]:
    if session.unread:
        session.uncounted |= dict.fromkeys(session.sums, "Some lines could not be read.")
    told = {"session": session.session_id, "start": str(session.started_at)}
    return {
        "run_id": session.session_id if is_uuid(session.session_id) else canonical_hash(told),
        "agent": QWEN.key,
        "record_kind": RecordKind.TRANSCRIPT,
        "rank": 2,
        "agent_version": session.version,
        "session_id": session.session_id,
        "models": summed(session.sums, session.uncounted),
        "started_at": session.started_at,
        "ended_at": session.ended_at,
        "duration_ms": milliseconds_between(session.started_at, session.ended_at),
        "active_ms": session.active.ms,
        "duration_api_ms": None if session.api_ms is None else round(session.api_ms),
        "num_turns": session.turns or None,
        "outcome": Outcome.UNKNOWN,
        "branch": session.branch,
        "cwd": session.cwd,
        "prompt": session.prompt,
        "final_text": session.text,
        "tool_calls": merged(session.tools),
    }
