"""Gemini CLI's four kinds of logs.

What is inside the input, what is beside the output, and each response once.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from tests.conftest import ingest_paths, record_text
from tests.documents import ingested, lines, read_log, runs_in, runs_in_store, tools_of

STARTED = datetime(2026, 5, 1, 12, tzinfo=UTC)
SESSION = "1a3ec2b5-8d13-437b-a47f-f0924b26b4a3"
OTHER = "2b3ec2b5-8d13-437b-a47f-f0924b26b4a3"


def at(seconds: float) -> str:
    return (STARTED + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def metrics(**models: dict[str, Any]) -> dict[str, Any]:
    told = {
        name.replace("_", "-"): {
            "api": {"totalRequests": 2, "totalErrors": 0, "totalLatencyMs": 700.6},
            "tokens": tokens,
        }
        for name, tokens in models.items()
    }
    tools = {
        "totalCalls": 3,
        "totalSuccess": 2,
        "totalFail": 1,
        "byName": {"read_file": {"count": 3, "success": 2, "fail": 1}},
    }
    return {"models": told, "tools": tools, "files": {"totalLinesAdded": 1, "totalLinesRemoved": 0}}


FLASH: dict[str, Any] = {
    "prompt": 100,
    "candidates": 10,
    "total": 117,
    "cached": 60,
    "thoughts": 5,
    "tool": 2,
    "input": 40,
}
PRO: dict[str, Any] = {
    "prompt": 1000,
    "candidates": 100,
    "total": 1150,
    "cached": 0,
    "thoughts": 50,
    "tool": 0,
}


def output(**changes: Any) -> dict[str, Any]:
    stats = metrics(gemini_flash=FLASH, gemini_pro=PRO)
    return {"session_id": SESSION, "response": "Parsing is 2x faster.", "stats": stats} | changes


def event(seconds: float, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": at(seconds)} | more


def said(seconds: float, text: str, **more: Any) -> dict[str, Any]:
    return event(seconds, "message", role="assistant", content=text, **({"delta": True} | more))


def result(seconds: float, **stats: Any) -> dict[str, Any]:
    told = {
        "total_tokens": 1150,
        "input_tokens": 1000,
        "output_tokens": 100,
        "cached": 600,
        "input": 400,
        "duration_ms": 9000,
        "tool_calls": 1,
    }
    return event(seconds, "result", status="success", stats=told | stats)


def stream(
    *ends: dict[str, Any], session: str = SESSION, model: str = "gemini-3-pro-preview"
) -> str:
    return lines(
        event(0, "init", session_id=session, model=model),
        event(0, "message", role="user", content="Make it faster."),
        said(1, "I look at it. It is 9x"),
        said(1, " slower."),
        event(
            2, "tool_use", tool_name="run_shell_command", tool_id="c1", parameters={"command": "ls"}
        ),
        event(
            3,
            "tool_result",
            tool_id="c1",
            status="error",
            output=record_text(),
            error={"type": "x", "message": "no"},
        ),
        said(4, "Parsing is "),
        said(5, "2x faster."),
        *ends,
    )


def tokens(uncached: int, read: int = 0, output: int = 0, thoughts: int = 0) -> dict[str, int]:
    total = uncached + read + output + thoughts
    return {
        "input": uncached + read,
        "output": output,
        "cached": read,
        "thoughts": thoughts,
        "tool": 0,
        "total": total,
    }


def answer(name: str, seconds: float, text: str = "", **more: Any) -> dict[str, Any]:
    told = {"tokens": tokens(10, 90, 5, 3), "model": "gemini-2.5-pro", "thoughts": []}
    return {"id": name, "timestamp": at(seconds), "type": "gemini", "content": text} | told | more


def user(name: str, seconds: float, text: Any = "Make it faster.") -> dict[str, Any]:
    return {"id": name, "timestamp": at(seconds), "type": "user", "content": text}


def header(session: str = SESSION, **more: Any) -> dict[str, Any]:
    return {
        "sessionId": session,
        "projectHash": "9da8",
        "startTime": at(0),
        "lastUpdated": at(0),
    } | more


def calls(*states: str) -> list[dict[str, Any]]:
    return [
        {"id": f"t{number}", "name": "read_file", "args": {}, "status": state}
        for number, state in enumerate(states)
    ]


CHAT = lines(
    header(kind="main"),
    user("u1", 1, [{"text": "Make it faster."}]),
    answer("g1", 2),
    {"$set": {"lastUpdated": at(2)}},
    answer("g1", 2, toolCalls=calls("success", "error")),
    user("u2", 3),
    answer("g2", 4, "Parsing is 2x faster.", model="gemini-2.5-flash"),
    {"$set": {"lastUpdated": at(9)}},
)


def models_of(store: Store) -> list[tuple[Any, ...]]:
    with store.reading() as connection:
        return connection.sql(
            "select model_id, input_tokens, cache_read_tokens, output_tokens, "
            "reasoning_tokens, tokens_basis from model_usage order by 1"
        ).fetchall()


def counts(run: dict[str, Any]) -> tuple[int | None, int | None, int | None]:
    return run["input_tokens"], run["cache_read_tokens"], run["output_tokens"]


@pytest.mark.parametrize("before", ["", "Loaded cached credentials.\n"])
def test_an_object_has_its_tokens_by_model(before: str, store: Store, tmp_path: Path) -> None:
    """Thoughts are beside the candidates, cache reads inside the prompt.

    A line of stderr may come first.
    """
    [run] = ingested(store, tmp_path, log=before + json.dumps(output(), indent=2))
    assert models_of(store) == [
        ("gemini-flash", 42, 60, 15, 5, "exact"),
        ("gemini-pro", 1000, 0, 150, 50, "exact"),
    ]
    assert (run["session_id"], run["agent"], run["outcome"], run["record_kind"]) == (
        SESSION,
        "gemini-cli",
        "completed",
        "result",
    )
    assert (run["duration_ms"], run["duration_api_ms"], run["claimed_speedup"]) == (None, 1401, 2)
    assert (run["cache_write_tokens"], run["cost_own_usd"], tools_of(store)) == (
        0,
        None,
        [("read_file", 3, 1)],
    )


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (
            {
                "type": "FatalTurnLimitedError",
                "message": "Reached max session turns for this session.",
                "code": 53,
            },
            "max_turns",
        ),
        (
            {"type": "FatalCancellationError", "message": "Operation cancelled.", "code": 130},
            "interrupted",
        ),
        (
            {
                "type": "Error",
                "message": "[API Error: You exceeded your current quota]",
                "code": 429,
            },
            "limit_reached",
        ),
        ({"type": "Error", "message": "it broke", "code": 503}, "api_error"),
        ({"type": "FatalInputError", "message": "No input provided via stdin."}, "execution_error"),
    ],
)
def test_an_error_alone_is_a_run(error: dict[str, Any], outcome: str) -> None:
    """Old versions write no session.

    Then the id comes from the content, and the same text is the same run.
    """
    [run], [again] = read_log({"error": error}), read_log({"error": error})
    assert run["run_id"] == again["run_id"]
    assert (run["outcome"], run["is_error"], run["errors"], counts(run)) == (
        outcome,
        True,
        error["message"],
        (None, None, None),
    )


@pytest.mark.parametrize(
    "value",
    [
        {
            "error": {
                "message": "no key",
                "type": "invalid_request_error",
                "param": None,
                "code": "x",
            }
        },
        {"error": {"code": 400, "message": "bad", "status": "INVALID_ARGUMENT"}},
        {"response": "x", "stats": {"hp": 3}},
        {"sessionId": "x", "messages": []},
        {"$set": {"name": "x"}},
        {"type": "message", "role": "user", "content": "hello"},
    ],
)
def test_what_looks_alike_is_no_run(value: dict[str, Any]) -> None:
    assert read_log(value) == []


def test_a_stream_is_one_run_with_its_hidden_reasoning(store: Store, tmp_path: Path) -> None:
    """The record in the output of a tool is none of ours.

    Pieces of text before the last tool are no final text.
    """
    [run] = ingested(store, tmp_path, log=stream(result(6)))
    assert models_of(store) == [("gemini-3-pro-preview", 400, 600, 150, 50, "estimate")]
    assert (run["result"], run["claimed_speedup"], run["prompt"]) == (
        "Parsing is 2x faster.",
        2,
        "Make it faster.",
    )
    assert (run["outcome"], run["duration_ms"], run["started_at"], run["session_id"]) == (
        "completed",
        9000,
        STARTED,
        SESSION,
    )
    assert tools_of(store) == [("run_shell_command", 1, 1)]


def test_totals_by_model_come_before_the_one_for_all(store: Store, tmp_path: Path) -> None:
    """`auto` is a wish and no model."""
    told = {
        name: {
            "total_tokens": 75,
            "input_tokens": 60,
            "output_tokens": 10,
            "cached": 20,
            "input": 40,
        }
        for name in ("flash", "pro")
    }
    ingested(store, tmp_path, log=stream(result(6, models=told), model="auto"))
    assert models_of(store) == [("flash", 40, 20, 15, 5, "exact"), ("pro", 40, 20, 15, 5, "exact")]
    ingested(store, tmp_path, more=stream(result(6), model="auto", session=OTHER))
    assert (None, 400, 600, 150, 50, "estimate") in models_of(store)


@pytest.mark.parametrize(
    ("ends", "outcome", "error"),
    [
        ((), "interrupted", None),
        (
            (
                event(6, "error", severity="warning", message="Loop detected, stopping execution"),
                result(7),
            ),
            "completed",
            None,
        ),
        (
            (event(6, "error", severity="error", message="Maximum session turns exceeded"),),
            "max_turns",
            "Maximum session turns exceeded",
        ),
        (
            (
                event(
                    6,
                    "result",
                    status="error",
                    error={"type": "Error", "message": "[API Error: overloaded]"},
                ),
            ),
            "api_error",
            "[API Error: overloaded]",
        ),
    ],
)
def test_how_a_stream_ended(
    ends: tuple[dict[str, Any], ...], outcome: str, error: str | None
) -> None:
    [run] = read_log(stream(*ends))
    assert (run["outcome"], run["errors"]) == (outcome, error)
    assert (run["tokens_basis"] == "unknown") == (outcome != "completed")


def test_a_chat_counts_the_last_version_of_each_message(store: Store, tmp_path: Path) -> None:
    [run] = ingested(store, tmp_path, log=CHAT)
    assert models_of(store) == [
        ("gemini-2.5-flash", 10, 90, 8, 3, "exact"),
        ("gemini-2.5-pro", 10, 90, 8, 3, "exact"),
    ]
    assert (run["num_turns"], run["duration_ms"], run["result"], run["prompt"]) == (
        2,
        9000,
        "Parsing is 2x faster.",
        "Make it faster.",
    )
    assert (run["outcome"], run["record_kind"], tools_of(store)) == (
        "unknown",
        "transcript",
        [("read_file", 2, 1)],
    )


def test_a_chat_of_one_object_is_the_same_run() -> None:
    """The file of an older version was copied into JSON lines when its session was resumed."""
    messages = [user("u1", 1), answer("g1", 2, toolCalls=calls("success", "error"))]
    old = header(messages=messages, lastUpdated=at(3))
    assert [counts(run) for run in read_log(old)] == [(10, 90, 8)]
    [run] = read_log(CHAT)
    assert (counts(run), run["run_id"]) == ((20, 180, 16), SESSION)


def test_messages_that_were_taken_back_were_paid() -> None:
    """Their text is not the final one."""
    more = lines(
        {"$rewindTo": "u2"},
        answer("g3", 12, tokens=None),
        {"$set": {"messages": [user("u1", 1), answer("g1", 2, "Final.")]}},
    )
    [run] = read_log(CHAT + more)
    assert (counts(run), run["result"], run["tokens_basis"]) == (
        (20, 180, 16),
        "Final.",
        "lower_bound",
    )


def test_zeros_are_no_counts(store: Store, tmp_path: Path) -> None:
    """In 2025 some responses have zeros in place of their tokens."""
    ingested(
        store,
        tmp_path,
        log=header(messages=[answer("g1", 1, "x", tokens=tokens(0)), answer("g2", 2, "y")]),
    )
    ingested(store, tmp_path, none=header(OTHER, messages=[answer("g1", 1, "x", tokens=tokens(0))]))
    assert models_of(store) == [
        ("gemini-2.5-pro", 10, 90, 8, 3, "lower_bound"),
        ("gemini-2.5-pro", None, None, None, None, "unknown"),
    ]


def test_a_sub_agent_is_a_run_of_its_own(store: Store, tmp_path: Path) -> None:
    """Older versions gave it the session of its parent."""
    child = lines(header(kind="subagent", startTime=at(2)), answer("s1", 3, "Found it."))
    runs = ingested(store, tmp_path, main=CHAT, child=child)
    assert sorted((run["parent_run_id"] or "", *counts(run)) for run in runs) == [
        ("", 20, 180, 16),
        (SESSION, 10, 90, 8),
    ]


def test_of_the_logs_of_a_process_the_one_with_the_most_tokens_counts(
    store: Store, tmp_path: Path
) -> None:
    """It counts helper models too.

    That the order of logs changes nothing is tested for all agents together.
    """
    [run] = ingested(store, tmp_path, **SESSION_LOGS)
    assert (run["outcome"], counts(run)) == ("completed", (400, 600, 150))
    [run] = ingested(
        Store(tmp_path / "other.duckdb"), tmp_path, chat=CHAT, output=json.dumps(output())
    )
    assert (run["outcome"], counts(run)) == ("completed", (1042, 60, 165))


def test_each_process_of_a_resumed_session_counts_and_a_chat_of_all_holds_them(
    store: Store, tmp_path: Path
) -> None:
    """The counters of a process without a screen begin at 0 when it resumes a session.

    A copy of an output is no run.
    """
    small = {"prompt": 40, "candidates": 10, "total": 50, "cached": 0, "thoughts": 0, "tool": 0}
    first, second = (
        output(stats=metrics(pro=small | {"input": 40}), response=text) for text in ("One.", "Two.")
    )
    runs = ingested(store, tmp_path, first=first, second=second, copy=json.dumps(second, indent=1))
    assert [counts(run) for run in runs] == [(40, 0, 10)] * 2
    [run] = ingested(store, tmp_path, chat=CHAT)
    assert (run["run_id"], run["record_kind"]) == (SESSION, "transcript")
    later = stream(result(6)).replace(at(0)[:16], at(3600)[:16])
    runs = ingested(
        Store(tmp_path / "streams.duckdb"),
        tmp_path,
        both=stream(result(6)) + later,
        began=later[: len(later) // 2],
    )
    assert [counts(run) for run in runs] == [(400, 600, 150)] * 2, (
        "also in one log, and as it grows"
    )


def test_an_event_of_an_unknown_type_is_passed_over() -> None:
    begun, rest = stream(result(6)).split("\n", 1)
    newer = json.dumps(json.loads(begun) | {"type": "checkpoint"})
    [run], rejects = runs_in(f"{begun}\n{newer}\n{rest}".encode())
    assert (run.outcome, rejects) == ("completed", [])


def test_streams_of_other_agents_in_the_same_file_stay_theirs() -> None:
    codex = lines(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "error", "message": "Reconnecting... 1/5"},
        {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 1}},
    )
    runs = read_log(
        codex
        + stream(event(6, "error", severity="warning", message="x"), result(7))
        + record_text()
        + "\n"
    )
    assert sorted((run["agent"], run["outcome"], run["input_tokens"]) for run in runs)[1:] == [
        ("codex", "completed", 7),
        ("gemini-cli", "completed", 400),
    ]
    assert len(runs) == 3


@pytest.mark.parametrize(
    "text",
    [json.dumps(output(), indent=2), json.dumps(header(messages=[answer("g1", 1)]), indent=2)],
)
def test_a_torn_object_is_rejected(text: str, store: Store, tmp_path: Path) -> None:
    (tmp_path / "torn.json").write_text(text[: len(text) * 2 // 3])
    report = ingest_paths(store, tmp_path / "torn.json")
    assert (report.total("rejected"), runs_in_store(store)) == (1, [])


SESSION_LOGS = {
    "gemini_chat": CHAT,
    "gemini_same": stream(result(6)),
    "gemini_again": stream(result(6)) * 2,
    "gemini_cut": stream(),
}
LOGS = SESSION_LOGS | {
    "gemini_stream": stream(result(6), session=OTHER),
    "gemini_stream_began": stream(session=OTHER),
    "gemini_error": json.dumps({"error": {"type": "Error", "message": "it broke"}}),
    "gemini_output": json.dumps(output(session_id="3" + OTHER[1:])),
}
"""Logs of four runs: see `test_orders_of_logs`."""
