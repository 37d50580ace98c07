"""mini-swe-agent's trajectory → a run.

Every reply keeps the provider's own usage, which is summed over all messages: since 2.4 a reply that could not be parsed stands in the
message of its error. `api_calls` counts such replies too. Cost is the agent's, by litellm's table: 0.0 after a call means that it has no
price.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, ContextOf, Found
from ingest.agents.kept_run import found, kept
from ingest.agents.shared.runs import ToolCounts, canonical_hash, merged, milliseconds_between, wire_record
from ingest.agents.shared.texts import is_harness_failure
from ingest.agents.shared.tokens import litellm_tokens, provider_of
from ingest.agents.swe_agent.instances import repo_of
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import unix_time
from schemas.agents import MINI_SWE_AGENT
from schemas.errors import RejectReason
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.litellm import CallUsage
from schemas.wire.mini_swe_agent import (
    FORMAT,
    MiniAgentConfig,
    MiniConfig,
    MiniMessage,
    MiniModelStats,
    MiniResponse,
    MiniTrajectory,
)

_REPLAY = "a list of messages alone, mini-swe-agent's oldest form or its input for a replay: it has no calls, tokens or cost"
_SUBMIT = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
"""Commands by which a run ends; the agent's own prompts explain them."""

_SEVERAL_MODELS = frozenset(("roulette", "interleaving"))
"""Names that stand for several models, of which each reply tells its own."""

_TOOL = "bash"
_ACTION = re.compile(r"^```(?:bash|mswea_bash_command)\s*\n", re.MULTILINE)
_RETURN_CODE = re.compile(r"<returncode>(-?\d+)</returncode>")
_TASK = re.compile(r"<pr_description>\s*(?:Consider the following PR description:\s*)?(.*?)\s*</pr_description>", re.DOTALL)
_INTERRUPTED = frozenset(("", "UserInterruption", "KeyboardInterrupt"))
_OF_ITS_START = ("CalledProcessError", "TimeoutExpired")
"""Before the first call of a model: the command that starts the container failed."""


class MiniSweAgent(AgentReader):
    """Trajectories of mini-swe-agent, `*.traj.json`."""

    agent: ClassVar[str] = MINI_SWE_AGENT.key

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._message: Document | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        return _is_trajectory(value) or _is_message(value)

    def feed(self, document: Document) -> Iterable[Found]:
        if not _is_trajectory(document.value):
            self._message = document.beginning()
            return ()
        run = kept(_kept(wire_record(MiniTrajectory, document)))
        return (found(document, run, self._context_of),)

    def end(self) -> Iterable[Unreadable]:
        return (self._message.refused(RejectReason.INVALID_RECORD, _REPLAY),) if self._message else ()


def _is_trajectory(value: dict[str, Any]) -> bool:
    named = value.get("trajectory_format")
    return isinstance(named, str) and named.startswith(FORMAT)


def _is_message(value: dict[str, Any]) -> bool:
    """Whether a value is one of the agent's messages without a trajectory around it."""
    content = value.get("content") if isinstance(value.get("role"), str) else None
    return isinstance(content, str) and any(word in content for word in _SUBMIT)


def _kept(record: MiniTrajectory) -> dict[str, Any]:
    info, config = record.info, record.info.config or MiniConfig()
    times = list(_times(record))
    outcome = _outcome(record)
    model = config.model.model_name if config.model else None
    return {
        "run_id": _run_id(record, model),
        "agent": MINI_SWE_AGENT.key,
        "record_kind": RecordKind.TRAJECTORY,
        "rank": 2 if info.exit_status else 1,
        "agent_version": info.mini_version,
        "requested_model": model,
        "models": list(_models(record, model)),
        "started_at": times[0] if times else None,
        "ended_at": times[-1] if times else None,
        "duration_ms": milliseconds_between(times[0], times[-1]) if len(times) > 1 and _is_timed(record) else None,
        "num_turns": _turns(record),
        "outcome": outcome,
        "is_error": None if outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN) else outcome is not Outcome.COMPLETED,
        "ended_as": info.exit_status,
        "errors": _errors(record, outcome),
        "cost_usd": _cost(record),
        "task": record.instance_id,
        "repo": repo_of(record.instance_id),
        "cwd": config.environment.cwd if config.environment else None,
        "prompt": _prompt(record),
        "final_text": next(filter(None, map(_text, reversed(_said(record)))), None),
        "tool_calls": merged(_tools(record)),
    }


def _run_id(record: MiniTrajectory, model: str | None) -> str:
    """The record has no id: what was asked, and the first reply. Attempts at one task have the same prompt."""
    response, time = next(_responses(record), None), next(_times(record), None)
    told = {
        "task": record.instance_id,
        "model": model,
        "prompt": _prompt(record),
        "response": response.id if response else None,
        "time": str(time) if time else None,
    }
    return canonical_hash(told)


def _responses(record: MiniTrajectory) -> Iterator[MiniResponse]:
    """Every reply of the model, also those in the message of an error."""
    for message in record.messages:
        if message.extra and message.extra.response:
            yield message.extra.response
        elif message.object == "response":
            yield message


def _said(record: MiniTrajectory) -> list[MiniMessage]:
    """The messages of the model."""
    return [message for message in record.messages if message.role == "assistant" or message.object == "response"]


def _is_timed(record: MiniTrajectory) -> bool:
    """Whether messages have times of their own; without them only the times of replies are known, and not how long the run took."""
    return any(message.extra and unix_time(message.extra.timestamp) for message in record.messages)


def _times(record: MiniTrajectory) -> Iterator[datetime]:
    if _is_timed(record):
        found_at = (unix_time(message.extra.timestamp) for message in record.messages if message.extra)
    else:
        found_at = (unix_time(response.created or response.created_at) for response in _responses(record))
    return (time for time in found_at if time)


def _turns(record: MiniTrajectory) -> int:
    """Calls of the model. Before 2.0 the count might go on from an earlier run of the same model object."""
    told = (record.info.model_stats or MiniModelStats()).api_calls
    return told if told and not _counts_go_on(record) else len(_said(record))


def _counts_go_on(record: MiniTrajectory) -> bool:
    """Whether the sums hold more than this run: in format 1 every call left a message."""
    told = (record.info.model_stats or MiniModelStats()).api_calls or 0
    return record.trajectory_format == f"{FORMAT}1" and told > len(_said(record))


def _cost(record: MiniTrajectory) -> Decimal | None:
    """The sum of the run; that of its calls where the sums go on from an earlier run; None where one of these has no price."""
    stats = record.info.model_stats or MiniModelStats()
    if _counts_go_on(record):
        return _sum_of_calls(record.messages)
    return stats.instance_cost


def _sum_of_calls(messages: Iterable[MiniMessage]) -> Decimal | None:
    costs = [_cost_of(message) for message in messages if message.object == "response" or (message.extra and message.extra.response)]
    known = [cost for cost in costs if cost]
    return sum(known, Decimal()) if known and len(known) == len(costs) else None


def _cost_of(message: MiniMessage) -> Decimal | None:
    """Cost of one reply, as the agent counted it, else as the provider did."""
    response = message.extra.response if message.extra and message.extra.response else message
    return (message.extra.cost if message.extra else None) or (response.usage.cost if response.usage else None)


def _models(record: MiniTrajectory, asked: str | None) -> Iterator[dict[str, Any]]:
    """Tokens by the model that was asked for: its name has the route that the price depends on."""
    calls: dict[str | None, list[CallUsage]] = {}
    for response in _responses(record):
        name = response.model if asked in _SEVERAL_MODELS else asked or response.model
        calls.setdefault(name, []).extend([response.usage] if response.usage else [])
    for name, usages in calls.items():
        cost = _cost(record) if len(calls) == 1 else None
        if tokens := litellm_tokens(usages):
            yield {"model_id": name, "provider": _provider(record, name), "cost_usd": cost, **tokens}


def _provider(record: MiniTrajectory, model: str | None) -> str | None:
    """By litellm's name of the model; None where OpenRouter was asked without litellm, whose names look alike."""
    asked_by = (record.info.config or MiniConfig()).model_type or ""
    return None if "openrouter" in asked_by.lower() else provider_of(model)


def _outcome(record: MiniTrajectory) -> Outcome:
    status = record.info.exit_status or ""
    if status == "Submitted":
        return Outcome.COMPLETED
    if status == "LimitsExceeded":
        return _limit(record)
    if status == "TimeExceeded":
        return Outcome.LIMIT_REACHED
    if status in _INTERRUPTED:
        return Outcome.INTERRUPTED
    has_begun = record.info.model_stats is None or bool(record.info.model_stats.api_calls)
    is_harness = is_harness_failure(status) or (status in _OF_ITS_START and not has_begun)
    return Outcome.UNKNOWN if is_harness else Outcome.EXECUTION_ERROR


def _limit(record: MiniTrajectory) -> Outcome:
    """Which limit it was: steps and cost share a status."""
    stats, config = record.info.model_stats or MiniModelStats(), record.info.config or MiniConfig()
    limits = config.agent or MiniAgentConfig()
    if limits.step_limit and (stats.api_calls or 0) >= limits.step_limit:
        return Outcome.MAX_TURNS
    if limits.cost_limit and float(stats.instance_cost or 0) >= limits.cost_limit:
        return Outcome.MAX_BUDGET
    return Outcome.LIMIT_REACHED


def _errors(record: MiniTrajectory, outcome: Outcome) -> list[str]:
    if outcome in (Outcome.COMPLETED, Outcome.INTERRUPTED):
        return []
    lines = (record.info.traceback or "").strip().splitlines()
    said = record.info.exception_str or (lines[-1] if lines else None) or record.info.exit_status
    return [said] if said else []


def _text(message: MiniMessage) -> str | None:
    """The text of a message: a string, parts, or the output items of a response."""
    if isinstance(message.content, str):
        return message.content.strip() and message.content
    parts = message.content if isinstance(message.content, list) else message.output or []
    inner = [part for item in parts if isinstance(item, dict) for part in (item.get("content") if "content" in item else [item]) or ()]
    texts = [part["text"] for part in inner if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) or None


def _prompt(record: MiniTrajectory) -> str | None:
    """The task in the first message of the user, without the agent's instructions where they can be told apart."""
    text = next((_text(message) for message in record.messages if message.role == "user"), None)
    task = _TASK.search(text) if text else None
    return task[1] if task else text


def _tools(record: MiniTrajectory) -> ToolCounts:
    """The one tool is the shell. Format 1 has its commands and exit codes in the text of messages."""
    counts, last, place = ToolCounts(), 0, 0
    for number, message in enumerate(record.messages):
        if message.role == "assistant" or message.object == "response":
            last, place = number, 0
            for action in range(_actions(message)):
                counts.called(f"{number}.{action}", _TOOL)
        elif (code := _return_code(message)) is not None:
            if code:
                counts.failed(f"{last}.{place}")
            place += 1
    return counts


def _actions(message: MiniMessage) -> int:
    if message.extra and message.extra.actions is not None:
        return len(message.extra.actions)
    return 1 if _ACTION.search(_text(message) or "") else 0


def _return_code(message: MiniMessage) -> int | None:
    if message.extra and message.extra.returncode is not None:
        return message.extra.returncode
    code = _RETURN_CODE.match(message.content) if isinstance(message.content, str) else None
    return int(code[1]) if code else None
