"""Codex's output: events of `codex exec --json`, its text log, and `codex app-server` messages.

The text log is that of `codex exec`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import Found
from ingest.agents.codex.rollout import CodexCounts, spawned_by
from ingest.agents.distilled import complaints, ended
from ingest.agents.shared.runs import (
    OpenRun,
    RecordReader,
    StreamReader,
    canonical_hash,
    is_uuid,
    time_of_uuid,
    wire_record,
)
from ingest.agents.shared.texts import lines_of, outcome_of_error
from ingest.agents.shared.tokens import Tokens, known_sum, unrecorded
from ingest.sources.document import Document, TextDocument
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import CODEX, app_server_message
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.row import LARGEST_INT
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
    ExecEvent,
)

_FAILED = frozenset(("failed", "declined"))
_NO_TOKENS = "The log has no token counts."

# codex exec --json

_EXEC_TOOLS = frozenset(
    ("command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call")
)
_EXEC_MUST_HOLD = {
    "thread.started": ("thread_id", str),
    "turn.failed": ("error", dict),
    "error": ("message", str),
}


@dataclass
class _ExecThread(OpenRun):
    outcome: Outcome = Outcome.INTERRUPTED
    turns: int = 0
    is_answered: bool = False
    usage: Tokens | None = None

    def note(self, event: ExecEvent) -> None:
        """Read an event.

        An item comes up to three times with one id: started, updated and completed.
        """
        if item := event.item:
            self.is_answered |= item.type != "error"
            if item.type == "agent_message" and item.text:
                self.final_text = item.text
            elif item.type in _EXEC_TOOLS:
                self.tools.called(item.id, item.tool or item.type)
                if item.id and (item.status in _FAILED or item.exit_code):
                    self.tools.failed(item.id)
        if event.type == "turn.started":
            self.turns += 1
            self.outcome, self.errors = Outcome.INTERRUPTED, []
        elif event.type == "turn.completed":
            self.outcome, self.errors = Outcome.COMPLETED, []
            self.usage = CodexCounts.of(event.usage).tokens() if event.usage else self.usage
        elif event.type == "turn.failed":
            message = (event.error.message if event.error else None) or "turn failed"
            self.outcome, self.errors = outcome_of_error(message), [message]
        elif event.type == "error" and event.message:
            self.errors = [
                event.message
            ]  # often the notice of a retry: it counts only if the turn does not complete

    def has_content(self) -> bool:
        return bool(self.session_id or self.usage or self.final_text or self.tools.counts)

    def values(self) -> dict[str, Any]:
        """Return the values of a `Run`.

        Events have no times: the start comes from the thread id. The model comes from the harness.
        """
        models = [self.usage.as_model(None)] if self.usage else []
        names = {"thread": self.session_id, "text": self.final_text, "tokens": models}
        reason = "The stream ended within a turn: its tokens are missing."
        cut_off = {"basis": TokensBasis.LOWER_BOUND, "basis_reason": reason}
        return super().values() | {
            "run_id": self.session_id if is_uuid(self.session_id) else canonical_hash(names),
            "agent": CODEX.key,
            "record_kind": RecordKind.STREAM,
            "rank": 2,
            "models": [one | cut_off for one in models]
            if self.outcome is Outcome.INTERRUPTED
            else models,
            "started_at": time_of_uuid(self.session_id),
            "num_turns": self.turns or None,
            "is_answered": self.is_answered or bool(self.usage) or not self.errors,
            "is_error": None if self.outcome is Outcome.INTERRUPTED else bool(self.errors),
        }


class CodexExec(StreamReader[_ExecThread]):
    """Streams of `codex exec --json` → runs, one per thread.

    `usage` is the running total of the thread, not of the turn: the last one counts. Resuming a
    thread starts another stream, and its totals include those of the first; both are records of one
    run, and the one with more tokens is kept. The model is taken neither from `config.toml`, since
    the command line overrides it, nor from ISO-Bench's journal, which has the name of a folder.
    """

    agent: ClassVar[str] = CODEX.key

    @staticmethod
    def recognises(document: Document) -> bool:
        """Check the required fields of each event.

        Other programs log `error` and `item.completed` too.
        """
        value = document.value
        kind = str(value.get("type"))
        if kind == "turn.started":
            return len(value) == 1
        if kind.startswith("item."):
            return isinstance(value.get("item"), dict) and isinstance(
                value["item"].get("type"), str
            )
        if kind == "turn.completed":
            return isinstance(value.get("usage"), dict) and "input_tokens" in value["usage"]
        name, type_ = _EXEC_MUST_HOLD.get(kind, ("", str))
        return isinstance(value.get(name), type_)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        event = wire_record(ExecEvent, document)
        if not self._open and event.type == "error":
            return ()  # any program's log has such lines
        closed = self._close() if event.type == "thread.started" else ()
        thread = self._open.get(None) or self._open.setdefault(
            None, _ExecThread(document, event.thread_id)
        )
        thread.last = document
        thread.note(event)
        return closed


# The text log of codex exec

_VERSION = re.compile(r"OpenAI Codex v(\S+)")
_HEADER = re.compile(r"(workdir|model|provider|approval|reasoning effort|session id): (.*)")
_SECTIONS = frozenset(
    ("user", "thinking", "codex", "exec", "file update", "file update:", "tokens used")
)
_ERROR = "ERROR: "
_LOG_TOOLS = {"exec": "exec", "file update": "apply_patch", "file update:": "apply_patch"}
_CALL_FAILED = re.compile(r" (?:exited \d+|failed) in [\d.]+m?s:?$")
_COUNT = re.compile(r"[0-9][0-9,]{0,19}")
_LONGEST_TEXT = 4 << 20


@dataclass
class _TextLog(OpenRun):
    """A log: a header up to the second row of dashes, then sections, each headed by its name."""

    header: dict[str, str] = field(default_factory=dict)
    dashes: int = 0
    section: str = ""
    texts: dict[str, list[str]] = field(default_factory=dict)
    size: int = 0
    total: int | None = None
    error: str | None = None
    calls: int = 0

    def note(self, line: str) -> None:
        """Read a line. Section names also occur in tool output: only whole lines count."""
        if self.dashes < 2:
            self.dashes += line.startswith("--------")
            if found := _VERSION.match(line):
                self.header["version"] = found[1]
            elif found := _HEADER.fullmatch(line):
                self.header[found[1]] = found[2].strip()
        elif line in _SECTIONS:
            self.section, self.error = (
                line,
                None,
            )  # an error before another section was output of a tool: Codex's own comes last
            if tool := _LOG_TOOLS.get(line):
                self.calls += 1
                self.tools.called(str(self.calls), tool)
            elif line == "codex" or line not in self.texts:
                self.texts[line], self.size = [], 0
        elif line.startswith(_ERROR):
            self.section, self.error = "", line.removeprefix(_ERROR)
        elif (
            self.section == "tokens used"
        ):  # one line, which the program's end may follow without a line break
            if found := _COUNT.match(line.strip()):
                count = int(found[0].replace(",", ""))
                self.total = count if count <= LARGEST_INT else None
            self.section = ""
        elif self.section in ("codex", "user"):
            self.size += len(line) + 1
            if self.size <= _LONGEST_TEXT:
                self.texts[self.section].append(line)
        elif self.section == "exec" and _CALL_FAILED.search(line):
            self.tools.failed(str(self.calls))
            self.section = ""

    def values(self) -> dict[str, Any]:
        """Return the values of a `Run`.

        Tokens come last, so a log with tokens is complete; otherwise it may be an older version.
        """
        header, session_id = self.header, self.header.get("session id")
        self.prompt, self.final_text = (
            "\n".join(self.texts.get(section, [])).strip() or None for section in ("user", "codex")
        )
        reason = _NO_TOKENS
        if self.total is not None:
            reason = (
                f"The log has one total, {self.total:,} tokens, which cannot be divided into "
                "input, cache and output."
            )
        if self.error:
            self.outcome = outcome_of_error(self.error)
        elif self.total is not None:
            self.outcome = Outcome.COMPLETED
        return super().values() | {
            "run_id": session_id
            if is_uuid(session_id)
            else canonical_hash({"header": header, "text": self.final_text}),
            "agent": CODEX.key,
            "record_kind": RecordKind.STREAM,
            "rank": 1,
            "agent_version": header.get("version"),
            "session_id": session_id,
            "requested_model": header.get("model"),
            "effort": header.get("reasoning effort"),
            "models": [unrecorded(header.get("model"), reason, header.get("provider"))],
            "started_at": time_of_uuid(session_id),
            "is_answered": not self.error or self.texts.keys() > {"user"},  # sections of the model
            "is_error": self.error is not None or None,
            "errors": [self.error] if self.error else [],
            "cwd": header.get("workdir"),
            "permission_mode": header.get("approval"),
        }


class CodexTextLog(RecordReader):
    """Text logs of `codex exec` (its stderr).

    `tokens used` is one grand total that cannot be divided into classes, so it has no price.
    """

    agent: ClassVar[str] = CODEX.key

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        assert isinstance(document, TextDocument)
        log = _TextLog(document)
        for line in document.lines:
            log.note(line.rstrip("\r\n"))
        return (ended(document, log.values()),)


# codex app-server

_SERVER_TOOLS = {
    "commandExecution": "command_execution",
    "fileChange": "file_change",
    "mcpToolCall": "mcp_tool_call",
    "dynamicToolCall": "dynamic_tool_call",
    "collabToolCall": "collab_tool_call",
    "collabAgentToolCall": "collab_tool_call",
    "webSearch": "web_search",
}
"""Item types of tool calls → the tool's name, if the item has none; as in `codex exec --json`."""
_OUTCOMES = {
    "completed": Outcome.COMPLETED,
    "interrupted": Outcome.INTERRUPTED,
    "inProgress": Outcome.INTERRUPTED,
}
_LIMITS = frozenset(("usagelimitexceeded", "contextwindowexceeded", "sessionbudgetexceeded"))
_OF_THE_API = frozenset(
    {
        *(
            "httpconnectionfailed",
            "responsestreamconnectionfailed",
            "responsestreamdisconnected",
            "responsetoomanyfailedattempts",
        ),
        *("unauthorized", "internalservererror", "serveroverloaded", "badrequest"),
    }
)
"""Kinds of API errors (`codexErrorInfo`) in lower case, since versions differ in case."""
_OLDER = "codex/event"
"""Prefix of the methods of the first protocol. Newer versions send its events, too."""


@dataclass
class _ServerThread(OpenRun):
    """A thread of `codex app-server`.

    `requested`: the model of the request that began it; `rerouted`: the model that replaces its own
    in this turn. `total`: the last running total; `used`: its increases by model. `turns`: duration
    of each turn in ms, if logged.
    """

    about: AppServerThread = field(default_factory=AppServerThread)
    model: str | None = None
    effort: str | None = None
    provider: str | None = None
    requested: str | None = None
    rerouted: str | None = None
    git: AppServerGit | None = None
    turns: dict[str | None, int | None] = field(default_factory=dict)
    in_turn: bool = False
    total: CodexCounts | None = None
    used: dict[str | None, CodexCounts] = field(default_factory=dict)

    def note(self, method: str, params: AppServerParams) -> None:
        """Read a message. An item comes when it starts and again, whole, when it is completed."""
        item = params.item or AppServerItem()
        if method == "thread/tokenUsage/updated":
            self._tokens(params)
        elif method in ("item/started", "item/completed"):
            if item.type == "agentMessage":
                self.final_text = item.text or self.final_text
            elif item.type == "userMessage":
                self.prompt = self.prompt or lines_of(item.content)
            elif item.type in _SERVER_TOOLS:
                self.tools.called(item.id, item.tool or _SERVER_TOOLS[item.type])
                if item.id and (item.status in _FAILED or item.exit_code):
                    self.tools.failed(item.id)
        elif method == "turn/start":
            self.model = params.model or self.model
            self.effort = params.effort or self.effort
            self.prompt = self.prompt or lines_of(params.input)
        elif method == "turn/started":
            self.turns.setdefault((params.turn.id if params.turn else None) or params.turn_id)
            self.in_turn, self.outcome, self.ended_as, self.errors = (
                True,
                Outcome.INTERRUPTED,
                None,
                [],
            )
            self.note_time(event_time(params.turn.started_at) if params.turn else None)
        elif method == "turn/completed":
            self._turn_completed(params, params.turn or AppServerTurn())
        elif method == "thread/settings/updated" and (settings := params.thread_settings):
            self.model = settings.model or self.model
            self.effort = settings.effort or self.effort
            self.permission_mode = settings.approval_policy or self.permission_mode
        elif method == "model/rerouted":
            self.rerouted = params.to_model
        elif (
            method == "error"
        ):  # often the notice of a retry: it counts only if the turn does not complete
            self.errors = [_message_of(params.error)] if params.error else self.errors
        elif method == "thread/started" or (
            not method and params.thread
        ):  # the answer to a request has the model, too
            if params.thread:
                self.about = self.about.model_copy(
                    update=params.thread.model_dump(exclude_none=True, exclude={"git_info"})
                )
                self.git = params.thread.git_info or self.git
            self.model = (
                params.model or (params.thread.model if params.thread else None) or self.model
            )
            self.effort = params.reasoning_effort or self.effort
            self.provider = params.model_provider or self.about.model_provider or self.provider
            self.cwd = params.cwd or self.about.cwd or self.cwd
            self.permission_mode = params.approval_policy or self.permission_mode

    def _turn_completed(self, params: AppServerParams, turn: AppServerTurn) -> None:
        """End a turn, once: its end may be logged twice, and its beginning not at all."""
        self.turns[turn.id or params.turn_id] = (
            None if turn.duration_ms is None else round(turn.duration_ms)
        )
        self.in_turn, self.rerouted, self.ended_as = False, None, turn.status
        error = turn.error or params.error
        if turn.status == "failed":
            self.errors = [_message_of(error)]
            info = error.codex_error_info if error else None
            name = next(iter(info), "") if isinstance(info, dict) else info
            kind = name.lower() if isinstance(name, str) else ""
            self.outcome = (
                Outcome.LIMIT_REACHED if kind in _LIMITS else outcome_of_error(_message_of(error))
            )
            if kind in _OF_THE_API and self.outcome is Outcome.EXECUTION_ERROR:
                self.outcome = Outcome.API_ERROR
        else:
            self.outcome = _OUTCOMES.get(turn.status or "", Outcome.UNKNOWN)
            self.errors = [] if self.outcome is Outcome.COMPLETED else self.errors
        self.note_time(event_time(turn.completed_at))

    def _tokens(self, params: AppServerParams) -> None:
        """Add the increase since the last total.

        A fork's first total, outside of its turns, is its parent's.
        """
        usage = params.token_usage
        last = CodexCounts.of(usage.last) if usage and usage.last else None
        if usage is None or (usage.total is None and last is None):
            return
        now = (
            CodexCounts.of(usage.total)
            if usage.total
            else (self.total or CodexCounts()).plus(last or CodexCounts())
        )
        grown = now.since(self.total) if self.total else now
        if (
            self.total is None
            and self.about.forked_from_id
            and last
            and last.given <= now.given
            and last.output <= now.output
        ):
            grown = last if self.in_turn else CodexCounts()
        self.total = now
        if grown.total:
            model = self.rerouted or self.model or self.requested
            self.used[model] = self.used.get(model, CodexCounts()).plus(grown)

    def has_content(self) -> bool:
        """Return whether it is a run.

        Without a turn, an answer or tokens it was only listed or opened.
        """
        return bool(self.turns or self.used or self.final_text or self.tools.counts)

    def values(self) -> dict[str, Any]:
        about, model = self.about, self.model or self.requested
        values = super().values()
        lasted = None if None in self.turns.values() else known_sum(self.turns.values())
        basis = (
            TokensBasis.LOWER_BOUND,
            "The log ended within a turn: its last tokens may be missing.",
        )
        models = [
            counts.tokens().as_model(name, self.provider, *(basis if self.in_turn else ()))
            for name, counts in self.used.items()
        ]
        started_at = self.started_at or time_of_uuid(self.session_id)
        names = {"thread": self.session_id, "start": str(started_at), "prompt": self.prompt}
        return values | {
            "run_id": self.session_id if is_uuid(self.session_id) else canonical_hash(names),
            "agent": CODEX.key,
            "record_kind": RecordKind.STREAM,
            "rank": 3 if models else 1,
            "agent_version": about.cli_version,
            "parent_session_id": about.forked_from_id
            or about.parent_thread_id
            or spawned_by(about.source, "subAgent"),
            "requested_model": model,
            "effort": self.effort,
            "models": models or [unrecorded(model, _NO_TOKENS, self.provider)],
            "started_at": started_at,
            "duration_ms": values["duration_ms"] if lasted is None else lasted,
            "num_turns": len(self.turns) or None,
            "is_error": None
            if self.outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN)
            else self.outcome is not Outcome.COMPLETED,
            "repo": self.git.origin_url if self.git else None,
            "branch": self.git.branch if self.git else None,
            "base_commit": self.git.sha if self.git else None,
        }


def _message_of(error: AppServerError | None) -> str:
    return (error.message if error else None) or "turn failed"


class CodexAppServer(StreamReader[_ServerThread]):
    """Logs of `codex app-server` messages → runs, one per thread.

    Messages are bare, behind a prefix, or each in an object of the log.

    Every token update has the thread's running total; its increase belongs to the current model. A
    fork continues the total of its parent. A thread is interrupted if its last turn did not end.
    Messages have no time: it comes from the log, newer turns, or the thread id. Two processes on
    one thread write two logs, which are records of one run: the one with more tokens is kept.
    """

    agent: ClassVar[str] = CODEX.key

    def __init__(self) -> None:
        super().__init__()
        self._last: str | None = None
        self._requested: str | None = None
        self._older: Document | None = None

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        """Return the ended runs.

        Messages of turns and items without a thread belong to the thread of the message before.
        """
        value = app_server_message(document.value) or {}
        names = ("method", "params", "result")
        try:
            message = AppServerMessage.model_validate(
                {name: value[name] for name in names if isinstance(value.get(name), dict | str)}
            )
        except ValidationError as error:
            raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
        method, params = message.method or "", message.params or message.result
        if method.startswith(_OLDER):
            self._older = document
            return ()
        if params is None:
            return ()
        if method in ("thread/start", "thread/resume", "thread/fork"):
            self._requested = params.model
            return ()
        thread_id = (params.thread.id if params.thread else None) or params.thread_id or self._last
        if thread_id is None and not method.startswith(("turn/", "item/", "thread/tokenUsage")):
            return ()
        closed = self._make_room(thread_id)
        thread = self._open.get(thread_id) or self._open.setdefault(
            thread_id, _ServerThread(document, thread_id, requested=self._requested)
        )
        self._last, thread.last = thread_id, document
        wrapped = (
            event_time(document.value.get(name)) for name in ("timestamp", "time", "ts", "at")
        )
        thread.note_time(document.logged_at or next(filter(None, wrapped), None))
        thread.note(method, params)
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        """Yield the open threads; events of only the first protocol become a reject naming it."""
        runs = tuple(super().end())
        yield from runs
        if self._older and not runs:
            yield self._older.refused(RejectReason.LOOK_ALIKE, str(OLDER_CODEX))
        self._older = None
