"""OpenHands: cumulative totals count once, input excludes the cache.

One line of an evaluation is one run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.store.database import Store
from tests.conftest import ingest_paths, record_text
from tests.documents import ingested, lines, read_log, runs_in, runs_in_store, tools_of

MODEL = "litellm_proxy/claude-sonnet-4-5-20250929"
CONVERSATION = "0b6a4a52-6c5c-4d0e-9a63-0f8a3c2d1e00"


def usage(prompt: int, output: int, read: int = 0, written: int = 0) -> dict[str, Any]:
    tokens = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "cache_read_tokens": read,
        "cache_write_tokens": written,
    }
    return tokens | {
        "reasoning_tokens": 0,
        "model": MODEL,
        "context_window": 200_000,
        "per_turn_token": 7,
        "response_id": "x",
    }


def metrics(
    prompt: int, output: int, cost: float = 0.5, read: int = 0, written: int = 0, **more: Any
) -> dict[str, Any]:
    return {
        "model_name": MODEL,
        "accumulated_cost": cost,
        "accumulated_token_usage": usage(prompt, output, read, written),
    } | more


def event(second: int, kind: str, source: str = "environment", **more: Any) -> dict[str, Any]:
    return (
        {
            "id": f"{second:08x}-0000-4000-8000-000000000000",
            "timestamp": f"2026-06-16T05:39:{second:02}.5",
            "source": source,
        }
        | more
        | {"kind": kind}
    )


def update(second: int, key: str, value: Any) -> dict[str, Any]:
    return event(second, "ConversationStateUpdateEvent", key=key, value=value)


def stats(second: int, *uses: dict[str, Any]) -> dict[str, Any]:
    return update(
        second,
        "stats",
        {"usage_to_metrics": {f"use{number}": use for number, use in enumerate(uses)}},
    )


def message(second: int, source: str, text: str, **more: Any) -> dict[str, Any]:
    return event(
        second,
        "MessageEvent",
        source,
        llm_message={"role": source, "content": [{"type": "text", "text": text}]},
        **more,
    )


def action(second: int, tool: str, reply: str, **inner: Any) -> dict[str, Any]:
    return event(
        second,
        "ActionEvent",
        "agent",
        tool_name=tool,
        tool_call_id=f"c{second}",
        llm_response_id=reply,
        action=inner,
    )


def result(second: int, call: int, *, is_error: bool = False) -> dict[str, Any]:
    told = {"content": [{"type": "text", "text": record_text()}], "is_error": is_error}
    return event(
        second, "ObservationEvent", tool_name="terminal", tool_call_id=f"c{call}", observation=told
    )


def conversation(*, status: str = "finished") -> list[dict[str, Any]]:
    return [
        update(0, "execution_status", "running"),
        message(1, "user", "Make it faster."),
        stats(2, metrics(100, 10, 0.1)),
        action(3, "terminal", "r1", command="ls"),
        action(4, "terminal", "r1", command="pwd"),
        result(5, 3, is_error=True),
        result(6, 4),
        stats(7, metrics(300, 30, 0.3, read=120), metrics(50, 5, 0.02)),
        action(8, "finish", "r2", message="Parsing is 2x faster."),
        update(9, "execution_status", status),
    ]


def line(**changes: Any) -> dict[str, Any]:
    history: list[Any] = [
        {
            "id": 0,
            "timestamp": "2025-03-01T10:00:00.5",
            "source": "user",
            "action": "message",
            "args": {"content": "Fix it."},
        },
        {
            "id": 1,
            "timestamp": "2025-03-01T10:00:05.5",
            "source": "agent",
            "action": "run",
            "args": {"command": "ls"},
        },
        {
            "id": 2,
            "timestamp": "2025-03-01T10:00:06.5",
            "cause": 1,
            "observation": "run",
            "extras": {"metadata": {"exit_code": 2}},
        },
        {
            "id": 3,
            "timestamp": "2025-03-01T10:01:00.5",
            "source": "agent",
            "action": "finish",
            "args": {"final_thought": "Done, 3x faster."},
        },
    ]
    return {
        "instance_id": "django__django-1",
        "test_result": {"git_patch": "", "result": {"resolved": True}},
        "instruction": "Fix the bug.",
        "metadata": {
            "agent_class": "CodeActAgent",
            "llm_config": {"model": MODEL},
            "start_time": "2025-03-01 09:00:00",
        },
        "history": history,
        "metrics": metrics(
            300,
            30,
            read=120,
            token_usages=[usage(100, 10), usage(200, 20, 120)],
            response_latencies=[{"latency": 1.5}] * 2,
        ),
        "error": None,
    } | changes


def counts(run: dict[str, Any]) -> tuple[Any, ...]:
    return run["input_tokens"], run["cache_read_tokens"], run["output_tokens"], run["tokens_basis"]


def test_a_conversation_has_its_last_totals_of_all_uses(store: Store, tmp_path: Path) -> None:
    [run] = ingested(store, tmp_path, log=lines(*conversation()))
    assert counts(run) == (230, 120, 35, "exact")
    assert (run["agent"], run["outcome"], run["num_turns"], run["cost"]) == (
        "openhands",
        "completed",
        2,
        0.32,
    )
    assert (run["result"], run["prompt"], run["record_kind"]) == (
        "Parsing is 2x faster.",
        "Make it faster.",
        "stream",
    )
    assert tools_of(store) == [("finish", 1, 0), ("terminal", 2, 1)]


@pytest.mark.parametrize(
    ("status", "error", "outcome"),
    [
        ("running", None, "interrupted"),
        ("paused", None, "interrupted"),
        ("stuck", None, "execution_error"),
        (
            "error",
            {
                "code": "MaxIterationsReached",
                "detail": "Agent reached maximum iterations limit (100).",
            },
            "max_turns",
        ),
        (
            "error",
            {"code": "LLMRateLimitError", "detail": "429: too many requests"},
            "limit_reached",
        ),
        ("error", {"code": "ValueError", "detail": "no"}, "execution_error"),
    ],
)
def test_the_status_decides_the_outcome(status: str, error: Any, outcome: str) -> None:
    events = conversation(status=status)
    [run] = read_log(
        lines(*events, *([event(10, "ConversationErrorEvent", **error)] if error else []))
    )
    assert run["outcome"] == outcome


STATE = {
    "id": CONVERSATION,
    "agent": {"kind": "Agent", "llm": {"model": MODEL}},
    "execution_status": "finished",
}
STATE_LOGS = {
    "openhands_state": json.dumps(
        STATE | {"stats": {"usage_to_metrics": {"default": metrics(300, 30, 0.3)}}}
    ),
    "openhands_named": lines(
        update(0, "full_state", STATE | {"stats": {"usage_to_metrics": {}}}), *conversation()
    ),
}


def test_a_state_and_the_events_of_a_conversation_are_one_run(store: Store, tmp_path: Path) -> None:
    [run] = ingested(store, tmp_path, **STATE_LOGS)
    assert (run["run_id"], run["session_id"], run["result"]) == (
        CONVERSATION,
        CONVERSATION,
        "Parsing is 2x faster.",
    )


def test_a_wrong_beginning_of_a_conversation_does_not_lose_the_one_before(
    store: Store, tmp_path: Path
) -> None:
    totals = {"usage_to_metrics": {"default": metrics(-1, 5)}}
    begun, wrong = (
        update(0, "full_state", {"id": CONVERSATION}),
        update(11, "full_state", {"id": "other", "stats": totals}),
    )
    [run] = ingested(store, tmp_path, log=lines(begun, *conversation(), wrong))
    assert (run["run_id"], run["outcome"]) == (CONVERSATION, "completed")
    with store.reading() as connection:
        assert connection.sql("select accepted, rejected from sources").fetchall() == [(1, 1)]


def test_lone_event_files_are_no_runs(store: Store, tmp_path: Path) -> None:
    assert (
        ingested(
            store,
            tmp_path,
            **{f"e{number}": json.dumps(one) for number, one in enumerate(conversation()[3:6])},
        )
        == []
    )


def test_a_price_that_is_unknown_is_no_cost() -> None:
    [run] = read_log(lines(update(0, "execution_status", "running"), stats(1, metrics(10, 1, 0.0))))
    assert (run["cost"], run["input_tokens"]) == (None, 10)


@pytest.mark.parametrize(
    ("read", "written", "uncached", "basis"),
    [
        (0, 0, 100, "exact"),
        (60, 0, 40, "exact"),
        (60, 30, 10, "lower_bound"),
        (60, 70, 40, "exact"),
        (500, 0, 100, "exact"),
    ],
)
def test_the_cache_is_inside_the_input(read: int, written: int, uncached: int, basis: str) -> None:
    [run] = read_log(
        lines(update(0, "execution_status", "running"), stats(1, metrics(100, 1, 1, read, written)))
    )
    assert (run["input_tokens"], run["tokens_basis"]) == (uncached, basis)


def test_wrong_totals_are_rejected_and_what_was_before_is_a_bound(
    store: Store, tmp_path: Path
) -> None:
    events = conversation()
    events[7] = stats(7, metrics(-1, 5))
    (tmp_path / "log.jsonl").write_text(lines(*events))
    report = ingest_paths(store, tmp_path / "log.jsonl")
    assert report.total("rejected") == 1
    with store.reading() as connection:
        [(detail,)] = connection.sql("select detail from rejects").fetchall()
    assert "usage_to_metrics.use0.accumulated_token_usage.prompt_tokens" in detail
    [run] = runs_in_store(store)
    assert counts(run) == (100, 0, 10, "lower_bound")


@given(st.integers(min_value=1, max_value=len(lines(*conversation()))))
def test_a_stream_cut_anywhere_has_the_totals_so_far(length: int) -> None:
    runs, _ = runs_in(lines(*conversation()).encode()[:length])
    assert len(runs) <= 1
    for run in runs:
        assert run.input_tokens in (None, 100, 230)


def test_a_line_of_an_evaluation_is_a_run(store: Store, tmp_path: Path) -> None:
    other = line(instance_id="django__django-2", test_result={"git_patch": "x"})
    runs = ingested(store, tmp_path, output=lines(line(), other), critic=lines(line()))
    assert [run["task"] for run in sorted(runs, key=lambda run: str(run["task"]))] == [
        "django__django-1",
        "django__django-2",
    ]
    [run] = [run for run in runs if run["task"] == "django__django-1"]
    assert counts(run) == (180, 120, 30, "exact")
    assert (
        run["score"],
        run["outcome"],
        run["cost"],
        run["num_turns"],
        run["duration_api_ms"],
    ) == (1.0, "completed", 0.5, 2, 3000)
    assert (run["result"], run["prompt"]) == ("Done, 3x faster.", "Fix the bug.")
    with store.reading() as connection:
        assert connection.sql("select distinct tool, calls, errors from tool_calls").fetchall() == [
            ("run", 1, 1)
        ]


def test_pairs_of_the_oldest_lines_and_running_metrics_of_events() -> None:
    events = line()["history"]
    events[3]["llm_metrics"] = metrics(40, 4, 0.2)
    events[1]["llm_metrics"] = metrics(20, 2, 0.1)
    [run] = read_log(lines(line(history=[events[:2], events[2:]], metrics=None)))
    assert (run["input_tokens"], run["cost"], run["result"]) == (40, 0.2, "Done, 3x faster.")


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("RuntimeError: Agent reached maximum iteration. Current iteration: 30", "max_turns"),
        ("AgentStuckInLoopError: Agent got stuck in a loop", "execution_error"),
        ("AgentRuntimeDisconnectedError: the runtime is gone", "unknown"),
        ("RuntimeError: Agent reached maximum budget for task", "max_budget"),
    ],
)
def test_the_error_of_a_line_says_how_it_ended(error: str, outcome: str) -> None:
    [run] = read_log(lines(line(error=error)))
    assert (run["outcome"], run["score"]) == (outcome, 1.0), (
        "how it ended is not whether it was right"
    )


def test_a_line_of_the_sdk_with_another_agent_inside() -> None:
    settings = {
        "llm": {"model": "acp/claude"},
        "agent_type": "acp-claude",
        "openhands_sdk_version": "1.58.2",
    }
    [run] = read_log(
        lines(line(history=conversation(), metadata=settings, metrics=metrics(10, 1, 2, 5000)))
    )
    assert counts(run) == (10, 5000, 1, "estimate")
    assert (run["result"], run["num_turns"]) == ("Parsing is 2x faster.", 2)


def test_a_line_with_zeros_records_nothing() -> None:
    [run] = read_log(lines(line(metrics=metrics(0, 0, 0.0))))
    assert (run["input_tokens"], run["cost"]) == (None, None)


def test_wrong_figures_of_a_line_are_rejected_by_name(store: Store, tmp_path: Path) -> None:
    assert ingested(store, tmp_path, output=lines(line(metrics=metrics(1, 1, -2.0)))) == []
    with store.reading() as connection:
        [(detail,)] = connection.sql("select detail from rejects").fetchall()
    assert "metrics.accumulated_cost" in detail


def test_predictions_are_no_runs() -> None:
    assert read_log(json.dumps({"instance_id": "x", "model_patch": "y"})) == []


LOGS = STATE_LOGS | {
    "openhands_events": lines(*conversation()),
    "openhands_events_began": lines(*conversation()[:6]),
    "openhands_output": lines(line()),
}
"""Logs of three runs: see `test_orders_of_logs`."""
