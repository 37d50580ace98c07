"""The events of a Claude Code stream that say something about its result records: init, assistant, user.

After the SDK's typings (`SDKSystemMessage`, `SDKAssistantMessage`, `SDKUserMessage` in @anthropic-ai/claude-agent-sdk, sdk.d.ts).
No figure rests on a single field here, so every field is `Secondary` and no event is ever refused; unknown fields are kept.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from schemas.wire.values import Secondary, WireFlag, WireText


class _Event(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    type: Secondary[WireText] = Field(default=None, description="Kind of the event.")
    session_id: Secondary[WireText] = Field(default=None, description="Session of the agent; `sessionId` in saved transcripts.")
    uuid: Secondary[WireText] = Field(default=None, description="Id of the event.")
    timestamp: Secondary[WireText] = Field(
        default=None, description="When it was written, ISO 8601; most events of older versions lack it."
    )
    parent_tool_use_id: Secondary[WireText] = Field(default=None, description="The tool call that started the sub-agent who speaks.")


class InitEvent(_Event):
    """What the agent was started with: `system` / `init`. Long-lived processes write one per turn."""

    subtype: Secondary[WireText] = Field(default=None, description="'init'.")
    cwd: Secondary[WireText] = Field(default=None, description="Working directory.")
    tools: Secondary[list[Any]] = Field(default=None, description="Names of the tools at hand.")
    mcp_servers: Secondary[list[Any]] = Field(default=None, description="MCP servers: name and status.")
    model: Secondary[WireText] = Field(default=None, description="Model asked for.")
    permission_mode: Secondary[WireText] = Field(default=None, alias="permissionMode", description="default, acceptEdits, plan, …")
    slash_commands: Secondary[list[Any]] = Field(default=None, description="Slash commands at hand.")
    api_key_source: Secondary[WireText] = Field(default=None, alias="apiKeySource", description="Where the API key came from.")
    claude_code_version: Secondary[WireText] = Field(default=None, description="Version of the agent.")
    output_style: Secondary[WireText] = Field(default=None, description="Output style.")
    agents: Secondary[list[Any]] = Field(default=None, description="Sub-agents at hand.")
    skills: Secondary[list[Any]] = Field(default=None, description="Skills at hand.")
    plugins: Secondary[list[Any]] = Field(default=None, description="Plugins loaded.")


class ToolUse(BaseModel):
    """A block of an assistant's message: a tool is called."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    type: Secondary[WireText] = Field(default=None, description="'tool_use'.")
    id: Secondary[WireText] = Field(default=None, description="Id of the call; streaming may repeat the block.")
    name: Secondary[WireText] = Field(default=None, description="The tool.")
    input: Secondary[dict[str, Any]] = Field(default=None, description="What it is called with.")


class ToolResult(BaseModel):
    """A block of a user's message: what a tool answered."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    type: Secondary[WireText] = Field(default=None, description="'tool_result'.")
    tool_use_id: Secondary[WireText] = Field(default=None, description="The call that is answered.")
    is_error: Secondary[WireFlag] = Field(default=None, description="Whether the call failed; absent or null: it did not.")
    content: Any = Field(default=None, description="The answer: text, or blocks.")


class Message(BaseModel):
    """A message of the model's API."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    id: Secondary[WireText] = Field(default=None, description="Id of the message; one message may come as several events.")
    role: Secondary[WireText] = Field(default=None, description="assistant or user.")
    model: Secondary[WireText] = Field(default=None, description="Model that wrote it.")
    content: Any = Field(default=None, description="Text, or blocks such as ToolUse and ToolResult.")
    usage: Secondary[dict[str, Any]] = Field(default=None, description="Tokens of the message; the same in each of its events.")


class AssistantEvent(_Event):
    """A message of the model."""

    message: Secondary[Message] = Field(default=None, description="The message.")


class UserEvent(_Event):
    """A message to the model: a prompt, or the results of tools."""

    message: Secondary[Message] = Field(default=None, description="The message.")
    tool_use_result: Any = Field(default=None, description="What the tool answered, as the agent holds it.")
