"""Formats of Cursor's `cursor-agent -p`: events of `--output-format stream-json`.

`json` is the last of them.

Sources: https://cursor.com/docs/cli/reference/output-format and real streams of 2026-02 to 2026-08.
They resemble those of Claude Code. Thinking and tool output are skipped.
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


class CursorUsage(CamelWireModel):
    """Tokens of a run; since 2026-03. Reasoning is not logged."""

    input_tokens: WireCount | None = Field(
        default=None,
        description="Input, with cache reads and writes if it is at least as much as both.",
    )
    output_tokens: WireCount | None = Field(default=None, description="Output.")
    cache_read_tokens: WireCount | None = Field(default=None, description="Cache reads.")
    cache_write_tokens: WireCount | None = Field(default=None, description="Cache writes.")


class CursorResult(WireModel):
    """The end of a run: `result`."""

    subtype: Secondary[WireText] = Field(default=None, description="success, error.")
    is_error: Secondary[WireFlag] = Field(default=None, description="Whether the run failed.")
    duration_ms: WireMilliseconds | None = Field(default=None, description="Wall time.")
    duration_api_ms: Secondary[WireMilliseconds] = Field(
        default=None, description="Always the wall time again: no time of the API."
    )
    result: Secondary[WireText] = Field(
        default=None, description="All texts of the run, glued together without anything between."
    )
    session_id: Secondary[WireText] = Field(
        default=None, description="Session; the same in every resumed run."
    )
    request_id: Secondary[WireText] = Field(default=None, description="Id of this run.")
    usage: CursorUsage | None = Field(default=None, description="Tokens.")


class CursorEvent(WireModel):
    """Any event before the result."""

    type: WireText = Field(description="system, user, assistant, thinking, tool_call, …")
    subtype: Secondary[WireText] = Field(
        default=None, description="init; delta, completed; started, completed."
    )
    session_id: Secondary[WireText] = Field(default=None, description="Session.")
    timestamp_ms: Any = Field(
        default=None, description="Unix time; init, user, the last text and the result have none."
    )
    cwd: Secondary[WireText] = Field(default=None, description="Of init: working directory.")
    model: Secondary[WireText] = Field(
        default=None,
        description="Of init: name of the model as the menu shows it: Auto, Composer 2.5.",
    )
    permission_mode: Secondary[WireText] = Field(
        default=None, alias="permissionMode", description="Of init."
    )
    message: Secondary[dict[str, Any]] = Field(
        default=None, description="Of user and assistant: role and content."
    )
    model_call_id: Secondary[WireText] = Field(
        default=None,
        description=(
            "The request_id of the run and the call. The final text has none, nor have the "
            "pieces of a text."
        ),
    )
    call_id: Secondary[WireText] = Field(default=None, description="Of tool_call.")
    tool_call: Secondary[dict[str, Any]] = Field(
        default=None,
        description=(
            "{shellToolCall: {args, result: {success | error | rejected …}}}; a refused call has "
            "no args."
        ),
    )
