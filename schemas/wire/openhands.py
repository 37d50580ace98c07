"""OpenHands' formats: events and states of its SDK (1.x), lines of evaluations, and its Index.

The lines are in `output.jsonl`, from before the SDK and with it.

Source: openhands.sdk 1.58 (`event/*`, `llm/utils/metrics.py`), OpenHands/benchmarks (`EvalOutput`),
openhands-ai 0.59 (`llm/metrics.py`), OpenHands/openhands-index-results
(`instance_results/BENCHMARK.json`, with `metadata.json` in the folder above).
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from schemas.wire.values import (
    Secondary,
    WireCount,
    WireDollars,
    WireFlag,
    WireModel,
    WireSeconds,
    WireText,
    WireUsd,
)


class TokenUsage(WireModel):
    """Tokens of a call or their sum, as litellm counts them.

    `ingest.agents.openhands` describes which counts include others.
    """

    model: Secondary[WireText] = Field(default=None, description="Model; empty in many sums.")
    prompt_tokens: WireCount | None = Field(
        default=None, description="Input including cache reads; under ACP agents without them."
    )
    completion_tokens: WireCount | None = Field(
        default=None, description="Output, including reasoning."
    )
    cache_read_tokens: WireCount | None = Field(default=None, description="Cache reads.")
    cache_write_tokens: WireCount | None = Field(
        default=None, description="Cache writes: inside or beside the input by version of litellm."
    )
    reasoning_tokens: WireCount | None = Field(
        default=None, description="Reasoning, since the SDK."
    )


class CallCost(WireModel):
    """Cost of one call."""

    model: Secondary[WireText] = Field(default=None, description="Model.")
    cost: Secondary[WireDollars] = Field(default=None, description="USD.")


class Latency(WireModel):
    """Time of one call."""

    latency: Secondary[WireSeconds] = Field(default=None, description="Seconds.")


class LlmMetrics(WireModel):
    """Running totals of one use of a model, with their parts."""

    model_name: Secondary[WireText] = Field(
        default=None, description='Model; "default" where it was not set.'
    )
    accumulated_cost: WireDollars | None = Field(
        default=None, description="USD so far; 0.0 beside tokens where litellm has no price."
    )
    accumulated_token_usage: TokenUsage | None = Field(default=None, description="Tokens so far.")
    token_usages: Secondary[list[TokenUsage]] = Field(
        default=None, description="Tokens of each call."
    )
    costs: Secondary[list[CallCost]] = Field(default=None, description="Cost of each call.")
    response_latencies: Secondary[list[Latency]] = Field(
        default=None, description="Time of each call."
    )


class Stats(WireModel):
    """Running totals of a conversation.

    Usage ids (agent, condenser, sub-agents) may share a model.
    """

    usage_to_metrics: dict[str, LlmMetrics] = Field(
        default={}, description="Usage id → totals; empty before the first call."
    )


class LlmSettings(WireModel):
    """The requested model."""

    model: Secondary[WireText] = Field(
        default=None, description="Model with its route: litellm_proxy/…"
    )


class AgentSettings(WireModel):
    """The agent of a conversation."""

    kind: Secondary[WireText] = Field(
        default=None, description="Agent, or ACPAgent where another agent works under OpenHands."
    )
    llm: Secondary[LlmSettings] = Field(default=None, description="Its model.")


class ConversationState(WireModel):
    """The state of a conversation: `base_state.json`, and the value of a `full_state` update."""

    id: Secondary[WireText] = Field(default=None, description="Id of the conversation, a UUID.")
    execution_status: Secondary[WireText] = Field(
        default=None, description="idle, running, paused, finished, error, stuck, …"
    )
    stats: Stats | None = Field(default=None, description="Running totals.")
    agent: Secondary[AgentSettings] = Field(default=None, description="The agent.")


class TextPart(WireModel):
    """A part of a message."""

    text: Secondary[WireText] = Field(default=None, description="Text; none for an image.")


class LlmMessage(WireModel):
    """A message."""

    content: Secondary[list[TextPart]] = Field(default=None, description="Parts.")


class Action(WireModel):
    """The action of a tool call; `message` is that of `finish`."""

    message: Secondary[WireText] = Field(default=None, description="The final text.")


class Observation(WireModel):
    """The result of a tool call."""

    is_error: Secondary[WireFlag] = Field(default=None, description="Whether the tool failed.")


class SdkEvent(WireModel):
    """An event of a conversation."""

    id: Secondary[WireText] = Field(default=None, description="Id of the event, a UUID.")
    kind: Secondary[WireText] = Field(
        default=None, description="ActionEvent, ObservationEvent, MessageEvent, …"
    )
    source: Secondary[WireText] = Field(default=None, description="agent, user, environment, hook.")
    timestamp: Any = Field(default=None, description="UTC without a zone.")
    key: Secondary[WireText] = Field(
        default=None, description="Of a state update: stats, execution_status, full_state, …"
    )
    value: Any = Field(default=None, description="The new value of the key.")
    tool_name: Secondary[WireText] = Field(default=None, description="Tool of an action.")
    tool_call_id: Secondary[WireText] = Field(default=None, description="Id of the tool call.")
    llm_response_id: Secondary[WireText] = Field(
        default=None, description="Reply of the model; one may make several actions."
    )
    llm_message: Secondary[LlmMessage] = Field(default=None, description="Of a MessageEvent.")
    action: Secondary[Action] = Field(default=None, description="Of an ActionEvent.")
    observation: Secondary[Observation] = Field(default=None, description="Of an ObservationEvent.")
    code: Secondary[WireText] = Field(
        default=None, description="Of a ConversationErrorEvent: its class."
    )
    detail: Secondary[WireText] = Field(
        default=None, description="Of a ConversationErrorEvent: its text."
    )


class EvalMetadata(WireModel):
    """Settings of an evaluation: `llm_config` before the SDK, `llm` with it."""

    llm: Secondary[LlmSettings] = Field(default=None, description="Model (SDK).")
    llm_config: Secondary[LlmSettings] = Field(default=None, description="Model (before the SDK).")
    model_name: Secondary[WireText] = Field(default=None, description="Model (the oldest ones).")
    agent_type: Secondary[WireText] = Field(
        default=None, description="default, acp-claude, acp-codex, acp-gemini."
    )
    openhands_sdk_version: Secondary[WireText] = Field(
        default=None, description="Version of the SDK."
    )
    start_time: Secondary[WireText] = Field(
        default=None, description="When the evaluation, not the run, began."
    )


class RuntimeRun(WireModel):
    """A container of the run."""

    started_at: Any = Field(default=None, description="When it began.")


class EvalLine(WireModel):
    """One run of an evaluation."""

    instance_id: WireText = Field(description="The task.")
    test_result: Any = Field(
        default=None, description="Patch, and the judgement where the line was graded."
    )
    instruction: Secondary[WireText] = Field(default=None, description="The prompt.")
    metadata: Secondary[EvalMetadata] = Field(default=None, description="Settings.")
    history: Any = Field(
        default=None, description="Events; in the oldest lines pairs of action and observation."
    )
    metrics: LlmMetrics | None = Field(default=None, description="Totals of the run.")
    error: Secondary[WireText] = Field(default=None, description="What ended the run.")
    runtime_runs: Secondary[list[RuntimeRun]] = Field(default=None, description="Containers (SDK).")


class IndexResult(WireModel):
    """The OpenHands Index: an agent's cost on one instance of a benchmark, and if it solved it."""

    cost: WireUsd | None = Field(
        default=None,
        description="USD; 0.0 for all instances of a file where the agent does not report it.",
    )
    resolved: WireFlag | None = Field(
        default=None, description="Whether the instance was solved; null where that is not known."
    )
