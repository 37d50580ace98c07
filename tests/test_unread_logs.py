"""Logs of agents without a reader: one reject with their name, whatever else is in them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from app.queries import quality
from app.text import ingests
from ingest.store.database import Store
from schemas.unread_logs import AGENT_BY_DETAIL, OLDER_CODEX, UNREAD, UNREAD_RESULTS
from tests.conftest import Run, ingest_paths, record_text
from tests.documents import lines, rejects_of, runs_in, runs_in_store

LOGS: dict[str, Any] = {
    "Amp's thread files": {
        "v": 3,
        "id": "T-5a1f",
        "created": 1_770_000_000_000,
        "messages": [{"role": "user", "content": []}],
    },
    "Factory Droid's session files": [
        {"type": "session_start", "id": "a", "title": "x", "cwd": "/work", "version": 2},
        {
            "type": "message",
            "id": "m1",
            "timestamp": "2026-05-01T12:00:00Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        },
    ],
    "Factory Droid's streams": [
        {
            "type": "completion",
            "finalText": "Done.",
            "numTurns": 1,
            "durationMs": 9,
            "session_id": "s",
        }
    ],
    "Goose's outputs": {
        "messages": [{"role": "user", "content": []}],
        "metadata": {"total_tokens": 17_099, "status": "completed"},
    },
    "Goose's streams": [
        {
            "type": "message",
            "message": {"id": "m", "role": "assistant", "created": 1, "content": []},
        },
        {"type": "complete", "total_tokens": 17_099},
    ],
    "Goose's session files": {
        "id": "20260501_1",
        "working_dir": "/work",
        "accumulated_usage": {"input_tokens": 5},
        "conversation": [],
    },
    "Task files of Cline, Roo Code and Kilo Code": [
        {"ts": 1_770_000_000_000, "type": "say", "say": "text", "text": "Make it faster."},
        {
            "ts": 1_770_000_000_001,
            "type": "say",
            "say": "api_req_started",
            "text": '{"tokensIn":5,"tokensOut":1,"cost":0.1}',
        },
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
    "Event logs of Claude Managed Agents": [
        {
            "role": "system",
            "kind": "status_running",
            "raw": {"id": "sevt_1", "type": "session.status_running"},
        },
        {
            "role": "system",
            "kind": "end",
            "raw": {
                "id": "sevt_2",
                "type": "span.model_request_end",
                "model_usage": {"output_tokens": 1},
            },
        },
    ],
    "Crush's session files": {
        "meta": {
            "id": "a",
            "uuid": "b",
            "title": "x",
            "cost": 0.1,
            "prompt_tokens": 5,
            "completion_tokens": 1,
        },
        "messages": [{"role": "user", "parts": []}],
    },
}


def _kiro(kind: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"version": "v1", "kind": kind, "data": {"message_id": "m", "content": list(content)}}


LOGS |= {
    "Factory Droid's settings of sessions": {
        "model": "gpt-5",
        "tokenUsage": {"inputTokens": 5, "thinkingTokens": 1, "factoryCredits": 9},
    },
    "Message histories of Cline, Roo Code and Kilo Code": [
        {"role": "user", "content": [{"type": "text", "text": "<task>\nMake it faster.\n</task>"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ],
    "Task lists of Cline, Roo Code and Kilo Code": [
        {
            "id": "a",
            "number": 1,
            "ts": 1_770_000_000_000,
            "task": "Faster",
            "tokensIn": 5,
            "tokensOut": 1,
            "totalCost": 0.1,
        }
    ],
    "Kiro's session files": [
        _kiro("Prompt", {"kind": "text", "data": "Make it faster."}),
        _kiro("AssistantMessage", {"kind": "text", "data": "Done."}),
    ],
    "Kiro's states of sessions": {
        "session_id": "s",
        "cwd": "/work",
        "title": "x",
        "session_state": {"rts_model_state": {}},
    },
    "Kiro's chat files": {
        "executionId": "e",
        "actionId": "act",
        "context": [],
        "chat": [{"role": "human", "content": "Hi"}],
        "metadata": {},
    },
    "Mistral Vibe's session files": {
        "session_id": "s",
        "start_time": "2026-05-01",
        "stats": {"steps": 2, "session_prompt_tokens": 5},
    },
    "gptme's conversations": [
        {
            "role": "system",
            "content": "You are gptme, a general-purpose AI assistant.",
            "timestamp": "2026-05-01T12:00:00",
        },
        {"role": "user", "content": "Make it faster.", "timestamp": "2026-05-01T12:00:01"},
    ],
    "Session files of Continue, or of Kiro's editor": {
        "sessionId": "s",
        "title": "x",
        "workspaceDirectory": "/work",
        "history": [],
    },
    "Continue's events of development data": [
        {"eventName": "tokensGenerated", "schema": "0.2.0", "promptTokens": 5, "generatedTokens": 1}
    ],
    "Zed's thread files": {
        "version": "0.3.0",
        "messages": [],
        "cumulative_token_usage": {},
        "request_token_usage": {},
    },
    "Antigravity's result records": {
        "conversation_id": "c",
        "status": "success",
        "duration_seconds": 1.5,
        "usage": {"input_tokens": 5},
    },
    "Antigravity's transcripts": [
        {
            "step_index": 0,
            "source": "USER_EXPLICIT",
            "type": "USER_INPUT",
            "content": "Make it faster.",
        },
        {"step_index": 1, "source": "MODEL", "type": "PLANNER_RESPONSE", "status": "DONE"},
        {"step_index": 2, "source": "MODEL", "type": "RUN_COMMAND", "status": "DONE"},
    ],
    "Augment's session files": {"sessionId": "s", "created": "2026-05-01", "chatHistory": []},
    "Session files of Copilot Chat": {
        "version": 3,
        "responderUsername": "GitHub Copilot",
        "requests": [],
    },
    "Transcripts of Cursor's editor": [
        {"role": "user", "message": {"content": [{"type": "text", "text": "Make it faster."}]}}
    ],
    "Sessions in OpenCode's storage": {
        "id": "ses_1",
        "projectID": "p",
        "directory": "/work",
        "version": "1.0",
        "time": {"created": 1},
    },
    "Updates by ACP, as in Grok Build's sessions": [
        {
            "method": "session/update",
            "params": {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk"}},
        },
        {
            "method": "_x.ai/session/update",
            "params": {"sessionId": "s", "update": {"sessionUpdate": "turn_completed"}},
        },
    ],
    "Claude Code telemetry in a file": [{"attributes": {"event.name": "claude_code.api_request"}}],
    "Codex telemetry in a file": [{"attributes": {"event.name": "codex.sse_event"}}],
    "Gemini CLI telemetry in a file": [
        {"attributes": {"event.name": "gemini_cli.api_response"}, "body": "x"}
    ],
    "Qwen Code telemetry in a file": [
        {"attributes": {"event.name": "qwen-code.api_response"}, "body": "x"}
    ],
}
OF_CRUSH = (
    "create table sessions (id text primary key, parent_session_id text, summary_message_id text)"
)
TABLES = {
    ("Goose's database"): (
        "create table sessions (id text primary key, working_dir text not null, "
        "accumulated_total_tokens integer)"
    ),
    ("Kiro's database"): (
        "create table conversations_v2 (key text, conversation_id text, value text, created_at "
        "integer)"
    ),
    ("Zed's database"): (
        "create table threads (id text primary key, summary text, updated_at text, data_type "
        "text, data blob)"
    ),
    ("Database of Cursor's editor"): (
        "create table cursorDiskKV (key text unique on conflict replace, value blob)"
    ),
    ("Crush's database"): (
        f"{OF_CRUSH}; create table messages (id text primary key, parts text, model text, "
        "provider text)"
    ),
    ("Database of OpenCode before 2025-09"): (
        f"{OF_CRUSH}; create table messages (id text primary key, parts text, model text)"
    ),
    ("OpenCode's database"): (
        "create table `part` (`id` text primary key, `message_id` text not null, data text)"
    ),
    ("Copilot CLI's database"): (
        "create table assistant_usage_events (id integer primary key, session_id text, model "
        "text not null)"
    ),
}


def test_every_kind_has_an_example() -> None:
    assert {log.what for log in UNREAD} == {*LOGS, *TABLES}


@pytest.mark.parametrize("what", LOGS)
def test_a_log_is_one_reject_with_its_name(what: str) -> None:
    log = LOGS[what]
    texts = (
        [lines(*log), json.dumps(log), json.dumps(log, indent=2)]
        if isinstance(log, list)
        else [json.dumps(log), json.dumps(log, indent=2)]
    )
    for text in texts:
        runs, rejects = runs_in(text.encode())
        verb = "is" if "telemetry" in what else "are"
        assert (runs, [detail.split(" not read yet")[0] for detail in rejects]) == (
            [],
            [f"{what} {verb}"],
        )


def test_a_record_quoted_in_such_a_log_is_no_run() -> None:
    quoted = json.loads(record_text())
    runs, [reject] = runs_in(
        json.dumps(LOGS["Amp's thread files"] | {"meta": {"found": quoted}}, indent=1).encode()
    )
    assert (runs, reject) == ([], "Amp's thread files are not read yet")


def test_databases_are_told_by_their_tables(store: Store, tmp_path: Path) -> None:
    """Of any other there is nothing to say."""
    for number, table in enumerate(
        [*TABLES.values(), "create table sessions (id text, total_tokens integer)"]
    ):
        connection = sqlite3.connect(tmp_path / f"{number}.db")
        connection.execute("create table settings (name text)")
        connection.executescript(table)
        connection.close()
    ingest_paths(store, *tmp_path.glob("*.db"))
    assert [detail.split(" is not read yet")[0] for _, detail in rejects_of(store)] == sorted(
        TABLES
    )
    assert {reason for reason, _ in rejects_of(store)} == {"look_alike"}
    assert runs_in_store(store) == []


def test_every_log_is_called_by_one_agent() -> None:
    """An ingest counts by the words of a reject."""
    assert len(AGENT_BY_DETAIL) == len({*UNREAD, *UNREAD_RESULTS, OLDER_CODEX})


@pytest.mark.parametrize("keeps_text", [True, False])
def test_files_are_counted_by_their_agent(
    tachograph: Run, tmp_path: Path, keeps_text: bool
) -> None:
    """At the end of an ingest, in the list of sources and on the screen of quality."""
    whose = {
        "a": "Kiro's session files",
        "b": "Kiro's chat files",
        "c": "Claude Code telemetry in a file",
    }
    (tmp_path / "logs").mkdir()
    for name, what in whose.items():
        log = LOGS[what]
        (tmp_path / "logs" / f"{name}.jsonl").write_text(
            lines(*log) if isinstance(log, list) else json.dumps(log)
        )
    (tmp_path / "logs" / "other.json").write_text('{"a": 1}')
    said = tachograph("ingest", "logs", *(() if keeps_text else ("--no-text",)))
    counted = "2 files of Kiro, 1 of Claude Code telemetry, which are not read"
    assert counted in said.stderr
    listed = json.loads(tachograph("sources", "--format", "json").stdout)
    kinds = {Path(row["name"]).stem: row["kind"] for row in listed}
    assert kinds == {
        "a": "not read: Kiro",
        "b": "not read: Kiro",
        "c": "not read: Claude Code telemetry",
        "other": "json",
    }
    store = Store(tmp_path / "tachograph.duckdb")
    assert ingests.unread(quality.unread(store)) == counted
    assert {row["kind"] for row in quality.sources(store, 9).to_pylist()} == set(kinds.values())
