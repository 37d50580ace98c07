"""TRAE's trajectory → a run.

Every call has its usage; the steps repeat it. What `input_tokens` includes depends on the
provider's client: OpenAI and Google count cache reads in it, Anthropic beside it. The clients for
OpenRouter, Azure and Doubao and the Bedrock client of ISO-Bench never copy the cache classes, so
their 0 means unknown, and the input is an upper bound of the uncached input.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ingest.agents.shared.runs import RecordReader, ToolCounts, canonical_hash, merged, wire_record
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import Tokens
from ingest.sources.document import Document
from ingest.sources.times import written_time
from schemas.agents import TRAE
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.trae import TraeTrajectory

_CACHE_INSIDE = ("openai", "google")
_CACHE_BESIDE = ("anthropic",)
_NOT_COPIED = (
    "The client for {} does not record cache reads and writes: uncached input includes them."
)


class Trae(RecordReader):
    """Trajectories of TRAE, one file each."""

    agent: ClassVar[str] = TRAE.key

    def _values(self, document: Document) -> dict[str, Any]:
        record = wire_record(TraeTrajectory, document)
        calls, steps, result = record.llm_interactions, record.agent_steps, record.final_result
        # `success` decides, then the absence of an end, then the last error. `state` of a step says
        # completed even if it failed.
        error = next((step.error for step in reversed(steps) if step.error), None)
        if record.success:
            outcome, error = Outcome.COMPLETED, None
        elif not record.end_time:
            outcome = Outcome.INTERRUPTED
        else:
            error = error or result
            is_too_long = result is not None and "maximum steps" in result.lower()
            outcome = Outcome.MAX_TURNS if is_too_long else outcome_of_error(error or "")
        # The result of a success is the summary; of any other run it only says why it ended.
        texts = (call.response.content for call in reversed(calls) if call.response)
        answer = next((text for text in texts if text and text.strip()), None)

        tools = ToolCounts()
        for call in calls:
            for tool in (call.response.tool_calls if call.response else None) or ():
                tools.called(tool.call_id, tool.name or "tool")
        for step in steps:
            for done in step.tool_results or ():
                if done.success is False and done.call_id:
                    tools.failed(done.call_id)
        started_at, ended_at = written_time(record.start_time), written_time(record.end_time)
        return {
            "run_id": canonical_hash(
                [record.start_time, record.model, record.task]
            ),  # the record has no id
            "agent": self.agent,
            "record_kind": RecordKind.TRAJECTORY,
            "rank": 1 if ended_at is None else 2,
            "requested_model": record.model,
            "models": _models(record),
            "started_at": started_at,
            "ended_at": ended_at,
            "duration_ms": round(record.execution_time * 1000)
            if record.execution_time and ended_at
            else None,
            "num_turns": len(calls),
            "outcome": outcome,
            "is_error": None if outcome is Outcome.INTERRUPTED else not record.success,
            "errors": [error] if error else [],
            "prompt": record.task,
            "final_text": (result if record.success else None) or answer,
            "tool_calls": merged(tools),
        }


def _models(record: TraeTrajectory) -> list[dict[str, Any]]:
    """Return tokens by provider and requested model.

    Its name has the region and route that the price depends on.
    """
    sums: dict[tuple[str, str], Tokens] = {}
    for call in record.llm_interactions:
        if call.response and call.response.usage:
            usage, provider = call.response.usage, (call.provider or record.provider or "").lower()
            given, read = usage.input_tokens or 0, usage.cache_read_input_tokens or 0
            uncached = given - read if provider in _CACHE_INSIDE and read <= given else given
            written, reasoning = usage.cache_creation_input_tokens or 0, usage.reasoning_tokens or 0
            key = call.model or record.model or call.response.model or "", provider
            sums[key] = sums.get(key, Tokens()) + Tokens(
                uncached, read, written, usage.output_tokens or 0, reasoning
            )
    models = []
    for (model, provider), tokens in sums.items():
        if provider in _CACHE_INSIDE:
            models.append(tokens.as_model(model or None))
        elif provider in _CACHE_BESIDE:
            models.append(tokens.as_model(model or None) | {"reasoning_tokens": None})
        else:
            reason = _NOT_COPIED.format(provider or "this provider")
            values = tokens.as_model(model or None, None, TokensBasis.UPPER_BOUND, reason)
            models.append(
                values
                | dict.fromkeys(("cache_read_tokens", "cache_write_tokens", "reasoning_tokens"))
            )
    return models
