"""`tachograph claims` and `tachograph findings`.

What is listed, in which order, under which filters, in every format.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from app.cli.claims import KINDS
from app.cli.lists import SEVERITIES
from app.cli.main import cli
from app.queries import claims as claim_queries
from app.queries.filters import choose
from ingest.store.database import Store
from schemas.catalogue.rules import FINDING_RULES
from schemas.errors import UsageError
from schemas.rows.source import Severity
from tests.conftest import SAMPLES, StoreOnce, ingest_paths, record_text

SUMMARIES = (
    "Benchmarked with hyperfine: the build went from 90 s to 30 s.",
    "The new cache makes the parser 1.5x faster.",
    "Perfect! Nothing to report.",
)


def fill_claiming(store: Store) -> None:
    """Three runs: one claims 3× with a benchmark, one 1.5× without, one nothing; and the samples.

    Only read from.
    """
    logs = Path(store.location).parent / "logs"
    logs.mkdir()
    for number, summary in enumerate(SUMMARIES, 1):
        text = record_text(
            result=summary,
            uuid=f"run-{number}",
            session_id=f"session-{number}",
            total_cost_usd=0.25 if number < 3 else 0.3,
        )
        (logs / f"{number}.json").write_text(text)
    ingest_paths(store, logs, repo="parser")
    ingest_paths(store, SAMPLES, repo="vllm")


@pytest.fixture(scope="module")
def claiming(read_once: StoreOnce) -> Store:
    return read_once("claiming", fill_claiming)


def ask(store: Store, *words: str) -> Result:
    return CliRunner().invoke(cli, [*words, "--db", store.location])


def rows(store: Store, *words: str) -> list[dict[str, Any]]:
    done = ask(store, *words, "--format", "json")
    assert done.exit_code == 0, done.stderr
    return list(json.loads(done.stdout))


def test_the_largest_claim_comes_first_and_says_who_claims_it_on_what(claiming: Store) -> None:
    found = [
        row for row in rows(claiming, "claims", "--repo", "parser") if row["kind"] == "quantified"
    ]
    assert [(row["run_id"], row["ratio"], row["evidence"]) for row in found] == [
        ("run-1", pytest.approx(3.0), "benchmarked"),
        ("run-2", 1.5, "stated"),
    ]
    assert [row["repo"] for row in found] == ["parser", "parser"]
    assert all(
        SUMMARIES[number][row["start"] : row["end"]] == row["quote"]
        for number, row in enumerate(found)
    )


def test_evidence_and_min_claim_choose_claims_and_runs_alike(claiming: Store) -> None:
    assert {
        row["run_id"]
        for row in rows(claiming, "claims", "--evidence", "stated", "--kind", "quantified")
    } == {"run-2"}
    assert {row["run_id"] for row in rows(claiming, "runs", "--evidence", "stated")} == {"run-2"}
    assert [row["ratio"] for row in rows(claiming, "claims", "--min-claim", "2.9x")] == [
        3.17,
        pytest.approx(3.0),
    ]
    assert {
        row["run_id"] for row in rows(claiming, "runs", "--min-claim", "1.5", "--repo", "parser")
    } == {"run-1", "run-2"}


def test_the_heading_says_that_claims_are_claimed(claiming: Store) -> None:
    shown = ask(claiming, "claims", "--repo", "vllm", "--kind", "quantified")
    told = "2 claims of 1 run, from the agents' summaries, not checked (14 without a number: --all)"
    assert shown.stderr.startswith(f"{told} · --project vllm · {claiming.location}\n")
    assert "Claimed" in shown.stdout
    assert "3.17×" in shown.stdout
    cut = ask(claiming, "claims", "--kind", "quantified", "--limit", "1")
    assert cut.stderr.startswith("the 1 largest of 4 claims of 3 runs")


def test_evidence_has_the_words_of_the_screens_in_a_terminal_and_its_keys_for_programs(
    claiming: Store,
) -> None:
    shown = (
        CliRunner()
        .invoke(cli, ["claims", "--all", "--db", claiming.location], env={"COLUMNS": "200"})
        .stdout
    )
    assert all(word in shown for word in ("method stated", "number only", "no number")), shown
    assert "benchmarked" not in shown
    assert {row["evidence"] for row in rows(claiming, "claims")} == {"benchmarked", "stated"}
    assert "stated (benchmarked)" in " ".join(ask(claiming, "claims", "--help").stdout.split())
    for words, key in (
        ("method stated", "benchmarked"),
        ("before–after", "figures"),
        ("Number only", "stated"),
        ("estimate", "estimated"),
    ):
        refused = ask(claiming, "claims", "--evidence", words).exception
        assert isinstance(refused, UsageError)
        assert refused.hint.startswith(f"Did you mean {key}?"), words


def test_a_rule_has_the_cost_of_its_runs_each_once(claiming: Store) -> None:
    rows = claim_queries.findings(claiming, choose({})).to_pylist()
    for rule in claim_queries.findings_by_rule(claiming, choose({})).to_pylist():
        of_rule = [row for row in rows if row["rule"] == rule["rule"]]
        costs = {row["run_id"]: row["cost_own_usd"] for row in of_rule}
        assert (rule["findings"], rule["runs"], rule["cost_usd"]) == (
            len(of_rule),
            len(costs),
            sum(costs.values()),
        ), rule["rule"]


def test_findings_come_errors_first_with_what_was_expected(claiming: Store) -> None:
    found = rows(claiming, "findings")
    order = [SEVERITIES.index(row["severity"]) for row in found]
    assert order == sorted(order)
    assert (found[0]["run_id"], found[0]["rule"], found[0]["expected"], found[0]["actual"]) == (
        "run-3",
        "cost_sum",
        "$0.25",
        "$0.3",
    )
    cost = {row["run_id"]: row["cost_own_usd"] for row in rows(claiming, "runs")}
    assert all(row["cost_own_usd"] == cost[row["run_id"]] for row in found)
    assert {row["rule"] for row in rows(claiming, "findings", "--rule", "count_mismatch")} == {
        "count_mismatch"
    }
    assert {
        row["severity"]
        for row in rows(claiming, "findings", "--severity", "error", "--severity", "info")
    } == {"error", "info"}
    assert rows(claiming, "findings", "--severity", "error", "--repo", "vllm") == []


def test_a_rule_that_does_not_exist_is_told_with_those_that_do(claiming: Store) -> None:
    code = CliRunner().invoke(cli, ["findings", "--rule", "headline", "--db", claiming.location])
    assert "unknown rule 'headline'" in str(code.exception)
    assert all(rule in str(code.exception) for rule in FINDING_RULES)


def test_the_words_of_the_options_are_those_of_the_rows() -> None:
    assert set(SEVERITIES) == {*Severity}


def test_a_table_lists_claims_with_a_number_and_files_all_of_them(claiming: Store) -> None:
    table = ask(claiming, "claims")
    assert "Reduced allocations" not in table.stdout
    assert "Reduced allocations" in ask(claiming, "claims", "--all").stdout
    assert "Reduced allocations" in ask(claiming, "claims", "--kind", "qualitative").stdout
    kinds = [row["kind"] for row in rows(claiming, "claims")]
    assert kinds == sorted(kinds, reverse=True)
    assert set(kinds) == {*KINDS}
