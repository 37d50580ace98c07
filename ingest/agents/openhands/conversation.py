"""What the events of OpenHands' SDK say of a conversation. Totals are cumulative: the last ones count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.agents.shared.runs import ToolCounts
from ingest.agents.shared.texts import outcome_of_trial_error
from ingest.sources.times import event_time
from schemas.rows.run import Outcome
from schemas.wire.openhands import ConversationState, SdkEvent, Stats

_STATUS_KEYS = ("execution_status", "agent_status")
_OUTCOMES = {
    "finished": Outcome.COMPLETED,
    "stuck": Outcome.EXECUTION_ERROR,
    "running": Outcome.INTERRUPTED,
    "paused": Outcome.INTERRUPTED,
    "waiting_for_confirmation": Outcome.INTERRUPTED,
    "deleting": Outcome.INTERRUPTED,
}


@dataclass
class Conversation:
    """A conversation so far. `stale`: an update of the totals could not be read, and none came since."""

    events: int = 0
    first_id: str | None = None
    state: ConversationState = field(default_factory=ConversationState)
    status: str | None = None
    stats: Stats | None = None
    stale: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    last_response: str | None = None
    turns: int = 0
    is_finished: bool = False
    prompt: str | None = None
    final_text: str | None = None
    error: str | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)

    @property
    def is_acp(self) -> bool:
        """Whether another agent works under OpenHands."""
        return bool(self.state.agent and (self.state.agent.kind or "").startswith("ACP"))

    def outcome(self) -> Outcome:
        """The last status; without one, whether the agent said that it is done."""
        if self.status in _OUTCOMES:
            return _OUTCOMES[self.status]
        if self.status == "error" or self.error:
            return outcome_of(self.error or "")
        return Outcome.COMPLETED if self.is_finished else Outcome.UNKNOWN

    def note(self, value: Mapping[str, Any]) -> None:
        """Add an event. Raises ValidationError for wrong totals."""
        event = SdkEvent.model_validate(value)
        self.events += 1
        self.first_id = self.first_id or event.id
        self._note_time(event_time(event.timestamp))
        if event.kind == "ConversationStateUpdateEvent":
            self._note_state(event)
        elif event.kind == "ActionEvent":
            self._note_action(event)
        elif event.kind == "MessageEvent":
            self._note_message(event)
        elif event.kind in ("ObservationEvent", "AgentErrorEvent"):
            self._note_result(event)
        elif event.kind == "ConversationErrorEvent":
            self.error = ": ".join(filter(None, (event.code, event.detail))) or "error"

    def note_state(self, state: ConversationState) -> None:
        """Take over a whole state."""
        self.state = state
        self.status = state.execution_status or self.status
        self._note_stats(state.stats)

    def _note_time(self, time: datetime | None) -> None:
        if time:
            self.started_at = min(self.started_at or time, time)
            self.ended_at = max(self.ended_at or time, time)

    def _note_state(self, event: SdkEvent) -> None:
        if event.key in _STATUS_KEYS and isinstance(event.value, str):
            self.status = event.value
            self.error = self.error if event.value == "error" else None
        elif event.key in ("stats", "full_state") and event.value is not None:
            self.stale = True
            if event.key == "stats":
                self._note_stats(Stats.model_validate(event.value))
            else:
                self.note_state(ConversationState.model_validate(event.value))
            self.stale = False

    def _note_stats(self, stats: Stats | None) -> None:
        if stats and stats.usage_to_metrics:
            self.stats = stats

    def _note_action(self, event: SdkEvent) -> None:
        self._note_reply(event)
        self.tools.called(event.tool_call_id, event.tool_name or "tool")
        self.is_finished = event.tool_name == "finish"
        if self.is_finished and event.action and event.action.message:
            self.final_text = event.action.message

    def _note_message(self, event: SdkEvent) -> None:
        parts = (event.llm_message.content if event.llm_message else None) or ()
        text = "\n".join(part.text for part in parts if part.text)
        if event.source == "agent":
            self._note_reply(event)
            self.final_text = text if text.strip() else self.final_text
        elif event.source == "user":
            self.prompt = self.prompt or text or None

    def _note_reply(self, event: SdkEvent) -> None:
        """One reply of the model may make several actions, one after the other."""
        if event.llm_response_id and event.llm_response_id != self.last_response:
            self.last_response = event.llm_response_id
            self.turns += 1

    def _note_result(self, event: SdkEvent) -> None:
        has_failed = event.kind == "AgentErrorEvent" or (event.observation is not None and event.observation.is_error is True)
        if has_failed and event.tool_call_id:
            self.tools.failed(event.tool_call_id)


def outcome_of(error: str) -> Outcome:
    """How a run ended whose error is this text."""
    said = error.lower().replace(" ", "")
    if "maxiteration" in said or "maximumiteration" in said or "maximumnumberofiterations" in said:
        return Outcome.MAX_TURNS
    if "maxbudget" in said or "maximumbudget" in said or "budgetfortask" in said:
        return Outcome.MAX_BUDGET
    return outcome_of_trial_error(error)
