"""Transcripts of live sessions.

However their files were cut when they were ingested, every response is there once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.pipeline import IngestReport, Options, ingest
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store.database import Store, arrow
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.errors import InputUnreadable, UsageError
from tests.claude_lines import PARENT, SESSION, answer, at, calling, progress, reply, usage, user
from tests.codex_lines import STARTED, event, uuid7
from tests.codex_lines import usage as codex_usage
from tests.conftest import fetched
from tests.documents import lines
from tests.examples import written_down

FOLDER = "projects/-srv-shop"
MAIN = f"{FOLDER}/{SESSION}.jsonl"
SUBAGENT = f"{FOLDER}/{SESSION}/subagents/agent-ag7.jsonl"
FORK = f"{FOLDER}/0f0f0f0f-1111-4222-8333-444455556666.jsonl"
ROLLOUT = f"sessions/2026/05/01/rollout-2026-05-01T12-00-00-{uuid7(STARTED)}.jsonl"

Files = dict[str, bytes]


def turn(number: int, session: str = SESSION, **fields: Any) -> list[dict[str, Any]]:
    """A response on three lines with two tool calls and their results in between, and an answer."""
    name, request, second = (
        f"msg_{session[:2]}_{number}",
        f"req_{session[:2]}_{number}",
        20 * number,
    )
    calls = [calling(tool, f"{name}-{tool}") for tool in ("Bash", "Edit")]
    more = {"sessionId": session} | fields
    thinking = {"content": [{"type": "text", "text": f"Step {number}."}], "stop_reason": None}
    return [
        reply(
            f"{name}-1", name, request, usage(number), inside=thinking, second=second + 2, **more
        ),
        reply(
            f"{name}-2",
            name,
            request,
            usage(number),
            inside=calls[0] | {"stop_reason": None},
            second=second + 3,
            **more,
        ),
        answer(f"{name}-Bash", is_error=number % 2 == 0, timestamp=at(second + 5), **more),
        reply(
            f"{name}-3",
            name,
            request,
            usage(70 + number),
            inside=calls[1],
            second=second + 4,
            **more,
        ),
        answer(f"{name}-Edit", timestamp=at(second + 5), **more),
    ]


def main_file() -> list[dict[str, Any]]:
    calls = [{"type": "tool_use", "id": "search", "name": "WebSearch", "input": {}}]
    return [
        user("Make it {faster}.", permissionMode="plan"),
        *turn(1),
        {"type": "ai-title", "aiTitle": "First title", "sessionId": SESSION},
        reply(
            "s1", "msg_s", "req_s", second=50, inside={"content": calls, "stop_reason": "tool_use"}
        ),
        progress(reply("i1", "msg_i", "req_i", second=52)),
        answer("search", toolUseResult={"searchCount": 2}),
        user("[Request interrupted by user]", "p2", 60),
        *turn(3),
        reply("side", "msg_5f_3", "req_side", usage(500), isSidechain=True, second=70),
        *turn(4, version="2.1.61"),
        {
            "type": "cost-state",
            "sessionId": SESSION,
            "startTime": 1,
            "totalCostUSD": 0.5,
            "totalAPIDuration": 7,
        },
        user("Go on.", "p3", 90),
        *turn(5),
        reply("end", "msg_end", None, second=130, inside={"content": "It is 2x faster."}),
        {"type": "ai-title", "aiTitle": "Last title", "sessionId": SESSION},
    ]


def subagent_file() -> list[dict[str, Any]]:
    fields = {"isSidechain": True, "agentId": "ag7"}
    begun = user("Look at it.", "a1", 5, **fields)
    return [begun, *(one | fields for number in (6, 7) for one in turn(number))]


def fork_file() -> list[dict[str, Any]]:
    session = FORK.rpartition("/")[2].removesuffix(".jsonl")
    copied = [
        one | {"sessionId": session, "forkedFrom": {"sessionId": SESSION}}
        for one in main_file()[:8]
    ]
    return [*copied, *turn(8, session)]


def rollout() -> list[dict[str, Any]]:
    meta = {
        "id": uuid7(STARTED),
        "timestamp": STARTED.isoformat(),
        "cwd": "/srv/shop",
        "forked_from_id": PARENT,
    }
    told: list[dict[str, Any]] = [event(0, meta, "session_meta")]
    for number in range(1, 5):
        total = codex_usage(100 * number, 10 * number, 5 * number)
        told += [
            event(number * 10, {"type": "task_started", "turn_id": f"turn-{number}"}),
            event(number * 10, {"turn_id": f"turn-{number}", "model": "gpt-5"}, "turn_context"),
            event(number * 10 + 1, {"type": "user_message", "message": "Make it faster."}),
            event(
                number * 10 + 2,
                {"type": "function_call", "name": "shell", "call_id": f"c{number}"},
                "response_item",
            ),
            event(number * 10 + 3, {"type": "token_count", "info": {"total_token_usage": total}}),
            event(
                number * 10 + 4, {"type": "task_complete", "last_agent_message": f"Turn {number}."}
            ),
        ]
    return told


FINAL: Files = {
    path: lines(*told).encode()
    for path, told in (
        (MAIN, main_file()),
        (SUBAGENT, subagent_file()),
        (FORK, fork_file()),
        (ROLLOUT, rollout()),
    )
}


Told = dict[str, list[dict[str, Any]]]


def told(store: Store) -> Told:
    """What must not depend on how often a file was read, and from where on."""
    queries = {
        "responses": "select * from responses order by response_id",
        "runs": "select * exclude (source_id, ordinal, raw, origins) from runs order by run_id",
        "model_usage": "select * from model_usage order by run_id, model_id",
        "tool_calls": "select * from tool_calls order by run_id, tool",
        "rejects": "select position, reason from rejects order by all",
        "copies": "select * exclude (source_id, response_no) from response_copies order by all",
    }
    with store.reading() as connection:
        return {name: arrow(connection, sql).to_pylist() for name, sql in queries.items()}


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def read(store: Store, folder: Path) -> IngestReport:
    return ingest(read_paths([folder]), store, Options(jobs=1))


@cache
def at_once(*names: str) -> Told:
    """What some of the files tell, or all of them, when they are read once and whole."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        put(folder / "whole", {name: FINAL[name] for name in names or FINAL})
        store = Store(folder / "whole.duckdb")
        read(store, folder / "whole")
        return told(store)


@st.composite
def states(draw: st.DrawFn) -> list[dict[str, int]]:
    """How much of each file there is at each state; the last one is the final one.

    A state may be that before.
    """
    count = draw(st.integers(1, 4))
    cuts = {
        name: sorted(draw(st.lists(st.integers(0, len(data)), min_size=count, max_size=count)))
        for name, data in FINAL.items()
    }
    return [{name: at[number] for name, at in cuts.items()} for number in range(count)]


def outputs_at_once(*names: str) -> dict[str, int]:
    return {
        response["response_id"]: response["output_tokens"]
        for response in at_once(*names)["responses"]
    }


def outputs(store: Store) -> dict[str, int]:
    if not store.exists():
        return {}
    return dict(fetched(store, "select response_id, output_tokens from responses"))


def cut(name: str, share: float) -> Files:
    return {name: FINAL[name][: int(len(FINAL[name]) * share)]}


def sources(store: Store) -> list[tuple[Any, ...]]:
    """(size, is a part, responses of its own), in the order of the ingests."""
    sql = """select bytes, goes_on is not null, (select count(*) from response_copies as copies where copies.source_id = sources.source_id)
             from sources order by ingest_id, name"""  # noqa: E501
    return fetched(store, sql)


@pytest.mark.slow
@given(states(), st.integers(0, 3))
@example(
    [{name: int(len(data) * share) for name, data in FINAL.items()} for share in (0.35, 0.75)], 1
)
@written_down()
def test_every_response_is_there_once_however_its_file_grew(
    cuts: list[dict[str, int]], renamed_at: int
) -> None:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        whole = outputs_at_once()
        store, root = Store(folder / "store.duckdb"), folder / "logs"
        for number, lengths in enumerate(
            [*cuts, {name: len(data) for name, data in FINAL.items()}]
        ):
            put(root, {name: FINAL[name][:length] for name, length in lengths.items()})
            read(store, root)
            if number == renamed_at:
                root = root.rename(folder / "moved")
                read(store, root)
            now = outputs(store)
            assert now.keys() <= whole.keys()
            assert all(output <= whole[name] for name, output in now.items())
        assert told(store) == at_once()
        rebuild(store)
        assert told(store) == at_once()


def test_a_response_is_stored_once_however_often_its_file_was_read(
    store: Store, tmp_path: Path
) -> None:
    for share in (0.5, 0.8, 1):
        put(tmp_path, cut(MAIN, share))
        read(store, tmp_path)
    assert [is_part for _, is_part, _ in sources(store)] == [False, True, True]
    assert sum(copies for *_, copies in sources(store)) == len(outputs(store))


def test_undoing_the_later_ingest_leaves_what_the_earlier_one_brought(
    store: Store, tmp_path: Path
) -> None:
    put(tmp_path, {name: data[: len(data) // 2] for name, data in FINAL.items()})
    first = read(store, tmp_path)
    before = told(store)
    put(tmp_path, FINAL)
    second = read(store, tmp_path)
    assert first.ingest_id
    assert second.ingest_id
    with pytest.raises(UsageError, match="read files of ingest 1 again"):
        undo(store, first.ingest_id)
    undo(store, second.ingest_id)
    assert told(store) == before
    read(store, tmp_path)
    assert told(store) == at_once()


def test_a_replaced_file_is_another_source(store: Store, tmp_path: Path) -> None:
    put(tmp_path, cut(MAIN, 0.8))
    read(store, tmp_path)
    before = outputs(store)
    other = {MAIN: lines(*turn(9)).encode()}
    put(tmp_path, other)
    read(store, tmp_path)
    assert outputs(store) == before | {"msg_5f_9": 79}
    put(
        tmp_path, {MAIN: other[MAIN] + FINAL[MAIN]}
    )  # as long as before and longer, with another beginning
    read(store, tmp_path)
    assert outputs(store).keys() == outputs_at_once(MAIN).keys() | {"msg_5f_9"}


def test_what_was_read_stays_when_a_file_is_deleted_or_cut(store: Store, tmp_path: Path) -> None:
    put(tmp_path, FINAL)
    read(store, tmp_path)
    before = outputs(store)
    (tmp_path / SUBAGENT).unlink()
    put(tmp_path, cut(MAIN, 0.4))
    read(store, tmp_path)
    assert outputs(store) == before


def test_a_file_that_grows_while_it_is_read(store: Store, tmp_path: Path) -> None:
    put(tmp_path, cut(MAIN, 0.3))
    read(store, tmp_path)
    put(tmp_path, cut(MAIN, 0.6))

    def growing() -> Iterator[Source | InputUnreadable]:
        for source in read_paths([tmp_path]):
            yield source
            put(tmp_path, FINAL)  # after it was listed, before it is opened

    ingest(growing(), store, Options(jobs=1))
    now = outputs(store)
    read(store, tmp_path)
    assert now.keys() <= outputs(store).keys()
    assert told(store)["responses"] == [
        one for one in at_once()["responses"] if one["response_id"] in outputs(store)
    ]
    assert not told(store)["rejects"]
