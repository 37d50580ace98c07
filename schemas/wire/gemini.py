"""Gemini CLI's formats: the object of `-o json`, the events of `-o stream-json`, its chat files.

And the metrics it shares with Qwen Code.

Sources: google-gemini/gemini-cli, packages/core/src: telemetry/uiTelemetry.ts (`SessionMetrics`),
output/types.ts and services/chatRecordingTypes.ts; and real files of 2025-10 to 2026-04.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from schemas.wire.values import (
    CamelWireModel,
    Secondary,
    WireCount,
    WireFlag,
    WireMilliseconds,
    WireModel,
    WireText,
)


class MetricsApi(CamelWireModel):
    """Requests to one model."""

    total_latency_ms: WireMilliseconds | None = Field(
        default=None, description="Their durations added up, parallel ones too."
    )


class MetricsTokens(WireModel):
    """Tokens of one model. total = prompt + candidates + thoughts + tool."""

    prompt: WireCount | None = Field(default=None, description="Input, including what was cached.")
    cached: WireCount | None = Field(default=None, description="Cache reads, inside prompt.")
    candidates: WireCount | None = Field(
        default=None, description="Output without thoughts; with OpenAI's API including them."
    )
    thoughts: WireCount | None = Field(default=None, description="Reasoning.")
    tool: WireCount | None = Field(
        default=None, description="Input that came from Google's own tools, beside prompt."
    )
    total: WireCount | None = Field(default=None, description="All tokens.")


class ModelMetrics(WireModel):
    """One model. `roles`, in newer versions, is a second view of the same tokens."""

    api: Secondary[MetricsApi] = Field(default=None, description="Its requests.")
    tokens: MetricsTokens | None = Field(default=None, description="Its tokens.")


class ToolMetrics(WireModel):
    """Calls of one tool."""

    count: WireCount = Field(default=0, description="Calls.")
    fail: WireCount = Field(default=0, description="Calls that failed.")


class ToolsMetrics(CamelWireModel):
    """Calls of all tools."""

    by_name: dict[str, ToolMetrics] = Field(default={}, description="Calls by tool.")


class SessionMetrics(WireModel):
    """`stats` of a session."""

    models: dict[str, ModelMetrics] = Field(
        default={}, description="Tokens by model. Several are normal: router and helpers."
    )
    tools: Secondary[ToolsMetrics] = Field(default=None, description="Tool calls.")


class GeminiError(WireModel):
    """The error that ended a run."""

    type: Secondary[WireText] = Field(
        default=None, description="Class of the error: FatalTurnLimitedError, …"
    )
    message: Secondary[WireText] = Field(default=None, description="What went wrong.")
    code: Any = Field(default=None, description="Exit code, or the status of the API.")


class GeminiOutput(WireModel):
    """The object of `-o json`; for a failed run usually `error` alone."""

    session_id: Secondary[WireText] = Field(
        default=None, description="Session; not in old versions."
    )
    response: Any = Field(default=None, description="Final text.")
    stats: SessionMetrics | None = Field(
        default=None, description="Tokens and tool calls of this process."
    )
    error: Secondary[GeminiError] = Field(default=None, description="What ended the run.")


class StreamTokens(WireModel):
    """Tokens of a stream. The total minus input and output is reasoning."""

    total_tokens: WireCount | None = Field(default=None, description="All tokens.")
    input_tokens: WireCount | None = Field(
        default=None, description="Input, including what was cached."
    )
    output_tokens: WireCount | None = Field(default=None, description="Output without reasoning.")
    cached: WireCount | None = Field(default=None, description="Cache reads, inside input_tokens.")


class StreamStats(StreamTokens):
    """`stats` of the last event, over all models."""

    duration_ms: WireMilliseconds | None = Field(default=None, description="Wall time.")
    models: dict[str, StreamTokens] | None = Field(
        default=None, description="The same by model, since spring 2026."
    )


class StreamEvent(WireModel):
    """One event of `-o stream-json`."""

    type: WireText = Field(description="init, message, tool_use, tool_result, error, result.")
    timestamp: Any = Field(default=None, description="ISO 8601.")
    session_id: Secondary[WireText] = Field(
        default=None, description="Of init; a resumed session keeps it."
    )
    model: Secondary[WireText] = Field(
        default=None, description="Of init: the model asked for, which may be auto."
    )
    role: Secondary[WireText] = Field(default=None, description="Of message: user or assistant.")
    content: Any = Field(default=None, description="Text, or a piece of it.")
    delta: Secondary[WireFlag] = Field(default=None, description="Whether it is a piece.")
    tool_name: Secondary[WireText] = Field(default=None, description="Of tool_use.")
    tool_id: Secondary[WireText] = Field(default=None, description="Id of the call.")
    status: Secondary[WireText] = Field(
        default=None, description="success or error, of tool_result and result."
    )
    severity: Secondary[WireText] = Field(default=None, description="Of error: warning or error.")
    message: Secondary[WireText] = Field(default=None, description="Of error.")
    error: Secondary[GeminiError] = Field(default=None, description="Of tool_result and result.")
    stats: StreamStats | None = Field(
        default=None, description="Of result: tokens of this process, not of the session."
    )


class ChatTokens(WireModel):
    """Tokens of one response."""

    input: WireCount | None = Field(default=None, description="Input, including what was cached.")
    output: WireCount | None = Field(default=None, description="Output without thoughts.")
    cached: WireCount | None = Field(default=None, description="Cache reads, inside input.")
    thoughts: WireCount | None = Field(default=None, description="Reasoning.")
    tool: WireCount | None = Field(
        default=None, description="Input that came from Google's own tools, beside input."
    )
    total: WireCount | None = Field(default=None, description="All tokens.")


class ChatToolCall(WireModel):
    """A tool call of a response."""

    id: Secondary[WireText] = Field(default=None, description="Id of the call.")
    name: Secondary[WireText] = Field(default=None, description="Tool.")
    status: Secondary[WireText] = Field(default=None, description="success, error, cancelled.")


class ChatMessage(CamelWireModel):
    """A message of a chat file.

    In JSON lines written again, with the same id, when the results of its tools arrive.
    """

    id: Secondary[WireText] = Field(default=None, description="Id of the message.")
    timestamp: Any = Field(default=None, description="ISO 8601.")
    type: Secondary[WireText] = Field(
        default=None, description="user, gemini, info, error, warning."
    )
    content: Any = Field(default=None, description="Text, or parts with texts.")
    model: Secondary[WireText] = Field(default=None, description="Model that answered.")
    tokens: ChatTokens | None = Field(default=None, description="Tokens of the response.")
    tool_calls: Secondary[list[ChatToolCall]] = Field(
        default=None, description="Tool calls; none in 2025."
    )


class ChatSession(CamelWireModel):
    """A chat file, its first line, or the values that a later line sets."""

    session_id: Secondary[WireText] = Field(default=None, description="Id of the session.")
    start_time: Any = Field(default=None, description="ISO 8601.")
    last_updated: Any = Field(default=None, description="ISO 8601.")
    kind: Secondary[WireText] = Field(default=None, description="main or subagent.")
    messages: list[ChatMessage] = Field(default=[], description="All messages.")
