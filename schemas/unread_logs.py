"""Logs of agents that have no reader: recognised by their content, so that their reject can name them.

A new one is one entry of `UNREAD`. How they look: the agents' own sources and documentation; none of them was seen with a licence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Looks = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True)
class UnreadLog:
    """Logs of one kind. `what`: what they are, in words. `instead`: what is read, as a hint.

    `types`: values of `type` in their events; empty where they have none. `looks`: whether an object is one of them. `tables`: a pattern
    of the statements that make the tables of a database.
    """

    what: str
    types: frozenset[str] = frozenset()
    looks: Looks = lambda _: False
    tables: re.Pattern[bytes] | None = None
    instead: str = ""

    def __str__(self) -> str:
        hint = f"; {self.instead}" if self.instead else ""
        plural = "is" if self.what.endswith("database") else "are"
        return f"{self.what} {plural} not read yet{hint}"


def _has(*names: str) -> Looks:
    return lambda value: all(name in value for name in names)


def _amp_thread(value: dict[str, Any]) -> bool:
    return str(value.get("id")).startswith("T-") and isinstance(value.get("messages"), list)


def _amp_result(value: dict[str, Any]) -> bool:
    """A result record without a cost."""
    usage = value.get("usage")
    return (isinstance(usage, dict) and "max_tokens" in usage) or str(value.get("session_id")).startswith("T-")


def _droid_result(value: dict[str, Any]) -> bool:
    """A result record that tells next to nothing."""
    return value.keys().isdisjoint(("usage", "uuid", "duration_api_ms", "total_cost_usd")) and "num_turns" in value


def _goose_output(value: dict[str, Any]) -> bool:
    told = value.get("metadata")
    return isinstance(value.get("messages"), list) and isinstance(told, dict) and "total_tokens" in told and "status" in told


def _goose_session(value: dict[str, Any]) -> bool:
    return "working_dir" in value and ("accumulated_usage" in value or "accumulated_total_tokens" in value)


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
    is_named = isinstance(told, dict) and "title" in told and ("uuid" in told or "message_count" in told)
    return is_named and _has("prompt_tokens", "completion_tokens", "cost")(told)


def _tables(name: str, column: str) -> re.Pattern[bytes]:
    """A table with that column."""
    return re.compile(rf'CREATE TABLE [`"]?{name}[`"]? ?\([^;]{{0,4000}}?\b{column}\b'.encode())


UNREAD = (
    UnreadLog("Amp's thread files", looks=_amp_thread),
    UnreadLog("Factory Droid's session files", frozenset(("session_start",)), looks=_has("id", "cwd")),
    UnreadLog("Factory Droid's streams", frozenset(("completion",)), looks=_has("finalText", "session_id")),
    UnreadLog("Goose's outputs", looks=_goose_output),
    UnreadLog("Goose's streams", frozenset(("complete",)), looks=_has("total_tokens")),
    UnreadLog("Goose's session files", looks=_goose_session),
    UnreadLog("Goose's database", tables=_tables("sessions", "accumulated_total_tokens")),
    UnreadLog("Task files of Cline, Roo Code and Kilo Code", frozenset(("say", "ask")), looks=_cline_message),
    UnreadLog("Cline's session files", looks=_cline_session),
    UnreadLog("Crush's session files", looks=_crush_session),
    UnreadLog("Crush's database", tables=_tables("sessions", "summary_message_id")),
    UnreadLog("OpenCode's database", tables=_tables("part", "message_id"), instead="`opencode export` writes what is"),
    UnreadLog("Copilot CLI's database", tables=_tables("assistant_usage_events", "model"), instead="`events.jsonl` of each session is"),
)
"""Every kind of log without a reader."""

UNREAD_RESULTS = (
    UnreadLog("Amp's result records", looks=_amp_result),
    UnreadLog("Factory Droid's result records", looks=_droid_result),
)
"""The same for results without a cost that look like Claude Code's."""

UNREAD_TYPES = frozenset[str]().union(*(log.types for log in UNREAD))

_BY_TYPE = {kind: tuple(log for log in UNREAD if kind in log.types) for kind in UNREAD_TYPES}
_UNTYPED = tuple(log for log in UNREAD if not log.types)

SCHEMA_BYTES = 1 << 18
"""Bytes at the beginning of a database in which the statements that made its tables are searched."""


def unread_log(value: dict[str, Any]) -> UnreadLog | None:
    """Which kind of log without a reader an object belongs to; None for any other."""
    kind = value.get("type")
    logs = _BY_TYPE.get(kind, ()) if isinstance(kind, str) else _UNTYPED
    return next((log for log in logs if log.looks(value)), None)


def unread_result(value: dict[str, Any]) -> UnreadLog | None:
    """The same for a result record without cost; None where nothing speaks against Claude Code."""
    return next((log for log in UNREAD_RESULTS if log.looks(value)), None)


def unread_database(beginning: bytes) -> UnreadLog | None:
    """The same for the first bytes of a SQLite database."""
    return next((log for log in UNREAD if log.tables and log.tables.search(beginning)), None)
