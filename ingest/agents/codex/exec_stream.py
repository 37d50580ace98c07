"""The events of `codex exec --json` → runs, one for each thread.

`usage` is the running total of the thread, not of the turn: the last one counts. A resumed thread starts another stream, whose totals
include those of the first; both are records of one run, and the one with more tokens is kept. There are no timestamps: the start is in
the id of the thread. Nor is there a model: a harness beside the log may name the one that it asked for. `config.toml` does not count, since
the command line overrides it, and neither does ISO-Bench's journal, whose name of the model is that of a folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.codex.usage import tokens_of
from ingest.agents.kept_run import ended
from ingest.agents.shared.runs import ToolCounts, canonical_hash, is_uuid, merged, time_of_uuid, wire_record
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import Tokens
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from schemas.agents import CODEX, CODEX_EXEC_TYPES
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.codex import ExecEvent, ExecItem

_TOOLS = frozenset(("command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"))
_FAILED = frozenset(("failed", "declined"))

_MUST_HOLD = {
    "thread.started": ("thread_id", str),
    "turn.failed": ("error", dict),
    "error": ("message", str),
}
"""Type of an event → a field of it, and the type of its value."""


@dataclass
class _Thread:
    """One thread so far."""

    last: Document
    thread_id: str | None = None
    turns: int = 0
    usage: Tokens | None = None
    outcome: Outcome = Outcome.INTERRUPTED
    errors: list[str] = field(default_factory=list)
    final_text: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)


class CodexExec(AgentReader):
    """Streams of `codex exec --json`."""

    agent: ClassVar[str] = CODEX.key
    event_types: ClassVar[frozenset[str]] = CODEX_EXEC_TYPES | {"error"}

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._thread: _Thread | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        """By what each event must hold, since other programs log `error` and `item.completed` too."""
        value = document.value
        kind = str(value.get("type"))
        if kind == "turn.started":
            return len(value) == 1
        if kind.startswith("item."):
            return isinstance(value.get("item"), dict) and isinstance(value["item"].get("type"), str)
        if kind == "turn.completed":
            return isinstance(value.get("usage"), dict) and "input_tokens" in value["usage"]
        name, type_ = _MUST_HOLD.get(kind, ("", str))
        return isinstance(value.get(name), type_)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        event = wire_record(ExecEvent, document)
        if self._thread is None and event.type == "error":
            return ()  # any program's log has such lines
        closed: tuple[Found | Unreadable, ...] = ()
        if event.type == "thread.started" or self._thread is None:
            closed = tuple(self.end())
            self._thread = _Thread(document, event.thread_id)
        self._thread.last = document
        _note(self._thread, event)
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        """The thread that is still open. One without an end of its last turn was interrupted; one without a word of it is none."""
        thread = self._thread
        if thread and (thread.thread_id or thread.usage or thread.final_text or thread.tools.counts):
            yield ended(thread.last, _kept(thread), self._context_of)
        self._thread = None


def _note(thread: _Thread, event: ExecEvent) -> None:
    if event.item:
        _note_item(thread, event.item)
    if event.type == "turn.started":
        thread.turns += 1
        thread.outcome = Outcome.INTERRUPTED
        thread.errors.clear()
    elif event.type == "turn.completed":
        thread.outcome = Outcome.COMPLETED
        thread.errors.clear()
        thread.usage = tokens_of(event.usage) if event.usage else thread.usage
    elif event.type == "turn.failed":
        message = (event.error.message if event.error else None) or "turn failed"
        thread.outcome, thread.errors = outcome_of_error(message), [message]
    elif event.type == "error" and event.message and thread.errors != [event.message]:
        thread.errors = [event.message]  # often the notice of a retry: it counts only where the turn does not complete


def _note_item(thread: _Thread, item: ExecItem) -> None:
    """An item comes up to three times, started, updated and completed, with one id."""
    if item.type == "agent_message" and item.text:
        thread.final_text = item.text
    elif item.type in _TOOLS:
        thread.tools.called(item.id, item.tool or item.type)
        if item.id and (item.status in _FAILED or item.exit_code):
            thread.tools.failed(item.id)


_CUT_OFF = {"basis": TokensBasis.LOWER_BOUND, "basis_reason": "The stream ended within a turn, whose tokens it does not tell."}


def _kept(thread: _Thread) -> dict[str, Any]:
    models = [thread.usage.as_model(None)] if thread.usage else []
    values: dict[str, Any] = {
        "agent": CODEX.key,
        "record_kind": RecordKind.STREAM,
        "rank": 2,
        "session_id": thread.thread_id,
        "models": models if thread.outcome is not Outcome.INTERRUPTED else [one | _CUT_OFF for one in models],
        "started_at": time_of_uuid(thread.thread_id),
        "num_turns": thread.turns or None,
        "outcome": thread.outcome,
        "is_error": None if thread.outcome is Outcome.INTERRUPTED else bool(thread.errors),
        "errors": thread.errors,
        "final_text": thread.final_text,
        "tool_calls": merged(thread.tools),
    }
    told = {"thread": thread.thread_id, "text": thread.final_text, "tokens": models}
    return values | {"run_id": thread.thread_id if is_uuid(thread.thread_id) else canonical_hash(told)}
