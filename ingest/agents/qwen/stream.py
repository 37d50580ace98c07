"""Qwen Code's `-o json` (an array) and `stream-json` (lines) → runs, one for each session of a process.

The messages look like Claude Code's, but `input_tokens` includes cache reads, there is no cost, and `usage` is the total of the session: a
resumed process counts its earlier calls again. A sub-agent that fails writes a result of zeros in the middle of the stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.kept_run import ended
from ingest.agents.shared.google_tokens import NOT_RECORDED, as_model, latency_of, models_of, text_of, tokens_of_total
from ingest.agents.shared.runs import ToolCounts, canonical_hash, is_uuid, merged, wire_record
from ingest.agents.shared.texts import outcome_of_error, prompt_of
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import QWEN
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.qwen import STREAM_TYPES, QwenEvent

STREAMS_KEPT = 64
MODELS_KEPT = 100
_ONE_TOTAL = "Several models answered, and the record has one total; it counts for the model that was asked for."
_NO_TOTAL = "The stream ended before it told its tokens."


@dataclass
class _Stream:
    """One session of a process so far. `models`: those that answered."""

    last: Document
    session_id: str | None
    init: QwenEvent | None = None
    result: QwenEvent | None = None
    has_answers: bool = False
    models: dict[str, None] = field(default_factory=dict)
    prompt: str | None = None
    text: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)


class QwenStream(AgentReader):
    """Messages of `qwen -o json` and `-o stream-json`."""

    agent: ClassVar[str] = QWEN.key
    event_types: ClassVar[frozenset[str]] = STREAM_TYPES

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._streams: dict[str | None, _Stream] = {}

    @staticmethod
    def recognises(document: Document) -> bool:
        """Only the first message and the result tell the agent; what is between them is known by its session."""
        value = document.value
        if value.get("type") == "system":
            return value.get("subtype") == "init" and ("qwen_code_version" in value or "permission_mode" in value)
        return value.get("type") == "result" and "total_cost_usd" not in value and "modelUsage" not in value and _is_own_result(value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        event = wire_record(QwenEvent, document)
        closed = self._closed_by(event)
        stream = self._streams.setdefault(event.session_id, _Stream(document, event.session_id))
        stream.last = document
        if time := event_time(event.timestamp):
            stream.started_at = min(stream.started_at or time, time)
            stream.ended_at = max(stream.ended_at or time, time)
        if note := _NOTES.get(event.type):
            note(stream, event, document)
        return closed

    def _closed_by(self, event: QwenEvent) -> list[Found | Unreadable]:
        """The run that ends where its session begins again; or the one that began first, where too many are open."""
        stream = self._streams.get(event.session_id)
        if stream and stream.result and event.type == "system" and event.subtype == "init":
            return [self._run(self._streams.pop(event.session_id))]
        if stream is None and len(self._streams) >= STREAMS_KEPT:
            return [self._run(self._streams.pop(next(iter(self._streams))))]
        return []

    def _run(self, stream: _Stream) -> Found | Unreadable:
        return ended(stream.last, _kept(stream), self._context_of)

    def end(self) -> Iterator[Found | Unreadable]:
        """The sessions that are still open. One without a result was interrupted."""
        for stream in self._streams.values():
            yield self._run(stream)
        self._streams = {}


def _is_own_result(value: dict[str, Any]) -> bool:
    """Whether a result record without cost has what no other agent's has: a total of tokens, Gemini's metrics, an error with a message."""
    usage, stats = value.get("usage"), value.get("stats")
    if isinstance(stats, dict) and "models" in stats and "status" not in value:
        return True
    return isinstance(usage, dict) and ("total_tokens" in usage or (isinstance(value.get("error"), dict) and "subtype" in value))


def _note_system(stream: _Stream, event: QwenEvent, _: Document) -> None:
    if event.subtype == "init":
        stream.init = event


def _note_assistant(stream: _Stream, event: QwenEvent, _: Document) -> None:
    stream.has_answers = True
    if not event.message:
        return
    if event.message.model and len(stream.models) < MODELS_KEPT:
        stream.models[event.message.model] = None
    blocks = event.message.content if isinstance(event.message.content, list) else []
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_use" and isinstance(block.get("name"), str):
            stream.tools.called(_id(block.get("id")), block["name"])
    if not event.parent_tool_use_id:
        stream.text = text_of(blocks) or stream.text


def _note_user(stream: _Stream, event: QwenEvent, document: Document) -> None:
    stream.prompt = stream.prompt or prompt_of(document.value)
    blocks = event.message.content if event.message and isinstance(event.message.content, list) else []
    for block in blocks:
        if isinstance(block, dict) and block.get("is_error") is True and (call := _id(block.get("tool_use_id"))):
            stream.tools.failed(call)


def _note_result(stream: _Stream, event: QwenEvent, _: Document) -> None:
    """The last result counts; one of zeros only where nobody answered before."""
    if _has_figures(event) or not (stream.has_answers or stream.result):
        stream.result = event


_NOTES = {"system": _note_system, "assistant": _note_assistant, "user": _note_user, "result": _note_result}


def _id(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _has_figures(result: QwenEvent) -> bool:
    return bool(result.duration_ms or result.duration_api_ms or _tokens(result).total)


def _tokens(result: QwenEvent) -> Tokens:
    usage = result.usage
    if usage is None:
        return Tokens()
    return tokens_of_total(usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens, usage.total_tokens)


def _kept(stream: _Stream) -> dict[str, Any]:
    init, result = stream.init, stream.result
    outcome, errors = _end(result)
    values: dict[str, Any] = {
        "agent": QWEN.key,
        "record_kind": RecordKind.STREAM if init or not result else RecordKind.RESULT,
        "rank": 2 if result else 1,
        "agent_version": init.qwen_code_version if init else None,
        "session_id": stream.session_id,
        "requested_model": init.model if init else None,
        "models": _models(stream),
        "started_at": stream.started_at,
        "ended_at": stream.ended_at,
        "duration_ms": _whole(result.duration_ms) if result else None,
        "duration_api_ms": _api_time(result) if result else None,
        "num_turns": result.num_turns if result else None,
        "outcome": outcome,
        "is_error": outcome is not Outcome.COMPLETED if result else None,
        "ended_as": result.subtype if result else None,
        "errors": errors,
        "cwd": init.cwd if init else None,
        "permission_mode": init.permission_mode if init else None,
        "prompt": stream.prompt,
        "final_text": _final_text(stream),
        "tool_calls": merged(stream.tools),
    }
    told = {"session": stream.session_id, "prompt": stream.prompt, "text": values["final_text"], "ms": values["duration_ms"]}
    return values | {"run_id": stream.session_id if is_uuid(stream.session_id) else canonical_hash(told)}


def _end(result: QwenEvent | None) -> tuple[Outcome, list[str]]:
    """How a run ended, and the words of its error."""
    if result is None:
        return Outcome.INTERRUPTED, []
    if result.subtype == "success" and not result.is_error:
        return Outcome.COMPLETED, []
    words = (result.error.message if result.error else None) or (result.result if isinstance(result.result, str) else None) or "error"
    if result.subtype == "error_max_turns" or "session turns" in words:
        return Outcome.MAX_TURNS, [words]
    return outcome_of_error(words), [words]


def _final_text(stream: _Stream) -> str | None:
    told = stream.result.result if stream.result and not stream.result.is_error else None
    return told if isinstance(told, str) and told else stream.text


def _models(stream: _Stream) -> list[dict[str, Any]]:
    result, asked = stream.result, stream.init.model if stream.init else None
    if result and result.stats and result.stats.models:
        return models_of(result.stats)
    first = next(iter(stream.models), None)
    if result is None:
        return [unrecorded(first or asked, _NO_TOTAL)]
    if not _tokens(result).total:
        return [unrecorded(first or asked, NOT_RECORDED)]
    if len(stream.models) > 1:
        return [as_model(_tokens(result), asked or first, TokensBasis.ESTIMATE, _ONE_TOTAL)]
    return [as_model(_tokens(result), first or asked)]


def _api_time(result: QwenEvent) -> int | None:
    told = _whole(result.duration_api_ms)
    return latency_of(result.stats) if told is None and result.stats else told


def _whole(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else round(milliseconds)
