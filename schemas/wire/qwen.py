"""Qwen Code's formats: messages like Claude Code's (`-o json`, `stream-json`), and its chat files.

Sources: QwenLM/qwen-code, packages/cli/src/nonInteractive (0.15 to 0.20), and a real chat of
0.18.1.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from schemas.wire.gemini import SessionMetrics
from schemas.wire.values import (
    CamelWireModel,
    Secondary,
    WireCount,
    WireFlag,
    WireMilliseconds,
    WireModel,
    WireText,
)


class QwenUsage(WireModel):
    """Tokens of a session.

    The total minus input and output is reasoning; if that is zero, output includes it.
    """

    input_tokens: WireCount | None = Field(
        default=None, description="All input, including cache reads."
    )
    output_tokens: WireCount | None = Field(default=None, description="Output.")
    cache_read_input_tokens: WireCount | None = Field(
        default=None, description="Cache reads, inside input_tokens."
    )
    total_tokens: WireCount | None = Field(
        default=None, description="All tokens; missing if there are none."
    )


class QwenMessage(WireModel):
    """The message of an event.

    Blocks of Anthropic's form in a stream, parts of Google's form in a chat.
    """

    model: Secondary[WireText] = Field(
        default=None, description="Model that answered, in a stream."
    )
    content: Any = Field(default=None, description="Blocks.")
    parts: Any = Field(default=None, description="Parts.")


class QwenError(WireModel):
    """The error of a result."""

    message: Secondary[WireText] = Field(default=None, description="What went wrong.")


class QwenEvent(WireModel):
    """One message of a stream, or one element of the array of `-o json`."""

    type: WireText = Field(description="system, assistant, user, stream_event, result.")
    subtype: Secondary[WireText] = Field(
        default=None,
        description="init; of a result success, error_max_turns, error_during_execution.",
    )
    session_id: Secondary[WireText] = Field(
        default=None, description="Session; resumed runs share it."
    )
    timestamp: Any = Field(default=None, description="Mostly missing.")
    cwd: Secondary[WireText] = Field(default=None, description="Of init: working directory.")
    model: Secondary[WireText] = Field(default=None, description="Of init: model asked for.")
    permission_mode: Secondary[WireText] = Field(
        default=None, description="Of init: default, plan, auto-edit, yolo."
    )
    qwen_code_version: Secondary[WireText] = Field(default=None, description="Of init: version.")
    parent_tool_use_id: Secondary[WireText] = Field(
        default=None, description="The call that started the sub-agent who speaks."
    )
    message: Secondary[QwenMessage] = Field(default=None, description="Of assistant and user.")
    is_error: Secondary[WireFlag] = Field(default=None, description="Of result.")
    duration_ms: WireMilliseconds | None = Field(default=None, description="Of result: wall time.")
    duration_api_ms: WireMilliseconds | None = Field(
        default=None, description="Of result: durations of its requests, added up."
    )
    num_turns: WireCount | None = Field(default=None, description="Of result: model round trips.")
    result: Any = Field(default=None, description="Of a success: final text.")
    error: Secondary[QwenError] = Field(default=None, description="Of a failure.")
    usage: QwenUsage | None = Field(
        default=None, description="Of result: tokens of the session so far."
    )
    stats: SessionMetrics | None = Field(
        default=None, description="Of result, in the array only: the same by model."
    )


class QwenUsageMetadata(CamelWireModel):
    """Tokens of one response in a chat."""

    prompt_token_count: WireCount | None = Field(
        default=None, description="All input, including cache reads."
    )
    candidates_token_count: WireCount | None = Field(default=None, description="Output.")
    thoughts_token_count: WireCount | None = Field(default=None, description="Reasoning.")
    cached_content_token_count: WireCount | None = Field(
        default=None, description="Cache reads, inside the prompt."
    )
    tool_use_prompt_token_count: WireCount | None = Field(
        default=None, description="Input of the provider's own tools."
    )
    total_token_count: WireCount | None = Field(default=None, description="All tokens.")


class QwenTelemetry(WireModel):
    """A `ui_telemetry` line's event."""

    name: Secondary[WireText] = Field(
        default=None,
        alias="event.name",
        description="qwen-code.api_response, qwen-code.tool_call, …",
    )
    duration_ms: WireMilliseconds | None = Field(
        default=None, description="Duration of the request or of the tool."
    )


class QwenPayload(CamelWireModel):
    """Payload of a `system` line."""

    ui_event: QwenTelemetry | None = Field(default=None, description="Of ui_telemetry.")


class QwenToolResult(CamelWireModel):
    """The result of a call."""

    call_id: Secondary[WireText] = Field(default=None, description="Id of the call.")
    status: Secondary[WireText] = Field(default=None, description="success, error, cancelled.")


class QwenChatLine(CamelWireModel):
    """One line of a chat."""

    type: WireText = Field(description="system, assistant, user, tool_result.")
    uuid: Secondary[WireText] = Field(
        default=None, description="Id of the line; some versions repeat it after a resume."
    )
    session_id: Secondary[WireText] = Field(default=None, description="Id of the session.")
    timestamp: Any = Field(default=None, description="ISO 8601.")
    cwd: Secondary[WireText] = Field(default=None, description="Working directory.")
    version: Secondary[WireText] = Field(default=None, description="Version.")
    git_branch: Secondary[WireText] = Field(default=None, description="Branch.")
    model: Secondary[WireText] = Field(default=None, description="Model that answered.")
    subtype: Secondary[WireText] = Field(
        default=None, description="Of system: ui_telemetry, chat_compression, …"
    )
    message: Secondary[QwenMessage] = Field(default=None, description="The message.")
    usage_metadata: QwenUsageMetadata | None = Field(
        default=None, description="Tokens of a response."
    )
    system_payload: Secondary[QwenPayload] = Field(default=None, description="Of system.")
    tool_call_result: Secondary[QwenToolResult] = Field(default=None, description="Of tool_result.")
