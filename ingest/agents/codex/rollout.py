"""Codex's rollout files → runs, one for each session, and its responses.

Tokens are running totals of the session, and every total is written about twice: what counts is its growth, which is one response. A fork
or a sub-agent begins with a copy of its parent's lines, totals included. The copy ends with the first turn that is younger than the
session: ids of turns are UUIDs of version 7; since 2026-09 a sub-agent says which line is its first. Where nothing tells, all responses
count, as an upper bound, and are named as the parent's, so that they count once beside its file. A file without any total is not as full as
the stream of its thread. TRAE CLI, a fork, writes the same. Rules and cases: Codex's issues 1370, 17539, 19022 and 47003 as ccusage,
tokscale and CodexBar met them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.codex.responses import Moment, Owner, Response, Responses, by_model, rows_of
from ingest.agents.codex.tool_items import ENDS, called_tool, ended_badly, is_failure
from ingest.agents.codex.usage import Counts
from ingest.agents.kept_run import complaints, ended
from ingest.agents.shared.runs import ActiveTime, By, ToolCounts, canonical_hash, is_uuid, merged, milliseconds_between, time_of_uuid
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import CODEX, CODEX_ROLLOUT_TYPES, TRAE_CLI
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.codex import Compacted, EventMessage, SessionMeta, TokenInfo, TurnContext, UsageRecord

_READ_EVENTS = frozenset(("task_started", "task_complete", "turn_aborted", "user_message", "agent_message", "error"))
_CLOCKS_DIFFER = timedelta(seconds=1)
_LONGEST_NUMBER = 18
_BEGINNING = 200
"""Characters of the instructions in which an agent says who it is."""
_NO_TOKENS = "The session has no token counts."
_COPIED = "The session was forked; the history of its parent cannot be told apart."


@dataclass
class _Session:
    """One session so far.

    `origin`: the session whose lines it may begin with; `is_fork`: it says that it does. `own_from`: the number of its first own line,
    where that is told. `copying`: whether the lines are copies; `dated`: whether anything told. `total`: the last running total, which
    was logged as `last_total`.
    """

    meta: SessionMeta
    started_at: datetime | None
    last: Document
    origin: str | None = None
    is_fork: bool = False
    own_from: int | None = None
    copying: bool = False
    dated: bool = False
    lines: int = 0
    last_stamp: str = ""
    active: ActiveTime = field(default_factory=ActiveTime)
    last_number: float = 0
    turn: str | None = None
    model: str | None = None
    last_total: dict[str, Any] | None = None
    total: Counts | None = None
    responses: Responses = field(default_factory=Responses)
    tasks: int = 0
    prompts: int = 0
    outcome: Outcome = Outcome.UNKNOWN
    ended_as: str | None = None
    errors: list[str] = field(default_factory=list)
    prompt: str | None = None
    final_text: str | None = None
    permission_mode: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)

    @property
    def has_begun(self) -> bool:
        """Whether there are lines of its own."""
        return bool(self.tasks or self.prompts or (not self.copying and self.responses.told))

    @property
    def is_bound(self) -> bool:
        """Whether nothing told its lines from those of its parent."""
        return self.copying and not self.dated


class CodexRollout(AgentReader):
    """Rollout files, `sessions/YYYY/MM/DD/rollout-*.jsonl`."""

    agent: ClassVar[str] = CODEX.key
    event_types: ClassVar[frozenset[str]] = CODEX_ROLLOUT_TYPES

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._session: _Session | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        return document.value.get("type") in CODEX_ROLLOUT_TYPES and _is_line(document.value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        value = document.value
        try:
            if value["type"] == "session_meta":
                return self._meta(document, SessionMeta.model_validate(value["payload"]))
            self._session = self._session or _Session(SessionMeta(), None, document)
            _note(self._session, value)
            self._session.lines += 1
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
        self._session.lines += 1
        return True

    def noted(self, last: Document) -> None:
        if self._session:
            self._session.last = last

    def _meta(self, document: Document, meta: SessionMeta) -> Iterable[Found | Unreadable]:
        """The first line of a session; of another one where its own turns have begun, else of the parent whose lines follow."""
        session = self._session
        if session and (session.meta.id == meta.id or not session.has_begun):
            if session.meta.id != meta.id:
                session.origin = _run_id(meta, _began_at(meta, document))
                session.is_fork = session.copying = True
            session.last = document
            _note_time(session, document.value)
            return ()
        closed = tuple(self.end())
        self._session = _opened(meta, document)
        _note_time(self._session, document.value)
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        """The open session. Lines without the first one of a session are a run where they tell of turns or tokens."""
        session = self._session
        if session and (session.meta.id or session.has_begun or session.total):
            yield _with_responses(ended(session.last, _kept(session), self._context_of), session)
        self._session = None


def _opened(meta: SessionMeta, document: Document) -> _Session:
    """A session that began with this line: whatever has a parent may begin with its lines."""
    parent = _parent(meta)
    session = _Session(meta, _began_at(meta, document), document, parent, copying=parent is not None)
    session.is_fork = meta.forked_from_id is not None
    session.own_from = _whole(meta.subagent_history_start_ordinal)
    return session


def _is_line(event: dict[str, Any]) -> bool:
    return type(event.get("payload")) is dict and event_time(event.get("timestamp")) is not None


def _note(session: _Session, event: dict[str, Any]) -> None:
    """Note a line. Raises ValidationError, and then nothing but its time and place is noted."""
    _note_time(session, event)
    if session.own_from is not None and (number := _whole(event.get("ordinal"))) is not None:
        _note_place(session, copied=number < session.own_from)
    if note := _KINDS.get(event["type"]):
        note(session, event["payload"], event["timestamp"])


def _note_time(session: _Session, event: dict[str, Any]) -> None:
    stamp = event.get("timestamp")
    if type(stamp) is str:
        session.last_stamp = max(session.last_stamp, stamp)
    elif isinstance(stamp, int | float):
        session.last_number = max(stamp, session.last_number)
    time = event_time(stamp)
    session.started_at = session.started_at or time
    session.active.note(time, _made_by(event))


def _made_by(event: dict[str, Any]) -> By:
    """Who made what a line tells: an item of a response is the model's but for messages of others and outputs of tools."""
    payload = event.get("payload")
    if event.get("type") != "response_item" or not isinstance(payload, dict) or payload.get("role") in ("user", "developer", "system"):
        return By.OTHERS
    return By.TOOL if str(payload.get("type")).endswith("_output") else By.MODEL


def _note_place(session: _Session, *, copied: bool) -> None:
    """Whether the lines from here on are copies is known."""
    if session.copying and not copied:
        session.responses.own_begin()
    session.copying, session.dated = copied, True


def _note_item(session: _Session, item: dict[str, Any], _: object) -> None:
    call_id = item.get("call_id")
    call = call_id if isinstance(call_id, str) else None
    if tool := called_tool(item):
        session.responses.called(call, tool)
        if not session.copying:
            session.tools.called(call, tool)
    elif call and is_failure(item):
        _note_failure(session, call)


def _note_failure(session: _Session, call: str) -> None:
    session.responses.failed(call)
    session.tools.failed(call)


def _note_context(session: _Session, payload: dict[str, Any], _: object) -> None:
    """Every turn has its settings, mostly those of the turn before."""
    turn = payload.get("turn_id")
    if turn and turn != session.turn:
        _enter_turn(session, TurnContext.model_validate(payload).turn_id)
    if payload.get("model") == session.model and payload.get("approval_policy") == session.permission_mode:
        return
    context = TurnContext.model_validate(payload)
    session.model = context.model or session.model
    session.permission_mode = context.approval_policy or session.permission_mode


def _note_record(session: _Session, payload: dict[str, Any], stamp: object) -> None:
    record = UsageRecord.model_validate(payload)
    if record.usage:
        session.responses.record(record.response_id, Counts.of(record.usage), _moment(session, stamp))


def _note_compacted(session: _Session, payload: dict[str, Any], _: object) -> None:
    if response_id := Compacted.model_validate(payload).compaction_response_id:
        session.responses.compaction(response_id)


def _note_message(session: _Session, payload: dict[str, Any], stamp: object) -> None:
    name = payload.get("type")
    if name == "token_count":
        _note_tokens(session, payload.get("info"), stamp)
    elif not isinstance(name, str):
        return
    elif name in _READ_EVENTS:
        _note_event(session, EventMessage.model_validate(payload))
    elif name in ENDS and isinstance(call := payload.get("call_id"), str) and ended_badly(payload):
        _note_failure(session, call)


_KINDS: dict[str, Callable[[_Session, dict[str, Any], object], None]] = {
    "response_item": _note_item,
    "event_msg": _note_message,
    "turn_context": _note_context,
    "token_usage_record": _note_record,
    "compacted": _note_compacted,
}
"""Type of a line → what notes its payload and its timestamp."""


def _note_event(session: _Session, event: EventMessage) -> None:
    if event.type == "task_started":
        _begin_turn(session, event)
    elif not session.copying:
        _NOTES[event.type or ""](session, event)


def _begin_turn(session: _Session, event: EventMessage) -> None:
    _enter_turn(session, event.turn_id, event_time(event.started_at))
    if not session.copying:
        session.tasks += 1
        session.outcome, session.ended_as, session.errors = Outcome.INTERRUPTED, None, []


def _enter_turn(session: _Session, turn: str | None, started_at: datetime | None = None) -> None:
    """A turn that is older than its session was copied from the parent.

    An old start without a UUID that tells it is no sign of a copy unless the file says that it is a fork.
    """
    session.turn = turn
    made_at = time_of_uuid(turn)
    began_at = made_at or started_at
    if began_at is None or session.started_at is None or (session.own_from is not None and session.dated):
        return
    copied = began_at < session.started_at - _CLOCKS_DIFFER
    if made_at or session.is_fork or not copied:
        _note_place(session, copied=copied)


def _note_tokens(session: _Session, logged: Any, stamp: object) -> None:
    """What the session used since the last total is a response of the model of this turn. The same total again adds nothing."""
    if logged is None:
        return
    total = logged.get("total_token_usage") if isinstance(logged, dict) else None
    if total is not None and total == session.last_total:
        return
    info = TokenInfo.model_validate(logged)
    last = Counts.of(info.last_token_usage) if info.last_token_usage else None
    if info.total_token_usage:
        now = Counts.of(info.total_token_usage)
        used = _growth(session, now, last)
    elif last:
        now, used = (session.total or Counts()).plus(last), last
    else:
        return
    session.last_total, session.total = total, now
    if used.total:
        session.responses.grew(used, now, _moment(session, stamp))


def _growth(session: _Session, now: Counts, last: Counts | None) -> Counts:
    """What was used up to this total. A fork that copies no totals goes on with that of its parent: the first request is its own."""
    if session.total:
        return now.since(session.total)
    goes_on = session.origin is not None and not session.copying and last and last.given <= now.given and last.output <= now.output
    return last if goes_on and last else now


def _moment(session: _Session, stamp: object) -> Moment:
    return Moment(session.turn, event_time(stamp), session.model, session.copying)


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
    started_at, ended_at = session.started_at, event_time(session.last_stamp) or event_time(session.last_number)
    return {
        "run_id": _run_id(meta, started_at),
        "agent": _agent(meta),
        "record_kind": RecordKind.TRANSCRIPT,
        "rank": 4 if _has_counts(session) else 1,
        "lines": session.lines,
        "agent_version": meta.cli_version,
        "session_id": meta.id,
        "parent_session_id": _parent(meta),
        "models": _models(session),
        "started_at": started_at,
        "ended_at": ended_at,
        "duration_ms": milliseconds_between(started_at, ended_at),
        "active_ms": session.active.ms,
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
        "tool_calls": merged(session.tools),
    }


def _models(session: _Session) -> list[dict[str, Any]]:
    """Tokens by model, the sums of the responses that count."""
    provider = session.meta.model_provider
    if not _has_counts(session):
        return [unrecorded(session.model, _NO_TOKENS, provider)] if session.model else []
    basis = (TokensBasis.UPPER_BOUND, _COPIED) if session.is_bound else (TokensBasis.EXACT, None)
    used = by_model(_responses(session)) or {session.model: Tokens()}
    return [tokens.as_model(model, provider, *basis) for model, tokens in used.items()]


def _responses(session: _Session) -> list[Response]:
    """The responses that count: where nothing tells which were copied, all of them."""
    return session.responses.chosen(copied=session.is_bound)


def _has_counts(session: _Session) -> bool:
    return session.total is not None or bool(session.responses.recorded)


def _with_responses(run: Found | Unreadable, session: _Session) -> Found | Unreadable:
    if not isinstance(run, Found):
        return run
    run_id = run.rows.run.run_id
    origin = session.origin if session.is_bound else None
    owner = Owner(run_id, origin or run_id, session.meta.id or run_id if _is_subagent(session.meta) else None)
    rows = rows_of(_responses(session), session.responses, owner, run.rows.model_usage)
    return run._replace(rows=run.rows._replace(response_copies=rows))


def _agent(meta: SessionMeta) -> str:
    """The agent: a fork of Codex names its own provider, or itself at the beginning of its instructions."""
    instructions = meta.base_instructions.get("text") if isinstance(meta.base_instructions, dict) else meta.base_instructions
    says = instructions[:_BEGINNING] if isinstance(instructions, str) else ""
    is_trae = "trae" in (meta.model_provider, (meta.originator or "").lower().partition("-")[0]) or "TRAE CLI" in says
    return TRAE_CLI.key if is_trae else CODEX.key


def _run_id(meta: SessionMeta, started_at: datetime | None) -> str:
    if meta.id and is_uuid(meta.id):
        return meta.id
    return canonical_hash({"session": meta.id, "start": str(started_at), "cwd": meta.cwd})


def _began_at(meta: SessionMeta, document: Document) -> datetime | None:
    return event_time(meta.timestamp) or event_time(document.value.get("timestamp"))


def _parent(meta: SessionMeta) -> str | None:
    """The session it was forked from, or that started it as a sub-agent."""
    at: Any = meta.source
    for name in ("subagent", "thread_spawn", "parent_thread_id"):
        at = at.get(name) if isinstance(at, dict) else None
    return meta.forked_from_id or meta.parent_thread_id or (at if isinstance(at, str) else None)


def _is_subagent(meta: SessionMeta) -> bool:
    started_by = "subagent" in meta.source if isinstance(meta.source, str | dict) else False
    return started_by or meta.thread_source == "subagent" or meta.parent_thread_id is not None


def _whole(value: object) -> int | None:
    """A whole number, which some versions write as a text."""
    if isinstance(value, str) and value.isdecimal() and len(value) < _LONGEST_NUMBER:
        return int(value)
    return value if type(value) is int else None
