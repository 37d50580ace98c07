"""The event log of a session of Claude Managed Agents → a run.

A log has no session id, no model, and one session: its first event names the run. `session.usage`
is the session's total so far: tokens of agents and graders, and their list price, in which are
searches and active time ($0.08 an hour). It may lag behind: it counts if it has at least the output
of all requests, otherwise these count, and its price is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ingest.agents.base import Found
from ingest.agents.shared.runs import By, OpenRun, StreamReader, is_failed, wire_record
from ingest.agents.shared.texts import lines_of, outcome_of_error
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import MANAGED_AGENTS, managed_event
from schemas.errors import InvalidRecord
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.managed_agents import ManagedEvent, ManagedUsage

_UNREAD = "Some events could not be read."
_LESS = "The session's own total is less than its requests: it lags behind them."
_NO_TOTAL = "The log has no total of the session, only its requests."

_ENDS = {
    "end_turn": Outcome.COMPLETED,
    "requires_action": Outcome.INTERRUPTED,
    "retries_exhausted": Outcome.API_ERROR,
}


@dataclass
class _Session(OpenRun):
    """An open session. `requests`: tokens of all requests. `whole`: its total in the log.

    `doubts`: reasons why there may be more tokens.
    """

    outcome: Outcome = Outcome.INTERRUPTED
    first_id: str = ""
    lines: int = 0
    turns: int = 0
    requests: Tokens = field(default_factory=Tokens)
    whole: ManagedUsage | None = None
    doubts: list[str] = field(default_factory=list)

    def has_content(self) -> bool:
        return bool(self.turns or self.whole or self.prompt)

    def note(self, event: ManagedEvent) -> None:
        self.first_id = self.first_id or event.id
        self.lines += 1
        domain, _, action = event.type.partition(".")
        is_tools = action.endswith("tool_result")
        by = By.TOOL if is_tools else By.MODEL if domain in ("agent", "span") else By.OTHERS
        self.note_time(event_time(event.processed_at), by)
        if event.type in ("user.message", "user.define_outcome"):
            self.prompt = self.prompt or event.description or lines_of(event.content)
        elif event.type == "agent.message":
            self.final_text = lines_of(event.content) or self.final_text
        elif action.endswith("tool_use"):
            self.tools.called(event.id, event.name or "tool")
        elif is_tools and event.is_error and (call := event.tool_use_id or event.mcp_tool_use_id):
            self.tools.failed(call)
        elif event.type == "span.model_request_end":
            self.turns += 1
            self.requests += _tokens(event.model_usage or ManagedUsage())
        elif event.type == "span.outcome_evaluation_end":
            self.requests += _tokens(event.usage or ManagedUsage())
        elif event.type == "session.usage" and event.usage:
            if not self.whole or event.usage.output_tokens >= self.whole.output_tokens:
                self.whole = event.usage
        elif event.type == "session.error" and event.error:
            self.errors = [event.error.message or event.error.type or "error"]
        elif event.type == "session.status_running":
            self.outcome, self.ended_as, self.errors = Outcome.INTERRUPTED, None, []
        elif event.type == "session.status_idle":
            reason = event.stop_reason.type if event.stop_reason else None
            self.outcome, self.ended_as = _ENDS.get(reason or "", Outcome.UNKNOWN), reason
        elif event.type == "session.status_terminated":
            self.outcome, self.ended_as = outcome_of_error(" ".join(self.errors)), "terminated"

    def values(self) -> dict[str, Any]:
        total, doubts = _tokens(self.whole or ManagedUsage()), list(self.doubts)
        if not self.whole or total.output < self.requests.output:
            total = self.requests
            doubts.append(_LESS if self.whole else _NO_TOTAL)
        basis = TokensBasis.LOWER_BOUND if doubts else TokensBasis.EXACT
        cost = self.whole.list_cost if self.whole else None
        model = (
            total.as_model(None, "anthropic", basis, " ".join(doubts) or None)
            if total.total
            else unrecorded(None, "No request of the model ended.", "anthropic")
        )
        return super().values() | {
            "run_id": self.first_id,
            "agent": MANAGED_AGENTS.key,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": 3,
            "lines": self.lines,
            "models": [model],
            "num_turns": self.turns or None,
            "is_error": is_failed(self.outcome),
            "cost_usd": cost.amount / 100 if cost and cost.currency == "USD" else None,
        }


def _tokens(usage: ManagedUsage) -> Tokens:
    written = usage.cache_creation_input_tokens
    if usage.cache_creation:
        kinds = usage.cache_creation
        written = kinds.ephemeral_5m_input_tokens + kinds.ephemeral_1h_input_tokens
    return Tokens(
        usage.input_tokens, usage.cache_read_input_tokens, written, usage.output_tokens, None
    )


class ManagedAgents(StreamReader[_Session]):
    """Event logs of sessions, bare or wrapped."""

    agent: ClassVar[str] = MANAGED_AGENTS.key
    priority: ClassVar[int] = 1

    @staticmethod
    def recognises(document: Document) -> bool:
        return managed_event(document.value) is not None

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        run = self._open.setdefault(None, _Session(document))
        event = managed_event(document.value)
        try:
            run.note(wire_record(ManagedEvent, document.parsed_as(event)))
            run.last = document
        except InvalidRecord as error:
            run.doubts = [_UNREAD]
            return (document.refused(error.reason, error.detail),)
        return ()
