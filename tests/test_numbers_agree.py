"""One number, one definition: what two places say of the same runs is the same."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.queries import reports as report_queries
from app.queries import runs as run_queries
from app.queries.filters import Filters
from ingest.documents.contents import Source
from ingest.pipeline import ingest
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests.conftest import StoreOnce, ingest_paths, record, record_text

COPY_DATE = 1_795_000_000
"""A modification time, 2026-11-18."""


def put(store: Store, *records: str, name: str = "log") -> None:
    ingest([Source(name, "\n".join(records).encode())], store)


def rows(store: Store, sql: str) -> list[dict[str, Any]]:
    return run_queries.fetch(store, sql).to_pylist()


def total(store: Store, *metrics: str) -> dict[str, Any]:
    [row] = run_queries.summary(store, Filters(), (), metrics).to_pylist()
    return dict(row)


def _mixed(store: Store) -> None:
    """Five runs: two usual ones, one of a model without a price, one that names no model, one that never started."""
    unknown = {
        "a-model-of-ours": {"inputTokens": 10, "outputTokens": 2, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "costUSD": 3}
    }
    put(
        store,
        record_text(uuid="a", session_id="a", total_cost_usd=0.25, num_turns=2),
        record_text(uuid="b", session_id="b", total_cost_usd=0.25, num_turns=4),
        record_text(uuid="c", session_id="c", total_cost_usd=3, modelUsage=unknown),
        record_text(uuid="d", session_id="d", total_cost_usd=5, modelUsage=..., usage=...),
        record_text(
            uuid="e", session_id="e", total_cost_usd=0, duration_api_ms=0, duration_ms=400, modelUsage={}, is_error=True,
            usage={"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
            result="You've hit your limit",
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def mixed(store_once: StoreOnce) -> Store:
    return store_once("numbers_mixed", _mixed)


# unpriced runs


def test_unpriced_runs_are_the_same_for_metric_share_finding_and_table(mixed: Store) -> None:
    found = total(mixed, "runs", "unpriced_runs", "unpriced_share")
    noticed = rows(mixed, "select run_id from findings where rule = 'cost_unpriced' order by run_id")
    models = report_queries.unpriced_models(mixed, Filters()).to_pylist()
    assert (found["unpriced_runs"], found["unpriced_share"]) == (2, 0.4)
    assert [row["run_id"] for row in noticed] == ["c", "d"]
    assert {row["model-id"]: (row["runs"], row["cost_usd"]) for row in models} == {"a-model-of-ours": (1, 3), None: (1, 5)}


# the base of the list-price difference


def test_the_difference_to_list_prices_is_that_of_list_cost_to_the_base_beside_it(mixed: Store) -> None:
    found = total(mixed, "cost_usd", "cost_list_usd", "cost_delta_usd", "cost_compared_usd")
    assert found["cost_list_usd"] - found["cost_compared_usd"] == found["cost_delta_usd"]
    assert (found["cost_compared_usd"], found["cost_compared_usd_known"], found["cost_usd"]) == (Decimal("0.5"), 3, Decimal("8.5"))
    for row in run_queries.models(mixed, Filters()).to_pylist():
        assert row["cost_list_usd"] is None or row["cost_list_usd"] - row["cost_compared_usd"] == row["cost_delta_usd"]


# runs that never started


def test_a_run_that_never_started_is_counted_and_left_out_of_medians_and_means(mixed: Store) -> None:
    found = total(mixed, "runs", "never_started_runs", "cost_median_usd", "cost_mean_usd", "duration_median_ms", "turns_median")
    assert (found["runs"], found["never_started_runs"]) == (5, 1)
    assert (found["cost_median_usd"], found["cost_median_usd_known"]) == (Decimal("1.625"), 4)
    assert (found["cost_mean_usd"], found["cost_mean_usd_known"]) == (Decimal("2.125"), 4)
    assert (found["duration_median_ms"], found["turns_median"]) == (60_000, 3)
    assert rows(mixed, "select run_id from v_runs where not is_started") == [{"run_id": "e"}]


# API time beyond belief


def test_api_time_beyond_the_wall_time_is_found_and_stays_out_of_figures_per_turn_and_hour(store: Store) -> None:
    usual = record_text(uuid="a", session_id="a", total_cost_usd=0.5, num_turns=5, duration_ms=3_600_000, duration_api_ms=36_000_000)
    carried = record_text(uuid="b", session_id="b", total_cost_usd=5, num_turns=1, duration_ms=3_000, duration_api_ms=700_000)
    put(store, usual, carried)
    [finding] = rows(store, "select run_id, severity, expected, actual from findings where rule = 'api_time_beyond_wall'")
    assert (finding["run_id"], finding["severity"]) == ("b", "warning")
    assert finding["actual"] == "233.3 times: 700000 ms of API time in 3000 ms"
    found = total(store, "cost_per_turn_usd", "cost_per_hour_usd", "parallelism")
    assert (found["cost_per_turn_usd"], found["cost_per_turn_usd_known"]) == (Decimal("0.1"), 1)
    assert (found["cost_per_hour_usd"], found["cost_per_hour_usd_known"]) == (Decimal("0.5"), 1)
    assert found["parallelism_known"] == 2
    assert [row["cost_per_turn_usd"] for row in rows(store, "select cost_per_turn_usd from v_runs order by run_id")] == [
        Decimal("0.1"),
        None,
    ]


def test_cumulative_api_time_of_a_stream_is_not_beyond_belief(store: Store) -> None:
    """The second result of a process has the API time of both, and the wall time of its own."""
    start = {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-opus-4-6"}

    def result(uuid: str, cost: float, wall: int, api: int) -> str:
        usage = record()["modelUsage"]["claude-opus-4-6"] | {"costUSD": cost, "inputTokens": round(cost * 1000)}
        return record_text(
            uuid=uuid, session_id="s", total_cost_usd=cost, duration_ms=wall, duration_api_ms=api, modelUsage={"claude-opus-4-6": usage}
        )

    put(store, json.dumps(start), result("a", 0.5, 600_000, 300_000), result("b", 0.6, 4_000, 303_000))
    assert [row["duration_api_own_ms"] for row in rows(store, "select duration_api_own_ms from v_runs order by run_id")] == [300_000, 3_000]
    assert not rows(store, "select * from findings where rule = 'api_time_beyond_wall'")


# possible duplicates


def _doubts(store: Store) -> list[tuple[str, str, int]]:
    found = rows(
        store,
        "select run_id, message, runs.findings from findings join runs using (run_id) where rule = 'possible_duplicate' order by run_id",
    )
    return [(row["run_id"], row["message"], row["findings"]) for row in found]


def test_a_copy_of_a_record_without_its_id_is_found_in_any_order_and_after_a_rebuild(tmp_path: Path) -> None:
    with_id = record_text(uuid="with-id", session_id="s", modelUsage=...)
    without = json.dumps({key: value for key, value in json.loads(with_id).items() if key not in ("uuid", "usage", "permission_denials")})
    other = record_text(uuid="other", session_id="t", modelUsage=...)
    found = []
    for name, order in (("one", (with_id, without, other)), ("two", (other, without, with_id))):
        store = Store(tmp_path / f"{name}.duckdb")
        for number, text in enumerate(order):
            put(store, text, name=str(number))
        found.append(_doubts(store))
        rebuild(store)
        found.append(_doubts(store))
    copy_id = next(run_id for run_id, _, _ in found[0] if run_id != "with-id")
    assert found == [found[0]] * 4
    messages = {run_id: message for run_id, message, _ in found[0]}
    assert messages.keys() == {"with-id", copy_id}
    assert copy_id in messages["with-id"]
    assert "Run with-id has the same session" in messages[copy_id]
    [counted] = {findings for run_id, _, findings in found[0] if run_id == "with-id"}
    assert counted >= 1


# dates


@pytest.fixture
def copied(tmp_path: Path, store: Store) -> Store:
    """A run whose path has a date, and one whose file has a modification time only."""
    dated = tmp_path / "run_2026-03-19_02-03-27.log"
    dated.write_text(record_text(uuid="dated", session_id="a", total_cost_usd=1))
    copied = tmp_path / "copied.json"
    copied.write_text(record_text(uuid="copied", session_id="b", total_cost_usd=2))
    for file in (dated, copied):
        os.utime(file, (COPY_DATE, COPY_DATE))
    ingest_paths(store, dated, copied)
    return store


@pytest.mark.parametrize(("by", "day"), [("day", "2026-03-19"), ("week", "2026-W12"), ("month", "2026-03")])
def test_a_run_that_only_its_file_dates_is_in_the_group_of_unknown_dates(copied: Store, by: str, day: str) -> None:
    found = run_queries.summary(copied, Filters(), (by,), ("runs", "cost_usd")).to_pylist()
    assert [(row[by], row["runs"], row["cost_usd"]) for row in found] == [(day, 1, 1), (None, 1, 2)]
