"""Budgets: where they come from, what passes and what fails, and that an unknown never passes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import simplejson
from click.testing import CliRunner, Result

from app.cli.main import cli
from app.queries.filters import Filters
from app.queries.reading import Undated
from app.queries.runs import KNOWN_SUFFIX
from app.reports.budgets import (
    BudgetVerdict,
    as_options,
    budget_table,
    budgets_of,
    check,
    from_environment,
    judge,
    parse_allowed,
    read_budgets,
    to_environment,
)
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.catalogue.dimensions import DIMENSIONS
from schemas.catalogue.metrics import LIMITS, LOOP_FIGURES, RUN_METRICS, VERDICT_METRICS
from schemas.errors import UsageError
from tests.conftest import ROOT, SAMPLES, TOTAL_COST, Run, environment, record_text
from tests.forked_program import forked_program
from tests.forks import Forks

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest


def judged(key: str, allowed: str, found: Any, known: int = 3, runs: int = 3) -> BudgetVerdict:
    metric = LIMITS[key].metric
    return judge(
        LIMITS[key],
        Decimal(allowed),
        {metric: found, f"{metric}{KNOWN_SUFFIX}": known, "runs": runs},
    )


@pytest.fixture
def answered(filled: Path) -> Any:
    """`check` in this process on the samples: `answered("--max-total-usd", "2")`."""

    def run(*words: str) -> Result:
        return CliRunner().invoke(
            cli, ["check", *words, "--db", str(filled / "tachograph.duckdb")], standalone_mode=False
        )

    return run


def test_limits_bound_figures_that_exist() -> None:
    for limit in LIMITS.values():
        assert limit.metric in {**RUN_METRICS, **VERDICT_METRICS, **LOOP_FIGURES}
        assert not limit.rests_on or limit.rests_on in VERDICT_METRICS
        assert not limit.per or limit.per in DIMENSIONS
        assert limit.key.startswith("min-" if limit.is_least else "max-")


@pytest.mark.parametrize(
    ("key", "allowed", "found", "passed"),
    [
        ("max-total-usd", "2.825104150", Decimal("2.825104150"), True),
        ("max-total-usd", "2.825104149", Decimal("2.825104150"), False),
        ("max-total-usd", "0", Decimal(0), True),
        ("max-error-rate", "0.1", 0.1, True),
        ("max-error-rate", "0.3", 1 / 3, False),
        ("min-runs", "3", 3, True),
        ("min-runs", "4", 3, False),
    ],
)
def test_a_limit_itself_is_allowed_and_a_billionth_more_is_not(
    key: str, allowed: str, found: Any, passed: bool
) -> None:
    assert judged(key, allowed, found).passed is passed


def test_what_is_known_for_no_run_fails_and_says_so() -> None:
    verdict = judged("max-total-usd", "100", None, known=0)
    assert not verdict.passed
    assert verdict.note == "Unknown for all 3 runs, so it cannot be checked."
    assert str(budget_table([verdict]).cells[0][1]) == "–"


def test_what_is_known_for_some_runs_says_for_how_many() -> None:
    verdict = judged("max-total-usd", "100", Decimal(1), known=2)
    assert verdict.passed
    assert verdict.note == "Based on 2 of 3 runs."


def test_no_run_keeps_every_limit_but_that_of_runs() -> None:
    assert judged("max-total-usd", "0", None, known=0, runs=0).passed
    assert judged("max-total-usd", "0", None, known=0, runs=0).note == "No runs match."
    assert not judged("min-runs", "1", 0, known=0, runs=0).passed


def test_the_most_expensive_day_is_judged_and_undated_runs_are_told() -> None:
    days: list[dict[str, Any]] = [
        {"day": "2026-11-19", "runs": 1, "cost_usd": Decimal(3), "cost_usd_known": 1},
        {"day": "2026-11-20", "runs": 2, "cost_usd": Decimal(4), "cost_usd_known": 1},
        {"day": None, "runs": 5, "cost_usd": Decimal(90), "cost_usd_known": 5},
    ]
    total = {"cost_usd": Decimal(97), "cost_usd_known": 7, "runs": 8}
    verdict = judge(
        LIMITS["max-day-usd"], Decimal("3.5"), total, days, Undated(5, Decimal(90), "lower_bound")
    )
    assert not verdict.passed
    assert verdict.note == (
        "Over by $0.50; on 2026-11-20; based on 2 of 8 runs; no date for 5 runs (≥\u00a0"
        "$90.00), counted on no day."
    )
    assert not judge(LIMITS["max-day-usd"], Decimal(100), total, days[2:]).passed


def test_a_day_is_one_of_the_time_zone(store: Store) -> None:
    """23:30 and 00:30 UTC are two days in London, in winter, and one in Berlin."""
    stream = '{"type":"user","timestamp":"%s","session_id":"%s"}\n%s\n'
    for day, uuid in (("2026-01-10T23:30:00Z", "a"), ("2026-01-11T00:30:00Z", "b")):
        text = stream % (
            day,
            uuid,
            record_text(uuid=uuid, session_id=uuid, total_cost_usd=1, duration_ms=1),
        )
        ingest([Source(uuid, text.encode())], store)
    found = {
        zone: check(store, Filters(), {"max-day-usd": Decimal(1)}, zone).verdicts[0].found
        for zone in ("Europe/London", "Europe/Berlin")
    }
    assert found == {"Europe/London": 1, "Europe/Berlin": 2}


def test_a_budget_that_is_kept_exits_with_0(answered: Any) -> None:
    done = answered(
        "--max-total-usd",
        TOTAL_COST,
        "--max-run-usd",
        "1.3",
        "--max-error-rate",
        "0",
        "--min-runs",
        "3",
    )
    assert done.return_value == 0
    assert done.stdout.count(" PASS") == 4
    assert "PASS: 4 budgets met" in done.stderr


@pytest.mark.slow
def test_a_budget_that_is_not_kept_exits_with_1_in_every_format(answered: Any) -> None:
    results = {
        name: answered("--max-total-usd", "2", "--max-run-usd", "5", "--format", name)
        for name in ("table", "md", "json")
    }
    assert {result.return_value for result in results.values()} == {1}
    assert "FAIL    Over by $0.83." in results["table"].stdout
    assert "### ❌ FAIL: 1 of 2 budgets not met\n" in results["md"].stdout
    assert (
        "| Total cost | $2.83 | at most $2.00 | FAIL | Over by $0.83. |\n" in results["md"].stdout
    )
    answer = simplejson.loads(results["json"].stdout, use_decimal=True)
    assert (answer["passed"], answer["runs"]) == (False, 3)
    assert [(limit["limit"], limit["passed"], limit["found"]) for limit in answer["limits"]] == [
        ("max-total-usd", False, Decimal(TOTAL_COST)),
        ("max-run-usd", True, Decimal("1.21176")),
    ]


def test_filters_choose_what_is_checked(answered: Any) -> None:
    done = answered("--max-total-usd", "0", "--outcome", "api_error", "--format", "json")
    assert (done.return_value, json.loads(done.stdout)["filters"]) == (
        1,
        {"outcome": ["api_error"]},
    )
    assert answered("--min-runs", "1", "--outcome", "api_error").return_value == 1


@pytest.mark.slow
def test_a_filter_that_matches_nothing_fails_unless_that_is_allowed(answered: Any) -> None:
    """A typo in CI: `--repo vlm`."""
    done = answered("--max-total-usd", "1", "--repo", "vlm")
    assert done.return_value == 1
    assert "FAIL: no run matches the filters; --allow-empty lets this pass" in done.stderr
    allowed = answered("--max-total-usd", "1", "--repo", "vlm", "--allow-empty")
    assert allowed.return_value == 0
    assert "PASS: 1 budget met" in allowed.stderr
    for one in (done, allowed):
        assert "PASS" not in one.stdout
        assert "NO RUNS" in one.stdout


@pytest.mark.parametrize(
    ("key", "text", "allowed"),
    [
        ("max-total-usd", "$20", "20"),
        ("max-error-rate", "5%", "0.05"),
        ("max-run-usd", "1e-9", "1e-9"),
    ],
)
def test_limits_are_written_as_people_write_them(key: str, text: str, allowed: str) -> None:
    assert parse_allowed(LIMITS[key], text) == Decimal(allowed)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("max-total-usd", "2,5"),
        ("max-total-usd", "-1"),
        ("max-run-usd", "nan"),
        ("max-error-rate", "5"),
        ("min-runs", ""),
    ],
)
def test_a_limit_that_is_no_number_says_what_is(key: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"--{key} takes a"):
        parse_allowed(LIMITS[key], text)


@pytest.mark.slow
def test_the_recipe_for_ci_of_the_docs_runs(tmp_path: Path, forks: Forks) -> None:
    """As a script, without an option of the shell.

    Without logs it ends at once, with the exit code of the ingest.
    """
    [script] = re.findall(
        r"^```sh\n(.*?)^```", (ROOT / "docs" / "ci.md").read_text(), re.DOTALL | re.MULTILINE
    )
    with forked_program(tmp_path / "tachograph", forks):
        variables = environment(PATH=f"{tmp_path}:{os.environ['PATH']}")
        how: dict[str, Any] = {"cwd": tmp_path, "env": variables, "capture_output": True}
        missing = subprocess.run(["sh", "-c", script], text=True, check=False, **how)
        left = [path.name for path in tmp_path.glob("cost.html")]
        (tmp_path / "logs").symlink_to(SAMPLES)
        done = subprocess.run(["sh", "-c", script], text=True, check=False, **how)
    assert (missing.returncode, left) == (3, []), missing.stderr
    assert done.returncode == 0, done.stderr
    assert "PASS: 3 budgets met" in done.stderr
    assert (tmp_path / "cost.html").stat().st_size > 10_000


def test_without_a_limit_there_is_nothing_to_check() -> None:
    done = CliRunner().invoke(cli, ["check"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Give a budget, e.g. --max-total-usd 50" in done.stderr


FILE = 'max-total-usd = 2.5\nmax-error-rate = "10%"\nmin-runs = 1\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (written := tmp_path / "budgets.toml").write_text(FILE)
    return written


def test_a_file_has_the_names_of_the_options_and_an_option_replaces_its_value(file: Path) -> None:
    assert read_budgets(file) == {
        "max-total-usd": Decimal("2.5"),
        "max-error-rate": Decimal("0.1"),
        "min-runs": Decimal(1),
    }
    assert (
        dict(budgets_of({"max-total-usd": "$9", "max-run-usd": "1e-9"}, file))["max-total-usd"] == 9
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max-totl-usd = 1", r"unknown budget 'max-totl-usd'(?s:.)*Did you mean max-total-usd"),
        ("max-total-usd = -1", "--max-total-usd takes an amount"),
        ("max-total-usd = [1]", "--max-total-usd takes an amount"),
        ("max-total-usd 1", "cannot read the budgets"),
        ("max-total-usd = nan", "--max-total-usd takes an amount"),
    ],
)
def test_a_file_that_is_wrong_says_where_and_what_to_write(
    tmp_path: Path, text: str, said: str
) -> None:
    (wrong := tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(UsageError, match=said) as error:
        read_budgets(wrong)
    assert "wrong.toml" in error.value.message


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml: No such file"):
        read_budgets(tmp_path / "none.toml")


def test_budgets_reach_another_process_and_a_command_line_unchanged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = budgets_of({key: "0.000000001" if key.endswith("usd") else "1" for key in LIMITS})
    for name, value in to_environment(given).items():
        monkeypatch.setenv(name, value)
    assert from_environment() == given
    words = as_options(given)
    assert (
        budgets_of(
            {
                key.removeprefix("--"): text
                for key, text in zip(words[::2], words[1::2], strict=True)
            }
        )
        == given
    )


def test_check_and_report_read_the_same_file(filled: Path, tachograph: Run, file: Path) -> None:
    checked = tachograph("check --budgets", file, cwd=filled)
    assert checked.returncode == 1
    assert "FAIL: 1 of 3 budgets not met" in checked.stderr
    told = tachograph("report --budgets", file, "--max-total-usd", "3", cwd=filled).stdout
    assert "$0.17  PASS, of $3.00" in told
    assert [line.split()[0] for line in told.rpartition("\nBudget ")[2].splitlines()[2:5]] == [
        "Total",
        "Failure",
        "Runs",
    ]


def test_the_screen_of_costs_shows_the_budgets_of_the_dashboard(
    sample_store: Store, screens: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACHOGRAPH_BUDGETS", "max-total-usd=3 max-run-usd=0.5")
    shown = "".join(
        element.proto.body
        for element in screens(sample_store.location, "screens/cost.py").get("html")
    )
    assert re.search(r"Total cost.*?\$2.83.*?at most \$3.00.*?PASS", shown)
    assert re.search(r"Max cost per run.*?at most \$0.50.*?FAIL", shown)
    monkeypatch.delenv("TACHOGRAPH_BUDGETS")
    assert "PASS" not in "".join(
        element.proto.body
        for element in screens(sample_store.location, "screens/cost.py").get("html")
    )
