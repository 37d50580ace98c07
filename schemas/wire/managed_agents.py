"""Events of a session of Claude Managed Agents.

As its API lists them, or wrapped in `raw` by who kept them. Sources: the documentation of the API
(managed-agents-2026-04-01) and five logs of 2026-08. Tool input and output are skipped.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from schemas.wire.values import Secondary, WireCount, WireFlag, WireModel, WireText

Cents = Annotated[Decimal, Field(ge=0, lt=10**10, allow_inf_nan=False)]
"""Written as a text: `"1174"`."""


class ManagedCacheCreation(WireModel):
    """Cache writes by how long they last."""

    ephemeral_5m_input_tokens: WireCount = Field(default=0, description="For five minutes.")
    ephemeral_1h_input_tokens: WireCount = Field(default=0, description="For an hour.")


class ManagedCost(WireModel):
    """The list price of a session so far: tokens, searches and active time."""

    amount: Cents = Field(description="Cents.")
    currency: WireText = Field(description="USD.")


class ManagedUsage(WireModel):
    """Tokens of a request, of a grader, or of a session so far."""

    input_tokens: WireCount = Field(default=0, description="Uncached input.")
    output_tokens: WireCount = Field(default=0, description="Output.")
    cache_read_input_tokens: WireCount = Field(default=0, description="Cache reads.")
    cache_creation_input_tokens: WireCount = Field(
        default=0, description="Cache writes, of a request."
    )
    cache_creation: ManagedCacheCreation | None = Field(
        default=None, description="Cache writes, of a session."
    )
    list_cost: ManagedCost | None = Field(default=None, description="Of a session.")


class ManagedReason(WireModel):
    """Why a session is idle."""

    type: Secondary[WireText] = Field(
        default=None, description="end_turn, requires_action, retries_exhausted."
    )


class ManagedError(WireModel):
    """An error of a session."""

    type: Secondary[WireText] = Field(default=None, description="Its kind.")
    message: Secondary[WireText] = Field(default=None, description="Its message.")


class ManagedEvent(WireModel):
    """One event."""

    type: WireText = Field(description="session.…, span.…, user.…, agent.….")
    id: WireText = Field(description="sevt_…")
    processed_at: Any = Field(default=None, description="ISO time.")
    content: Any = Field(default=None, description="Of messages: blocks with texts.")
    description: Secondary[WireText] = Field(
        default=None, description="Of user.define_outcome: the task."
    )
    name: Secondary[WireText] = Field(default=None, description="Of a tool call.")
    is_error: Secondary[WireFlag] = Field(default=None, description="Of a tool result.")
    tool_use_id: Secondary[WireText] = Field(default=None, description="Of a tool result.")
    mcp_tool_use_id: Secondary[WireText] = Field(default=None, description="Of an MCP result.")
    model_usage: ManagedUsage | None = Field(default=None, description="Of span.model_request_end.")
    usage: ManagedUsage | None = Field(
        default=None, description="Of session.usage, and of a grader's end."
    )
    stop_reason: Secondary[ManagedReason] = Field(default=None, description="Of an idle session.")
    error: Secondary[ManagedError] = Field(default=None, description="Of session.error.")
