"""SWE-agent's trajectory → a run.

Cost is `instance_cost`, which comes from the provider's usage. Tokens are counted by the agent on the texts it sends and receives
(litellm's `token_counter`, since 1.0): they know neither cache nor reasoning, and do not agree with the cost. All zero with steps means
that nothing was counted: a demonstration, a replay or a local model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, Found
from ingest.agents.kept_run import found, kept
from ingest.agents.shared.runs import ToolCounts, canonical_hash, merged, wire_record
from ingest.agents.shared.tokens import provider_of
from ingest.agents.swe_agent.instances import repo_of
from ingest.sources.document import Document
from schemas.agents import SWE_AGENT
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.swe_agent import SweModel, SweModelStats, SweReplayConfig, SweTrajectory

_ESTIMATE = "Tokens were counted by the agent on the texts it sent and received, without cache and reasoning."
_ISSUE = re.compile(r"(?:^|\n)(?:ISSUE:|<pr_description>)\s*\n?(.*?)(?:\n\s*(?:INSTRUCTIONS:|</pr_description>)|\Z)", re.DOTALL)
_COMMAND = re.compile(r"[^\s;|&<>()]+")

_SUBMITTED = "submitted"
_OUTCOMES = {
    "exit_cost": Outcome.MAX_BUDGET,
    "exit_context": Outcome.LIMIT_REACHED,
    "exit_total_execution_time": Outcome.LIMIT_REACHED,
    "exit_environment_error": Outcome.UNKNOWN,
}
"""The end of a run that took no patch; any other is an error. Where its sandbox died, nothing is known of the agent."""


class SweAgent(AgentReader):
    """Trajectories of SWE-agent, `*.traj`. A history without a trajectory is a demonstration and no run."""

    agent: ClassVar[str] = SWE_AGENT.key

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        return isinstance(value.get("trajectory"), list) and "history" in value and "info" in value

    def feed(self, document: Document) -> Iterable[Found]:
        return (found(document, kept(_kept(wire_record(SweTrajectory, document))), self._context_of),)


def _kept(record: SweTrajectory) -> dict[str, Any]:
    info, config = record.info, _config(record.replay_config)
    stats = info.model_stats or SweModelStats()
    model = ((config.agent.model if config.agent else None) or SweModel()).name
    task = config.problem_statement.id if config.problem_statement else None
    repo = config.env.repo if config.env else None
    outcome = _outcome(info.exit_status)
    return {
        "run_id": _run_id(record, model, task),
        "agent": SWE_AGENT.key,
        "record_kind": RecordKind.TRAJECTORY,
        "rank": 2 if info.exit_status else 1,
        "agent_version": info.swe_agent_version,
        "requested_model": model,
        "models": [_model(model, stats)] if stats.tokens_sent or stats.tokens_received else [],
        "num_turns": len(record.trajectory),
        "outcome": outcome,
        "is_error": None if outcome in (Outcome.INTERRUPTED, Outcome.UNKNOWN) else outcome is not Outcome.COMPLETED,
        "ended_as": info.exit_status,
        "errors": [] if outcome in (Outcome.COMPLETED, Outcome.INTERRUPTED) else [info.exit_status or ""],
        "cost_usd": stats.instance_cost,
        "task": task,
        "repo": (repo.github_url if repo else None) or repo_of(task),
        "base_commit": repo.base_commit if repo and repo.base_commit != "HEAD" else None,
        "prompt": _prompt(record),
        "final_text": next((text for step in reversed(record.trajectory) if (text := step.thought or step.response)), None),
        "tool_calls": [(tool, calls, None) for tool, calls, _ in merged(_tools(record))],
    }


def _config(value: object) -> SweReplayConfig:
    """The settings; empty ones where they cannot be read."""
    try:
        given = json.loads(value) if isinstance(value, str) else value
        return SweReplayConfig.model_validate(given or {})
    except (ValueError, RecursionError, ValidationError):
        return SweReplayConfig()


def _run_id(record: SweTrajectory, model: str | None, task: str | None) -> str:
    """The record has no id and no time: the task, the model, and how long the first command took, which differs between attempts.

    Before 1.0 nothing does, when the model is asked at temperature 0: there all replies count, so that a run that grows has several ids.
    """
    told = {"task": task, "model": model, "prompt": _prompt(record)}
    steps = record.trajectory[:1] if any(step.execution_time for step in record.trajectory[:1]) else record.trajectory
    return canonical_hash(told | {"steps": [(step.response, step.action, step.execution_time) for step in steps]})


def _model(name: str | None, stats: SweModelStats) -> dict[str, Any]:
    return {
        "model_id": name,
        "provider": provider_of(name),
        "input_tokens": stats.tokens_sent,
        "output_tokens": stats.tokens_received,
        "cost_usd": stats.instance_cost,
        "basis": TokensBasis.ESTIMATE,
        "basis_reason": _ESTIMATE,
    }


def _outcome(status: str | None) -> Outcome:
    """`submitted (exit_cost)`: the run met a limit and its patch was taken anyway."""
    if not status:
        return Outcome.INTERRUPTED
    if status.startswith(_SUBMITTED):
        return Outcome.COMPLETED
    return _OUTCOMES.get(status, Outcome.EXECUTION_ERROR)


def _prompt(record: SweTrajectory) -> str | None:
    """The issue in the last message before the agent's first reply that is not of a demonstration."""
    texts = []
    for message in record.history or ():
        if message.role == "assistant" and not message.is_demo:
            break
        if message.role == "user" and not message.is_demo and (text := _text(message.content)):
            texts.append(text)
    issue = _ISSUE.search(texts[-1]) if texts else None
    return issue[1].strip() if issue else texts[-1] if texts else None


def _text(content: object) -> str | None:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)) or None


def _tools(record: SweTrajectory) -> ToolCounts:
    """Every step runs one command, whose first word is its tool. Exit codes are not recorded."""
    counts = ToolCounts()
    for step in record.trajectory:
        if step.action and (command := _COMMAND.search(step.action)):
            counts.called(None, command[0])
    return counts
