"""The trajectories of SWE-agent and mini-swe-agent.

SWE-agent (versions 0.x and 1.x) has one object per run; mini-swe-agent's is written again after
every step.

Sources: sweagent/types.py, agent/agents.py and agent/models.py (SWE-agent/SWE-agent), records of
0.6 to 1.1; minisweagent/agents/default.py, models/litellm_model.py, run/utils/save.py of versions
1.15 to 2.4, records of 1.15 and 2.2.4.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from schemas.wire.litellm import CallUsage
from schemas.wire.values import Secondary, WireCount, WireModel, WireText, WireUsd

MINI_FORMAT = "mini-swe-agent-"
"""Prefix of `trajectory_format`."""


class SweModelStats(WireModel):
    """Sums of the run. `total_cost` (0.x), unused here, is the running sum of the whole batch."""

    instance_cost: WireUsd | None = Field(
        default=None, description="Cost in USD, from the provider's usage."
    )
    tokens_sent: WireCount | None = Field(
        default=None, description="Input, counted by the agent itself in 1.x."
    )
    tokens_received: WireCount | None = Field(
        default=None, description="Output, counted by the agent itself in 1.x."
    )
    api_calls: WireCount | None = Field(
        default=None, description="Calls; more than steps where a reply was asked for again."
    )


class SweInfo(WireModel):
    """Exit status and results of the run."""

    model_stats: SweModelStats | None = Field(default=None, description="Cost and tokens.")
    exit_status: Secondary[WireText] = Field(
        default=None, description="submitted, exit_cost, submitted (exit_cost), …; null if torn."
    )
    swe_agent_version: Secondary[WireText] = Field(
        default=None, description="Version of SWE-agent; since 1.0."
    )


class SweStep(WireModel):
    """One step."""

    action: Secondary[WireText] = Field(default=None, description="Command.")
    response: Secondary[WireText] = Field(default=None, description="The whole reply.")
    thought: Secondary[WireText] = Field(default=None, description="The reply without its command.")
    execution_time: Secondary[float] = Field(
        default=None, description="Seconds that the command took; since 1.0."
    )


class SweMessage(WireModel):
    """One message of the history."""

    role: Secondary[WireText] = Field(default=None, description="system, user, assistant, tool.")
    content: Any = Field(default=None, description="Text, or a list of parts.")
    is_demo: Secondary[bool] = Field(
        default=None, description="Whether it is of the demonstration and not of the run."
    )


class SweTrajectory(WireModel):
    """The trajectory of one run of SWE-agent."""

    trajectory: list[SweStep] = Field(default=[], description="Steps.")
    history: Secondary[list[SweMessage]] = Field(default=None, description="Messages.")
    info: SweInfo = Field(default=SweInfo(), description="How the run went.")
    replay_config: Any = Field(
        default=None,
        description="Settings (agent.model.name, problem_statement.id, env.repo), or their JSON.",
    )


class MiniResponse(WireModel):
    """The response of the provider, as litellm returns it."""

    id: Secondary[WireText] = Field(default=None, description="Id of the response.")
    created: Any = Field(default=None, description="Unix seconds; created_at in the Responses API.")
    created_at: Any = Field(default=None, description="The same.")
    model: Secondary[WireText] = Field(default=None, description="Model that answered.")
    usage: CallUsage | None = Field(default=None, description="Tokens of this call.")


class MiniExtra(WireModel):
    """The agent's additions to a message."""

    response: MiniResponse | None = Field(
        default=None, description="The response that the message came from."
    )
    cost: WireUsd | None = Field(
        default=None,
        description="Cost of the call by litellm's table, in USD; 0 where it has no price.",
    )
    timestamp: Any = Field(default=None, description="Unix seconds; since 2.0.")
    actions: Secondary[list[Any]] = Field(
        default=None, description="Commands of the message; since 2.0."
    )
    returncode: Secondary[int] = Field(
        default=None, description="Of an observation: exit code; since 2.0."
    )


class MiniMessage(MiniResponse):
    """One message.

    With the Responses API it is itself the response (`object`: response, text in `output`).
    """

    role: Secondary[WireText] = Field(
        default=None, description="system, user, assistant, tool, exit."
    )
    content: Any = Field(default=None, description="Text, or a list of parts.")
    object: Secondary[WireText] = Field(
        default=None, description="response, where the message is one."
    )
    output: Secondary[list[Any]] = Field(default=None, description="Items of a response.")
    extra: MiniExtra | None = Field(default=None, description="What the agent notes.")


class MiniModelStats(WireModel):
    """Sums of the run. Before 2.0 they were the model object's, which might serve several runs."""

    instance_cost: WireUsd | None = Field(
        default=None, description="Cost in USD; 0.0 where litellm knows no price."
    )
    api_calls: WireCount | None = Field(
        default=None, description="Calls, also those whose reply could not be parsed."
    )


class MiniLimits(WireModel):
    """Limits of the run; 0 means none."""

    step_limit: Secondary[float] = Field(default=None, description="Most calls.")
    cost_limit: Secondary[float] = Field(default=None, description="Most cost, in USD.")


class MiniConfig(WireModel):
    """Settings of the run."""

    agent: Secondary[MiniLimits] = Field(default=None, description="Limits.")
    model: Any = Field(
        default=None, description="model_name: the model that was asked for, with the route to it."
    )
    model_type: Secondary[WireText] = Field(
        default=None, description="Class that asked the model: by litellm, OpenRouter, Portkey, …"
    )
    environment: Any = Field(
        default=None, description="Container or host; cwd: the working directory."
    )


class MiniInfo(WireModel):
    """Exit status and results of the run."""

    model_stats: MiniModelStats | None = Field(default=None, description="Cost and calls.")
    config: Secondary[MiniConfig] = Field(default=None, description="Settings.")
    mini_version: Secondary[WireText] = Field(
        default=None, description="Version of mini-swe-agent."
    )
    exit_status: Secondary[WireText] = Field(
        default=None, description="Submitted, LimitsExceeded, …, an exception's class; first empty."
    )
    exception_str: Secondary[WireText] = Field(default=None, description="Text of the exception.")
    traceback: Secondary[WireText] = Field(default=None, description="Its traceback.")


class MiniTrajectory(WireModel):
    """The trajectory of one run of mini-swe-agent, format 1 (versions 1.x) or 1.1 (2.x)."""

    info: MiniInfo = Field(default=MiniInfo(), description="How the run went.")
    messages: list[MiniMessage] = Field(default=[], description="All messages.")
    trajectory_format: WireText = Field(description="mini-swe-agent-1 or mini-swe-agent-1.1.")
    instance_id: Secondary[WireText] = Field(default=None, description="Task of a benchmark.")
