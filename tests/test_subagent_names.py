"""Sub-agents are called by what the file beside their transcript says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.queries.sessions import lanes, points, timeline
from app.queries.usage import UsageRequest, usage
from ingest.context.sidecars import subagent_beside
from ingest.pipeline import Options, ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from tests.claude_lines import SESSION, reply, user
from tests.claude_lines import usage as tokens
from tests.documents import lines

FOLDER = "projects/-srv-shop"
METAS = {
    "a1": {"agentType": "Explore", "description": "Find the hot loop", "toolUseId": "t1"},
    "a2": {"agentType": "Explore", "description": "Find the hot loop"},
    "a3": {"agentType": "Plan"},
    "a4": None,
}
NAMES = {
    "a1": "Explore: Find the hot loop a1",
    "a2": "Explore: Find the hot loop a2",
    "a3": "Plan",
    "a4": "a4",
}


def put(folder: Path) -> None:
    """A session whose own file has a copy of a response of a1, without its name."""
    own = folder / FOLDER / f"{SESSION}.jsonl"
    beside = own.with_suffix("") / "subagents"
    beside.mkdir(parents=True)
    of_first = reply("s-a1", "msg_a1", "req_a1", tokens(90), isSidechain=True, agentId="a1")
    own.write_text(lines(user("Make it faster."), reply(), of_first), encoding="utf-8")
    for number, (agent, meta) in enumerate(METAS.items()):
        told = {"isSidechain": True, "agentId": agent, "second": 20 + number}
        text = lines(reply(f"s-{agent}", f"msg_{agent}", f"req_{agent}", tokens(70), **told))
        (beside / f"agent-{agent}.jsonl").write_text(text, encoding="utf-8")
        if meta:
            (beside / f"agent-{agent}.meta.json").write_text(json.dumps(meta), encoding="utf-8")


@pytest.fixture
def read(tmp_path: Path, store: Store) -> Store:
    put(tmp_path / "logs")
    ingest(read_paths([tmp_path / "logs"]), store, Options(jobs=1))
    return store


def test_lanes_are_called_by_type_and_task(read: Store) -> None:
    """Also if the copy of the parent's file is the fuller one, and if two are called alike."""
    found = lanes(read, SESSION).to_pylist()
    assert {row["agent_id"]: row["subagent"] for row in found} == {None: "main"} | NAMES
    assert set(timeline(read, SESSION)["subagent"].to_pylist()) == set(
        points(read, SESSION, 10)["subagent"].to_pylist()
    )
    assert set(timeline(read, SESSION)["subagent"].to_pylist()) == {"main", *NAMES.values()}


def test_the_files_that_name_them_are_sidecars(read: Store) -> None:
    with read.reading() as connection:
        assert connection.sql(
            "select count(*) from sources where kind = 'sidecar' and name like '%.meta.json'"
        ).fetchall() == [(3,)]


def test_usage_by_sub_agent_is_by_type(read: Store) -> None:
    found = usage(read, UsageRequest(by=("sub-agent",))).table.to_pylist()
    assert {row["sub-agent"]: row["responses"] for row in found} == {
        "main": 1,
        "Explore": 2,
        "Plan": 1,
        "a4": 1,
    }


def test_without_text_the_type_stays(tmp_path: Path, store: Store) -> None:
    put(tmp_path / "logs")
    ingest(read_paths([tmp_path / "logs"]), store, Options(jobs=1, keeps_text=False))
    assert set(lanes(store, SESSION)["subagent"].to_pylist()) == {
        "main",
        "Explore a1",
        "Explore a2",
        "Plan",
        "a4",
    }


@pytest.mark.parametrize("text", ["", "[]", "{", '{"agentType": 5, "description": ""}', "\udcff"])
def test_a_file_that_says_nothing_is_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent-x.meta.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert subagent_beside(tmp_path / "agent-x.jsonl") is None
    assert subagent_beside(tmp_path / "agent-y.jsonl.gz") is None
    assert subagent_beside(tmp_path / "other.jsonl") is None
