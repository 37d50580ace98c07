"""JSON-RPC messages of `codex app-server`, as its drivers log them → runs, one for each thread.

Every update of tokens has the running total of the thread, whose growth belongs to the model of the moment; a fork goes on with the total
of its parent. A thread whose last turn did not end was interrupted. Messages have no time: it comes from the log, newer turns, or the id of
the thread. Two processes of one thread write two logs, which are records of one run: the one with more tokens is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import NO_TYPE, AgentReader, ContextOf, Found
from ingest.agents.codex.usage import Counts
from ingest.agents.kept_run import complaints, ended
from ingest.agents.shared.runs import ToolCounts, canonical_hash, is_uuid, merged, milliseconds_between, time_of_uuid
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import known_sum, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import CODEX, app_server_message
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.unread_logs import OLDER_CODEX
from schemas.wire.codex import (
    AppServerError,
    AppServerGit,
    AppServerItem,
    AppServerMessage,
    AppServerParams,
    AppServerThread,
    AppServerTurn,
)

THREADS_OPEN = 64
"""Threads of one log that may be open at once; of more, the first one is taken as ended."""

_TOOLS = {
    "commandExecution": "command_execution",
    "fileChange": "file_change",
    "mcpToolCall": "mcp_tool_call",
    "dynamicToolCall": "dynamic_tool_call",
    "collabToolCall": "collab_tool_call",
    "collabAgentToolCall": "collab_tool_call",
    "webSearch": "web_search",
}
"""Type of an item that is a tool call → the tool, where it does not name it; called as in `codex exec --json`."""
_FAILED = frozenset(("failed", "declined"))
_OUTCOMES = {"completed": Outcome.COMPLETED, "interrupted": Outcome.INTERRUPTED, "inProgress": Outcome.INTERRUPTED}
_LIMITS = frozenset(("usagelimitexceeded", "contextwindowexceeded", "sessionbudgetexceeded"))
_OF_THE_API = frozenset(
    {
        *("httpconnectionfailed", "responsestreamconnectionfailed", "responsestreamdisconnected", "responsetoomanyfailedattempts"),
        *("unauthorized", "internalservererror", "serveroverloaded", "badrequest"),
    }
)
"""Kinds of errors (`codexErrorInfo`) in lower case, since versions differ in it."""
_READ = ("method", "params", "result")
_TIMES = ("timestamp", "time", "ts", "at")
"""Where a log that wraps messages in objects has their time."""
_OLDER = "codex/event"
"""How methods of the first protocol begin, whose events newer versions send beside their own."""
_NO_TOKENS = "The log has no token counts."
_CUT = "The log ended within a turn, whose last tokens it may not tell."


@dataclass
class _Thread:
    """One thread so far.

    `asked`: the model of the request that began it; `rerouted`: the model that answers this turn in place of its own. `total`: the last
    running total; `used`: what it grew by, by model. `turns`: how long each turn took, in ms, where that is told.
    """

    last: Document
    thread_id: str | None
    about: AppServerThread = field(default_factory=AppServerThread)
    model: str | None = None
    provider: str | None = None
    asked: str | None = None
    rerouted: str | None = None
    git: AppServerGit | None = None
    permission_mode: str | None = None
    cwd: str | None = None
    turns: dict[str | None, int | None] = field(default_factory=dict)
    in_turn: bool = False
    total: Counts | None = None
    used: dict[str | None, Counts] = field(default_factory=dict)
    outcome: Outcome = Outcome.UNKNOWN
    ended_as: str | None = None
    errors: list[str] = field(default_factory=list)
    prompt: str | None = None
    final_text: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)


class CodexAppServer(AgentReader):
    """Logs of messages of `codex app-server`, bare, behind a prefix, or each in an object of the log."""

    agent: ClassVar[str] = CODEX.key
    reads_unknown_types: ClassVar[bool] = True
    event_types: ClassVar[frozenset[str]] = frozenset((NO_TYPE,))

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._threads: dict[str | None, _Thread] = {}
        self._last: str | None = None
        self._asked: str | None = None
        self._older: Document | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        return app_server_message(document.value) is not None

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        """Messages of turns and items need not name their thread: it is that of the message before."""
        value = app_server_message(document.value) or {}
        try:
            message = AppServerMessage.model_validate({name: value[name] for name in _READ if isinstance(value.get(name), dict | str)})
        except ValidationError as error:
            raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
        method, told = message.method or "", message.params or message.result
        if method.startswith(_OLDER):
            self._older = document
        if told is None or method.startswith(_OLDER):
            return ()
        if method in ("thread/start", "thread/resume", "thread/fork"):
            self._asked = told.model
            return ()
        thread_id = (told.thread.id if told.thread else None) or told.thread_id or self._last
        if thread_id is None and not method.startswith(("turn/", "item/", "thread/tokenUsage")):
            return ()
        closed = self._closed_by(thread_id)
        thread = self._threads.setdefault(thread_id, _Thread(document, thread_id, asked=self._asked))
        self._last, thread.last = thread_id, document
        _note_time(thread, document.logged_at or next(filter(None, (event_time(document.value.get(name)) for name in _TIMES)), None))
        if method in _NOTES:
            _NOTES[method](thread, told)
        elif not method and told.thread:
            _note_thread(thread, told)
        return closed

    def _closed_by(self, thread_id: str | None) -> Iterable[Found | Unreadable]:
        if thread_id in self._threads or len(self._threads) < THREADS_OPEN:
            return ()
        return self._run(self._threads.pop(next(iter(self._threads))))

    def end(self) -> Iterator[Found | Unreadable]:
        """The open threads. Of events of the first protocol alone there is nothing to tell but whose they are."""
        runs = [run for thread in self._threads.values() for run in self._run(thread)]
        yield from runs
        if self._older and not runs:
            yield self._older.refused(RejectReason.LOOK_ALIKE, str(OLDER_CODEX))
        self._threads, self._older = {}, None

    def _run(self, thread: _Thread) -> Iterable[Found | Unreadable]:
        """One without a turn, an answer or tokens was only listed or opened."""
        if thread.turns or thread.used or thread.final_text or thread.tools.counts:
            return (ended(thread.last, _kept(thread), self._context_of),)
        return ()


def _note_time(thread: _Thread, time: datetime | None) -> None:
    if time:
        thread.started_at = min(thread.started_at or time, time)
        thread.ended_at = max(thread.ended_at or time, time)


def _note_thread(thread: _Thread, told: AppServerParams) -> None:
    """`thread/started` tells less than the answer to a request, which has the model."""
    if told.thread:
        thread.about = thread.about.model_copy(update=told.thread.model_dump(exclude_none=True, exclude={"git_info"}))
        thread.git = told.thread.git_info or thread.git
    thread.model = told.model or (told.thread.model if told.thread else None) or thread.model
    thread.provider = told.model_provider or thread.about.model_provider or thread.provider
    thread.cwd = told.cwd or thread.about.cwd or thread.cwd
    thread.permission_mode = told.approval_policy or thread.permission_mode


def _note_request(thread: _Thread, told: AppServerParams) -> None:
    thread.model = told.model or thread.model
    thread.prompt = thread.prompt or _text_of(told.input)


def _note_settings(thread: _Thread, told: AppServerParams) -> None:
    if settings := told.thread_settings:
        thread.model = settings.model or thread.model
        thread.permission_mode = settings.approval_policy or thread.permission_mode


def _note_reroute(thread: _Thread, told: AppServerParams) -> None:
    thread.rerouted = told.to_model


def _note_begin(thread: _Thread, told: AppServerParams) -> None:
    thread.turns.setdefault(_turn_of(told))
    thread.in_turn = True
    thread.outcome, thread.ended_as, thread.errors = Outcome.INTERRUPTED, None, []
    _note_time(thread, event_time(told.turn.started_at) if told.turn else None)


def _note_end(thread: _Thread, told: AppServerParams) -> None:
    """The end of a turn may be told twice, and its beginning not at all."""
    turn = told.turn or AppServerTurn()
    thread.turns[_turn_of(told)] = None if turn.duration_ms is None else round(turn.duration_ms)
    thread.in_turn, thread.rerouted = False, None
    thread.ended_as = turn.status
    if turn.status == "failed":
        thread.errors = [_message_of(turn.error or told.error)]
        thread.outcome = _outcome_of(turn.error or told.error)
    else:
        thread.outcome = _OUTCOMES.get(turn.status or "", Outcome.UNKNOWN)
        thread.errors = [] if thread.outcome is Outcome.COMPLETED else thread.errors
    _note_time(thread, event_time(turn.completed_at))


def _turn_of(told: AppServerParams) -> str | None:
    return (told.turn.id if told.turn else None) or told.turn_id


def _note_error(thread: _Thread, told: AppServerParams) -> None:
    """Often the notice of a retry: it counts only where the turn does not complete."""
    thread.errors = [_message_of(told.error)] if told.error else thread.errors


def _message_of(error: AppServerError | None) -> str:
    return (error.message if error else None) or "turn failed"


def _outcome_of(error: AppServerError | None) -> Outcome:
    """By the kind of the error, else by its message."""
    info = error.codex_error_info if error else None
    name = next(iter(info), "") if isinstance(info, dict) else info
    kind = name.lower() if isinstance(name, str) else ""
    if kind in _LIMITS:
        return Outcome.LIMIT_REACHED
    by_message = outcome_of_error(_message_of(error))
    return Outcome.API_ERROR if kind in _OF_THE_API and by_message is Outcome.EXECUTION_ERROR else by_message


def _note_item(thread: _Thread, told: AppServerParams) -> None:
    """An item comes when it starts and again, whole, when it is completed."""
    item = told.item or AppServerItem()
    if item.type == "agentMessage":
        thread.final_text = item.text or thread.final_text
    elif item.type == "userMessage":
        thread.prompt = thread.prompt or _text_of(item.content)
    elif item.type in _TOOLS:
        thread.tools.called(item.id, item.tool or _TOOLS[item.type])
        if item.id and (item.status in _FAILED or item.exit_code):
            thread.tools.failed(item.id)


def _text_of(content: object) -> str | None:
    parts = content if isinstance(content, list) else ()
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)) or None


def _note_tokens(thread: _Thread, told: AppServerParams) -> None:
    """What the thread used since the last total. A fork's first total, and what is told outside of its turns, is its parent's."""
    usage = told.token_usage
    last = Counts.of(usage.last) if usage and usage.last else None
    if usage is None or (usage.total is None and last is None):
        return
    now = Counts.of(usage.total) if usage.total else (thread.total or Counts()).plus(last or Counts())
    grown = now.since(thread.total) if thread.total else now
    if thread.total is None and thread.about.forked_from_id and last and last.given <= now.given and last.output <= now.output:
        grown = last if thread.in_turn else Counts()
    thread.total = now
    if grown.total:
        model = thread.rerouted or thread.model or thread.asked
        thread.used[model] = thread.used.get(model, Counts()).plus(grown)


_NOTES: dict[str, Callable[[_Thread, AppServerParams], None]] = {
    "thread/started": _note_thread,
    "thread/settings/updated": _note_settings,
    "thread/tokenUsage/updated": _note_tokens,
    "turn/start": _note_request,
    "turn/started": _note_begin,
    "turn/completed": _note_end,
    "model/rerouted": _note_reroute,
    "item/started": _note_item,
    "item/completed": _note_item,
    "error": _note_error,
}
"""Method of a message → what notes it."""


def _kept(thread: _Thread) -> dict[str, Any]:
    about, thread_id, model = thread.about, thread.thread_id, thread.model or thread.asked
    started_at = thread.started_at or time_of_uuid(thread_id)
    lasted = None if None in thread.turns.values() else known_sum(thread.turns.values())
    basis = (TokensBasis.LOWER_BOUND, _CUT) if thread.in_turn else (TokensBasis.EXACT, None)
    models = [counts.tokens().as_model(name, thread.provider, *basis) for name, counts in thread.used.items()]
    told = {"thread": thread_id, "start": str(started_at), "prompt": thread.prompt}
    return {
        "run_id": thread_id if is_uuid(thread_id) else canonical_hash(told),
        "agent": CODEX.key,
        "record_kind": RecordKind.STREAM,
        "rank": 3 if models else 1,
        "agent_version": about.cli_version,
        "session_id": thread_id,
        "parent_session_id": about.forked_from_id or about.parent_thread_id or _spawned_by(about.source),
        "requested_model": model,
        "models": models or [unrecorded(model, _NO_TOKENS, thread.provider)],
        "started_at": started_at,
        "ended_at": thread.ended_at,
        "duration_ms": milliseconds_between(thread.started_at, thread.ended_at) if lasted is None else lasted,
        "num_turns": len(thread.turns) or None,
        "outcome": thread.outcome,
        "is_error": None if thread.outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN) else thread.outcome is not Outcome.COMPLETED,
        "ended_as": thread.ended_as,
        "errors": thread.errors,
        "repo": thread.git.origin_url if thread.git else None,
        "branch": thread.git.branch if thread.git else None,
        "base_commit": thread.git.sha if thread.git else None,
        "cwd": thread.cwd,
        "permission_mode": thread.permission_mode,
        "prompt": thread.prompt,
        "final_text": thread.final_text,
        "tool_calls": merged(thread.tools),
    }


def _spawned_by(source: Any) -> str | None:
    """The thread that started this one as a sub-agent."""
    for name in ("subAgent", "thread_spawn", "parent_thread_id"):
        source = source.get(name) if isinstance(source, dict) else None
    return source if isinstance(source, str) else None
