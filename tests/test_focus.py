"""Costs in FOCUS: they add up to the report's, to the nanodollar, and every row has what the specification asks for."""

from __future__ import annotations

import csv
import io
import os
import subprocess
from datetime import UTC, date
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from app.cli.main import cli
from app.queries.filters import NO_FILTERS, parse
from app.queries.reading import fetch
from app.reports.focus import CLASSES, Charge, _split, as_csv, focus
from ingest.store.database import Store
from tests.conftest import ROOT, StoreOnce, ingest_paths


@pytest.fixture(scope="module")
def samples(read_once: StoreOnce) -> Store:
    """All sample logs, which have sessions, measured results and undated runs."""
    return read_once("all-samples", lambda store: ingest_paths(store, ROOT / "sample_logs"))


NEVER_EMPTY = (
    "BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "BillingAccountId", "BillingAccountName",
    "BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd",
    "ChargeCategory", "ChargeDescription", "InvoiceIssuerName", "PricingQuantity", "PricingUnit", "ProviderName",
    "PublisherName", "ServiceCategory", "ServiceName",
)  # fmt: skip


def test_the_rows_add_up_to_the_report(samples: Store) -> None:
    made = focus(samples, NO_FILTERS)
    [expected] = fetch(
        samples,
        "select sum(cost_best_usd) filter (dated_at is not null) as usd, count(*) filter (cost_best_usd is null) as unpriced,"
        " count(*) filter (cost_best_usd is not null and dated_at is null) as undated, count(*) as runs from v_runs where not excluded",
    ).to_pylist()
    assert made.total_usd == sum(made.table["BilledCost"].to_pylist()) == expected["usd"] > 0
    assert (made.unpriced, made.undated, made.runs + made.unpriced + made.undated) == (
        expected["unpriced"],
        expected["undated"],
        expected["runs"],
    )
    runs: dict[str, Decimal] = {}
    for row in made.table.to_pylist():
        runs[row["x_Run"]] = runs.get(row["x_Run"], Decimal(0)) + row["BilledCost"]
    known = fetch(samples, "select run_id, cost_best_usd as usd from v_runs where not excluded and dated_at is not null").to_pylist()
    assert {run_id: usd for run_id, usd in runs.items() if usd} == {row["run_id"]: row["usd"] for row in known if row["usd"]}


def test_every_row_has_what_must_be_there(samples: Store) -> None:
    rows = focus(samples, NO_FILTERS).table.to_pylist()
    assert not [(name, row) for row in rows for name in NEVER_EMPTY if row[name] in (None, "")]
    for row in rows:
        assert row["BillingPeriodStart"] <= row["ChargePeriodStart"] < row["ChargePeriodEnd"] <= row["BillingPeriodEnd"]
        assert (row["ChargePeriodEnd"] - row["ChargePeriodStart"]).days == 1
        assert row["x_CostBasis"] in ("reported", "list")
        assert row["InvoiceId"] is None
        assert row["InvoiceIssuerName"] == row["ProviderName"]  # otherwise FOCUS asks for a billed cost of 0


def test_a_session_is_charged_on_the_days_of_its_responses(samples: Store) -> None:
    days = fetch(
        samples,
        "select run_id, count(distinct (\"at\" at time zone 'UTC')::date) as days from responses group by run_id having days > 1",
    ).to_pylist()
    rows = focus(samples, NO_FILTERS).table.to_pylist()
    for run in days:
        charged = {row["ChargePeriodStart"].astimezone(UTC).date() for row in rows if row["x_Run"] == run["run_id"]}
        assert len(charged) <= run["days"]
        assert len(charged) > 1


def test_filters_choose_runs(samples: Store) -> None:
    chosen = focus(samples, parse("agent=codex")).table
    assert set(chosen["x_Agent"].to_pylist()) == {"codex"}


@given(st.decimals(0, 10**6, places=9), st.lists(st.decimals(0, 10**4, places=6), min_size=1, max_size=12))
def test_a_split_cost_adds_up(cost: Decimal, weights: list[Decimal]) -> None:
    charges = [Charge(date(2026, 1, 1), CLASSES[0], number + 1, weight) for number, weight in enumerate(weights)]
    parts = _split(cost, charges)
    assert sum(parts) == cost
    assert all(part.as_tuple().exponent >= -9 for part in parts)  # type: ignore[operator]


def test_the_command_writes_csv_and_parquet_and_says_what_is_left_out(samples: Store, tmp_path: Path) -> None:
    def report(*words: str) -> str:
        result = CliRunner().invoke(cli, ["report", "--format", "focus", "--db", samples.location, *words], catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        return result.stderr

    said = report("-o", str(tmp_path / "focus.csv"))
    report("-o", str(tmp_path / "focus.parquet"))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "focus.csv").read_text())))
    table = pq.read_table(tmp_path / "focus.parquet")
    assert sum(Decimal(row["EffectiveCost"]) for row in rows) == sum(table["EffectiveCost"].to_pylist())
    assert rows[0]["ChargePeriodStart"].endswith("T00:00:00Z")
    assert "FOCUS 1.2" in said
    assert "showback, no invoice" in said
    refused = CliRunner().invoke(cli, ["report", "--format", "focus", "--db", samples.location, "-o", str(tmp_path / "focus.xlsx")])
    assert "csv or parquet, not as focus.xlsx" in str(refused.exception)


@pytest.mark.skipif("FOCUS_VALIDATOR" not in os.environ, reason="needs the program focus-validator 2.2.1, in $FOCUS_VALIDATOR")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_official_validator_finds_only_its_own_contradiction(samples: Store, tmp_path: Path, suffix: str) -> None:
    """Of its rules, InvoiceId-C-004-C wants every InvoiceId empty, and InvoiceId-C-005-C none: one of them fails for any file with rows."""
    program = Path(os.environ["FOCUS_VALIDATOR"]).absolute()
    table = focus(samples, NO_FILTERS).table
    file = tmp_path / f"focus.{suffix}"
    file.write_bytes(as_csv(table)) if suffix == "csv" else pq.write_table(table, file)
    [packages] = program.parent.parent.glob("lib/python*/site-packages")
    words = ["--data-file", str(file), "--validate-version", "1.2", "--focus-dataset", "CostAndUsage", "--block-download"]
    said = subprocess.run([str(program), *words], cwd=packages, capture_output=True, text=True, check=False, timeout=300).stdout
    assert [line.split(":")[0] for line in said.splitlines() if line.startswith("❌")] == ["❌ InvoiceId-C-005-C"]
