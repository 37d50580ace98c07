"""Logs without a reader, recognised by their content, so that their reject can name them.

Their agent may have other, readable logs.

A new one is one entry of `UNREAD`. Sources: the agents' own code and documentation, and tools that
read the logs; no sample with a licence was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Looks = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True)
class UnreadLog:
    """Logs of one kind. `agent`: its agent; `what`: a description.

    `instead`: a hint at readable logs.

    `types`: values of `type` in their events; `names`: without types, each object has at least one
    of these. `looks`: whether an object with such a type or name is one of them. `tables`: patterns
    of statements that make tables, each in the database.
    """

    agent: str
    what: str
    types: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    looks: Looks = lambda _: False
    tables: tuple[re.Pattern[bytes], ...] = ()
    instead: str = ""

    def __str__(self) -> str:
        hint = f"; {self.instead}" if self.instead else ""
        plural = "is" if "telemetry" in self.what or "database" in self.what.lower() else "are"
        return f"{self.what} {plural} not read yet{hint}"


def _has(*names: str) -> Looks:
    return lambda value: all(name in value for name in names)


def _amp_thread(value: dict[str, Any]) -> bool:
    return str(value.get("id")).startswith("T-") and isinstance(value.get("messages"), list)


def _amp_result(value: dict[str, Any]) -> bool:
    """Match a result record without a cost."""
    usage = value.get("usage")
    return (isinstance(usage, dict) and "max_tokens" in usage) or str(
        value.get("session_id")
    ).startswith("T-")


def _droid_result(value: dict[str, Any]) -> bool:
    """Match a result record with hardly any fields."""
    return (
        value.keys().isdisjoint(("usage", "uuid", "duration_api_ms", "total_cost_usd"))
        and "num_turns" in value
    )


def _goose_output(value: dict[str, Any]) -> bool:
    told = value.get("metadata")
    return (
        isinstance(value.get("messages"), list)
        and isinstance(told, dict)
        and "total_tokens" in told
        and "status" in told
    )


def _goose_session(value: dict[str, Any]) -> bool:
    return "working_dir" in value and (
        "accumulated_usage" in value or "accumulated_total_tokens" in value
    )


def _cline_message(value: dict[str, Any]) -> bool:
    return type(value.get("ts")) is int and isinstance(value.get(value["type"]), str)


def _cline_session(value: dict[str, Any]) -> bool:
    told = value.get("metadata")
    return (
        _has("session_id", "started_at", "provider", "model", "cwd")(value)
        and isinstance(told, dict)
        and isinstance(told.get("usage"), dict)
    )


def _crush_session(value: dict[str, Any]) -> bool:
    told = value.get("meta", value)
    is_named = (
        isinstance(told, dict) and "title" in told and ("uuid" in told or "message_count" in told)
    )
    return is_named and _has("prompt_tokens", "completion_tokens", "cost")(told)


def _tables(name: str, column: str) -> re.Pattern[bytes]:
    """Return a pattern of a CREATE TABLE with that column."""
    return re.compile(rf'CREATE TABLE [`"]?{name}[`"]? ?\([^;]{{0,4000}}?\b{column}\b'.encode())


def _telemetry(prefix: str) -> Looks:
    """Return a test for telemetry events with this prefix in a file written by the agent."""

    def looks(value: dict[str, Any]) -> bool:
        told = value.get("attributes")
        return isinstance(told, dict) and str(told.get("event.name")).startswith(prefix)

    return looks


def _acp_update(value: dict[str, Any]) -> bool:
    method, told = value.get("method"), value.get("params")
    return (
        isinstance(method, str)
        and method.endswith("session/update")
        and isinstance(told, dict)
        and "update" in told
    )


def _kiro_line(value: dict[str, Any]) -> bool:
    kinds = ("Prompt", "AssistantMessage", "ToolResults", "Compaction", "Clear")
    return "version" in value and value.get("kind") in kinds and "data" in value


def _vibe_session(value: dict[str, Any]) -> bool:
    told = value.get("metadata", value)
    stats = told.get("stats") if isinstance(told, dict) else None
    return isinstance(stats, dict) and "session_prompt_tokens" in stats


def _gptme_message(value: dict[str, Any]) -> bool:
    content, told = value.get("content"), value.get("metadata")
    if not (_has("role", "timestamp")(value) and isinstance(content, str)):
        return False
    tells_model = isinstance(told, dict) and not told.keys().isdisjoint(("model", "cost"))
    return tells_model or "pinned" in value or "gptme" in content[:_BEGINNING]


def _copilot_chat(value: dict[str, Any]) -> bool:
    told = value.get("v", value)
    return (
        isinstance(told, dict)
        and "responderUsername" in told
        and isinstance(told.get("requests"), list)
    )


def _droid_settings(value: dict[str, Any]) -> bool:
    told = value.get("tokenUsage")
    return isinstance(told, dict) and not told.keys().isdisjoint(
        ("factoryCredits", "thinkingTokens")
    )


def _cursor_message(value: dict[str, Any]) -> bool:
    message = value.get("message")
    is_message = isinstance(message, dict) and isinstance(message.get("content"), list)
    return (
        is_message
        and isinstance(value.get("role"), str)
        and value.keys() <= {"role", "message", "turn_id", "turnId"}
    )


def _cline_api_message(value: dict[str, Any]) -> bool:
    """Match the first message of a history: in the API's shape, without tokens."""
    content = value.get("content")
    first = (
        content[0]
        if value.get("role") == "user" and isinstance(content, list) and content
        else None
    )
    return isinstance(first, dict) and str(first.get("text")).startswith("<task>")


def _managed_event(value: dict[str, Any]) -> bool:
    """Match an event of Anthropic's Managed Agents API, alone or as `raw` of a log."""
    event = value.get("raw", value)
    return isinstance(event, dict) and str(event.get("id")).startswith("sevt_")


_EXPORT = "`opencode export` writes what is"
_BEGINNING = 200
_CLINE = "Cline, Roo Code or Kilo Code"
_KIRO = "Kiro"
_OPENCODE = "OpenCode's storage"
_OF_CRUSH = _tables("sessions", "summary_message_id")
"""Crush began as a copy of OpenCode, and has added the provider of a message since before its first
release.
"""
_LOGS = "its own logs and OTLP are"
_SERVICES = (
    ("Claude Code", "claude_code."),
    ("Codex", "codex."),
    ("Gemini CLI", "gemini_cli."),
    ("Qwen Code", "qwen-code."),
)
"""Telemetry: (agent, prefix of event names)."""

UNREAD = (
    UnreadLog("Amp", "Amp's thread files", names=("messages",), looks=_amp_thread),
    UnreadLog(
        "Factory Droid",
        "Factory Droid's session files",
        frozenset(("session_start",)),
        looks=_has("id", "cwd"),
    ),
    UnreadLog(
        "Factory Droid",
        "Factory Droid's settings of sessions",
        names=("tokenUsage",),
        looks=_droid_settings,
    ),
    UnreadLog(
        "Factory Droid",
        "Factory Droid's streams",
        frozenset(("completion",)),
        looks=_has("finalText", "session_id"),
    ),
    UnreadLog("Goose", "Goose's outputs", names=("metadata",), looks=_goose_output),
    UnreadLog("Goose", "Goose's streams", frozenset(("complete",)), looks=_has("total_tokens")),
    UnreadLog("Goose", "Goose's session files", names=("working_dir",), looks=_goose_session),
    UnreadLog(
        "Goose", "Goose's database", tables=(_tables("sessions", "accumulated_total_tokens"),)
    ),
    UnreadLog(
        _CLINE,
        "Task files of Cline, Roo Code and Kilo Code",
        frozenset(("say", "ask")),
        looks=_cline_message,
    ),
    UnreadLog(
        _CLINE,
        "Message histories of Cline, Roo Code and Kilo Code",
        names=("role",),
        looks=_cline_api_message,
    ),
    UnreadLog(
        _CLINE,
        "Task lists of Cline, Roo Code and Kilo Code",
        names=("tokensIn",),
        looks=_has("ts", "task", "tokensOut"),
    ),
    UnreadLog(_CLINE, "Cline's session files", names=("started_at",), looks=_cline_session),
    UnreadLog(
        "Crush", "Crush's session files", names=("meta", "prompt_tokens"), looks=_crush_session
    ),
    UnreadLog("Crush", "Crush's database", tables=(_OF_CRUSH, _tables("messages", "provider"))),
    UnreadLog(
        _OPENCODE, "Database of OpenCode before 2025-09", tables=(_OF_CRUSH,)
    ),  # Crush went on with it
    UnreadLog(
        "Claude Managed Agents",
        "Event logs of Claude Managed Agents",
        frozenset(("session.status_running", "span.model_request_start", "span.model_request_end")),
        names=("raw",),
        looks=_managed_event,
    ),
    UnreadLog(_KIRO, "Kiro's session files", names=("kind",), looks=_kiro_line),
    UnreadLog(
        _KIRO,
        "Kiro's states of sessions",
        names=("session_state",),
        looks=_has("session_id", "cwd"),
    ),
    UnreadLog(_KIRO, "Kiro's chat files", names=("actionId",), looks=_has("executionId", "chat")),
    UnreadLog(_KIRO, "Kiro's database", tables=(_tables("conversations_v2", "value"),)),
    UnreadLog(
        "Mistral Vibe",
        "Mistral Vibe's session files",
        names=("metadata", "stats"),
        looks=_vibe_session,
    ),
    UnreadLog("gptme", "gptme's conversations", names=("role",), looks=_gptme_message),
    UnreadLog(
        "Continue",
        "Session files of Continue, or of Kiro's editor",
        names=("workspaceDirectory",),
        looks=_has("sessionId", "history"),
    ),
    UnreadLog(
        "Continue",
        "Continue's events of development data",
        names=("generatedTokens",),
        looks=_has("eventName", "schema"),
    ),
    UnreadLog("Zed", "Zed's thread files", names=("request_token_usage",), looks=_has("messages")),
    UnreadLog("Zed", "Zed's database", tables=(_tables("threads", "data_type"),)),
    UnreadLog(
        "Antigravity",
        "Antigravity's result records",
        names=("conversation_id",),
        looks=_has("duration_seconds", "usage"),
    ),
    UnreadLog(
        "Antigravity",
        "Antigravity's transcripts",
        frozenset(("USER_INPUT", "PLANNER_RESPONSE")),
        looks=_has("step_index", "source"),
    ),
    UnreadLog(
        "Augment", "Augment's session files", names=("chatHistory",), looks=_has("sessionId")
    ),
    UnreadLog(
        "Copilot Chat",
        "Session files of Copilot Chat",
        names=("responderUsername", "v"),
        looks=_copilot_chat,
    ),
    UnreadLog(
        "Cursor's editor", "Transcripts of Cursor's editor", names=("role",), looks=_cursor_message
    ),
    UnreadLog(
        "Cursor's editor", "Database of Cursor's editor", tables=(_tables("cursorDiskKV", "key"),)
    ),
    UnreadLog(
        _OPENCODE,
        "Sessions in OpenCode's storage",
        names=("projectID",),
        looks=_has("directory", "time", "version"),
        instead=_EXPORT,
    ),
    UnreadLog(
        _OPENCODE, "OpenCode's database", tables=(_tables("part", "message_id"),), instead=_EXPORT
    ),
    UnreadLog(
        "Copilot CLI's database",
        "Copilot CLI's database",
        tables=(_tables("assistant_usage_events", "model"),),
        instead="`events.jsonl` of each session is",
    ),
    UnreadLog(
        "sessions by ACP",
        "Updates by ACP, as in Grok Build's sessions",
        names=("method",),
        looks=_acp_update,
    ),
    *(
        UnreadLog(
            f"{one} telemetry",
            f"{one} telemetry in a file",
            names=("attributes",),
            looks=_telemetry(how),
            instead=_LOGS,
        )
        for one, how in _SERVICES
    ),
)

UNREAD_RESULTS = (
    UnreadLog("Amp", "Amp's result records", looks=_amp_result),
    UnreadLog("Factory Droid", "Factory Droid's result records", looks=_droid_result),
)
"""Result records without a cost that look like Claude Code's."""

OLDER_CODEX = UnreadLog("Codex's older app-server", "Events of Codex's older app-server")
"""Events of the first protocol, which newer versions send in addition to the supported ones."""

AGENT_BY_DETAIL = {str(log): log.agent for log in (*UNREAD, *UNREAD_RESULTS, OLDER_CODEX)}
"""Detail of such a log's reject → agent."""

UNREAD_TYPES = frozenset[str]().union(*(log.types for log in UNREAD))

_BY_TYPE = {kind: tuple(log for log in UNREAD if kind in log.types) for kind in UNREAD_TYPES}
_BY_NAME = {
    name: tuple(log for log in UNREAD if name in log.names) for one in UNREAD for name in one.names
}

SCHEMA_BYTES = 1 << 18
"""Bytes at the beginning of a database that are searched for its CREATE TABLE statements."""


def unread_log(value: dict[str, Any]) -> UnreadLog | None:
    """Return the kind of log without a reader that an object belongs to, or None."""
    kind = value.get("type")
    if isinstance(kind, str):
        logs: Iterable[UnreadLog] = _BY_TYPE.get(kind, ())
    else:
        logs = (log for name in value if name in _BY_NAME for log in _BY_NAME[name])
    return next((log for log in logs if log.looks(value)), None)


def unread_result(value: dict[str, Any]) -> UnreadLog | None:
    """Return the kind of a result record without cost; None if it may be Claude Code's."""
    return next((log for log in UNREAD_RESULTS if log.looks(value)), None)


def unread_database(beginning: bytes) -> UnreadLog | None:
    """Return the kind of a SQLite database by its first bytes."""
    return next(
        (
            log
            for log in UNREAD
            if log.tables and all(table.search(beginning) for table in log.tables)
        ),
        None,
    )
