"""Results of the OpenHands Index.

A run for each instance, with its cost, its score, and the agent that a file above names.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests.conftest import ingest_paths
from tests.documents import read_log, runs_in, runs_in_store

PLACE = "claude-opus-4-6/instance_results/gaia.json"
METADATA = {
    "agent_name": "Claude Code",
    "agent_version": "v1.15.0",
    "model": "claude-opus-4-6",
    "directory_name": "claude-opus-4-6",
}


def results(*costs: float | None, **more: object) -> dict[str, Any]:
    """Results of instances, the even ones solved."""
    return {
        f"task-{number}": {"cost": cost, "resolved": number % 2 == 0}
        for number, cost in enumerate(costs)
    } | more


def published(
    folder: Path, value: dict[str, Any], metadata: dict[str, Any] | None = METADATA
) -> Path:
    """The results in their folders."""
    (folder / PLACE).parent.mkdir(parents=True)
    (folder / PLACE).write_text(json.dumps(value))
    if metadata is not None:
        (folder / PLACE).parent.with_name("metadata.json").write_text(json.dumps(metadata))
    return folder


def test_every_instance_is_a_run_with_cost_and_score() -> None:
    first, second = sorted(
        read_log(results(30.54978150000001, None)), key=lambda run: str(run["task"])
    )
    assert (first["task"], first["cost_reported_usd"], first["score"]) == (
        "task-0",
        Decimal("30.549781500"),
        1,
    )
    assert (second["task"], second["cost_reported_usd"], second["score"]) == ("task-1", None, 0)
    assert (first["agent"], first["outcome"], first["record_kind"], first["tokens_basis"]) == (
        "unknown",
        "unknown",
        "trial",
        "unknown",
    )


def test_zero_is_no_cost() -> None:
    """The real files have $0 of instances that were resolved."""
    found = {run["task"]: run["cost_reported_usd"] for run in read_log(results(0.0, 0.5, None))}
    assert found == {"task-0": None, "task-1": Decimal("0.5"), "task-2": None}


def test_agent_and_model_are_named_above(store: Store, tmp_path: Path) -> None:
    ingest_paths(store, published(tmp_path, results(1.5, 2.0)))
    runs = runs_in_store(store)
    assert [(run["agent"], run["model"], run["cost_own_usd"]) for run in runs] == [
        ("claude-code", "claude-opus-4-6", Decimal(cost)) for cost in ("1.5", "2")
    ]
    assert (rebuild(store).rejects, runs_in_store(store)) == (0, runs)


@pytest.mark.parametrize(
    "metadata", [None, {"agent_name": "Claude Code"}, METADATA | {"agent_name": 3, "model": None}]
)
def test_without_their_metadata_agent_and_model_are_unknown(
    metadata: dict[str, Any] | None, store: Store, tmp_path: Path
) -> None:
    ingest_paths(store, published(tmp_path, results(1.5), metadata))
    assert [(run["agent"], run["model"]) for run in runs_in_store(store)] == [("unknown", None)]


def test_results_of_the_same_instances_by_others_are_other_runs(
    store: Store, tmp_path: Path
) -> None:
    for name, value in {
        "one": results(0.0, 0.0),
        "other": results(0.0, 0.0, 0.0),
        "again": results(0.0, 0.0),
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    report = ingest_paths(store, tmp_path)
    assert (report.total("accepted"), report.total("duplicates")) == (5, 2)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"cost": -1, "resolved": True}, "task-x: cost: "),
        ({"cost": 1, "resolved": "yes"}, "task-x: resolved: "),
        (3, "task-x: record: "),
    ],
)
def test_a_wrong_instance_is_a_reject_of_its_own(
    wrong: object, named: str, store: Store, tmp_path: Path
) -> None:
    report = ingest_paths(store, published(tmp_path, results(1.5, 2.0, **{"task-x": wrong})))
    assert (report.total("accepted"), report.total("rejected"), report.total("documents")) == (
        2,
        1,
        4,
    )
    with store.reading() as connection:
        [(detail,)] = connection.sql("select detail from rejects").fetchall()
    assert detail.startswith(named)


@given(st.integers(0, 99))
def test_a_cut_file_is_a_reject_and_no_run(cut: int) -> None:
    data = json.dumps(results(1.5, None, 2.0)).encode()
    data = data[: len(data) * cut // 100]
    runs, rejects = runs_in(data)
    assert (len(runs), len(rejects)) == (0, int(b'"resolved"' in data))


LOGS = {"openhands_index": json.dumps(results(1.5, 0.25))}
"""A log of two runs: see `test_orders_of_logs`."""
