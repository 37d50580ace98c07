"""What runs are called: a word at least, by a task that is given later, or by their file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.queries.reading import fetch
from ingest.findings.titles import LONGEST_TITLE, title_of
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from tests.conftest import ingest_paths, record_text

ASKED = {
    "type": "user",
    "session_id": "s",
    "message": {"role": "user", "content": "First question"},
}


@given(st.text(), st.text())
def test_a_title_is_short_one_line_and_has_a_word(prompt: str, summary: str) -> None:
    title = title_of(prompt, summary)
    assert title is None or (
        0 < len(title) <= LONGEST_TITLE
        and title == " ".join(title.split())
        and any(map(str.isalnum, title))
    )


def result(number: int, **more: Any) -> str:
    return record_text(uuid=f"run-{number}", session_id="s", total_cost_usd=number, **more)


def column(store: Store, name: str) -> dict[str, Any]:
    return {
        row["run_id"]: row[name]
        for row in fetch(store, f"select run_id, {name} from v_runs").to_pylist()
    }


def test_the_task_is_the_title_also_where_it_is_given_later(store: Store) -> None:
    source = Source("a.jsonl", f"{json.dumps(ASKED)}\n{result(1)}\n".encode())
    ingest([source], store)
    assert column(store, "title") == {"run-1": "First question"}
    ingest([source], store, Options((("task", "Speed up decoding"),)))
    assert column(store, "title") == {"run-1": "Speed up decoding"}


def test_without_words_a_run_is_called_by_its_file_without_the_folders_that_all_share(
    store: Store, tmp_path: Path
) -> None:
    for name, numbers in (
        ("logs/night/a/run.json", (1,)),
        ("logs/night/b/run.jsonl", (2, 3)),
        (f"logs/night/{'deep/' * 30}x.json", (4,)),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"{result(number, result='')}\n" for number in numbers))
    ingest_paths(store, tmp_path / "logs")
    titles = column(store, "title")
    assert [titles[f"run-{number}"] for number in (1, 2, 3)] == [
        "a/run.json",
        "b/run.jsonl #1",
        "b/run.jsonl #2",
    ]
    assert (len(titles["run-4"]), titles["run-4"][:1], titles["run-4"][-12:]) == (
        80,
        "…",
        "/deep/x.json",
    )
