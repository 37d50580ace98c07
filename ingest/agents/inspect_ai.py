"""Logs of Inspect AI → runs, one per sample of an evaluation.

A log is one document with its samples, or a header followed by samples, as read from an `.eval`
archive. A retried evaluation copies finished samples with their uuid, which is the id of the run.
Tokens come from the samples: the log's sums may cover more samples than it contains, and include
scorers outside of them. What Inspect's own cache answered has events, but was not paid
(UKGovernmentBEIS/ inspect_ai#3946).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from math import isfinite
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, Found
from ingest.agents.distilled import complaints, ended
from ingest.agents.shared.runs import ToolCounts, canonical_hash, is_failed, merged, wire_record
from ingest.agents.shared.texts import outcome_of_trial_error
from ingest.agents.shared.tokens import known_sum
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import INSPECT_AI, INSPECT_AI_HEADER, INSPECT_AI_SAMPLE
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.row import LARGEST_USD, usd
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.inspect_ai import (
    InspectEval,
    InspectEvent,
    InspectHeader,
    InspectSample,
    InspectUsage,
)

_ALONE = "a sample without its log and without a uuid: its run is unknown"


class InspectAI(AgentReader):
    """Logs of Inspect AI. It keeps the last header, for samples in documents of their own."""

    agent: ClassVar[str] = INSPECT_AI.key

    def __init__(self) -> None:
        self._header: InspectHeader | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        if all(name in value for name in INSPECT_AI_HEADER):
            return isinstance(value["eval"], dict) and (
                "task" in value["eval"] or "model" in value["eval"]
            )
        return all(name in value for name in INSPECT_AI_SAMPLE)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        """Yield the samples; each one that cannot be read becomes a reject of its own."""
        samples = [document.value]
        if "eval" in document.value:
            self._header = wire_record(InspectHeader, document)
            listed = document.value.get("samples")
            samples = listed if isinstance(listed, list) else []
        elif self._header is None and not document.value.get("uuid"):
            raise InvalidRecord(RejectReason.INVALID_RECORD, _ALONE)
        runs: list[Found | Unreadable] = []
        for place, sample in enumerate(samples):
            try:
                run = ended(document, _values(InspectSample.model_validate(sample), self._header))
                reason, detail = (
                    (RejectReason.INVALID_RECORD, "")
                    if isinstance(run, Found)
                    else (run.reason, run.detail)
                )
            except ValidationError as error:
                run, reason, detail = None, RejectReason.INVALID_RECORD, complaints(error)
            runs.append(
                run
                if isinstance(run, Found)
                else document.moved(place).refused(reason, f"sample {place + 1}: {detail}")
            )
        return runs


def _values(sample: InspectSample, header: InspectHeader | None) -> dict[str, Any]:
    about = header.eval if header else InspectEval()
    listed = sample.events or (sample.transcript.events if sample.transcript else None) or ()
    events = [InspectEvent.model_validate(event) for event in listed if isinstance(event, dict)]
    calls = [event for event in events if event.event == "model"]
    paid = [event for event in calls if event.cache != "read"]
    waited = [event.output.time for event in paid if event.output and event.output.time is not None]
    times = [time for event in events if (time := event_time(event.timestamp))]
    tools = ToolCounts()
    for number, event in enumerate(events):
        if event.event == "tool":
            call = event.id or str(number)
            tools.called(call, event.function or "tool")
            if event.error:
                tools.failed(call)

    prompt = sample.input  # of messages the first one of the user
    if isinstance(prompt, list):
        prompts = (
            message.get("content")
            for message in prompt
            if isinstance(message, dict) and message.get("role") == "user"
        )
        prompt = next(prompts, None)
    final = sample.output.completion if sample.output else None
    if sample.output and not final:
        message = sample.output.choices[0].message if sample.output.choices else None
        final = message.content if message else None
    final_text = _text(final, sample)
    run_id = sample.uuid or (f"{about.run_id}/{sample.id}/{sample.epoch}" if about.run_id else None)
    run_id = run_id or canonical_hash(
        {"inspect_ai": [about.task, sample.id, sample.epoch, str(sample.input), final_text]}
    )

    # An error, then a limit. An evaluation that was cancelled has finished samples too: those with
    # a score.
    is_cut_short = header is not None and header.status in ("cancelled", "started", "error")
    if sample.error:
        error = sample.error.message or ""
        outcome = (
            Outcome.INTERRUPTED if "cancelled" in error.lower() else outcome_of_trial_error(error)
        )
    elif sample.limit:
        limits = {
            "operator": Outcome.INTERRUPTED,
            "cost": Outcome.MAX_BUDGET,
            "turn": Outcome.MAX_TURNS,
        }
        outcome = limits.get(sample.limit.type or "", Outcome.LIMIT_REACHED)
    else:
        outcome = (
            Outcome.INTERRUPTED
            if is_cut_short and not sample.scores and sample.total_time is None
            else Outcome.COMPLETED
        )
    version = (about.packages or {}).get("inspect_ai")
    config = about.model_generate_config
    models = _models(sample, calls, has_events=bool(events), requested=about.model)
    return {
        "run_id": run_id,
        "agent": INSPECT_AI.key,
        "record_kind": RecordKind.TRIAL,
        "rank": 2 if header else 1,
        "agent_version": version if isinstance(version, str) else None,
        "requested_model": about.model,
        "effort": config.reasoning_effort if config else None,
        "models": models,
        "started_at": event_time(sample.started_at) or min(times, default=None),
        "ended_at": event_time(sample.completed_at) or max(times, default=None),
        "duration_ms": None if sample.total_time is None else round(sample.total_time * 1000),
        "duration_api_ms": round(sum(waited) * 1000) if waited else None,
        "num_turns": sample.turn_count or len(calls) or None,
        "outcome": outcome,
        "is_error": None if is_failed(outcome) is None else sample.error is not None,
        "ended_as": f"{sample.limit.type} limit" if sample.limit and sample.limit.type else None,
        "errors": [sample.error.message or "error"] if sample.error else [],
        "cost_usd": known_sum(model["cost_usd"] for model in models),
        "score": _score(sample),
        "task": f"{about.task}/{sample.id}" if about.task else str(sample.id),
        "prompt": _text(prompt, sample),
        "final_text": final_text,
        "tool_calls": merged(tools),
    }


def _score(sample: InspectSample) -> float | None:
    """Return the first numeric score, with letters as Inspect counts them.

    Correct is 1, partial ½, incorrect and no answer 0. Of several values by name none is the score,
    and no later scorer takes their place: it may grade something else, such as how suspicious the
    run was.
    """
    for score in (sample.scores or {}).values():
        value = score.value
        if isinstance(value, dict):
            if len(value) > 1:
                return None
            value = next(iter(value.values()), None)
        if isinstance(value, bool | int | float):
            with suppress(OverflowError):
                return float(value) if isfinite(value) else None  # NaN: it was not scored
            return None
        if isinstance(value, str) and value in ("C", "I", "P", "N"):
            return {"C": 1.0, "P": 0.5}.get(value, 0.0)
    return None


def _text(content: object, sample: InspectSample) -> str | None:
    """Return a text, or the texts of a message's parts; long ones are stored as attachments."""
    if isinstance(content, list):
        parts = (
            _text(part.get("text"), sample)
            for part in content
            if isinstance(part, dict) and part.get("type") == "text"
        )
        return "\n".join(part for part in parts if part) or None
    if not isinstance(content, str) or not content:
        return None
    if content.startswith("attachment://"):
        attached: Mapping[str, Any] = (
            sample.attachments or (sample.transcript.content if sample.transcript else None) or {}
        )
        long = attached.get(content.removeprefix("attachment://"))
        return long if isinstance(long, str) else content
    return content


_CACHE_INSIDE = ("openai", "azureai", "grok", "openrouter", "together", "fireworks")
"""Model routes whose input includes the cache."""
_FREE = InspectUsage(
    input_tokens=0,
    output_tokens=0,
    total_tokens=0,
    input_tokens_cache_read=0,
    input_tokens_cache_write=0,
)
"""What an answer from Inspect's own cache uses."""


def _models(
    sample: InspectSample, events: list[InspectEvent], *, has_events: bool, requested: str | None
) -> list[dict[str, Any]]:
    """Return the tokens of each model.

    From the sample, in the oldest logs from its calls (`events`), else from its last output.
    """
    if sample.model_usage:
        return [_model(name, [usage]) for name, usage in sample.model_usage.items()]
    calls: dict[str | None, list[InspectUsage]] = {}
    for event in events:
        if event.output and event.output.usage:
            usage = _FREE if event.cache == "read" else event.output.usage
            calls.setdefault(event.model or requested, []).append(usage)
    if calls or not (sample.output and sample.output.usage):
        return [_model(name, usages) for name, usages in calls.items()]
    last = _model(requested, [sample.output.usage])
    if not has_events:
        last |= {
            "basis": TokensBasis.LOWER_BOUND,
            "basis_reason": "Only the last call of the model has a count.",
        }
    return [last]


def _model(name: str | None, usages: list[InspectUsage]) -> dict[str, Any]:
    """Return tokens in disjoint classes.

    Whether input includes the cache follows from the total, else from the model's route.

    If the cache is beside the input, a total of input and output leaves nothing for it.
    """
    inputs: list[int | None] = []
    is_sure = True
    is_route_inside = (name or "").partition("/")[0] in _CACHE_INSIDE
    uncached = 0
    for usage in usages:
        given, output, total = usage.input_tokens, usage.output_tokens or 0, usage.total_tokens
        cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        is_inside, is_beside = (
            total == (given or 0) + output,
            total == (given or 0) + output + cached,
        )
        may_be_inside = is_inside or (not is_beside and is_route_inside)
        uncached += is_inside and not cached and not is_route_inside
        inputs.append(
            given - cached
            if cached and given is not None and cached <= given and may_be_inside
            else given
        )
        is_sure = is_sure and (not cached or is_inside or is_beside)
    costs = [
        Decimal(repr(float(usage.total_cost))) for usage in usages if usage.total_cost is not None
    ]
    values = {
        "model_id": name,
        "cost_usd": known_sum(usd(cost) if cost <= LARGEST_USD else cost for cost in costs),
        "input_tokens": known_sum(inputs),
        "output_tokens": known_sum(usage.output_tokens for usage in usages),
        "cache_read_tokens": 0
        if uncached == len(usages)
        else known_sum(usage.input_tokens_cache_read for usage in usages),
        "cache_write_tokens": 0
        if uncached == len(usages)
        else known_sum(usage.input_tokens_cache_write for usage in usages),
        "reasoning_tokens": known_sum(usage.reasoning_tokens for usage in usages),
    }
    if not is_sure:
        reason = "The log does not say whether the input includes what was cached."
        values |= {"basis": TokensBasis.ESTIMATE, "basis_reason": reason}
    return values
