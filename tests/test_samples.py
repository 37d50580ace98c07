"""The sample logs, against rows worked out by hand."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from app.queries import runs as run_queries
from app.queries.filters import Filters
from ingest.store.database import Store
from tests.conftest import ROOT, SAMPLES, TOTAL_COST, fetched

EXPECTED = [
    json.loads(line)
    for line in (ROOT / "tests" / "expected" / "claude_code.jsonl").read_text().splitlines()
]


def by_name(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal) else value


def test_every_sample_has_its_expectation() -> None:
    assert sorted(path.name for path in SAMPLES.iterdir()) == [row["file"] for row in EXPECTED]


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda row: row["file"])
def test_a_sample_becomes_its_rows(sample_store: Store, expected: dict[str, Any]) -> None:
    run = run_queries.run(sample_store, expected["run"]["run_id"])
    assert run is not None
    assert {key: by_name(run[key]) for key in expected["run"]} == expected["run"]
    usage = run["model_usage"].to_pylist()
    assert [
        {key: by_name(row[key]) for key in wanted}
        for row, wanted in zip(usage, expected["model_usage"], strict=True)
    ] == expected["model_usage"]
    assert run["raw"] == (SAMPLES / expected["file"]).read_text()


def test_the_totals_are_exact(sample_store: Store) -> None:
    metrics = ("runs", "cost_usd", "turns", "cache_read_tokens", "duration_ms")
    [total] = run_queries.summary(sample_store, Filters(), metrics=metrics).to_pylist()
    assert {key: str(total[key]) for key in metrics} == {
        "runs": "3",
        "cost_usd": TOTAL_COST,
        "turns": "110",
        "cache_read_tokens": "3949958",
        "duration_ms": "608588",
    }


def test_the_models_add_up_to_each_run(sample_store: Store) -> None:
    sql = """select count(*) from runs
             where cost_reported_usd = (select sum(cost_reported_usd) from model_usage where model_usage.run_id = runs.run_id)"""  # noqa: E501
    assert fetched(sample_store, sql) == [(3,)]


def test_the_damaged_summary_is_repaired_and_its_raw_record_is_not(sample_store: Store) -> None:
    run = run_queries.run(sample_store, "f7ae19ec-21c0-43c6-982f-dcd845ef4ac1")
    assert run is not None
    assert "â†’" not in run["result"]
    assert "`torch.zeros()` → `torch.empty()`" in run["result"]
    assert "â†’" in run["raw"]
