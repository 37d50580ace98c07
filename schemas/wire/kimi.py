"""The format of Kimi Code and its predecessor Kimi CLI: the lines of `wire.jsonl`.

Sources: MoonshotAI/kimi-code (packages/agent-core/src/agent/records/types.ts), MoonshotAI/kimi-cli
(src/kimi_cli/wire/types.py and file.py), a real file of protocol 1.4.
"""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from schemas.wire.values import CamelWireModel, Secondary, WireCount, WireFlag, WireText

CLI_TYPES = frozenset(
    {
        *(
            "TurnBegin",
            "TurnEnd",
            "StepBegin",
            "StepInterrupted",
            "StatusUpdate",
            "ContentPart",
            "ToolCall",
            "ToolResult",
        ),
        *(
            "SubagentEvent",
            "ToolCallPart",
            "SteerInput",
            "CompactionBegin",
            "CompactionEnd",
            "ApprovalRequest",
            "ApprovalResponse",
        ),
    }
)


class _Wire(CamelWireModel):
    model_config = ConfigDict(populate_by_name=True)


class KimiUsage(_Wire):
    """Tokens of one request, in disjoint classes. Kimi CLI writes `input_other` and so on."""

    input_other: WireCount = Field(default=0, description="Uncached input.")
    input_cache_read: WireCount = Field(default=0, description="Cache reads.")
    input_cache_creation: WireCount = Field(default=0, description="Cache writes.")
    output: WireCount = Field(default=0, description="Output.")


class KimiError(_Wire):
    """Why a turn failed."""

    code: Any = Field(default=None, description="Code.")
    message: Secondary[WireText] = Field(default=None, description="What went wrong.")


class KimiResult(_Wire):
    """The result of a tool."""

    is_error: Secondary[WireFlag] = Field(default=None, description="Whether the tool failed.")


class KimiPart(_Wire):
    """A part of a response."""

    type: Secondary[WireText] = Field(default=None, description="text, think, …")
    text: Secondary[WireText] = Field(default=None, description="Of text.")


class KimiLoopEvent(_Wire):
    """An event inside a turn."""

    type: Secondary[WireText] = Field(
        default=None, description="step.begin, content.part, tool.call, tool.result, step.end, …"
    )
    tool_call_id: Secondary[WireText] = Field(
        default=None, description="Of tool.call, tool.result."
    )
    name: Secondary[WireText] = Field(default=None, description="Of tool.call.")
    result: Secondary[KimiResult] = Field(default=None, description="Of tool.result.")
    part: Secondary[KimiPart] = Field(default=None, description="Of content.part.")
    finish_reason: Secondary[WireText] = Field(
        default=None, description="Of step.end: tool_use, end_turn, …"
    )


class KimiCodeLine(_Wire):
    """One line of Kimi Code."""

    type: WireText = Field(
        description="metadata, config.update, turn.prompt, llm.request, usage.record, …"
    )
    time: Any = Field(default=None, description="Unix ms.")
    created_at: Any = Field(default=None, alias="created_at", description="Of metadata: Unix ms.")
    cwd: Secondary[WireText] = Field(
        default=None, description="Of config.update: working directory."
    )
    provider: Secondary[WireText] = Field(default=None, description="Of llm.request.")
    model: Secondary[WireText] = Field(
        default=None, description="Of llm.request: the model; of usage.record: its alias."
    )
    model_alias: Secondary[WireText] = Field(
        default=None, description="Of config.update, llm.request: name in the settings."
    )
    input: Any = Field(default=None, description="Of turn.prompt: parts of the prompt.")
    usage: KimiUsage | None = Field(
        default=None, description="Of usage.record: of a turn's request, or of one that summarizes."
    )
    reason: Secondary[WireText] = Field(
        default=None, description="Of turn.ended: completed, cancelled, failed, …"
    )
    error: Secondary[KimiError] = Field(default=None, description="Of turn.ended.")
    event: Secondary[KimiLoopEvent] = Field(
        default=None, description="Of context.append_loop_event."
    )


class KimiFunction(_Wire):
    """The function of a call."""

    name: Secondary[WireText] = Field(default=None, description="Tool.")


class KimiCliPayload(_Wire):
    """Content of a message of Kimi CLI."""

    user_input: Any = Field(default=None, description="Of TurnBegin: a text, or parts.")
    type: Secondary[WireText] = Field(default=None, description="Of ContentPart: text, think, …")
    text: Secondary[WireText] = Field(default=None, description="Of ContentPart.")
    id: Secondary[WireText] = Field(default=None, description="Of ToolCall.")
    function: Secondary[KimiFunction] = Field(default=None, description="Of ToolCall.")
    tool_call_id: Secondary[WireText] = Field(default=None, description="Of ToolResult.")
    return_value: Secondary[KimiResult] = Field(default=None, description="Of ToolResult.")
    message_id: Secondary[WireText] = Field(
        default=None, description="Of StatusUpdate: the response."
    )
    token_usage: KimiUsage | None = Field(
        default=None, description="Of StatusUpdate: tokens of the step, told again as they grow."
    )


class KimiCliMessage(_Wire):
    """A message of Kimi CLI."""

    type: WireText = Field(description="TurnBegin, StepBegin, StatusUpdate, …")
    payload: KimiCliPayload = Field(description="What it says.")


class KimiCliLine(_Wire):
    """One line of Kimi CLI."""

    timestamp: Any = Field(default=None, description="Unix seconds.")
    message: KimiCliMessage = Field(description="The message.")
