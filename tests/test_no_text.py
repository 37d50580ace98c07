"""`--no-text`: no word of a session is in the store, and every figure is."""

from __future__ import annotations

import json
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
from tests.claude_lines import SESSION, answer, line, progress, reply, usage, user
from tests.codex_lines import STARTED, event, uuid7
from tests.codex_lines import usage as codex_usage
from tests.conftest import MadeOnce, StoreOnce, record
from tests.documents import lines
from tests.examples import a_share, written_down
from tests.test_growing_transcripts import turn

WORD = "Quetzalcoatlus"
"""In every text of the files below, and in nothing else."""

SAID = f"{WORD} is 3.2x faster end to end, measured with hyperfine ({WORD}.py, +12/-3)."
UNMEASURED = f"The {WORD} kernel is 3.2x faster."
LIMIT = f"You've hit your limit · resets 3pm ({WORD})"
FOLDER = "projects/-srv-shop"
ERROR = {"isApiErrorMessage": True, "inside": {"model": "<synthetic>", "content": LIMIT}}
BLOCKS = [
    {"type": "thinking", "thinking": SAID, "signature": WORD},
    {"type": "text", "text": SAID},
    {
        "type": "tool_use",
        "id": "c1",
        "name": "Bash",
        "input": {"command": SAID, "description": WORD},
    },
]


def session() -> list[dict[str, Any]]:
    attached = {
        "type": "attachment",
        "attachment": {"type": "file", "filename": WORD, "content": {"file": {"content": SAID}}},
    }
    return [
        {"type": "summary", "summary": SAID, "leafUuid": "u1"},
        {"type": "custom-title", "customTitle": SAID, "sessionId": SESSION},
        {"type": "ai-title", "aiTitle": SAID, "sessionId": SESSION},
        {"type": "last-prompt", "lastPrompt": SAID, "sessionId": SESSION},
        {"type": "queue-operation", "operation": "enqueue", "content": SAID, "sessionId": SESSION},
        line("user", "at", 1, **attached),
        user(SAID),
        user(
            [{"type": "text", "text": SAID}, {"type": "image", "source": {"data": WORD}}], "p2", 2
        ),
        *turn(1),
        reply(
            "b1",
            "msg_b",
            "req_b",
            usage(40),
            inside={"content": BLOCKS, "stop_reason": "tool_use"},
            second=50,
        ),
        user(
            [{"type": "tool_result", "tool_use_id": "c1", "content": SAID}],
            "r1",
            51,
            toolUseResult={"stdout": SAID, "stderr": WORD},
        ),
        progress(reply("i1", "msg_i", "req_i", second=52, inside={"content": SAID})),
        line(
            "system",
            "s1",
            53,
            subtype="compact_boundary",
            content=SAID,
            compactMetadata={"trigger": "auto", "preTokens": 9},
        ),
        user(f"This session is being continued: {SAID}", "p3", 54, isCompactSummary=True),
        *turn(3),
        answer("late", is_error=True),
        reply("e1", "msg_e", None, second=100, inside={"content": SAID}),
        reply("x1", "msg_x", None, second=101, **ERROR),
    ]


def subagent() -> list[dict[str, Any]]:
    fields = {"isSidechain": True, "agentId": "ag7"}
    return [user(SAID, "a1", 5, **fields), *(one | fields for one in turn(6))]


def rollout() -> list[dict[str, Any]]:
    meta = {
        "id": uuid7(STARTED),
        "timestamp": STARTED.isoformat(),
        "cwd": "/srv/shop",
        "instructions": SAID,
        "base_instructions": {"text": SAID},
    }
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": SAID}]}
    call = {
        "type": "function_call",
        "name": "shell",
        "arguments": json.dumps({"command": SAID}),
        "call_id": "c1",
    }
    return [
        event(0, meta, "session_meta"),
        event(1, {"type": "task_started", "turn_id": "turn-1"}),
        event(
            1, {"turn_id": "turn-1", "model": "gpt-5", "user_instructions": SAID}, "turn_context"
        ),
        event(2, {"type": "user_message", "message": SAID}),
        event(2, message, "response_item"),
        event(3, {"type": "agent_reasoning", "text": SAID}),
        event(3, call, "response_item"),
        event(
            4, {"type": "function_call_output", "call_id": "c1", "output": SAID}, "response_item"
        ),
        event(5, {"type": "token_count", "info": {"total_token_usage": codex_usage(100, 10, 5)}}),
        event(6, {"type": "agent_message", "message": SAID}),
        event(7, {"type": "error", "message": SAID}),
    ]


def results() -> list[dict[str, Any]]:
    """Result records: a full one, one without an id, one that ended at a limit, one unreadable.

    The full one has all that such a record can contain.
    """
    said: dict[str, Any] = {
        "structured_output": {WORD: SAID},
        "permission_denials": [
            {"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": SAID}}
        ],
        "errors": [SAID],
        "local_command": SAID,
        "deferred_tool_use": {"id": "c2", "name": "Bash", "input": {"command": SAID}},
        "of_a_later_version": SAID,
        "and_nested": {"text": [SAID]},
        "startup_failure_reason": SAID,
    }
    return [
        record(uuid="r1", result=SAID, **said),
        record(uuid=..., session_id="another", result=SAID),
        record(uuid="r3", session_id="third", is_error=True, result=LIMIT),
        record(uuid="r4", session_id="fourth", num_turns=SAID),
    ]


MAIN = f"{FOLDER}/{SESSION}.jsonl"
PATCH = f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+{WORD}\n"
FILES = {
    MAIN: lines(*session()),
    f"{FOLDER}/{SESSION}/subagents/agent-ag7.jsonl": lines(*subagent()),
    f"sessions/2026/05/01/rollout-2026-05-01T12-00-00-{uuid7(STARTED)}.jsonl": lines(*rollout()),
    "results.jsonl": lines(*results()),
    "torn.jsonl": lines(*session()[6:8])
    + json.dumps({"type": "user", "message": {"role": "user", "content": SAID}})[:-30],
    f"{FOLDER}/unmeasured.jsonl": lines(
        user("Go.", sessionId="unmeasured"),
        reply(sessionId="unmeasured", inside={"content": UNMEASURED}),
    ),
    f"{FOLDER}/model_patch.diff": PATCH,
    "alone/model_patch.diff": PATCH,
    "alone/prompt.txt": SAID,
    "alone/stream.jsonl": lines(
        {"type": "system", "subtype": "init", "session_id": "fifth"},
        record(uuid="r5", session_id="fifth", result=SAID),
    ),
}


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
    with store.reading() as connection:
        [(title, prompt)] = connection.sql("select title, prompt from runs").fetchall()
    assert (title[:40], prompt) == (SAID[:40], SAID)
