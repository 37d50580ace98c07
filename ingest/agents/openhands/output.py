"""Lines of OpenHands' evaluations, `output.jsonl` → runs: each line is one run on one task.

`metrics` has the totals, and what each call adds to them. `output.critic_attempt_N.jsonl` hold the same lines as the final file.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, Found
from ingest.agents.kept_run import complaints, found, kept
from ingest.agents.openhands.conversation import Conversation, outcome_of
from ingest.agents.openhands.history import flat, history_of
from ingest.agents.openhands.tokens import cost_of, models_of
from ingest.agents.shared.runs import canonical_hash, merged
from ingest.sources.document import Document
from ingest.sources.times import event_time
from schemas.agents import OPENHANDS
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.openhands import EvalLine, EvalMetadata, LlmMetrics

_GRADES = ("result", "report")
_KEPT = ("session_id", "ended_at", "ended_as", "final_text", "tool_calls")
_BESIDE = ("history", "metrics", "instruction", "metadata")


class OpenHandsOutput(AgentReader):
    """Lines of `output.jsonl`."""

    agent: ClassVar[str] = OPENHANDS.key

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        return "instance_id" in value and "test_result" in value and any(name in value for name in _BESIDE)

    def feed(self, document: Document) -> Iterable[Found]:
        try:
            line = EvalLine.model_validate(document.value)
            values = _kept(line)
        except ValidationError as error:
            raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error
        return (found(document, kept(values), self._context_of),)


def _kept(line: EvalLine) -> dict[str, Any]:
    metadata, asked = line.metadata or EvalMetadata(), _model(line.metadata or EvalMetadata())
    told = _of_history(list(flat(line.history)))
    totals = [line.metrics] if line.metrics else told["totals"]
    outcome = outcome_of(line.error) if line.error else told["outcome"]
    return {name: value for name, value in told.items() if name in _KEPT} | {
        "run_id": told.get("run_id") or canonical_hash(_identity(line, told["first"], totals)),
        "agent": OPENHANDS.key,
        "record_kind": RecordKind.TRIAL,
        "agent_version": metadata.openhands_sdk_version,
        "requested_model": asked,
        "models": models_of(totals, is_acp=(metadata.agent_type or "").startswith("acp"), model=asked),
        "started_at": told["started_at"] or _first_start(line),
        "duration_api_ms": _waited(totals),
        "num_turns": told["turns"] or _calls(totals),
        "outcome": outcome,
        "is_error": None if outcome in (Outcome.UNKNOWN, Outcome.INTERRUPTED) else outcome is not Outcome.COMPLETED,
        "errors": [line.error] if line.error else [],
        "cost_usd": cost_of(total.accumulated_cost for total in totals),
        "score": _score(line.test_result),
        "task": line.instance_id,
        "prompt": line.instruction or told["prompt"],
    }


def _of_history(events: list[dict[str, Any]]) -> dict[str, Any]:
    """What the events say. Those of the SDK have a `kind`."""
    if any(isinstance(event.get("kind"), str) for event in events):
        return _of_conversation(events)
    history = history_of(events)
    return {
        "first": history.first,
        "started_at": history.times[0] if history.times else None,
        "ended_at": history.times[-1] if history.times else None,
        "outcome": Outcome.EXECUTION_ERROR if history.is_finished is False else Outcome.COMPLETED if events else Outcome.UNKNOWN,
        "turns": None,
        "prompt": history.prompt,
        "final_text": history.final_text,
        "tool_calls": merged(history.tools),
        "totals": [history.metrics] if history.metrics else [],
    }


def _of_conversation(events: list[dict[str, Any]]) -> dict[str, Any]:
    conversation = Conversation()
    for event in events:
        conversation.note(event)
    outcome = conversation.outcome()
    return {
        "run_id": conversation.state.id or conversation.first_id,
        "first": conversation.first_id,
        "session_id": conversation.state.id,
        "started_at": conversation.started_at,
        "ended_at": conversation.ended_at,
        "outcome": Outcome.COMPLETED if outcome is Outcome.UNKNOWN else outcome,
        "ended_as": conversation.status,
        "turns": conversation.turns,
        "prompt": conversation.prompt,
        "final_text": conversation.final_text,
        "tool_calls": merged(conversation.tools),
        "totals": list(conversation.stats.usage_to_metrics.values()) if conversation.stats else [],
    }


def _first_start(line: EvalLine) -> datetime | None:
    return next(filter(None, (event_time(run.started_at) for run in line.runtime_runs or ())), None)


def _identity(line: EvalLine, first: object, totals: list[LlmMetrics]) -> dict[str, Any]:
    """The task, and the first event with its id and time; without events the totals and when the evaluation began.

    With the SDK the id is that of the conversation, as in the log of its events.
    """
    told: dict[str, Any] = {"instance_id": line.instance_id, "first": first}
    if first is None:
        started = [str(run.started_at) for run in line.runtime_runs or ()] or (line.metadata.start_time if line.metadata else None)
        told |= {"started": started, "totals": [total.model_dump(mode="json") for total in totals], "error": line.error}
    return {"openhands": told}


def _model(metadata: EvalMetadata) -> str | None:
    named = (settings.model for settings in (metadata.llm, metadata.llm_config) if settings)
    return next(filter(None, named), None) or metadata.model_name


def _calls(totals: list[LlmMetrics]) -> int | None:
    """Calls of the model: the turns, where the events do not name the replies."""
    return sum(max(map(len, (total.token_usages or (), total.response_latencies or (), total.costs or ()))) for total in totals) or None


def _waited(totals: list[LlmMetrics]) -> int | None:
    seconds = sum(call.latency or 0 for total in totals for call in total.response_latencies or ())
    return round(seconds * 1000) or None


def _score(result: object) -> float | None:
    """Whether the task was resolved, where the line was graded."""
    if not isinstance(result, dict):
        return None
    for place in (*(result.get(name) for name in _GRADES), result):
        resolved = place.get("resolved") if isinstance(place, dict) else None
        if isinstance(resolved, bool):
            return float(resolved)
    return None
