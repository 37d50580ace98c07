"""Harbor's result of a trial → a run.

`n_input_tokens` holds cache reads and writes, `n_cache_tokens` the reads alone. The agent's own time is `agent_execution`; the trial's has
the build of its image and its verifier too. A trial that ended early may have a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, Found
from ingest.agents.harbor.inclusive_tokens import disjoint
from ingest.agents.kept_run import UNKNOWN, found, kept
from ingest.agents.shared.runs import canonical_hash, is_uuid, milliseconds_between, wire_record
from ingest.agents.shared.texts import is_harness_failure
from ingest.agents.shared.tokens import known_sum, provider_named, provider_of
from ingest.sources.document import Document
from ingest.sources.times import event_time
from schemas.agents import HARBOR
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.harbor import HarborAgentResult, HarborModelInfo, HarborPhase, HarborRewards, HarborTrial, HarborUsage

_LIMITS = frozenset(
    (
        "AgentTimeoutError", "ContextWindowExceededError", "OutputTokenExceededError", "ContextLengthExceededError",
        "OutputLengthExceededError",
    )
)  # fmt: skip
_REFUSED = ("AgentSafetyRefusal", "ContentPolicy")
_INTERRUPTED = ("CancelledError", "KeyboardInterrupt")
_API = ("Api", "API", "RateLimit", "Authentication", "AgentAuthentication", "UnknownApi", "NetworkConnection")
"""How classes of exceptions begin, after harbor.models.trial.error_policy."""
_AFTER_THE_AGENT = ("VerifierTimeoutError",)
"""The tests ran out of time, after an agent that had no exception."""


class HarborTrials(AgentReader):
    """Results of Harbor's trials, `result.json` in the folder of each."""

    agent: ClassVar[str] = HARBOR.key

    @staticmethod
    def recognises(document: Document) -> bool:
        return _is_trial(document.value)

    def feed(self, document: Document) -> Iterable[Found]:
        return (found(document, kept(_kept(wire_record(HarborTrial, document))), self._context_of),)


def run_of_logs(result: dict[str, Any]) -> str | None:
    """The id of the run that the agent's logs beside this result belong to. None where it is no trial, or one of several steps."""
    if not _is_trial(result) or result.get("step_results"):
        return None
    with suppress(ValidationError):
        return _run_id(HarborTrial.model_validate(result))
    return None


def model_of_logs(result: dict[str, Any]) -> str | None:
    """The model that the agent was started with whose logs lie beside this result; None where it is no trial, or was not given any."""
    if _is_trial(result):
        with suppress(ValidationError):
            return _asked(HarborTrial.model_validate(result).agent_info.model_info or HarborModelInfo())
    return None


def _asked(model: HarborModelInfo) -> str | None:
    return f"{model.provider}/{model.name}" if model.provider and model.name else model.name


def _is_trial(value: dict[str, Any]) -> bool:
    return all(name in value for name in ("trial_name", "agent_info", "task_checksum"))


def _run_id(record: HarborTrial) -> str:
    if record.id and is_uuid(record.id):
        return record.id
    return canonical_hash({"trial": record.trial_name, "start": record.started_at})


def _kept(record: HarborTrial) -> dict[str, Any]:
    agent, model = record.agent_info, record.agent_info.model_info or HarborModelInfo()
    used = _used(record)
    exception = _exception(record)
    outcome = _outcome(record, *(exception or (None, None)))
    return {
        "run_id": _run_id(record),
        "agent": agent.name or UNKNOWN,
        "record_kind": RecordKind.TRIAL,
        "rank": 2 if record.finished_at else 1,
        "agent_version": agent.version if agent.version != UNKNOWN else None,
        "requested_model": _asked(model),
        "models": list(_models(used, model)),
        "started_at": event_time(record.started_at),
        "ended_at": event_time(record.finished_at),
        "duration_ms": _lasted(record),
        "outcome": outcome,
        "is_error": None if outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN) else outcome is not Outcome.COMPLETED,
        "ended_as": exception[0] if exception else None,
        "errors": [exception[1]] if exception and exception[1] else [],
        "cost_usd": _cost(used),
        "score": _score(record),
        "task": record.task_name,
    }


def _used(record: HarborTrial) -> list[HarborAgentResult]:
    """What the agent used: of the trial, or of each step of a task with several."""
    if record.agent_result:
        return [record.agent_result]
    return [step.agent_result for step in record.step_results or () if step.agent_result]


def _models(used: Sequence[HarborAgentResult], asked: HarborModelInfo) -> Iterator[dict[str, Any]]:
    """Tokens by model where each part tells them so, else as those of the model that was asked for."""
    by_model: dict[str, list[HarborUsage]] = {}
    for part in used:
        for name, usage in (part.model_usage or {}).items():
            by_model.setdefault(name, []).append(usage)
    if _adds_up(used, [usage for usages in by_model.values() for usage in usages]):
        yield from (model for name, usages in by_model.items() for model in _model(name, provider_of(name), usages))
    else:
        yield from _model(asked.name, provider_named(asked.provider), used)


def _adds_up(whole: Sequence[HarborUsage], parts: Sequence[HarborUsage]) -> bool:
    names = ("n_input_tokens", "n_cache_tokens", "n_output_tokens")
    return bool(parts) and all((_total(whole, name) or 0) == (_total(parts, name) or 0) for name in names)


def _model(name: str | None, provider: str | None, usages: Sequence[HarborUsage]) -> Iterator[dict[str, Any]]:
    given, read, output = (_total(usages, each) for each in ("n_input_tokens", "n_cache_tokens", "n_output_tokens"))
    if tokens := disjoint(given, read, None, output):
        yield {"model_id": name, "provider": provider, "cost_usd": _cost(usages), **tokens}


def _total(usages: Iterable[HarborUsage], name: str) -> int | None:
    return known_sum(getattr(usage, name) for usage in usages)


def _cost(usages: Iterable[HarborUsage]) -> Decimal | None:
    """The sum; None where a part has none."""
    costs = [usage.cost_usd for usage in usages]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal()) if known and len(known) == len(costs) else None


def _lasted(record: HarborTrial) -> int | None:
    """The agent's own time, of all steps together, in milliseconds."""
    phases = [record.agent_execution] if record.agent_execution else [step.agent_execution for step in record.step_results or ()]
    lasted = [_phase(phase) for phase in phases]
    known = [each for each in lasted if each is not None]
    return sum(known) if known and len(known) == len(lasted) else None


def _phase(phase: HarborPhase | None) -> int | None:
    return milliseconds_between(event_time(phase.started_at), event_time(phase.finished_at)) if phase else None


def _score(record: HarborTrial) -> float | None:
    """`reward`, or the only one there is under another name. Of a task with several steps that of the trial, else of its last step."""
    last = record.step_results[-1].verifier_result if record.step_results else None
    rewards = (record.verifier_result or last or HarborRewards()).rewards or {}
    return rewards.get("reward", next(iter(rewards.values())) if len(rewards) == 1 else None)


def _exception(record: HarborTrial) -> tuple[str, str | None] | None:
    """(class, text) of the first exception: a failed step does not make one of the trial."""
    for part in (record, *(record.step_results or ())):
        if part.exception_info:
            return part.exception_info.exception_type or "", part.exception_info.exception_message
    return None


def _outcome(record: HarborTrial, exception: str | None, message: str | None) -> Outcome:
    """Without an agent that was started, and where the environment or the tests failed, nothing is known of it."""
    if exception is None:
        return Outcome.COMPLETED if record.finished_at else Outcome.INTERRUPTED
    if exception in _LIMITS:
        return Outcome.LIMIT_REACHED
    if exception.startswith(_REFUSED):
        return Outcome.REFUSED
    if exception in _INTERRUPTED:
        return Outcome.INTERRUPTED
    if exception in _AFTER_THE_AGENT:
        return Outcome.COMPLETED
    if exception.startswith(_API):
        return Outcome.API_ERROR
    has_started = record.agent_result or any(part.agent_execution for part in (record, *(record.step_results or ())))
    if not has_started or is_harness_failure(f"{exception}: {message}"):
        return Outcome.UNKNOWN
    return Outcome.EXECUTION_ERROR
