"""TRAE's trajectory: one object, rewritten after every call.

Source: trae_agent/utils/trajectory_recorder.py (bytedance/trae-agent at e839e55) and 887 real files
of ISO-Bench.
"""

from __future__ import annotations

from pydantic import Field

from schemas.wire.values import Secondary, WireCount, WireFlag, WireModel, WireSeconds, WireText


class TraeUsage(WireModel):
    """Tokens of one call, as its provider counts them.

    `ingest.agents.trae` describes which counts include others.
    """

    input_tokens: WireCount | None = Field(
        default=None, description="Input; with some providers including what was cached."
    )
    output_tokens: WireCount | None = Field(
        default=None, description="Output, including reasoning."
    )
    cache_creation_input_tokens: WireCount | None = Field(
        default=None, description="Cache writes; 0 where the client does not copy them."
    )
    cache_read_input_tokens: WireCount | None = Field(
        default=None, description="Cache reads; 0 where the client does not copy them."
    )
    reasoning_tokens: WireCount | None = Field(
        default=None, description="Reasoning, inside output_tokens."
    )


class TraeToolCall(WireModel):
    """A tool call of a response."""

    call_id: Secondary[WireText] = Field(default=None, description="Id of the call.")
    name: Secondary[WireText] = Field(default=None, description="Tool.")


class TraeResponse(WireModel):
    """A response of the model."""

    content: Secondary[WireText] = Field(default=None, description="Text.")
    model: Secondary[WireText] = Field(
        default=None, description="Model that answered: gpt-5-2025-08-07 for gpt-5."
    )
    usage: TraeUsage | None = Field(default=None, description="Tokens of this call.")
    tool_calls: Secondary[list[TraeToolCall]] = Field(default=None, description="Tool calls.")


class TraeInteraction(WireModel):
    """One call of the model."""

    provider: Secondary[WireText] = Field(
        default=None, description="openai, anthropic, google, openrouter, bedrock, …"
    )
    model: Secondary[WireText] = Field(
        default=None, description="Model as it was asked for, with region."
    )
    response: TraeResponse | None = Field(default=None, description="The answer.")


class TraeToolResult(WireModel):
    """The result of a tool call."""

    call_id: Secondary[WireText] = Field(default=None, description="Id of the call.")
    success: Secondary[WireFlag] = Field(default=None, description="Whether the tool succeeded.")


class TraeStep(WireModel):
    """One step. `state` says completed in every step of every real record, also in failed ones."""

    tool_results: Secondary[list[TraeToolResult]] = Field(
        default=None, description="Results of the step's tool calls."
    )
    error: Secondary[WireText] = Field(default=None, description="What failed in the step.")


class TraeTrajectory(WireModel):
    """The trajectory of one run."""

    task: Secondary[WireText] = Field(default=None, description="The prompt.")
    start_time: Secondary[WireText] = Field(default=None, description="Local time without a zone.")
    end_time: Secondary[WireText] = Field(
        default=None, description="The same; empty until the run ends."
    )
    provider: Secondary[WireText] = Field(default=None, description="Provider that was asked for.")
    model: Secondary[WireText] = Field(default=None, description="Model that was asked for.")
    llm_interactions: list[TraeInteraction] = Field(
        default=[], description="Every call of the model."
    )
    agent_steps: list[TraeStep] = Field(
        default=[], description="Every step; repeats the usage of its call."
    )
    success: Secondary[WireFlag] = Field(
        default=None, description="Whether the agent called its task done."
    )
    final_result: Secondary[WireText] = Field(
        default=None, description="Final text, or why the run ended."
    )
    execution_time: Secondary[WireSeconds] = Field(
        default=None, description="Seconds; 0 until the run ends."
    )
