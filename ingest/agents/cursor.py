"""Cursor's events of `cursor-agent -p` → runs, one for each result.

A session returns in every run that resumes it, so a run is its `request_id`, which is also the beginning of each `model_call_id`. The
result glues all texts together: the final one is the last assistant event without `model_call_id` and, since pieces of a text have
neither, without a time. Cost is never told, `duration_api_ms` repeats the wall time, tokens are told since 2026-03: of some versions and
models `inputTokens` includes the cache, of others it does not (fitchmultz/pi-cursor-sdk#196).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.kept_run import ended, found, kept
from ingest.agents.shared.runs import ToolCounts, canonical_hash, is_uuid, merged, wire_event, wire_record
from ingest.agents.shared.texts import outcome_of_error, prompt_of
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import CURSOR, CURSOR_OWN_TYPES
from schemas.rows.run import TOKEN_CLASSES, Outcome, RecordKind
from schemas.wire.cursor import CursorEvent, CursorResult

SESSIONS_OPEN = 64
"""Sessions of one source that may be open at once; of more, the first one is taken as interrupted."""

_NOT_CURSORS = frozenset(("tools", "mcp_servers", "uuid", "claude_code_version", "qwen_code_version"))
_CLAUDE_CODES = frozenset(("total_cost_usd", "modelUsage", "num_turns"))
_FAILED = frozenset(("error", "failure", "rejected", "timeout", "spawnError", "permissionDenied", "fileNotFound", "toolNotFound"))
_ENDS = frozenset(("system", "result"))
"""Events at which a run begins or ends."""
_TOOL = "ToolCall"
_UUID_CHARACTERS = 36
_NO_TOKENS = "Cursor's log has no token counts; they are told since 2026-03, at the end of a run."


@dataclass
class _Run:
    """The run of a session so far. `said`: the text that is being said, in pieces where `in_pieces`."""

    last: Document
    session_id: str | None
    request_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    prompt: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    said: str = ""
    in_pieces: bool = False
    tools: ToolCounts = field(default_factory=ToolCounts)


class Cursor(AgentReader):
    """Results and streams of `cursor-agent -p`."""

    agent: ClassVar[str] = CURSOR.key
    event_types: ClassVar[frozenset[str]] = CURSOR_OWN_TYPES | {"system", "result"}

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._open: dict[str | None, _Run] = {}
        self._last: _Run | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        """By what Claude Code never writes; its other events follow their session."""
        value = document.value
        kind = value.get("type")
        if kind == "result":
            usage = value.get("usage")
            if not _CLAUDE_CODES.isdisjoint(value):
                return False
            return "request_id" in value or (isinstance(usage, dict) and "inputTokens" in usage)
        if not isinstance(value.get("session_id"), str):
            return False
        if kind == "system":
            return value.get("subtype") == "init" and "apiKeySource" in value and _NOT_CURSORS.isdisjoint(value)
        return isinstance(value.get("tool_call"), dict) if kind == "tool_call" else value.get("subtype") in ("delta", "completed")

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        if document.value["type"] == "result":
            return (self._result(document),)
        event = wire_record(CursorEvent, document)
        begins = event.type == "system" and event.subtype == "init"
        closed = tuple(self._interrupted(event.session_id)) if begins else ()
        if event.session_id not in self._open and len(self._open) >= SESSIONS_OPEN:
            closed += tuple(self._interrupted(next(iter(self._open))))
        run = self._last = self._open.setdefault(event.session_id, _Run(document, event.session_id))
        run.last = document
        _note(run, event)
        return closed

    def note(self, event: dict[str, Any]) -> bool:
        """Of the session of the event before: each run ends with its own last document."""
        session = event.get("session_id")
        if event["type"] in _ENDS or not isinstance(session, str) or self._last is None or self._open.get(session) is not self._last:
            return False
        if told := wire_event(CursorEvent, event):
            _note(self._last, told)
        return told is not None

    def noted(self, last: Document) -> None:
        if self._last:
            self._last.last = last

    def end(self) -> Iterator[Found | Unreadable]:
        """Runs without a result were killed."""
        for session in tuple(self._open):
            yield from self._interrupted(session)

    def _result(self, document: Document) -> Found:
        """The run of a result. A wrong result is the reject of its run."""
        session = document.value.get("session_id")
        run = self._open.pop(session if isinstance(session, str) else None, None) or _Run(document, None)
        result = wire_record(CursorResult, document)
        in_stream = run.last is not document
        return found(document, kept(_values(run) | _of_result(run, result, in_stream=in_stream)), self._context_of)

    def _interrupted(self, session: str | None) -> Iterator[Found | Unreadable]:
        run = self._open.pop(session, None)
        if run:
            yield ended(run.last, _values(run), self._context_of)


def _note(run: _Run, event: CursorEvent) -> None:
    run.model, run.cwd = run.model or event.model, run.cwd or event.cwd
    run.permission_mode = run.permission_mode or event.permission_mode
    run.request_id = run.request_id or _request_in(event.model_call_id)
    if time := event_time(event.timestamp_ms):
        run.started_at = min(run.started_at or time, time)
        run.ended_at = max(run.ended_at or time, time)
    if event.type == "user":
        run.prompt = run.prompt or prompt_of({"message": event.message})
    elif event.type == "assistant":
        _note_text(run, event)
    elif event.type == "tool_call" and event.tool_call:
        _note_call(run, event.call_id, event.tool_call)


def _request_in(model_call_id: str | None) -> str | None:
    beginning = (model_call_id or "")[:_UUID_CHARACTERS]
    return beginning if is_uuid(beginning) else None


def _note_text(run: _Run, event: CursorEvent) -> None:
    """A text replaces the one before; so does a whole text its pieces, which have a time and no id of a call."""
    text = _text_of(event.message or {})
    is_piece = event.timestamp_ms is not None and event.model_call_id is None
    if text:
        run.said = run.said + text if is_piece and run.in_pieces else text
        run.in_pieces = is_piece


def _text_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"text": content}]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _note_call(run: _Run, call_id: str | None, call: dict[str, Any]) -> None:
    name = next((key for key, value in call.items() if key.endswith(_TOOL) and isinstance(value, dict)), None)
    function = call.get("function")
    told = function.get("name") if isinstance(function, dict) else None
    run.tools.called(call_id, (name or "").removesuffix(_TOOL) or (told if isinstance(told, str) and told else "tool"))
    result = call[name].get("result") if name else None
    if call_id and isinstance(result, dict) and not _FAILED.isdisjoint(result):
        run.tools.failed(call_id)


def _values(run: _Run) -> dict[str, Any]:
    """What the events before the result say."""
    told = {"session": run.session_id, "prompt": run.prompt, "start": str(run.started_at), "said": None if run.started_at else run.said}
    return {
        "run_id": run.request_id or canonical_hash(told),
        "agent": CURSOR.key,
        "record_kind": RecordKind.STREAM,
        "rank": 1,
        "session_id": run.session_id,
        "requested_model": run.model,
        "models": [unrecorded(run.model, _NO_TOKENS)],
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "outcome": Outcome.INTERRUPTED,
        "cwd": run.cwd,
        "permission_mode": run.permission_mode,
        "prompt": run.prompt,
        "final_text": run.said or None,
        "tool_calls": merged(run.tools),
    }


def _of_result(run: _Run, result: CursorResult, *, in_stream: bool) -> dict[str, Any]:
    """What the result says. `in_stream`: whether there were events before it."""
    error = (result.result or result.subtype or "error") if result.is_error else None
    told = {"session": result.session_id, "result": result.result, "ms": result.duration_ms}
    text = run.said or (None if error else result.result)
    return {
        "run_id": result.request_id or run.request_id or canonical_hash(told),
        "record_kind": RecordKind.STREAM if in_stream else RecordKind.RESULT,
        "rank": 3 if in_stream else 2,
        "session_id": result.session_id or run.session_id,
        "models": [_model(run.model, result)],
        "duration_ms": None if result.duration_ms is None else round(result.duration_ms),
        "outcome": outcome_of_error(error) if error else Outcome.COMPLETED,
        "is_error": bool(error),
        "ended_as": result.subtype,
        "errors": [error] if error else [],
        "final_text": text or None,
    }


def _model(model: str | None, result: CursorResult) -> dict[str, Any]:
    if result.usage is None:
        return unrecorded(model, _NO_TOKENS)
    told = result.usage.model_dump(include=set(TOKEN_CLASSES))
    given, output, read, written = (told[name] or 0 for name in TOKEN_CLASSES)
    uncached = Tokens.of_whole_input(given, read, written, output, None).uncached
    return {"model_id": model} | told | {"input_tokens": None if told["input_tokens"] is None else uncached}
