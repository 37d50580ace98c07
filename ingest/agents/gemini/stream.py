"""The events of Gemini CLI's `-o stream-json` → runs, one for each process.

The totals are those of the process, also where it resumes a session. Reasoning is not told: it is what the total has beside input and
output. Totals by model came in spring 2026; before, all tokens count for the model that was asked for. The final text comes in pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.gemini.errors import outcome_of, words_of
from ingest.agents.kept_run import ended
from ingest.agents.shared.google_tokens import as_model, tokens_of_total
from ingest.agents.shared.runs import ToolCounts, canonical_hash, is_uuid, merged, milliseconds_between, wire_record
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import GEMINI
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.gemini import STREAM_TYPES, GeminiError, StreamEvent, StreamStats, StreamTokens

_LONGEST_TEXT = 4 << 20
_ONE_TOTAL = "The stream has one total for all models; it counts for the model that was asked for."
_NO_TOTAL = "The stream ended before it told its tokens."
_TELLING = {
    "init": ("session_id", "model"),
    "message": ("role", "content"),
    "tool_use": ("tool_name", "tool_id"),
    "tool_result": ("tool_id", "status"),
    "error": ("severity", "message"),
    "result": ("status",),
}
"""Type of an event → names that it has in no other agent's stream."""


@dataclass
class _Process:
    """One process so far. `text`: pieces of the last text; a piece behind anything else begins another (`is_over`)."""

    last: Document
    session_id: str | None = None
    model: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    prompt: str | None = None
    text: list[str] = field(default_factory=list)
    size: int = 0
    is_over: bool = True
    tools: ToolCounts = field(default_factory=ToolCounts)
    stats: StreamStats | None = None
    outcome: Outcome = Outcome.INTERRUPTED
    ended_as: str | None = None
    error: GeminiError | None = None


class GeminiStream(AgentReader):
    """Streams of `gemini -o stream-json`."""

    agent: ClassVar[str] = GEMINI.key
    priority: ClassVar[int] = 1  # before other agents whose streams have an `error`
    event_types: ClassVar[frozenset[str]] = STREAM_TYPES

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._process: _Process | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        names = _TELLING.get(value.get("type"), ())
        return bool(names) and "timestamp" in value and "subtype" not in value and all(name in value for name in names)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        event = wire_record(StreamEvent, document)
        closed: tuple[Found | Unreadable, ...] = ()
        if event.type == "init" or self._process is None:
            closed = tuple(self.end())
            self._process = _Process(document, event.session_id, event.model)
        self._process.last = document
        _note_time(self._process, event)
        if note := _NOTES.get(event.type):  # the session may have events of types that are not known yet
            note(self._process, event)
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        """The process that is still open. One without a result was interrupted, unless an error came last."""
        if self._process:
            yield ended(self._process.last, _kept(self._process), self._context_of)
        self._process = None


def _note_time(process: _Process, event: StreamEvent) -> None:
    if time := event_time(event.timestamp):
        process.started_at = process.started_at or time
        process.ended_at = max(time, process.ended_at or time)


def _note_message(process: _Process, event: StreamEvent) -> None:
    text = event.content if isinstance(event.content, str) else None
    if event.role == "user":
        process.prompt = process.prompt or text
        process.is_over = True
    elif text:
        if process.is_over or not event.delta:
            process.text, process.size, process.is_over = [], 0, False
        process.size += len(text)
        if process.size <= _LONGEST_TEXT:
            process.text.append(text)


def _note_call(process: _Process, event: StreamEvent) -> None:
    process.is_over = True
    process.tools.called(event.tool_id, event.tool_name or "tool")


def _note_tool_result(process: _Process, event: StreamEvent) -> None:
    process.is_over = True
    if event.status == "error" and event.tool_id:
        process.tools.failed(event.tool_id)


def _note_error(process: _Process, event: StreamEvent) -> None:
    """Warnings say nothing of the end; an error does, where no result follows."""
    if event.severity == "error":
        process.error = GeminiError(message=event.message)
        process.outcome = outcome_of(process.error)


def _note_result(process: _Process, event: StreamEvent) -> None:
    process.stats, process.ended_as = event.stats or process.stats, event.status
    if event.status == "success":
        process.outcome, process.error = Outcome.COMPLETED, None
    else:
        process.error = event.error or process.error or GeminiError(message=event.status)
        process.outcome = outcome_of(process.error)


_NOTES = {
    "init": lambda _process, _event: None,
    "message": _note_message,
    "tool_use": _note_call,
    "tool_result": _note_tool_result,
    "error": _note_error,
    "result": _note_result,
}


def _kept(process: _Process) -> dict[str, Any]:
    values: dict[str, Any] = {
        "agent": GEMINI.key,
        "record_kind": RecordKind.STREAM,
        "rank": 2 if process.stats else 1,
        "session_id": process.session_id,
        "requested_model": process.model,
        "models": _models(process),
        "started_at": process.started_at,
        "ended_at": process.ended_at,
        "duration_ms": _duration(process),
        "outcome": process.outcome,
        "is_error": None if process.outcome is Outcome.INTERRUPTED else process.error is not None,
        "ended_as": process.ended_as,
        "errors": words_of(process.error) if process.error else [],
        "prompt": process.prompt,
        "final_text": "".join(process.text) or None,
        "tool_calls": merged(process.tools),
    }
    told = {"start": str(process.started_at), "prompt": process.prompt, "text": values["final_text"]}
    begun = {"session": process.session_id, "start": str(process.started_at)}  # the same as the stream grows
    return values | {"run_id": canonical_hash(begun if is_uuid(process.session_id) else told)}


def _duration(process: _Process) -> int | None:
    if process.stats and process.stats.duration_ms is not None:
        return round(process.stats.duration_ms)
    return milliseconds_between(process.started_at, process.ended_at) or None


def _models(process: _Process) -> list[dict[str, Any]]:
    asked = None if (process.model or "auto").startswith("auto") else process.model
    if not process.stats:
        return [unrecorded(asked, _NO_TOTAL)]
    if process.stats.models:
        return [as_model(_tokens(each), model or None) for model, each in process.stats.models.items()]
    return [as_model(_tokens(process.stats), asked, TokensBasis.ESTIMATE, _ONE_TOTAL)]


def _tokens(told: StreamTokens) -> Tokens:
    return tokens_of_total(told.input_tokens, told.cached, told.output_tokens, told.total_tokens)
