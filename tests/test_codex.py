"""Codex's four kinds of logs.

Tokens once, whatever is resumed, copied or cut off, and whatever else is in the log.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.agents.codex.streams import CodexAppServer
from ingest.store.database import Store
from tests.conftest import ingest_paths, record_text
from tests.documents import ingested, lines, read_log, rejects_of, runs_in, runs_in_store, tools_of

STARTED = datetime(2026, 5, 1, 12, tzinfo=UTC)
TEXT_LOG = """OpenAI Codex v0.87.0 (research preview)
--------
workdir: /work/vllm
model: gpt-5
provider: openai
approval: never
session id: {session}
--------
user
Make it faster.
{{"type":"result","total_cost_usd":9,"num_turns":1,"duration_ms":1}}
thinking
I look at it.
exec
bash -lc 'pytest' in /work/vllm exited 1 in 20ms:
codex
not the last
exec
bash -lc 'pytest' in /work/vllm succeeded in 20ms:
codex
Parsing is 2x faster.
{end}"""


def uuid7(time: datetime, number: int = 0) -> str:
    """A UUID of version 7 with this time."""
    value = (round(time.timestamp() * 1000) << 80) | (7 << 76) | (2 << 62) | number
    text = f"{value:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def usage(uncached: int, read: int = 0, output: int = 0, reasoning: int = 0) -> dict[str, int]:
    return {
        "input_tokens": uncached + read,
        "cached_input_tokens": read,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
        "total_tokens": uncached + read + output,
    }


def thread(*turns: dict[str, Any], thread_id: str = uuid7(STARTED)) -> str:
    """A stream of `codex exec --json` with one turn for each end."""
    events: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": thread_id}]
    for number, end in enumerate(turns):
        call = {
            "id": f"item_{2 * number}",
            "type": "command_execution",
            "command": "ls",
            "exit_code": None,
            "status": "in_progress",
        }
        said = {
            "id": f"item_{2 * number + 1}",
            "type": "agent_message",
            "text": f"Turn {number}: it is 2x faster.",
        }
        events += [{"type": "turn.started"}, {"type": "item.started", "item": call}]
        events += [
            {"type": "item.completed", "item": call | {"exit_code": 1, "status": "completed"}}
        ]
        events += [{"type": "item.completed", "item": said}, end]
    return lines(*events)


def completed(**tokens: int) -> dict[str, Any]:
    return {"type": "turn.completed", "usage": usage(**tokens)}


def at(seconds: float) -> str:
    return (STARTED + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def event(seconds: float, payload: dict[str, Any], kind: str = "event_msg") -> dict[str, Any]:
    return {"timestamp": at(seconds), "type": kind, "payload": payload}


def meta(session: str, seconds: float = 0, **more: Any) -> dict[str, Any]:
    payload = {
        "id": session,
        "timestamp": at(seconds),
        "cwd": "/work",
        "cli_version": "0.104.0",
        "model_provider": "openai",
    }
    return event(
        seconds,
        payload | {"git": {"branch": "main", "repository_url": "https://example.org/vllm"}} | more,
        "session_meta",
    )


def tokens(seconds: float, **total: int) -> dict[str, Any]:
    return event(
        seconds,
        {
            "type": "token_count",
            "info": {"total_token_usage": usage(**total), "last_token_usage": usage(uncached=1)},
        },
    )


def turn(seconds: float, model: str = "gpt-5-codex", **total: int) -> list[dict[str, Any]]:
    """A turn that ends with this running total, which is written twice."""
    call = {"type": "function_call", "name": "shell", "call_id": f"c{seconds}"}
    return [
        event(
            seconds,
            {"type": "task_started", "turn_id": uuid7(STARTED + timedelta(seconds=seconds))},
        ),
        event(seconds, {"model": model, "approval_policy": "never"}, "turn_context"),
        event(seconds, {"type": "user_message", "message": "Make it faster."}),
        event(seconds, call, "response_item"),
        tokens(seconds + 1, **total),
        tokens(seconds + 2, **total),
        event(seconds + 3, {"type": "task_complete", "last_agent_message": "It is 2x faster."}),
    ]


def counts(run: dict[str, Any]) -> tuple[int | None, int | None, int | None]:
    return run["input_tokens"], run["cache_read_tokens"], run["output_tokens"]


def test_a_stream_is_one_run_with_the_last_total_of_its_thread(
    store: Store, tmp_path: Path
) -> None:
    [run] = ingested(
        store,
        tmp_path,
        log=thread(
            completed(uncached=10, read=90, output=5), completed(uncached=30, read=270, output=20)
        ),
    )
    assert counts(run) == (30, 270, 20)
    assert (run["agent"], run["outcome"], run["num_turns"], run["record_kind"]) == (
        "codex",
        "completed",
        2,
        "stream",
    )
    assert (run["result"], run["claimed_speedup"]) == ("Turn 1: it is 2x faster.", 2)
    assert (run["started_at"], run["cost_own_usd"]) == (STARTED, None), (
        "the only time is in the id of the thread; Codex tells no cost"
    )
    assert tools_of(store) == [("command_execution", 2, 2)]


RETRY = {"type": "error", "message": "Reconnecting... 1/5"}


def test_a_resumed_thread_counts_once_and_the_notice_of_a_retry_is_no_failure(
    store: Store, tmp_path: Path
) -> None:
    """Whatever the order of its streams."""
    first, later = (
        thread(completed(uncached=10, output=5)),
        thread(completed(uncached=25, output=9)),
    )
    later = later.replace(
        '{"type":"turn.completed"', f'{json.dumps(RETRY)}\n{{"type":"turn.completed"'
    )
    [run] = ingested(store, tmp_path, b=later, a=first)
    assert (counts(run), run["outcome"], run["errors"]) == ((25, 0, 9), "completed", None)


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        ("You've hit your usage limit.", "limit_reached"),
        ("stream disconnected before completion", "api_error"),
        ("sandbox could not be set up", "execution_error"),
    ],
)
def test_a_failed_turn_says_why(message: str, outcome: str) -> None:
    [run] = read_log(thread({"type": "turn.failed", "error": {"message": message}}))
    assert (run["outcome"], run["errors"], run["input_tokens"]) == (outcome, message, None)


def test_a_rollout_counts_the_growth_of_its_total_by_model(store: Store, tmp_path: Path) -> None:
    session = uuid7(STARTED, 1)
    text = lines(
        meta(session),
        *turn(1, "gpt-5-codex", uncached=10, read=90, output=5),
        *turn(60, "gpt-5", uncached=40, read=90, output=7),
    )
    [run] = ingested(store, tmp_path, rollout=text)
    assert counts(run) == (40, 90, 7)
    assert (run["outcome"], run["num_turns"], run["duration_ms"], run["result"]) == (
        "completed",
        2,
        63_000,
        "It is 2x faster.",
    )
    assert (run["repo"], run["branch"], run["cwd"], run["prompt"]) == (
        "https://example.org/vllm",
        "main",
        "/work",
        "Make it faster.",
    )
    with store.reading() as connection:
        rows = connection.sql(
            "select model, input_tokens, output_tokens from model_usage order by model"
        ).fetchall()
    assert rows == [("gpt-5", 30, 2), ("gpt-5-codex", 10, 5)]


@pytest.mark.parametrize("parent_is_there", [True, False])
def test_a_fork_counts_only_what_it_used_itself(
    parent_is_there: bool, store: Store, tmp_path: Path
) -> None:
    """Its file begins with the lines of its parent, stamped with the time of the fork."""
    parent, child = uuid7(STARTED, 1), uuid7(STARTED + timedelta(seconds=100), 2)
    first = turn(1, uncached=100, read=900, output=50)
    copied = [
        line | {"timestamp": at(100 + number)} for number, line in enumerate([meta(parent), *first])
    ]
    own = turn(200, uncached=130, read=1000, output=60)
    texts = {"fork": lines(meta(child, 100, forked_from_id=parent), *copied, *own)}
    runs = ingested(
        store,
        tmp_path,
        **texts,
        **({"parent": lines(meta(parent), *first)} if parent_is_there else {}),
    )
    [fork] = [run for run in runs if run["session_id"] == child]
    assert (counts(fork), fork["parent_run_id"], fork["num_turns"], fork["tokens_basis"]) == (
        (30, 100, 10),
        parent,
        1,
        "exact",
    )
    assert sum(run["input_tokens"] for run in runs) == (130 if parent_is_there else 30)


def test_what_is_no_run_and_what_has_no_end() -> None:
    """Errors in the log of any program are no run; a session without an end is interrupted."""
    assert (
        read_log(lines({"type": "error", "message": "boom"}, {"type": "info", "message": "hello"}))
        == []
    )
    [run] = read_log(lines(meta(uuid7(STARTED, 1)), *turn(1, uncached=10)[:-1]))
    assert (run["outcome"], run["input_tokens"]) == ("interrupted", 10)


def test_a_rollout_and_the_stream_of_its_thread_are_one_run(store: Store, tmp_path: Path) -> None:
    session = uuid7(STARTED, 1)
    text = lines(meta(session), *turn(1, uncached=10, read=90, output=5))
    [run] = ingested(
        store,
        tmp_path,
        stream=thread(completed(uncached=10, read=90, output=5), thread_id=session),
        rollout=text,
    )
    assert (counts(run), run["record_kind"], run["model"]) == (
        (10, 90, 5),
        "transcript",
        "gpt-5-codex",
    )


ENDS = (
    ("tokens used\n200,337finish\n", "completed", "The log has one total, 200,337 tokens"),
    ("", "unknown", "The log has no token counts."),
    ("tokens used\n,\n", "unknown", "The log has no token counts."),
    ("tokens used\n99999999999999999999\n", "unknown", "The log has no token counts."),
    (
        "ERROR: You've hit your usage limit. Try again at 11:04 PM.\n",
        "limit_reached",
        "The log has no token counts.",
    ),
)


def test_a_text_log_is_a_run_without_a_price(store: Store, tmp_path: Path) -> None:
    """A record in the output of a tool is none of ours."""
    for number, (end, *_) in enumerate(ENDS):
        (tmp_path / f"{number}.txt").write_text(
            TEXT_LOG.format(session=uuid7(STARTED, number), end=end)
        )
    ingest_paths(store, tmp_path)
    runs = {run["session_id"]: run for run in runs_in_store(store)}
    with store.reading() as connection:
        reasons = dict(
            connection.sql("select run_id, tokens_basis_reason from model_usage").fetchall()
        )
        tools = connection.sql("select tool, calls, errors from tool_calls").fetchall()
    for number, (_, outcome, reason) in enumerate(ENDS):
        run = runs[uuid7(STARTED, number)]
        assert (run["outcome"], run["agent_version"], run["model"], run["started_at"]) == (
            outcome,
            "0.87.0",
            "gpt-5",
            STARTED,
        )
        assert (run["result"], run["input_tokens"], run["cost_list_usd"]) == (
            "Parsing is 2x faster.",
            None,
            None,
        )
        assert run["tokens_basis"] == "unknown"
        assert reasons[run["run_id"]].startswith(reason)
    assert tools == [("exec", 2, 1)] * len(ENDS)


@pytest.mark.parametrize("answer", ["", "thinking\nI look at it.\n"])
def test_a_run_whose_first_request_failed_never_started(
    answer: str, store: Store, tmp_path: Path
) -> None:
    """As with any other agent. The prompt is in the log all the same."""
    text = TEXT_LOG.format(session=uuid7(STARTED), end="").partition("thinking\n")[0]
    (tmp_path / "stderr.txt").write_text(f"{text}{answer}ERROR: You've hit your usage limit.\n")
    items: list[dict[str, Any]] = (
        [{"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": answer}}]
        if answer
        else []
    )
    failed = {"type": "turn.failed", "error": {"message": "You've hit your usage limit."}}
    events: list[dict[str, Any]] = [
        {"type": "thread.started", "thread_id": uuid7(STARTED, 1)},
        {"type": "turn.started"},
        *items,
        failed,
    ]
    (tmp_path / "stream.jsonl").write_text(lines(*events))
    ingest_paths(store, tmp_path)
    with store.reading() as connection:
        found = connection.sql("select outcome, reason, is_started from v_runs").fetchall()
    assert found == [("limit_reached", "quota", bool(answer))] * 2


def test_an_error_in_the_output_of_a_tool_is_not_the_runs(store: Store, tmp_path: Path) -> None:
    text = TEXT_LOG.format(session=uuid7(STARTED), end="tokens used\n200\n").replace(
        "\ncodex\n", "\nERROR: no such file\ncodex\n", 1
    )
    assert "ERROR: no such file" in text
    (tmp_path / "stderr.txt").write_text(text)
    ingest_paths(store, tmp_path / "stderr.txt")
    [run] = runs_in_store(store)
    assert run["outcome"] == "completed"


LOGS = {
    "codex_text": TEXT_LOG.format(session=uuid7(STARTED, 3), end=""),
    "codex_stream": thread(completed(uncached=10)),
    "codex_resumed": thread(completed(uncached=10), completed(uncached=30)),
    "codex_rollout": lines(meta(uuid7(STARTED, 1)), *turn(1, uncached=10, read=90, output=5)),
    "codex_rollout_began": lines(meta(uuid7(STARTED, 1))),
    "codex_reverted": lines(
        meta(
            uuid7(STARTED, 1),
            90,
            history_mode="paginated",
            history_base={"thread_id": uuid7(STARTED, 1), "end_ordinal_exclusive": 1},
        ),
        *turn(100, uncached=7, output=2),
    ),
    "codex_reverted_again": lines(
        meta(
            uuid7(STARTED, 1),
            190,
            history_mode="paginated",
            history_base={"thread_id": uuid7(STARTED, 1), "end_ordinal_exclusive": 1},
        ),
        *turn(200, uncached=9, output=1)[:-1],
    ),
}
"""Logs of three runs: see `test_orders_of_logs`."""


THREAD = uuid7(STARTED)


def notice(method: str, thread_id: str = THREAD, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": thread_id} | params}


def server_tokens(
    given: int,
    read: int,
    output: int,
    last: tuple[int, int, int] | None = None,
    thread_id: str = THREAD,
) -> dict[str, Any]:
    names = ("inputTokens", "cachedInputTokens", "outputTokens")
    told = {
        "total": dict(zip(names, (given, read, output), strict=True))
        | {"totalTokens": given + output}
    }
    return notice(
        "thread/tokenUsage/updated",
        thread_id,
        tokenUsage=told | {"last": dict(zip(names, last or (1, 0, 1), strict=True))},
    )


def opened(
    thread_id: str = THREAD, model: str | None = "gpt-5.4", **more: Any
) -> list[dict[str, Any]]:
    about = {
        "id": thread_id,
        "cwd": "/work",
        "cliVersion": "0.116.0",
        "modelProvider": "openai",
        "gitInfo": {"branch": "main"},
    } | more
    told = {"thread": about, "approvalPolicy": "never"} | ({"model": model} if model else {})
    return [
        {"method": "thread/start", "id": 1, "params": {"model": "gpt-5.5", "cwd": "/work"}},
        {"id": 1, "result": told},
        {"method": "thread/started", "params": {"thread": {"id": thread_id}}},
        {
            "method": "turn/start",
            "id": 2,
            "params": {
                "threadId": thread_id,
                "input": [{"type": "text", "text": "Make it faster."}],
            },
        },
        {"id": 2, "result": {"turn": {"id": "t1", "status": "inProgress"}}},
    ]


def worked(thread_id: str = THREAD, number: int = 1, **end: Any) -> list[dict[str, Any]]:
    """A turn with a command that fails, two totals and a text."""
    item = {"type": "commandExecution", "id": f"c{number}", "command": "ls", "status": "inProgress"}
    said = {"type": "agentMessage", "id": f"m{number}", "text": f"Turn {number}: it is 2x faster."}
    about = {"id": f"t{number}", "items": [], "status": "completed", "error": None} | end
    quoted = notice("item/commandExecution/outputDelta", thread_id, itemId="c", delta=record_text())
    return [
        notice("turn/started", thread_id, turn={"id": f"t{number}", "status": "inProgress"}),
        notice("item/started", thread_id, item=item),
        quoted,
        notice(
            "item/completed",
            thread_id,
            item=item | {"status": "completed", "exitCode": 1, "aggregatedOutput": record_text()},
        ),
        server_tokens(
            2000 * number - 1000, 1800 * number - 900, 90 * number - 40, thread_id=thread_id
        ),
        server_tokens(2000 * number, 1800 * number, 90 * number, thread_id=thread_id),
        server_tokens(2000 * number, 1800 * number, 90 * number, thread_id=thread_id),
        notice("item/completed", thread_id, item=said),
        notice("turn/completed", thread_id, turn=about),
    ]


LOG = [*opened(), *worked()]


def test_a_thread_of_the_app_server_is_one_run(store: Store, tmp_path: Path) -> None:
    [run] = ingested(store, tmp_path, log=lines(*LOG))
    assert counts(run) == (200, 1800, 90)
    assert (run["run_id"], run["agent"], run["model"], run["agent_version"]) == (
        THREAD,
        "codex",
        "gpt-5.4",
        "0.116.0",
    )
    assert (run["outcome"], run["num_turns"], run["record_kind"], run["tokens_basis"]) == (
        "completed",
        1,
        "stream",
        "exact",
    )
    assert (run["prompt"], run["result"], run["cwd"], run["branch"]) == (
        "Make it faster.",
        "Turn 1: it is 2x faster.",
        "/work",
        "main",
    )
    assert (run["started_at"], run["permission_mode"]) == (STARTED, "never")
    assert tools_of(store) == [("command_execution", 1, 1)]


def test_logs_of_every_kind_are_read() -> None:
    """Logs are bare, prefixed, with the protocol's version, in an array, or in objects.

    The objects contain time and direction.
    """
    stamps = [at(number) for number in range(len(LOG))]
    texts = {
        "bare": lines(*LOG),
        "spaced": "".join(json.dumps(one) + "\r\n" for one in LOG),
        "prefixed": "[started] model=x\n"
        + "".join(f"[recv] {json.dumps(one)}\n" for one in LOG)
        + "[completed] elapsed=9s\n",
        "directions": "".join(
            f"{'->' if 'id' in one else '<-'} {line}"
            for one, line in zip(LOG, map(lines, LOG), strict=True)
        ),
        "dated": "".join(
            f"{stamp} INFO codex: {json.dumps(one)}\n"
            for stamp, one in zip(stamps, LOG, strict=True)
        ),
        "versioned": lines(*({"jsonrpc": "2.0"} | one for one in LOG)),
        "array": json.dumps(LOG, indent=2),
        "wrapped": lines(
            *(
                {"timestamp": stamp, "direction": "received", "message": one}
                for stamp, one in zip(stamps, LOG, strict=True)
            )
        ),
        "typed": lines(
            *(
                {"type": "rpc", "ts": stamp, "payload": one}
                for stamp, one in zip(stamps, LOG, strict=True)
            )
        ),
    }
    for kind, text in texts.items():
        [run] = read_log(text)
        assert (counts(run), run["outcome"], run["models"]) == (
            (200, 1800, 90),
            "completed",
            ("gpt-5.4",),
        ), kind
        lasted = 1000 * (len(LOG) - 2) if kind in ("dated", "wrapped", "typed") else None
        assert run["duration_ms"] == lasted, kind


def test_threads_of_one_log_are_runs_of_their_own() -> None:
    other = uuid7(STARTED + timedelta(hours=1))
    both = [*LOG, *opened(other), *worked(other)]
    mixed: list[dict[str, Any]] = [
        one for pair in zip(LOG, [*opened(other), *worked(other)], strict=True) for one in pair
    ]
    for log in (both, mixed):
        assert [(run["run_id"], counts(run)) for run in read_log(lines(*log))] == [
            (THREAD, (200, 1800, 90)),
            (other, (200, 1800, 90)),
        ]


def test_of_very_many_threads_each_is_a_run() -> None:
    ids = [uuid7(STARTED, number) for number in range(CodexAppServer.MOST_OPEN + 9)]
    runs = read_log(lines(*(one for thread_id in ids for one in worked(thread_id))))
    assert {run["run_id"] for run in runs} == set(ids)


def test_a_log_that_is_cut_off_was_interrupted() -> None:
    """Tokens up to the cut are a lower bound only within a turn; a torn message is a reject."""
    runs, rejects = runs_in(lines(*LOG[:-1]).encode())
    assert ([(run.outcome, run.output_tokens, run.tokens_basis) for run in runs], rejects) == (
        [("interrupted", 90, "lower_bound")],
        [],
    )
    [run] = read_log(
        lines(*LOG[:-1], notice("turn/completed", turn={"id": "t1", "status": "interrupted"}))
    )
    assert (run["outcome"], run["tokens_basis"]) == ("interrupted", "exact")
    runs, rejects = runs_in((lines(*LOG[:-1]) + json.dumps(LOG[-1])[:60]).encode())
    assert ([(run.outcome, run.output_tokens) for run in runs], rejects) == (
        [("interrupted", 90)],
        ["truncated JSON"],
    )


@pytest.mark.parametrize(
    ("status", "error", "outcome"),
    [
        ("interrupted", None, "interrupted"),
        (
            "failed",
            {"message": "It is over.", "codexErrorInfo": "usageLimitExceeded"},
            "limit_reached",
        ),
        (
            "failed",
            {
                "message": "It is over.",
                "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 502}},
            },
            "api_error",
        ),
        ("failed", {"message": "You've hit your usage limit."}, "limit_reached"),
        ("failed", {"message": "no such file", "codexErrorInfo": "other"}, "execution_error"),
        ("failed", None, "execution_error"),
        ("unheard of", None, "unknown"),
    ],
)
def test_the_status_of_the_last_turn_is_the_outcome(status: str, error: Any, outcome: str) -> None:
    [run] = read_log(lines(*LOG, *worked(number=2, status=status, error=error)))
    assert (run["outcome"], run["terminal_reason"], run["num_turns"]) == (outcome, status, 2)
    assert run["errors"] == (
        error["message"] if error else "turn failed" if status == "failed" else None
    )
    retry = notice("error", error={"message": "Reconnecting… 1/5"}, willRetry=True)
    [run] = read_log(lines(*LOG[:-1], retry, LOG[-1]))
    assert (run["outcome"], run["errors"]) == ("completed", None), (
        "the notice of a retry is no failure"
    )


def test_the_model_is_that_of_the_moment(store: Store, tmp_path: Path) -> None:
    """By the answer to thread/start, settings, a turn's request, or whoever answers in place of it.

    Else by the request of the thread.
    """
    settings = notice("thread/settings/updated", threadSettings={"model": "gpt-5.4-mini"})
    rerouted = notice("model/rerouted", turnId="t3", fromModel="gpt-5.4-mini", toModel="gpt-5.2")
    third = worked(number=3)
    ingested(
        store,
        tmp_path,
        log=lines(*LOG, settings, *worked(number=2), third[0], rerouted, *third[1:]),
    )
    with store.reading() as connection:
        rows = connection.sql(
            "select model_id, output_tokens from model_usage order by 1"
        ).fetchall()
    assert rows == [("gpt-5.2", 90), ("gpt-5.4", 90), ("gpt-5.4-mini", 90)]
    [run] = read_log(lines(*opened(model=None), *worked()))
    assert run["models"] == ("gpt-5.5",)


def test_the_total_of_a_fork_begins_with_that_of_its_parent() -> None:
    """Told again before its first turn, or with the first request."""
    fork = uuid7(STARTED + timedelta(hours=1))
    begun = opened(fork, forkedFromId=THREAD)
    own = [
        server_tokens(5000, 4000, 500, last=(600, 500, 30), thread_id=fork),
        server_tokens(6000, 4900, 540, thread_id=fork),
    ]
    began, *_, ended = worked(fork)
    again = [server_tokens(4400, 3500, 470, (9, 0, 9), fork)]
    for before in (again[:0], again):
        [run] = read_log(lines(*begun, *before, began, *own, ended))
        assert (counts(run), run["parent_run_id"]) == ((200, 1400, 70), THREAD)


def test_what_is_no_run_of_the_app_server(store: Store, tmp_path: Path) -> None:
    """A thread that was only opened or listed, and messages of other programs."""
    other: list[dict[str, Any]] = [
        {"id": 9, "result": {"data": [{"id": THREAD, "preview": "x"}], "nextCursor": None}},
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "textDocument/completion",
            "params": {"position": {}},
        },
        {"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {}, "thread": "main"}},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x"}},
    ]
    assert ingested(store, tmp_path, opened=lines(*opened()), other=lines(*other)) == []
    assert rejects_of(store) == []


def test_events_of_the_first_protocol_are_named_where_they_are_alone() -> None:
    older = {
        "jsonrpc": "2.0",
        "method": "codex/event/token_count",
        "params": {"conversationId": THREAD, "msg": {"type": "token_count"}},
    }
    assert runs_in(lines(older, older).encode()) == (
        [],
        ["Events of Codex's older app-server are not read yet"],
    )
    mixed = [event for one in LOG for event in (older, one)]
    [run], rejects = runs_in(lines(*mixed).encode())
    assert (run.output_tokens, rejects) == (90, [])


def test_a_wrong_count_is_named(store: Store, tmp_path: Path) -> None:
    wrong = server_tokens(-1, 0, 5)
    ingested(store, tmp_path, log=lines(*opened(), wrong, *worked()))
    [(reason, detail)] = rejects_of(store)
    assert reason == "invalid_record"
    assert "inputTokens" in detail


def test_a_thread_with_a_rollout_or_a_stream_is_one_run(store: Store, tmp_path: Path) -> None:
    """The rollout tells more, the stream less."""
    (tmp_path / "rollout.jsonl").write_text(
        lines(meta(THREAD), *turn(1, uncached=10, output=5), event(9, {"type": "x"}))
    )
    (tmp_path / "driver.log").write_text("".join(f"<- {json.dumps(one)}\n" for one in LOG))
    (tmp_path / "exec.jsonl").write_text(thread(completed(uncached=10, read=90, output=5)))
    ingest_paths(store, tmp_path / "driver.log", tmp_path / "exec.jsonl")
    [run] = runs_in_store(store)
    assert (counts(run), run["model"]) == ((200, 1800, 90), "gpt-5.4")
    ingest_paths(store, tmp_path / "rollout.jsonl")
    [run] = runs_in_store(store)
    assert (counts(run), run["record_kind"]) == ((10, 0, 5), "transcript")


LOGS |= {"codex_app_server": lines(*LOG), "codex_app_server_began": lines(*LOG[:-3])}
"""Logs of two runs: see `test_orders_of_logs`."""
