"""The metrics of a session as Gemini CLI counts them, and its fork Qwen Code: tokens by model, and tool calls.

Source: google-gemini/gemini-cli, packages/core/src/telemetry/uiTelemetry.ts (`SessionMetrics`).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from schemas.wire.values import Secondary, WireCount, WireMilliseconds


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class _CamelWire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True, alias_generator=to_camel)


class MetricsApi(_CamelWire):
    """Requests to one model."""

    total_requests: Secondary[WireCount] = Field(default=None, description="Requests.")
    total_errors: Secondary[WireCount] = Field(default=None, description="Requests that failed.")
    total_latency_ms: WireMilliseconds | None = Field(default=None, description="Their durations added up, parallel ones too.")


class MetricsTokens(_Wire):
    """Tokens of one model. total = prompt + candidates + thoughts + tool."""

    prompt: WireCount | None = Field(default=None, description="Input, including what was cached.")
    cached: WireCount | None = Field(default=None, description="Cache reads, inside prompt.")
    candidates: WireCount | None = Field(default=None, description="Output without thoughts; with OpenAI's API including them.")
    thoughts: WireCount | None = Field(default=None, description="Reasoning.")
    tool: WireCount | None = Field(default=None, description="Input that came from Google's own tools, beside prompt.")
    total: WireCount | None = Field(default=None, description="All tokens.")


class ModelMetrics(_Wire):
    """One model. `roles`, in newer versions, is a second view of the same tokens."""

    api: Secondary[MetricsApi] = Field(default=None, description="Its requests.")
    tokens: MetricsTokens | None = Field(default=None, description="Its tokens.")


class ToolMetrics(_Wire):
    """Calls of one tool."""

    count: WireCount = Field(default=0, description="Calls.")
    fail: WireCount = Field(default=0, description="Calls that failed.")


class ToolsMetrics(_CamelWire):
    """Calls of all tools."""

    by_name: dict[str, ToolMetrics] = Field(default={}, description="Calls by tool.")


class SessionMetrics(_Wire):
    """`stats` of a session."""

    models: dict[str, ModelMetrics] = Field(default={}, description="Tokens by model. Several are normal: router and helpers.")
    tools: Secondary[ToolsMetrics] = Field(default=None, description="Tool calls.")
