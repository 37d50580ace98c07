"""Items of ISO-Bench: a run for each, even if the agent never started, with the right model.

The record nearest the model names the model.
"""

from __future__ import annotations

import errno
import gzip
import json
import tarfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import tachograph
from app.queries import tasks as task_queries
from app.queries.filters import Filters
from app.queries.run_page import run_page
from app.text import ingests
from app.text.run_text import run_text
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests.conftest import ingest_paths, record_text
from tests.golden_logs import text_of

JOURNAL = {
    "task_id": "vllm_core",
    "commits": {"pre": "aaaa1111", "human": "bbbb2222"},
    "agent_branch": "agent/vllm_core/1",
    "status": "error",
    "run_metadata": {
        "repo": "vllm",
        "agent": "trae",
        "model": "gpt-5",
        "run_timestamp": "2025-12-23_07-54-45",
    },
    "metrics": {
        "time_to_first_edit_s": None,
        "commit_count": 0,
        "patch_size_loc": None,
        "changed_files_count": 0,
    },
    "trae": {"cli": "trae", "time_budget_minutes": 120, "returncode": 1, "duration_s": 0.5},
    "timestamps": {"written": 1766476485.5},
}
MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


def item(folder: Path, number: int, journal: dict[str, Any], **files: str) -> Path:
    place = folder / "vllm" / "trae" / "gpt-5" / "2025-12-23_07-54-45" / f"vllm_core-{number:04}"
    place.mkdir(parents=True)
    texts = {
        "journal.json": json.dumps(journal),
        "task.txt": "Make vLLM faster.\nBe careful.",
        "trae_stdout.txt": "",
    }
    for name, text in (
        texts | {name.replace("__", "."): text for name, text in files.items()}
    ).items():
        (place / name).write_text(text)
    return place


def runs_of(store: Store) -> list[dict[str, Any]]:
    with store.reading() as connection:
        table = connection.sql(
            "select run_id, agent, record_kind, outcome, is_started, errors, repo, task, "
            "base_commit, head_commit, duration_ms, prompt, model, requested_model, started_at, "
            "ended_at from v_runs order by task"
        )
        rows: list[dict[str, Any]] = table.to_arrow_table().to_pylist()
    return rows


def show_text(store: Store, run_id: str) -> str:
    page = run_page(store, run_id)
    assert page
    return run_text(page, 200).decode()


def test_an_item_whose_agent_never_started_is_a_run_that_says_so(
    store: Store, tmp_path: Path
) -> None:
    item(tmp_path, 1, JOURNAL, trae_stderr__txt="ModuleNotFoundError: No module named 'click'")
    report = ingest_paths(store, tmp_path)
    assert (report.total("accepted"), report.total("rejected")) == (1, 0)
    [run] = runs_of(store)
    assert (run["agent"], run["record_kind"], run["outcome"], run["is_started"]) == (
        "trae-agent",
        "sidecar",
        "execution_error",
        False,
    )
    assert run["errors"] == "ModuleNotFoundError: No module named 'click'"
    assert (run["repo"], run["task"], run["base_commit"], run["head_commit"]) == (
        "vllm",
        "vllm_core-0001",
        "aaaa1111",
        "bbbb2222",
    )
    assert (run["duration_ms"], run["prompt"]) == (500, "Make vLLM faster.\nBe careful.")
    assert (rebuild(store).rejects, runs_of(store)) == (0, [run])


@pytest.mark.parametrize(
    ("agent", "code", "status", "outcome"),
    [
        ("codex", 0, "success", "completed"),
        ("codex", 0, "error", "unknown"),  # one of both is wrong
        ("trae", 0, "success", "unknown"),  # it exits with 0 on errors, too
        ("trae", 1, "success", "execution_error"),
        ("trae", -9, "success", "interrupted"),
        ("trae", None, "error", "execution_error"),
    ],
)
def test_the_exit_code_says_how_an_agent_without_a_word_on_its_end_ended(
    agent: str, code: int | None, status: str, outcome: str, store: Store, tmp_path: Path
) -> None:
    """In an item without a log, and beside a log that was cut before its end or never has one."""
    journal = {name: value for name, value in JOURNAL.items() if name != "trae"} | {
        agent: {"returncode": code},
        "status": status,
    }
    item(tmp_path, 1, journal)
    if agent == "codex":
        log = text_of("codex/text_log/cut_off.txt")
        item(tmp_path, 2, journal, codex_stderr__txt=log)
    ingest_paths(store, tmp_path)
    runs = runs_of(store)
    assert [run["outcome"] for run in runs] == [outcome] * len(runs)
    page = show_text(store, runs[-1]["run_id"])
    assert ("completed by exit code 0" in page) == (outcome == "completed")
    assert (rebuild(store).rejects, runs_of(store)) == (0, runs)


def test_the_log_outweighs_the_exit_code_of_its_process(store: Store, tmp_path: Path) -> None:
    text = text_of("codex/text_log/limit.txt")
    item(
        tmp_path,
        1,
        JOURNAL | {"trae": None, "codex": {"returncode": 0}, "status": "success"},
        codex_stderr__txt=text,
    )
    ingest_paths(store, tmp_path)
    assert [(run["outcome"], run["is_started"]) for run in runs_of(store)] == [
        ("limit_reached", True)
    ]


def test_a_run_without_a_model_counts_for_the_one_that_was_asked_for(
    store: Store, tmp_path: Path
) -> None:
    """Journals of before December 2025 name none: then the folder does.

    Neither is a model that answered.
    """
    before = {name: value for name, value in JOURNAL.items() if name != "run_metadata"}
    item(tmp_path / "runs", 1, before)
    later = {
        "timestamps": {"written": 1766476999},
        "trae": {"returncode": 1, "duration_s": 0.7},
    }  # a copy would have the same times
    item(
        tmp_path / "runs",
        2,
        JOURNAL
        | later
        | {"run_metadata": {"model": "us-anthropic-claude-sonnet-4-5-20250929-v1-0"}},
    )
    ingest_paths(store, tmp_path)
    assert [(run["model"], run["requested_model"]) for run in runs_of(store)] == [
        (None, "gpt-5"), (None, "us-anthropic-claude-sonnet-4-5-20250929-v1-0")
    ]  # fmt: skip
    opened = tachograph.open(store.location)
    assert {row["model"] for row in opened.report(by="model", metrics="runs")} == {
        "gpt-5",
        "claude-sonnet-4-5",
    }
    [run] = opened.runs(model="gpt-5")
    assert (run["model"], run["asked_model"]) == (None, "gpt-5")
    page = show_text(store, run["run_id"])
    assert "gpt-5 asked for" in page
    assert "Model asked for" in page


PROMPT = {
    "task": "SGLang core performance",
    "target_files": [],
    "commits": {"pre": "aaaa1111", "human": "bbbb2222"},
}


def test_the_prompt_names_the_task_of_an_item_without_a_journal(
    store: Store, tmp_path: Path
) -> None:
    place = item(
        tmp_path / "runs",
        1,
        JOURNAL,
        prompt__json=json.dumps(PROMPT),
        claude_stdout__txt=record_text(),
    )
    (place / "journal.json").unlink()
    report = ingest_paths(store, tmp_path)
    [run] = runs_of(store)
    assert (run["repo"], run["task"], run["base_commit"], run["head_commit"]) == (
        "sglang",
        "vllm_core-0001",
        "aaaa1111",
        "bbbb2222",
    )
    assert report.total("without_run") == 0


@pytest.mark.parametrize("is_packed", [False, True])
def test_an_item_without_a_journal_and_a_record_is_counted_as_no_run(
    is_packed: bool, store: Store, tmp_path: Path
) -> None:
    """The harness broke off. Its prompt is the same file in every item of a task."""
    for number in (1, 2, 3):
        record = {"claude_stdout__txt": record_text()} if number == 3 else {}
        place = item(tmp_path / "runs", number, JOURNAL, prompt__json=json.dumps(PROMPT), **record)
        (place / "journal.json").unlink() if number != 2 else (place / "journal.json").write_text(
            ""
        )
    path = tmp_path / "runs"
    if is_packed:
        path = tmp_path / "runs.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            archive.add(tmp_path / "runs", "runs")
    report = ingest_paths(store, path)
    assert (report.total("accepted"), report.total("rejected"), report.total("without_run")) == (
        1,
        0,
        2,
    )
    assert "2 items of ISO-Bench" in ingests.without_run(
        [source for source in report.sources if source.without_run]
    )


def test_the_journal_beside_a_record_is_no_run(store: Store, tmp_path: Path) -> None:
    """The record names the model; the harness's label may be a default."""
    item(
        tmp_path,
        1,
        JOURNAL,
        claude_code_stdout__txt=record_text(uuid="a", modelUsage={MODEL: {"costUSD": 0.5}}),
    )
    ingest_paths(store, tmp_path)
    [run] = runs_of(store)
    assert (run["run_id"], run["agent"], run["record_kind"], run["model"]) == (
        "a",
        "claude-code",
        "result",
        "claude-sonnet-4-5",
    )


def test_a_journal_tells_the_wall_time_of_a_record_without_and_the_repository_of_its_plan(
    store: Store, tmp_path: Path
) -> None:
    """Journals of before December 2025 have no `run_metadata`."""
    text = text_of("codex/text_log/total.txt")
    journal = {
        name: value for name, value in JOURNAL.items() if name not in ("run_metadata", "trae")
    }
    item(
        tmp_path,
        1,
        journal | {"codex_cli": {"returncode": 0, "duration_s": 138.4}},
        openhands_stderr__txt=text,
    )
    ingest_paths(store, tmp_path)
    [run] = runs_of(store)
    assert (run["agent"], run["record_kind"], run["duration_ms"], run["repo"]) == (
        "codex",
        "stream",
        138_400,
        "vllm",
    )
    assert run["ended_at"] - run["started_at"] == timedelta(seconds=138.4)
    assert (rebuild(store).rejects, runs_of(store)) == (0, [run])


def test_the_journal_beside_a_compressed_record_is_no_run(store: Store, tmp_path: Path) -> None:
    place = item(tmp_path, 1, JOURNAL | {"status": "success"})
    (place / "claude_code_stdout.txt.gz").write_bytes(gzip.compress(record_text().encode()))
    ingest_paths(store, tmp_path)
    [run] = runs_of(store)
    assert (run["agent"], run["task"], run["head_commit"]) == (
        "claude-code",
        "vllm_core-0001",
        "bbbb2222",
    )


def test_items_of_one_commit_are_one_task_whatever_their_numbers(
    store: Store, tmp_path: Path
) -> None:
    """Each plan of the benchmark numbers its tasks anew."""
    for number, commit in ((1, "cccc3333"), (2, "cccc3333"), (1, "dddd4444")):
        journal = JOURNAL | {"commits": {"human": commit}}
        item(
            tmp_path / f"{number}{commit}",
            number,
            journal,
            claude_code_stdout__txt=record_text(
                uuid=f"{number}{commit}", session_id=f"{number}{commit}"
            ),
        )
    ingest_paths(store, tmp_path)
    cells = task_queries.cells(store, Filters(), ["agent"])
    assert {*cells["task"].to_pylist()} == {"vllm@cccc3333", "vllm@dddd4444"}


def test_a_journal_elsewhere_is_a_sidecar(store: Store, tmp_path: Path) -> None:
    """Without the files of an item beside it, nothing says that a run is missing."""
    (tmp_path / "journal.json").write_text(json.dumps(JOURNAL))
    ingest_paths(store, tmp_path)
    assert runs_of(store) == []


@pytest.mark.parametrize("journals_first", [True, False])
def test_items_in_an_archive_are_the_runs_of_its_folder(
    journals_first: bool, store: Store, tmp_path: Path
) -> None:
    item(tmp_path, 1, JOURNAL, trae_stderr__txt="ModuleNotFoundError: No module named 'click'")
    item(tmp_path, 2, JOURNAL, claude_stdout__txt=record_text())
    files = sorted(
        tmp_path.rglob("*.*"),
        key=lambda path: ((path.name == "journal.json") != journals_first, str(path)),
    )
    with tarfile.open(tmp_path / "runs.tar.xz", "w:xz") as archive:
        for path in files:
            archive.add(path, str(path.relative_to(tmp_path)), recursive=False)
    report = ingest_paths(store, tmp_path / "runs.tar.xz")
    in_archive = runs_of(store)
    assert (report.total("accepted"), len(in_archive)) == (2, 2)
    assert ingest_paths(store, tmp_path / "runs.tar.xz").total("accepted") == 0
    folder = Store(str(tmp_path / "folder.duckdb"))
    ingest_paths(folder, tmp_path / "vllm")
    assert runs_of(folder) == in_archive


def test_the_journal_beside_a_record_that_cannot_be_looked_at_is_no_run(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file system fails for a moment while the neighbours of the journal are looked at.

    One run, and not two.
    """
    place = item(tmp_path, 1, JOURNAL, claude_stdout__txt=record_text())
    looked, usual = [], Path.stat

    def failing(path: Path, **how: Any) -> Any:
        if path.name == "claude_stdout.txt":
            looked.append(path)
            raise OSError(errno.EIO, "Input/output error")
        return usual(path, **how)

    monkeypatch.setattr(Path, "stat", failing)
    ingest_paths(store, place)
    assert looked
    assert [run["record_kind"] for run in runs_of(store)] == ["result"]
