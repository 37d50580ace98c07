"""mini-swe-agent's trajectory, format 1 (versions 1.x) and 1.1 (2.x): one object that is written again after every step.

Sources: minisweagent/agents/default.py, models/litellm_model.py, run/utils/save.py of versions 1.15 to 2.4; records of 1.15 and 2.2.4.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from schemas.wire.litellm import CallUsage
from schemas.wire.values import Secondary, WireCount, WireText, WireUsd

FORMAT = "mini-swe-agent-"
"""How `trajectory_format` begins."""


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True, protected_namespaces=())


class MiniResponse(_Wire):
    """The response of the provider, as litellm returns it."""

    id: Secondary[WireText] = Field(default=None, description="Id of the response.")
    created: Any = Field(default=None, description="Unix seconds; created_at in the Responses API.")
    created_at: Any = Field(default=None, description="The same.")
    model: Secondary[WireText] = Field(default=None, description="Model that answered.")
    usage: CallUsage | None = Field(default=None, description="Tokens of this call.")


class MiniExtra(_Wire):
    """What the agent notes beside a message."""

    response: MiniResponse | None = Field(default=None, description="The response that the message came from.")
    cost: WireUsd | None = Field(default=None, description="Cost of the call by litellm's table, in USD; 0 where it has no price.")
    timestamp: Any = Field(default=None, description="Unix seconds; since 2.0.")
    actions: Secondary[list[Any]] = Field(default=None, description="Commands of the message; since 2.0.")
    returncode: Secondary[int] = Field(default=None, description="Of an observation: exit code; since 2.0.")
    interrupt_type: Secondary[WireText] = Field(default=None, description="FormatError: the reply before could not be parsed.")


class MiniMessage(MiniResponse):
    """One message. With the Responses API it is itself the response (`object`: response, text in `output`)."""

    role: Secondary[WireText] = Field(default=None, description="system, user, assistant, tool, exit.")
    content: Any = Field(default=None, description="Text, or a list of parts.")
    object: Secondary[WireText] = Field(default=None, description="response, where the message is one.")
    output: Secondary[list[Any]] = Field(default=None, description="Items of a response.")
    extra: MiniExtra | None = Field(default=None, description="What the agent notes.")


class MiniModelStats(_Wire):
    """Sums of the run. Before 2.0 they were the model object's own, which might serve several runs."""

    instance_cost: WireUsd | None = Field(default=None, description="Cost in USD; 0.0 where litellm knows no price.")
    api_calls: WireCount | None = Field(default=None, description="Calls, also those whose reply could not be parsed.")


class MiniAgentConfig(_Wire):
    """Limits of the run; 0 is none."""

    step_limit: Secondary[float] = Field(default=None, description="Most calls.")
    cost_limit: Secondary[float] = Field(default=None, description="Most cost, in USD.")


class MiniModelConfig(_Wire):
    """The model."""

    model_name: Secondary[WireText] = Field(default=None, description="Model that was asked for, with the route to it.")


class MiniEnvironment(_Wire):
    """Where the commands ran."""

    cwd: Secondary[WireText] = Field(default=None, description="Working directory.")


class MiniConfig(_Wire):
    """Settings of the run."""

    agent: Secondary[MiniAgentConfig] = Field(default=None, description="Limits.")
    model: Secondary[MiniModelConfig] = Field(default=None, description="Model.")
    model_type: Secondary[WireText] = Field(default=None, description="Class that asked the model: by litellm, OpenRouter, Portkey, …")
    environment: Secondary[MiniEnvironment] = Field(default=None, description="Container or host.")


class MiniInfo(_Wire):
    """How the run went."""

    model_stats: MiniModelStats | None = Field(default=None, description="Cost and calls.")
    config: Secondary[MiniConfig] = Field(default=None, description="Settings.")
    mini_version: Secondary[WireText] = Field(default=None, description="Version of mini-swe-agent.")
    exit_status: Secondary[WireText] = Field(
        default=None, description="Submitted, LimitsExceeded, …, the class of an exception; empty until the end."
    )
    exception_str: Secondary[WireText] = Field(default=None, description="Text of the exception.")
    traceback: Secondary[WireText] = Field(default=None, description="Its traceback.")


class MiniTrajectory(_Wire):
    """The trajectory of one run."""

    info: MiniInfo = Field(default=MiniInfo(), description="How the run went.")
    messages: list[MiniMessage] = Field(default=[], description="All messages.")
    trajectory_format: WireText = Field(description="mini-swe-agent-1 or mini-swe-agent-1.1.")
    instance_id: Secondary[WireText] = Field(default=None, description="Task of a benchmark.")
