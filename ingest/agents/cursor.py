"""Cursor's events of `cursor-agent -p` → runs, one per result.

Every run that resumes a session repeats its id, so a run is its `request_id`, which is also the
beginning of each `model_call_id`. The result concatenates all texts: the final one is the last
assistant event without `model_call_id` and, since pieces of a text lack it too, without a time.
Cost is never logged, `duration_api_ms` repeats the wall time, tokens are logged since 2026-03:
depending on version and model, `inputTokens` includes the cache or not
(fitchmultz/pi-cursor-sdk#196).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from ingest.agents.base import Found
from ingest.agents.distilled import distilled, found
from ingest.agents.shared.runs import (
    OpenRun,
    StreamReader,
    canonical_hash,
    is_uuid,
    whole_ms,
    wire_event,
    wire_record,
)
from ingest.agents.shared.texts import outcome_of_error, prompt_of
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import CURSOR
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.cursor import CursorEvent, CursorResult

_NOT_CURSORS = frozenset(
    ("tools", "mcp_servers", "uuid", "claude_code_version", "qwen_code_version")
)
_CLAUDE_CODES = frozenset(("total_cost_usd", "modelUsage", "num_turns"))
_FAILED = frozenset(
    (
        "error",
        "failure",
        "rejected",
        "timeout",
        "spawnError",
        "permissionDenied",
        "fileNotFound",
        "toolNotFound",
    )
)
_TOOL = "ToolCall"
_UUID_CHARACTERS = 36
_NO_TOKENS = "Cursor's log has no token counts. Since 2026-03 they are at the end of a run."


@dataclass
class _Run(OpenRun):
    """The run of a session. `final_text`: the current text, in pieces if `in_pieces`."""

    outcome: Outcome = Outcome.INTERRUPTED
    request_id: str | None = None
    in_pieces: bool = False

    def note(self, event: CursorEvent) -> None:
        self.requested_model, self.cwd = self.requested_model or event.model, self.cwd or event.cwd
        self.permission_mode = self.permission_mode or event.permission_mode
        beginning = (event.model_call_id or "")[:_UUID_CHARACTERS]
        self.request_id = self.request_id or (beginning if is_uuid(beginning) else None)
        self.note_time(event_time(event.timestamp_ms))
        if event.type == "user":
            self.prompt = self.prompt or prompt_of({"message": event.message})
        elif event.type == "assistant":
            self._text(event)
        elif event.type == "tool_call" and event.tool_call:
            self._call(event.call_id, event.tool_call)

    def _text(self, event: CursorEvent) -> None:
        """Read a text that replaces the one before; a whole text replaces its pieces.

        Pieces have a time but no call id.
        """
        content = (event.message or {}).get("content")
        blocks = content if isinstance(content, list) else [{"text": content}]
        texts = [block.get("text") for block in blocks if isinstance(block, dict)]
        text = "".join(text for text in texts if isinstance(text, str))
        is_piece = event.timestamp_ms is not None and event.model_call_id is None
        if text:
            self.final_text = (
                (self.final_text or "") + text if is_piece and self.in_pieces else text
            )
            self.in_pieces = is_piece

    def _call(self, call_id: str | None, call: dict[str, Any]) -> None:
        name = next(
            (key for key, value in call.items() if key.endswith(_TOOL) and isinstance(value, dict)),
            None,
        )
        function = call.get("function")
        function_name = function.get("name") if isinstance(function, dict) else None
        self.tools.called(
            call_id,
            (name or "").removesuffix(_TOOL)
            or (function_name if isinstance(function_name, str) and function_name else "tool"),
        )
        result = call[name].get("result") if name else None
        if call_id and isinstance(result, dict) and not _FAILED.isdisjoint(result):
            self.tools.failed(call_id)

    def values(self) -> dict[str, Any]:
        """Return the values of a Run without a result: it was killed."""
        names = {"session": self.session_id, "prompt": self.prompt, "start": str(self.started_at)}
        text = None if self.started_at else self.final_text or ""
        return super().values() | {
            "run_id": self.request_id or canonical_hash(names | {"said": text}),
            "agent": CURSOR.key,
            "record_kind": RecordKind.STREAM,
            "rank": 1,
            "models": [unrecorded(self.requested_model, _NO_TOKENS)],
            "duration_ms": None,
        }

    def values_with(self, result: CursorResult, *, in_stream: bool) -> dict[str, Any]:
        """Return the values of a Run that ended with this result.

        `in_stream`: events came before it.
        """
        error = (result.result or result.subtype or "error") if result.is_error else None
        names = {"session": result.session_id, "result": result.result, "ms": result.duration_ms}
        text = self.final_text or (None if error else result.result)
        model = unrecorded(self.requested_model, _NO_TOKENS)
        if usage := result.usage:
            tokens = {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cache_read_tokens": usage.cache_read_tokens,
                "cache_write_tokens": usage.cache_write_tokens,
            }
            if usage.input_tokens is not None:
                cached = (usage.cache_read_tokens or 0, usage.cache_write_tokens or 0)
                tokens["input_tokens"] = Tokens.of_whole_input(
                    usage.input_tokens, *cached, 0, None
                ).uncached
            model = {"model_id": self.requested_model} | tokens
        return self.values() | {
            "run_id": result.request_id or self.request_id or canonical_hash(names),
            "record_kind": RecordKind.STREAM if in_stream else RecordKind.RESULT,
            "rank": 3 if in_stream else 2,
            "session_id": result.session_id or self.session_id,
            "models": [model],
            "duration_ms": whole_ms(result.duration_ms),
            "outcome": outcome_of_error(error) if error else Outcome.COMPLETED,
            "is_error": bool(error),
            "ended_as": result.subtype,
            "errors": [error] if error else [],
            "final_text": text or None,
        }


class Cursor(StreamReader[_Run]):
    """Results and streams of `cursor-agent -p`."""

    agent: ClassVar[str] = CURSOR.key
    _last: _Run | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        """Check for fields that Claude Code never writes.

        Other events are assigned by their session.
        """
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
            return (
                value.get("subtype") == "init"
                and "apiKeySource" in value
                and _NOT_CURSORS.isdisjoint(value)
            )
        return (
            isinstance(value.get("tool_call"), dict)
            if kind == "tool_call"
            else value.get("subtype") in ("delta", "completed")
        )

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        if document.value["type"] == "result":
            session = document.value.get("session_id")
            run = self._open.pop(session if isinstance(session, str) else None, None) or _Run(
                document
            )
            result = wire_record(CursorResult, document)  # a wrong result is the reject of its run
            return (
                found(
                    document, distilled(run.values_with(result, in_stream=run.last is not document))
                ),
            )
        event = wire_record(CursorEvent, document)
        begins = event.type == "system" and event.subtype == "init"
        closed = self._close(event.session_id) if begins else ()
        closed += self._make_room(event.session_id)
        run = self._last = self._open.get(event.session_id) or self._open.setdefault(
            event.session_id, _Run(document, event.session_id)
        )
        run.last = document
        run.note(event)
        return closed

    def note(self, event: dict[str, Any]) -> bool:
        """Read an event of the current session.

        Return False for others, since each run ends with its own last document.
        """
        session, last = event.get("session_id"), self._last
        if (
            event["type"] in ("system", "result")
            or not isinstance(session, str)
            or last is None
            or self._open.get(session) is not last
        ):
            return False
        if parsed := wire_event(CursorEvent, event):
            last.note(parsed)
        return parsed is not None

    def noted(self, last: Document) -> None:
        if self._last:
            self._last.last = last
