"""Codex's rollout files → runs, one per session, and its responses.

Tokens are running totals of the session, each written about twice; every increase is one response.
A fork or a sub-agent begins with a copy of its parent's lines, including totals. The copy ends at
the first turn that is younger than the session: turn ids are UUIDs of version 7; since 2026-09 a
sub-agent states its first own line. If nothing separates them, all responses count as an upper
bound, named like the parent's, so that they count once beside its file. A file without any total
ranks below the stream of its thread.

Since 0.146 a file may continue another one that it names, its `history_base`, without a copy of it:
a fork, a thread after a revert, or the next page of a long thread. Files of one thread are one run;
totals continue those of the base, so the first response is the last request.

TRAE CLI, a fork, writes the same. Rules and cases: Codex's issues 1370, 17539, 19022, 35746 and
47003, as handled in ccusage, tokscale and CodexBar (3753).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from pydantic import ValidationError

from ingest.agents.base import RESPONSE_COLUMNS, Found, Rows
from ingest.agents.distilled import complaints
from ingest.agents.shared.logged import (
    commits_in,
    joined,
    logged_by,
    opens_pull_request,
    pull_requests_in,
)
from ingest.agents.shared.runs import (
    CALLS_KEPT,
    LONGEST_NAME,
    By,
    OpenRun,
    StreamReader,
    canonical_hash,
    is_uuid,
    time_of_uuid,
)
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import CODEX, CODEX_ROLLOUT_TYPES, TRAE_CLI
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.response import ResponseCopyRow
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.text import paired
from schemas.wire.codex import (
    CodexUsage,
    Compacted,
    EventMessage,
    ItemCompleted,
    SessionMeta,
    TokenInfo,
    TurnContext,
    UsageRecord,
)

RECORDS_KEPT = 64
"""Maximum number of usage records remembered in a file with totals: that of a compaction comes just
before it.
"""
_LINES_A_SECOND = 100_000
"""Rank of one second of a revision's age, in lines; ages above 115 days share a rank."""
_CLOCKS_DIFFER = timedelta(seconds=1)
_LONGEST_NUMBER = 18

# Token counts


class CodexCounts(NamedTuple):
    """Tokens as Codex counts them.

    `given` includes cache reads and writes, `output` includes reasoning (None if not recorded).
    """

    given: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    reasoning: int | None = None

    @classmethod
    def of(cls, usage: CodexUsage) -> CodexCounts:
        """Return the counts of one request, or of a running total."""
        cached, written = usage.cached_input_tokens, usage.cache_write_input_tokens
        return cls(
            usage.input_tokens, cached, written, usage.output_tokens, usage.reasoning_output_tokens
        )

    @property
    def total(self) -> int:
        """Return all tokens; cached ones and reasoning are parts of the others."""
        return self.given + self.output

    def plus(self, other: CodexCounts) -> CodexCounts:
        reasoning = (
            None
            if self.reasoning is other.reasoning is None
            else (self.reasoning or 0) + (other.reasoning or 0)
        )
        return CodexCounts(
            self.given + other.given,
            self.cached + other.cached,
            self.written + other.written,
            self.output + other.output,
            reasoning,
        )

    def since(self, earlier: CodexCounts) -> CodexCounts:
        """Return the usage between two running totals.

        All of this one if input or output has fallen, since the counter restarted.
        """
        if self.given < earlier.given or self.output < earlier.output:
            return self
        return CodexCounts(
            self.given - earlier.given,
            max(0, self.cached - earlier.cached),
            max(0, self.written - earlier.written),
            self.output - earlier.output,
            None if self.reasoning is None else max(0, self.reasoning - (earlier.reasoning or 0)),
        )

    def tokens(self) -> Tokens:
        """Return the tokens in disjoint classes; the cached part is capped at the input."""
        read = min(self.cached, self.given)
        written = min(self.written, self.given - read)
        return Tokens(self.given - read - written, read, written, self.output, self.reasoning)


# Tool calls. A command tells its exit code at the head of its output, before 2026 in JSON behind
# it; versions of 2025 say `success`.
# Words of an error count only if Codex itself writes them.

_TOOL_NAMES = {
    "function_call": "name",
    "custom_tool_call": "name",
    "local_shell_call": "type",
    "web_search_call": "type",
    "tool_search_call": "type",
}
"""Item types of tool calls → the field with the tool's name."""
_OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "local_shell_call_output"))
_CALL_ENDS = frozenset(("exec_command_end", "patch_apply_end", "mcp_tool_call_end"))
_EXIT_CODE_AT_HEAD = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?(?:Process exited with code|Exit code:) "
    r"(-?\d{1,10})"
)
_EXIT_CODE_AT_TAIL = re.compile(r'"metadata": ?\{"exit_code": ?(-?\d{1,10})')
_LONGEST_TAIL = 200
_REFUSALS = (
    "apply_patch verification failed",
    "exec_command failed",
    "failed to parse function arguments",
)


def is_failure(item: dict[str, Any]) -> bool:
    """Return whether an output is that of a failed call, as far as the log shows."""
    output = item.get("output")
    if isinstance(output, dict):
        return output.get("success") is False
    if not isinstance(output, str):
        return False
    found = _EXIT_CODE_AT_HEAD.match(output)
    if found is None and output.startswith("{"):
        found = _EXIT_CODE_AT_TAIL.search(output[-_LONGEST_TAIL:])
    return int(found[1]) != 0 if found else output.startswith(_REFUSALS)


def ended_badly(event: dict[str, Any]) -> bool:
    """Return whether an event in `_CALL_ENDS` reports a failure."""
    result = event.get("result")
    return (
        event.get("success") is False
        or event.get("exit_code") not in (None, 0)
        or (isinstance(result, dict) and "Err" in result)
    )


# Responses

_DEFAULTS = {name: column.default for name, column in ResponseCopyRow.columns.items()}


@dataclass(slots=True)
class _Call:
    tool: str
    logged: str | None = None
    commits: tuple[str, ...] = ()
    pull_requests: tuple[str, ...] = ()
    is_opening: bool = False
    failed: bool = False


class Moment(NamedTuple):
    """Time and place of a response in a session. `copied`: on a copied line."""

    turn: str | None
    at: datetime | None
    model: str | None
    copied: bool
    effort: str | None


class CodexResponse(NamedTuple):
    """One response, identified by its turn, its `number` in it and `total`.

    `total` is the running token total. A compaction has an id.

    `calls`: range of the session's tool calls that belong to it.
    """

    moment: Moment
    number: int
    total: int
    used: CodexCounts
    calls: tuple[int, int]
    response_id: str | None = None

    def name(self, session: str, *, is_continued: bool) -> str:
        """Return an id, since Codex logs none with the tokens.

        Copies in the files of forks and sub-agents get the same.

        If turn ids are no UUIDs, a fork continues its parent's numbers: only the total
        distinguishes the two. So it does in a file that continues another one (`is_continued`),
        perhaps in the middle of a turn.
        """
        if self.response_id:
            return self.response_id
        turn = self.moment.turn
        place = f"{session}/{turn}" if turn else session
        return (
            f"{place}/{self.number}"
            if is_uuid(turn) and not is_continued
            else f"{place}/{self.number}/{self.total}"
        )


@dataclass
class CodexResponses:
    """The responses of a session so far.

    `counted` from increases of the totals, `recorded` from lines of their own.

    A recorded response counts only if there are no totals at all, or if it is one of a compaction,
    which the totals leave out (Codex's issue 47003). `attributed`: number of tool calls assigned to
    a response. `unconfirmed`: the first one of a file that continues another, which may repeat the
    last request of that, as each turn begins with an update of rate limits. A recorded response
    says whether it does.
    """

    has_totals: bool = False
    counted: list[CodexResponse] = field(default_factory=list)
    recorded: dict[str, CodexResponse] = field(default_factory=dict)
    calls: list[_Call] = field(default_factory=list)
    open_calls: dict[str, _Call] = field(default_factory=dict)
    attributed: int = 0
    numbers: Counter[str | None] = field(default_factory=Counter)
    record_numbers: Counter[str | None] = field(default_factory=Counter)
    compacted: CodexCounts | None = None
    unconfirmed: CodexResponse | None = None

    def called(self, call_id: str | None, tool: str, arguments: Any) -> None:
        """Count a tool call, once per id."""
        if call_id is not None and call_id in self.open_calls:
            return
        call = _Call(str(paired(tool[:LONGEST_NAME])), logged_by(tool, arguments))
        call.is_opening = opens_pull_request(arguments)
        self.calls.append(call)
        if call_id is not None:
            if len(self.open_calls) >= CALLS_KEPT:
                del self.open_calls[next(iter(self.open_calls))]
            self.open_calls[call_id] = call

    def failed(self, call_id: str) -> None:
        if call := self.open_calls.get(call_id):
            call.failed = True

    def committed(self, call_id: str, output: Any) -> None:
        """Store the commits and pull requests that a call made, by its output."""
        if not (call := self.open_calls.get(call_id)):
            return
        call.commits = commits_in(output) or call.commits
        if call.is_opening:
            call.pull_requests = pull_requests_in(output) or call.pull_requests

    def grew(
        self, used: CodexCounts, total: CodexCounts, moment: Moment, *, may_repeat: bool = False
    ) -> None:
        """Add a response, from an increase of the totals."""
        self.has_totals = True
        compacted, self.compacted = self.compacted, None
        if used == compacted:
            return  # the totals do count the compaction
        if (
            may_repeat
            and self.recorded
            and all(used != record.used for record in self.recorded.values())
        ):
            return
        calls = (self.attributed, len(self.calls))
        self.attributed = len(self.calls)
        self.numbers[moment.turn] += 1
        self.counted.append(
            CodexResponse(moment, self.numbers[moment.turn], total.total, used, calls)
        )
        if may_repeat and not self.recorded:
            self.unconfirmed = self.counted[-1]

    def record(
        self, response_id: str | None, used: CodexCounts, total: int, moment: Moment
    ) -> None:
        """Add a response from a line with its usage.

        `total`: the running total of tokens, 0 if the line has none.
        """
        name = response_id or f"#{len(self.recorded)}"
        if name in self.recorded:
            return
        if self.unconfirmed and self.unconfirmed.used != used:
            self.counted.remove(self.unconfirmed)
        self.unconfirmed = None
        if self.has_totals and len(self.recorded) >= RECORDS_KEPT:
            del self.recorded[next(iter(self.recorded))]
        before = (
            next(reversed(self.recorded.values())).calls[1] if self.recorded else self.attributed
        )
        self.record_numbers[moment.turn] += 1
        self.recorded[name] = CodexResponse(
            moment, self.record_numbers[moment.turn], total, used, (before, len(self.calls))
        )

    def compaction(self, response_id: str) -> None:
        """Mark a response as the one of a compaction."""
        record = self.recorded.get(response_id)
        if record is None or (self.counted and self.counted[-1].used == record.used):
            return
        if self.has_totals:
            self.compacted = record.used
            self.counted.append(record._replace(calls=(0, 0), response_id=response_id))
            del self.recorded[response_id]
        else:
            self.recorded[response_id] = record._replace(response_id=response_id)

    def chosen(self, *, copied: bool) -> list[CodexResponse]:
        """Return the responses that count, in order: copied ones or the session's own."""
        found = self.counted if self.has_totals else list(self.recorded.values())
        return [one for one in found if one.moment.copied == copied and one.used.total]


# Sessions


@dataclass
class _Session(OpenRun):
    """A session.

    `origin`: the session that it continues, with copies of its lines or without; `is_fork`: whether
    it is declared as a fork. `own_from`: number of its first own line, if known. `is_later_part`:
    it continues a file of its own thread, begun when that was `age_s` seconds old. `copying`: the
    lines are copies; `dated`: that is certain. `total`: the last running total, logged as
    `last_total`.
    """

    meta: SessionMeta = field(default_factory=SessionMeta)
    origin: str | None = None
    is_fork: bool = False
    own_from: int | None = None
    is_later_part: bool = False
    age_s: int = 0
    copying: bool = False
    dated: bool = False
    lines: int = 0
    last_stamp: str = ""
    last_number: float = 0
    turn: str | None = None
    model: str | None = None
    effort: str | None = None
    last_total: dict[str, Any] | None = None
    total: CodexCounts | None = None
    responses: CodexResponses = field(default_factory=CodexResponses)
    tasks: int = 0
    prompts: int = 0

    def has_begun(self) -> bool:
        """Return whether it has lines of its own."""
        return bool(self.tasks or self.prompts or (not self.copying and self.responses.counted))

    def has_content(self) -> bool:
        """Return whether it is a run: lines before a session's first one need turns or tokens."""
        return bool(self.meta.id or self.has_begun() or self.total)

    def is_upper_bound(self) -> bool:
        """Return whether its lines could not be separated from its parent's."""
        return self.copying and not self.dated

    def note(self, event: dict[str, Any]) -> None:
        """Read a line. On ValidationError only its time and place are kept."""
        kind, payload, stamp = event["type"], event["payload"], event["timestamp"]
        self.note_stamp(event)
        if self.own_from is not None and (number := _whole(event.get("ordinal"))) is not None:
            self._note_place(copied=number < self.own_from)
        if kind == "response_item":
            self._item(payload)
        elif kind == "event_msg":
            name = payload.get("type")
            if name == "token_count":
                self._tokens(payload.get("info"), stamp)
            elif not isinstance(name, str):
                return
            elif name in _READ_EVENTS:
                self._event(EventMessage.model_validate(payload))
            elif name == "item_completed":
                self._event(_as_message(ItemCompleted.model_validate(payload)))
            elif (
                name in _CALL_ENDS
                and isinstance(call := payload.get("call_id"), str)
                and ended_badly(payload)
            ):
                self.responses.failed(call)
                self.tools.failed(call)
        elif kind == "turn_context":  # every turn has its settings, mostly those of the turn before
            turn = payload.get("turn_id")
            if turn and turn != self.turn:
                self._enter_turn(TurnContext.model_validate(payload).turn_id)
            if (
                payload.get("model") != self.model
                or payload.get("effort") != self.effort
                or payload.get("approval_policy") != self.permission_mode
            ):
                context = TurnContext.model_validate(payload)
                self.model = context.model or self.model
                self.effort = context.effort or self.effort
                self.permission_mode = context.approval_policy or self.permission_mode
        elif kind == "token_usage_record":
            record = UsageRecord.model_validate(payload)
            if record.usage:
                total = (
                    CodexCounts.of(record.thread_token_usage).total
                    if record.thread_token_usage
                    else 0
                )
                self.responses.record(
                    record.response_id, CodexCounts.of(record.usage), total, self._moment(stamp)
                )
        elif kind == "compacted" and (
            response_id := Compacted.model_validate(payload).compaction_response_id
        ):
            self.responses.compaction(response_id)

    def note_stamp(self, event: dict[str, Any]) -> None:
        """Read the time of a line.

        Response items are the model's, except messages of other roles and tool output.
        """
        stamp, payload = event.get("timestamp"), event.get("payload")
        if type(stamp) is str:
            self.last_stamp = max(self.last_stamp, stamp)
        elif isinstance(stamp, int | float):
            self.last_number = max(stamp, self.last_number)
        time = event_time(stamp)
        self.started_at = self.started_at or time
        by = By.OTHERS
        if (
            event.get("type") == "response_item"
            and isinstance(payload, dict)
            and payload.get("role") not in _OTHERS
        ):
            by = By.TOOL if str(payload.get("type")).endswith("_output") else By.MODEL
        self.active.note(time, by)

    def _note_place(self, *, copied: bool) -> None:
        """Set whether the following lines are copies. Calls on copied lines have no response."""
        if self.copying and not copied:
            self.responses.attributed = len(self.responses.calls)
        self.copying, self.dated = copied, True

    def _item(self, item: dict[str, Any]) -> None:
        kind, call_id = item.get("type"), item.get("call_id")
        call = call_id if isinstance(call_id, str) else None
        if isinstance(kind, str) and kind in _TOOL_NAMES:
            name = item.get(_TOOL_NAMES[kind])
            tool = name if isinstance(name, str) and name else "tool"
            self.responses.called(
                call, tool, item.get("arguments") or item.get("input") or item.get("action")
            )
            if not self.copying:
                self.tools.called(call, tool)
        elif call and isinstance(kind, str) and kind in _OUTPUTS:
            output = item.get("output")
            self.responses.committed(
                call, output.get("content") if isinstance(output, dict) else output
            )
            if is_failure(item):
                self.responses.failed(call)
                self.tools.failed(call)

    def _event(self, event: EventMessage) -> None:
        if event.type == "task_started":
            self._enter_turn(event.turn_id, event_time(event.started_at))
            if not self.copying:
                self.tasks += 1
                self.outcome, self.ended_as, self.errors = Outcome.INTERRUPTED, None, []
        elif self.copying:
            return
        elif event.type == "user_message":
            self.prompts += 1
            self.prompt = (
                None if self.is_later_part else self.prompt or event.message
            )  # the first one is in an earlier file
        elif event.type == "agent_message":
            self.final_text = event.message or self.final_text
        elif event.type == "task_complete":
            self.outcome = Outcome.COMPLETED
            self.final_text = event.last_agent_message or self.final_text
        elif event.type == "turn_aborted":
            self.outcome, self.ended_as = Outcome.INTERRUPTED, event.reason
        elif event.type == "error":
            self.errors = [event.message] if event.message else self.errors

    def _enter_turn(self, turn: str | None, started_at: datetime | None = None) -> None:
        """Enter a turn; one that is older than its session was copied from the parent.

        An old start, without a UUID to confirm it, counts as a copy only if the file declares a
        fork.
        """
        self.turn = turn
        made_at = time_of_uuid(turn)
        began_at = made_at or started_at
        if (
            began_at is None
            or self.started_at is None
            or (self.own_from is not None and self.dated)
        ):
            return
        copied = began_at < self.started_at - _CLOCKS_DIFFER
        if made_at or self.is_fork or not copied:
            self._note_place(copied=copied)

    def _tokens(self, logged: Any, stamp: object) -> None:
        """Add the increase since the last total as a response of this turn's model.

        A repeated total adds nothing.

        A file that continues another one without a copy of its totals continues these: the first
        request is its own.
        """
        if logged is None:
            return
        total = logged.get("total_token_usage") if isinstance(logged, dict) else None
        if total is not None and total == self.last_total:
            return
        info, is_first = TokenInfo.model_validate(logged), False
        last = CodexCounts.of(info.last_token_usage) if info.last_token_usage else None
        if info.total_token_usage:
            now = used = CodexCounts.of(info.total_token_usage)
            if self.total:
                used = now.since(self.total)
            elif (
                self.origin is not None
                and not self.copying
                and last
                and last.given <= now.given
                and last.output <= now.output
            ):
                used, is_first = last, True
        elif last:
            now, used = (self.total or CodexCounts()).plus(last), last
        else:
            return
        self.last_total, self.total = total, now
        if used.total:
            self.responses.grew(used, now, self._moment(stamp), may_repeat=is_first)

    def _moment(self, stamp: object) -> Moment:
        return Moment(self.turn, event_time(stamp), self.model, self.copying, self.effort)

    def values(self) -> dict[str, Any]:
        """Return the values of a `Run`; tokens by model are sums over counted responses."""
        meta, git = self.meta, self.meta.git
        self.ended_at = event_time(self.last_stamp) or event_time(self.last_number)
        has_counts = self.total is not None or bool(self.responses.recorded)
        models = (
            [unrecorded(self.model, "The session has no token counts.", meta.model_provider)]
            if self.model
            else []
        )
        outputs = Counter[str | None]()
        if has_counts:
            sums: dict[str | None, Tokens] = {}
            for one in self.responses.chosen(copied=self.is_upper_bound()):
                tokens = one.used.tokens()
                sums[one.moment.model] = sums.get(one.moment.model, Tokens()) + tokens
                outputs[one.moment.effort] += tokens.output or 0
            bound = (
                TokensBasis.UPPER_BOUND,
                "The session was forked; its lines cannot be separated from its parent's.",
            )
            basis = bound if self.is_upper_bound() else (TokensBasis.EXACT, None)
            sums = sums or {self.model: Tokens()}
            models = [
                tokens.as_model(model, meta.model_provider, *basis)
                for model, tokens in sums.items()
            ]
        instructions = (
            meta.base_instructions.get("text")
            if isinstance(meta.base_instructions, dict)
            else meta.base_instructions
        )
        beginning = (
            instructions[:200] if isinstance(instructions, str) else ""
        )  # here an agent says who it is
        is_trae = (
            "trae" in (meta.model_provider, (meta.originator or "").lower().partition("-")[0])
            or "TRAE CLI" in beginning
        )
        return super().values() | {
            "run_id": _run_id(meta, self.started_at),
            "agent": TRAE_CLI.key if is_trae else CODEX.key,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": 4 + self.is_later_part
            if has_counts
            else 1,  # the end of a thread is in its later part
            "lines": self.age_s * _LINES_A_SECOND + min(self.lines, _LINES_A_SECOND - 1)
            if self.age_s
            else self.lines,
            "agent_version": meta.cli_version,
            "session_id": meta.id,
            "parent_session_id": _parent(meta),
            "models": models,
            "effort": max(outputs, key=outputs.__getitem__, default=None) or self.effort,
            "num_turns": self.tasks or self.prompts or None,
            "errors": self.errors if self.outcome is not Outcome.COMPLETED else (),
            "repo": git.repository_url if git else None,
            "branch": git.branch if git else None,
            "base_commit": git.commit_hash if git else None,
            "cwd": meta.cwd,
        }

    def response_rows(self, run: Rows) -> tuple[tuple[Any, ...], ...]:
        """Return the responses as values of RESPONSE_COLUMNS.

        A response without a model gets the run's model if there is only one.
        """
        meta, run_id = self.meta, run.run.run_id
        origin = (self.origin if self.is_upper_bound() else None) or run_id
        started_by = "subagent" in meta.source if isinstance(meta.source, str | dict) else False
        is_subagent = (
            started_by or meta.thread_source == "subagent" or meta.parent_thread_id is not None
        )
        models = {row.model_id: row for row in run.model_usage}
        if len(run.model_usage) == 1:
            models.setdefault(None, run.model_usage[0])
        rows = []
        for number, response in enumerate(self.responses.chosen(copied=self.is_upper_bound())):
            tokens, model = response.used.tokens(), models[response.moment.model]
            calls = self.responses.calls[slice(*response.calls)]
            row = _DEFAULTS | {
                "session_id": run_id,
                "message_id": response.name(origin, is_continued=bool(meta.history_base)),
                "at": response.moment.at,
                "agent_id": meta.id or run_id if is_subagent else None,
                "is_sidechain": is_subagent,
                "model_id": model.model_id,
                "model": model.model,
                "provider": model.provider,
                "region": model.region,
                "input_tokens": tokens.uncached,
                "output_tokens": tokens.output,
                "reasoning_tokens": tokens.reasoning,
                "cache_read_tokens": tokens.read,
                "cache_write_tokens": tokens.written,
                "tokens_basis": TokensBasis.UPPER_BOUND
                if self.is_upper_bound()
                else TokensBasis.EXACT,
                "tools": tuple(call.tool for call in calls),
                "failed_tools": tuple(call.tool for call in calls if call.failed),
                "logged": joined(call.logged for call in calls),
                "commits": tuple(dict.fromkeys(commit for call in calls for commit in call.commits))
                or None,
                "pull_requests": tuple(
                    dict.fromkeys(opened for call in calls for opened in call.pull_requests)
                )
                or None,
                "response_no": number,
            }
            rows.append(tuple(row[name] for name in RESPONSE_COLUMNS))
        return tuple(rows)


_READ_EVENTS = frozenset(
    ("task_started", "task_complete", "turn_aborted", "user_message", "agent_message", "error")
)
_MESSAGES = {"UserMessage": "user_message", "AgentMessage": "agent_message"}
"""Types of items with a text → the event that had it until 0.150."""
_OTHERS = ("user", "developer", "system")
"""Roles of messages not written by the model."""


def _as_message(event: ItemCompleted) -> EventMessage:
    """Return the message of a completed item; an event without a type for other items."""
    item = event.item
    texts = (part.text for part in (item.content if item else None) or ())
    return EventMessage(
        type=_MESSAGES.get(item.type or "") if item else None,
        message="\n".join(filter(None, texts)) or None,
    )


def _run_id(meta: SessionMeta, started_at: datetime | None) -> str:
    return (
        meta.id
        if meta.id and is_uuid(meta.id)
        else canonical_hash({"session": meta.id, "start": str(started_at), "cwd": meta.cwd})
    )


def _began_at(meta: SessionMeta, document: Document) -> datetime | None:
    return event_time(meta.timestamp) or event_time(document.value.get("timestamp"))


def _parent(meta: SessionMeta) -> str | None:
    """Return the session it was forked from, or that started it as a sub-agent."""
    return meta.forked_from_id or meta.parent_thread_id or spawned_by(meta.source, "subagent")


def spawned_by(source: Any, subagent: str) -> str | None:
    """Return the session that started a sub-agent, from the sub-agent's source."""
    for name in (subagent, "thread_spawn", "parent_thread_id"):
        source = source.get(name) if isinstance(source, dict) else None
    return source if isinstance(source, str) else None


def _whole(value: object) -> int | None:
    """Return a whole number, which some versions write as text."""
    if isinstance(value, str) and value.isdecimal() and len(value) < _LONGEST_NUMBER:
        return int(value)
    return value if type(value) is int else None


class CodexRollout(StreamReader[_Session]):
    """Rollout files, `sessions/YYYY/MM/DD/rollout-*.jsonl`."""

    agent: ClassVar[str] = CODEX.key

    @staticmethod
    def recognises(document: Document) -> bool:
        return document.value.get("type") in CODEX_ROLLOUT_TYPES and _is_line(document.value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        value = document.value
        try:
            if value["type"] == "session_meta":
                return self._meta(document, SessionMeta.model_validate(value["payload"]))
            session = self._open.get(None) or self._open.setdefault(None, _Session(document))
            session.note(value)
            session.lines += 1
            session.last = document
        except ValidationError as error:
            raise InvalidRecord(
                RejectReason.INVALID_RECORD, f"{value['type']}: {complaints(error)}"
            ) from error
        return ()

    def note(self, event: dict[str, Any]) -> bool:
        session = self._open.get(None)
        if session is None or event["type"] == "session_meta" or not _is_line(event):
            return False
        try:
            session.note(event)
        except ValidationError:
            return False
        session.lines += 1
        return True

    def noted(self, last: Document) -> None:
        if session := self._open.get(None):
            session.last = last

    def _meta(self, document: Document, meta: SessionMeta) -> Iterable[Found | Unreadable]:
        """Read the first line of a session.

        Of a new one if this one's own turns have begun, else of the parent, followed by copied
        lines.

        Any session with a parent may begin with copies of its lines, unless it names the file that
        it continues.
        """
        session = self._open.get(None)
        closed: tuple[Found | Unreadable, ...] = ()
        if (
            session
            and not meta.history_base
            and (session.meta.id == meta.id or not session.has_begun())
        ):
            if session.meta.id != meta.id:
                session.origin = _run_id(meta, _began_at(meta, document))
                session.is_fork = session.copying = True
            session.last = document
        else:
            closed = self._close()
            parent, base = _parent(meta), meta.history_base
            session = _Session(
                document,
                meta=meta,
                started_at=_began_at(meta, document),
                origin=parent,
                copying=parent is not None,
            )
            session.is_fork = meta.forked_from_id is not None
            session.own_from = _whole(meta.subagent_history_start_ordinal)
            if base:  # all its lines are its own
                session.origin, session.copying, session.dated, session.own_from = (
                    parent or base.thread_id or meta.id,
                    False,
                    True,
                    0,
                )
                session.is_later_part = parent is None or base.thread_id == meta.id
                session.started_at = time_of_uuid(meta.id) or session.started_at
                written_at = event_time(document.value.get("timestamp"))
                if (
                    session.is_later_part and session.started_at and written_at
                ):  # the newest one counts, even if it is short
                    session.age_s = max(0, int((written_at - session.started_at).total_seconds()))
            self._open[None] = session
        session.note_stamp(document.value)
        return closed

    def _close(self, key: str | None = None) -> tuple[Found | Unreadable, ...]:
        session = self._open.get(key)
        closed = super()._close(key)
        if session and closed and isinstance(run := closed[0], Found):
            return (run._replace(responses=session.response_rows),)
        return closed


def _is_line(event: dict[str, Any]) -> bool:
    return type(event.get("payload")) is dict and event_time(event.get("timestamp")) is not None
