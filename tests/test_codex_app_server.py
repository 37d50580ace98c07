"""Messages of `codex app-server` in the logs of its drivers: a run for each thread, with its last total, whatever else is in the log."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.agents.codex.streams import CodexAppServer
from ingest.store.database import Store
from tests.conftest import ingest_paths, record_text
from tests.documents import ingested, lines, read_log, rejects_of, runs_in, runs_in_store, tools_of
from tests.test_codex import STARTED, at, completed, counts, event, meta, thread, turn, uuid7

THREAD = uuid7(STARTED)


def notice(method: str, thread_id: str = THREAD, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": thread_id} | params}


def tokens(given: int, read: int, output: int, last: tuple[int, int, int] | None = None, thread_id: str = THREAD) -> dict[str, Any]:
    names = ("inputTokens", "cachedInputTokens", "outputTokens")
    told = {"total": dict(zip(names, (given, read, output), strict=True)) | {"totalTokens": given + output}}
    return notice("thread/tokenUsage/updated", thread_id, tokenUsage=told | {"last": dict(zip(names, last or (1, 0, 1), strict=True))})


def opened(thread_id: str = THREAD, model: str | None = "gpt-5.4", **more: Any) -> list[dict[str, Any]]:
    about = {"id": thread_id, "cwd": "/work", "cliVersion": "0.116.0", "modelProvider": "openai", "gitInfo": {"branch": "main"}} | more
    told = {"thread": about, "approvalPolicy": "never"} | ({"model": model} if model else {})
    return [
        {"method": "thread/start", "id": 1, "params": {"model": "gpt-5.5", "cwd": "/work"}},
        {"id": 1, "result": told},
        {"method": "thread/started", "params": {"thread": {"id": thread_id}}},
        {"method": "turn/start", "id": 2, "params": {"threadId": thread_id, "input": [{"type": "text", "text": "Make it faster."}]}},
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
        notice("item/completed", thread_id, item=item | {"status": "completed", "exitCode": 1, "aggregatedOutput": record_text()}),
        tokens(2000 * number - 1000, 1800 * number - 900, 90 * number - 40, thread_id=thread_id),
        tokens(2000 * number, 1800 * number, 90 * number, thread_id=thread_id),
        tokens(2000 * number, 1800 * number, 90 * number, thread_id=thread_id),
        notice("item/completed", thread_id, item=said),
        notice("turn/completed", thread_id, turn=about),
    ]


LOG = [*opened(), *worked()]


def test_a_thread_is_one_run(store: Store, tmp_path: Path) -> None:
    [run] = ingested(store, tmp_path, log=lines(*LOG))
    assert counts(run) == (200, 1800, 90)
    assert (run["run_id"], run["agent"], run["model"], run["agent_version"]) == (THREAD, "codex", "gpt-5.4", "0.116.0")
    assert (run["outcome"], run["num_turns"], run["record_kind"], run["tokens_basis"]) == ("completed", 1, "stream", "exact")
    assert (run["prompt"], run["result"], run["cwd"], run["branch"]) == ("Make it faster.", "Turn 1: it is 2x faster.", "/work", "main")
    assert (run["started_at"], run["permission_mode"]) == (STARTED, "never")
    assert tools_of(store) == [("command_execution", 1, 1)]


def test_logs_of_every_kind_are_read() -> None:
    """Bare, behind a prefix, with the protocol's version, in an array, and in objects that say when and which way."""
    stamps = [at(number) for number in range(len(LOG))]
    texts = {
        "bare": lines(*LOG),
        "spaced": "".join(json.dumps(one) + "\r\n" for one in LOG),
        "prefixed": "[started] model=x\n" + "".join(f"[recv] {json.dumps(one)}\n" for one in LOG) + "[completed] elapsed=9s\n",
        "directions": "".join(f"{'->' if 'id' in one else '<-'} {line}" for one, line in zip(LOG, map(lines, LOG), strict=True)),
        "dated": "".join(f"{stamp} INFO codex: {json.dumps(one)}\n" for stamp, one in zip(stamps, LOG, strict=True)),
        "versioned": lines(*({"jsonrpc": "2.0"} | one for one in LOG)),
        "array": json.dumps(LOG, indent=2),
        "wrapped": lines(*({"timestamp": stamp, "direction": "received", "message": one} for stamp, one in zip(stamps, LOG, strict=True))),
        "typed": lines(*({"type": "rpc", "ts": stamp, "payload": one} for stamp, one in zip(stamps, LOG, strict=True))),
    }
    for kind, text in texts.items():
        [run] = read_log(text)
        assert (counts(run), run["outcome"], run["model"]) == ((200, 1800, 90), "completed", "gpt-5.4"), kind
        lasted = 1000 * (len(LOG) - 2) if kind in ("dated", "wrapped", "typed") else None
        assert run["duration_ms"] == lasted, kind


def test_threads_of_one_log_are_runs_of_their_own() -> None:
    other = uuid7(STARTED + timedelta(hours=1))
    both = [*LOG, *opened(other), *worked(other)]
    mixed: list[dict[str, Any]] = [one for pair in zip(LOG, [*opened(other), *worked(other)], strict=True) for one in pair]
    for log in (both, mixed):
        assert [(run["run_id"], counts(run)) for run in read_log(lines(*log))] == [(THREAD, (200, 1800, 90)), (other, (200, 1800, 90))]


def test_of_very_many_threads_each_is_a_run() -> None:
    ids = [uuid7(STARTED, number) for number in range(CodexAppServer.MOST_OPEN + 9)]
    runs = read_log(lines(*(one for thread_id in ids for one in worked(thread_id))))
    assert {run["run_id"] for run in runs} == set(ids)


def test_a_log_that_is_cut_off_was_interrupted() -> None:
    """With the tokens up to there, which are a lower bound within a turn alone, and a reject of a torn message."""
    runs, rejects = runs_in(lines(*LOG[:-1]).encode())
    assert ([(run.outcome, run.output_tokens, run.tokens_basis) for run in runs], rejects) == ([("interrupted", 90, "lower_bound")], [])
    [run] = read_log(lines(*LOG[:-1], notice("turn/completed", turn={"id": "t1", "status": "interrupted"})))
    assert (run["outcome"], run["tokens_basis"]) == ("interrupted", "exact")
    runs, rejects = runs_in((lines(*LOG[:-1]) + json.dumps(LOG[-1])[:60]).encode())
    assert ([(run.outcome, run.output_tokens) for run in runs], rejects) == ([("interrupted", 90)], ["truncated JSON"])


@pytest.mark.parametrize(
    ("status", "error", "outcome"),
    [
        ("interrupted", None, "interrupted"),
        ("failed", {"message": "It is over.", "codexErrorInfo": "usageLimitExceeded"}, "limit_reached"),
        ("failed", {"message": "It is over.", "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 502}}}, "api_error"),
        ("failed", {"message": "You've hit your usage limit."}, "limit_reached"),
        ("failed", {"message": "no such file", "codexErrorInfo": "other"}, "execution_error"),
        ("failed", None, "execution_error"),
        ("unheard of", None, "unknown"),
    ],
)
def test_the_status_of_the_last_turn_is_the_outcome(status: str, error: Any, outcome: str) -> None:
    [run] = read_log(lines(*LOG, *worked(number=2, status=status, error=error)))
    assert (run["outcome"], run["terminal_reason"], run["num_turns"]) == (outcome, status, 2)
    assert run["errors"] == (error["message"] if error else "turn failed" if status == "failed" else None)


def test_the_notice_of_a_retry_is_no_failure() -> None:
    retry = notice("error", error={"message": "Reconnecting… 1/5"}, willRetry=True)
    [run] = read_log(lines(*LOG[:-1], retry, LOG[-1]))
    assert (run["outcome"], run["errors"]) == ("completed", None)


def test_the_model_is_that_of_the_moment(store: Store, tmp_path: Path) -> None:
    """By the answer to thread/start, settings, a turn's request, or whoever answers in place of it; else by the request of the thread."""
    settings = notice("thread/settings/updated", threadSettings={"model": "gpt-5.4-mini"})
    rerouted = notice("model/rerouted", turnId="t3", fromModel="gpt-5.4-mini", toModel="gpt-5.2")
    third = worked(number=3)
    ingested(store, tmp_path, log=lines(*LOG, settings, *worked(number=2), third[0], rerouted, *third[1:]))
    with store.reading() as connection:
        rows = connection.sql("select model_id, output_tokens from model_usage order by 1").fetchall()
    assert rows == [("gpt-5.2", 90), ("gpt-5.4", 90), ("gpt-5.4-mini", 90)]
    [run] = read_log(lines(*opened(model=None), *worked()))
    assert run["model"] == "gpt-5.5"


def test_the_total_of_a_fork_begins_with_that_of_its_parent() -> None:
    """Told again before its first turn, or with the first request."""
    fork = uuid7(STARTED + timedelta(hours=1))
    begun = opened(fork, forkedFromId=THREAD)
    own = [tokens(5000, 4000, 500, last=(600, 500, 30), thread_id=fork), tokens(6000, 4900, 540, thread_id=fork)]
    began, *_, ended = worked(fork)
    again = [tokens(4400, 3500, 470, (9, 0, 9), fork)]
    for before in (again[:0], again):
        [run] = read_log(lines(*begun, *before, began, *own, ended))
        assert (counts(run), run["parent_run_id"]) == ((200, 1400, 70), THREAD)


def test_a_thread_that_was_only_opened_or_listed_is_no_run() -> None:
    listed = {"id": 9, "result": {"data": [{"id": THREAD, "preview": "x"}], "nextCursor": None}}
    assert read_log(lines(*opened(), listed)) == []


def test_events_of_the_first_protocol_are_named_where_they_are_alone() -> None:
    older = {"jsonrpc": "2.0", "method": "codex/event/token_count", "params": {"conversationId": THREAD, "msg": {"type": "token_count"}}}
    assert runs_in(lines(older, older).encode()) == ([], ["Events of Codex's older app-server are not read yet"])
    mixed = [event for one in LOG for event in (older, one)]
    [run], rejects = runs_in(lines(*mixed).encode())
    assert (run.output_tokens, rejects) == (90, [])


def test_other_programs_messages_are_no_run(store: Store, tmp_path: Path) -> None:
    other: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "textDocument/completion", "params": {"position": {}}},
        {"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {}, "thread": "main"}},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x"}},
    ]
    assert ingested(store, tmp_path, log=lines(*other)) == []
    assert rejects_of(store) == []


def test_a_wrong_count_is_named(store: Store, tmp_path: Path) -> None:
    wrong = tokens(-1, 0, 5)
    ingested(store, tmp_path, log=lines(*opened(), wrong, *worked()))
    [(reason, detail)] = rejects_of(store)
    assert reason == "invalid_record"
    assert "inputTokens" in detail


def test_a_thread_with_a_rollout_or_a_stream_is_one_run(store: Store, tmp_path: Path) -> None:
    """The rollout tells more, the stream less."""
    (tmp_path / "rollout.jsonl").write_text(lines(meta(THREAD), *turn(1, uncached=10, output=5), event(9, {"type": "x"})))
    (tmp_path / "driver.log").write_text("".join(f"<- {json.dumps(one)}\n" for one in LOG))
    (tmp_path / "exec.jsonl").write_text(thread(completed(uncached=10, read=90, output=5)))
    ingest_paths(store, tmp_path / "driver.log", tmp_path / "exec.jsonl")
    [run] = runs_in_store(store)
    assert (counts(run), run["model"]) == ((200, 1800, 90), "gpt-5.4")
    ingest_paths(store, tmp_path / "rollout.jsonl")
    [run] = runs_in_store(store)
    assert (counts(run), run["record_kind"]) == ((10, 0, 5), "transcript")


LOGS = {"codex_app_server": lines(*LOG), "codex_app_server_began": lines(*LOG[:-3])}
"""Logs of two runs: see `test_orders_of_logs`."""
