"""Records of benchmark harnesses.

Harbor's results of trials, trajectories in its format ATIF, and results of terminal-bench.

Harbor converts any agent's log to ATIF, the Agent Trajectory Interchange Format (v1.0 to v1.8), and
other programs export it. The results
of jobs and the metadata of runs only sum up trials: see `schemas.wire.roll_ups`. Sources:
harbor.models of harbor 0.25, the package atif
1.8.0, terminal_bench.harness.models of terminal-bench 0.2.18.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, FiniteFloat

from schemas.wire.values import Secondary, WireCount, WireFlag, WireModel, WireText, WireUsd


class HarborModelInfo(WireModel):
    """The model that was asked for."""

    name: Secondary[WireText] = Field(default=None, description="Model.")
    provider: Secondary[WireText] = Field(
        default=None, description="Provider, the part before the slash."
    )


class HarborAgentInfo(WireModel):
    """The agent."""

    name: Secondary[WireText] = Field(default=None, description="claude-code, terminus-2, …")
    version: Secondary[WireText] = Field(default=None, description="Version, or unknown.")
    model_info: Secondary[HarborModelInfo] = Field(
        default=None, description="Null where none was asked for."
    )


class HarborUsage(WireModel):
    """Tokens of one model or of all."""

    n_input_tokens: WireCount | None = Field(
        default=None, description="All input, with cache reads and writes."
    )
    n_cache_tokens: WireCount | None = Field(
        default=None, description="Cache reads, inside the input."
    )
    n_output_tokens: WireCount | None = Field(default=None, description="All output.")
    cost_usd: WireUsd | None = Field(
        default=None, description="Cost, where the agent or litellm knows it."
    )


class HarborAgentResult(HarborUsage):
    """Tokens and cost of the agent."""

    model_usage: dict[str, HarborUsage] | None = Field(
        default=None, description="The same by model, with sub-agents."
    )


class HarborRewards(WireModel):
    """Scores by the verifier."""

    rewards: Secondary[dict[str, FiniteFloat]] = Field(
        default=None, description="reward, and any others."
    )


class HarborException(WireModel):
    """The error that ended the trial early. It may still have a score."""

    exception_type: Secondary[WireText] = Field(default=None, description="Class of the exception.")
    exception_message: Secondary[WireText] = Field(default=None, description="Its text.")


class HarborPhase(WireModel):
    """One phase of a trial."""

    started_at: Any = Field(default=None, description="ISO 8601, UTC.")
    finished_at: Any = Field(
        default=None, description="The same; null where the phase did not end."
    )


class HarborStep(WireModel):
    """One step of a task with several. The trial itself has no agent_result then."""

    agent_result: HarborAgentResult | None = Field(default=None, description="What the agent used.")
    verifier_result: Secondary[HarborRewards] = Field(
        default=None, description="What the verifier found."
    )
    exception_info: Secondary[HarborException] = Field(
        default=None, description="What ended the step."
    )
    agent_execution: Secondary[HarborPhase] = Field(default=None, description="The agent's time.")


class HarborConfig(WireModel):
    """The configuration of a trial."""

    agent: Secondary[dict[str, Any]] = Field(
        default=None, description="Of its agent: kwargs, with a reasoning_effort."
    )


class HarborTrial(WireModel):
    """The result of one trial."""

    id: Secondary[WireText] = Field(default=None, description="UUID.")
    task_name: Secondary[WireText] = Field(default=None, description="Task.")
    trial_name: WireText = Field(description="Task and seven letters.")
    agent_info: HarborAgentInfo = Field(default=HarborAgentInfo(), description="The agent.")
    config: Secondary[HarborConfig] = Field(default=None, description="How it was set up.")
    agent_result: HarborAgentResult | None = Field(default=None, description="What the agent used.")
    verifier_result: Secondary[HarborRewards] = Field(
        default=None, description="What the verifier found."
    )
    exception_info: Secondary[HarborException] = Field(
        default=None, description="What ended the trial early."
    )
    started_at: Any = Field(
        default=None, description="Start of the trial, before its image is built."
    )
    finished_at: Any = Field(default=None, description="End of the trial, after its verifier.")
    agent_execution: Secondary[HarborPhase] = Field(default=None, description="The agent's time.")
    step_results: Secondary[list[HarborStep]] = Field(
        default=None, description="Steps of a task with several."
    )


ATIF_VERSION = "ATIF-v"
"""Prefix of `schema_version`."""


class AtifAgent(WireModel):
    """The agent."""

    name: Secondary[WireText] = Field(
        default=None, description="Name as Harbor calls it: claude-code, terminus-2, …"
    )
    version: Secondary[WireText] = Field(default=None, description="Version, or unknown.")
    model_name: Secondary[WireText] = Field(
        default=None, description="Model of steps that name none, with its provider."
    )
    extra: Secondary[dict[str, Any]] = Field(
        default=None,
        description="parent_session_id, in the file of a sub-agent; cwds; git_branches.",
    )


class AtifToolCall(WireModel):
    """A tool call."""

    function_name: Secondary[WireText] = Field(default=None, description="Tool.")


class AtifMetrics(WireModel):
    """Tokens of one step. Counts without a field are in `extra`, under the producer's names."""

    prompt_tokens: WireCount | None = Field(
        default=None, description="All input, with cache reads and writes."
    )
    completion_tokens: WireCount | None = Field(default=None, description="All output.")
    cached_tokens: WireCount | None = Field(
        default=None, description="Cache reads, inside prompt_tokens."
    )
    cost_usd: WireUsd | None = Field(default=None, description="Cost in USD.")
    extra: Secondary[dict[str, Any]] = Field(default=None, description="Cache writes, reasoning, …")


class AtifStep(WireModel):
    """One step: a message of the system, of the user or of the agent."""

    timestamp: Any = Field(default=None, description="ISO 8601.")
    source: Secondary[WireText] = Field(default=None, description="system, user, agent.")
    model_name: Secondary[WireText] = Field(default=None, description="Model that answered.")
    reasoning_effort: Secondary[WireText] = Field(default=None, description="Reasoning effort.")
    message: Any = Field(default=None, description="Text, or since 1.6 a list of parts.")
    tool_calls: Secondary[list[AtifToolCall]] = Field(default=None, description="Tool calls.")
    metrics: AtifMetrics | None = Field(default=None, description="Tokens of the step.")
    is_copied_context: Secondary[WireFlag] = Field(
        default=None, description="Copied from the segment before; since 1.5."
    )
    llm_call_count: WireCount | None = Field(
        default=None, description="Calls of the model in this step, 0 for none; since 1.7."
    )


class AtifFinalMetrics(WireModel):
    """Sums of the run, with its sub-agents and, in a continuation, with the segments before."""

    total_prompt_tokens: WireCount | None = Field(default=None, description="All input.")
    total_completion_tokens: WireCount | None = Field(default=None, description="All output.")
    total_cached_tokens: WireCount | None = Field(
        default=None, description="Cache reads, inside the input."
    )
    total_cost_usd: WireUsd | None = Field(default=None, description="Cost in USD.")
    extra: Secondary[dict[str, Any]] = Field(default=None, description="Cache writes, reasoning, …")


class AtifTrajectory(WireModel):
    """One trajectory, or one segment of it."""

    schema_version: WireText = Field(description="ATIF-v1.0 to ATIF-v1.8.")
    session_id: Secondary[WireText] = Field(
        default=None,
        description="The run; shared by segments and sub-agents, with a suffix in some versions.",
    )
    trajectory_id: Secondary[WireText] = Field(
        default=None, description="This document; since 1.7."
    )
    agent: AtifAgent = Field(default=AtifAgent(), description="The agent.")
    steps: list[AtifStep] = Field(default=[], description="All steps.")
    final_metrics: AtifFinalMetrics | None = Field(default=None, description="Sums.")
    extra: Secondary[dict[str, Any]] = Field(
        default=None, description="What the producer adds; tachograph, of a copy."
    )
    subagent_trajectories: Secondary[list[AtifTrajectory]] = Field(
        default=None, description="Sub-agents inside; since 1.7."
    )


class TerminalTrial(WireModel):
    """One trial. Older ones have no id and no times."""

    id: Secondary[WireText] = Field(
        default=None, description="UUID; the same in the results of the run and of the trial."
    )
    trial_name: WireText = Field(description="Task, number of the attempt, and run.")
    task_id: Secondary[WireText] = Field(default=None, description="Task.")
    instruction: Secondary[WireText] = Field(default=None, description="The prompt.")
    is_resolved: Secondary[WireFlag] = Field(
        default=None, description="Whether all tests passed; null where they did not end."
    )
    failure_mode: Secondary[WireText] = Field(
        default=None, description="How the trial ended; unset where nothing went wrong."
    )
    total_input_tokens: WireCount | None = Field(
        default=None, description="All input, 0 where it is not recorded."
    )
    total_output_tokens: WireCount | None = Field(
        default=None, description="All output, 0 where it is not recorded."
    )
    trial_started_at: Any = Field(
        default=None, description="Start of the trial, before its container is built."
    )
    trial_ended_at: Any = Field(default=None, description="End of the trial.")
    agent_started_at: Any = Field(default=None, description="Start of the agent.")
    agent_ended_at: Any = Field(default=None, description="End of the agent.")
