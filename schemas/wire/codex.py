"""Formats of OpenAI's Codex.

Events of `codex exec --json`, lines of rollout files, and messages of `codex app-server`.

Sources: typings of @openai/codex-sdk 0.163, codex-rs/exec/src/event_processor_with_jsonl_output.rs,
and real files of versions 0.39 to
0.104; public descriptions of 0.145 to 0.171; codex-rs/app-server/README.md, protocol v2 of versions
  0.105 to 0.147. Only events with facts
about a run are modelled; the others (messages, tool output) are skipped.
"""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from schemas.wire.values import (
    CamelWireModel,
    Secondary,
    WireCount,
    WireMilliseconds,
    WireModel,
    WireText,
)


class CodexUsage(WireModel):
    """Tokens.

    `input_tokens` includes cache reads and cache writes, `output_tokens` includes reasoning.
    """

    input_tokens: WireCount = Field(default=0, description="All input, cached or not.")
    cached_input_tokens: WireCount = Field(
        default=0, description="Cache reads, inside input_tokens."
    )
    cache_write_input_tokens: WireCount = Field(
        default=0, description="Cache writes, inside input_tokens; since 2026-09."
    )
    output_tokens: WireCount = Field(default=0, description="All output.")
    reasoning_output_tokens: WireCount | None = Field(
        default=None, description="Reasoning, inside output_tokens; since 2026-04."
    )


class ExecError(WireModel):
    """The error of a failed turn."""

    message: Secondary[WireText] = Field(default=None, description="What went wrong.")


class ExecItem(WireModel):
    """An item of a turn: a message, a tool call, a warning."""

    id: Secondary[WireText] = Field(
        default=None, description="item_0, item_1, …: unique within one process only."
    )
    type: Secondary[WireText] = Field(
        default=None, description="agent_message, command_execution, file_change, …"
    )
    text: Secondary[WireText] = Field(default=None, description="Text of a message.")
    status: Secondary[WireText] = Field(
        default=None, description="in_progress, completed, failed, declined."
    )
    exit_code: Secondary[int] = Field(
        default=None, description="Exit code of a command; null while it runs."
    )
    tool: Secondary[WireText] = Field(default=None, description="Tool of an MCP call.")


class ExecEvent(WireModel):
    """One event of `codex exec --json`."""

    type: WireText = Field(description="thread.started, turn.*, item.*, error.")
    thread_id: Secondary[WireText] = Field(
        default=None, description="Id of the thread: a UUID of version 7, with its start."
    )
    usage: CodexUsage | None = Field(
        default=None,
        description="Running total of the thread, of a resumed one since its first process.",
    )
    item: Secondary[ExecItem] = Field(default=None, description="The item of item.*.")
    error: Secondary[ExecError] = Field(default=None, description="The error of turn.failed.")
    message: Secondary[WireText] = Field(
        default=None, description="Text of an error event: often only a notice of a retry."
    )


class Git(WireModel):
    """The repository a session works on."""

    commit_hash: Secondary[WireText] = Field(default=None, description="Commit at the start.")
    branch: Secondary[WireText] = Field(default=None, description="Branch.")
    repository_url: Secondary[WireText] = Field(default=None, description="Remote.")


class HistoryBase(WireModel):
    """The part of another file that a file continues, without a copy of it."""

    thread_id: Secondary[WireText] = Field(
        default=None, description="Id of that file: the last one in its name."
    )


class SessionMeta(WireModel):
    """First line of a rollout.

    In a fork the lines of its parent follow, with their own session_meta.
    """

    id: Secondary[WireText] = Field(default=None, description="Id of the session.")
    timestamp: Any = Field(default=None, description="When the session began.")
    cwd: Secondary[WireText] = Field(default=None, description="Working directory.")
    cli_version: Secondary[WireText] = Field(default=None, description="Version of Codex.")
    model_provider: Secondary[WireText] = Field(
        default=None, description="Provider: openai, azure, …; of TRAE CLI: trae."
    )
    originator: Secondary[WireText] = Field(
        default=None, description="The client: codex_exec, codex-tui, the name of an editor, …"
    )
    base_instructions: Any = Field(
        default=None, description="{text}: the system prompt, which says who the agent is."
    )
    git: Secondary[Git] = Field(default=None, description="The repository.")
    forked_from_id: Secondary[WireText] = Field(
        default=None, description="Session that this one was forked from."
    )
    parent_thread_id: Secondary[WireText] = Field(
        default=None, description="Session that started this one as a sub-agent."
    )
    source: Any = Field(
        default=None,
        description=(
            "Client, or for a sub-agent an object with subagent.thread_spawn.parent_thread_id."
        ),
    )
    thread_source: Secondary[WireText] = Field(default=None, description="subagent, …")
    history_base: Secondary[HistoryBase] = Field(
        default=None,
        description=(
            "The file that this one continues: of a fork, a reverted thread or a next page; "
            "since 0.146."
        ),
    )
    subagent_history_start_ordinal: Any = Field(
        default=None,
        description=(
            "Number of the first line of its own, also as text; since 2026-09. Those before it "
            "are its parent's."
        ),
    )


class TurnContext(WireModel):
    """Settings of a turn; the model may change between turns."""

    turn_id: Secondary[WireText] = Field(default=None, description="The turn: a UUID of version 7.")
    model: Secondary[WireText] = Field(default=None, description="Model of the next responses.")
    effort: Secondary[WireText] = Field(default=None, description="Its reasoning effort.")
    cwd: Secondary[WireText] = Field(default=None, description="Working directory.")
    approval_policy: Secondary[WireText] = Field(default=None, description="never, on-request, …")


class TokenInfo(WireModel):
    """Token counts of a session so far."""

    total_token_usage: CodexUsage | None = Field(
        default=None, description="Running total of the session."
    )
    last_token_usage: CodexUsage | None = Field(default=None, description="The last request.")


class UsageRecord(WireModel):
    """Payload of a `token_usage_record`, since 2026-09: a response, usually also in token_count."""

    response_id: Secondary[WireText] = Field(default=None, description="Id of the response.")
    usage: CodexUsage | None = Field(default=None, description="Tokens of this response alone.")
    thread_token_usage: CodexUsage | None = Field(
        default=None, description="Running total of the thread."
    )


class Compacted(WireModel):
    """Payload of a `compacted` line: the history was summarized."""

    compaction_response_id: Secondary[WireText] = Field(
        default=None,
        description="The response that summarized it, as in its token_usage_record; since 2026-09.",
    )


class EventMessage(WireModel):
    """Payload of an `event_msg`."""

    type: Secondary[WireText] = Field(
        default=None,
        description="token_count, task_started, task_complete, turn_aborted, agent_message, …",
    )
    info: TokenInfo | None = Field(
        default=None, description="Of token_count; null where only rate limits are told."
    )
    message: Secondary[WireText] = Field(
        default=None, description="Text of agent_message, user_message, error."
    )
    last_agent_message: Secondary[WireText] = Field(
        default=None, description="Of task_complete: the final text of the turn."
    )
    turn_id: Secondary[WireText] = Field(
        default=None, description="Of task_started: a UUID of version 7."
    )
    started_at: Any = Field(default=None, description="Of task_started: Unix seconds.")
    reason: Secondary[WireText] = Field(
        default=None, description="Of turn_aborted: interrupted, replaced, …"
    )


class ItemPart(WireModel):
    """A part of a message."""

    text: Secondary[WireText] = Field(default=None, description="Text; not of an image.")


class CompletedItem(WireModel):
    """An item of a turn, as the display shows it."""

    type: Secondary[WireText] = Field(
        default=None, description="UserMessage, AgentMessage, Reasoning, CommandExecution, …"
    )
    content: Secondary[list[ItemPart]] = Field(default=None, description="Of a message: its parts.")


class ItemCompleted(WireModel):
    """Payload of an `item_completed`, since 0.151 in place of user_message and agent_message."""

    item: Secondary[CompletedItem] = Field(default=None, description="The item.")


class _AppServer(CamelWireModel):
    """Part of a JSON-RPC message of `codex app-server`, one a line, as Codex drivers log them."""

    model_config = ConfigDict(populate_by_name=True)


class AppServerTokens(CodexUsage, _AppServer):
    """Tokens: the counts of `CodexUsage` under names in camel case."""


class AppServerUsage(_AppServer):
    """`params.tokenUsage` of `thread/tokenUsage/updated`."""

    total: AppServerTokens | None = Field(
        default=None, description="Running total of the thread, since its first process."
    )
    last: AppServerTokens | None = Field(default=None, description="The last request.")


class AppServerGit(_AppServer):
    """The repository of a thread."""

    sha: Secondary[WireText] = Field(default=None, description="Commit at the start.")
    branch: Secondary[WireText] = Field(default=None, description="Branch.")
    origin_url: Secondary[WireText] = Field(default=None, description="Remote.")


class AppServerThread(_AppServer):
    """A thread: of `thread/started`, and of answers to start, resume and fork.

    These are answers to `thread/start`, `thread/resume` and `thread/fork`.
    """

    id: Secondary[WireText] = Field(
        default=None, description="Id of the thread: a UUID of version 7, with its start."
    )
    forked_from_id: Secondary[WireText] = Field(
        default=None, description="Thread that this one was forked from."
    )
    parent_thread_id: Secondary[WireText] = Field(
        default=None, description="Thread that started this one as a sub-agent."
    )
    source: Any = Field(
        default=None,
        description=(
            "Client, or for a sub-agent an object with subAgent.thread_spawn.parent_thread_id."
        ),
    )
    cwd: Secondary[WireText] = Field(default=None, description="Working directory.")
    cli_version: Secondary[WireText] = Field(default=None, description="Version of Codex.")
    model: Secondary[WireText] = Field(
        default=None, description="Model; mostly in the answer to thread/start."
    )
    model_provider: Secondary[WireText] = Field(
        default=None, description="Provider: openai, azure, …"
    )
    git_info: Secondary[AppServerGit] = Field(default=None, description="The repository.")


class AppServerError(_AppServer):
    """Why a turn failed."""

    message: Secondary[WireText] = Field(default=None, description="What went wrong.")
    codex_error_info: Any = Field(
        default=None, description="usageLimitExceeded, unauthorized, {httpConnectionFailed: {…}}, …"
    )


class AppServerTurn(_AppServer):
    """A turn: of `turn/started` and `turn/completed`."""

    id: Secondary[WireText] = Field(default=None, description="Id of the turn.")
    status: Secondary[WireText] = Field(
        default=None, description="inProgress, completed, interrupted, failed."
    )
    error: Secondary[AppServerError] = Field(default=None, description="Of a failed turn.")
    started_at: Any = Field(default=None, description="Unix seconds; in newer versions.")
    completed_at: Any = Field(default=None, description="Unix seconds; in newer versions.")
    duration_ms: Secondary[WireMilliseconds] = Field(
        default=None, description="How long it took; in newer versions."
    )


class AppServerItem(_AppServer):
    """An item of a turn: a message, a tool call."""

    id: Secondary[WireText] = Field(default=None, description="Unique within the thread.")
    type: Secondary[WireText] = Field(
        default=None,
        description="userMessage, agentMessage, commandExecution, fileChange, mcpToolCall, …",
    )
    text: Secondary[WireText] = Field(default=None, description="Text of agentMessage.")
    content: Any = Field(default=None, description="Input of userMessage: [{type: text, text}].")
    status: Secondary[WireText] = Field(
        default=None, description="inProgress, completed, failed, declined."
    )
    exit_code: Secondary[int] = Field(default=None, description="Of commandExecution.")
    tool: Secondary[WireText] = Field(
        default=None, description="Tool of an MCP call, or of a client's own."
    )


class AppServerSettings(_AppServer):
    """`params.threadSettings` of `thread/settings/updated`."""

    model: Secondary[WireText] = Field(default=None, description="Model of the next turns.")
    effort: Secondary[WireText] = Field(default=None, description="Its reasoning effort.")
    approval_policy: Secondary[WireText] = Field(default=None, description="never, on-request, …")


class AppServerParams(_AppServer):
    """Body of a message: `params` of a request or notification, `result` of an answer."""

    thread_id: Secondary[WireText] = Field(default=None, description="Thread that it belongs to.")
    turn_id: Secondary[WireText] = Field(default=None, description="Turn that it belongs to.")
    thread: Secondary[AppServerThread] = Field(
        default=None, description="Of thread/started, and of an answer."
    )
    turn: Secondary[AppServerTurn] = Field(
        default=None, description="Of turn/started and turn/completed."
    )
    item: Secondary[AppServerItem] = Field(
        default=None, description="Of item/started and item/completed."
    )
    token_usage: AppServerUsage | None = Field(
        default=None, description="Of thread/tokenUsage/updated."
    )
    thread_settings: Secondary[AppServerSettings] = Field(
        default=None, description="Of thread/settings/updated."
    )
    error: Secondary[AppServerError] = Field(default=None, description="Of an error within a turn.")
    input: Any = Field(default=None, description="Of turn/start: [{type: text, text}].")
    model: Secondary[WireText] = Field(
        default=None, description="Of turn/start, and of the answer to thread/start: the model."
    )
    effort: Secondary[WireText] = Field(
        default=None, description="Of turn/start: the reasoning effort."
    )
    reasoning_effort: Secondary[WireText] = Field(
        default=None, description="Of the answer to thread/start: the reasoning effort."
    )
    to_model: Secondary[WireText] = Field(
        default=None, description="Of model/rerouted: the model that answers in place of another."
    )
    model_provider: Secondary[WireText] = Field(
        default=None, description="Of the answer to thread/start."
    )
    cwd: Secondary[WireText] = Field(default=None, description="Of the answer to thread/start.")
    approval_policy: Secondary[WireText] = Field(default=None, description="never, on-request, …")


class AppServerMessage(_AppServer):
    """One message, of either side."""

    method: Secondary[WireText] = Field(
        default=None, description="thread/started, turn/completed, …; an answer has none."
    )
    params: AppServerParams | None = Field(
        default=None, description="Of a request or a notification."
    )
    result: AppServerParams | None = Field(default=None, description="Of an answer.")
