"""The sample sessions, against figures of the plan that they were written from."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from app.queries import runs as run_queries
from app.queries.sessions import lanes
from app.queries.usage import UsageRequest, usage
from ingest.store.database import Store
from tests.conftest import ROOT, StoreOnce, ingest_paths

SESSIONS = ROOT / "sample_logs" / "sessions"
EXPECTED = [
    json.loads(line)
    for line in (ROOT / "tests" / "expected" / "sessions.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.fixture(scope="module")
def store(read_once: StoreOnce) -> Store:
    """A store of the sample sessions: to be read only."""
    return read_once("sample-sessions", lambda store: ingest_paths(store, SESSIONS))


def by_name(value: Any) -> Any:
    return (
        str(value)
        if isinstance(value, Decimal)
        else pytest.approx(value, abs=0.01)
        if isinstance(value, float)
        else value
    )


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda row: row["run"]["agent"])
def test_a_session_becomes_its_rows(store: Store, expected: dict[str, Any]) -> None:
    """Each response once, also where several lines tell of it.

    Totals of Codex that are written twice count once.
    """
    run = run_queries.run(store, expected["run"]["run_id"])
    assert run is not None
    assert {key: by_name(run[key]) for key in expected["run"]} == expected["run"]
    columns = (
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_5m_tokens",
        "cache_write_1h_tokens",
    )
    assert {
        row["model_id"]: [row[key] for key in columns] for row in run["model_usage"].to_pylist()
    } == expected["models"]
    assert {
        row["tool"]: [row["calls"], row["errors"]] for row in run["tool_calls"].to_pylist()
    } == expected["tools"]


def test_usage_by_day_is_that_of_the_plan(store: Store) -> None:
    found = usage(store, UsageRequest(by=("day",))).table.to_pylist()
    days = {day for expected in EXPECTED for day in expected["days"]}
    assert {row["day"]: row["responses"] for row in found} == {
        day: sum(one["days"].get(day, 0) for one in EXPECTED) for day in days
    }


def test_the_session_has_a_sub_agent_a_compaction_and_its_reported_cost(store: Store) -> None:
    claude, codex = (expected["run"]["run_id"] for expected in EXPECTED)
    assert [row["subagent"] for row in lanes(store, claude).to_pylist()] == [
        "main",
        "Explore: Find callers of orders_of",
    ]
    assert [row["subagent"] for row in lanes(store, codex).to_pylist()] == ["main"]
    [total] = usage(store, UsageRequest()).total.to_pylist()
    assert total["cost_reported_usd"] == Decimal(EXPECTED[0]["run"]["cost_reported_usd"])
    assert total["lower_bounds"] == 0


def test_nothing_is_rejected(store: Store) -> None:
    with store.reading() as connection:
        found = connection.sql(
            "select kind, sum(accepted), sum(duplicates), sum(rejected) from sources group "
            "by kind order by kind"
        )
        assert found.fetchall() == [("log", 2, 1, 0), ("sidecar", 0, 0, 0)]
