"""What the history of an evaluation says of a run of OpenHands before its SDK: flat events, in the oldest lines pairs of them.

An event has an `action` or an `observation`. `llm_metrics` of an event are the totals so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from ingest.agents.shared.runs import ToolCounts
from ingest.sources.times import written_time
from schemas.wire.openhands import LlmMetrics

_NO_TOOLS = frozenset(
    ("message", "finish", "think", "system", "recall", "reject", "change_agent_state", "condensation", "condensation_request", "null", "")
)
_FINAL_WORDS = ("final_thought", "message", "thought", "content")
_ENDS = {"finished": True, "error": False, "rejected": False, "stopped": False}


@dataclass
class History:
    """The events so far. `first`: id and time of the first event; `is_finished`: None where no event says how it ended."""

    first: tuple[Any, Any] | None = None
    times: list[datetime] = field(default_factory=list)
    prompt: str | None = None
    final_text: str | None = None
    is_finished: bool | None = None
    metrics: LlmMetrics | None = None
    tools: ToolCounts = field(default_factory=ToolCounts)

    def note(self, event: dict[str, Any]) -> None:
        """Add an event."""
        self.first = self.first or (event.get("id"), event.get("timestamp"))
        self._note_time(event.get("timestamp"))
        self._note_metrics(event.get("llm_metrics"))
        action, args = event.get("action"), event.get("args")
        if isinstance(action, str):
            self._note_action(event, action, args if isinstance(args, dict) else {})
        elif isinstance(event.get("observation"), str):
            self._note_observation(event)

    def _note_time(self, stamp: object) -> None:
        """Times are local, of an unknown zone."""
        time = written_time(stamp)
        if time and not any(other.tzinfo != time.tzinfo for other in self.times):
            self.times = [min([*self.times, time]), max([*self.times, time])]

    def _note_metrics(self, told: object) -> None:
        try:
            self.metrics = LlmMetrics.model_validate(told) if told else self.metrics
        except ValidationError:
            self.metrics = None

    def _note_action(self, event: dict[str, Any], action: str, args: dict[str, Any]) -> None:
        text = next((args[name] for name in _FINAL_WORDS if isinstance(args.get(name), str) and args[name].strip()), None)
        if action == "message" and event.get("source") == "user":
            self.prompt = self.prompt or text
        elif action == "finish" or (action == "message" and event.get("source") == "agent"):
            self.final_text = text or self.final_text
        if action == "finish":
            self.is_finished = True
        if action not in _NO_TOOLS and event.get("source") in ("agent", None):
            self.tools.called(None if event.get("id") is None else str(event["id"]), action)

    def _note_observation(self, event: dict[str, Any]) -> None:
        extras = event.get("extras") if isinstance(event.get("extras"), dict) else {}
        assert isinstance(extras, dict)
        if event["observation"] == "agent_state_changed":
            self.is_finished = _ENDS.get(str(extras.get("agent_state")), self.is_finished)
        inner = extras.get("metadata")
        code = (inner if isinstance(inner, dict) else extras).get("exit_code")
        if (event["observation"] == "error" or (isinstance(code, int) and code > 0)) and event.get("cause") is not None:
            self.tools.failed(str(event["cause"]))


def flat(history: object) -> Iterator[dict[str, Any]]:
    """The events of a history, those of pairs included."""
    for item in history if isinstance(history, list) else ():
        if isinstance(item, dict):
            yield item
        elif isinstance(item, list):
            yield from flat(item)


def history_of(events: Iterable[dict[str, Any]]) -> History:
    """The events together."""
    history = History()
    for event in events:
        history.note(event)
    return history
