"""Logs of Inspect AI → runs: each sample of an evaluation is a run.

A log is one document with its samples, or a header with samples behind it, as an `.eval` archive is read. A retried evaluation carries
finished samples over with their uuid, which is the id of the run. Tokens are those of the samples: the sums of the log may be those of
more samples than it holds, and include scorers outside of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from math import isfinite
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.kept_run import complaints, ended
from ingest.agents.shared.runs import ToolCounts, canonical_hash, merged, wire_record
from ingest.agents.shared.texts import outcome_of_trial_error
from ingest.agents.shared.tokens import known_sum
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import INSPECT_AI, INSPECT_AI_HEADER, INSPECT_AI_SAMPLE
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.row import LARGEST_USD, usd
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.inspect_ai import InspectEval, InspectEvent, InspectHeader, InspectSample, InspectUsage

_ATTACHMENT = "attachment://"
_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_LIMITS = {"operator": Outcome.INTERRUPTED, "cost": Outcome.MAX_BUDGET, "turn": Outcome.MAX_TURNS}
_CACHE_INSIDE = ("openai", "azureai", "grok", "openrouter", "together", "fireworks")
_UNSURE = "The log does not say whether the input includes what was cached."
_ALONE = "a sample without its log, and without a uuid: it cannot be told which run it is"
_LAST_CALL = "Only the last call of the model has a count."
_CLASSES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class InspectAI(AgentReader):
    """Logs of Inspect AI, with the header of the last one for samples that come by themselves."""

    agent: ClassVar[str] = INSPECT_AI.key

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._header: InspectHeader | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        if all(name in value for name in INSPECT_AI_HEADER):
            return isinstance(value["eval"], dict) and ("task" in value["eval"] or "model" in value["eval"])
        return all(name in value for name in INSPECT_AI_SAMPLE)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        if "eval" not in document.value:
            if self._header is None and not document.value.get("uuid"):
                raise InvalidRecord(RejectReason.INVALID_RECORD, _ALONE)
            return (self._run(document, document.value, 0),)
        self._header = wire_record(InspectHeader, document)
        samples = document.value.get("samples")
        return tuple(self._run(document, sample, place) for place, sample in enumerate(samples if isinstance(samples, list) else ()))

    def _run(self, document: Document, sample: object, place: int) -> Found | Unreadable:
        """The run of a sample, or a reject of it: the others are kept."""
        try:
            values = _kept(InspectSample.model_validate(sample), self._header)
        except ValidationError as error:
            return document.moved(place).refused(RejectReason.INVALID_RECORD, f"sample {place + 1}: {complaints(error)}")
        run = ended(document, values, self._context_of)
        return run if isinstance(run, Found) else document.moved(place).refused(run.reason, f"sample {place + 1}: {run.detail}")


def _kept(sample: InspectSample, header: InspectHeader | None) -> dict[str, Any]:
    about = header.eval if header else InspectEval()
    events = list(_events(sample))
    models = _models(sample, events, about.model)
    outcome = _outcome(sample, header)
    times = [time for event in events if (time := event_time(event.timestamp))]
    return {
        "run_id": _run_id(sample, about),
        "agent": INSPECT_AI.key,
        "record_kind": RecordKind.TRIAL,
        "rank": 2 if header else 1,
        "agent_version": _version(about),
        "requested_model": about.model,
        "models": models,
        "started_at": event_time(sample.started_at) or min(times, default=None),
        "ended_at": event_time(sample.completed_at) or max(times, default=None),
        "duration_ms": None if sample.total_time is None else round(sample.total_time * 1000),
        "duration_api_ms": _waited(events),
        "num_turns": sample.turn_count or sum(event.event == "model" for event in events) or None,
        "outcome": outcome,
        "is_error": None if outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN) else sample.error is not None,
        "ended_as": f"{sample.limit.type} limit" if sample.limit and sample.limit.type else None,
        "errors": [sample.error.message or "error"] if sample.error else [],
        "cost_usd": known_sum(model["cost_usd"] for model in models),
        "score": _score(sample),
        "task": f"{about.task}/{sample.id}" if about.task else str(sample.id),
        "prompt": _prompt(sample),
        "final_text": _final_text(sample),
        "tool_calls": merged(_tools(events)),
    }


def _run_id(sample: InspectSample, about: InspectEval) -> str:
    """The uuid, else evaluation, sample and epoch; without either a hash of what is told."""
    if sample.uuid:
        return sample.uuid
    if about.run_id:
        return f"{about.run_id}/{sample.id}/{sample.epoch}"
    return canonical_hash({"inspect_ai": [about.task, sample.id, sample.epoch, str(sample.input), _final_text(sample)]})


def _version(about: InspectEval) -> str | None:
    version = (about.packages or {}).get("inspect_ai")
    return version if isinstance(version, str) else None


def _events(sample: InspectSample) -> Iterator[InspectEvent]:
    told = sample.events or (sample.transcript.events if sample.transcript else None) or ()
    return (InspectEvent.model_validate(event) for event in told if isinstance(event, dict))


def _outcome(sample: InspectSample, header: InspectHeader | None) -> Outcome:
    """An error, then a limit. An evaluation that was cancelled has finished samples too: those with a score."""
    if sample.error:
        message = sample.error.message or ""
        return Outcome.INTERRUPTED if "cancelled" in message.lower() else outcome_of_trial_error(message)
    if sample.limit:
        return _LIMITS.get(sample.limit.type or "", Outcome.LIMIT_REACHED)
    is_cut_short = header is not None and header.status in ("cancelled", "started", "error")
    return Outcome.INTERRUPTED if is_cut_short and not sample.scores and sample.total_time is None else Outcome.COMPLETED


def _waited(events: Iterable[InspectEvent]) -> int | None:
    seconds = [event.output.time for event in events if event.event == "model" and event.output and event.output.time is not None]
    return round(sum(seconds) * 1000) if seconds else None


def _score(sample: InspectSample) -> float | None:
    """The first score with a value that is a number, as Inspect counts letters: correct 1, partial ½, incorrect and no answer 0."""
    for score in (sample.scores or {}).values():
        value = score.value
        if isinstance(value, dict) and len(value) == 1:
            [value] = value.values()
        if isinstance(value, bool | int | float):
            return _finite(value)
        if isinstance(value, str) and value in _VALUES:
            return _VALUES[value]
    return None


def _finite(value: float) -> float | None:
    """None for NaN, which Inspect writes for a sample that was not scored, and for what is no number of Python's."""
    with suppress(OverflowError):
        return float(value) if isfinite(value) else None
    return None


def _prompt(sample: InspectSample) -> str | None:
    """The input, of messages the first one of the user."""
    if isinstance(sample.input, list):
        asked = (message.get("content") for message in sample.input if isinstance(message, dict) and message.get("role") == "user")
        return _text(next(asked, None), sample)
    return _text(sample.input, sample)


def _final_text(sample: InspectSample) -> str | None:
    if not sample.output:
        return None
    if sample.output.completion:
        return _text(sample.output.completion, sample)
    message = sample.output.choices[0].message if sample.output.choices else None
    return _text(message.content, sample) if message else None


def _text(content: object, sample: InspectSample) -> str | None:
    """A text, or those of the parts of a message; long ones are among the attachments."""
    if isinstance(content, list):
        parts = (_text(part.get("text"), sample) for part in content if isinstance(part, dict) and part.get("type") == "text")
        return "\n".join(part for part in parts if part) or None
    if not isinstance(content, str) or not content:
        return None
    if content.startswith(_ATTACHMENT):
        kept: Mapping[str, Any] = sample.attachments or (sample.transcript.content if sample.transcript else None) or {}
        long = kept.get(content.removeprefix(_ATTACHMENT))
        return long if isinstance(long, str) else content
    return content


def _tools(events: Iterable[InspectEvent]) -> ToolCounts:
    counts = ToolCounts()
    for number, event in enumerate(events):
        if event.event == "tool":
            call = event.id or str(number)
            counts.called(call, event.function or "tool")
            if event.error:
                counts.failed(call)
    return counts


def _models(sample: InspectSample, events: list[InspectEvent], asked: str | None) -> list[dict[str, Any]]:
    """The tokens of each model: of the sample, in the oldest logs of its calls, else of its last output."""
    if sample.model_usage:
        return [_model(name, [usage]) for name, usage in sample.model_usage.items()]
    calls: dict[str | None, list[InspectUsage]] = {}
    for event in events:
        if event.event == "model" and event.output and event.output.usage:
            calls.setdefault(event.model or asked, []).append(event.output.usage)
    if calls or not (sample.output and sample.output.usage):
        return [_model(name, usages) for name, usages in calls.items()]
    last = _model(asked, [sample.output.usage])
    return [last] if events else [last | {"basis": TokensBasis.LOWER_BOUND, "basis_reason": _LAST_CALL}]


def _model(name: str | None, usages: list[InspectUsage]) -> dict[str, Any]:
    counted = [_disjoint(usage, (name or "").partition("/")[0]) for usage in usages]
    sums = {each: known_sum(count[each] for count, _ in counted) for each in _CLASSES}
    sure = all(is_sure for _, is_sure in counted)
    basis = {} if sure else {"basis": TokensBasis.ESTIMATE, "basis_reason": _UNSURE}
    costs = (usd(cost) if cost <= LARGEST_USD else cost for usage in usages if (cost := _amount(usage.total_cost)) is not None)
    return {"model_id": name, "cost_usd": known_sum(costs)} | sums | basis


def _disjoint(usage: InspectUsage, route: str) -> tuple[dict[str, int | None], bool]:
    """The classes of tokens, and whether it is sure that they are disjoint: the total tells whether the cache is inside the input."""
    given, output, total = usage.input_tokens, usage.output_tokens or 0, usage.total_tokens
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    is_inside, is_beside = total == (given or 0) + output, total == (given or 0) + output + cached
    inside = cached and given is not None and cached <= given and (is_inside or (not is_beside and route in _CACHE_INSIDE))
    counts = {
        "input_tokens": given - cached if inside and given is not None else given,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.input_tokens_cache_read,
        "cache_write_tokens": usage.input_tokens_cache_write,
        "reasoning_tokens": usage.reasoning_tokens,
    }
    return counts, not cached or is_inside or is_beside


def _amount(cost: float | None) -> Decimal | None:
    return None if cost is None else Decimal(repr(float(cost)))
