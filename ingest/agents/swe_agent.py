"""The trajectories of SWE-agent and of mini-swe-agent → runs.

SWE-agent's cost is `instance_cost`, which comes from the provider's usage. Its tokens are counted
by the agent on the texts it sends and receives (litellm's `token_counter`, since 1.0): they ignore
cache and reasoning, and do not match the cost. All zero with steps means that nothing was counted:
a demonstration, a replay or a local model.

mini-swe-agent keeps the provider's usage with every reply, which is summed over all messages: since
2.4 a reply that could not be parsed is in the message of its error. `api_calls` counts such replies
too. Cost is the agent's, by litellm's table: 0.0 after a call means that the model has no price.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.base import Found
from ingest.agents.shared.runs import (
    RecordReader,
    ToolCounts,
    canonical_hash,
    is_failed,
    merged,
    milliseconds_between,
    wire_record,
)
from ingest.agents.shared.texts import is_harness_failure, lines_of, text_at
from ingest.agents.shared.tokens import litellm_tokens, provider_of
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import unix_time
from schemas.agents import MINI_SWE_AGENT, SWE_AGENT
from schemas.errors import RejectReason
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.litellm import CallUsage
from schemas.wire.swe_agent import (
    MINI_FORMAT,
    MiniConfig,
    MiniExtra,
    MiniLimits,
    MiniMessage,
    MiniModelStats,
    MiniResponse,
    MiniTrajectory,
    SweModelStats,
    SweTrajectory,
)

_ESTIMATE = (
    "Tokens were counted by the agent on the texts it sent and received, without cache and "
    "reasoning."
)
_ISSUE = re.compile(
    r"(?:^|\n)(?:ISSUE:|<pr_description>)\s*\n?(.*?)(?:\n\s*(?:INSTRUCTIONS:|</pr_description>)|\Z)",
    re.DOTALL,
)
_COMMAND = re.compile(r"[^\s;|&<>()]+")
_INSTANCE = re.compile(r"([A-Za-z0-9][\w.-]*?)__([A-Za-z0-9][\w.-]*)-\d+")


def _repo_of(instance: str | None) -> str | None:
    """Return the repository in a SWE-bench task name.

    `django__django-12143` is an issue of django/django.
    """
    found = _INSTANCE.fullmatch(instance or "")
    return f"{found[1]}/{found[2]}" if found else None


class SweAgent(RecordReader):
    """Trajectories of SWE-agent, `*.traj`.

    A history without a trajectory is a demonstration, not a run.
    """

    agent: ClassVar[str] = SWE_AGENT.key

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        return isinstance(value.get("trajectory"), list) and "history" in value and "info" in value

    def _values(self, document: Document) -> dict[str, Any]:
        record = wire_record(SweTrajectory, document)
        info, steps, config = record.info, record.trajectory, record.replay_config
        if isinstance(config, str):
            with suppress(ValueError, RecursionError):
                config = json.loads(config)
        stats = info.model_stats or SweModelStats()
        model, task = (
            text_at(config, "agent", "model", "name"),
            text_at(config, "problem_statement", "id"),
        )
        commit = text_at(config, "env", "repo", "base_commit")
        status = info.exit_status or ""
        outcome = _SWE_OUTCOMES.get(status, Outcome.EXECUTION_ERROR)
        if status.startswith(
            "submitted"
        ):  # `submitted (exit_cost)`: it met a limit, and its patch was taken anyway
            outcome = Outcome.COMPLETED

        prompts: list[str] = []
        for message in record.history or ():
            if message.role == "assistant" and not message.is_demo:
                break
            if (
                message.role == "user"
                and not message.is_demo
                and (text := lines_of(message.content))
            ):
                prompts.append(text)
        issue = _ISSUE.search(prompts[-1]) if prompts else None
        prompt = issue[1].strip() if issue else prompts[-1] if prompts else None

        tools = ToolCounts()  # every step runs one command, whose first word is its tool
        for step in steps:
            if step.action and (command := _COMMAND.search(step.action)):
                tools.called(None, command[0])
        # The record has no id and no time: how long the first command took differs between
        # attempts. Before 1.0 nothing does if the model
        # is asked at temperature 0: there all replies count, so that a run that grows has several
        # ids.
        telling = steps[:1] if any(step.execution_time for step in steps[:1]) else steps
        identity = {"task": task, "model": model, "prompt": prompt}
        identity |= {
            "steps": [(step.response, step.action, step.execution_time) for step in telling]
        }
        tokens = {
            "model_id": model,
            "provider": provider_of(model),
            "input_tokens": stats.tokens_sent,
            "output_tokens": stats.tokens_received,
            "cost_usd": stats.instance_cost,
            "basis": TokensBasis.ESTIMATE,
            "basis_reason": _ESTIMATE,
        }
        return {
            "run_id": canonical_hash(identity),
            "agent": self.agent,
            "record_kind": RecordKind.TRAJECTORY,
            "rank": 2 if status else 1,
            "agent_version": info.swe_agent_version,
            "requested_model": model,
            "models": [tokens] if stats.tokens_sent or stats.tokens_received else [],
            "num_turns": len(steps),
            "outcome": outcome,
            "is_error": is_failed(outcome),
            "ended_as": info.exit_status,
            "errors": [] if outcome in (Outcome.COMPLETED, Outcome.INTERRUPTED) else [status],
            "cost_usd": stats.instance_cost,
            "task": task,
            "repo": text_at(config, "env", "repo", "github_url") or _repo_of(task),
            "base_commit": commit if commit != "HEAD" else None,
            "prompt": prompt,
            "final_text": next(
                (text for step in reversed(steps) if (text := step.thought or step.response)), None
            ),
            "tool_calls": [(tool, calls, None) for tool, calls, _ in merged(tools)],
        }


_SWE_OUTCOMES = {
    "": Outcome.INTERRUPTED,
    "exit_cost": Outcome.MAX_BUDGET,
    "exit_context": Outcome.LIMIT_REACHED,
    "exit_total_execution_time": Outcome.LIMIT_REACHED,
    "exit_environment_error": Outcome.UNKNOWN,
}
"""Endings without a patch; any other is an error. If its sandbox died, the agent's outcome is
unknown.
"""


# mini-swe-agent

_REPLAY = (
    "a list of messages alone, mini-swe-agent's oldest form or its input for a replay: it has no "
    "calls, tokens or cost"
)
_SUBMIT = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
"""Commands that end a run; the agent's own prompts explain them."""

_SEVERAL_MODELS = ("roulette", "interleaving")
"""Names for several models: each reply names its own."""

_ACTION = re.compile(r"^```(?:bash|mswea_bash_command)\s*\n", re.MULTILINE)
_RETURN_CODE = re.compile(r"<returncode>(-?\d+)</returncode>")
_TASK = re.compile(
    r"<pr_description>\s*(?:Consider the following PR description:\s*)?(.*?)\s*</pr_description>",
    re.DOTALL,
)


class MiniSweAgent(RecordReader):
    """Trajectories of mini-swe-agent, `*.traj.json`."""

    agent: ClassVar[str] = MINI_SWE_AGENT.key

    def __init__(self) -> None:
        super().__init__()
        self._message: Document | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        """Recognise a trajectory, or one of the agent's messages without a trajectory around it."""
        value = document.value
        content = value.get("content") if isinstance(value.get("role"), str) else None
        return _is_trajectory(value) or (
            isinstance(content, str) and any(word in content for word in _SUBMIT)
        )

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        if _is_trajectory(document.value):
            return super().feed(document)
        self._message = document.beginning()
        return ()

    def end(self) -> Iterable[Unreadable]:
        return (
            (self._message.refused(RejectReason.INVALID_RECORD, _REPLAY),) if self._message else ()
        )

    def _values(self, document: Document) -> dict[str, Any]:
        record = wire_record(MiniTrajectory, document)
        info, config = record.info, record.info.config or MiniConfig()
        stats = info.model_stats or MiniModelStats()
        replies = [message for message in record.messages if _is_reply(message)]
        responses = list(_responses(record))
        model = text_at(config.model, "model_name")

        # Before 2.0 the sums might go on from an earlier run of the same model object; in format 1
        # every call left a message.
        go_on = record.trajectory_format == f"{MINI_FORMAT}1" and (stats.api_calls or 0) > len(
            replies
        )
        cost = _cost_of_calls(record) if go_on else stats.instance_cost
        # Without times of their messages only those of the replies are known, and not how long the
        # run took.
        times = [
            time
            for message in record.messages
            if message.extra and (time := unix_time(message.extra.timestamp))
        ]
        lasted = milliseconds_between(times[0], times[-1]) if len(times) > 1 else None
        times = times or [
            time
            for response in responses
            if (time := unix_time(response.created or response.created_at))
        ]
        first_prompt = next(
            (_text(message) for message in record.messages if message.role == "user"), None
        )
        task = _TASK.search(first_prompt) if first_prompt else None
        prompt = task[1] if task else first_prompt
        outcome = _outcome(record)
        error = (
            info.exception_str
            or (info.traceback or "").strip().rpartition("\n")[2]
            or info.exit_status
        )
        # The record has no id: what was asked, and the first reply. Attempts at one task have the
        # same prompt.
        identity = {"task": record.instance_id, "model": model, "prompt": prompt}
        identity |= {
            "response": responses[0].id if responses else None,
            "time": str(times[0]) if times else None,
        }
        return {
            "run_id": canonical_hash(identity),
            "agent": self.agent,
            "record_kind": RecordKind.TRAJECTORY,
            "rank": 2 if info.exit_status else 1,
            "agent_version": info.mini_version,
            "requested_model": model,
            "models": _models(responses, model, config.model_type or "", cost),
            "started_at": times[0] if times else None,
            "ended_at": times[-1] if times else None,
            "duration_ms": lasted,
            "num_turns": stats.api_calls if stats.api_calls and not go_on else len(replies),
            "outcome": outcome,
            "is_error": is_failed(outcome),
            "ended_as": info.exit_status,
            "errors": [error]
            if error and outcome not in (Outcome.COMPLETED, Outcome.INTERRUPTED)
            else [],
            "cost_usd": cost,
            "task": record.instance_id,
            "repo": _repo_of(record.instance_id),
            "cwd": text_at(config.environment, "cwd"),
            "prompt": prompt,
            "final_text": next(filter(None, map(_text, reversed(replies))), None),
            "tool_calls": merged(_tools(record)),
        }


def _is_trajectory(value: dict[str, Any]) -> bool:
    named = value.get("trajectory_format")
    return isinstance(named, str) and named.startswith(MINI_FORMAT)


def _is_reply(message: MiniMessage) -> bool:
    return message.role == "assistant" or message.object == "response"


def _responses(record: MiniTrajectory) -> Iterator[MiniResponse]:
    """Yield every reply of the model, including those inside error messages."""
    for message in record.messages:
        if message.extra and message.extra.response:
            yield message.extra.response
        elif message.object == "response":
            yield message


def _cost_of_calls(record: MiniTrajectory) -> Decimal | None:
    """Return the sum of the calls' costs by the agent, else by the provider.

    None if one of them has no price.
    """
    costs = []
    for message in record.messages:
        extra = message.extra or MiniExtra()
        if message.object == "response" or extra.response:
            response = extra.response or message
            costs.append(extra.cost or (response.usage.cost if response.usage else None))
    known = [cost for cost in costs if cost]
    return sum(known, Decimal()) if known and len(known) == len(costs) else None


def _models(
    responses: list[MiniResponse], requested: str | None, requested_by: str, cost: Decimal | None
) -> list[dict[str, Any]]:
    """Return tokens by the requested model: its name has the route that the price depends on."""
    calls: dict[str | None, list[CallUsage]] = {}
    for response in responses:
        name = response.model if requested in _SEVERAL_MODELS else requested or response.model
        calls.setdefault(name, []).extend([response.usage] if response.usage else [])
    models = []
    for name, usages in calls.items():
        if tokens := litellm_tokens(usages):
            provider = (
                None if "openrouter" in requested_by.lower() else provider_of(name)
            )  # asked without litellm, whose names look alike
            models.append(
                {
                    "model_id": name,
                    "provider": provider,
                    "cost_usd": cost if len(calls) == 1 else None,
                    **tokens,
                }
            )
    return models


def _outcome(record: MiniTrajectory) -> Outcome:
    """Return the outcome by status; limits on steps and cost share one.

    A container may fail to start before the first model call.
    """
    status, stats = record.info.exit_status or "", record.info.model_stats or MiniModelStats()
    if status == "Submitted":
        return Outcome.COMPLETED
    if status == "LimitsExceeded":
        limits = (record.info.config and record.info.config.agent) or MiniLimits()
        if limits.step_limit and (stats.api_calls or 0) >= limits.step_limit:
            return Outcome.MAX_TURNS
        if limits.cost_limit and float(stats.instance_cost or 0) >= limits.cost_limit:
            return Outcome.MAX_BUDGET
    if status in ("LimitsExceeded", "TimeExceeded"):
        return Outcome.LIMIT_REACHED
    if status in ("", "UserInterruption", "KeyboardInterrupt"):
        return Outcome.INTERRUPTED
    has_begun = record.info.model_stats is None or bool(stats.api_calls)
    is_harness = is_harness_failure(status) or (
        status in ("CalledProcessError", "TimeoutExpired") and not has_begun
    )
    return Outcome.UNKNOWN if is_harness else Outcome.EXECUTION_ERROR


def _text(message: MiniMessage) -> str | None:
    """Return the text of a message: a string, parts, or the output items of a response."""
    if isinstance(message.content, str):
        return lines_of(message.content)
    items = message.content if isinstance(message.content, list) else message.output or []
    inner = (
        item.get("content") if "content" in item else [item]
        for item in items
        if isinstance(item, dict)
    )
    return lines_of([part for parts in inner for part in parts or ()])


def _tools(record: MiniTrajectory) -> ToolCounts:
    """Count the shell calls, the only tool.

    Format 1 has its commands and exit codes in the text of messages.
    """
    counts, last, place = ToolCounts(), 0, 0
    for number, message in enumerate(record.messages):
        extra = message.extra or MiniExtra()
        if _is_reply(message):
            last, place = number, 0
            actions = (
                len(extra.actions)
                if extra.actions is not None
                else 1
                if _ACTION.search(_text(message) or "")
                else 0
            )
            for action in range(actions):
                counts.called(f"{number}.{action}", "bash")
            continue
        code = extra.returncode
        if (
            code is None
            and isinstance(message.content, str)
            and (written := _RETURN_CODE.match(message.content))
        ):
            code = int(written[1])
        if code is not None:
            if code:
                counts.failed(f"{last}.{place}")
            place += 1
    return counts
