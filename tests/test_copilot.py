"""Copilot's sessions: a resumed session's roll-ups once, premium requests, stream, older files.

Premium requests are beside dollars; the stream is the printed one.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from tests.conftest import record_text
from tests.documents import ingested, lines, read_log, tools_of

SESSION = "96ef38f0-0000-4000-8000-000000000001"
MODEL = "claude-sonnet-4.6"
BEGAN = datetime(2026, 4, 23, 17, tzinfo=UTC)


def at(seconds: float) -> str:
    return (BEGAN + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def event(seconds: float, kind: str, **data: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "data": data,
        "id": f"e{seconds}-{kind}",
        "timestamp": at(seconds),
        "parentId": None,
    }


def start() -> dict[str, Any]:
    place = {
        "cwd": "/work",
        "branch": "main",
        "headCommit": "ac2996d",
        "repository": "vllm-project/vllm",
    }
    return event(
        0,
        "session.start",
        sessionId=SESSION,
        copilotVersion="1.0.34",
        startTime=at(0),
        selectedModel=MODEL,
        context=place,
    )


def turn(seconds: float, output: int = 10) -> list[dict[str, Any]]:
    """What happens between a prompt and the last message."""
    return [
        event(seconds, "user.message", content="Make it faster."),
        event(seconds, "assistant.turn_start", turnId="0"),
        event(
            seconds + 1,
            "assistant.message",
            content="I look.",
            outputTokens=output - 1,
            toolRequests=[],
        ),
        event(seconds + 1, "tool.execution_start", toolCallId=f"c{seconds}", toolName="bash"),
        event(
            seconds + 2,
            "tool.execution_complete",
            toolCallId=f"c{seconds}",
            success=False,
            result={"content": record_text()},
        ),
        event(
            seconds + 3,
            "assistant.message",
            content="Look at this.",
            outputTokens=0,
            parentToolCallId="c9",
        ),
        event(seconds + 3, "assistant.message", content="It is 2x faster.", outputTokens=1),
    ]


def shutdown(
    seconds: float, uncached: int, read: int = 0, output: int = 10, premium: float = 1, **more: Any
) -> dict[str, Any]:
    usage = {
        "inputTokens": uncached + read + 3,
        "outputTokens": output,
        "cacheReadTokens": read,
        "cacheWriteTokens": 3,
        "reasoningTokens": 0,
    }
    metrics = {MODEL: {"requests": {"count": 6, "cost": premium}, "usage": usage}}
    told = {
        "shutdownType": "routine",
        "totalPremiumRequests": premium,
        "totalApiDurationMs": 1000 * output,
        "modelMetrics": metrics,
    }
    return event(seconds, "session.shutdown", **(told | more))


def whole() -> list[dict[str, Any]]:
    return [start(), *turn(1), shutdown(9, 100, 50)]


def printed(**more: Any) -> list[dict[str, Any]]:
    used = {
        "premiumRequests": 2,
        "totalApiDurationMs": 1500,
        "sessionDurationMs": 7000,
        "codeChanges": {},
    }
    return [
        *turn(1),
        {"type": "result", "timestamp": at(8), "sessionId": SESSION, "exitCode": 0, "usage": used}
        | more,
    ]


def counts(run: dict[str, Any]) -> tuple[int | None, ...]:
    return tuple(run[f"{kind}_tokens"] for kind in ("input", "cache_read", "cache_write", "output"))


def test_a_session_is_a_run_with_the_figures_of_its_shutdown(store: Store, tmp_path: Path) -> None:
    """Input includes the cache, and what is paid are no dollars."""
    [run] = ingested(store, tmp_path, events=lines(*whole()))
    assert (run["agent"], run["run_id"], run["agent_version"], run["model"]) == (
        "copilot",
        SESSION,
        "1.0.34",
        "claude-sonnet-4-6",
    )
    assert (counts(run), run["tokens_basis"]) == ((100, 50, 3, 10), "exact")
    assert (run["credits"], run["credits_unit"], run["cost_own_usd"]) == (
        1,
        "premium requests",
        None,
    )
    assert run["cost_list_usd"] is not None
    assert (run["outcome"], run["num_turns"], run["duration_ms"], run["duration_api_ms"]) == (
        "completed",
        1,
        9000,
        10_000,
    )
    assert (run["repo"], run["branch"], run["cwd"], run["prompt"]) == (
        "vllm-project/vllm",
        "main",
        "/work",
        "Make it faster.",
    )
    assert (run["result"], run["claimed_speedup"], run["record_kind"]) == (
        "It is 2x faster.",
        2,
        "transcript",
    )
    assert tools_of(store) == [("bash", 1, 1)]
    done = event(8, "session.task_complete", summary="Parsing is 3x faster.", success=True)
    [run] = read_log(lines(*whole()[:-1], done, whole()[-1]))
    assert run["result"] == "Parsing is 3x faster.", (
        "the summary of a completed task is the final text"
    )


@pytest.mark.parametrize(
    ("second", "figures", "premium", "basis"),
    [
        (shutdown(30, 150, 60, 25, 3), (150, 60, 3, 25), 3, "exact"),
        (shutdown(30, 40, 10, 11, 2), (140, 60, 6, 21), 3, "exact"),
        (shutdown(30, 150, 60, 12, 2), (150, 60, 3, 12), 2, "lower_bound"),
    ],
    ids=["counts on", "began again", "began again and is larger"],
)
def test_a_resumed_session_counts_once(
    second: dict[str, Any],
    figures: tuple[int, ...],
    premium: float,
    basis: str,
    store: Store,
    tmp_path: Path,
) -> None:
    """Newer versions count on, older ones begin again.

    Where that leaves less output than was said, it is a bound.
    """
    resumed = [event(20, "session.resume", resumeTime=at(20)), *turn(21, 11), second]
    [run] = ingested(store, tmp_path, first=lines(*whole()), events=lines(*whole(), *resumed))
    assert (counts(run), run["credits"], run["tokens_basis"], run["num_turns"]) == (
        figures,
        premium,
        basis,
        2,
    )


def test_a_session_that_crashed_has_the_output_of_its_messages(
    store: Store, tmp_path: Path
) -> None:
    [run] = ingested(store, tmp_path, events=lines(*whole()[:-1]))
    assert (run["outcome"], counts(run), run["credits"], run["tokens_basis"]) == (
        "interrupted",
        (*(None,) * 3, 10),
        None,
        "lower_bound",
    )
    with store.reading() as connection:
        assert ("doubtful_usage",) in connection.sql("select rule from findings").fetchall()
    [run] = read_log(lines(start(), *turn(1, output=0)[:1]))
    assert (counts(run), run["tokens_basis"]) == ((None,) * 4, "unknown"), (
        "and none, where no message has any"
    )
    [run] = read_log(lines(*whole(), event(20, "session.resume"), *turn(21)))
    assert (run["outcome"], run["input_tokens"], run["tokens_basis"]) == (
        "interrupted",
        100,
        "lower_bound",
    ), "resumed, and crashed then"


ERROR = event(7, "session.error", errorType="query", message="Too many requests", statusCode=429)


@pytest.mark.parametrize(
    ("events", "outcome", "errors"),
    [
        ([*whole()[:-1], ERROR, whole()[-1]], "limit_reached", "HTTP 429: Too many requests"),
        ([whole()[0], ERROR, *whole()[1:]], "completed", None),
        (
            [*whole()[:-1], event(8, "abort", reason="user initiated"), whole()[-1]],
            "interrupted",
            None,
        ),
        (
            [*whole()[:-1], shutdown(9, 1, shutdownType="error", errorReason="out of memory")],
            "execution_error",
            "out of memory",
        ),
        ([start(), shutdown(9, 0)], "unknown", None),
    ],
)
def test_the_last_that_happened_says_how_it_ended(
    events: list[dict[str, Any]], outcome: str, errors: str | None
) -> None:
    [run] = read_log(lines(*events))
    assert (run["outcome"], run["errors"]) == (outcome, errors)


def billed(log: list[dict[str, Any]], month: int = 7) -> list[dict[str, Any]]:
    """The events in another month of 2026: AI credits are dollars from June on."""
    return [json.loads(json.dumps(one).replace("2026-04", f"2026-{month:02}")) for one in log]


def paid(run: dict[str, Any]) -> tuple[Any, ...]:
    return run["cost"], run["credits"], run["credits_unit"]


def test_credits_are_dollars_since_they_are_billed_and_count_once_in_a_resumed_session() -> None:
    """Two cumulative shutdowns: $0.261 in all, not $0.435.

    In April the same credits were no dollars: premium requests were paid for.
    """
    resumed = [
        event(20, "session.resume"),
        *turn(21, 11),
        shutdown(30, 150, 60, 25, 3, totalNanoAiu=26_100_000_001),
    ]
    log = [*whole()[:-1], shutdown(9, 100, 50, totalNanoAiu=17_400_000_000), *resumed]
    [run] = read_log(lines(*billed(log)))
    assert (paid(run), run["model_costs_usd"]) == (
        (0.26100000001, 26.100000001, "AI credits"),
        (run["cost_own_usd"],),
    )
    [run] = read_log(lines(*log))
    assert paid(run) == (None, 3, "premium requests")
    [run] = read_log(lines(*log[:-1], *billed(log[-1:], month=6)))
    assert run["cost"] == pytest.approx(0.087), "what was used before June is not billed"


def test_credits_are_those_of_each_model_and_zero_credits_for_tokens_are_unknown() -> None:
    usage = {"inputTokens": 100, "outputTokens": 10, "cacheReadTokens": 0, "cacheWriteTokens": 0}
    metrics = {
        name: {"usage": usage, "totalNanoAiu": nano}
        for name, nano in (("gpt-5.4", 2 * 10**9), ("gpt-5-mini", 0))
    }
    [run] = read_log(
        lines(
            *billed(
                [start(), *turn(1), shutdown(9, 1, totalNanoAiu=2 * 10**9, modelMetrics=metrics)]
            )
        )
    )
    assert (paid(run)[0], dict(zip(run["models"], run["model_costs_usd"], strict=True))) == (
        0.02,
        {"gpt-5-mini": None, "gpt-5.4": Decimal("0.02")},
    )
    [run] = read_log(lines(*billed([start(), *turn(1), shutdown(9, 100, totalNanoAiu=0)])))
    assert (run["cost_reported_usd"], run["credits"]) == (None, 0)
    [run] = read_log(
        lines(
            start(), *turn(1), shutdown(9, 1, totalPremiumRequests=None, totalNanoAiu=3_236_385_000)
        )
    )
    assert (run["credits"], run["credits_unit"]) == (3.236385, "AI credits"), (
        "newer versions may tell no premium requests"
    )


def test_a_session_that_crashed_has_the_credits_of_its_last_checkpoint() -> None:
    points = [
        event(second, "session.usage_checkpoint", totalNanoAiu=nano, totalPremiumRequests=1)
        for second, nano in ((5, 10**9), (8, 3 * 10**9))
    ]
    [run] = read_log(lines(*billed([*whole()[:-1], *points])))
    assert (run["outcome"], run["cost_own_usd"], run["credits"], counts(run)) == (
        "interrupted",
        Decimal("0.03"),
        3,
        (*(None,) * 3, 10),
    )


def test_a_printed_stream_has_premium_requests_and_the_output_of_its_messages() -> None:
    [run] = read_log(lines(*printed()))
    assert (run["session_id"], run["credits"], run["duration_ms"], run["duration_api_ms"]) == (
        SESSION,
        2,
        7000,
        1500,
    )
    assert (run["outcome"], counts(run), run["result"], run["record_kind"]) == (
        "completed",
        (*(None,) * 3, 10),
        "It is 2x faster.",
        "stream",
    )
    [run] = read_log(lines(*printed(exitCode=1)))
    assert (run["outcome"], run["errors"]) == ("execution_error", "exit code 1")


def test_each_process_of_a_printed_session_counts_and_its_own_events_hold_them(
    store: Store, tmp_path: Path
) -> None:
    """Resumed, with other messages. The end alone, and a stream as it grows, are no other run."""
    again = [*turn(5), *printed()[-1:]]
    runs = ingested(
        store,
        tmp_path,
        one=lines(*printed(), *again),
        again=lines(*again),
        began=lines(*again[:-1]),
        end=lines(printed()[-1]),
    )
    assert [run["credits"] for run in runs] == [2, 2]
    [run] = ingested(store, tmp_path, events=lines(*whole()))
    assert (run["run_id"], run["record_kind"], run["input_tokens"]) == (SESSION, "transcript", 100)
    crashed = lines(*whole()[:-1])
    for number, order in enumerate([("events", "printed"), ("printed", "events")]):
        other = Store(tmp_path / f"{number}.duckdb")
        for name in order:
            runs = ingested(
                other, tmp_path, **{name: crashed if name == "events" else lines(*printed())}
            )
        assert [(run["credits"], run["outcome"]) for run in runs] == [(2, "completed")], (
            "events without a shutdown tell less"
        )


def history(items: int = 4, **more: Any) -> dict[str, Any]:
    timeline = [
        {"type": "user", "timestamp": at(1), "text": "Make it faster."},
        {"type": "tool_call_requested", "timestamp": at(2), "callId": "c1", "name": "bash"},
        {
            "type": "tool_call_completed",
            "timestamp": at(9),
            "callId": "c1",
            "name": "bash",
            "result": {"type": "failure", "log": record_text()},
        },
        {"type": "copilot", "timestamp": at(5), "text": "It is 2x faster."},
    ]
    return {
        "sessionId": SESSION,
        "startTime": at(0),
        "chatMessages": [],
        "timeline": timeline[:items],
    } | more


def test_an_older_session_file_is_one_run_without_tokens(store: Store, tmp_path: Path) -> None:
    """The file is rewritten as the session goes on, and its items are not in order of time."""
    [run] = ingested(
        store, tmp_path, later=json.dumps(history(), indent=2), earlier=json.dumps(history(2))
    )
    assert (run["agent"], run["outcome"], run["num_turns"], run["duration_ms"]) == (
        "copilot",
        "unknown",
        1,
        9000,
    )
    assert (run["result"], run["prompt"], counts(run)) == (
        "It is 2x faster.",
        "Make it faster.",
        (None,) * 4,
    )
    assert tools_of(store) == [("bash", 1, 1)]


def test_a_wrong_beginning_of_a_session_does_not_lose_the_one_before() -> None:
    wrong = event(20, "session.start", sessionId="other", outputTokens="many")
    runs = read_log(lines(*whole(), wrong))
    assert (SESSION, "completed") in [(run["run_id"], run["outcome"]) for run in runs]


LOGS = {
    "copilot": lines(*whole()),
    "copilot_began": lines(*whole()[:4]),
    "copilot_printed": lines(*printed(sessionId=SESSION.replace("1", "2"))),
    "copilot_history": json.dumps(history(sessionId=SESSION[::-1])),
}
"""Logs of three runs: see `test_orders_of_logs`."""
