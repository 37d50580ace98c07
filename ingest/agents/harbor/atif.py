"""A trajectory in ATIF → a run.

Metrics of steps are their own; the final ones are of the run, with its sub-agents and, in a continuation, with the segments before. So
segments and sub-agents of one run are records of it, of which the last segment counts: it has the most tokens. The format has no outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

from ingest.agents.base import AgentReader, Found
from ingest.agents.harbor.inclusive_tokens import disjoint
from ingest.agents.kept_run import UNKNOWN, found, kept
from ingest.agents.shared.runs import ToolCounts, canonical_hash, is_uuid, merged, milliseconds_between, wire_record
from ingest.agents.shared.tokens import known_sum, provider_of
from ingest.sources.document import Document
from ingest.sources.times import event_time
from schemas.agents import HARBOR
from schemas.rows.row import LARGEST_INT
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.atif import VERSION, AtifFinalMetrics, AtifMetrics, AtifStep, AtifTrajectory

_PART = re.compile(r"-(?:cont-\d+|summarization-\d+-\w+)$")
"""What Terminus appends to the session of a segment or of a helper."""

_READS = ("cache_read_input_tokens", "cache_read_tokens", "total_cache_read_input_tokens")
_WRITES = (
    "cache_creation_input_tokens", "cache_write_tokens", "cache_write_input_tokens",
    "total_cache_creation_input_tokens", "total_cache_write_tokens", "total_cache_write_input_tokens",
)  # fmt: skip
_REASONING = ("reasoning_tokens", "reasoning_output_tokens", "total_reasoning_tokens", "total_reasoning_output_tokens")
"""Names that producers give, in `extra`, to what the format has no field for."""


class Atif(AgentReader):
    """Trajectories in ATIF."""

    agent: ClassVar[str] = HARBOR.key

    @staticmethod
    def recognises(document: Document) -> bool:
        version = document.value.get("schema_version")
        return isinstance(version, str) and version.startswith(VERSION) and "steps" in document.value

    def feed(self, document: Document) -> Iterable[Found]:
        return (found(document, kept(_kept(wire_record(AtifTrajectory, document))), self._context_of),)


class Counts(NamedTuple):
    """Tokens and cost of a step or of a run; None where they are not told. `given`: all input."""

    given: int | None = None
    read: int | None = None
    written: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cost: Decimal | None = None


def _kept(record: AtifTrajectory) -> dict[str, Any]:
    own = [step for step in record.steps if not step.is_copied_context]
    times = sorted(time for step in own if (time := event_time(step.timestamp)))
    models = list(_models(record))
    return {
        "run_id": _run_id(record),
        "agent": record.agent.name or UNKNOWN,
        "record_kind": RecordKind.TRAJECTORY,
        "rank": 0 if _parent(record) else 1,
        "agent_version": record.agent.version if record.agent.version != UNKNOWN else None,
        "session_id": record.session_id,
        "parent_session_id": _parent(record),
        "requested_model": record.agent.model_name,
        "models": models,
        "started_at": times[0] if times else None,
        "ended_at": times[-1] if times else None,
        "duration_ms": milliseconds_between(times[0], times[-1]) if len(times) > 1 else None,
        "num_turns": sum(map(_calls, own)),
        "outcome": Outcome.UNKNOWN,
        "cost_usd": _total(record).cost,
        "cwd": _only(record, "cwds"),
        "branch": _only(record, "git_branches"),
        "prompt": _prompt(record),
        "final_text": next((text for step in reversed(own) if step.source == "agent" and (text := _text(step))), None),
        "tool_calls": [(tool, calls, None) for tool, calls, _ in merged(_tools(own))],
    }


def _run_id(record: AtifTrajectory) -> str:
    """The session, which all parts of a run share. A session that is no UUID may be of any number of runs: the prompt tells them apart."""
    session = _PART.sub("", _parent(record) or record.session_id or "")
    if is_uuid(session):
        return session
    if not session and is_uuid(record.trajectory_id):
        return record.trajectory_id or ""
    first = next((time for step in record.steps if (time := event_time(step.timestamp))), None)
    told = {"session": session or record.trajectory_id, "agent": record.agent.name, "prompt": _prompt(record)}
    return canonical_hash(told | ({} if session else {"first": str(first)}))


def _parent(record: AtifTrajectory) -> str | None:
    """The session that a sub-agent with a file of its own belongs to; the parent's sums include it."""
    parent = (record.agent.extra or {}).get("parent_session_id")
    return parent if isinstance(parent, str) and parent else None


def _models(record: AtifTrajectory) -> Iterator[dict[str, Any]]:
    """The sums of the run, by model where its steps name several and add up to no more than the sums."""
    total, by_model = _total(record), _by_model(record)
    rest = _minus(total, _plus(by_model.values()))
    if len(by_model) < 2 or rest is None:
        main = record.agent.model_name or next(iter(by_model), None)
        by_model = {main: total}
    elif rest.given or rest.output:
        by_model[record.agent.model_name] = _plus((by_model.get(record.agent.model_name, Counts()), rest))
    for name, counts in by_model.items():
        tokens = disjoint(counts.given, counts.read, counts.written, counts.output, counts.reasoning)
        if tokens or counts.cost:
            yield {"model_id": name, "provider": provider_of(name), "cost_usd": counts.cost, **(tokens or {})}


def _total(record: AtifTrajectory) -> Counts:
    """The final metrics; what they leave open, from the steps and from the sub-agents inside."""
    inside = [_total(trajectory) for trajectory in record.subagent_trajectories or ()]
    summed, final = _plus((*_by_model(record).values(), *inside)), _final(record.final_metrics or AtifFinalMetrics())
    cost = final.cost or summed.cost
    if not final.given and not final.output:
        return summed._replace(cost=cost)
    return final._replace(
        read=summed.read if final.read is None else final.read,
        written=summed.written if final.written is None else final.written,
        reasoning=summed.reasoning if final.reasoning is None else final.reasoning,
        cost=cost,
    )


def _final(metrics: AtifFinalMetrics) -> Counts:
    extra = metrics.extra or {}
    read = _named(extra, _READS) if metrics.total_cached_tokens is None else metrics.total_cached_tokens
    written, reasoning = _named(extra, _WRITES), _named(extra, _REASONING)
    return Counts(metrics.total_prompt_tokens, read, written, metrics.total_completion_tokens, reasoning, metrics.total_cost_usd)


def _by_model(record: AtifTrajectory) -> dict[str | None, Counts]:
    """Sums of the steps by model. Copied steps have no metrics of their own."""
    counted: dict[str | None, list[Counts]] = {}
    for step in record.steps:
        if step.metrics and not step.is_copied_context:
            counted.setdefault(step.model_name or record.agent.model_name, []).append(_step(step.metrics))
    return {model: _plus(counts) for model, counts in counted.items()}


def _step(metrics: AtifMetrics) -> Counts:
    """Tokens of a step. A zero in `extra` says nothing: exporters write it for what their source does not tell."""
    read, written, reasoning = (_named(metrics.extra or {}, names) or None for names in (_READS, _WRITES, _REASONING))
    read = read if metrics.cached_tokens is None else metrics.cached_tokens
    return Counts(metrics.prompt_tokens, read, written, metrics.completion_tokens, reasoning, metrics.cost_usd)


def _named(extra: dict[str, Any], names: Iterable[str]) -> int | None:
    """A count under any of these names."""
    known = (extra.get(name) for name in names)
    return next((count for count in known if type(count) is int and 0 <= count <= LARGEST_INT), None)


def _plus(several: Iterable[Counts]) -> Counts:
    """The sum; its cost is known where each one with tokens has one."""
    counts = list(several)
    tokens = (known_sum(column) for column in zip(*(each[:5] for each in counts), strict=True)) if counts else ()
    has_price = all(each.cost is not None for each in counts if each.given or each.output)
    return Counts(*tokens)._replace(cost=known_sum(each.cost for each in counts) if has_price else None)


def _minus(total: Counts, part: Counts) -> Counts | None:
    """What is left of a total; None where a part is greater than it."""
    left = [(mine or 0) - (theirs or 0) for mine, theirs in zip(total[:5], part[:5], strict=True)]
    cost = (total.cost or Decimal()) - (part.cost or Decimal())
    if min(left) < 0 or cost < 0:
        return None
    given, read, written, output, reasoning = left
    return Counts(given, read, written, output, reasoning, cost or None)


def _calls(step: AtifStep) -> int:
    """Calls of the model in a step: one of an agent's step that does not say."""
    return 0 if step.source != "agent" else 1 if step.llm_call_count is None else step.llm_call_count


def _only(record: AtifTrajectory, name: str) -> str | None:
    """The value of a list in the agent's `extra` that has one."""
    values = (record.agent.extra or {}).get(name)
    return values[0] if isinstance(values, list) and len(values) == 1 and isinstance(values[0], str) else None


def _prompt(record: AtifTrajectory) -> str | None:
    return next((text for step in record.steps if step.source == "user" and (text := _text(step))), None)


def _text(step: AtifStep) -> str | None:
    if isinstance(step.message, str):
        return step.message.strip() and step.message
    parts = step.message if isinstance(step.message, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)) or None


def _tools(steps: Iterable[AtifStep]) -> ToolCounts:
    """The format does not say which calls failed."""
    counts = ToolCounts()
    for step in steps:
        for call in step.tool_calls or ():
            counts.called(None, call.function_name or "tool")
    return counts
