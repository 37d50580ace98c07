"""Pi's session files and the events of `pi --mode json` → runs, one per session.

A session file is a tree since version 2: all branches were paid, but the final text is that of the
last one. A session branched from another begins with a copy of its lines, which are older than its
header. Without such a parent older lines are its own, since the header is only written with the
first response. A stream repeats each message up to four times: `message_end` counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.base import RESPONSE_COLUMNS, Found, Rows
from ingest.agents.shared.logged import (
    LOGGING_TOOL,
    commits_in,
    described,
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
    is_failed,
    is_uuid,
    wire_record,
)
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.prices.model_ids import parse_model_id
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import PI
from schemas.errors import InvalidRecord
from schemas.rows.response import ResponseCopyRow
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.text import paired
from schemas.wire.pi import PiLine, PiMessage, PiUsage

LINES_KEPT = 4096

_OUTCOMES = {
    "stop": Outcome.COMPLETED,
    "length": Outcome.INTERRUPTED,
    "toolUse": Outcome.INTERRUPTED,
    "aborted": Outcome.INTERRUPTED,
}
_RESUMED_AFTER = timedelta(minutes=1)
_FILE_OF_PARENT = re.compile(r"([0-9a-f]{8}-[0-9a-f-]{27})(?:\.jsonl)?$")
_V1_FIELDS = {
    "compaction": "tokensBefore",
    "model_change": "modelId",
    "thinking_level_change": "thinkingLevel",
}

_Key = tuple[str | None, str | None]
"""(model, provider)"""

_DEFAULTS = {name: column.default for name, column in ResponseCopyRow.columns.items()}


@dataclass(slots=True)
class _Response:
    """One response, or the call that summarized the history, with mostly unknown `tokens`."""

    line_id: str | None
    at: datetime | None
    key: _Key
    tokens: Tokens | None
    cost: Decimal | None
    stop_reason: str | None = None
    tools: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    logged: str | None = None
    commits: tuple[str, ...] = ()
    pull_requests: tuple[str, ...] = ()
    opening: set[str] = field(default_factory=set)
    """Ids of its calls that open a pull request."""


@dataclass
class _Session(OpenRun):
    """One open session. `is_open`: an answer is pending.

    `texts`: the model's last text up to each line, by line id.

    `calls`: the last tool calls, by id, with their responses and tools.
    """

    header: PiLine | None = None
    is_stream: bool = False
    is_open: bool = True
    first: dict[str, Any] = field(default_factory=dict)
    used: dict[_Key, Tokens] = field(default_factory=dict)
    costs: dict[_Key, Decimal] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    turns: int = 0
    api_ms: float | None = None
    copied_prompt: str | None = None
    effort: str | None = None
    texts: dict[str, str | None] = field(default_factory=dict)
    responses: list[_Response] = field(default_factory=list)
    calls: dict[str, tuple[_Response, str]] = field(default_factory=dict)

    @property
    def parent_file(self) -> str | None:
        return (self.header.branched_from or self.header.parent_session) if self.header else None

    def has_content(self) -> bool:
        """Return whether it is a run: a header alone is a killed run, if it is certainly Pi's."""
        header = self.header
        return bool(self.first or not header or header.version is not None or header.model_id)

    def note(self, line: PiLine) -> None:
        """Read a line after the header.

        An older line is a copy from the session that this one was branched from.
        """
        message = line.message
        self.effort = line.thinking_level or self.effort
        self.is_stream = self.is_stream or line.type == "message_end"
        if line.id:
            self.final_text = self.texts.get(line.parent_id or "")
        began_at = event_time(self.header.timestamp) if self.header and self.parent_file else None
        written_at = event_time(line.timestamp)
        if began_at and written_at and written_at < began_at:
            self.copied_prompt = self.copied_prompt or (
                _text_of(message.content) if message and message.role == "user" else None
            )
        elif message:
            self._note_message(line, message)
        elif line.type in ("compaction", "branch_summary") and not line.from_hook:
            # A summary was written by the model that is in use; the log rarely tells its tokens.
            key = next(reversed(self.used), (None, None))
            if line.usage and self.used:
                self._count(key, line.usage)
            else:
                self.doubts[
                    "The log does not tell the tokens of the calls that summarized its history."
                ] = None
            self._respond(line, key, line.usage if self.used else None)
        if line.id:
            self.texts[line.id] = self.final_text
            if len(self.texts) > LINES_KEPT:
                del self.texts[next(iter(self.texts))]

    def _note_message(self, line: PiLine, message: PiMessage) -> None:
        by = {"assistant": By.MODEL, "toolResult": By.TOOL}.get(message.role or "", By.OTHERS)
        self.note_time(event_time(message.timestamp) or event_time(line.timestamp), by)
        if not self.first:  # what tells a session without an id from any other
            usage = message.usage.model_dump(mode="json") if message.usage else None
            self.first = {
                "time": message.timestamp,
                "role": message.role,
                "text": _text_of(message.content),
                "usage": usage,
            }
        if message.role == "user":
            self.turns += 1
            self.prompt = self.prompt or _text_of(message.content)
            self.is_open, self.ended_as, self.errors = True, None, []
        elif message.role == "toolResult":
            self.tools.called(message.tool_call_id, message.tool_name or "tool")
            if message.is_error and message.tool_call_id:
                self.tools.failed(message.tool_call_id)
            self._note_result(message)
        elif message.role == "assistant":
            self.final_text = _text_of(message.content) or self.final_text
            self.is_open, self.ended_as, self.errors = (
                False,
                message.stop_reason,
                [message.error_message] if message.error_message else [],
            )
            if message.duration is not None:
                self.api_ms = (self.api_ms or 0) + message.duration
            if message.usage:
                self._count((message.model, message.provider), message.usage)
                self._respond(line, (message.model, message.provider), message.usage, message)

    def _count(self, key: _Key, usage: PiUsage) -> None:
        tokens = _tokens(usage)
        self.used[key] = self.used[key] + tokens if key in self.used else tokens
        if usage.cost and usage.cost.total is not None:
            self.costs[key] = self.costs.get(key, Decimal()) + usage.cost.total

    def _respond(
        self, line: PiLine, key: _Key, usage: PiUsage | None, message: PiMessage | None = None
    ) -> None:
        """Add a response with its tool calls; none that failed before it cost or did anything."""
        at = event_time(line.timestamp) or (event_time(message.timestamp) if message else None)
        cost = usage.cost.total if usage and usage.cost else None
        response = _Response(
            line.id,
            at,
            key,
            _tokens(usage) if usage else None,
            cost,
            message.stop_reason if message else None,
        )
        content = message.content if message else None
        for block in content if isinstance(content, list) else ():
            if (
                isinstance(block, dict)
                and block.get("type") == "toolCall"
                and isinstance(tool := block.get("name"), str)
            ):
                name = str(paired(tool[:LONGEST_NAME]))
                response.tools.append(name)
                response.logged = joined((response.logged, logged_by(name, block.get("arguments"))))
                if isinstance(call := block.get("id"), str):
                    self.calls[call] = response, name
                    if opens_pull_request(block.get("arguments")):
                        response.opening.add(call)
                    if len(self.calls) > CALLS_KEPT:
                        del self.calls[next(iter(self.calls))]
        if response.tokens is None or response.tokens.total or response.tools:
            self.responses.append(response)

    def _note_result(self, message: PiMessage) -> None:
        """Read from a tool call's result its failure, its commit and its experiment.

        The experiment is as `log_experiment` wrote it.
        """
        response, name = self.calls.pop(message.tool_call_id or "", (None, ""))
        if response is None:
            return
        if message.is_error:
            response.failed.append(name)
        response.commits = tuple(dict.fromkeys((*response.commits, *commits_in(message.content))))
        if message.tool_call_id in response.opening:
            response.pull_requests += pull_requests_in(message.content)
        if LOGGING_TOOL in name and isinstance(details := message.details, dict):
            state = details.get("state")
            results = state.get("results") if isinstance(state, dict) else None
            experiment = (
                results[-1] if isinstance(results, list) and results else details.get("experiment")
            )
            if isinstance(experiment, dict):
                response.logged = joined((response.logged, described(experiment)))

    def values(self) -> dict[str, Any]:
        header = self.header or PiLine(type="session")
        began_at = event_time(header.timestamp)
        # A stream that goes on with a session repeats its header, and is a run of its own until the
        # session's file comes.
        if (
            self.is_stream
            and began_at
            and self.started_at
            and self.started_at - began_at > _RESUMED_AFTER
        ):
            run_id = canonical_hash({"session": header.id, "first": self.first})
        elif header.id and is_uuid(header.id):
            run_id = header.id
        else:
            run_id = canonical_hash(
                {"session": header.id, "start": header.timestamp, "first": self.first}
            )

        # How the last response ended. A branch without a message of its own has no outcome.
        outcome = (
            Outcome.INTERRUPTED
            if self.is_open
            else _OUTCOMES.get(self.ended_as or "", Outcome.UNKNOWN)
        )
        if not self.first and self.parent_file:
            outcome = Outcome.UNKNOWN
        elif self.ended_as == "error":
            outcome = outcome_of_error("".join(self.errors))
        parent = _FILE_OF_PARENT.search(self.parent_file or "")
        return super().values() | {
            "run_id": run_id,
            "agent": PI.key,
            "record_kind": RecordKind.STREAM if self.is_stream else RecordKind.TRANSCRIPT,
            "rank": 2 if self.first else 1,
            "session_id": header.id,
            "parent_session_id": parent[1] if parent else None,
            "requested_model": header.model_id,
            "effort": self.effort or header.thinking_level,
            "models": self._models(header),
            "started_at": self.started_at or began_at,
            "duration_api_ms": None if self.api_ms is None else round(self.api_ms),
            "num_turns": self.turns or None,
            "outcome": outcome,
            "is_error": is_failed(outcome),
            "cost_usd": sum(self.costs.values())
            if self.costs
            else Decimal()
            if self.parent_file and not self.used
            else None,
            "cwd": header.cwd,
            "prompt": self.prompt or self.copied_prompt,
        }

    def _models(self, header: PiLine) -> list[dict[str, Any]]:
        """Return tokens and cost by model, without models that failed at every call."""
        if not self.used and self.parent_file:
            return [Tokens().as_model(header.model_id, header.provider)]
        if not self.used:
            return [unrecorded(header.model_id, "No response of the model is in the log.")]
        why = " ".join(self.doubts) or None
        basis = TokensBasis.LOWER_BOUND if why else TokensBasis.EXACT
        spent = {
            key: tokens for key, tokens in self.used.items() if tokens.total or len(self.used) == 1
        }
        return [
            tokens.as_model(*key, basis, why) | {"cost_usd": self.costs.get(key)}
            for key, tokens in spent.items()
        ]

    def response_rows(self, run: Rows) -> tuple[tuple[Any, ...], ...]:
        """Return the responses as values of RESPONSE_COLUMNS.

        Lines of version 1 have no ids: there a response is known by its number.
        """
        run_id, rows = run.run.run_id, []
        for number, response in enumerate(self.responses):
            model_id, provider = response.key
            model = parse_model_id(model_id) if model_id else None
            tokens = response.tokens
            row = _DEFAULTS | {
                "session_id": run_id,
                "message_id": f"{run_id}/{response.line_id or number}",
                "response_no": number,
                "at": response.at,
                "model_id": model_id,
                "model": (model and model.model) or None,
                "provider": provider or (model and model.provider),
                "region": model and model.region,
                "stop_reason": response.stop_reason,
                "tools": tuple(response.tools),
                "failed_tools": tuple(response.failed),
                "cost_reported_usd": response.cost,
                "logged": response.logged,
                "commits": response.commits or None,
                "pull_requests": response.pull_requests or None,
            }
            if tokens:
                row |= {
                    "input_tokens": tokens.uncached,
                    "output_tokens": tokens.output,
                    "reasoning_tokens": tokens.reasoning,
                    "cache_read_tokens": tokens.read,
                    "cache_write_tokens": tokens.written,
                }
            else:
                row |= {"output_is_final": False, "tokens_basis": TokensBasis.LOWER_BOUND}
            rows.append(tuple(row[name] for name in RESPONSE_COLUMNS))
        return tuple(rows)


class Pi(StreamReader[_Session]):
    """Session files and streams of Pi."""

    agent: ClassVar[str] = PI.key

    @staticmethod
    def recognises(document: Document) -> bool:
        """Recognise a header, a message or any other line of the tree.

        A message has the time of its line or a response's tokens.
        """
        value = document.value
        kind, message = value["type"], value.get("message")
        if kind == "message_update":  # a part of a message, which comes whole later
            return False
        if kind == "session":
            return (
                isinstance(value.get("id"), str)
                and isinstance(value.get("cwd"), str)
                and event_time(value.get("timestamp")) is not None
            )
        if isinstance(message, dict):
            usage = message.get("usage")
            is_answer = (
                message.get("role") == "assistant"
                and isinstance(usage, dict)
                and "cacheRead" in usage
            )
            return is_answer or (
                isinstance(message.get("role"), str)
                and (kind == "message_end" or "timestamp" in message)
            )
        return "timestamp" in value and (
            _V1_FIELDS.get(kind, "type") in value.keys() - {"type"}
            or value.keys() >= {"id", "parentId"}
        )

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        if document.value["type"] == "session":
            header = wire_record(PiLine, document)
            closed = self._close()
            self._open[None] = _Session(document, header=header)
            return closed
        session = self._open.get(None)
        try:
            line = wire_record(PiLine, document)
        except InvalidRecord:
            if session:
                session.doubts["Some messages could not be read."] = None
            raise
        if session or (
            line.message and line.message.usage
        ):  # else of another program, or in front of what is left of a session
            session = self._open[None] = session or _Session(document)
            session.last = document
            session.note(line)
        return ()

    def _close(self, key: str | None = None) -> tuple[Found | Unreadable, ...]:
        session = self._open.get(key)
        closed = super()._close(key)
        if session and not session.is_stream and closed and isinstance(run := closed[0], Found):
            return (run._replace(responses=session.response_rows),)
        return closed


def _tokens(usage: PiUsage) -> Tokens:
    return Tokens(
        usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning_tokens
    )


def _text_of(content: Any) -> str | None:
    """Return the texts of a message, without thoughts and tool calls."""
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [
        block.get("text")
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "text"
    ]
    return "\n".join(text for text in texts if isinstance(text, str) and text) or None
