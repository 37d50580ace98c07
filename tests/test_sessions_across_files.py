"""One session in several files.

What is billed, and whose it is, depends on no order and no division into ingests.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.pipeline import IngestReport, Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from tests.claude_lines import OPUS, PARENT, SESSION, calling, reply, usage, user
from tests.conftest import StoreOnce, record_text
from tests.documents import lines
from tests.examples import written_down
from tests.test_undo import differences, tables

pytestmark = pytest.mark.slow

FORK = "9f0c1b52-1111-4222-8333-444455556666"
COPY = "af0c1b52-1111-4222-8333-444455556666"
OF_COPY = {"sessionId": COPY}
OF_FORK = {"sessionId": FORK}
FIRST = reply("u1", "msg_a", "req_a", usage(70), second=10)
CALLS = reply(
    "u2",
    "msg_b",
    "req_b",
    usage(9),
    second=20,
    inside=calling("Bash", "t1") | {"stop_reason": None},
)
OWN = reply("u9", "msg_f", "req_f", usage(30), second=90, **OF_FORK)
SIDE = {"isSidechain": True, "agentId": "x"}
LAST = reply("u3", "msg_b", "req_b", usage(90), second=21, inside={"stop_reason": "tool_use"})


def result(uuid: str, cost: float, output: int, session: str = SESSION) -> str:
    """A result record of the session."""
    used = {
        "inputTokens": 8,
        "outputTokens": output,
        "cacheReadInputTokens": 1800,
        "cacheCreationInputTokens": 100,
        "costUSD": cost,
    }
    tokens = {
        "input_tokens": 1,
        "output_tokens": 1,
        "cache_read_input_tokens": 1,
        "cache_creation_input_tokens": 1,
    }
    return (
        record_text(
            uuid=uuid,
            session_id=session,
            total_cost_usd=cost,
            modelUsage={OPUS: used},
            usage=tokens,
        )
        + "\n"
    )


FILES = {
    f"projects/p/{SESSION}.jsonl": lines(user("Make it faster."), FIRST, CALLS, LAST),
    f"projects/p/{FORK}.jsonl": lines(
        user("Go on.", second=1, **OF_FORK), FIRST | OF_FORK, CALLS | OF_FORK, OWN
    ),
    f"projects/p/{COPY}.jsonl": lines(
        user("Never mind.", second=30, **OF_COPY), FIRST | OF_COPY, LAST | OF_COPY
    ),
    f"projects/p/{SESSION}/subagents/agent-x.jsonl": lines(
        reply("s1", "msg_s", "req_s", usage(50), second=12, **SIDE),
        reply("s2", "msg_a", "req_other", usage(500), second=13, **SIDE),
    ),
    "one.json": result("r1", 0.02, 100),
    "two.json": result("r2", 0.05, 90),
    "of-fork.json": result("r3", 0.01, 30, FORK),
    "other.jsonl": lines(
        user("Something else.", sessionId=PARENT),
        reply("o1", "msg_o", "req_o", usage(11), sessionId=PARENT),
    ),
}

DERIVED = ("store_meta", "sources", "ingests", "run_records", "sightings")
"""Tables that tell of ingests and files, and not of sessions."""


def read(store: Store, names: Sequence[str]) -> IngestReport:
    return ingest([Source(name, FILES[name].encode()) for name in names], store, Options(jobs=1))


def at_once(folder: str, names: Iterable[str]) -> Store:
    store = Store(Path(folder) / "at-once.duckdb")
    read(store, sorted(names))
    return store


@pytest.fixture(scope="module")
def whole(read_once: StoreOnce) -> Store:
    """What the store holds when all files are read at once."""
    return read_once("sessions-across-files", lambda store: read(store, sorted(FILES)))


@pytest.fixture(scope="module")
def rows_of_whole(whole: Store) -> dict[str, Any]:
    return tables(whole, DERIVED)


def billed(store: Store) -> list[tuple[Any, ...]]:
    with store.reading() as connection:
        rows = (
            "select response_id, session_id, run_id, output_tokens, output_is_final, tools from "
            "responses order by response_id"
        )
        return connection.sql(rows).fetchall()


def test_a_response_is_billed_once_and_to_the_session_that_began_first() -> None:
    with TemporaryDirectory() as folder:
        store = at_once(folder, [name for name in FILES if name.startswith("projects")])
        assert billed(store) == [
            ("msg_a", SESSION, SESSION, 70, True, []),
            ("msg_b", SESSION, SESSION, 90, True, ["Bash"]),
            ("msg_f", FORK, FORK, 30, True, []),
            ("msg_s", SESSION, SESSION, 50, True, []),
        ]
        with store.reading() as connection:
            columns = "run_id, num_turns, output_tokens, responses, subagents, tokens_basis"
            sums = connection.sql(f"select {columns} from runs order by run_id").fetchall()
        assert sums == [
            (SESSION, 2, 210, 3, 1, "exact"),
            (FORK, 1, 30, 1, 0, "exact"),
            (COPY, None, None, None, None, "unknown"),
        ]


def test_a_transcript_and_the_results_of_its_session_are_one_run(whole: Store) -> None:
    with whole.reading() as connection:
        runs = connection.sql(
            "select run_id, record_kind, cost_own_usd::varchar, responses from runs order by run_id"
        ).fetchall()
        found = connection.sql(
            "select run_id, severity, message from findings where rule = "
            "'transcript_differs' order by 1"
        ).fetchall()
    usd = [
        (run_id, kind, None if cost is None else float(cost), count)
        for run_id, kind, cost, count in runs
    ]
    assert usd == [
        (PARENT, "transcript", None, 1),
        (COPY, "transcript", None, None),
        ("r1", "result", 0.02, None),
        ("r2", "result", 0.05, 3),
        ("r3", "result", 0.01, 1),
    ]
    assert [(run_id, severity) for run_id, severity, _ in found] == [
        ("r2", "warning"),
        ("r3", "info"),
    ]
    assert "outside the transcript" in found[1][2]


@given(
    st.permutations(sorted(FILES)),
    st.lists(st.integers(1, len(FILES) - 1), max_size=3),
    st.lists(st.sampled_from(sorted(FILES)), max_size=2),
)
@example(["two.json", *(name for name in sorted(FILES) if name != "two.json")], [1, 3], [])
@example([*(name for name in sorted(FILES) if name != "two.json"), "two.json"], [6], [])
@written_down()
def test_order_and_division_change_nothing(
    rows_of_whole: dict[str, Any], order: list[str], cuts: list[int], again: list[str]
) -> None:
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "parts.duckdb")
        for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), len(order)], strict=True):
            if first < last:
                read(store, order[first:last])
        if again:
            read(store, again)
        assert differences(tables(store, DERIVED), rows_of_whole) == {}


@given(st.sets(st.sampled_from(sorted(FILES)), min_size=1, max_size=len(FILES) - 1))
@example({"one.json", "two.json", "of-fork.json"})
@example({f"projects/p/{SESSION}.jsonl"})
@written_down()
def test_an_undone_file_leaves_the_others(mine: set[str]) -> None:
    with TemporaryDirectory() as folder:
        store, copy = Store(Path(folder) / "undone.duckdb"), Store(Path(folder) / "copy.duckdb")
        read(store, sorted(FILES.keys() - mine))
        before = tables(store, DERIVED)
        last = read(store, sorted(mine)).ingest_id or 0
        shutil.copy(store.location, copy.location)
        undo(store, last)
        assert differences(tables(store, DERIVED), before) == {}
        undo(copy, 1)
        assert differences(tables(copy, DERIVED), tables(at_once(folder, mine), DERIVED)) == {}


def test_a_rebuild_changes_nothing(
    whole: Store, rows_of_whole: dict[str, Any], store: Store
) -> None:
    shutil.copy(whole.location, store.location)
    rebuild(store)
    assert differences(tables(store, DERIVED), rows_of_whole) == {}
