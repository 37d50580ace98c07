"""Qwen Code: messages like Claude Code's, and chat files with Google's names.

The messages come as an array (`-o json`) or as lines (`stream-json`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ingest.agents.base import Found
from ingest.agents.shared.runs import (
    By,
    OpenRun,
    StreamReader,
    canonical_hash,
    is_uuid,
    whole_ms,
    wire_record,
)
from ingest.agents.shared.texts import outcome_of_error, prompt_of, text_of
from ingest.agents.shared.tokens import (
    NOT_RECORDED,
    ResponseTokens,
    Tokens,
    google_model,
    google_tokens,
    google_tokens_by_total,
    metrics_values,
    unrecorded,
)
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import QWEN
from schemas.errors import InvalidRecord
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.qwen import QwenChatLine, QwenEvent

MODELS_KEPT = 100
LINES_KEPT = 100_000


@dataclass
class _Stream(OpenRun):
    """A session of a process. `models`: those that answered."""

    init: QwenEvent | None = None
    result: QwenEvent | None = None
    has_answers: bool = False
    models: dict[str, None] = field(default_factory=dict)

    def note(self, event: QwenEvent, document: Document) -> None:
        """Read a message.

        A failed sub-agent writes a result of zeros in the middle: it counts only if nobody answered
        before.
        """
        self.note_time(event_time(event.timestamp))
        content = event.message.content if event.message else None
        blocks = (
            [block for block in content if isinstance(block, dict)]
            if isinstance(content, list)
            else []
        )
        if event.type == "system":
            if event.subtype == "init":
                self.init = event
        elif event.type == "assistant":
            self.has_answers = True
            if event.message and event.message.model and len(self.models) < MODELS_KEPT:
                self.models[event.message.model] = None
            for block in blocks:
                if block.get("type") == "tool_use" and isinstance(block.get("name"), str):
                    self.tools.called(_id(block.get("id")), block["name"])
            if not event.parent_tool_use_id:
                self.final_text = (
                    text_of(content if isinstance(content, list) else []) or self.final_text
                )
        elif event.type == "user":
            self.prompt = self.prompt or prompt_of(document.value)
            for block in blocks:
                if block.get("is_error") is True and (call := _id(block.get("tool_use_id"))):
                    self.tools.failed(call)
        elif event.type == "result":
            has_figures = event.duration_ms or event.duration_api_ms or _result_tokens(event).total
            if has_figures or not (self.has_answers or self.result):
                self.result = event

    def values(self) -> dict[str, Any]:
        """Return the values of a Run. One without a result was interrupted."""
        init, result = self.init, self.result
        self.outcome, self.errors = _end(result)
        if init:
            self.agent_version, self.requested_model = init.qwen_code_version, init.model
            self.cwd, self.permission_mode = init.cwd, init.permission_mode
        values = super().values() | {
            "agent": QWEN.key,
            "record_kind": RecordKind.STREAM if init or not result else RecordKind.RESULT,
            "rank": 2 if result else 1,
            "models": self._models(),
            "duration_ms": whole_ms(result.duration_ms) if result else None,
        }
        if result:
            api_ms = whole_ms(result.duration_api_ms)
            if api_ms is None and result.stats:
                api_ms = metrics_values(result.stats)["duration_api_ms"]
            values |= {
                "duration_api_ms": api_ms,
                "num_turns": result.num_turns,
                "is_error": self.outcome is not Outcome.COMPLETED,
                "ended_as": result.subtype,
            }
            if isinstance(result.result, str) and result.result and not result.is_error:
                values["final_text"] = result.result
        names = {
            "session": self.session_id,
            "prompt": self.prompt,
            "text": values["final_text"],
            "ms": values["duration_ms"],
        }
        return values | {
            "run_id": self.session_id if is_uuid(self.session_id) else canonical_hash(names)
        }

    def _models(self) -> list[dict[str, Any]]:
        result, requested = self.result, self.init.model if self.init else None
        if result and result.stats and result.stats.models:
            models: list[dict[str, Any]] = metrics_values(result.stats)["models"]
            return models
        first = next(iter(self.models), None)
        if result is None:
            return [unrecorded(first or requested, "The stream ended before its token counts.")]
        tokens = _result_tokens(result)
        if not tokens.total:
            return [unrecorded(first or requested, NOT_RECORDED)]
        if len(self.models) > 1:
            reason = (
                "Several models answered, and the record has one total; it counts for the "
                "requested model."
            )
            return [google_model(tokens, requested or first, TokensBasis.ESTIMATE, reason)]
        return [google_model(tokens, first or requested)]


def _id(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _result_tokens(result: QwenEvent) -> Tokens:
    usage = result.usage
    if usage is None:
        return Tokens()
    return google_tokens_by_total(
        usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens, usage.total_tokens
    )


def _end(result: QwenEvent | None) -> tuple[Outcome, list[str]]:
    """Return how a run ended, and its error texts."""
    if result is None:
        return Outcome.INTERRUPTED, []
    if result.subtype == "success" and not result.is_error:
        return Outcome.COMPLETED, []
    words = (
        (result.error.message if result.error else None)
        or (result.result if isinstance(result.result, str) else None)
        or "error"
    )
    if result.subtype == "error_max_turns" or "session turns" in words:
        return Outcome.MAX_TURNS, [words]
    return outcome_of_error(words), [words]


class QwenStream(StreamReader[_Stream]):
    """Messages of `qwen -o json` and `-o stream-json`: one run per session of a process.

    They look like Claude Code's, but `input_tokens` includes cache reads, there is no cost, and
    `usage` is the total of the session: a resumed process counts its earlier calls again.
    """

    agent: ClassVar[str] = QWEN.key

    @staticmethod
    def recognises(document: Document) -> bool:
        """Recognise the first message and the result.

        Messages between are assigned by their session.

        A result is Qwen Code's if it has no cost, and one of its own fields: a total of tokens,
        Gemini's metrics, an error with a message.
        """
        value = document.value
        if value.get("type") == "system":
            return value.get("subtype") == "init" and (
                "qwen_code_version" in value or "permission_mode" in value
            )
        if value.get("type") != "result" or "total_cost_usd" in value or "modelUsage" in value:
            return False
        usage, stats = value.get("usage"), value.get("stats")
        if isinstance(stats, dict) and "models" in stats and "status" not in value:
            return True
        has_own_field = isinstance(usage, dict) and (
            "total_tokens" in usage or isinstance(value.get("error"), dict)
        )
        return has_own_field and "subtype" in value

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        event = wire_record(QwenEvent, document)
        stream = self._open.get(event.session_id)
        if stream and stream.result and event.type == "system" and event.subtype == "init":
            closed = self._close(event.session_id)
        else:
            closed = self._make_room(event.session_id)
        stream = self._open.get(event.session_id) or self._open.setdefault(
            event.session_id, _Stream(document, event.session_id)
        )
        stream.last = document
        stream.note(event, document)
        return closed


@dataclass
class _Chat(OpenRun):
    """A session of a chat file. `seen`: line id → its time and tokens."""

    seen: dict[str, tuple[object, Tokens | None]] = field(default_factory=dict)
    tokens: ResponseTokens = field(default_factory=ResponseTokens)
    api_ms: float | None = None
    turns: int = 0
    unread: bool = False

    def note(self, line: QwenChatLine) -> None:
        """Read a line, unless it is a copy: same id, and same time or tokens."""
        tokens = None
        if usage := line.usage_metadata:
            counts = (
                usage.prompt_token_count,
                usage.cached_content_token_count,
                usage.candidates_token_count,
                usage.thoughts_token_count,
            )
            tokens = google_tokens(
                *counts, usage.tool_use_prompt_token_count, usage.total_token_count
            )
        if line.uuid is not None:
            time, spent = self.seen.get(line.uuid, (None, None))
            if line.uuid in self.seen and (time == line.timestamp or spent == tokens):
                return
            if len(self.seen) >= LINES_KEPT:
                del self.seen[next(iter(self.seen))]
            self.seen[line.uuid] = (line.timestamp, tokens)
        by = {"assistant": By.MODEL, "tool_result": By.TOOL}.get(line.type, By.OTHERS)
        self.note_time(event_time(line.timestamp), by)
        self.agent_version, self.cwd = line.version or self.agent_version, line.cwd or self.cwd
        self.branch = line.git_branch or self.branch
        parts = line.message.parts if line.message else None
        if line.type == "assistant":
            self.tokens.add(line.model, tokens)
            self.final_text = text_of(parts) or self.final_text
            for part in parts if isinstance(parts, list) else ():
                call = part.get("functionCall") if isinstance(part, dict) else None
                if isinstance(call, dict) and isinstance(call.get("name"), str):
                    self.tools.called(
                        call["id"] if isinstance(call.get("id"), str) else None, call["name"]
                    )
        elif line.type == "user":
            self.turns += 1
            self.prompt = self.prompt or text_of(parts)
        elif line.type == "tool_result":
            result = line.tool_call_result
            if result and result.status == "error" and result.call_id:
                self.tools.failed(result.call_id)
        elif line.type == "system":
            event = line.system_payload.ui_event if line.system_payload else None
            if event and event.name == "qwen-code.api_response" and event.duration_ms is not None:
                self.api_ms = (self.api_ms or 0) + event.duration_ms

    def values(self) -> dict[str, Any]:
        """Return the values of a Run; the log does not contain how the session ended."""
        names = {"session": self.session_id, "start": str(self.started_at)}
        return super().values() | {
            "run_id": self.session_id if is_uuid(self.session_id) else canonical_hash(names),
            "agent": QWEN.key,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": 2,
            "models": self.tokens.models("Some lines could not be read." if self.unread else None),
            "duration_api_ms": whole_ms(self.api_ms),
            "num_turns": self.turns or None,
        }


class QwenChat(StreamReader[_Chat]):
    """Chat files, `~/.qwen/projects/*/chats/*.jsonl`: one run per session.

    The lines look like those of Claude Code's transcripts, but messages have `parts`, and tokens
    have Google's names. A line repeated after a resume, with its id, counts once. API time comes
    from lines of telemetry.
    """

    agent: ClassVar[str] = QWEN.key

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        message = value.get("message")
        has_parts = isinstance(message, dict) and "parts" in message
        return isinstance(value.get("sessionId"), str) and (
            has_parts or "systemPayload" in value or "usageMetadata" in value
        )

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        try:
            line = wire_record(QwenChatLine, document)
        except InvalidRecord:
            for chat in self._open.values():
                chat.unread = True
            raise
        closed = tuple(self.end()) if line.session_id not in self._open else ()
        chat = self._open.get(line.session_id) or self._open.setdefault(
            line.session_id, _Chat(document, line.session_id)
        )
        chat.last = document
        chat.note(line)
        return closed
