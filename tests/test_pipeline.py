"""The path of data: nothing lost, nothing twice, bad input told and never half-written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from app.queries import quality as quality_queries
from app.queries import runs as run_queries
from app.queries.filters import Filters
from ingest.pipeline import IngestReport, Options, ingest
from ingest.reading.settings import Settings
from ingest.reading.tasks import ReadingTask, tasks_of
from ingest.sources.files import BIG_BYTES, Source
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from tests.conftest import SAMPLES, StoreOnce, fetched, ingest_paths, record, record_text

COUNTS = ("documents", "accepted", "duplicates", "rejected", "ignored")


def counts(report: IngestReport) -> tuple[int, ...]:
    return tuple(report.total(name) for name in COUNTS)


def ingest_text(store: Store, text: str | bytes, name: str = "log.json") -> IngestReport:
    return ingest([Source(name, text.encode() if isinstance(text, str) else text)], store)


def rejects(store: Store) -> list[dict[str, Any]]:
    return list(quality_queries.every_reject(store).to_pylist())


def content(store: Store) -> dict[str, pa.Table]:
    """Everything that must not depend on how the logs came in."""
    with store.reading() as connection:
        return {
            "runs": connection.sql(
                "select * exclude (source_id, ordinal) from runs order by run_id"
            ).to_arrow_table(),
            "model_usage": connection.sql(
                "select * from model_usage order by run_id, model_id"
            ).to_arrow_table(),
        }


def test_the_same_bytes_again_change_nothing(store: Store) -> None:
    first = ingest_paths(store, SAMPLES)
    before = content(store)
    again = ingest_paths(store, SAMPLES)
    assert counts(first) == (3, 3, 0, 0, 0)
    assert counts(again) == (3, 0, 3, 0, 0)
    assert all(source.known for source in again.sources)
    assert content(store) == before
    assert quality_queries.every_source(store).num_rows == 3


def test_small_files_that_the_store_has_are_no_task_for_a_reader(tmp_path: Path) -> None:
    """Nor is one that is gone meanwhile taken for one of them: its reader says so."""
    old, again, new, gone = (
        Source("old", b"a"),
        Source("again", b"a"),
        Source("new", b"b"),
        Source("gone", path=tmp_path / "gone"),
    )
    gone.__dict__["size"] = 1
    settings = Settings(known={old.source_id: "log"})
    cards, task = tasks_of(iter([old, new, gone, again]), settings)
    assert isinstance(cards, list)
    assert [(card.name, card.known, card.bytes_read) for card in cards] == [
        ("old", True, 1),
        ("again", True, 1),
    ]
    assert len({card.key for card in cards}) == 2
    assert isinstance(task, ReadingTask)
    assert task.sources == (new, gone)


def test_the_same_record_in_another_file_is_a_duplicate(store: Store) -> None:
    ingest_text(store, record_text())
    report = ingest_text(store, json.dumps(record(), indent=2))
    assert counts(report) == (1, 0, 1, 0, 0)
    assert quality_queries.every_source(store).num_rows == 2


def test_a_list_of_runs_does_not_take_the_place_of_their_records(store: Store) -> None:
    """Whichever comes first, in the same ingest or in another one."""
    batches: tuple[list[Source], list[Source]] = ([], [])
    for number in range(4):
        same = {"uuid": f"{number}", "session_id": f"{number}"}
        listed = {"runs": [record(**same, type=..., result=..., modelUsage=..., usage=...)]}
        texts = {"list": json.dumps(listed), "log": record_text(**same)}
        pair = [Source(f"{name} {number}", text.encode()) for name, text in texts.items()]
        first, second = pair[:: 1 if number % 2 else -1]
        batches[0].append(first)
        batches[number // 2].append(second)
    for batch in batches:
        ingest(batch, store)
    assert {
        (run["run_id"], run["source_name"], run["model"], run["output_tokens"])
        for run in run_queries.runs(store, Filters()).to_pylist()
    } == {(f"{number}", f"log {number}", "claude-opus-4-6", 20) for number in range(4)}
    became = {
        row["name"]: (row["accepted"], row["duplicates"])
        for row in quality_queries.every_source(store).to_pylist()
    }
    assert became == {
        f"{name} {number}": counts
        for number in range(4)
        for name, counts in (("list", (0, 1)), ("log", (1, 0)))
    }


def copies(uuid: str) -> list[tuple[Source, dict[str, str]]]:
    """One record three times: in a stream, and with labels."""
    same = {"uuid": uuid, "session_id": uuid}
    start = json.dumps({"type": "system", "subtype": "init", "session_id": uuid})
    return [
        (Source(f"{uuid} plain", record_text(**same).encode()), {"team": "a"}),
        (Source(f"{uuid} stream", f"{start}\n{record_text(**same)}\n".encode()), {}),
        (
            Source(f"{uuid} again", json.dumps(record(**same), indent=1).encode()),
            {"branch": "main", "repo": "vllm", "team": "b"},
        ),
    ]


@pytest.mark.slow
def test_labels_of_every_copy_stay_whichever_is_kept(store: Store) -> None:
    """Each is the first, the second and the last once."""
    every = [copies(f"run-{number}") for number in range(3)]
    for step in range(5):
        now = [one[step % 3] for number, one in enumerate(every) if number <= step < number + 3]
        ingest([source for source, _ in now], store, Options(tuple(now[0][1].items())))
    for run in run_queries.runs(store, Filters()).to_pylist():
        assert run["source_name"] == f"{run['run_id']} stream"
        assert (dict(run["labels"]), run["repo"]) == (
            {"branch": "main", "repo": "vllm", "team": "a"},
            "vllm",
        )


def test_labels_given_to_logs_that_are_known_are_added(store: Store) -> None:
    ingest_text(store, record_text())
    report = ingest(
        [Source("log.json", record_text().encode())], store, Options((("branch", "main"),))
    )
    assert counts(report)[1:] == (0, 1, 0, 0)
    [run] = run_queries.runs(store, Filters()).to_pylist()
    assert dict(run["labels"]) == {"branch": "main"}


def test_of_the_same_bytes_in_two_places_the_better_known_one_is_read(
    store: Store, tmp_path: Path
) -> None:
    for folder in ("a", "z"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.json").write_text(record_text())
    (tmp_path / "z" / "journal.json").write_text(
        '{"task_id": "core-1", "status": "success", "commits": {"pre": "a", "human": "b"}}'
    )
    ingest_paths(store, tmp_path)
    assert [run["task"] for run in run_queries.runs(store, Filters()).to_pylist()] == ["core-1"]


SYSTEM, ASSISTANT = {"type": "system", "subtype": "init"}, {"type": "assistant"}


COUNTED = {
    "twice": (record_text(uuid="1") + "\n" + record_text(uuid="1"), (2, 1, 1, 0, 0)),
    "a stream": (
        "\n".join(map(json.dumps, [SYSTEM, ASSISTANT, record(uuid="2"), {"type": "user"}]))
        + '\n{"cut',
        (5, 1, 0, 1, 3),
    ),
    "a bad one": (
        "\n".join(
            [
                record_text(uuid="a"),
                record_text(uuid="b", total_cost_usd="1"),
                record_text(uuid="c"),
            ]
        ),
        (3, 2, 0, 1, 0),
    ),
    "a broken line alone": ('{"speedup": 1.5}\n{"speed', (1, 0, 0, 0, 1)),
    "a broken line beside a run": (
        record_text(uuid="3") + '\n{"speedup": 1.5}\n{"speed',
        (3, 1, 0, 1, 1),
    ),
}


def test_every_document_counts_once(store: Store) -> None:
    report = ingest([Source(name, text.encode()) for name, (text, _) in COUNTED.items()], store)
    found = {
        source.name: tuple(getattr(source, name) for name in COUNTS) for source in report.sources
    }
    assert found == {name: counted for name, (_, counted) in COUNTED.items()}


def test_a_stream_without_a_result_is_not_passed_over_in_silence(store: Store) -> None:
    report = ingest_text(
        store, '{"type": "system", "subtype": "init"}\n{"type": "assistant", "session_id": "1"}'
    )
    assert counts(report) == (2, 0, 0, 1, 1)
    assert "2 events, but no result record" in rejects(store)[0]["detail"]


BAD = {
    "truncated": (record_text()[:100], "truncated", "truncated JSON"),
    "broken": ('{"type":"result","num_turns":,}', "not_json", "invalid JSON"),
    "JSON in JSON": (
        json.dumps(record_text()),
        "not_json",
        "looks like a record, but is quoted or not JSON",
    ),
    "Python's dict": (
        str(json.loads(record_text())),
        "not_json",
        "looks like a record, but is quoted or not JSON",
    ),
    "logfmt": (
        "level=info msg=" + json.dumps(record_text()),
        "not_json",
        "looks like a record, but is quoted or not JSON",
    ),
    "Python's object": (
        "ResultMessage(subtype='success', total_cost_usd=0.1)",
        "not_json",
        "looks like a record, but is quoted or not JSON",
    ),
    "10 MB cut": ('{"type":"result","a":"' + "x" * 10_000_000, "truncated", "truncated JSON"),
    "negative cost": (
        record_text(total_cost_usd=-0.25),
        "invalid_record",
        "total_cost_usd: Input should be greater than or equal to 0 (found -0.25)",
    ),
    "text for a number": (
        record_text(num_turns="many"),
        "invalid_record",
        "num_turns: Input should be a whole number from 0 to 2**53 (found 'many')",
    ),
}


@pytest.fixture(scope="module")
def of_bad(store_once: StoreOnce) -> Store:
    """The store of BAD, each in a source of its own: to be read only."""
    sources = [Source(name, text.encode()) for name, (text, *_) in BAD.items()]
    return store_once("bad-input", lambda store: ingest(sources, store, Options(jobs=1)))


@pytest.mark.parametrize("name", BAD)
def test_bad_input_becomes_a_reject_with_its_reason(of_bad: Store, name: str) -> None:
    _, reason, detail = BAD[name]
    found = [reject for reject in rejects(of_bad) if reject["source_name"] == name]
    [source] = [
        source
        for source in quality_queries.every_source(of_bad).to_pylist()
        if source["name"] == name
    ]
    assert (source["accepted"], source["rejected"]) == (0, len(found))
    assert found[0]["reason"] == reason
    assert detail in found[0]["detail"]
    assert len(found[0]["excerpt"]) <= 300


NO_LOGS: tuple[tuple[str, str | bytes, str], ...] = (
    ("run.json", "", "empty"),
    ("a/run.json", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 9, "picture"),
    ("a.json", "[1, 2, 3]", "json"),
    ("b.json", '{"name": "package.json"}', "json"),
    (
        "calls.jsonl",
        (
            '{"agent": "codex", "task": "sort", "duration_ms": 61200, "cost_usd": 0.42, '
            '"session_id": "s"}'
        ),
        "rows",
    ),
    (
        "llm.jsonl",
        '{"id": "r_1", "model": "gpt-5.4", "duration_ms": 812, "usage": {"prompt_tokens": 9}}\n'
        * 2,
        "rows",
    ),
    (
        "typed.jsonl",
        (
            '{"type": "result", "model": "glm-5", "duration_ms": 4, "total_cost_usd": 0.1, '
            '"session_id": "s"}'
        ),
        "rows",
    ),
    (
        "steps.json",
        (
            '{"run": 1, "steps": [{"cli": "claude", "model": "claude-opus-5", "duration_ms": 4, '
            '"usage": {}}]}'
        ),
        "rows",
    ),
    ("results.jsonl", '{"speedup": 1.5}\n{"speedup": 2}\n{"speed', "json"),
    ("a.log", "x" * 10_000_000, "text"),
    ("a.py", 'import json\nprint(json.dumps({"type": "result", "x": total_cost_usd}))', "source"),
)


def test_a_file_that_is_no_log_is_one_ignored_document_with_a_kind(store: Store) -> None:
    sources = [
        Source(name, data.encode() if isinstance(data, str) else data) for name, data, _ in NO_LOGS
    ]
    kinds = {name: kind for name, _, kind in NO_LOGS}
    for _ in range(2):  # the second time they are known
        report = ingest(sources, store, Options(jobs=1))
        assert {source.name: source.kind for source in report.sources} == kinds
        assert {
            (one.documents, one.accepted, one.duplicates, one.rejected, one.ignored)
            for one in report.sources
        } == {(1, 0, 0, 0, 1)}
        assert {
            source["name"]: source["kind"]
            for source in quality_queries.every_source(store).to_pylist()
        } == kinds
    assert rejects(store) == []


def test_an_error_while_writing_leaves_the_store_as_it_was(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest_text(store, record_text(uuid="a"))
    before = content(store)
    monkeypatch.setattr("ingest.store.commit.rechain", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ingest_text(store, record_text(uuid="b"))
    assert content(store) == before
    assert quality_queries.every_source(store).num_rows == 1


def test_nothing_readable_makes_no_store(store: Store, tmp_path: Path) -> None:
    report = ingest_paths(store, tmp_path / "nowhere")
    assert len(report.unreadable) == 1
    assert not store.exists()


@pytest.mark.parametrize("size", [0, BIG_BYTES], ids=["small", "big"])
def test_a_log_that_is_gone_when_it_is_read_is_told_and_the_others_go_on(
    store: Store, tmp_path: Path, size: int
) -> None:
    gone, there = tmp_path / "gone.jsonl", tmp_path / "there.json"
    gone.write_text((record_text(uuid="a") + "\n") * (size // 600 + 1))
    there.write_text(record_text(uuid="b"))
    sources = list(read_paths([gone, there]))
    gone.unlink()
    report = ingest(sources, store)
    assert [error.message for error in report.unreadable] == [
        f"cannot read {gone}: No such file or directory"
    ]
    assert counts(report) == (1, 1, 0, 0, 0)


@pytest.mark.slow
def test_a_big_file_is_read_in_portions_as_if_it_were_whole(store: Store, tmp_path: Path) -> None:
    count = BIG_BYTES // 50_000
    lines = [
        record_text(uuid=f"{number}", session_id=f"s{number}", padding="x" * 50_000)
        for number in range(count)
    ]
    (tmp_path / "big.jsonl").write_text("\n".join([*lines, lines[0], lines[1][:-9]]))
    progress: list[int] = []
    report = ingest(
        read_paths([tmp_path / "big.jsonl"]),
        store,
        on_progress=lambda done: progress.append(done.bytes),
    )
    assert counts(report) == (count + 2, count, 1, 1, 0)
    assert sum(progress) == (tmp_path / "big.jsonl").stat().st_size
    assert fetched(
        store, "select min(ordinal), max(ordinal), count(distinct ordinal) from runs"
    ) == [(0, count - 1, count)]
    assert rejects(store)[0]["ordinal"] == count + 1


LOGS = [
    Source("one.json", record_text(uuid="1").encode()),
    Source("two.jsonl", f"{record_text(uuid='1')}\n{record_text(uuid='2')}\n{{".encode()),
    Source("three.json", json.dumps([record(uuid="3"), {"type": "system"}]).encode()),
    Source("four.txt", b"nothing"),
]


def test_order_batches_and_repetition_do_not_matter(store: Store, tmp_path: Path) -> None:
    """Of equal copies of a record the same one is kept, whichever comes first."""
    ingest(LOGS, store)
    kept = "select run_id, source_id, ordinal from runs order by 1"
    for first in (LOGS[0], LOGS[1]):
        mixed = Store(tmp_path / f"{first.name}.duckdb")
        for batch in ([first], [LOGS[3], *LOGS[:3]]):
            ingest(batch, mixed)
        assert (content(mixed), fetched(mixed, kept)) == (content(store), fetched(store, kept))
