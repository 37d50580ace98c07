"""Qwen Code's messages, which look like Claude Code's, and its chats.

Whose they are, and what is inside the input.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from tests.conftest import ingest_paths, record, record_text
from tests.documents import ingested, lines, read_log, runs_in_store, tools_of
from tests.test_gemini import FLASH, counts, metrics, models_of

STARTED = datetime(2026, 6, 15, 14, tzinfo=UTC)
SESSION = "69f0814a-8bfc-4c8e-93d3-05757f17b96f"
OTHER = "79f0814a-8bfc-4c8e-93d3-05757f17b96f"


def message(kind: str, session: str = SESSION, **more: Any) -> dict[str, Any]:
    return {"type": kind, "uuid": f"{kind}-{len(more)}", "session_id": session} | more


def init(session: str = SESSION) -> dict[str, Any]:
    told = {
        "cwd": "/work",
        "model": "qwen3-coder-plus",
        "permission_mode": "yolo",
        "qwen_code_version": "0.20.0",
        "tools": ["edit"],
    }
    return message("system", session, subtype="init", **told)


def spent(
    uncached: int, read: int = 0, output: int = 0, total: int | None = None
) -> dict[str, int]:
    whole = uncached + read
    return {
        "input_tokens": whole,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "total_tokens": total or whole + output,
    }


def said(
    text: str, session: str = SESSION, model: str = "qwen3-coder-plus", **more: Any
) -> dict[str, Any]:
    content = [
        {"type": "text", "text": text},
        {"type": "tool_use", "id": f"c-{text}", "name": "edit", "input": {}},
    ]
    told = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "usage": spent(1, output=1),
    }
    return message("assistant", session, message=told, parent_tool_use_id=None, **more)


def answered(call: str, session: str = SESSION) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "is_error": True, "content": record_text()}
    return message(
        "user", session, message={"role": "user", "content": [block]}, parent_tool_use_id=None
    )


def asked(session: str = SESSION) -> dict[str, Any]:
    return message(
        "user",
        session,
        message={"role": "user", "content": [{"type": "text", "text": "Make it faster."}]},
    )


def result(session: str = SESSION, **changes: Any) -> dict[str, Any]:
    told = {
        "is_error": False,
        "duration_ms": 9000,
        "duration_api_ms": 7000,
        "num_turns": 3,
        "result": "Parsing is 2x faster.",
    }
    usage = spent(400, 600, 100)
    return message(
        "result",
        session,
        **({"subtype": "success", "usage": usage} | told | {"permission_denials": []} | changes),
    )


def failed(words: str, session: str = SESSION, **changes: Any) -> dict[str, Any]:
    """The result of a failure, with zeros as in those of sub-agents and of early failures."""
    told = {
        "is_error": True,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 0,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
    return message(
        "result",
        session,
        subtype="error_during_execution",
        error={"message": words},
        **(told | changes),
    )


def stream(*ends: dict[str, Any], session: str = SESSION) -> list[dict[str, Any]]:
    return [
        init(session),
        asked(session),
        said("I look.", session),
        answered("c-I look.", session),
        said("It is 9x.", session),
        *ends,
    ]


def line(
    number: int, kind: str, seconds: float, session: str = SESSION, **more: Any
) -> dict[str, Any]:
    stamp = (STARTED + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    told = {
        "uuid": f"u{number}",
        "parentUuid": None,
        "sessionId": session,
        "timestamp": stamp,
        "type": kind,
    }
    return told | {"cwd": "/work", "version": "0.18.1"} | more


def chat_answer(number: int, seconds: float, *parts: dict[str, Any], **more: int) -> dict[str, Any]:
    told = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 5,
        "cachedContentTokenCount": 60,
    } | more
    return line(
        number,
        "assistant",
        seconds,
        model="coder-model",
        message={"role": "model", "parts": list(parts)},
        usageMetadata=told,
    )


CALL = {"functionCall": {"id": "call_1", "name": "list_directory", "args": {}}}
RESPONSE = {
    "event.name": "qwen-code.api_response",
    "duration_ms": 47,
    "model": "coder-model",
    "input_token_count": 100,
}
CHAT = [
    line(1, "user", 0, message={"role": "user", "parts": [{"text": "Make it faster."}]}),
    line(2, "system", 1, subtype="ui_telemetry", systemPayload={"uiEvent": RESPONSE}),
    chat_answer(3, 2, {"text": "I think.", "thought": True}, CALL, totalTokenCount=125),
    line(
        4,
        "tool_result",
        3,
        message={"role": "user", "parts": []},
        toolCallResult={"callId": "call_1", "status": "error"},
    ),
    line(
        5,
        "system",
        4,
        subtype="ui_telemetry",
        systemPayload={"uiEvent": RESPONSE | {"duration_ms": 13}},
    ),
    chat_answer(6, 9, {"text": "Parsing is 2x faster."}, totalTokenCount=120),
]


@pytest.mark.parametrize("as_array", [True, False])
def test_a_stream_is_one_run_and_its_input_includes_the_cache(
    as_array: bool, store: Store, tmp_path: Path
) -> None:
    messages = stream(result())
    [run] = ingested(
        store, tmp_path, log=json.dumps(messages, indent=2) if as_array else lines(*messages)
    )
    assert (run["agent"], run["run_id"], run["outcome"], counts(run)) == (
        "qwen-code",
        SESSION,
        "completed",
        (400, 600, 100),
    )
    assert (run["duration_ms"], run["duration_api_ms"], run["num_turns"], run["cost_own_usd"]) == (
        9000,
        7000,
        3,
        None,
    )
    assert (run["result"], run["claimed_speedup"], run["prompt"]) == (
        "Parsing is 2x faster.",
        2,
        "Make it faster.",
    )
    assert models_of(store) == [("qwen3-coder-plus", 400, 600, 100, None, "exact")]
    assert tools_of(store) == [("edit", 2, 1)]
    with store.reading() as connection:
        told = connection.sql(
            "select agent_version, cwd, permission_mode, requested_model from runs"
        ).fetchall()
    assert told == [("0.20.0", "/work", "yolo", "qwen3-coder-plus")]


STATS = metrics(qwen_max=FLASH | {"total": 110, "tool": 0}, qwen_flash=FLASH)


@pytest.mark.parametrize(
    ("messages", "models"),
    [
        (
            stream(result(usage=spent(400, 600, 100, total=1150))),
            [("qwen3-coder-plus", 400, 600, 150, 50, "exact")],
        ),
        (
            stream(result(stats=STATS)),
            [("qwen-flash", 42, 60, 15, 5, "exact"), ("qwen-max", 40, 60, 10, 5, "exact")],
        ),
        (
            stream(said("x", model="other"), result()),
            [("qwen3-coder-plus", 400, 600, 100, None, "estimate")],
        ),
    ],
    ids=[
        "reasoning is what the total has beyond",
        "by model, thoughts inside with OpenAI's API",
        "several models with one total",
    ],
)
def test_tokens(
    messages: list[dict[str, Any]], models: list[tuple[Any, ...]], store: Store, tmp_path: Path
) -> None:
    ingested(store, tmp_path, log=json.dumps(messages))
    assert models_of(store) == models


@pytest.mark.parametrize(
    "one",
    [result(), result(result='It says "total_cost_usd": 9.'), failed("no key", duration_ms=5)],
)
def test_a_result_alone_is_no_run_of_claude_code(one: dict[str, Any]) -> None:
    [run] = read_log(lines(one))
    assert (run["agent"], run["record_kind"]) == ("qwen-code", "result")


@pytest.mark.parametrize(
    ("ends", "outcome", "error", "basis"),
    [
        ((), "interrupted", None, "unknown"),
        ((failed("Subagent failed"), result()), "completed", None, "exact"),
        ((result(), failed("Subagent failed")), "completed", None, "exact"),
        ((failed("Subagent failed"),), "interrupted", None, "unknown"),
        (
            (result(subtype="error_max_turns", is_error=True, error={"message": "too long"}),),
            "max_turns",
            "too long",
            "exact",
        ),
        (
            (failed("[API Error: 429 quota]", duration_ms=5),),
            "limit_reached",
            "[API Error: 429 quota]",
            "unknown",
        ),
    ],
)
def test_how_a_stream_ended(
    ends: tuple[dict[str, Any], ...], outcome: str, error: str | None, basis: str
) -> None:
    """The result of a sub-agent that failed, in the middle of the stream, is not the run's."""
    [run] = read_log(lines(*stream(*ends)))
    assert (run["outcome"], run["errors"], run["tokens_basis"]) == (outcome, error, basis)
    [run] = read_log(json.dumps([init(), failed("no key")]))
    assert (run["outcome"], run["is_error"], run["input_tokens"], run["num_turns"]) == (
        "execution_error",
        True,
        None,
        0,
    )


def test_a_resumed_session_counts_once_whatever_the_order(store: Store, tmp_path: Path) -> None:
    """The totals of the later process include those of the earlier one."""
    first, later = lines(*stream(result())), lines(*stream(result(usage=spent(500, 900, 130))))
    [run] = ingested(store, tmp_path, b=later, a=first, both=later + first)
    assert counts(run) == (500, 900, 130)


def test_messages_between_belong_to_the_stream_of_their_session(
    store: Store, tmp_path: Path
) -> None:
    """Two agents write one file at the same time; a message of neither kind tells whose it is."""
    mine = stream(result())
    theirs = [
        dict(one, session_id=OTHER)
        for one in (message("system", subtype="init", cwd="/theirs"), asked(), said("hello"))
    ]
    mixed = (
        [one for pair in zip(mine, theirs, strict=False) for one in pair]
        + mine[len(theirs) :]
        + [record(session_id=OTHER, uuid="x" * 36)]
    )
    runs = ingested(store, tmp_path, log=lines(*mixed))
    assert sorted((run["agent"], run["session_id"]) for run in runs) == [
        ("claude-code", OTHER),
        ("qwen-code", SESSION),
    ]
    assert sorted(tools_of(store)) == [("edit", 1, 0), ("edit", 2, 1)]


def test_a_stream_of_claude_code_stays_its_own() -> None:
    """Also behind one of Qwen Code, and with a figure that a proxy added to its messages."""
    theirs = [dict(one, session_id=OTHER) for one in (said("hello"), asked())]
    begun = message("system", OTHER, subtype="init", cwd="/theirs", permissionMode="default")
    text = lines(*stream(result()), begun, *theirs, record(session_id=OTHER, uuid="x" * 36))
    runs = read_log(text)
    assert sorted((run["agent"], run["outcome"]) for run in runs) == [
        ("claude-code", "completed"),
        ("qwen-code", "completed"),
    ]


def test_a_chat_is_a_run_with_the_time_of_its_api(store: Store, tmp_path: Path) -> None:
    """Thoughts are beside the candidates, or inside them where the total says so."""
    [run] = ingested(store, tmp_path, log=lines(*CHAT))
    assert (run["agent"], run["run_id"], run["outcome"], run["record_kind"]) == (
        "qwen-code",
        SESSION,
        "unknown",
        "transcript",
    )
    assert models_of(store) == [("coder-model", 80, 120, 45, 10, "exact")]
    assert (run["duration_ms"], run["duration_api_ms"], run["num_turns"]) == (9000, 60, 1)
    assert (run["result"], run["prompt"], tools_of(store)) == (
        "Parsing is 2x faster.",
        "Make it faster.",
        [("list_directory", 1, 1)],
    )


def test_lines_that_a_resume_writes_again_count_once() -> None:
    """Another response under a repeated id counts."""
    again = [
        dict(one, timestamp="2026-06-15T15:00:00Z") if one["type"] == "assistant" else one
        for one in CHAT
    ]
    [run] = read_log(
        lines(*CHAT, *again, chat_answer(3, 20, {"text": "More."}, promptTokenCount=200))
    )
    assert (counts(run), run["num_turns"], run["result"]) == ((220, 180, 70), 1, "More.")


def test_the_logs_of_a_session_are_one_run(store: Store, tmp_path: Path) -> None:
    """That their order changes nothing is tested for all agents together."""
    [run] = ingested(store, tmp_path, **SESSION_LOGS)
    assert (run["run_id"], run["outcome"], run["input_tokens"], run["output_tokens"]) == (
        SESSION,
        "completed",
        400,
        100,
    )


def test_a_transcript_of_claude_code_is_no_chat(store: Store, tmp_path: Path) -> None:
    line_of_theirs = line(
        1, "user", 0, isSidechain=False, message={"role": "user", "content": "hello"}
    )
    (tmp_path / "log.jsonl").write_text(lines(line_of_theirs))
    ingest_paths(store, tmp_path / "log.jsonl")
    assert [run["agent"] for run in runs_in_store(store)] == ["claude-code"]


SESSION_LOGS = {
    "qwen_chat": lines(*CHAT),
    "qwen_stream": lines(*stream(result())),
    "qwen_cut": lines(*stream()),
    "qwen_end": lines(result()),
}
LOGS = SESSION_LOGS | {
    "qwen_array": json.dumps(stream(result(OTHER), session=OTHER)),
    "qwen_began": lines(*stream(session=OTHER)),
    "qwen_failed": lines(failed("x", "no-uuid")),
}
"""Logs of three runs: see `test_orders_of_logs`."""
