"""Sessions whose responses are in the store: the list of them, one along time, and its sub-agents."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from app.queries.filters import choose
from app.queries.sessions import lanes, sessions, timeline
from ingest.store.database import Store
from tests.conftest import StoreOnce, ingest_paths
from tests.using import add, at, log_of, response


@pytest.fixture(scope="module")
def two_sessions(store_once: StoreOnce) -> Store:
    """A session with a sub-agent that two runs tell of, a short later one, and a run without responses: to be read only."""
    return store_once("two-sessions", fill)


def fill(store: Store) -> None:
    folder = Path(store.location).parent
    of_s1 = log_of("s1", folder, run_id="first"), log_of("s1", folder, run_id="second", time="2025-12-02T00:00:00Z")
    ingest_paths(store, *of_s1, log_of("s2", folder), log_of("s3", folder))
    a1 = {"agent_id": "a1", "is_sidechain": True, "run_id": "second"}
    main = {"run_id": "second", "tools": ("Bash", "Read"), "failed_tools": ("Read",)}
    add(
        store,
        [
            response("s1", 0, "2026-02-01 10:00", **main),
            response("s1", 1, "2026-02-01 10:01", **a1, cache_read_tokens=90_000),
            response("s1", 2, "2026-02-01 10:02", **a1, cost_list_usd=None),
            response("s1", 3, "2026-02-01 10:03", run_id="second", cache_read_tokens=5_000, stop_reason="end_turn", output_is_final=False),
            response("s1", 4, None, run_id="second"),
            response("s2", 0, "2026-02-02 10:00"),
        ],
    )


def test_sessions_are_listed_with_their_sums_the_latest_first(two_sessions: Store) -> None:
    latest, first = sessions(two_sessions).to_pylist()
    assert (latest["run_id"], first["run_id"]) == ("s2", "second")
    assert (first["project"], first["responses"], first["subagents"], first["tool_calls"], first["failed_calls"]) == ("kernels", 5, 1, 2, 1)
    assert (first["first_at"], first["last_at"]) == (at("2026-02-01 10:00"), at("2026-02-01 10:03"))
    assert (first["cost_list_usd"], first["cost_list_usd_known"], first["lower_bounds"]) == (Decimal("0.04"), 4, 1)
    assert first["context_peak_tokens"] == 10 + 20 + 5_000, "a sub-agent has a context of its own"
    assert first["total_tokens"] == 5 * 130 + 3 * 30 + 90_000 + 5_000
    assert sessions(two_sessions, choose({"session": ["s2"]})).num_rows == sessions(two_sessions, limit=1).num_rows == 1


@pytest.mark.parametrize("run_id", ["first", "second"])
def test_a_session_along_time_is_that_of_each_of_its_runs(run_id: str, two_sessions: Store) -> None:
    rows = timeline(two_sessions, run_id).to_pylist()
    assert [row["response_id"] for row in rows] == [f"s1-{number}" for number in range(5)]
    assert [row["cost_so_far_usd"] for row in rows] == [Decimal(cents) / 100 for cents in (1, 2, 2, 3, 4)]
    assert [row["context_tokens"] for row in rows] == [60, 90_030, 60, 5_030, 60]
    assert (rows[0]["tools"], rows[0]["failed_tools"]) == (["Bash", "Read"], ["Read"])
    assert (rows[3]["stop_reason"], rows[3]["output_is_final"], rows[4]["at"]) == ("end_turn", False, None)


def test_the_lanes_of_a_session_are_its_main_conversation_and_its_sub_agents(two_sessions: Store) -> None:
    main, a1 = lanes(two_sessions, "first").to_pylist()
    assert (main["agent_id"], main["responses"], main["context_peak_tokens"]) == (None, 3, 5_030)
    assert (a1["agent_id"], a1["responses"], a1["cost_list_usd"], a1["cost_list_usd_known"]) == ("a1", 2, Decimal("0.01"), 1)
    assert (a1["first_at"], a1["last_at"]) == (at("2026-02-01 10:01"), at("2026-02-01 10:02"))


def test_a_run_without_responses_has_no_session_to_show(two_sessions: Store) -> None:
    assert (timeline(two_sessions, "s3").num_rows, lanes(two_sessions, "s3").num_rows) == (0, 0)
