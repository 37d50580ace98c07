"""Agent Trajectory Interchange Format, ATIF-v1.0 to v1.8: what Harbor makes of any agent's log, and what other programs export.

Source: the package atif 1.8.0 and harbor.models.trajectories of harbor 0.25.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from schemas.wire.values import Secondary, WireCount, WireFlag, WireText, WireUsd

VERSION = "ATIF-v"
"""How `schema_version` begins."""


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True, protected_namespaces=())


class AtifAgent(_Wire):
    """The agent."""

    name: Secondary[WireText] = Field(default=None, description="Name as Harbor calls it: claude-code, terminus-2, …")
    version: Secondary[WireText] = Field(default=None, description="Version, or unknown.")
    model_name: Secondary[WireText] = Field(default=None, description="Model of steps that name none, with its provider.")
    extra: Secondary[dict[str, Any]] = Field(default=None, description="parent_session_id, in the file of a sub-agent; cwds; git_branches.")


class AtifToolCall(_Wire):
    """A tool call."""

    function_name: Secondary[WireText] = Field(default=None, description="Tool.")


class AtifMetrics(_Wire):
    """Tokens of one step. What the format has no field for stands in `extra`, under the producer's names."""

    prompt_tokens: WireCount | None = Field(default=None, description="All input, with cache reads and writes.")
    completion_tokens: WireCount | None = Field(default=None, description="All output.")
    cached_tokens: WireCount | None = Field(default=None, description="Cache reads, inside prompt_tokens.")
    cost_usd: WireUsd | None = Field(default=None, description="Cost in USD.")
    extra: Secondary[dict[str, Any]] = Field(default=None, description="Cache writes, reasoning, …")


class AtifStep(_Wire):
    """One step: a message of the system, of the user or of the agent."""

    timestamp: Any = Field(default=None, description="ISO 8601.")
    source: Secondary[WireText] = Field(default=None, description="system, user, agent.")
    model_name: Secondary[WireText] = Field(default=None, description="Model that answered.")
    message: Any = Field(default=None, description="Text, or since 1.6 a list of parts.")
    tool_calls: Secondary[list[AtifToolCall]] = Field(default=None, description="Tool calls.")
    metrics: AtifMetrics | None = Field(default=None, description="Tokens of the step.")
    is_copied_context: Secondary[WireFlag] = Field(default=None, description="Copied from the segment before; since 1.5.")
    llm_call_count: WireCount | None = Field(default=None, description="Calls of the model in this step, 0 for none; since 1.7.")


class AtifFinalMetrics(_Wire):
    """Sums of the run, with its sub-agents and, in a continuation, with the segments before."""

    total_prompt_tokens: WireCount | None = Field(default=None, description="All input.")
    total_completion_tokens: WireCount | None = Field(default=None, description="All output.")
    total_cached_tokens: WireCount | None = Field(default=None, description="Cache reads, inside the input.")
    total_cost_usd: WireUsd | None = Field(default=None, description="Cost in USD.")
    extra: Secondary[dict[str, Any]] = Field(default=None, description="Cache writes, reasoning, …")


class AtifTrajectory(_Wire):
    """One trajectory, or one segment of it."""

    schema_version: WireText = Field(description="ATIF-v1.0 to ATIF-v1.8.")
    session_id: Secondary[WireText] = Field(
        default=None, description="The run; shared by segments and sub-agents, with a suffix in some versions."
    )
    trajectory_id: Secondary[WireText] = Field(default=None, description="This document; since 1.7.")
    agent: AtifAgent = Field(default=AtifAgent(), description="The agent.")
    steps: list[AtifStep] = Field(default=[], description="All steps.")
    final_metrics: AtifFinalMetrics | None = Field(default=None, description="Sums.")
    subagent_trajectories: Secondary[list[AtifTrajectory]] = Field(default=None, description="Sub-agents inside; since 1.7.")
