"""What `codex app-server` and its clients write to each other: JSON-RPC messages, one a line, as drivers of Codex log them.

Source: codex-rs/app-server/README.md, protocol v2 of versions 0.105 to 0.147. Only messages that say something about a run are modelled.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from schemas.wire.codex import CodexUsage
from schemas.wire.values import Secondary, WireMilliseconds, WireText


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True, alias_generator=to_camel, populate_by_name=True)


class AppServerTokens(CodexUsage, _Wire):
    """Tokens: the counts of `CodexUsage` under names in camel case."""


class AppServerUsage(_Wire):
    """`params.tokenUsage` of `thread/tokenUsage/updated`."""

    total: AppServerTokens | None = Field(default=None, description="Running total of the thread, since its first process.")
    last: AppServerTokens | None = Field(default=None, description="The last request.")


class AppServerGit(_Wire):
    """The repository of a thread."""

    sha: Secondary[WireText] = Field(default=None, description="Commit at the start.")
    branch: Secondary[WireText] = Field(default=None, description="Branch.")
    origin_url: Secondary[WireText] = Field(default=None, description="Remote.")


class AppServerThread(_Wire):
    """A thread: of `thread/started`, and of the answers to `thread/start`, `thread/resume` and `thread/fork`."""

    id: Secondary[WireText] = Field(default=None, description="Id of the thread: a UUID of version 7, with its start.")
    forked_from_id: Secondary[WireText] = Field(default=None, description="Thread that this one was forked from.")
    parent_thread_id: Secondary[WireText] = Field(default=None, description="Thread that started this one as a sub-agent.")
    source: Any = Field(default=None, description="Client, or for a sub-agent an object with subAgent.thread_spawn.parent_thread_id.")
    cwd: Secondary[WireText] = Field(default=None, description="Working directory.")
    cli_version: Secondary[WireText] = Field(default=None, description="Version of Codex.")
    model: Secondary[WireText] = Field(default=None, description="Model, where it is told here.")
    model_provider: Secondary[WireText] = Field(default=None, description="Provider: openai, azure, …")
    git_info: Secondary[AppServerGit] = Field(default=None, description="The repository.")


class AppServerError(_Wire):
    """Why a turn failed."""

    message: Secondary[WireText] = Field(default=None, description="What went wrong.")
    codex_error_info: Any = Field(default=None, description="usageLimitExceeded, unauthorized, {httpConnectionFailed: {…}}, …")


class AppServerTurn(_Wire):
    """A turn: of `turn/started` and `turn/completed`."""

    id: Secondary[WireText] = Field(default=None, description="Id of the turn.")
    status: Secondary[WireText] = Field(default=None, description="inProgress, completed, interrupted, failed.")
    error: Secondary[AppServerError] = Field(default=None, description="Of a failed turn.")
    started_at: Any = Field(default=None, description="Unix seconds; in newer versions.")
    completed_at: Any = Field(default=None, description="Unix seconds; in newer versions.")
    duration_ms: Secondary[WireMilliseconds] = Field(default=None, description="How long it took; in newer versions.")


class AppServerItem(_Wire):
    """An item of a turn: a message, a tool call."""

    id: Secondary[WireText] = Field(default=None, description="Unique within the thread.")
    type: Secondary[WireText] = Field(default=None, description="userMessage, agentMessage, commandExecution, fileChange, mcpToolCall, …")
    text: Secondary[WireText] = Field(default=None, description="Text of agentMessage.")
    content: Any = Field(default=None, description="Input of userMessage: [{type: text, text}].")
    status: Secondary[WireText] = Field(default=None, description="inProgress, completed, failed, declined.")
    exit_code: Secondary[int] = Field(default=None, description="Of commandExecution.")
    tool: Secondary[WireText] = Field(default=None, description="Tool of an MCP call, or of a client's own.")


class AppServerSettings(_Wire):
    """`params.threadSettings` of `thread/settings/updated`."""

    model: Secondary[WireText] = Field(default=None, description="Model of the next turns.")
    approval_policy: Secondary[WireText] = Field(default=None, description="never, on-request, …")


class AppServerParams(_Wire):
    """What a message is about: `params` of a request or notification, `result` of an answer."""

    thread_id: Secondary[WireText] = Field(default=None, description="Thread that it belongs to.")
    turn_id: Secondary[WireText] = Field(default=None, description="Turn that it belongs to.")
    thread: Secondary[AppServerThread] = Field(default=None, description="Of thread/started, and of an answer.")
    turn: Secondary[AppServerTurn] = Field(default=None, description="Of turn/started and turn/completed.")
    item: Secondary[AppServerItem] = Field(default=None, description="Of item/started and item/completed.")
    token_usage: AppServerUsage | None = Field(default=None, description="Of thread/tokenUsage/updated.")
    thread_settings: Secondary[AppServerSettings] = Field(default=None, description="Of thread/settings/updated.")
    error: Secondary[AppServerError] = Field(default=None, description="Of an error within a turn.")
    input: Any = Field(default=None, description="Of turn/start: [{type: text, text}].")
    model: Secondary[WireText] = Field(default=None, description="Of turn/start, and of the answer to thread/start: the model.")
    to_model: Secondary[WireText] = Field(default=None, description="Of model/rerouted: the model that answers in place of another.")
    model_provider: Secondary[WireText] = Field(default=None, description="Of the answer to thread/start.")
    cwd: Secondary[WireText] = Field(default=None, description="Of the answer to thread/start.")
    approval_policy: Secondary[WireText] = Field(default=None, description="never, on-request, …")


class AppServerMessage(_Wire):
    """One message, of either side."""

    method: Secondary[WireText] = Field(default=None, description="thread/started, turn/completed, …; an answer has none.")
    params: AppServerParams | None = Field(default=None, description="Of a request or a notification.")
    result: AppServerParams | None = Field(default=None, description="Of an answer.")
