"""`--no-text`: no word of a session is in the store, and every figure is."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.pipeline import Options, ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store, arrow
from ingest.store.opening import VIEWS
from ingest.store.rebuild import rebuild
from schemas.rows.tables import TABLES
from tests.claude_lines import SESSION
from tests.conftest import MadeOnce, StoreOnce, fetched, record
from tests.documents import lines
from tests.examples import a_share, written_down

WORD = "Quetzalcoatlus"
"""In every text of the files below, and in nothing else."""

SAID = f"{WORD} is 3.2x faster end to end, measured with hyperfine ({WORD}.py, +12/-3)."
GOLDEN = Path(__file__).parent / "golden/said_in_sessions"
FILES = {
    path.relative_to(GOLDEN).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(GOLDEN.rglob("*"))
    if path.is_file()
}
"""A session with a sub-agent, a rollout, results, a torn log and patches."""
MAIN = f"projects/-srv-shop/{SESSION}.jsonl"


def put(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def read(store: Store, folder: Path, *, keeps_text: bool = False) -> None:
    ingest(read_paths([folder]), store, Options(jobs=1, keeps_text=keeps_text))


def with_the_word(store: Store) -> list[tuple[str, str]]:
    """(table, column) of every value that has the word."""
    with (
        store.reading() as connection
    ):  # a query for each table: one for each column binds the views hundreds of times
        tables = {table: arrow(connection, f"select * from {table}") for table in (*TABLES, *VIEWS)}
    return [
        (table, name)
        for table, rows in tables.items()
        for name in rows.column_names
        if _has_the_word(rows[name])
    ]


def _has_the_word(column: pa.ChunkedArray) -> bool:
    return WORD.lower() in str(column.to_pylist()).lower()


FIGURES = {
    "responses": "select * from responses order by response_id",
    "model_usage": "select * from model_usage order by run_id, model_id",
    "tool_calls": "select * from tool_calls order by run_id, tool",
    "runs": """
        select run_id, agent, session_id, record_kind, outcome, is_error, started_at, ended_at, duration_ms, num_turns, cost_reported_usd,
               cost_own_usd, cost_list_usd, cost_cause, model, responses, subagents, tokens_basis, permission_denials, cwd, branch
        from runs order by run_id""",  # noqa: E501
    "rejects": "select position, reason from rejects order by all",
    "sources": "select documents, accepted, rejected, ignored from sources order by all",
}


def figures(store: Store) -> dict[str, list[dict[str, Any]]]:
    with store.reading() as connection:
        return {name: arrow(connection, sql).to_pylist() for name, sql in FIGURES.items()}


@pytest.fixture(scope="module")
def folder(made_once: MadeOnce) -> Path:
    return made_once("said", lambda made: put(made, FILES))


@pytest.fixture(scope="module")
def texts(store_once: StoreOnce, folder: Path) -> Store:
    """All of it with texts."""
    return store_once("said-and-kept", lambda store: read(store, folder, keeps_text=True))


@pytest.fixture(scope="module")
def textless(store_once: StoreOnce, folder: Path) -> Store:
    """The same without texts."""
    return store_once("said-textless", lambda store: read(store, folder))


def test_no_word_is_kept(textless: Store, texts: Store) -> None:
    assert ("runs", "title") in with_the_word(texts)
    assert ("rejects", "excerpt") in with_the_word(texts)
    assert with_the_word(textless) == []


def test_every_figure_is_kept(textless: Store, texts: Store) -> None:
    assert figures(textless) == figures(texts)
    assert {one["outcome"] for one in figures(textless)["runs"]} > {"limit_reached"}


@pytest.mark.slow
@pytest.mark.parametrize("keeps_text", a_share([True, False], 2))
def test_a_rebuild_makes_the_same_of_what_is_left(
    textless: Store, store: Store, *, keeps_text: bool
) -> None:
    """Also the id of a run whose record has none: it was a hash of the whole record."""
    shutil.copy(textless.location, store.location)
    rebuild(store, keeps_text=keeps_text)
    assert figures(store) == figures(textless)
    assert with_the_word(store) == []


@pytest.mark.slow
def test_a_rebuild_removes_the_texts_of_earlier_ingests(
    texts: Store, store: Store, tmp_path: Path
) -> None:
    shutil.copy(texts.location, store.location)
    put(
        tmp_path / "later",
        {"again.jsonl": lines(record(uuid="r1", result=f"{SAID} {SAID}", num_turns=99))},
    )
    read(store, tmp_path / "later", keeps_text=True)
    before = figures(store)
    rebuild(store, keeps_text=False)
    assert with_the_word(store) == []
    assert figures(store) == before


def _grown(path: Path, cuts: list[int], between: Callable[[int], None]) -> None:
    data = FILES[MAIN].encode()
    for number, cut in enumerate([*sorted(cuts), len(data)]):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data[:cut])
        between(number)


@pytest.mark.slow
@given(st.lists(st.integers(0, len(FILES[MAIN])), min_size=1, max_size=3))
@example([len(FILES[MAIN]) // 3, len(FILES[MAIN]) * 3 // 4])
@written_down()
def test_a_file_that_grows_leaves_no_word_either(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    place = tmp_path_factory.mktemp("grown")
    whole, grown = Store(place / "whole.duckdb"), Store(place / "grown.duckdb")
    put(place / "whole", {MAIN: FILES[MAIN]})
    read(whole, place / "whole")
    _grown(place / "grown" / MAIN, cuts, lambda _: read(grown, place / "grown"))
    assert with_the_word(grown) == []
    assert {name: rows for name, rows in figures(grown).items() if name != "sources"} == {
        name: rows for name, rows in figures(whole).items() if name != "sources"
    }


@pytest.mark.slow
def test_later_texts_are_kept_where_they_are_wanted(store: Store, tmp_path: Path) -> None:
    path = tmp_path / MAIN
    _grown(
        path,
        [len(FILES[MAIN]) * 2 // 3],
        lambda number: read(store, tmp_path, keeps_text=number == 1),
    )
    [(title, prompt)] = fetched(store, "select title, prompt from runs")
    assert (title[:40], prompt) == (SAID[:40], SAID)
