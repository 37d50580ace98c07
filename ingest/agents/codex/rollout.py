"""Codex's rollout files → runs, one for each session.

Tokens are running totals of the session, and every total is written about twice: what counts is its growth. A fork or a sub-agent begins
with a copy of its parent's lines, totals included. The copy ends with the first turn that is younger than the session: ids of turns are
UUIDs of version 7. A file without any total is not as full as the stream of its thread. Rules and cases: Codex's issues 1370, 17539 and
19022 as ccusage, tokscale and CodexBar met them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import ContextOf, Found
from ingest.agents.codex.usage import tokens_of, used_since
from ingest.agents.kept_run import complaints, ended
from ingest.agents.shared.disjoint_tokens import Tokens, unrecorded
from ingest.agents.shared.record_id import canonical_hash
from ingest.agents.shared.run_times import milliseconds_between
from ingest.agents.shared.tool_counts import ToolCounts, merged
from ingest.agents.shared.uuid_times import is_uuid, time_of_uuid
from ingest.documents.document import Document
from ingest.documents.times import event_time
from ingest.sources.files import Unreadable
from schemas.agents import CODEX
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.agents.codex import ROLLOUT_TYPES, EventMessage, SessionMeta, TokenInfo, TurnContext

_TOOL_ITEMS = {"function_call": "name", "custom_tool_call": "name", "local_shell_call": "type", "web_search_call": "type"}
"""Type of an item that is a tool call → the field with the name of the tool."""

_READ_EVENTS = frozenset(("task_started", "task_complete", "turn_aborted", "user_message", "agent_message", "error"))
_CLOCKS_DIFFER = timedelta(seconds=1)
_NO_TOKENS = "The session has no token counts."
_COPIED = "The session was forked; the history of its parent cannot be told apart."


@dataclass
class _Session:
    """One session so far. `inherited`: tokens of turns that are older than the session; `dated`: whether any turn had a time."""

    meta: SessionMeta
    started_at: datetime | None
    last: Document
    last_stamp: str = ""
    copying: bool = False
    dated: bool = False
    model: str | None = None
    last_total: dict[str, Any] | None = None
    total: Tokens = field(default_factory=Tokens)
    used: dict[str | None, Tokens] = field(default_factory=dict)
    inherited: dict[str | None, Tokens] = field(default_factory=dict)
    tasks: int = 0
    prompts: int = 0
    outcome: Outcome = Outcome.UNKNOWN
    ended_as: str | None = None
    errors: list[str] = field(default_factory=list)
    prompt: str | None = None
    final_text: str | None = None
    permission_mode: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)


class CodexRollout:
    """Rollout files, `sessions/YYYY/MM/DD/rollout-*.jsonl`."""

    agent: ClassVar[str] = CODEX.key
    event_types: ClassVar[frozenset[str]] = ROLLOUT_TYPES

    def __init__(self, context_of: ContextOf) -> None:
        self._context_of = context_of
        self._session: _Session | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        return document.value.get("type") in ROLLOUT_TYPES and _is_line(document.value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        value = document.value
        try:
            if value["type"] == "session_meta":
                return self._meta(document, SessionMeta.model_validate(value["payload"]))
            self._session = self._session or _Session(SessionMeta(), None, document)
            _note(self._session, value)
            self._session.last = document
        except ValidationError as error:
            raise InvalidRecord(RejectReason.INVALID_RECORD, f"{value['type']}: {complaints(error)}") from error
        return ()

    def note(self, event: dict[str, Any]) -> bool:
        if self._session is None or event["type"] == "session_meta" or not _is_line(event):
            return False
        try:
            _note(self._session, event)
        except ValidationError:
            return False
        return True

    def noted(self, last: Document) -> None:
        if self._session:
            self._session.last = last

    def _meta(self, document: Document, meta: SessionMeta) -> Iterable[Found | Unreadable]:
        """The first line of a session; of another one where its own turns have begun, else of the parent whose lines follow."""
        session = self._session
        if session and (session.meta.id == meta.id or not (session.tasks or session.prompts)):
            session.copying = session.copying or session.meta.id != meta.id
            session.last = document
            _note_time(session, document.value)
            return ()
        closed = tuple(self.end())
        started_at = event_time(meta.timestamp) or event_time(document.value.get("timestamp"))
        self._session = _Session(meta, started_at, document, copying=_parent(meta) is not None)
        _note_time(self._session, document.value)
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        """The open session. Lines without the first one of a session are a run where they tell of turns or tokens."""
        session = self._session
        if session and (session.meta.id or session.tasks or session.prompts or session.used):
            yield ended(session.last, _kept(session), self._context_of)
        self._session = None


def _is_line(event: dict[str, Any]) -> bool:
    return type(event.get("payload")) is dict and event_time(event.get("timestamp")) is not None


def _note(session: _Session, event: dict[str, Any]) -> None:
    """Note a line. Raises ValidationError, and then nothing but its time is noted."""
    kind, payload = event["type"], event["payload"]
    _note_time(session, event)
    if kind == "response_item":
        _note_item(session, payload)
    elif kind == "event_msg":
        _note_message(session, payload)
    elif kind == "turn_context":
        _note_context(session, payload)


def _note_time(session: _Session, event: dict[str, Any]) -> None:
    stamp = event.get("timestamp")
    if type(stamp) is str and stamp > session.last_stamp:  # all are written alike, in UTC: their order is that of the texts
        session.last_stamp = stamp
    session.started_at = session.started_at or event_time(stamp)


def _note_item(session: _Session, item: dict[str, Any]) -> None:
    kind = item.get("type")
    name = _TOOL_ITEMS.get(kind) if isinstance(kind, str) else None
    if name and not session.copying:
        call, tool = item.get("call_id"), item.get(name)
        session.tools.called(call if isinstance(call, str) else None, tool if isinstance(tool, str) and tool else "tool")


def _note_context(session: _Session, payload: dict[str, Any]) -> None:
    """Every turn has its settings, mostly those of the turn before."""
    if payload.get("model") == session.model and payload.get("approval_policy") == session.permission_mode:
        return
    context = TurnContext.model_validate(payload)
    session.model = context.model or session.model
    session.permission_mode = context.approval_policy or session.permission_mode


def _note_message(session: _Session, payload: dict[str, Any]) -> None:
    name = payload.get("type")
    if name == "token_count":
        _note_tokens(session, payload.get("info"))
    elif isinstance(name, str) and name in _READ_EVENTS:
        _note_event(session, EventMessage.model_validate(payload))


def _note_event(session: _Session, event: EventMessage) -> None:
    if event.type == "task_started":
        _begin_turn(session, event)
    elif not session.copying:
        _NOTES[event.type or ""](session, event)


def _begin_turn(session: _Session, event: EventMessage) -> None:
    """A turn that is older than its session was copied from the parent."""
    began_at = time_of_uuid(event.turn_id) or event_time(event.started_at)
    if began_at and session.started_at:
        session.dated = True
        session.copying = began_at < session.started_at - _CLOCKS_DIFFER
    if not session.copying:
        session.tasks += 1
        session.outcome, session.ended_as, session.errors = Outcome.INTERRUPTED, None, []


def _note_tokens(session: _Session, logged: Any) -> None:
    """What the session used since the last total, as tokens of the model of this turn. The same total again adds nothing."""
    if logged is None:
        return
    total = logged.get("total_token_usage") if isinstance(logged, dict) else None
    if total is not None and total == session.last_total:
        return
    info = TokenInfo.model_validate(logged)
    if not (usage := info.total_token_usage or info.last_token_usage):
        return
    session.last_total = total
    now = tokens_of(usage)
    used = used_since(session.total, now) if info.total_token_usage else now
    session.total = now if info.total_token_usage else session.total + now
    counted = session.inherited if session.copying else session.used
    counted[session.model] = counted.get(session.model, Tokens()) + used


def _note_user(session: _Session, event: EventMessage) -> None:
    session.prompts += 1
    session.prompt = session.prompt or event.message


def _note_text(session: _Session, event: EventMessage) -> None:
    session.final_text = event.message or session.final_text


def _note_complete(session: _Session, event: EventMessage) -> None:
    session.outcome = Outcome.COMPLETED
    session.final_text = event.last_agent_message or session.final_text


def _note_aborted(session: _Session, event: EventMessage) -> None:
    session.outcome, session.ended_as = Outcome.INTERRUPTED, event.reason


def _note_error(session: _Session, event: EventMessage) -> None:
    session.errors = [event.message] if event.message else session.errors


_NOTES = {
    "user_message": _note_user,
    "agent_message": _note_text,
    "task_complete": _note_complete,
    "turn_aborted": _note_aborted,
    "error": _note_error,
}


def _kept(session: _Session) -> dict[str, Any]:
    meta, git = session.meta, session.meta.git
    started_at, ended_at = session.started_at, event_time(session.last_stamp)
    return {
        "run_id": meta.id if is_uuid(meta.id) else canonical_hash({"session": meta.id, "start": str(started_at), "cwd": meta.cwd}),
        "agent": CODEX.key,
        "record_kind": RecordKind.TRANSCRIPT,
        "rank": 3 if session.used or session.inherited else 1,
        "agent_version": meta.cli_version,
        "session_id": meta.id,
        "parent_session_id": _parent(meta),
        "models": _models(session),
        "started_at": started_at,
        "ended_at": ended_at,
        "duration_ms": milliseconds_between(started_at, ended_at),
        "num_turns": session.tasks or session.prompts or None,
        "outcome": session.outcome,
        "ended_as": session.ended_as,
        "errors": session.errors if session.outcome is not Outcome.COMPLETED else (),
        "repo": git.repository_url if git else None,
        "branch": git.branch if git else None,
        "base_commit": git.commit_hash if git else None,
        "cwd": meta.cwd,
        "permission_mode": session.permission_mode,
        "prompt": session.prompt,
        "final_text": session.final_text,
        "tool_calls": [(tool, calls, None) for tool, calls, _ in merged(session.tools)],
    }


def _models(session: _Session) -> list[dict[str, Any]]:
    """Tokens by model. Where no turn tells which lines were copied, all of them count: an upper bound."""
    if session.model and not (session.used or session.inherited):
        return [unrecorded(session.model, _NO_TOKENS, session.meta.model_provider)]
    is_bound = session.copying and not session.dated
    counted = session.inherited if is_bound else session.used
    basis = (TokensBasis.UPPER_BOUND, _COPIED) if is_bound else (TokensBasis.EXACT, None)
    provider = session.meta.model_provider
    return [tokens.as_model(model, provider, *basis) for model, tokens in counted.items() if tokens.total or len(counted) == 1]


def _parent(meta: SessionMeta) -> str | None:
    """The session it was forked from, or that started it as a sub-agent."""
    at: Any = meta.source
    for name in ("subagent", "thread_spawn", "parent_thread_id"):
        at = at.get(name) if isinstance(at, dict) else None
    return meta.forked_from_id or meta.parent_thread_id or (at if isinstance(at, str) else None)
