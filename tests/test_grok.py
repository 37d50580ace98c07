"""Grok Build's three outputs: cost and tokens once, and never as Claude Code's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from ingest.store.undo import undo
from tests.documents import ingested, lines, read_log, run_of, runs_in, runs_in_store, tools_of

REQUEST = "5f5e1b0e-0000-4000-8000-00000000000{}"
IDS = {"sessionId": "abc123", "requestId": REQUEST.format(1)}
TOKENS = {
    "input_tokens": 7210,
    "cache_read_input_tokens": 41_000,
    "cache_creation_input_tokens": 0,
    "output_tokens": 1893,
}
SPENT: dict[str, Any] = {
    "num_turns": 7,
    "usage": TOKENS | {"reasoning_tokens": 412, "total_tokens": 50_103},
    "modelUsage": {
        "grok-build": {
            "inputTokens": 7210,
            "outputTokens": 1893,
            "cacheReadInputTokens": 41_000,
            "costUSD": 0.01268905,
        }
    },
    "total_cost_usd": 0.01268905,
    "total_cost_usd_ticks": 126_890_500,
}
RESULT: dict[str, Any] = {"text": "It is 2x faster.", "stopReason": "end_turn", **IDS, **SPENT}


def usage(number: int, stop: str) -> dict[str, Any]:
    told = {
        "input_tokens": 100,
        "output_tokens": 5,
        "cache_read_input_tokens": 10,
        "cache_creation_input_tokens": 0,
    }
    return {"type": "usage", "messageId": f"resp_{number}", "stopReason": stop, "usage": told}


STREAM: list[dict[str, Any]] = [
    {"type": "thought", "data": "I look "},
    {"type": "thought", "data": "at it."},
    {"type": "text", "data": "Let me look."},
    {
        "type": "tool_call",
        "toolCallId": "call_1",
        "title": "Read",
        "kind": "read",
        "status": "in_progress",
        "toolName": "read_file",
    },
    {
        "type": "tool_call_update",
        "toolCallId": "call_1",
        "status": "failed",
        "rawOutput": {"lines": 42},
    },
    usage(1, "tool_use"),
    {"type": "available_commands", "tools": [], "commands": []},
    {"type": "text", "data": "It is "},
    {"type": "text", "data": "2x faster."},
    usage(2, "end_turn"),
    {"type": "end", "stopReason": "end_turn", **IDS, **SPENT},
]


def message(role: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"role": role, "content": list(content)} | more
    return {
        "type": role,
        "message": body,
        "parent_tool_use_id": None,
        "session_id": "abc123",
        "uuid": REQUEST.format(4),
    }


HALF = {name: count // 2 for name, count in TOKENS.items()}
MESSAGES: list[dict[str, Any]] = [
    {
        "type": "system",
        "subtype": "init",
        "session_id": "abc123",
        "apiKeySource": "user",
        "model": "grok-build",
        "cwd": "/work",
        "permissionMode": "default",
        "tools": ["read_file"],
        "mcp_servers": [],
        "skills": [],
        "uuid": REQUEST.format(2),
    },
    message("user", {"type": "text", "text": "Make it faster."}),
    message(
        "assistant",
        {"type": "tool_use", "id": "c1", "name": "read_file", "input": {}},
        id="m1",
        model="grok-build",
        usage=HALF,
    ),
    message("user", {"type": "tool_result", "tool_use_id": "c1", "content": "x", "is_error": True}),
    message(
        "assistant",
        {"type": "text", "text": "It is 2x faster."},
        id="m2",
        model="grok-build",
        usage=HALF,
    ),
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 2,
        "result": "It is 2x faster.",
        "stop_reason": "end_turn",
        "total_cost_usd": 0.0127,
        "usage": TOKENS | {"server_tool_use": {"web_search_requests": 0}},
        "modelUsage": {},
        "session_id": "abc123",
        "uuid": REQUEST.format(3),
    },
]


def test_an_object_is_one_run(store: Store, tmp_path: Path) -> None:
    [run] = ingested(store, tmp_path, log=RESULT)
    assert (run["run_id"], run["agent"], run["session_id"], run["record_kind"]) == (
        REQUEST.format(1),
        "grok",
        "abc123",
        "result",
    )
    assert (run["model"], run["input_tokens"], run["cache_read_tokens"], run["output_tokens"]) == (
        "grok-build",
        7210,
        41_000,
        1893,
    )
    assert (run["cost"], run["num_turns"], run["outcome"], run["result"]) == (
        0.01268905,
        7,
        "completed",
        "It is 2x faster.",
    )
    with store.reading() as connection:
        assert connection.sql(
            "select reasoning_tokens, cost_reported_usd::double from model_usage"
        ).fetchall() == [(412, 0.01268905)]


def test_a_stream_is_one_run_with_the_totals_of_its_end(store: Store, tmp_path: Path) -> None:
    [run] = ingested(store, tmp_path, log=lines(*STREAM))
    assert (run["agent"], run["record_kind"], run["input_tokens"], run["output_tokens"]) == (
        "grok",
        "stream",
        7210,
        1893,
    )
    assert (run["cost"], run["result"], run["session_id"]) == (
        0.01268905,
        "It is 2x faster.",
        "abc123",
    )
    assert tools_of(store) == [("read_file", 1, 1)]


def test_a_stream_like_claude_codes_is_its_own(store: Store, tmp_path: Path) -> None:
    [run] = ingested(store, tmp_path, log=lines(*MESSAGES))
    assert (run["agent"], run["model"], run["input_tokens"], run["cache_read_tokens"]) == (
        "grok",
        "grok-build",
        7210,
        41_000,
    )
    assert (run["cost"], run["duration_ms"], run["cwd"], run["prompt"]) == (
        0.0127,
        None,
        "/work",
        "Make it faster.",
    )
    assert tools_of(store) == [("read_file", 1, 1)]
    assert run_of(MESSAGES[-1] | {"modelUsage": SPENT["modelUsage"]}).agent == "grok", (
        "the result alone"
    )


@pytest.mark.parametrize("stream", [MESSAGES, STREAM], ids=["messages", "own"])
def test_the_end_of_a_stream_saved_alone_is_no_other_run(
    stream: list[dict[str, Any]], store: Store, tmp_path: Path
) -> None:
    """In either order, and a run again where the ingest of the stream is undone."""
    [_] = ingested(store, tmp_path, end=json.dumps(stream[-1]))
    [run] = ingested(store, tmp_path, log=lines(*stream))
    [again] = ingested(store, tmp_path, copy=json.dumps(stream[-1], indent=1))
    assert (run["record_kind"], run["run_id"], run["cost"]) == (
        "stream",
        again["run_id"],
        again["cost"],
    )
    undo(store, 2)
    [alone] = runs_in_store(store)
    assert (alone["record_kind"], alone["cost"]) == ("result", run["cost"])


def test_claude_code_may_ask_grok() -> None:
    """Through a gateway: it says its version, and what was denied."""
    init = MESSAGES[0] | {"claude_code_version": "2.1.0", "tools": ["Bash"]}
    result = MESSAGES[-1] | {
        "modelUsage": {"grok-4": {"inputTokens": 1, "outputTokens": 1}},
        "permission_denials": [],
    }
    assert [run["agent"] for run in read_log(lines(init, *MESSAGES[1:-1], result))] == [
        "claude-code"
    ]
    assert run_of(result).agent == "claude-code"


@pytest.mark.parametrize(("stream", "responses"), [(STREAM, 2), (MESSAGES, 2)])
def test_a_stream_read_again_as_it_grows_is_one_run(
    store: Store, tmp_path: Path, stream: list[dict[str, Any]], responses: int
) -> None:
    """Cut off, it was interrupted, and has the tokens of its responses."""
    for cut in (4, len(stream) - 1):
        [run] = ingested(store, tmp_path, log=lines(*stream[:cut]))
    assert (run["outcome"], run["num_turns"], run["tokens_basis"]) == (
        "interrupted",
        responses,
        "lower_bound",
    )
    assert run["output_tokens"] == responses * (5 if stream is STREAM else 946)
    [run] = ingested(store, tmp_path, log=lines(*stream))
    assert (run["outcome"], run["output_tokens"], len(runs_in_store(store))) == (
        "completed",
        1893,
        1,
    )


def test_a_stream_without_a_response_says_so() -> None:
    runs, [reject] = runs_in(lines(*STREAM[:3]).encode())
    assert (runs, reject.partition(":")[0]) == (
        [],
        "a stream of Grok Build without a response or an end",
    )


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("EndTurn", "completed"),
        ("max_tokens", "limit_reached"),
        ("MaxTurnRequests", "max_turns"),
        ("refusal", "refused"),
        ("cancelled", "interrupted"),
        ("unheard_of", "unknown"),
    ],
)
def test_why_it_stopped_is_the_outcome(reason: str, outcome: str) -> None:
    assert run_of(RESULT | {"stopReason": reason}).outcome == outcome


@pytest.mark.parametrize("before", [0, 6])
def test_an_error_with_figures_is_a_failed_run(before: int) -> None:
    [run] = read_log(
        lines(*STREAM[:before], {"type": "error", "message": "429 Too many requests", **SPENT})
    )
    assert (run["outcome"], run["errors"], run["cost"]) == (
        "limit_reached",
        "429 Too many requests",
        0.01268905,
    )
    assert read_log(lines({"type": "error", "message": "Couldn't start session"})) == []


@pytest.mark.parametrize(
    ("changes", "cost", "basis"),
    [
        ({"cost_is_partial": True}, None, "exact"),
        ({"usage_is_incomplete": True}, None, "lower_bound"),
        ({"total_cost_usd": 0.0, "total_cost_usd_ticks": 0}, None, "exact"),
        ({"total_cost_usd_ticks": None}, 0.01268905, "exact"),
        ({"usage": {}, "modelUsage": {}}, 0.01268905, "unknown"),
    ],
)
def test_what_is_not_complete_is_not_told(
    changes: dict[str, Any], cost: float | None, basis: str
) -> None:
    [run] = read_log(json.dumps(RESULT | changes))
    assert (run["cost"], run["tokens_basis"]) == (cost, basis)


def test_a_total_without_the_cache_shows_that_input_includes_it() -> None:
    inside = {"input_tokens": 48_210, "total_tokens": 50_103}
    models = {"grok-build": SPENT["modelUsage"]["grok-build"] | {"inputTokens": 48_210}}
    run = run_of(RESULT | {"usage": SPENT["usage"] | inside, "modelUsage": models})
    assert (run.input_tokens, run.cache_read_tokens) == (7210, 41_000)


def test_pieces_of_another_programs_text_are_no_run() -> None:
    assert (
        read_log(
            lines(
                {"type": "text", "data": "Hi"},
                {"type": "error", "message": "x"},
                {"type": "text", "data": "Ho"},
            )
        )
        == []
    )


LOGS = {
    "grok": lines(*STREAM),
    "grok_began": lines(*STREAM[:-1]),
    "grok_messages": lines(*MESSAGES),
    "grok_end": lines(MESSAGES[-1]),
}
"""Logs of two runs: see `test_orders_of_logs`."""
