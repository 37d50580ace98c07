"""SWE-agent's trajectory, versions 0.x and 1.x: one object per run.

Sources: sweagent/types.py, agent/agents.py and agent/models.py (SWE-agent/SWE-agent), and records of 0.6 to 1.1.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from schemas.wire.values import Secondary, WireCount, WireText, WireUsd


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True, protected_namespaces=())


class SweModelStats(_Wire):
    """Sums of the run. `total_cost` (0.x), not read here, is the running sum of the whole batch."""

    instance_cost: WireUsd | None = Field(default=None, description="Cost in USD, from the provider's usage.")
    tokens_sent: WireCount | None = Field(default=None, description="Input, counted by the agent itself in 1.x.")
    tokens_received: WireCount | None = Field(default=None, description="Output, counted by the agent itself in 1.x.")
    api_calls: WireCount | None = Field(default=None, description="Calls; more than steps where a reply was asked for again.")


class SweInfo(_Wire):
    """How the run went."""

    model_stats: SweModelStats | None = Field(default=None, description="Cost and tokens.")
    exit_status: Secondary[WireText] = Field(
        default=None, description="submitted, exit_cost, submitted (exit_cost), …; null in a torn run."
    )
    swe_agent_version: Secondary[WireText] = Field(default=None, description="Version of SWE-agent; since 1.0.")


class SweStep(_Wire):
    """One step."""

    action: Secondary[WireText] = Field(default=None, description="Command.")
    response: Secondary[WireText] = Field(default=None, description="The whole reply.")
    thought: Secondary[WireText] = Field(default=None, description="The reply without its command.")
    execution_time: Secondary[float] = Field(default=None, description="Seconds that the command took; since 1.0.")


class SweMessage(_Wire):
    """One message of the history."""

    role: Secondary[WireText] = Field(default=None, description="system, user, assistant, tool.")
    content: Any = Field(default=None, description="Text, or a list of parts.")
    is_demo: Secondary[bool] = Field(default=None, description="Whether it is of the demonstration and not of the run.")


class SweModel(_Wire):
    """The model that was asked for."""

    name: Secondary[WireText] = Field(default=None, description="Name for litellm; human, replay or instant_empty_submit are no models.")


class SweAgentConfig(_Wire):
    """Settings of the agent."""

    model: Secondary[SweModel] = Field(default=None, description="Model.")


class SweProblem(_Wire):
    """The task."""

    id: Secondary[WireText] = Field(default=None, description="Name of the task.")


class SweRepo(_Wire):
    """The repository; of SWE-bench's images only the folder is told."""

    github_url: Secondary[WireText] = Field(default=None, description="Address.")
    base_commit: Secondary[WireText] = Field(default=None, description="Commit at the start.")


class SweEnvironment(_Wire):
    """Where the commands ran."""

    repo: Secondary[SweRepo] = Field(default=None, description="Repository.")


class SweReplayConfig(_Wire):
    """Settings of the run; since 1.0, in older versions as a string of JSON."""

    agent: Secondary[SweAgentConfig] = Field(default=None, description="Agent.")
    problem_statement: Secondary[SweProblem] = Field(default=None, description="Task.")
    env: Secondary[SweEnvironment] = Field(default=None, description="Environment.")


class SweTrajectory(_Wire):
    """The trajectory of one run."""

    trajectory: list[SweStep] = Field(default=[], description="Steps.")
    history: Secondary[list[SweMessage]] = Field(default=None, description="Messages.")
    info: SweInfo = Field(default=SweInfo(), description="How the run went.")
    replay_config: Any = Field(default=None, description="SweReplayConfig, or a string of its JSON.")
