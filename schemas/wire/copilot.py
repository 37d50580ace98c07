"""Formats of GitHub's Copilot CLI.

The events of a session, of `copilot -p --output-format json`, and its older session files.

Sources: generated/session-events.ts of github/copilot-sdk, real sessions of 0.0.340 to 1.0.34. An
event is {type, data, id, timestamp, parentId}; only the last one of the printed stream, `result`,
has its fields beside the type.
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
    WireText,
)


class CopilotPlace(CamelWireModel):
    """The place of a session: folder, repository, branch."""

    cwd: Secondary[WireText] = Field(default=None, description="Working directory.")
    branch: Secondary[WireText] = Field(default=None, description="Branch.")
    head_commit: Secondary[WireText] = Field(default=None, description="Commit at the start.")
    repository: Secondary[WireText] = Field(default=None, description="owner/name.")


class CopilotUsage(CamelWireModel):
    """Tokens of a model.

    Input includes cache reads and writes, output includes reasoning (github/copilot-sdk#1160).
    """

    input_tokens: WireCount = Field(default=0, description="All input.")
    output_tokens: WireCount = Field(default=0, description="All output.")
    cache_read_tokens: WireCount = Field(default=0, description="Cache reads.")
    cache_write_tokens: WireCount = Field(default=0, description="Cache writes.")
    reasoning_tokens: WireCount | None = Field(default=None, description="Reasoning.")


class CopilotMetrics(CamelWireModel):
    """Figures of one model in a session."""

    usage: CopilotUsage | None = Field(default=None, description="Tokens.")
    nano_aiu: WireMilliseconds | None = Field(
        default=None, alias="totalNanoAiu", description="Newer: billionths of an AI credit."
    )


class CopilotData(CamelWireModel):
    """The used fields of an event's data; each type has some of them."""

    session_id: Secondary[WireText] = Field(default=None, description="Of session.start.")
    version: Secondary[WireText] = Field(
        default=None, alias="copilotVersion", description="Of session.start."
    )
    start_time: Any = Field(default=None, description="Of session.start: ISO 8601.")
    selected_model: Secondary[WireText] = Field(
        default=None, description="Of session.start and resume."
    )
    context: Secondary[CopilotPlace] = Field(
        default=None, description="Of session.start and resume."
    )
    new_model: Secondary[WireText] = Field(default=None, description="Of session.model_change.")
    reasoning_effort: Secondary[WireText] = Field(
        default=None, description="Of session.start, resume and model_change."
    )
    content: Secondary[WireText] = Field(
        default=None, description="Of user.message and assistant.message."
    )
    model: Secondary[WireText] = Field(default=None, description="Of assistant.message; newer.")
    output_tokens: WireCount | None = Field(
        default=None, description="Of assistant.message: its output."
    )
    parent_tool_call_id: Secondary[WireText] = Field(
        default=None, description="The call of the sub-agent that speaks."
    )
    tool_call_id: Secondary[WireText] = Field(default=None, description="Of tool.*: its id.")
    tool_name: Secondary[WireText] = Field(default=None, description="Of tool.execution_start.")
    success: Secondary[WireFlag] = Field(
        default=None, description="Of tool.execution_complete and session.task_complete."
    )
    summary: Secondary[WireText] = Field(
        default=None, description="Of session.task_complete: what was done."
    )
    message: Secondary[WireText] = Field(default=None, description="Of session.error.")
    status_code: Secondary[int] = Field(default=None, description="Of session.error: HTTP status.")
    reason: Secondary[WireText] = Field(default=None, description="Of abort.")
    shutdown_type: Secondary[WireText] = Field(
        default=None, description="Of session.shutdown: routine, error."
    )
    error_reason: Secondary[WireText] = Field(default=None, description="Of session.shutdown.")
    premium_requests: WireMilliseconds | None = Field(
        default=None,
        alias="totalPremiumRequests",
        description="Of session.shutdown, since its counters began.",
    )
    api_ms: WireMilliseconds | None = Field(
        default=None, alias="totalApiDurationMs", description="The same."
    )
    nano_aiu: WireMilliseconds | None = Field(
        default=None, alias="totalNanoAiu", description="The same: billionths of an AI credit."
    )
    models: dict[str, CopilotMetrics] | None = Field(
        default=None, alias="modelMetrics", description="The same, by model."
    )


class CopilotResultUsage(CamelWireModel):
    """Figures of a printed run: no tokens (github/copilot-cli#4107)."""

    premium_requests: WireMilliseconds | None = Field(default=None, description="Premium requests.")
    api_ms: WireMilliseconds | None = Field(
        default=None, alias="totalApiDurationMs", description="Time in the API."
    )
    session_ms: WireMilliseconds | None = Field(
        default=None, alias="sessionDurationMs", description="Wall time."
    )


class CopilotResult(CamelWireModel):
    """The last event of `--output-format json`."""

    session_id: Secondary[WireText] = Field(default=None, description="Session.")
    exit_code: Secondary[int] = Field(default=None, description="Exit code of the process.")
    usage: CopilotResultUsage | None = Field(default=None, description="What it used.")


class CopilotItem(CamelWireModel):
    """An item of the timeline of an older session file."""

    type: Secondary[WireText] = Field(
        default=None,
        description="user, copilot, tool_call_requested, tool_call_completed, info, error.",
    )
    timestamp: Any = Field(default=None, description="ISO 8601; items are not in its order.")
    text: Secondary[WireText] = Field(default=None, description="Of user, copilot, info.")
    call_id: Secondary[WireText] = Field(default=None, description="Of a tool call.")
    name: Secondary[WireText] = Field(default=None, description="Of a tool call: the tool.")
    result: Secondary[dict[str, Any]] = Field(
        default=None,
        description="Of a completed call: its type is success, failure, rejected, denied.",
    )


class CopilotHistory(CamelWireModel):
    """A session until late 2025, `history-session-state/session_*.json`: no model, no tokens."""

    session_id: WireText = Field(description="Session.")
    start_time: Any = Field(default=None, description="ISO 8601.")
    timeline: list[CopilotItem] = Field(
        default=[], description="What the user saw; whole also where chatMessages is empty."
    )
