"""Inspect AI: each sample is a run, input excludes the cache, and carried-over samples count once.

The input excludes the cache in every version.
"""

from __future__ import annotations

import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard

from ingest.store.database import Store
from tests.conftest import ingest_paths, record_text
from tests.documents import read_log, runs_in_store, stored

MODEL = "openai/gpt-4o-mini"


def usage(given: int = 100, output: int = 10, **more: Any) -> dict[str, Any]:
    return {"input_tokens": given, "output_tokens": output, "total_tokens": given + output} | more


def sample(number: int = 1, **changes: Any) -> dict[str, Any]:
    call = {"event": "model", "model": MODEL, "output": {"usage": usage(), "time": 1.5}}
    events = [
        {"event": "sample_init", "timestamp": "2025-05-12T20:27:36.5-04:00"},
        call | {"timestamp": "2025-05-12T20:27:37-04:00"},
        {
            "event": "tool",
            "timestamp": "2025-05-12T20:27:38-04:00",
            "id": "c1",
            "function": "bash",
            "error": {"type": "timeout"},
        },
        {
            "event": "tool",
            "timestamp": "2025-05-12T20:27:39-04:00",
            "id": "c2",
            "function": "bash",
            "result": record_text(),
        },
        call | {"timestamp": "2025-05-12T20:27:56.5-04:00"},
    ]
    return {
        "id": number,
        "epoch": 1,
        "input": "Make it faster.",
        "target": "",
        "messages": [],
        "output": {
            "model": "gpt-4o-mini",
            "choices": [{"message": {"content": "Parsing is 2x faster."}}],
            "usage": usage(),
        },
        "scores": {"includes": {"value": "C"}},
        "model_usage": {MODEL: usage(200, 20)},
        "events": events,
        "total_time": 18.517,
        "uuid": f"uuid-{number}",
        "attachments": {"abc": "A long text."},
    } | changes


def header(status: str = "success", **changes: Any) -> dict[str, Any]:
    about = {
        "run_id": "RUN",
        "task": "browser",
        "task_version": 0,
        "model": MODEL,
        "packages": {"inspect_ai": "0.3.95"},
    }
    sums = {"model_usage": {MODEL: usage(9_000, 900)}}
    return {
        "version": 2,
        "status": status,
        "eval": about | changes,
        "plan": {"name": "plan"},
        "results": {},
        "stats": sums,
    }


def log(*samples: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return header(**changes) | {"samples": list(samples)}


def test_each_sample_is_a_run_with_its_own_tokens(store: Store, tmp_path: Path) -> None:
    first, second = stored(
        store, tmp_path, log(sample(1), sample(2, scores={"includes": {"value": "I"}}))
    )
    assert (first["run_id"], first["task"], first["score"]) == ("uuid-1", "browser/1", 1.0)
    assert (second["run_id"], second["task"], second["score"]) == ("uuid-2", "browser/2", 0.0)
    assert (first["input_tokens"], first["output_tokens"], first["tokens_basis"]) == (
        200,
        20,
        "exact",
    ), "not the sums of the log"
    assert (first["agent"], first["agent_version"], first["outcome"]) == (
        "inspect-ai",
        "0.3.95",
        "completed",
    )
    assert (
        first["num_turns"],
        first["duration_ms"],
        first["duration_api_ms"],
        first["ended_at"] - first["started_at"],
    ) == (
        2,
        18_517,
        3000,
        timedelta(seconds=20),
    )
    assert (first["result"], first["prompt"], first["cost"]) == (
        "Parsing is 2x faster.",
        "Make it faster.",
        None,
    )
    with store.reading() as connection:
        assert connection.sql("select distinct tool, calls, errors from tool_calls").fetchall() == [
            ("bash", 2, 1)
        ]


@pytest.mark.parametrize(
    ("told", "uncached", "basis"),
    [
        ((100, 110, 60, None), 40, "exact"),  # before 0.3.184, OpenAI: inside
        ((100, 200, 60, 30), 100, "exact"),  # Anthropic, and all since 0.3.184: beside
        ((100, 110, 0, 0), 100, "exact"),
        ((100, 0, 60, 0), 40, "estimate"),
        ((50, 0, 60, 0), 50, "estimate"),
    ],
)
def test_the_total_tells_whether_the_cache_is_inside_the_input(
    told: tuple[int | None, ...], uncached: int, basis: str
) -> None:
    names = ("input_tokens", "total_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    counts = dict(zip(names, told, strict=True)) | {"output_tokens": 10}
    [run] = read_log(log(sample(model_usage={MODEL: counts})))
    assert (run["input_tokens"], run["cache_read_tokens"], run["tokens_basis"]) == (
        uncached,
        told[2],
        basis,
    )


def test_an_answer_of_inspects_own_cache_is_not_paid() -> None:
    """It has an event with the first answer's tokens, but its sample's model usage has no entry."""
    model = "anthropic/claude-sonnet-4-6"
    live = {
        "event": "model",
        "model": model,
        "output": {"usage": usage(), "time": 1.5},
        "timestamp": "2025-05-12T20:27:37-04:00",
    }
    cached = live | {"cache": "read"}
    paid = sample(1, events=[live, cached], model_usage={model: usage()})
    first, second, oldest = read_log(
        log(
            paid,
            sample(2, events=[cached, cached], model_usage={}),
            sample(3, events=[live, cached], model_usage=None),
            model=model,
        )
    )
    names = (
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "tokens_basis",
        "duration_api_ms",
        "num_turns",
    )
    assert [first[name] for name in names] == [100, 10, 0, 0, "exact", 1500, 2]
    assert [second[name] for name in names] == [0, 0, 0, 0, "exact", None, 2]
    assert [oldest[name] for name in names] == [100, 10, 0, 0, "exact", 1500, 2]


def test_a_retried_evaluation_carries_samples_over_once(store: Store, tmp_path: Path) -> None:
    cancelled = log(sample(1), status="cancelled")
    runs = stored(store, tmp_path, log(sample(1), sample(2), run_id="LATER"), cancelled)
    assert [run["run_id"] for run in runs] == ["uuid-1", "uuid-2"]


def test_epochs_of_an_old_log_are_runs_of_their_own() -> None:
    runs = read_log(log(sample(uuid=None), sample(uuid=None, epoch=2)))
    assert [run["run_id"] for run in runs] == ["RUN/1/1", "RUN/1/2"]


def test_the_oldest_logs_tell_tokens_by_call() -> None:
    events = sample()["events"]
    old = sample(
        events=None, model_usage=None, transcript={"events": events}, total_time=None, uuid=None
    )
    [run] = read_log(log(old))
    assert (run["input_tokens"], run["output_tokens"], run["num_turns"], run["duration_ms"]) == (
        200,
        20,
        2,
        None,
    )


@pytest.mark.parametrize(
    ("changes", "status", "outcome"),
    [
        ({"limit": {"type": "message", "limit": 50}}, "success", "limit_reached"),
        ({"limit": {"type": "cost", "limit": 5}}, "success", "max_budget"),
        ({"limit": {"type": "operator", "limit": 1}}, "success", "interrupted"),
        ({"error": {"message": "CancelledError()"}}, "cancelled", "interrupted"),
        ({"error": {"message": "RateLimitError('Error code: 429')"}}, "error", "limit_reached"),
        ({"error": {"message": "ValueError('x')"}}, "error", "execution_error"),
        ({"error": {"message": "DockerSandboxError('no such container')"}}, "error", "unknown"),
        ({}, "cancelled", "completed"),
        ({"scores": None, "total_time": None}, "started", "interrupted"),
    ],
)
def test_how_a_sample_ended(changes: dict[str, Any], status: str, outcome: str) -> None:
    [run] = read_log(log(sample(**changes), status=status))
    assert (run["outcome"], run["input_tokens"]) == (outcome, 200), "what failed has its tokens too"


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("P", 0.5),
        ("N", 0.0),
        (0.25, 0.25),
        (True, 1.0),
        ({"f1": 0.5}, 0.5),
        ({"a": 1, "b": 2}, None),
        ([1], None),
        ("x", None),
        (float("nan"), None),
    ],
)
def test_values_of_scores(value: Any, score: float | None) -> None:
    [run] = read_log(log(sample(scores={"s": {"value": value}})))
    assert run["score"] == score


def test_a_later_scorer_gives_no_score_where_the_first_has_several_values() -> None:
    first = {"value": {"main_task": True, "side_task": False}}
    [run] = read_log(log(sample(scores={"task": first, "suspicion": {"value": 9}})))
    assert run["score"] is None


def test_texts_among_the_attachments_and_in_parts() -> None:
    asked = [
        {"role": "system", "content": "You are."},
        {"role": "user", "content": "attachment://abc"},
    ]
    parts = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "It is"},
        {"type": "text", "text": "2x faster."},
    ]
    [run] = read_log(
        log(sample(input=asked, output={"choices": [{"message": {"content": parts}}]}))
    )
    assert (run["prompt"], run["result"]) == ("A long text.", "It is\n2x faster.")


def test_cost_is_that_of_a_price_table() -> None:
    both = {MODEL: usage(total_cost=0.1), "anthropic/claude-sonnet-4-5": usage(total_cost=0.2)}
    [run] = read_log(log(sample(model_usage=both)))
    assert (run["cost"], run["input_tokens"]) == (0.3, 200)


def test_a_wrong_sample_is_rejected_and_the_others_are_kept(store: Store, tmp_path: Path) -> None:
    wrong = sample(2, model_usage={MODEL: usage() | {"output_tokens": -5}})
    assert [run["run_id"] for run in stored(store, tmp_path, log(sample(1), wrong, sample(3)))] == [
        "uuid-1",
        "uuid-3",
    ]
    with store.reading() as connection:
        [(detail,)] = connection.sql("select detail from rejects").fetchall()
        [counted] = connection.sql("select documents, accepted, rejected from sources").fetchall()
    assert "sample 2" in detail
    assert f"model_usage.{MODEL}.output_tokens" in detail
    assert counted == (3, 2, 1)


def test_a_log_without_samples_is_no_run(store: Store, tmp_path: Path) -> None:
    assert stored(store, tmp_path, log(), header()) == []


def test_a_torn_log_is_one_reject_and_the_whole_log_replaces_it(
    store: Store, tmp_path: Path
) -> None:
    whole = json.dumps(log(sample(1, events=[]), sample(2, events=[])), indent=2)
    (tmp_path / "torn.json").write_text(whole[:-200])
    assert ingest_paths(store, tmp_path / "torn.json").total("rejected") == 1
    assert runs_in_store(store) == []
    (tmp_path / "whole.json").write_text(whole)
    ingest_paths(store, tmp_path / "whole.json")
    assert [(run["run_id"], run["task"]) for run in runs_in_store(store)] == [
        ("uuid-1", "browser/1"),
        ("uuid-2", "browser/2"),
    ]


def test_a_sample_without_its_log_and_uuid_is_rejected(store: Store, tmp_path: Path) -> None:
    assert stored(store, tmp_path, sample(uuid=None)) == []
    with store.reading() as connection:
        assert connection.sql("select count(*) from rejects").fetchall() == [(1,)]


def zipped(path: Path, *members: tuple[str, Any], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, value in members:
            archive.writestr(name, json.dumps(value, indent=2))
    return path


START = {"version": 2, "eval": header()["eval"], "plan": {}}
PARTS = (
    ("_journal/start.json", START),
    *((f"samples/{number}_epoch_1.json", sample(number, uuid=None)) for number in (1, 2)),
)
SUMMARIES = ("summaries.json", [{"id": 1, "epoch": 1, "model_usage": {MODEL: usage()}}])


@pytest.mark.parametrize(
    "ending", [(SUMMARIES, ("header.json", header())), ()], ids=["finished", "unfinished"]
)
def test_an_archive_is_one_log(
    ending: tuple[tuple[str, Any], ...], store: Store, tmp_path: Path
) -> None:
    report = ingest_paths(store, zipped(tmp_path / "log.eval", *PARTS, *ending))
    assert [(run["run_id"], run["task"], run["input_tokens"]) for run in runs_in_store(store)] == [
        ("RUN/1/1", "browser/1", 200),
        ("RUN/2/1", "browser/2", 200),
    ]
    assert (report.total("accepted"), report.total("rejected")) == (2, 0)
    assert ingest_paths(store, tmp_path / "log.eval").total("accepted") == 0, (
        "the same again changes nothing"
    )


def test_an_archive_and_the_same_log_as_json_are_the_same_runs(
    store: Store, tmp_path: Path
) -> None:
    ingest_paths(store, zipped(tmp_path / "log.eval", *PARTS, ("header.json", header())))
    before = runs_in_store(store)
    assert stored(store, tmp_path, log(*(value for name, value in PARTS[1:]))) == before


def test_of_members_with_one_name_the_later_one_counts(store: Store, tmp_path: Path) -> None:
    path = zipped(tmp_path / "log.eval", *PARTS)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr(
            "samples/1_epoch_1.json",
            json.dumps(sample(1, uuid=None, model_usage={MODEL: usage(7, 1)})),
        )
    ingest_paths(store, path)
    assert [run["input_tokens"] for run in runs_in_store(store)] == [7, 200]


def test_a_damaged_member_is_a_reject_and_the_others_are_runs(store: Store, tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "log.eval", *PARTS, ("header.json", header()), compression=zipfile.ZIP_STORED
    )
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Parsing is 2x", b"Parsing is 9x", 1))
    assert ingest_paths(store, path).total("rejected") == 1
    assert [run["run_id"] for run in runs_in_store(store)] == ["RUN/2/1"]


def test_members_compressed_with_zstandard(store: Store, tmp_path: Path) -> None:
    """The method that Inspect uses since 0.3.206; `zipfile` reads it from Python 3.14 on only."""
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in (*PARTS, ("header.json", header())):
            archive.writestr(name, zstandard.compress(json.dumps(value).encode()))
        for entry in archive.infolist():
            entry.compress_type = 93
    ingest_paths(store, path)
    assert [run["run_id"] for run in runs_in_store(store)] == ["RUN/1/1", "RUN/2/1"]


def test_a_truncated_archive_is_rejected(store: Store, tmp_path: Path) -> None:
    path = zipped(tmp_path / "log.eval", *PARTS)
    path.write_bytes(path.read_bytes()[:-30])
    assert (ingest_paths(store, path).total("rejected"), runs_in_store(store)) == (1, [])


LOGS = {
    "inspect": json.dumps(log(sample(1), sample(2))),
    "inspect_retried": json.dumps(log(sample(2))),
}
"""Logs of two runs: see `test_orders_of_logs`."""
