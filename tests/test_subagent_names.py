"""Sub-agents are called by what the file beside their transcript says."""

from __future__ import annotations

import pytest

from app.queries.sessions import lanes, points, timeline
from app.queries.usage import UsageRequest, usage
from ingest.pipeline import Options, ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from tests.golden_logs import LOGS

FOLDER = LOGS / "claude_transcripts/names_of_sub_agents"
SESSION = next((FOLDER / "projects/-srv-shop").glob("*.jsonl")).stem
NAMES = {
    "a1": "Explore: Find the hot loop a1",
    "a2": "Explore: Find the hot loop a2",
    "a3": "Plan",
    "a4": "a4",
}


@pytest.fixture
def read(store: Store) -> Store:
    ingest(read_paths([FOLDER]), store, Options(jobs=1))
    return store


def test_lanes_are_called_by_type_and_task(read: Store) -> None:
    """Also if the copy of the parent's file is the fuller one, and if two are called alike."""
    found = lanes(read, SESSION).to_pylist()
    assert {row["agent_id"]: row["subagent"] for row in found} == {None: "main"} | NAMES
    assert set(timeline(read, SESSION)["subagent"].to_pylist()) == set(
        points(read, SESSION, 10)["subagent"].to_pylist()
    )
    assert set(timeline(read, SESSION)["subagent"].to_pylist()) == {"main", *NAMES.values()}


def test_usage_by_sub_agent_is_by_type(read: Store) -> None:
    found = usage(read, UsageRequest(by=("sub-agent",))).table.to_pylist()
    assert {row["sub-agent"]: row["responses"] for row in found} == {
        "main": 1,
        "Explore": 2,
        "Plan": 1,
        "a4": 1,
    }


def test_without_text_the_type_stays(store: Store) -> None:
    ingest(read_paths([FOLDER]), store, Options(jobs=1, keeps_text=False))
    assert set(lanes(store, SESSION)["subagent"].to_pylist()) == {
        "main",
        "Explore a1",
        "Explore a2",
        "Plan",
        "a4",
    }
