"""Conversations of OpenHands' SDK: a stream of events, or the state in `base_state.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.kept_run import complaints, ended, found, kept
from ingest.agents.openhands.conversation import Conversation
from ingest.agents.openhands.tokens import cost_of, models_of
from ingest.agents.shared.runs import canonical_hash, merged
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from schemas.agents import OPENHANDS
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.openhands import ConversationState

_SOURCES = frozenset(("agent", "user", "environment", "hook"))
_STATE = frozenset(("execution_status", "stats", "agent"))


class OpenHandsEvents(AgentReader):
    """Streams of events, one or more conversations in each, and last states of conversations, `base_state.json`."""

    agent: ClassVar[str] = OPENHANDS.key

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._conversation = Conversation()
        self._last: Document | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        return _is_event(document.value) or document.value.keys() >= _STATE

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        if not _is_event(document.value):
            return (self._of_state(document),)
        closed = tuple(self.end()) if _is_of_another(self._conversation, document.value) else ()
        try:
            self._conversation.note(document.value)
            self._last = document
        except ValidationError as error:
            return (*closed, document.refused(RejectReason.INVALID_RECORD, f"{document.value['kind']}: {complaints(error)}"))
        return closed

    def end(self) -> Iterator[Found | Unreadable]:
        """The conversation that is still open. A lone event without totals or a status, as `events/*.json` are, makes no run."""
        conversation, last = self._conversation, self._last
        self._conversation, self._last = Conversation(), None
        if last and (conversation.events > 1 or conversation.stats or conversation.status):
            yield ended(last, _kept(conversation) | {"record_kind": RecordKind.STREAM}, self._context_of)

    def _of_state(self, document: Document) -> Found:
        conversation = Conversation()
        try:
            conversation.note_state(ConversationState.model_validate(document.value))
        except ValidationError as error:
            raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
        values = _kept(conversation) | {"record_kind": RecordKind.RESULT, "rank": 1}
        return found(document, kept(values), self._context_of)


def _is_event(value: dict[str, Any]) -> bool:
    return all(isinstance(value.get(name), str) for name in ("id", "kind", "source", "timestamp")) and value["source"] in _SOURCES


def _is_of_another(conversation: Conversation, event: dict[str, Any]) -> bool:
    """Whether an event is the whole state of another conversation than the one before it."""
    state = event.get("value") if event.get("key") == "full_state" else None
    told = state.get("id") if isinstance(state, dict) else None
    return bool(told and conversation.state.id and told != conversation.state.id)


def _kept(conversation: Conversation) -> dict[str, Any]:
    outcome = conversation.outcome()
    totals = list(conversation.stats.usage_to_metrics.values()) if conversation.stats else []
    asked = conversation.state.agent.llm.model if conversation.state.agent and conversation.state.agent.llm else None
    has_ended = outcome not in (Outcome.INTERRUPTED, Outcome.UNKNOWN)
    return {
        "run_id": conversation.state.id or conversation.first_id or canonical_hash({"openhands": str(conversation.started_at)}),
        "agent": OPENHANDS.key,
        "rank": 2 if totals else 0,
        "session_id": conversation.state.id,
        "requested_model": asked,
        "models": models_of(totals, is_acp=conversation.is_acp, stale=conversation.stale, model=asked),
        "started_at": conversation.started_at,
        "ended_at": conversation.ended_at,
        "num_turns": conversation.turns or None,
        "outcome": outcome,
        "is_error": outcome is not Outcome.COMPLETED if has_ended else None,
        "ended_as": conversation.status,
        "errors": [conversation.error] if conversation.error and outcome is not Outcome.COMPLETED else [],
        "cost_usd": cost_of(total.accumulated_cost for total in totals),
        "prompt": conversation.prompt,
        "final_text": conversation.final_text,
        "tool_calls": merged(conversation.tools),
    }
