"""Cursor's results and streams.

Told from Claude Code's, a run for each request, its last text and its tokens.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.agents.cursor import Cursor
from ingest.agents.readers import SESSIONS_KEPT
from ingest.store.database import Store
from ingest.store.undo import undo
from tests.conftest import record_text
from tests.documents import ingested, lines, read_log, runs_in_store, tools_of

SESSION = "0f6fa7cf-0000-4000-8000-000000000001"
REQUEST = "5bf03e32-0000-4000-8000-00000000000{}"
USAGE = {"inputTokens": 0, "outputTokens": 40, "cacheReadTokens": 36_352, "cacheWriteTokens": 3_078}
MIDDLE = 1_770_823_841_000


def said(text: str, session: str = SESSION, **more: Any) -> dict[str, Any]:
    return {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        "session_id": session,
    } | more


def result(number: int = 1, session: str = SESSION, **more: Any) -> dict[str, Any]:
    told = {
        "type": "result",
        "subtype": "success",
        "duration_ms": 21_509,
        "duration_api_ms": 21_509,
        "is_error": False,
    }
    return (
        told
        | {
            "result": "I look.It is 2x faster.",
            "session_id": session,
            "request_id": REQUEST.format(number),
            "usage": USAGE,
        }
        | more
    )


def call(
    subtype: str,
    call_id: str,
    seconds: int,
    session: str = SESSION,
    number: int = 1,
    **of_tool: Any,
) -> dict[str, Any]:
    told = {
        "type": "tool_call",
        "subtype": subtype,
        "call_id": call_id,
        "tool_call": {"shellToolCall": of_tool, "toolCallId": call_id},
    }
    return told | {
        "session_id": session,
        "model_call_id": f"{REQUEST.format(number)}-0-abcd",
        "timestamp_ms": MIDDLE + 1000 * seconds,
    }


def beginning(session: str = SESSION, number: int = 1) -> list[dict[str, Any]]:
    init = {
        "type": "system",
        "subtype": "init",
        "apiKeySource": "login",
        "cwd": "/work",
        "session_id": session,
        "model": "Composer 2.5",
    }
    asked = {"role": "user", "content": [{"type": "text", "text": "Make it faster."}]}
    return [
        init | {"permissionMode": "default"},
        {"type": "user", "message": asked, "session_id": session},
        {
            "type": "thinking",
            "subtype": "delta",
            "text": "Hm",
            "session_id": session,
            "timestamp_ms": MIDDLE,
        },
        said(
            "I look.",
            session,
            model_call_id=f"{REQUEST.format(number)}-0-abcd",
            timestamp_ms=MIDDLE + 1000,
        ),
        call("started", "c1", 1, session, number, args={"command": "ls"}),
        call(
            "completed",
            "c1",
            2,
            session,
            number,
            args={"command": "ls"},
            result={"success": {"exitCode": 0}},
        ),
        call(
            "completed", "c2", 3, session, number, result={"error": {"errorMessage": "not allowed"}}
        ),
    ]


def stream(session: str = SESSION, number: int = 1, **more: Any) -> list[dict[str, Any]]:
    return [
        *beginning(session, number),
        said("It is 2x faster.", session),
        result(number, session, **more),
    ]


def counts(run: dict[str, Any]) -> tuple[int | None, ...]:
    return tuple(run[f"{kind}_tokens"] for kind in ("input", "cache_read", "cache_write", "output"))


def test_a_stream_is_a_run_with_its_figures(store: Store, tmp_path: Path) -> None:
    [run] = ingested(store, tmp_path, log=lines(*stream()))
    assert (run["agent"], run["run_id"], run["session_id"]) == (
        "cursor",
        REQUEST.format(1),
        SESSION,
    )
    assert (run["outcome"], run["requested_model"], run["cwd"], run["prompt"]) == (
        "completed",
        "Composer 2.5",
        "/work",
        "Make it faster.",
    )
    assert (counts(run), run["tokens_basis"]) == ((0, 36_352, 3_078, 40), "exact")
    assert (run["duration_ms"], run["duration_api_ms"], run["num_turns"], run["cost_own_usd"]) == (
        21_509,
        None,
        None,
        None,
    )
    assert (run["result"], run["claimed_speedup"], run["record_kind"]) == (
        "It is 2x faster.",
        2,
        "stream",
    )
    assert (run["ended_at"] - run["started_at"]).total_seconds() == 3
    assert tools_of(store) == [("shell", 2, 1)], "a refused call is only completed"


def test_a_result_alone_is_a_run_and_its_stream_is_the_same_one() -> None:
    [run] = read_log(lines(result()))
    assert (counts(run)[-1], run["result"], run["record_kind"]) == (
        40,
        "I look.It is 2x faster.",
        "result",
    )
    [run] = read_log(lines(*stream()))
    assert (run["result"], run["record_kind"]) == ("It is 2x faster.", "stream")


def test_a_resumed_session_has_a_run_for_each_request(store: Store, tmp_path: Path) -> None:
    runs = ingested(store, tmp_path, b=lines(*stream(number=2)), a=lines(*stream(), *stream()))
    assert [run["run_id"] for run in runs] == [REQUEST.format(1), REQUEST.format(2)]
    assert sum(run["output_tokens"] for run in runs) == 80


def test_streams_side_by_side_keep_their_events() -> None:
    """Also beside one of Claude Code, whose events look alike."""
    other = "0f6fa7cf-0000-4000-8000-000000000002"
    claude = said("Done.", "c", uuid="u1"), json.loads(record_text(session_id="c"))
    mixed = [event for pair in zip(stream(), stream(other, 2), strict=True) for event in pair]
    runs = read_log(lines(claude[0], *mixed[:5], claude[0], *mixed[5:], claude[1]))
    assert [run["agent"] for run in runs if run["session_id"] != "c"] == ["cursor", "cursor"]
    assert [run["result"] for run in runs if run["session_id"] != "c"] == ["It is 2x faster."] * 2
    assert [run["agent"] for run in runs if run["session_id"] == "c"] == ["claude-code"]


def test_a_killed_run_is_interrupted_and_without_usage_there_are_no_tokens() -> None:
    [run] = read_log(lines(*beginning()) + "Error: connection lost\n")
    assert (run["outcome"], run["result"], run["run_id"]) == (
        "interrupted",
        "I look.",
        REQUEST.format(1),
    )
    [run] = read_log(lines(*beginning()[:2]))
    assert (run["agent"], run["outcome"], run["prompt"]) == (
        "cursor",
        "interrupted",
        "Make it faster.",
    )
    [run] = read_log(lines(*stream(usage=None)))
    assert (run["outcome"], counts(run), run["tokens_basis"]) == (
        "completed",
        (None,) * 4,
        "unknown",
    )


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("You've hit your usage limit", "limit_reached"),
        ("Connection reset", "api_error"),
        ("no such file", "execution_error"),
    ],
)
def test_a_failed_run_says_why(error: str, outcome: str) -> None:
    [run] = read_log(lines(result(is_error=True, subtype="error", result=error)))
    assert (run["outcome"], run["errors"], run["result"]) == (outcome, error, None)


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        ((245_174, 176_800, 0), (68_374, 176_800, 0)),
        ((46_965, 42_036, 4_927), (2, 42_036, 4_927)),
        ((0, 36_352, 3_078), (0, 36_352, 3_078)),
        ((900, 600, 400), (900, 600, 400)),
        ((500, 0, 0), (500, 0, 0)),
        ((500, None, None), (500, None, None)),
        ((None, 600, None), (None, 600, None)),
    ],
)
def test_input_that_can_hold_the_cache_does(
    told: tuple[int | None, ...], counted: tuple[int | None, ...]
) -> None:
    """Versions differ, and none says so: classes of tokens that overlap would be paid for twice."""
    names = ("inputTokens", "cacheReadTokens", "cacheWriteTokens")
    usage = {name: count for name, count in zip(names, told, strict=True) if count is not None}
    [run] = read_log(lines(result(usage=usage | {"outputTokens": 7})))
    assert (
        run["input_tokens"],
        run["cache_read_tokens"],
        run["cache_write_tokens"],
        run["output_tokens"],
    ) == (*counted, 7)


def test_pieces_of_a_text_are_joined_until_it_is_whole() -> None:
    pieces = [said(text, timestamp_ms=MIDDLE + 5000) for text in ("It is ", "2x faster.")]
    [run] = read_log(lines(*beginning(), *pieces))
    assert run["result"] == "It is 2x faster."
    [run] = read_log(lines(*beginning(), *pieces, said("It is 2x faster."), result()))
    assert run["result"] == "It is 2x faster."


def test_a_stream_without_a_request_is_one_run_wherever_it_was_cut(
    store: Store, tmp_path: Path
) -> None:
    began = [
        *beginning()[:3],
        *(said(text, timestamp_ms=MIDDLE + 5000) for text in ("It is ", "2x faster.")),
    ]
    [run] = ingested(
        store, tmp_path, three=lines(*began[:3]), all=lines(*began), four=lines(*began[:4])
    )
    assert (run["outcome"], run["result"]) == ("interrupted", "It is 2x faster.")


@pytest.mark.slow
@pytest.mark.parametrize("is_timed", [True, False])
def test_a_stream_read_again_as_it_grows_is_one_run(
    store: Store, tmp_path: Path, is_timed: bool
) -> None:
    """A growing stream read again stays one run, even without a prompt or a time.

    Parts were read before the request's id was known, and any part may be read last.
    """
    events = (
        stream()
        if is_timed
        else [
            {key: value for key, value in event.items() if key != "timestamp_ms"}
            for event in stream()
        ]
    )
    for cut in (2, 3, len(events), 1):
        runs = ingested(store, tmp_path, log=lines(*events[:cut]))
        assert len(runs) == 1
    assert (runs[0]["run_id"], runs[0]["outcome"], runs[0]["output_tokens"]) == (
        REQUEST.format(1),
        "completed",
        40,
    )
    undo(store, 3)
    [run] = runs_in_store(store)
    assert (run["outcome"], run["prompt"], run["output_tokens"]) == (
        "interrupted",
        "Make it faster.",
        None,
    )


def test_of_very_many_open_sessions_each_is_one_run() -> None:
    many = 2 * max(Cursor.MOST_OPEN, SESSIONS_KEPT)
    events = [beginning(f"{SESSION}-{number}")[0] for number in range(many)]
    assert len(read_log(lines(*events))) == many


LOGS = {
    "cursor": lines(*stream()),
    "cursor_began": lines(*beginning(number=2)),
    "cursor_result": lines(result(3)),
}
"""Logs of three runs: see `test_orders_of_logs`."""
