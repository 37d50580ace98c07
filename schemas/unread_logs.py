"""Logs without a reader, recognised by their content, so that their reject can name them.

Their agent may have other, readable logs.

A new one is one line of `UNREAD`. Sources: the agents' own code and documentation, and tools that
read the logs; no sample with a licence was found.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple


class UnreadLog(NamedTuple):
    """Logs of one kind: their agent, a description, their marks, and a hint at readable logs.

    `marks`: fields that each of their objects has, the rarest first. `a/b` is a field in an object,
    or in the first one of a list; `a=PATTERN` a text that begins so; `!a` a field that is missing;
    `<a,b` says that there are no others. `tables`: `table/column` of a database.
    """

    agent: str
    what: str
    marks: str = ""
    tables: str = ""
    instead: str = ""

    def __str__(self) -> str:
        hint = f"; {self.instead}" if self.instead else ""
        plural = "is" if "telemetry" in self.what or "database" in self.what.lower() else "are"
        return f"{self.what} {plural} not read yet{hint}"


_OPENCODE = "OpenCode's storage"
_EXPORT = "`opencode export` writes what is"
_EVENTS = "`events.jsonl` of each session is"
_LOGS = "its own logs and OTLP are"

# fmt: off
UNREAD = (
    UnreadLog("Amp", "Amp's thread files", "messages id=T-"),
    UnreadLog("Factory Droid", "Factory Droid's session files", "type=session_start id cwd"),
    UnreadLog("Factory Droid", "Factory Droid's settings of sessions",
              "tokenUsage/factoryCredits or tokenUsage/thinkingTokens"),
    UnreadLog("Factory Droid", "Factory Droid's streams", "type=completion finalText session_id"),
    UnreadLog("Goose", "Goose's outputs", "metadata/total_tokens metadata/status messages"),
    UnreadLog("Goose", "Goose's streams", "type=complete total_tokens"),
    UnreadLog("Goose", "Goose's session files",
              "working_dir accumulated_usage or working_dir accumulated_total_tokens"),
    UnreadLog("Goose", "Goose's database", tables="sessions/accumulated_total_tokens"),
    UnreadLog("Cline", "Cline's session files",
              "started_at session_id provider model cwd metadata/usage"),
    UnreadLog("Crush", "Crush's session files",
              "meta/uuid meta/title meta/cost meta/prompt_tokens meta/completion_tokens or "
              "prompt_tokens completion_tokens cost title uuid or "
              "prompt_tokens completion_tokens cost title message_count"),
    UnreadLog("Kiro", "Kiro's session files",
              "kind=(Prompt|AssistantMessage|ToolResults|Compaction|Clear)$ version data"),
    UnreadLog("Kiro", "Kiro's states of sessions", "session_state session_id cwd"),
    UnreadLog("Kiro", "Kiro's chat files", "actionId executionId chat"),
    UnreadLog("Kiro", "Kiro's database", tables="conversations_v2/value"),
    UnreadLog("Mistral Vibe", "Mistral Vibe's session files",
              "stats/session_prompt_tokens or metadata/stats/session_prompt_tokens"),
    UnreadLog("gptme", "gptme's conversations",
              "role timestamp content= metadata/model or role timestamp content= metadata/cost or "
              "role timestamp content= pinned or role timestamp content=(?s:.{0,195})gptme"),
    UnreadLog("Continue", "Session files of Continue, or of Kiro's editor",
              "workspaceDirectory sessionId history"),
    UnreadLog("Continue", "Continue's events of development data",
              "generatedTokens eventName schema"),
    UnreadLog("Zed", "Zed's thread files", "request_token_usage messages"),
    UnreadLog("Zed", "Zed's database", tables="threads/data_type"),
    UnreadLog("Antigravity", "Antigravity's transcripts",
              "type=USER_INPUT step_index source or type=PLANNER_RESPONSE step_index source"),
    UnreadLog("Augment", "Augment's session files", "chatHistory sessionId"),
    UnreadLog("Copilot Chat", "Session files of Copilot Chat",
              "responderUsername requests or v/responderUsername v/requests"),
    UnreadLog("Cursor's editor", "Transcripts of Cursor's editor",
              "role= message/content/type= <role,message,turn_id,turnId"),
    UnreadLog("Cursor's editor", "Database of Cursor's editor", tables="cursorDiskKV/key"),
    UnreadLog(_OPENCODE, "Sessions in OpenCode's storage", "projectID directory time version",
              instead=_EXPORT),
    UnreadLog("Copilot CLI's database", "Copilot CLI's database",
              tables="assistant_usage_events/model", instead=_EVENTS),
    UnreadLog("sessions by ACP", "Updates by ACP, as in Grok Build's sessions",
              "method=(?s:.*)session/update$ params/update"),
    *(UnreadLog(f"{one} telemetry", f"{one} telemetry in a file",
                f"attributes/event.name={prefix}", instead=_LOGS)
      for one, prefix in (("Claude Code", "claude_code[.]"), ("Codex", "codex[.]"),
                          ("Gemini CLI", "gemini_cli[.]"), ("Qwen Code", "qwen-code[.]"))),
)
# fmt: on

UNREAD_RESULTS = (
    UnreadLog("Amp", "Amp's result records", "usage/max_tokens or session_id=T-"),
    UnreadLog(
        "Factory Droid",
        "Factory Droid's result records",
        "num_turns !usage !uuid !duration_api_ms !total_cost_usd",
    ),
)
"""Result records without a cost that look like Claude Code's."""

OLDER_CODEX = UnreadLog("Codex's older app-server", "Events of Codex's older app-server")
"""Events of the first protocol, which newer versions send in addition to the supported ones."""

AGENT_BY_DETAIL = {str(log): log.agent for log in (*UNREAD, *UNREAD_RESULTS, OLDER_CODEX)}
"""Detail of such a log's reject → agent."""

_BY_FIRST: dict[str, list[tuple[UnreadLog, list[str]]]] = defaultdict(list)
"""The first mark, `type=VALUE` or the name of a field → the logs and their marks."""
for _log in UNREAD:
    for _marks in filter(None, _log.marks.split(" or ")):
        _first = _marks.split()[0]
        _BY_FIRST[_first if _first.startswith("type=") else re.split("[/=]", _first)[0]].append(
            (_log, _marks.split())
        )

UNREAD_TYPES = frozenset(
    first.removeprefix("type=") for first in _BY_FIRST if first.startswith("type=")
)

SCHEMA_BYTES = 1 << 18
"""Bytes at the beginning of a database that are searched for its CREATE TABLE statements."""


def _has(value: Any, mark: str) -> bool:
    """Return whether an object has a mark, as in `UnreadLog.marks`."""
    if mark.startswith("!"):
        return not _has(value, mark[1:])
    if mark.startswith("<"):
        return set(value) <= set(mark[1:].split(","))
    path, is_text, pattern = mark.partition("=")
    for name in path.split("/"):
        if isinstance(value, list):
            value = value[0] if value else None
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return not is_text or (isinstance(value, str) and re.match(pattern, value) is not None)


def unread_log(value: dict[str, Any]) -> UnreadLog | None:
    """Return the kind of log without a reader that an object belongs to, or None."""
    kind = value.get("type")
    firsts: Iterable[str] = (f"type={kind}",) if isinstance(kind, str) else value
    return next(
        (
            log
            for first in firsts
            if first in _BY_FIRST
            for log, marks in _BY_FIRST[first]
            if all(_has(value, mark) for mark in marks)
        ),
        None,
    )


def unread_result(value: dict[str, Any]) -> UnreadLog | None:
    """Return the kind of a result record without cost; None if it may be Claude Code's."""
    return next(
        (
            log
            for log in UNREAD_RESULTS
            for marks in log.marks.split(" or ")
            if all(_has(value, mark) for mark in marks.split())
        ),
        None,
    )


def unread_database(beginning: bytes) -> UnreadLog | None:
    """Return the kind of a SQLite database by its first bytes."""

    def has(table: str) -> bool:
        name, column = table.split("/")
        made = rf'CREATE TABLE [`"]?{name}[`"]? ?\([^;]{{0,4000}}?\b{column}\b'
        return re.search(made.encode(), beginning) is not None

    return next((log for log in UNREAD if log.tables and all(map(has, log.tables.split()))), None)
