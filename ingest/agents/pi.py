"""Pi's session files and the events of `pi --mode json` → runs, one for each session.

A session file is a tree since version 2: all branches were paid, but the final text is that of the last one. A session that was branched
from another begins with a copy of its lines, which are older than its header. Without such a header older lines are its own, since the
header is only written with the first response. A stream repeats each message up to four times: `message_end` counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.kept_run import ended
from ingest.agents.shared.runs import ActiveTime, By, ToolCounts, canonical_hash, is_uuid, merged, milliseconds_between, wire_record
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import PI
from schemas.errors import InvalidRecord
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.pi import ENTRY_TYPES, PiLine, PiMessage, PiUsage

LINES_KEPT = 4096
"""Lines whose place in the tree is remembered."""

_UNTOLD_CALLS = "The log does not tell the tokens of the calls that summarized its history."
_UNREADABLE = "Some messages could not be read."
_PAID = frozenset(("compaction", "branch_summary"))
_OUTCOMES = {"stop": Outcome.COMPLETED, "length": Outcome.INTERRUPTED, "toolUse": Outcome.INTERRUPTED, "aborted": Outcome.INTERRUPTED}
_NO_ANSWER = "No response of the model is in the log."
_RESUMED_AFTER = timedelta(minutes=1)
_FILE_OF_PARENT = re.compile(r"([0-9a-f]{8}-[0-9a-f-]{27})(?:\.jsonl)?$")
_V1_FIELDS = {"compaction": "tokensBefore", "model_change": "modelId", "thinking_level_change": "thinkingLevel"}

Key = tuple[str | None, str | None]
"""(model, provider)"""


@dataclass
class _Session:
    """One session so far. `is_open`: an answer is to come. `texts`: the last text of the model up to each line, by the id of the line."""

    last: Document
    header: PiLine | None = None
    is_stream: bool = False
    is_open: bool = True
    first: dict[str, Any] = field(default_factory=dict)
    started_at: datetime | None = None
    ended_at: datetime | None = None
    active: ActiveTime = field(default_factory=ActiveTime)
    used: dict[Key, Tokens] = field(default_factory=dict)
    costs: dict[Key, Decimal] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    turns: int = 0
    api_ms: float | None = None
    reason: str | None = None
    error: str | None = None
    prompt: str | None = None
    copied_prompt: str | None = None
    text: str | None = None
    texts: dict[str, str | None] = field(default_factory=dict)
    tools: ToolCounts = field(default_factory=ToolCounts)


class Pi(AgentReader):
    """Session files and streams."""

    agent: ClassVar[str] = PI.key
    event_types: ClassVar[frozenset[str]] = ENTRY_TYPES | {"session", "message_end"}

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._session: _Session | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        """A header, a message with the time of its line or the tokens of a response, or any other line of the tree."""
        value = document.value
        kind, message = value["type"], value.get("message")
        if kind == "session":
            return isinstance(value.get("id"), str) and isinstance(value.get("cwd"), str) and event_time(value.get("timestamp")) is not None
        if isinstance(message, dict):
            told = message.get("usage")
            is_answer = message.get("role") == "assistant" and isinstance(told, dict) and "cacheRead" in told
            return is_answer or (isinstance(message.get("role"), str) and (kind == "message_end" or "timestamp" in message))
        return "timestamp" in value and (_V1_FIELDS.get(kind, "type") in value.keys() - {"type"} or value.keys() >= {"id", "parentId"})

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        if document.value["type"] == "session":
            closed = tuple(self.end())
            header = wire_record(PiLine, document)
            self._session = _Session(document, header)
            return closed
        try:
            line = wire_record(PiLine, document)
        except InvalidRecord:
            if self._session:
                self._session.doubts[_UNREADABLE] = None
            raise
        if self._session is None and not (line.message and line.message.usage):
            return ()  # the line of another program, or in front of what is left of a session
        self._session = self._session or _Session(document)
        self._session.last = document
        _note(self._session, line)
        return ()

    def end(self) -> Iterator[Found | Unreadable]:
        """A header alone is a run that was killed, where it says that it is Pi's."""
        header = self._session.header if self._session else None
        if self._session and (self._session.first or not header or header.version is not None or header.model_id):
            yield ended(self._session.last, _kept(self._session), self._context_of)
        self._session = None


def _note(session: _Session, line: PiLine) -> None:
    message = line.message
    session.is_stream = session.is_stream or line.type == "message_end"
    if line.id:
        session.text = session.texts.get(line.parent_id or "")
    if _is_copied(session, line):
        session.copied_prompt = session.copied_prompt or (text_of(message.content) if message and message.role == "user" else None)
    elif message:
        _note_message(session, line, message)
    elif line.type in _PAID and not line.from_hook:
        _note_summary(session, line.usage)
    if line.id:
        session.texts[line.id] = session.text
        if len(session.texts) > LINES_KEPT:
            del session.texts[next(iter(session.texts))]


def _is_copied(session: _Session, line: PiLine) -> bool:
    """Whether the line is one of the session it was branched from."""
    header = session.header
    if not header or not _parent_file(header):
        return False
    began_at, written_at = event_time(header.timestamp), event_time(line.timestamp)
    return began_at is not None and written_at is not None and written_at < began_at


def _note_message(session: _Session, line: PiLine, message: PiMessage) -> None:
    if time := event_time(message.timestamp) or event_time(line.timestamp):
        session.started_at = min(time, session.started_at or time)
        session.ended_at = max(time, session.ended_at or time)
        session.active.note(time, {"assistant": By.MODEL, "toolResult": By.TOOL}.get(message.role or "", By.OTHERS))
    session.first = session.first or _first(message)
    if message.role == "user":
        session.turns += 1
        session.prompt = session.prompt or text_of(message.content)
        session.is_open, session.reason, session.error = True, None, None
    elif message.role == "toolResult":
        session.tools.called(message.tool_call_id, message.tool_name or "tool")
        if message.is_error and message.tool_call_id:
            session.tools.failed(message.tool_call_id)
    elif message.role == "assistant":
        _note_answer(session, message)


def _note_answer(session: _Session, message: PiMessage) -> None:
    key = message.model, message.provider
    session.text = text_of(message.content) or session.text
    session.is_open, session.reason, session.error = False, message.stop_reason, message.error_message
    if message.duration is not None:
        session.api_ms = (session.api_ms or 0) + message.duration
    if message.usage:
        _count(session, key, message.usage)


def _count(session: _Session, key: Key, usage: PiUsage) -> None:
    tokens = Tokens(usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning_tokens)
    session.used[key] = session.used[key] + tokens if key in session.used else tokens
    if usage.cost and usage.cost.total is not None:
        session.costs[key] = session.costs.get(key, Decimal()) + usage.cost.total


def _note_summary(session: _Session, usage: PiUsage | None) -> None:
    """A summary was written by the model that is in use; the log rarely tells its tokens."""
    if usage and session.used:
        _count(session, next(reversed(session.used)), usage)
    else:
        session.doubts[_UNTOLD_CALLS] = None


def text_of(content: Any) -> str | None:
    """The texts of a message, without thoughts and tool calls."""
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str) and text) or None


def _first(message: PiMessage) -> dict[str, Any]:
    """What tells a session without an id from any other."""
    usage = message.usage.model_dump(mode="json") if message.usage else None
    return {"time": message.timestamp, "role": message.role, "text": text_of(message.content), "usage": usage}


def _kept(session: _Session) -> dict[str, Any]:
    header = session.header or PiLine(type="session")
    outcome = _outcome(session)
    return {
        "run_id": _run_id(session, header),
        "agent": PI.key,
        "record_kind": RecordKind.STREAM if session.is_stream else RecordKind.TRANSCRIPT,
        "rank": 2 if session.first else 1,
        "session_id": header.id,
        "parent_session_id": _parent(header),
        "requested_model": header.model_id,
        "models": _models(session, header),
        "started_at": session.started_at or event_time(header.timestamp),
        "ended_at": session.ended_at,
        "duration_ms": milliseconds_between(session.started_at, session.ended_at),
        "active_ms": session.active.ms,
        "duration_api_ms": None if session.api_ms is None else round(session.api_ms),
        "num_turns": session.turns or None,
        "outcome": outcome,
        "is_error": None if outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN) else outcome is not Outcome.COMPLETED,
        "ended_as": session.reason,
        "errors": [session.error] if session.error else [],
        "cost_usd": sum(session.costs.values()) if session.costs else Decimal() if _parent_file(header) and not session.used else None,
        "cwd": header.cwd,
        "prompt": session.prompt or session.copied_prompt,
        "final_text": session.text,
        "tool_calls": merged(session.tools),
    }


def _outcome(session: _Session) -> Outcome:
    """How the last response ended. A branch without a message of its own has no outcome."""
    if not session.first and session.header and _parent_file(session.header):
        return Outcome.UNKNOWN
    if session.reason == "error":
        return outcome_of_error(session.error or "")
    return Outcome.INTERRUPTED if session.is_open else _OUTCOMES.get(session.reason or "", Outcome.UNKNOWN)


def _models(session: _Session, header: PiLine) -> list[dict[str, Any]]:
    """Tokens and cost by model, without models that failed at every call."""
    if not session.used and _parent_file(header):
        return [Tokens().as_model(header.model_id, header.provider)]
    if not session.used:
        return [unrecorded(header.model_id, _NO_ANSWER)]
    why = " ".join(session.doubts) or None
    basis = TokensBasis.LOWER_BOUND if why else TokensBasis.EXACT
    return [
        tokens.as_model(*key, basis, why) | {"cost_usd": session.costs.get(key)}
        for key, tokens in session.used.items()
        if tokens.total or len(session.used) == 1
    ]


def _run_id(session: _Session, header: PiLine) -> str:
    """The session. A stream that goes on with a session repeats its header, and is a run of its own until the session's file comes."""
    began_at = event_time(header.timestamp)
    if session.is_stream and began_at and session.started_at and session.started_at - began_at > _RESUMED_AFTER:
        return canonical_hash({"session": header.id, "first": session.first})
    if header.id and is_uuid(header.id):
        return header.id
    return canonical_hash({"session": header.id, "start": header.timestamp, "first": session.first})


def _parent_file(header: PiLine) -> str | None:
    return header.branched_from or header.parent_session


def _parent(header: PiLine) -> str | None:
    """The session it was branched from: its id is the end of the name of its file."""
    found = _FILE_OF_PARENT.search(_parent_file(header) or "")
    return found[1] if found else None
