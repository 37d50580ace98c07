"""Kimi's session logs, `wire.jsonl` → runs: the lines of Kimi Code, and those of its predecessor Kimi CLI.

Neither names its session, which is the name of its folder: a session is told apart by its first time and its first prompt. Kimi Code tells
the tokens of each request, also of those that summarize, under the model's name in the settings; Kimi CLI those of each step, again as
they grow, and never the model. Sub-agents have logs of their own. A fork begins with a copy of the log, which a line `forked` ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from ingest.agents.base import NO_TYPE, AgentReader, ContextOf, Found
from ingest.agents.kept_run import ended
from ingest.agents.kimi.session import UNREADABLE, Key, Session
from ingest.agents.shared.runs import By, wire_record
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from schemas.agents import KIMI
from schemas.errors import InvalidRecord
from schemas.rows.run import Outcome
from schemas.wire.kimi import CLI_TYPES, CODE_TYPES, KimiCliLine, KimiCliPayload, KimiCodeLine, KimiLoopEvent

_SUB_AGENTS = "Sub-agents of Kimi CLI may have logs of their own: their tokens are not counted here."
_OUTCOMES = {"completed": Outcome.COMPLETED, "cancelled": Outcome.INTERRUPTED}
_MAKERS = {"kimi": "moonshotai"}
"""A kind of provider in Kimi Code's settings → its name in price lists, where they differ."""
_TELLS_ITS_TURNS_END = (1, 2)
"""Version of Kimi CLI's protocol since when the end of a turn is told."""


class KimiWire(AgentReader):
    """Session logs."""

    agent: ClassVar[str] = KIMI.key
    event_types: ClassVar[frozenset[str]] = CODE_TYPES | {NO_TYPE}

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._session: Session | None = None
        self._models: dict[str | None, Key] = {}
        self._is_older = False

    @staticmethod
    def recognises(document: Document) -> bool:
        """Lines of Kimi Code have a time or only a few names; most mean nothing outside a session."""
        value = document.value
        if not isinstance(value.get("type"), str):
            message = value.get("message")
            kind = message.get("type") if isinstance(message, dict) else None
            return isinstance(kind, str) and kind in CLI_TYPES and isinstance(message.get("payload"), dict)
        if value["type"] == "metadata":
            return isinstance(value.get("protocol_version"), str)
        return "time" in value or value["type"] == "turn.ended" or _tells_tokens(document)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        kind = document.value.get("type")
        try:
            if not isinstance(kind, str):
                self._note_message(document, wire_record(KimiCliLine, document))
                return ()
            if self._session is None and kind != "metadata" and not _tells_tokens(document):
                return ()  # the line of another program, or in front of what is left of a session
            return self._note(document, wire_record(KimiCodeLine, document))
        except InvalidRecord:
            if self._session:
                self._session.doubts[UNREADABLE] = None
            raise

    def end(self) -> Iterator[Found | Unreadable]:
        """A log with its first line only is no run yet."""
        if self._session and (self._session.turns or self._session.used or self._session.responses):
            yield ended(self._session.last, self._session.kept(), self._context_of)
        self._session, self._models = None, {}

    def _note(self, document: Document, line: KimiCodeLine) -> Iterable[Found | Unreadable]:
        if line.type == "metadata":
            closed = tuple(self.end())
            self._session = Session(document, {"created": line.created_at})
            self._session.note_time(line.created_at)
            self._is_older = _version(document.value["protocol_version"]) < _TELLS_ITS_TURNS_END
            return closed
        session = self._session = self._session or Session(document, {"first": line.time})
        session.last = document
        session.note_time(line.time, _MADE_BY.get((line.event and line.event.type) or line.type, By.OTHERS))
        if line.type == "forked":
            self._session = session.forked(document, line.time)
        elif line.type == "llm.request":
            self._models[line.model_alias or line.model] = session.key = line.model, _MAKERS.get(line.provider or "", line.provider)
        elif line.usage:
            session.spend(line.usage, self._models.get(line.model, (line.model, None)))
        else:
            _note_line(session, line)
        return ()

    def _note_message(self, document: Document, line: KimiCliLine) -> None:
        session = self._session = self._session or Session(document)
        session.last = document
        session.began.setdefault("first", line.timestamp)
        session.note_time(line.timestamp, _MADE_BY.get(line.message.type or "", By.OTHERS))
        if note := _NOTES.get(line.message.type):
            note(session, line.message.payload)
        if line.message.type == "TurnBegin":
            session.begin_turn(line.message.payload.user_input, line.timestamp)
            session.outcome = Outcome.UNKNOWN if self._is_older else Outcome.INTERRUPTED


_MADE_BY = {
    **dict.fromkeys(("usage.record", "content.part", "tool.call", "step.end", "turn.ended"), By.MODEL),
    **dict.fromkeys(("ContentPart", "ToolCall", "StatusUpdate", "TurnEnd"), By.MODEL),
    **dict.fromkeys(("tool.result", "ToolResult"), By.TOOL),
}
"""Type of a line, or of its event → who made what it tells: of Kimi Code, and of Kimi CLI."""


def _tells_tokens(document: Document) -> bool:
    usage = document.value.get("usage")
    return document.value["type"] == "usage.record" and isinstance(usage, dict) and "inputOther" in usage


def _version(written: str) -> tuple[int, ...]:
    """`1.10` → (1, 10); any other text is newer than all."""
    parts = written.split(".")
    return tuple(map(int, parts)) if all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts) else (10**6,)


def _note_line(session: Session, line: KimiCodeLine) -> None:
    if line.type == "config.update":
        session.cwd = line.cwd or session.cwd
    elif line.type.startswith("turn."):
        _note_turn(session, line)
    elif line.event:
        _note_event(session, line.event)


def _note_turn(session: Session, line: KimiCodeLine) -> None:
    if line.type == "turn.prompt":
        session.begin_turn(line.input, line.time)
    elif line.type == "turn.cancel":
        session.end_turn(Outcome.INTERRUPTED, "cancelled")
    else:
        error = (line.error.message or str(line.error.code)) if line.error else "failed" if line.reason == "failed" else None
        session.end_turn(_OUTCOMES.get(line.reason or "", Outcome.UNKNOWN), line.reason, error)


def _note_event(session: Session, event: KimiLoopEvent) -> None:
    if event.type == "step.begin":
        session.begin_step()
        session.outcome = Outcome.INTERRUPTED
    elif event.type == "step.end":
        session.in_step = False
        session.outcome = Outcome.INTERRUPTED if event.finish_reason == "tool_use" else Outcome.UNKNOWN
        session.ended_as = event.finish_reason
    elif event.type == "content.part" and event.part and event.part.type == "text":
        session.say(event.part.text)
    elif event.type == "tool.call":
        session.tools.called(event.tool_call_id, event.name or "tool")
    elif event.type == "tool.result" and event.tool_call_id and event.result and event.result.is_error:
        session.tools.failed(event.tool_call_id)


def _note_turn_end(session: Session, _: KimiCliPayload) -> None:
    session.end_turn(session.outcome if session.ended_as else Outcome.COMPLETED, session.ended_as)


def _note_step(session: Session, _: KimiCliPayload) -> None:
    session.begin_step()


def _note_interrupt(session: Session, _: KimiCliPayload) -> None:
    session.end_turn(Outcome.INTERRUPTED, "step interrupted")


def _note_part(session: Session, payload: KimiCliPayload) -> None:
    if payload.type == "text":
        session.say(payload.text)


def _note_call(session: Session, payload: KimiCliPayload) -> None:
    session.tools.called(payload.id, (payload.function.name if payload.function else None) or "tool")


def _note_result(session: Session, payload: KimiCliPayload) -> None:
    if payload.tool_call_id and payload.return_value and payload.return_value.is_error:
        session.tools.failed(payload.tool_call_id)


def _note_status(session: Session, payload: KimiCliPayload) -> None:
    if payload.token_usage:
        session.in_step = False
        session.spend(payload.token_usage, session.key, payload.message_id)


def _note_sub_agent(session: Session, _: KimiCliPayload) -> None:
    session.doubts[_SUB_AGENTS] = None


_NOTES: dict[str, Callable[[Session, KimiCliPayload], None]] = {
    "TurnEnd": _note_turn_end,
    "StepBegin": _note_step,
    "StepInterrupted": _note_interrupt,
    "ContentPart": _note_part,
    "ToolCall": _note_call,
    "ToolResult": _note_result,
    "StatusUpdate": _note_status,
    "SubagentEvent": _note_sub_agent,
}
