"""Pi's formats: the lines of a session file, and the events of `pi --mode json`.

OpenClaw and oh-my-pi write the same.

Sources: badlogic/pi-mono (packages/coding-agent/docs/session.md and json.md,
src/core/session-manager.ts) and real sessions of version 1.
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
    WireUsd,
)


class PiCost(CamelWireModel):
    """Cost of a response."""

    total: WireUsd | None = Field(
        default=None, description="USD; 0 too where the model is in a subscription."
    )


class PiUsage(CamelWireModel):
    """Tokens of one response, in disjoint classes. All are 0 if it failed."""

    input: WireCount = Field(default=0, description="Uncached input.")
    output: WireCount = Field(default=0, description="Output, including reasoning.")
    cache_read: WireCount = Field(default=0, description="Cache reads.")
    cache_write: WireCount = Field(default=0, description="Cache writes.")
    reasoning_tokens: WireCount | None = Field(
        default=None, description="Reasoning, inside output; oh-my-pi only."
    )
    cost: PiCost | None = Field(default=None, description="Its price.")


class PiMessage(CamelWireModel):
    """A message: of the user, the model, a tool, a command of the user, or an extension."""

    role: Secondary[WireText] = Field(
        default=None, description="user, assistant, toolResult, bashExecution, custom, …"
    )
    content: Any = Field(
        default=None, description="A text, or blocks: text, thinking, toolCall, image."
    )
    timestamp: Any = Field(
        default=None, description="Unix ms: when it was said, or when its response began."
    )
    provider: Secondary[WireText] = Field(default=None, description="Of assistant.")
    model: Secondary[WireText] = Field(default=None, description="Of assistant.")
    usage: PiUsage | None = Field(default=None, description="Of assistant.")
    stop_reason: Secondary[WireText] = Field(
        default=None, description="Of assistant: stop, length, toolUse, error, aborted."
    )
    error_message: Secondary[WireText] = Field(
        default=None, description="Of assistant: why it failed."
    )
    duration: Secondary[WireMilliseconds] = Field(
        default=None, description="Of assistant: time of the response; oh-my-pi only."
    )
    tool_call_id: Secondary[WireText] = Field(default=None, description="Of toolResult.")
    tool_name: Secondary[WireText] = Field(default=None, description="Of toolResult.")
    is_error: Secondary[WireFlag] = Field(default=None, description="Of toolResult.")
    details: Any = Field(
        default=None, description="Of toolResult: what the tool tells the program, not the model."
    )


class PiLine(CamelWireModel):
    """A line of a session file, or a stream's event, which has no id and no time of its own."""

    type: WireText = Field(description="session, message, compaction, …; of a stream message_end.")
    version: Any = Field(default=None, description="Of session, since version 2.")
    id: Secondary[WireText] = Field(
        default=None, description="Of the session, or since version 2 of the line."
    )
    parent_id: Secondary[WireText] = Field(
        default=None, description="The line before it, in the tree of version 2."
    )
    timestamp: Any = Field(default=None, description="ISO 8601: when it was written.")
    message: PiMessage | None = Field(default=None, description="Of message and message_end.")
    cwd: Secondary[WireText] = Field(default=None, description="Of session: working directory.")
    provider: Secondary[WireText] = Field(
        default=None, description="Of session, version 1: its provider."
    )
    model_id: Secondary[WireText] = Field(
        default=None, description="Of session, version 1: model that was asked for."
    )
    thinking_level: Secondary[WireText] = Field(
        default=None, description="Of session, version 1, and of thinking_level_change: its effort."
    )
    branched_from: Secondary[WireText] = Field(
        default=None, description="Of session, version 1: file whose lines it begins with."
    )
    parent_session: Secondary[WireText] = Field(
        default=None, description="Of session: the same since version 2."
    )
    from_hook: Secondary[WireFlag] = Field(
        default=None, description="Of compaction, branch_summary: an extension wrote it."
    )
    usage: PiUsage | None = Field(
        default=None,
        description="Of compaction, branch_summary: tokens of its call; mostly missing.",
    )
