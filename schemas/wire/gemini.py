"""What Gemini CLI writes: the object of `-o json`, the events of `-o stream-json`, and its chat files.

Sources: google-gemini/gemini-cli, packages/core/src/output/types.ts and services/chatRecordingTypes.ts, and real files of 2025-10 to
2026-04.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from schemas.wire.google_metrics import SessionMetrics
from schemas.wire.values import Secondary, WireCount, WireFlag, WireMilliseconds, WireText

STREAM_TYPES = frozenset(("init", "message", "tool_use", "tool_result", "error", "result"))
MESSAGE_TYPES = frozenset(("user", "gemini", "info", "error", "warning"))


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class _CamelWire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True, alias_generator=to_camel)


class GeminiError(_Wire):
    """What ended a run."""

    type: Secondary[WireText] = Field(default=None, description="Class of the error: FatalTurnLimitedError, …")
    message: Secondary[WireText] = Field(default=None, description="What went wrong.")
    code: Any = Field(default=None, description="Exit code, or the status of the API.")


class GeminiOutput(_Wire):
    """The object of `-o json`; of a failed run mostly `error` alone."""

    session_id: Secondary[WireText] = Field(default=None, description="Session; not in old versions.")
    response: Any = Field(default=None, description="Final text.")
    stats: SessionMetrics | None = Field(default=None, description="Tokens and tool calls of this process.")
    error: Secondary[GeminiError] = Field(default=None, description="What ended the run.")


class StreamTokens(_Wire):
    """Tokens of a stream. What total has beside input and output is reasoning."""

    total_tokens: WireCount | None = Field(default=None, description="All tokens.")
    input_tokens: WireCount | None = Field(default=None, description="Input, including what was cached.")
    output_tokens: WireCount | None = Field(default=None, description="Output without reasoning.")
    cached: WireCount | None = Field(default=None, description="Cache reads, inside input_tokens.")


class StreamStats(StreamTokens):
    """`stats` of the last event, over all models."""

    duration_ms: WireMilliseconds | None = Field(default=None, description="Wall time.")
    models: dict[str, StreamTokens] | None = Field(default=None, description="The same by model, since spring 2026.")


class StreamEvent(_Wire):
    """One event of `-o stream-json`."""

    type: WireText = Field(description="init, message, tool_use, tool_result, error, result.")
    timestamp: Any = Field(default=None, description="ISO 8601.")
    session_id: Secondary[WireText] = Field(default=None, description="Of init; a resumed session keeps it.")
    model: Secondary[WireText] = Field(default=None, description="Of init: the model asked for, which may be auto.")
    role: Secondary[WireText] = Field(default=None, description="Of message: user or assistant.")
    content: Any = Field(default=None, description="Text, or a piece of it.")
    delta: Secondary[WireFlag] = Field(default=None, description="Whether it is a piece.")
    tool_name: Secondary[WireText] = Field(default=None, description="Of tool_use.")
    tool_id: Secondary[WireText] = Field(default=None, description="Id of the call.")
    status: Secondary[WireText] = Field(default=None, description="success or error, of tool_result and result.")
    severity: Secondary[WireText] = Field(default=None, description="Of error: warning or error.")
    message: Secondary[WireText] = Field(default=None, description="Of error.")
    error: Secondary[GeminiError] = Field(default=None, description="Of tool_result and result.")
    stats: StreamStats | None = Field(default=None, description="Of result: tokens of this process, not of the session.")


class ChatTokens(_Wire):
    """Tokens of one response."""

    input: WireCount | None = Field(default=None, description="Input, including what was cached.")
    output: WireCount | None = Field(default=None, description="Output without thoughts.")
    cached: WireCount | None = Field(default=None, description="Cache reads, inside input.")
    thoughts: WireCount | None = Field(default=None, description="Reasoning.")
    tool: WireCount | None = Field(default=None, description="Input that came from Google's own tools, beside input.")
    total: WireCount | None = Field(default=None, description="All tokens.")


class ChatToolCall(_Wire):
    """A tool call of a response."""

    id: Secondary[WireText] = Field(default=None, description="Id of the call.")
    name: Secondary[WireText] = Field(default=None, description="Tool.")
    status: Secondary[WireText] = Field(default=None, description="success, error, cancelled.")


class ChatMessage(_CamelWire):
    """A message of a chat file; in JSON lines written again, with the same id, when the results of its tools arrive."""

    id: Secondary[WireText] = Field(default=None, description="Id of the message.")
    timestamp: Any = Field(default=None, description="ISO 8601.")
    type: Secondary[WireText] = Field(default=None, description="user, gemini, info, error, warning.")
    content: Any = Field(default=None, description="Text, or parts with texts.")
    model: Secondary[WireText] = Field(default=None, description="Model that answered.")
    tokens: ChatTokens | None = Field(default=None, description="Tokens of the response.")
    tool_calls: Secondary[list[ChatToolCall]] = Field(default=None, description="Tool calls; none in 2025.")


class ChatSession(_CamelWire):
    """A chat file, or its first line, or what a later line sets."""

    session_id: Secondary[WireText] = Field(default=None, description="Id of the session.")
    start_time: Any = Field(default=None, description="ISO 8601.")
    last_updated: Any = Field(default=None, description="ISO 8601.")
    kind: Secondary[WireText] = Field(default=None, description="main or subagent.")
    messages: list[ChatMessage] = Field(default=[], description="All messages.")
