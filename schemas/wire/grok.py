"""Formats of Grok Build's `grok -p`: one object, a stream of its own, or one like Claude Code's.

They are `json`, `streaming-json`, `streaming-messages-json`. Source:
crates/codegen/xai-grok-pager/docs/user-guide/14-headless-mode.md of xai-org/grok-build. Input
excludes the cache; a cost is logged only if it is complete.
"""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from schemas.wire.values import (
    Secondary,
    WireCount,
    WireFlag,
    WireMilliseconds,
    WireModel,
    WireText,
    WireUsd,
)


class _Wire(WireModel):
    model_config = ConfigDict(populate_by_name=True)


class GrokUsage(_Wire):
    """Tokens of a run, sub-agents included."""

    input_tokens: WireCount | None = Field(default=None, description="Uncached input.")
    output_tokens: WireCount | None = Field(default=None, description="Output, with reasoning.")
    cache_read_tokens: WireCount | None = Field(
        default=None, alias="cache_read_input_tokens", description="Cache reads."
    )
    cache_write_tokens: WireCount | None = Field(
        default=None, alias="cache_creation_input_tokens", description="Cache writes."
    )
    reasoning_tokens: WireCount | None = Field(
        default=None, description="Reasoning, inside output_tokens."
    )
    total_tokens: WireCount | None = Field(
        default=None, description="Input, cache and output together."
    )


class GrokModelUsage(_Wire):
    """Tokens and cost of one model."""

    input_tokens: WireCount | None = Field(
        default=None, alias="inputTokens", description="Uncached input."
    )
    output_tokens: WireCount | None = Field(
        default=None, alias="outputTokens", description="Output, with reasoning."
    )
    cache_read_tokens: WireCount | None = Field(
        default=None, alias="cacheReadInputTokens", description="Cache reads."
    )
    cache_write_tokens: WireCount | None = Field(
        default=None, alias="cacheCreationInputTokens", description="Cache writes."
    )
    cost_usd: WireUsd | None = Field(default=None, alias="costUSD", description="Cost.")


class GrokEnd(_Wire):
    """The end of a run: the object of `json`, `end` and `error` of a stream, or a stream's result.

    The result is that of a stream like Claude Code's.
    """

    type: Secondary[WireText] = Field(
        default=None, description="end, error, result; the object of `json` has none."
    )
    text: Secondary[WireText] = Field(default=None, description="The answer, in `json`.")
    result: Secondary[WireText] = Field(
        default=None, description="The answer, in a stream like Claude Code's."
    )
    message: Secondary[WireText] = Field(default=None, description="Of an error.")
    errors: Any = Field(default=None, description="Of a result with an error: texts.")
    is_error: Secondary[WireFlag] = Field(default=None, description="Of a result.")
    subtype: Secondary[WireText] = Field(
        default=None, description="Of a result: success, error_max_turns, …"
    )
    stop_reason: Secondary[WireText] = Field(
        default=None, alias="stopReason", description="end_turn, max_tokens, refusal, cancelled, …"
    )
    messages_stop_reason: Secondary[WireText] = Field(
        default=None, alias="stop_reason", description="The same, of a result."
    )
    session_id: Secondary[WireText] = Field(
        default=None, alias="sessionId", description="Session; the same in every resumed run."
    )
    messages_session_id: Secondary[WireText] = Field(
        default=None, alias="session_id", description="The same, of a result."
    )
    request_id: Secondary[WireText] = Field(
        default=None, alias="requestId", description="Id of this run."
    )
    uuid: Secondary[WireText] = Field(default=None, description="Of a result.")
    duration_ms: WireMilliseconds | None = Field(
        default=None, description="Of a result: wall time, or 0."
    )
    duration_api_ms: Secondary[WireMilliseconds] = Field(
        default=None, description="Of a result: time in API calls, or 0."
    )
    num_turns: WireCount | None = Field(default=None, description="Responses of the main agent.")
    usage: GrokUsage | None = Field(default=None, description="Tokens of all models.")
    model_usage: dict[str, GrokModelUsage] | None = Field(
        default=None, alias="modelUsage", description="Tokens and cost by model."
    )
    total_cost_usd: WireUsd | None = Field(
        default=None, description="Cost; missing where it is not complete."
    )
    total_cost_usd_ticks: WireCount | None = Field(
        default=None, description="The same, exactly, in 10^-10 USD."
    )
    cost_is_partial: Secondary[WireFlag] = Field(
        default=None, description="Whether some calls had no cost."
    )
    usage_is_incomplete: Secondary[WireFlag] = Field(
        default=None, description="Whether tokens of sub-agents are missing."
    )


class GrokEvent(_Wire):
    """Any event before the end."""

    type: WireText = Field(
        description="text, thought, tool_call, tool_call_update, usage, …; system, assistant, user."
    )
    data: Secondary[WireText] = Field(
        default=None, description="Of text and thought: a piece of it."
    )
    tool_call_id: Secondary[WireText] = Field(
        default=None, alias="toolCallId", description="Of tool_call and tool_call_update."
    )
    tool_name: Secondary[WireText] = Field(
        default=None, alias="toolName", description="Of tool_call: read_file, …"
    )
    kind: Secondary[WireText] = Field(
        default=None, description="Of tool_call: read, edit, execute, …"
    )
    status: Secondary[WireText] = Field(
        default=None, description="Of tool_call_update: in_progress, completed, failed."
    )
    uuid: Secondary[WireText] = Field(
        default=None, description="Of each line of a stream like Claude Code's: another one."
    )
    usage: Secondary[GrokUsage] = Field(
        default=None, description="Of usage: tokens of one response."
    )
    session_id: Secondary[WireText] = Field(
        default=None, description="Session, in a stream like Claude Code's."
    )
    model: Secondary[WireText] = Field(default=None, description="Of init.")
    cwd: Secondary[WireText] = Field(default=None, description="Of init: working directory.")
    permission_mode: Secondary[WireText] = Field(
        default=None, alias="permissionMode", description="Of init."
    )
    message: Secondary[dict[str, Any]] = Field(
        default=None, description="Of assistant and user: content in blocks."
    )
