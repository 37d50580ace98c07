"""Gemini CLI: the object of `-o json`, the events of `-o stream-json`, and chat files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import Found
from ingest.agents.distilled import complaints
from ingest.agents.shared.runs import (
    By,
    OpenRun,
    RecordReader,
    StreamReader,
    canonical_hash,
    is_uuid,
    whole_ms,
    wire_record,
)
from ingest.agents.shared.texts import outcome_of_error, text_of
from ingest.agents.shared.tokens import (
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
from schemas.agents import GEMINI
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.gemini import (
    ChatMessage,
    ChatSession,
    GeminiError,
    GeminiOutput,
    StreamEvent,
    StreamStats,
    StreamTokens,
)

MESSAGES_KEPT = 50_000
"""Maximum number of messages of a chat that can still be rewritten; beyond it, the oldest are
final.
"""
TEXTS_KEPT = 256
_LONGEST_TEXT = 4 << 20

_OUTPUT_NAMES = frozenset(("session_id", "response", "stats", "error", "warnings"))
_ERROR_NAMES = frozenset(("type", "message", "code"))
_ERROR_CLASS = re.compile(r"[A-Z]\w{0,80}(?:Error|Exception)|Error")
_NAMES_BY_TYPE = {
    "init": ("session_id", "model"),
    "message": ("role", "content"),
    "tool_use": ("tool_name", "tool_id"),
    "tool_result": ("tool_id", "status"),
    "error": ("severity", "message"),
    "result": ("status",),
}
"""Event type → fields that no other agent's stream has."""

_OUTCOME_BY_CLASS = {
    "FatalTurnLimitedError": Outcome.MAX_TURNS,
    "FatalCancellationError": Outcome.INTERRUPTED,
    "FatalAuthenticationError": Outcome.API_ERROR,
}
_OUTCOME_BY_CODE = {
    53: Outcome.MAX_TURNS,
    130: Outcome.INTERRUPTED,
    41: Outcome.API_ERROR,
    429: Outcome.LIMIT_REACHED,
}
"""Exit codes of the agent, and one status code of the API."""


def _outcome_of(error: GeminiError) -> Outcome:
    """Return how a run ended: from the class of its error, else the code, else the text."""
    code = error.code if isinstance(error.code, int) else 0
    named = _OUTCOME_BY_CLASS.get(error.type or "") or _OUTCOME_BY_CODE.get(code)
    if named:
        return named
    message = error.message or ""
    if "session turns" in message:
        return Outcome.MAX_TURNS
    worded = outcome_of_error(message)
    return Outcome.API_ERROR if worded is Outcome.EXECUTION_ERROR and 400 <= code < 600 else worded


class GeminiJson(RecordReader):
    """Objects of `gemini -o json`: one run per process, also if it resumed a session.

    They have no wall time.
    """

    agent: ClassVar[str] = GEMINI.key

    @staticmethod
    def recognises(document: Document) -> bool:
        """Check its stats, and recognise an object with only an error.

        Such an object has a class, a message and nothing but a code beside them.
        """
        value = document.value
        stats, error = value.get("stats"), value.get("error")
        if isinstance(stats, dict):
            return "models" in stats and ("response" in value or "tools" in stats)
        if (
            not value.keys() <= _OUTPUT_NAMES
            or not isinstance(error, dict)
            or not error.keys() <= _ERROR_NAMES
        ):
            return False
        kind = error.get("type")
        return (
            isinstance(error.get("message"), str)
            and isinstance(kind, str)
            and _ERROR_CLASS.fullmatch(kind) is not None
        )

    def _values(self, document: Document) -> dict[str, Any]:
        record = wire_record(GeminiOutput, document)
        error, response = (
            record.error,
            record.response if isinstance(record.response, str) else None,
        )
        outcome = Outcome.UNKNOWN if response is None else Outcome.COMPLETED
        return {
            "run_id": canonical_hash(document.value),
            "agent": GEMINI.key,
            "record_kind": RecordKind.RESULT,
            "rank": 2 if record.stats else 1,
            "session_id": record.session_id,
            "outcome": _outcome_of(error) if error else outcome,
            "is_error": error is not None,
            "ended_as": error.type if error else None,
            "errors": [error.message or error.type or "error"] if error else [],
            "final_text": response or None,
        } | (metrics_values(record.stats) if record.stats else {})


@dataclass
class _Process(OpenRun):
    """A process of a stream.

    `text`: pieces of the last text; after any other event (`text_ended`) a piece begins a new text.
    """

    outcome: Outcome = Outcome.INTERRUPTED
    text: list[str] = field(default_factory=list)
    text_size: int = 0
    text_ended: bool = True
    stats: StreamStats | None = None
    error: GeminiError | None = None

    def note(self, event: StreamEvent) -> None:
        """Read an event. Unknown types are accepted within a session."""
        if time := event_time(event.timestamp):
            self.started_at = self.started_at or time
            self.ended_at = max(time, self.ended_at or time)
        if event.type == "message":
            self._message(event)
        elif event.type == "tool_use":
            self.text_ended = True
            self.tools.called(event.tool_id, event.tool_name or "tool")
        elif event.type == "tool_result":
            self.text_ended = True
            if event.status == "error" and event.tool_id:
                self.tools.failed(event.tool_id)
        elif (
            event.type == "error" and event.severity == "error"
        ):  # it says how the run ended if no result follows; a warning does not
            self.error = GeminiError(message=event.message)
            self.outcome = _outcome_of(self.error)
        elif event.type == "result":
            self.stats, self.ended_as = event.stats or self.stats, event.status
            if event.status == "success":
                self.outcome, self.error = Outcome.COMPLETED, None
            else:
                self.error = event.error or self.error or GeminiError(message=event.status)
                self.outcome = _outcome_of(self.error)

    def _message(self, event: StreamEvent) -> None:
        text = event.content if isinstance(event.content, str) else None
        if event.role == "user":
            self.prompt = self.prompt or text
            self.text_ended = True
        elif text:
            if self.text_ended or not event.delta:
                self.text, self.text_size, self.text_ended = [], 0, False
            self.text_size += len(text)
            if self.text_size <= _LONGEST_TEXT:
                self.text.append(text)

    def values(self) -> dict[str, Any]:
        """Return the values of a `Run`.

        The id stays the same as the stream grows, if its session has one.
        """
        self.final_text = "".join(self.text) or None
        self.errors = [self.error.message or self.error.type or "error"] if self.error else []
        values = super().values()
        duration_ms = whole_ms(self.stats.duration_ms) if self.stats else None
        start = {"start": str(self.started_at)}
        names = (
            {"session": self.session_id}
            if is_uuid(self.session_id)
            else {"prompt": self.prompt, "text": self.final_text}
        )
        return values | {
            "run_id": canonical_hash(start | names),
            "agent": GEMINI.key,
            "record_kind": RecordKind.STREAM,
            "rank": 2 if self.stats else 1,
            "models": self._models(),
            "duration_ms": values["duration_ms"] or None if duration_ms is None else duration_ms,
            "is_error": None if self.outcome is Outcome.INTERRUPTED else self.error is not None,
        }

    def _models(self) -> list[dict[str, Any]]:
        """Return totals by model, logged since spring 2026.

        Before, all tokens count for the requested model.
        """
        requested = (
            None if (self.requested_model or "auto").startswith("auto") else self.requested_model
        )
        if not self.stats:
            return [unrecorded(requested, "The stream ended before its token counts.")]
        if self.stats.models:
            return [
                google_model(_stream_tokens(each), model or None)
                for model, each in self.stats.models.items()
            ]
        reason = "The stream has one total for all models; it counts for the requested model."
        return [google_model(_stream_tokens(self.stats), requested, TokensBasis.ESTIMATE, reason)]


def _stream_tokens(counts: StreamTokens) -> Tokens:
    return google_tokens_by_total(
        counts.input_tokens, counts.cached, counts.output_tokens, counts.total_tokens
    )


class GeminiStream(StreamReader[_Process]):
    """Streams of `gemini -o stream-json`, one run per process.

    Totals are those of the process, also if it resumes a session.
    """

    agent: ClassVar[str] = GEMINI.key
    priority: ClassVar[int] = 1  # before other agents whose streams have an `error`

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        names = _NAMES_BY_TYPE.get(value.get("type"), ())
        return (
            bool(names)
            and "timestamp" in value
            and "subtype" not in value
            and all(name in value for name in names)
        )

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        event = wire_record(StreamEvent, document)
        closed = self._close() if event.type == "init" else ()
        process = self._open.get(None) or self._open.setdefault(
            None, _Process(document, event.session_id, requested_model=event.model)
        )
        process.last = document
        process.note(event)
        return closed


@dataclass(slots=True)
class _Message:
    """The counted fields of a chat message."""

    type: str | None
    model: str | None
    tokens: Tokens | None


@dataclass
class _Chat(OpenRun):
    """A chat. `texts`: the last messages' texts by id; None for messages not from the model."""

    is_subagent: bool = False
    is_calling: bool = False
    messages: dict[str, _Message] = field(default_factory=dict)
    tokens: ResponseTokens = field(default_factory=ResponseTokens)
    turns: int = 0
    unread: bool = False
    texts: dict[str, str | None] = field(default_factory=dict)

    def note_header(self, header: ChatSession) -> None:
        """Read the first line, an older file as a whole, or the values that a later line sets."""
        self.session_id = header.session_id or self.session_id
        self.is_subagent = self.is_subagent or header.kind == "subagent"
        self.started_at = event_time(header.start_time) or self.started_at
        self._note_time_of(header.last_updated)
        for message in header.messages:
            self.note(message)

    def _note_time_of(self, written: object) -> None:
        if time := event_time(written):
            self.started_at = self.started_at or time
            self.ended_at = max(time, self.ended_at or time)

    def note(self, message: ChatMessage) -> None:
        """Read a message. Until the next answer, the tools of the previous one were running."""
        self._note_time_of(message.timestamp)
        by = By.OTHERS if message.type != "gemini" else By.TOOL if self.is_calling else By.MODEL
        self.active.note(event_time(message.timestamp), by)
        self.is_calling = bool(message.tool_calls)
        name = message.id or f"message {len(self.messages)}"
        is_new = name not in self.messages
        if len(self.messages) >= MESSAGES_KEPT and is_new:
            self._count(self.messages.pop(next(iter(self.messages))))
        used = message.tokens
        tokens = (
            google_tokens(
                used.input, used.cached, used.output, used.thoughts, used.tool, used.total
            )
            if used
            else None
        )
        self.messages[name] = _Message(message.type, message.model, tokens)
        text = text_of(message.content)
        if message.type == "user" and is_new:
            self.turns += 1
            self.prompt = self.prompt or text
        if message.type in ("user", "gemini", "error"):
            self.errors = [text] if message.type == "error" and text else []
        self.texts[name] = text if message.type == "gemini" else None
        if len(self.texts) > TEXTS_KEPT:
            del self.texts[next(iter(self.texts))]
        for call in message.tool_calls or ():
            self.tools.called(call.id, call.name or "tool")
            if call.status == "error" and call.id:
                self.tools.failed(call.id)

    def rewind(self, to: object) -> None:
        """Drop the texts from a message on, or all if it is unknown. Their tokens were paid."""
        while self.texts and self.texts.popitem()[0] != to:
            pass

    def _count(self, message: _Message) -> None:
        """Add the tokens of a message for good."""
        if message.type == "gemini":
            self.tokens.add(message.model, message.tokens)

    def values(self) -> dict[str, Any]:
        """Return the values of a `Run`.

        A sub-agent's id is its name, or in older versions its parent's session.
        """
        for message in self.messages.values():
            self._count(message)
        self.final_text = next((text for text in reversed(self.texts.values()) if text), None)
        of_parent = self.is_subagent and is_uuid(self.session_id)
        is_own = is_uuid(self.session_id) and not of_parent
        return super().values() | {
            "run_id": self.session_id
            if is_own
            else canonical_hash({"session": self.session_id, "start": str(self.started_at)}),
            "agent": GEMINI.key,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": 2,
            "session_id": None if of_parent else self.session_id,
            "parent_session_id": self.session_id if of_parent else None,
            "models": self.tokens.models(
                "Some messages could not be read." if self.unread else None
            ),
            "num_turns": self.turns or None,
        }


class GeminiChat(StreamReader[_Chat]):
    """Chat files, `chats/session-*.json` and `.jsonl`.

    One object, or since 2026-04 lines that are appended.

    A message is written again, with the same id, when the results of its tools arrive: its last
    version counts. `$set` may write all messages again, and `$rewindTo` takes back a message and
    those behind it. Sub-agents have files of their own.
    """

    agent: ClassVar[str] = GEMINI.key

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        if "type" in value:
            return (
                "content" in value
                and isinstance(value.get("id"), str)
                and "timestamp" in value
                and "message" not in value
            )
        return _is_header(value) or _is_update(value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        value = document.value
        try:
            if _is_header(value):
                header = ChatSession.model_validate(value)
                closed = self._close()
                chat = self._open[None] = _Chat(document)
                chat.note_header(header)
                return closed
            if None not in self._open and _is_update(value):
                return ()  # it sets something of another program
            chat = self._open.get(None) or self._open.setdefault(None, _Chat(document))
            if "$rewindTo" in value:
                chat.rewind(value["$rewindTo"])
            elif "$set" in value:
                chat.note_header(ChatSession.model_validate(value["$set"] or {}))
            else:
                chat.note(ChatMessage.model_validate(value))
            chat.last = document
        except ValidationError as error:
            for chat in self._open.values():
                chat.unread = True
            raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
        return ()


def _is_header(value: dict[str, Any]) -> bool:
    return isinstance(value.get("sessionId"), str) and "projectHash" in value


def _is_update(value: dict[str, Any]) -> bool:
    return value.keys() in ({"$set"}, {"$rewindTo"})
