"""The init event of a Claude Code stream: what the agent was started with.

After the SDK's typings (`SDKSystemMessage` in @anthropic-ai/claude-agent-sdk, sdk.d.ts). No figure rests on a field of it, so every field
is `Secondary` and no event is ever refused; unknown fields are kept.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from schemas.wire.values import Secondary, WireText


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
    """The settings at the start of the agent: `system` / `init`. Long-lived processes write one per turn."""

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
