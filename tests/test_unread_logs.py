"""Logs of agents without a reader: one reject with their name, whatever else is in them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from schemas.unread_logs import UNREAD
from tests.conftest import ingest_paths, record_text
from tests.documents import lines, rejects_of, runs_in, runs_in_store

LOGS: dict[str, Any] = {
    "Amp's thread files": {"v": 3, "id": "T-5a1f", "created": 1_770_000_000_000, "messages": [{"role": "user", "content": []}]},
    "Factory Droid's session files": [
        {"type": "session_start", "id": "a", "title": "x", "cwd": "/work", "version": 2},
        {
            "type": "message",
            "id": "m1",
            "timestamp": "2026-05-01T12:00:00Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        },
    ],
    "Factory Droid's streams": [{"type": "completion", "finalText": "Done.", "numTurns": 1, "durationMs": 9, "session_id": "s"}],
    "Goose's outputs": {"messages": [{"role": "user", "content": []}], "metadata": {"total_tokens": 17_099, "status": "completed"}},
    "Goose's streams": [
        {"type": "message", "message": {"id": "m", "role": "assistant", "created": 1, "content": []}},
        {"type": "complete", "total_tokens": 17_099},
    ],
    "Goose's session files": {"id": "20260501_1", "working_dir": "/work", "accumulated_usage": {"input_tokens": 5}, "conversation": []},
    "Task files of Cline, Roo Code and Kilo Code": [
        {"ts": 1_770_000_000_000, "type": "say", "say": "text", "text": "Make it faster."},
        {"ts": 1_770_000_000_001, "type": "say", "say": "api_req_started", "text": '{"tokensIn":5,"tokensOut":1,"cost":0.1}'},
        {"ts": 1_770_000_000_002, "type": "ask", "ask": "completion_result", "text": "Done."},
    ],
    "Cline's session files": {
        "session_id": "s",
        "provider": "anthropic",
        "model": "claude-opus-4-6",
        "cwd": "/work",
        "started_at": "2026-05-01T12:00:00Z",
        "metadata": {"usage": {"totalCost": 0.1}},
    },
    "Crush's session files": {
        "meta": {"id": "a", "uuid": "b", "title": "x", "cost": 0.1, "prompt_tokens": 5, "completion_tokens": 1},
        "messages": [{"role": "user", "parts": []}],
    },
}
TABLES = {
    "Goose's database": "create table sessions (id text primary key, working_dir text not null, accumulated_total_tokens integer)",
    "Crush's database": "create table sessions (id text primary key, parent_session_id text, summary_message_id text)",
    "OpenCode's database": "create table `part` (`id` text primary key, `message_id` text not null, data text)",
    "Copilot CLI's database": "create table assistant_usage_events (id integer primary key, session_id text, model text not null)",
}


def test_every_kind_has_an_example() -> None:
    assert {log.what for log in UNREAD} == {*LOGS, *TABLES}


@pytest.mark.parametrize("what", LOGS)
def test_a_log_is_one_reject_with_its_name(what: str) -> None:
    log = LOGS[what]
    texts = (
        [lines(*log), json.dumps(log), json.dumps(log, indent=2)] if isinstance(log, list) else [json.dumps(log), json.dumps(log, indent=2)]
    )
    for text in texts:
        runs, rejects = runs_in(text.encode())
        assert (runs, [detail.split(" not read yet")[0] for detail in rejects]) == ([], [f"{what} are"])


def test_a_record_quoted_in_such_a_log_is_no_run() -> None:
    quoted = json.loads(record_text())
    runs, [reject] = runs_in(json.dumps(LOGS["Amp's thread files"] | {"meta": {"found": quoted}}, indent=1).encode())
    assert (runs, reject) == ([], "Amp's thread files are not read yet")


def test_databases_are_told_by_their_tables(store: Store, tmp_path: Path) -> None:
    """Of any other there is nothing to say."""
    for number, table in enumerate([*TABLES.values(), "create table sessions (id text, total_tokens integer)"]):
        connection = sqlite3.connect(tmp_path / f"{number}.db")
        connection.execute("create table settings (name text)")
        connection.execute(table)
        connection.close()
    ingest_paths(store, *tmp_path.glob("*.db"))
    assert [detail.split(" is not read yet")[0] for _, detail in rejects_of(store)] == sorted(TABLES)
    assert {reason for reason, _ in rejects_of(store)} == {"look_alike"}
    assert runs_in_store(store) == []
