"""TRAE's trajectory → a run.

Every call has its usage; the steps repeat it. What is inside `input_tokens` depends on the provider's client:
OpenAI and Google count cache reads in it, Anthropic beside it. Clients for OpenRouter, Azure, Doubao and the Bedrock client of ISO-Bench
never copy the cache classes, so that their 0 means unknown and the input is an upper bound of the uncached input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.kept_run import found, kept
from ingest.agents.shared.runs import ToolCounts, canonical_hash, merged, wire_record
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import Tokens
from ingest.sources.document import Document
from ingest.sources.times import written_time
from schemas.agents import TRAE
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.trae import TraeInteraction, TraeTrajectory, TraeUsage

_CACHE_INSIDE = frozenset(("openai", "google"))
_CACHE_BESIDE = frozenset(("anthropic",))
_CLASSES_NOT_COPIED = ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_NOT_COPIED = "The client for {} does not record cache reads and writes: uncached input includes them."
_TOO_MANY_STEPS = "maximum steps"


class Trae(AgentReader):
    """Trajectories of TRAE, one file each."""

    agent: ClassVar[str] = TRAE.key

    @staticmethod
    def recognises(document: Document) -> bool:
        return "llm_interactions" in document.value and "agent_steps" in document.value

    def feed(self, document: Document) -> Iterable[Found]:
        return (found(document, kept(_kept(wire_record(TraeTrajectory, document))), self._context_of),)


def _kept(record: TraeTrajectory) -> dict[str, Any]:
    outcome = _outcome(record)
    started_at, ended_at = written_time(record.start_time), written_time(record.end_time)
    is_over = ended_at is not None
    return {
        "run_id": _run_id(record),
        "agent": TRAE.key,
        "record_kind": RecordKind.TRAJECTORY,
        "rank": 2 if is_over else 1,
        "requested_model": record.model,
        "models": list(_models(record)),
        "started_at": started_at,
        "ended_at": ended_at,
        "duration_ms": round(record.execution_time * 1000) if record.execution_time and is_over else None,
        "num_turns": len(record.llm_interactions),
        "outcome": outcome,
        "is_error": None if outcome is Outcome.INTERRUPTED else not record.success,
        "errors": _errors(record, outcome),
        "prompt": record.task,
        "final_text": _final_text(record),
        "tool_calls": merged(_tools(record)),
    }


def _run_id(record: TraeTrajectory) -> str:
    """The record has no id: when it began, with which model, on which task."""
    return canonical_hash([record.start_time, record.model, record.task])


def _outcome(record: TraeTrajectory) -> Outcome:
    """`success` decides, then the absence of an end, then the last error. `state` of a step says completed even where it failed."""
    if record.success:
        return Outcome.COMPLETED
    if not record.end_time:
        return Outcome.INTERRUPTED
    if record.final_result and _TOO_MANY_STEPS in record.final_result.lower():
        return Outcome.MAX_TURNS
    return outcome_of_error(_last_error(record) or record.final_result or "")


def _last_error(record: TraeTrajectory) -> str | None:
    return next((step.error for step in reversed(record.agent_steps) if step.error), None)


def _errors(record: TraeTrajectory, outcome: Outcome) -> list[str]:
    if outcome is Outcome.COMPLETED:
        return []
    said = _last_error(record) or (record.final_result if outcome is not Outcome.INTERRUPTED else None)
    return [said] if said else []


def _final_text(record: TraeTrajectory) -> str | None:
    """The final result of a success; of any other run the last text of the model, since the result only says why it ended."""
    if record.success and record.final_result:
        return record.final_result
    texts = (call.response.content for call in reversed(record.llm_interactions) if call.response)
    return next((text for text in texts if text and text.strip()), None)


def _tools(record: TraeTrajectory) -> ToolCounts:
    counts = ToolCounts()
    for call in record.llm_interactions:
        for tool in (call.response.tool_calls if call.response else None) or ():
            counts.called(tool.call_id, tool.name or "tool")
    for step in record.agent_steps:
        for result in step.tool_results or ():
            if result.success is False and result.call_id:
                counts.failed(result.call_id)
    return counts


def _models(record: TraeTrajectory) -> Iterator[dict[str, Any]]:
    sums: dict[tuple[str, str], Tokens] = {}
    for call in record.llm_interactions:
        if call.response and call.response.usage:
            key = _model_id(call, record), (call.provider or record.provider or "").lower()
            sums[key] = sums.get(key, Tokens()) + _tokens(call.response.usage, key[1])
    for (model_id, provider), tokens in sums.items():
        yield _model(model_id or None, provider, tokens)


def _tokens(usage: TraeUsage, provider: str) -> Tokens:
    """Tokens of one call, in disjoint classes."""
    given, read = usage.input_tokens or 0, usage.cache_read_input_tokens or 0
    uncached = given - read if provider in _CACHE_INSIDE and read <= given else given
    return Tokens(uncached, read, usage.cache_creation_input_tokens or 0, usage.output_tokens or 0, usage.reasoning_tokens or 0)


def _model_id(call: TraeInteraction, record: TraeTrajectory) -> str:
    """The model as it was asked for: it has the region and the route that the price depends on."""
    return call.model or record.model or (call.response.model if call.response else None) or ""


def _model(model_id: str | None, provider: str, tokens: Tokens) -> dict[str, Any]:
    if provider in _CACHE_INSIDE:
        return tokens.as_model(model_id)
    if provider in _CACHE_BESIDE:
        return tokens.as_model(model_id) | {"reasoning_tokens": None}
    reason = _NOT_COPIED.format(provider or "this provider")
    return tokens.as_model(model_id, None, TokensBasis.UPPER_BOUND, reason) | dict.fromkeys(_CLASSES_NOT_COPIED)
