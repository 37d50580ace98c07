"""OpenCode's formats: events of `opencode run --format json`, and sessions of `opencode export`.

Sources: sst/opencode (packages/opencode/src/cli/cmd/run.ts, export.ts, session/message-v2.ts) and
real streams of 2025-12 to 2026-07. Tool output is skipped.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from schemas.wire.values import Secondary, WireCount, WireFlag, WireModel, WireText, WireUsd


class OpenCodeCache(WireModel):
    """Input that was cached, beside `input`."""

    read: WireCount = Field(default=0, description="Cache reads.")
    write: WireCount = Field(default=0, description="Cache writes.")


class OpenCodeTokens(WireModel):
    """Tokens of one step.

    Until spring 2026 `output` includes reasoning, later it does not: `total` decides.
    """

    total: WireCount | None = Field(default=None, description="All tokens; newer.")
    input: WireCount = Field(default=0, description="Uncached input.")
    output: WireCount = Field(default=0, description="Output, with or without reasoning.")
    reasoning: WireCount = Field(default=0, description="Reasoning.")
    cache: OpenCodeCache = Field(default=OpenCodeCache(), description="Cached input.")


class OpenCodeState(WireModel):
    """The state of a tool call."""

    status: Secondary[WireText] = Field(
        default=None, description="pending, running, completed, error."
    )


class OpenCodePart(WireModel):
    """A part of a message."""

    id: Secondary[WireText] = Field(default=None, description="prt_…")
    message_id: Secondary[WireText] = Field(
        default=None, alias="messageID", description="msg_…: its message."
    )
    type: Secondary[WireText] = Field(
        default=None, description="text, tool, step-start, step-finish, reasoning, …"
    )
    text: Secondary[WireText] = Field(default=None, description="Of text.")
    synthetic: Secondary[WireFlag] = Field(
        default=None, description="Of text: written by the program."
    )
    tool: Secondary[WireText] = Field(
        default=None, description="Of tool: its name. `task` starts another session."
    )
    call_id: Secondary[WireText] = Field(default=None, alias="callID", description="Of tool.")
    state: Secondary[OpenCodeState] = Field(default=None, description="Of tool.")
    reason: Secondary[WireText] = Field(
        default=None, description="Of step-finish: stop, tool-calls, length, …"
    )
    cost: WireUsd | None = Field(
        default=None,
        description=(
            "Of step-finish: USD; 0 too where the model has no price or is in a subscription."
        ),
    )
    tokens: OpenCodeTokens | None = Field(default=None, description="Of step-finish.")


class OpenCodeErrorData(WireModel):
    """Details of an error."""

    message: Secondary[WireText] = Field(default=None, description="The message.")
    status_code: Secondary[int] = Field(
        default=None, alias="statusCode", description="HTTP status."
    )


class OpenCodeError(WireModel):
    """An error of a run or of a message."""

    name: Secondary[WireText] = Field(
        default=None,
        description="APIError, ProviderAuthError, MessageAbortedError, UnknownError, …",
    )
    data: Secondary[OpenCodeErrorData] = Field(default=None, description="Its message.")


class OpenCodeEvent(WireModel):
    """One line of `opencode run --format json`."""

    type: WireText = Field(description="step_start, text, tool_use, step_finish, error, reasoning.")
    timestamp: Any = Field(default=None, description="Unix ms.")
    session_id: WireText = Field(alias="sessionID", description="ses_…")
    part: OpenCodePart | None = Field(default=None, description="The part that is ready.")
    error: Secondary[OpenCodeError] = Field(default=None, description="Of error.")


class OpenCodeTime(WireModel):
    """Times in Unix ms: created and updated for a session, created and completed for a message."""

    created: Any = Field(default=None, description="When it began.")
    updated: Any = Field(default=None, description="When a session was last changed.")
    completed: Any = Field(default=None, description="When a message ended.")


class OpenCodeMessageInfo(WireModel):
    """A message without its parts. `tokens` are those of its last step, `cost` covers all."""

    id: Secondary[WireText] = Field(default=None, description="msg_…")
    role: Secondary[WireText] = Field(default=None, description="user, assistant.")
    model_id: Secondary[WireText] = Field(default=None, alias="modelID", description="Model.")
    provider_id: Secondary[WireText] = Field(
        default=None, alias="providerID", description="Provider."
    )
    cost: WireUsd | None = Field(default=None, description="USD.")
    tokens: OpenCodeTokens | None = Field(default=None, description="Tokens.")
    time: Secondary[OpenCodeTime] = Field(
        default=None,
        description="Its times. Those of a message that a fork copied are older than the fork.",
    )
    error: Secondary[OpenCodeError] = Field(default=None, description="Why it failed.")
    summary: Any = Field(default=None, description="True for the summary that a compaction writes.")
    finish: Secondary[WireText] = Field(default=None, description="Why its last step ended; newer.")


class OpenCodeMessage(WireModel):
    """A message."""

    info: OpenCodeMessageInfo = Field(description="What it is.")
    parts: list[OpenCodePart] = Field(default=[], description="Texts, tool calls, steps.")


class OpenCodeSession(WireModel):
    """Description of a session."""

    id: WireText = Field(description="ses_…")
    version: Secondary[WireText] = Field(default=None, description="Version of OpenCode.")
    directory: Secondary[WireText] = Field(default=None, description="Working directory.")
    parent_id: Secondary[WireText] = Field(
        default=None, alias="parentID", description="Session whose `task` started this one."
    )
    time: Secondary[OpenCodeTime] = Field(default=None, description="Its times.")


class OpenCodeExport(WireModel):
    """A session as `opencode export` prints it."""

    info: OpenCodeSession = Field(description="The session.")
    messages: list[OpenCodeMessage] = Field(default=[], description="Its messages.")
