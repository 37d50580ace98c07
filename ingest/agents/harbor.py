"""Harbor's trial results, trajectories in its format ATIF, and terminal-bench's results → runs.

Harbor: `n_input_tokens` includes cache reads and writes, `n_cache_tokens` is the reads alone. The
agent's own time is `agent_execution`; the trial's time includes building its image and its
verifier. A trial that ended early may have a score.

ATIF: metrics of steps are their own; the final metrics cover the run, with its sub-agents and, in a
continuation, the segments before. So segments and sub-agents of one run are records of it, and the
last segment counts: it has the most tokens. There is no outcome.

terminal-bench: the results of a run repeat those of its trials, with the same ids, and name neither
agent nor model. No tokens means not recorded: installed agents and timed-out trials never have any.
A trial may be solved although it timed out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, Found
from ingest.agents.distilled import UNKNOWN, complaints, ended
from ingest.agents.shared.runs import (
    RecordReader,
    ToolCounts,
    canonical_hash,
    is_failed,
    is_uuid,
    merged,
    milliseconds_between,
    wire_record,
)
from ingest.agents.shared.texts import is_harness_failure, lines_of
from ingest.agents.shared.tokens import (
    Counts,
    disjoint,
    handed_on,
    known_sum,
    models_of,
    provider_named,
    provider_of,
    summed,
)
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import HARBOR, HARBOR_TRIAL_NAMES, TERMINAL_BENCH
from schemas.errors import RejectReason
from schemas.rows.row import LARGEST_INT
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.handed_on import COPY, LIST_PRICE, HandedOnModel, HandedOnRun
from schemas.wire.harbor import (
    ATIF_VERSION,
    AtifFinalMetrics,
    AtifMetrics,
    AtifTrajectory,
    HarborConfig,
    HarborModelInfo,
    HarborRewards,
    HarborTrial,
    HarborUsage,
    TerminalTrial,
)

# Harbor's trials

_LIMITS = frozenset(
    (
        "AgentTimeoutError",
        "ContextWindowExceededError",
        "OutputTokenExceededError",
        "ContextLengthExceededError",
        "OutputLengthExceededError",
    )
)
_REFUSED = ("AgentSafetyRefusal", "ContentPolicy")
_API = (
    "Api",
    "API",
    "RateLimit",
    "Authentication",
    "AgentAuthentication",
    "UnknownApi",
    "NetworkConnection",
)
"""Prefixes of exception classes, after harbor.models.trial.error_policy."""


class HarborTrials(RecordReader):
    """Results of Harbor's trials, `result.json` in each trial's folder."""

    agent: ClassVar[str] = HARBOR.key

    def _values(self, document: Document) -> dict[str, Any]:
        record = wire_record(HarborTrial, document)
        agent, model, steps = (
            record.agent_info,
            record.agent_info.model_info or HarborModelInfo(),
            record.step_results or (),
        )
        used = (
            [record.agent_result]
            if record.agent_result
            else [step.agent_result for step in steps if step.agent_result]
        )

        by_model: dict[str, list[HarborUsage]] = {}
        for part in used:
            for name, usage in (part.model_usage or {}).items():
                by_model.setdefault(name, []).append(usage)
        parts = [usage for usages in by_model.values() for usage in usages]
        if parts and all((_sum(used, name) or 0) == (_sum(parts, name) or 0) for name in _COUNTS):
            models = [
                _harbor_model(name, provider_of(name), usages) for name, usages in by_model.items()
            ]
        else:
            models = [_harbor_model(model.name, provider_named(model.provider), used)]

        phases = (
            [record.agent_execution]
            if record.agent_execution
            else [step.agent_execution for step in steps]
        )
        lasted = [
            milliseconds_between(event_time(each.started_at), event_time(each.finished_at))
            if each
            else None
            for each in phases
        ]
        # A failed step does not make an exception of the trial. Of the scores that of the trial
        # counts, else that of its last step.
        exception = next(
            (part.exception_info for part in (record, *steps) if part.exception_info), None
        )
        outcome = (
            _outcome(record, exception.exception_type or "", exception.exception_message)
            if exception
            else None
        )
        outcome = outcome or (Outcome.COMPLETED if record.finished_at else Outcome.INTERRUPTED)
        rewards = (
            record.verifier_result
            or (steps[-1].verifier_result if steps else None)
            or HarborRewards()
        ).rewards or {}
        return {
            "run_id": _run_id(record.id, record.trial_name, record.started_at),
            "agent": agent.name or UNKNOWN,
            "record_kind": RecordKind.TRIAL,
            "rank": 2 if record.finished_at else 1,
            "agent_version": agent.version if agent.version != UNKNOWN else None,
            "requested_model": _model_asked_for(model),
            "effort": _effort_of(record.config),
            "models": [each for each in models if each],
            "started_at": event_time(record.started_at),
            "ended_at": event_time(record.finished_at),
            "duration_ms": known_sum(lasted) if None not in lasted else None,
            "outcome": outcome,
            "is_error": is_failed(outcome),
            "ended_as": (exception.exception_type or "") if exception else None,
            "errors": [exception.exception_message]
            if exception and exception.exception_message
            else [],
            "cost_usd": _sum_of_costs(used),
            "score": rewards.get(
                "reward", next(iter(rewards.values())) if len(rewards) == 1 else None
            ),
            "task": record.task_name,
        }


def _effort_of(config: HarborConfig | None) -> str | None:
    options = config.agent.get("kwargs") if config and config.agent else None
    effort = options.get("reasoning_effort") if isinstance(options, dict) else None
    return effort if isinstance(effort, str) else None


def run_of_harbors_logs(result: dict[str, Any]) -> str | None:
    """Return the id of the run of the agent's logs beside this result.

    None for any other file, and for a trial of several steps.
    """
    if result.keys() >= HARBOR_TRIAL_NAMES and not result.get("step_results"):
        with suppress(ValidationError):
            record = HarborTrial.model_validate(result)
            return _run_id(record.id, record.trial_name, record.started_at)
    return None


def model_of_harbors_logs(result: dict[str, Any]) -> str | None:
    """Return the model requested for the agent's logs beside this result.

    None for any other file, or if none was requested.
    """
    if result.keys() >= HARBOR_TRIAL_NAMES:
        with suppress(ValidationError):
            return _model_asked_for(
                HarborTrial.model_validate(result).agent_info.model_info or HarborModelInfo()
            )
    return None


def _model_asked_for(model: HarborModelInfo) -> str | None:
    return f"{model.provider}/{model.name}" if model.provider and model.name else model.name


def _run_id(own: str | None, trial: str, started_at: Any) -> str:
    """Return the id of a trial.

    For older ones a hash of the name, which is unique in its run, and the start.
    """
    return own if own and is_uuid(own) else canonical_hash({"trial": trial, "start": started_at})


_COUNTS = ("n_input_tokens", "n_cache_tokens", "n_output_tokens")


def _harbor_model(
    name: str | None, provider: str | None, usages: Sequence[HarborUsage]
) -> dict[str, Any] | None:
    given, read, output = (_sum(usages, count) for count in _COUNTS)
    tokens = disjoint(given, read, None, output)
    return (
        {"model_id": name, "provider": provider, "cost_usd": _sum_of_costs(usages), **tokens}
        if tokens
        else None
    )


def _sum(usages: Iterable[HarborUsage], name: str) -> int | None:
    return known_sum(getattr(usage, name) for usage in usages)


def _sum_of_costs(usages: Iterable[HarborUsage]) -> Decimal | None:
    """Return the sum, or None if a part has no cost."""
    costs = [usage.cost_usd for usage in usages]
    return known_sum(costs) if None not in costs else None


def _outcome(record: HarborTrial, exception: str, message: str | None) -> Outcome:
    """Return how the agent ended.

    Unknown if no agent was started, or if the environment or the tests failed.
    """
    if exception in _LIMITS:
        return Outcome.LIMIT_REACHED
    if exception.startswith(_REFUSED):
        return Outcome.REFUSED
    if exception in ("CancelledError", "KeyboardInterrupt"):
        return Outcome.INTERRUPTED
    if (
        exception == "VerifierTimeoutError"
    ):  # the tests ran out of time, after an agent that had no exception
        return Outcome.COMPLETED
    if exception.startswith(_API):
        return Outcome.API_ERROR
    has_started = record.agent_result or any(
        part.agent_execution for part in (record, *(record.step_results or ()))
    )
    return (
        Outcome.UNKNOWN
        if not has_started or is_harness_failure(f"{exception}: {message}")
        else Outcome.EXECUTION_ERROR
    )


# ATIF

_PART = re.compile(r"-(?:cont-\d+|summarization-\d+-\w+)$")
"""Suffix that Terminus appends to the session of a segment or a helper."""

_READS = ("cache_read_input_tokens", "cache_read_tokens", "total_cache_read_input_tokens")
_WRITES = (
    "cache_creation_input_tokens",
    "cache_write_tokens",
    "cache_write_input_tokens",
    "total_cache_creation_input_tokens",
    "total_cache_write_tokens",
    "total_cache_write_input_tokens",
)
_REASONING = (
    "reasoning_tokens",
    "reasoning_output_tokens",
    "total_reasoning_tokens",
    "total_reasoning_output_tokens",
)
"""Producers' names in `extra` for reasoning tokens, which the format has no field for."""


class Atif(RecordReader):
    """Trajectories in ATIF."""

    agent: ClassVar[str] = HARBOR.key

    @staticmethod
    def recognises(document: Document) -> bool:
        version = document.value.get("schema_version")
        return (
            isinstance(version, str)
            and version.startswith(ATIF_VERSION)
            and "steps" in document.value
        )

    def _values(self, document: Document) -> dict[str, Any]:
        record = wire_record(AtifTrajectory, document)
        agent, extra = record.agent, record.agent.extra or {}
        own = [step for step in record.steps if not step.is_copied_context]
        times = sorted(time for step in own if (time := event_time(step.timestamp)))
        prompt = next(
            (
                text
                for step in record.steps
                if step.source == "user" and (text := lines_of(step.message))
            ),
            None,
        )
        answers = [step for step in own if step.source == "agent"]
        outputs = Counter[str]()
        for step in answers:
            if step.reasoning_effort:
                outputs[step.reasoning_effort] += (
                    step.metrics.completion_tokens or 0 if step.metrics else 0
                )
        tools = ToolCounts()  # the format does not say which calls failed
        for step in own:
            for call in step.tool_calls or ():
                tools.called(None, call.function_name or "tool")

        # A sub-agent with a file of its own names its parent, whose sums include it. All parts of a
        # run share their session; one that is no
        # UUID may be of any number of runs: the prompt tells them apart.
        parent = extra.get("parent_session_id")
        parent = parent if isinstance(parent, str) and parent else None
        session = _PART.sub("", parent or record.session_id or "")
        run_id = (
            session
            if is_uuid(session)
            else ""
            if session or not is_uuid(record.trajectory_id)
            else record.trajectory_id
        )
        if not run_id:
            first = next(
                (time for step in record.steps if (time := event_time(step.timestamp))), None
            )
            identity = {
                "session": session or record.trajectory_id,
                "agent": agent.name,
                "prompt": prompt,
            }
            run_id = canonical_hash(identity | ({} if session else {"first": str(first)}))
        only = {}
        for name in ("cwds", "git_branches"):
            values = extra.get(name)
            only[name] = (
                values[0]
                if isinstance(values, list) and len(values) == 1 and isinstance(values[0], str)
                else None
            )
        values = {
            "run_id": run_id,
            "agent": agent.name or UNKNOWN,
            "record_kind": RecordKind.TRAJECTORY,
            "rank": 0 if parent else 1,
            "agent_version": agent.version if agent.version != UNKNOWN else None,
            "session_id": record.session_id,
            "parent_session_id": parent,
            "requested_model": agent.model_name,
            "effort": max(outputs, key=outputs.__getitem__, default=None),
            "models": [*_models(record)],
            "started_at": times[0] if times else None,
            "ended_at": times[-1] if times else None,
            "duration_ms": milliseconds_between(times[0], times[-1]) if len(times) > 1 else None,
            "num_turns": sum(
                1 if step.llm_call_count is None else step.llm_call_count for step in answers
            ),
            "outcome": Outcome.UNKNOWN,
            "cost_usd": _total(record).cost,
            "cwd": only["cwds"],
            "branch": only["git_branches"],
            "prompt": prompt,
            "final_text": next(
                (text for step in reversed(answers) if (text := lines_of(step.message))), None
            ),
            "tool_calls": [(tool, calls, None) for tool, calls, _ in merged(tools)],
        }
        if facts := _handed_on(record):
            values |= dict.fromkeys(("session_id", "duration_ms", "num_turns", "requested_model"))
            started_at, ended_at = (
                event_time(record.steps[place].timestamp) if record.steps else None
                for place in (0, -1)
            )
            values |= {"started_at": started_at, "ended_at": ended_at}
            values |= {
                "is_error": is_failed(facts.outcome or Outcome.UNKNOWN),
                "rank": COPY,
            } | facts.values()
            if facts.cost_basis == LIST_PRICE:
                values["cost_usd"] = None
        return values


def _handed_on(record: AtifTrajectory) -> HandedOnRun | None:
    """Return what `tachograph copy` adds, in a trajectory that it wrote."""
    with suppress(ValidationError):
        return (
            HandedOnRun.model_validate((record.extra or {})["tachograph"])
            if "tachograph" in (record.extra or {})
            else None
        )
    return None


def _models(record: AtifTrajectory) -> Iterator[dict[str, Any]]:
    """Yield the sums of the run by model."""
    if _handed_on(record):
        per_model: dict[str | None, list[Counts]] = {}
        facts: dict[str | None, HandedOnModel] = {}
        for step in record.steps:
            if metrics := step.metrics:
                extra = metrics.extra or {}
                given, output, cost = (
                    metrics.prompt_tokens,
                    metrics.completion_tokens,
                    metrics.cost_usd,
                )
                own = Counts(
                    given,
                    metrics.cached_tokens,
                    _named(extra, _WRITES),
                    output,
                    _named(extra, _REASONING),
                    cost,
                )
                per_model.setdefault(step.model_name, []).append(own)
                with suppress(ValidationError):  # somebody else may write under the same name
                    facts |= (
                        {step.model_name: HandedOnModel.model_validate(extra["tachograph"])}
                        if "tachograph" in extra
                        else {}
                    )
        for name, several in per_model.items():
            counts = summed(several)
            fact = facts.get(name, HandedOnModel())
            yield handed_on(
                name, counts if fact.cost_usd is None else counts._replace(cost=fact.cost_usd), fact
            )
        return
    for name, counts in models_of(
        _total(record), _by_model(record), record.agent.model_name
    ).items():
        tokens = disjoint(*counts[:5])
        if tokens or counts.cost:
            yield {
                "model_id": name,
                "provider": provider_of(name),
                "cost_usd": counts.cost,
                **(tokens or {}),
            }


def _total(record: AtifTrajectory) -> Counts:
    """Return the final metrics, with gaps filled from the steps and the embedded sub-agents."""
    inside = [_total(trajectory) for trajectory in record.subagent_trajectories or ()]
    parts = summed((*_by_model(record).values(), *inside))
    final = record.final_metrics or AtifFinalMetrics()
    cost = final.total_cost_usd or parts.cost
    if not final.total_prompt_tokens and not final.total_completion_tokens:
        return parts._replace(cost=cost)
    extra = final.extra or {}
    read = _named(extra, _READS) if final.total_cached_tokens is None else final.total_cached_tokens
    written, reasoning = _named(extra, _WRITES), _named(extra, _REASONING)
    return Counts(
        final.total_prompt_tokens,
        parts.read if read is None else read,
        parts.written if written is None else written,
        final.total_completion_tokens,
        parts.reasoning if reasoning is None else reasoning,
        cost,
    )


def _by_model(record: AtifTrajectory) -> dict[str | None, Counts]:
    """Return the sums of the steps by model. Copied steps have no metrics of their own."""
    counted: dict[str | None, list[Counts]] = {}
    for step in record.steps:
        if step.metrics and not step.is_copied_context:
            counted.setdefault(step.model_name or record.agent.model_name, []).append(
                _of_step(step.metrics)
            )
    return {model: summed(counts) for model, counts in counted.items()}


def _of_step(metrics: AtifMetrics) -> Counts:
    """Return the tokens of a step.

    A zero in `extra` means unknown: exporters write it if their source has no value.
    """
    read, written, reasoning = (
        _named(metrics.extra or {}, names) or None for names in (_READS, _WRITES, _REASONING)
    )
    read = read if metrics.cached_tokens is None else metrics.cached_tokens
    return Counts(
        metrics.prompt_tokens, read, written, metrics.completion_tokens, reasoning, metrics.cost_usd
    )


def _named(extra: dict[str, Any], names: Iterable[str]) -> int | None:
    known = (extra.get(name) for name in names)
    return next(
        (count for count in known if type(count) is int and 0 <= count <= LARGEST_INT), None
    )


# terminal-bench

_OUTCOMES = {
    None: Outcome.UNKNOWN,
    "unknown": Outcome.UNKNOWN,
    "parse_error": Outcome.UNKNOWN,
    "agent_installation_failed": Outcome.UNKNOWN,
    "unset": Outcome.COMPLETED,
    "none": Outcome.COMPLETED,
    "test_timeout": Outcome.COMPLETED,
    "agent_timeout": Outcome.LIMIT_REACHED,
    "context_length_exceeded": Outcome.LIMIT_REACHED,
    "output_length_exceeded": Outcome.LIMIT_REACHED,
}
"""`failure_mode` → outcome; any other is an error. If the harness failed to install the agent or to
parse the output of the tests, the agent's outcome is unknown. Tests that timed out ran after the
agent had ended.
"""


class TerminalBench(AgentReader):
    """Results of terminal-bench, `results.json`."""

    agent: ClassVar[str] = TERMINAL_BENCH.key

    @staticmethod
    def recognises(document: Document) -> bool:
        results = document.value.get("results")
        return _is_trial(document.value) or (
            isinstance(results, list) and bool(results) and _is_trial(results[0])
        )

    def feed(self, document: Document) -> Iterator[Found | Unreadable]:
        """Yield the trials; each one that cannot be read becomes a reject of its own."""
        value = document.value
        for number, entry in enumerate((value,) if _is_trial(value) else value["results"]):
            try:
                trial = TerminalTrial.model_validate(entry)
            except ValidationError as error:
                place = "" if entry is value else f"results.{number}: "
                yield document.moved(number).refused(
                    RejectReason.INVALID_RECORD, place + complaints(error)
                )
                continue
            tokens = disjoint(
                trial.total_input_tokens or None, None, None, trial.total_output_tokens
            )
            outcome = _OUTCOMES.get(trial.failure_mode, Outcome.EXECUTION_ERROR)
            values = {
                "run_id": _run_id(trial.id, trial.trial_name, trial.trial_started_at),
                "agent": UNKNOWN,
                "record_kind": RecordKind.TRIAL,
                "models": [tokens] if tokens else [],
                "started_at": event_time(trial.trial_started_at),
                "ended_at": event_time(trial.trial_ended_at),
                "duration_ms": milliseconds_between(
                    event_time(trial.agent_started_at), event_time(trial.agent_ended_at)
                ),
                "outcome": outcome,
                "is_error": is_failed(outcome),
                "ended_as": trial.failure_mode,
                "score": None if trial.is_resolved is None else float(trial.is_resolved),
                "task": trial.task_id,
                "prompt": trial.instruction,
            }
            yield ended(document, values)


def run_of_terminal_benchs_logs(result: dict[str, Any]) -> str | None:
    """Return the run id of the agent's logs beside this result, or None.

    None if the result is not of exactly one trial.
    """
    if _is_trial(result):
        with suppress(ValidationError):
            trial = TerminalTrial.model_validate(result)
            return _run_id(trial.id, trial.trial_name, trial.trial_started_at)
    return None


def _is_trial(value: object) -> bool:
    return isinstance(value, dict) and "trial_name" in value and "failure_mode" in value
