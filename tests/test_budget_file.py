"""Budgets come from options, a file or the dashboard's environment, and are the same wherever they are shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.reports.budgets import as_options, budgets_of, from_environment, read_budgets, to_environment
from ingest.store.database import Store
from schemas.catalogue.metrics import LIMITS
from schemas.errors import UsageError
from tests.conftest import Run

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

FILE = 'max-total-usd = 2.5\nmax-error-rate = "10%"\nmin-runs = 1\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (written := tmp_path / "budgets.toml").write_text(FILE)
    return written


def test_a_file_has_the_names_of_the_options_and_an_option_replaces_its_value(file: Path) -> None:
    assert read_budgets(file) == {"max-total-usd": Decimal("2.5"), "max-error-rate": Decimal("0.1"), "min-runs": Decimal(1)}
    assert dict(budgets_of({"max-total-usd": "$9", "max-run-usd": "1e-9"}, file))["max-total-usd"] == 9


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
def test_a_file_that_is_wrong_says_where_and_what_to_write(tmp_path: Path, text: str, said: str) -> None:
    (wrong := tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(UsageError, match=said) as error:
        read_budgets(wrong)
    assert "wrong.toml" in error.value.message


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml: No such file"):
        read_budgets(tmp_path / "none.toml")


def test_budgets_reach_another_process_and_a_command_line_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    given = budgets_of({key: "0.000000001" if key.endswith("usd") else "1" for key in LIMITS})
    for name, value in to_environment(given).items():
        monkeypatch.setenv(name, value)
    assert from_environment() == given
    words = as_options(given)
    assert budgets_of({key.removeprefix("--"): text for key, text in zip(words[::2], words[1::2], strict=True)}) == given


def test_check_and_report_read_the_same_file(filled: Path, tachograph: Run, file: Path) -> None:
    checked = tachograph("check", "--budgets", file, cwd=filled)
    assert checked.returncode == 1
    assert "FAIL: 1 of 3 budgets not met" in checked.stderr
    told = tachograph("report", "--budgets", file, "--max-total-usd", "3", cwd=filled).stdout
    assert "$0.1749  PASS, of $3.00" in told
    assert [line.split()[0] for line in told.partition("\nBudgets\n")[2].splitlines()[2:5]] == ["Total", "Failure", "Runs"]


def test_the_screen_of_costs_shows_the_budgets_of_the_dashboard(
    sample_store: Store, screens: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACHOGRAPH_BUDGETS", "max-total-usd=3 max-run-usd=0.5")
    shown = "".join(element.proto.body for element in screens(sample_store.location, "screens/cost.py").get("html"))
    assert re.search(r"Total cost.*?\$2.83.*?at most \$3.00.*?PASS", shown)
    assert re.search(r"Max cost per run.*?at most \$0.5000.*?FAIL", shown)
    monkeypatch.delenv("TACHOGRAPH_BUDGETS")
    assert "PASS" not in "".join(element.proto.body for element in screens(sample_store.location, "screens/cost.py").get("html"))
