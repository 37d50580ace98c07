"""A search looks in all that names a run, and says where it found what."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.queries import runs as screen_queries
from app.queries.filters import choose
from app.queries.reading import read_transaction
from ingest.store.database import Store
from tests.conftest import StoreOnce, ingest_paths, record_text

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PROMPT = {
    "type": "user",
    "session_id": "sess-One",
    "message": {"content": "Tidy up the logs\nand mention Zanzibar somewhere"},
}
SUMMARY = (
    "Perfect! Rewrote the Größenrechner.\n\n- `src/deep/Scheduler.py` (10 insertions, 2 deletions)"
)


def fill(store: Store) -> None:
    """A run with a prompt, a repository, a task, a session and a changed file; and one without."""
    logs = Path(store.location).parent / "logs" / "night-shift"
    logs.mkdir(parents=True)
    record = record_text(uuid="feed0001", session_id="sess-One", result=SUMMARY)
    (logs / "first.jsonl").write_text(f"{json.dumps(PROMPT)}\n{record}\n")
    (logs / "other.json").write_text(
        record_text(uuid="0000ffff", session_id="other", total_cost_usd=9, result="Nothing here.")
    )
    ingest_paths(store, logs / "first.jsonl", repo="vllm-fork", task="Decode faster")
    ingest_paths(store, logs)


@pytest.fixture(scope="module")
def searched(read_once: StoreOnce) -> Store:
    return read_once("searched", fill)


CASES = [
    ("DECODE fast", "title", "Decode faster"),
    ("zanzibar", "prompt", "… the logs and mention Zanzibar somewhere"),
    ("feed0001", "run_id", "feed0001"),
    ("SESS-one", "session_id", "sess-One"),
    ("vllm-F", "repo", "vllm-fork"),
    ("first.jsonl", "source_name", "…"),
    ("größenrechner", "result", "Perfect! Rewrote the Größenrechner"),
    ("GRÖSSENRECHNER", None, ""),
    ("deep/scheduler", "result", "…"),
    ("100%", None, ""),
]


@pytest.mark.parametrize(("text", "place", "excerpt"), CASES)
def test_a_run_is_found_by_each_of_its_texts(
    text: str, place: str | None, excerpt: str, searched: Store
) -> None:
    with read_transaction(searched) as transaction:
        runs = screen_queries.ids(transaction, transaction.searched(choose({"search": text})))
    assert runs == (["feed0001"] if place else [])
    found = screen_queries.excerpts(searched, ["feed0001", "0000ffff"], text)
    assert {run_id: where for run_id, (where, _) in found.items()} == (
        {"feed0001": place} if place else {}
    )
    assert not place or found["feed0001"][1].startswith(excerpt)


def test_a_changed_file_is_found_that_the_summary_names_in_parts(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(record_text(uuid="a", result="Rewrote it."))
    ingest_paths(store, tmp_path / "a.json")
    with store.writing() as writer:
        writer.connection.execute(
            "insert into file_changes values ('a', 'lib/renamed.py', 3, null)"
        )
    assert screen_queries.excerpts(store, ["a"], "renamed") == {"a": ("path", "lib/renamed.py")}


def test_the_list_says_where_the_search_matches(
    searched: Store, screens: Callable[..., AppTest]
) -> None:
    app = screens(searched.location, "screens/runs.py", search="zanzibar")
    shown = app.dataframe[0].value
    assert list(shown.columns[:2]) == ["title", "excerpt"]
    assert list(shown["excerpt"]) == ["Prompt: … the logs and mention Zanzibar somewhere"]
