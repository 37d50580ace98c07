"""Costs in FOCUS: they add up to the report's, to the nanodollar, in rows as specified."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from datetime import UTC
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from app.cli.main import cli
from app.queries.filters import NO_FILTERS, parse
from app.queries.reading import fetch, undated
from app.reports.focus import VERSIONS, as_csv, focus, split
from ingest.store.database import Store
from tests.conftest import ROOT, StoreOnce, ingest_paths, record_text


@pytest.fixture(scope="module")
def samples(read_once: StoreOnce) -> Store:
    """All sample logs, which have sessions, measured results and undated runs."""
    return read_once("all-samples", lambda store: ingest_paths(store, ROOT / "sample_logs"))


NEVER_EMPTY = tuple(
    (
        "BilledCost EffectiveCost ListCost ContractedCost BillingAccountId "
        "BillingAccountName BillingCurrency BillingPeriodStart BillingPeriodEnd "
        "ChargePeriodStart ChargePeriodEnd ChargeCategory ChargeDescription "
        "InvoiceIssuerName PricingQuantity PricingUnit ProviderName PublisherName "
        "ServiceCategory ServiceName"
    ).split()
)


def test_the_rows_add_up_to_the_report(samples: Store) -> None:
    made = focus(samples, NO_FILTERS)
    [expected] = fetch(
        samples,
        (
            "select sum(cost_best_usd) filter (dated_at is not null) as usd, count(*) as runs "
            "from v_runs where not excluded"
        ),
    ).to_pylist()
    assert made.total_usd == sum(made.table["BilledCost"].to_pylist()) == expected["usd"] > 0
    left_out = made.undated.runs + made.unpriced + made.costless
    assert (made.runs + left_out, made.undated) == (expected["runs"], undated(samples, NO_FILTERS))
    assert made.runs == len(set(made.table["x_Run"].to_pylist()))
    columns = "run_id, cost_best_usd as usd, cost_list_usd as listed"
    known = fetch(
        samples, f"select {columns} from v_runs where not excluded and dated_at is not null"
    ).to_pylist()
    assert of_runs(made.table, "BilledCost") == {
        row["run_id"]: row["usd"] for row in known if row["usd"]
    }
    listed = of_runs(made.table, "ListCost")
    priced = {row["run_id"]: row["listed"] for row in known if row["listed"]}
    assert {run_id: listed[run_id] for run_id in priced} == priced


def of_runs(table: pa.Table, column: str) -> dict[str, Decimal]:
    """The sum of a column of the rows of each run."""
    sums: dict[str, Decimal] = {}
    for row in table.to_pylist():
        sums[row["x_Run"]] = sums.get(row["x_Run"], Decimal(0)) + row[column]
    return {run_id: usd for run_id, usd in sums.items() if usd}


NO_CACHE = {"cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "webSearchRequests": 0}
MODELS = {
    "claude-opus-4-6": NO_CACHE | {"inputTokens": 100_000, "outputTokens": 20_000},
    "claude-haiku-4-5": NO_CACHE | {"inputTokens": 500_000, "outputTokens": 100_000},
    "model-of-nobody": NO_CACHE | {"inputTokens": 7, "outputTokens": 3},
}


def charged(
    store: Store, folder: Path, total: float, **costs: float | None
) -> dict[str, tuple[float, float]]:
    """Billed and list cost by model of a run of these models, of which some report their cost."""
    used = {
        name: MODELS[name] | ({} if usd is None else {"costUSD": usd})
        for name, usd in costs.items()
    }
    (folder / "run_2026-03-19_02-03-27.log").write_text(
        record_text(total_cost_usd=total, modelUsage=used)
    )
    ingest_paths(store, folder)
    made = focus(store, NO_FILTERS)
    sums: dict[str, tuple[Decimal, Decimal]] = {}
    for row in made.table.to_pylist():
        model = row["SkuId"].split("/")[0]
        billed, listed = sums.get(model, (Decimal(0), Decimal(0)))
        sums[model] = billed + row["BilledCost"], listed + row["ListCost"]
    assert sum(billed for billed, _ in sums.values()) == Decimal(str(total)) == made.total_usd
    return {model: (float(billed), float(listed)) for model, (billed, listed) in sums.items()}


def test_one_reported_cost_of_several_models_is_divided_by_their_list_prices(
    tmp_path: Path, store: Store
) -> None:
    costs = {"claude-opus-4-6": None, "claude-haiku-4-5": None}  # each worth $1 at list prices
    found = charged(store, tmp_path, 3.000000001, **costs)
    assert found == {"claude-haiku-4-5": (1.500000001, 1), "claude-opus-4-6": (1.5, 1)}


def test_a_model_without_a_cost_of_its_own_has_what_the_others_leave(
    tmp_path: Path, store: Store
) -> None:
    found = charged(store, tmp_path, 3.5, **{"claude-opus-4-6": 0.5, "claude-haiku-4-5": None})
    assert found == {"claude-haiku-4-5": (3, 1), "claude-opus-4-6": (0.5, 1)}


def test_a_cost_that_no_list_price_divides_stands_alone_and_is_listed_once(
    tmp_path: Path, store: Store
) -> None:
    found = charged(store, tmp_path, 3.0, **{"claude-opus-4-6": None, "model-of-nobody": None})
    assert found == {"claude-opus-4-6": (0, 1), "model-of-nobody": (0, 0), "no model": (3, 2)}


def test_a_cost_beyond_the_models_has_no_list_price_of_tokens(tmp_path: Path, store: Store) -> None:
    found = charged(store, tmp_path, 3.0, **{"claude-opus-4-6": 0.5, "claude-haiku-4-5": 1.0})
    assert found == {"claude-opus-4-6": (0.5, 1), "claude-haiku-4-5": (1, 1), "no model": (1.5, 0)}


def test_each_version_has_its_columns(samples: Store) -> None:
    older, newer = (focus(samples, NO_FILTERS, version).table for version in VERSIONS)
    added = ["HostProviderName", "ServiceProviderName", "SkuPriceDetails", "SkuPriceId"]
    assert [name for name in newer.column_names if name not in older.column_names] == added
    assert newer.drop_columns(added).equals(older)
    for row in newer.to_pylist():
        model, token_class = row["SkuId"].rsplit("/", 1)
        assert json.loads(row["SkuPriceDetails"]) == {"x_Model": model, "x_TokenClass": token_class}
        assert row["ServiceProviderName"] == row["ProviderName"]
        assert row["HostProviderName"] in (row["ProviderName"], "Not Applicable")


def test_every_row_has_what_must_be_there(samples: Store) -> None:
    rows = focus(samples, NO_FILTERS).table.to_pylist()
    assert not [(name, row) for row in rows for name in NEVER_EMPTY if row[name] in (None, "")]
    for row in rows:
        assert (
            row["BillingPeriodStart"]
            <= row["ChargePeriodStart"]
            < row["ChargePeriodEnd"]
            <= row["BillingPeriodEnd"]
        )
        assert (row["ChargePeriodEnd"] - row["ChargePeriodStart"]).days == 1
        assert row["x_CostBasis"] in ("reported", "list")
        assert row["InvoiceId"] is None
        assert (
            row["InvoiceIssuerName"] == row["ProviderName"]
        )  # otherwise FOCUS asks for a billed cost of 0


def test_a_session_is_charged_on_the_days_of_its_responses(samples: Store) -> None:
    days = fetch(
        samples,
        (
            "select run_id, count(distinct (\"at\" at time zone 'UTC')::date) as days from "
            "responses group by run_id having days > 1"
        ),
    ).to_pylist()
    rows = focus(samples, NO_FILTERS).table.to_pylist()
    for run in days:
        charged = {
            row["ChargePeriodStart"].astimezone(UTC).date()
            for row in rows
            if row["x_Run"] == run["run_id"]
        }
        assert len(charged) <= run["days"]
        assert len(charged) > 1


def test_filters_choose_runs(samples: Store) -> None:
    chosen = focus(samples, parse("agent=codex")).table
    assert set(chosen["x_Agent"].to_pylist()) == {"codex"}


@given(
    st.decimals(0, 10**6, places=9),
    st.lists(st.decimals(0, 10**4, places=6), min_size=1, max_size=12),
)
def test_a_split_cost_adds_up(cost: Decimal, weights: list[Decimal]) -> None:
    parts = split(cost, weights if any(weights) else [Decimal(1) for _ in weights])
    assert sum(parts) == cost
    assert all(part.as_tuple().exponent >= -9 for part in parts)  # type: ignore[operator]


def test_the_command_writes_csv_and_parquet_and_says_what_is_left_out(
    samples: Store, tmp_path: Path
) -> None:
    def report(*words: str) -> str:
        result = CliRunner().invoke(
            cli,
            ["report", "--format", "focus", "--db", samples.location, *words],
            catch_exceptions=False,
        )
        assert result.exit_code == 0, result.stderr
        return result.stderr

    said = report("-o", str(tmp_path / "focus.csv"))
    report("-o", str(tmp_path / "focus.parquet"))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "focus.csv").read_text())))
    table = pq.read_table(tmp_path / "focus.parquet")
    assert sum(Decimal(row["EffectiveCost"]) for row in rows) == sum(
        table["EffectiveCost"].to_pylist()
    )
    assert rows[0]["ChargePeriodStart"].endswith("T00:00:00Z")
    assert "FOCUS 1.3" in said
    assert f"{len({row['x_Run'] for row in rows})} runs in {len(rows)} rows, " in said
    assert "FOCUS 1.2" in report("-o", str(tmp_path / "older.csv"), "--focus-version", "1.2")
    assert "showback, no invoice" in said
    refused = CliRunner().invoke(
        cli,
        [
            "report",
            "--format",
            "focus",
            "--db",
            samples.location,
            "-o",
            str(tmp_path / "focus.xlsx"),
        ],
    )
    assert "csv or parquet, not as focus.xlsx" in str(refused.exception)
    refused = CliRunner().invoke(
        cli, ["report", "--focus-version", "1.2", "--db", samples.location]
    )
    assert "belongs to the format focus" in str(refused.exception)


@pytest.mark.skipif(
    "FOCUS_VALIDATOR" not in os.environ,
    reason="needs the program focus-validator 2.2.1, in $FOCUS_VALIDATOR",
)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_official_validator_finds_only_its_own_contradiction(
    samples: Store, tmp_path: Path, suffix: str, version: str
) -> None:
    """Of its rules, InvoiceId-C-004-C wants every InvoiceId empty, and InvoiceId-C-005-C none.

    One of them fails for any file with rows.

    It brings only the rules of 1.2, which ask nothing of the columns that 1.3 adds.
    """
    program = Path(os.environ["FOCUS_VALIDATOR"]).absolute()
    table = focus(samples, NO_FILTERS, version).table
    file = tmp_path / f"focus.{suffix}"
    file.write_bytes(as_csv(table)) if suffix == "csv" else pq.write_table(table, file)
    [packages] = program.parent.parent.glob("lib/python*/site-packages")
    words = [
        "--data-file",
        str(file),
        "--validate-version",
        "1.2",
        "--focus-dataset",
        "CostAndUsage",
        "--block-download",
    ]
    said = subprocess.run(
        [str(program), *words],
        cwd=packages,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    ).stdout
    assert [line.split(":")[0] for line in said.splitlines() if line.startswith("❌")] == [
        "❌ InvoiceId-C-005-C"
    ]
