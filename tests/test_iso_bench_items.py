"""Items of ISO-Bench: what reports, pages and tasks say of them."""

from __future__ import annotations

import errno
import json
import tarfile
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
from tests.conftest import ingest_paths, record_text

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
