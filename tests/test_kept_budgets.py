"""Budgets of a month that the store keeps: who obeys them, and what does not lose them."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.charts.spending import month_so_far
from app.cli.main import cli
from app.queries.daily import MONTH, daily
from app.queries.filters import NO_FILTERS, choose, taken_as_now
from app.queries.months import budgets_of_month, kept_budgets, months, sum_of
from app.reports.budgets import kept_verdicts, parse_budget, parse_budgeted
from app.text.formatting import UNKNOWN
from app.text.months import month_table, months_said, spend_title
from ingest.store.annotations import Budgeted, set_budget
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.errors import UsageError
from tests.conftest import StoreOnce, ingest_paths, said
from tests.using import log_of

NOW = datetime(2026, 3, 11, 12, tzinfo=UTC)


def fill(store: Store) -> None:
    """Two runs of March and one of February; the labels are a project and a person."""
    folder = Path(store.location).parent
    for name, day, usd in (("a", "2026-03-02", 6), ("b", "2026-03-10", 3), ("c", "2026-02-10", 50)):
        log = log_of(name, folder, run_id=name, time=f"{day}T12:00:00Z", total_cost_usd=usd)
        labels = {"project": "kernels", "person": "anna" if name == "b" else "ben"}
        ingest_paths(store, log, **labels)


@pytest.fixture
def march(store_once: StoreOnce, tmp_path: Path) -> Store:
    return Store(shutil.copy(store_once("march", fill).location, tmp_path))


def test_a_budget_is_obeyed_and_outlives_undo_and_rebuild(
    march: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails the check of its month only, is on a report's first page, and stays till removed."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(NOW.timestamp())))

    def run(*words: str, fails: bool = False) -> str:
        done = CliRunner().invoke(cli, [*words, "--db", march.location], standalone_mode=False)
        assert bool(done.return_value or done.exception) is fails, done.output
        return f"{done.output}{done.exception}"

    assert "Nothing to check" in run("check", fails=True)
    run("budget", "kernels=10/month", "person=anna=2/2026-03", "person=ben=1/2026-02")
    assert "person=anna in 2026-03" in run("check", fails=True)
    run("budget", "--remove", "person=anna/2026-03")
    assert "PASS" in run("check")
    assert "no budget" in run("budget", "--remove", "person=anna", fails=True)
    assert "Did you mean kernels?" in run("budget", "kernel=5/month")
    failed = run("check", fails=True)
    assert "FAIL: 1 of 2 budgets not met" in failed
    assert "No run has project 'kernel'. Did you mean kernels?" in failed
    run("budget", "--remove", "kernel")
    assert "No run has label 'person=ana'." in run("budget", "person=ana=5/month")
    assert "person=anna or" in run("check", fails=True)
    run("budget", "--remove", "person=ana")
    assert '"limit": "budget kernels"' in run("report", "--format", "json")
    undo(march, 1)
    rebuild(march)
    with taken_as_now(NOW):
        assert kept_budgets(march).keys() == {
            Budgeted("project", "kernels"),
            Budgeted("label:person", "ben", "2026-02"),
        }
        assert budgets_of_month(march)["kernels"].spent == 3


def test_a_budget_is_set_on_the_screen_and_says_whether_it_holds(
    march: Store, screens: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(NOW.timestamp())))
    app = screens(march.location, "screens/cost.py")
    assert "March has cost $9.00 by the 11th, 18% of February." in said(app)
    for name in ("kernls", "kernels"):
        for field, text in zip(app.text_input[-2:], (name, "$10"), strict=True):
            field.set_value(text)
        next(button for button in app.button if button.label == "Keep budget").click().run()
        assert ("Did you mean kernels?" in said(app)) is (name == "kernls")
        if name == "kernls":
            next(button for button in app.button if button.label == "×").click().run()
    assert kept_budgets(march) == {Budgeted("project", "kernels"): Decimal(10)}
    shown = said(app)
    assert "At the pace of March kernels passes its $10 budget on 12 March." in shown
    assert "may pass it on 12 March" in shown
    next(button for button in app.button if button.label == "×").click().run()
    assert not kept_budgets(march)


def test_nothing_counts_before_its_time(march: Store, tmp_path: Path) -> None:
    """The clock of a machine was wrong: its runs ended later this month, and next month."""
    for day in ("2026-03-20", "2026-04-02"):
        later = log_of(day, tmp_path, run_id=day, time=f"{day}T12:00:00Z", total_cost_usd=40)
        ingest_paths(march, later, project="kernels")
    set_budget(march, Budgeted("project", "kernels"), Decimal(10))
    ingest_paths(march, log_of("u", tmp_path, time=None, total_cost_usd=2), project="kernels")
    with taken_as_now(NOW):
        found = months(march, NO_FILTERS)
        assert (found.month, found.months) == ("2026-03", ["2026-02", "2026-03"])
        spent = {
            "costs": found.of("2026-03").usd,
            "days": sum_of(found.days).usd,
            "agents": sum_of(found.agents).usd,
            "budget": found.budgets["kernels"].spent,
            "daily": daily(march, NO_FILTERS, NOW).total[MONTH].usd,
            "check": kept_verdicts(march, NO_FILTERS)[0].found,
        }
        assert spent == dict.fromkeys(spent, 9)
        assert found.of(None).usd == 2


def test_the_sum_of_a_month_rises_on_the_days_of_its_spend(march: Store) -> None:
    with taken_as_now(datetime(2026, 4, 2, tzinfo=UTC)):
        steps = month_so_far(months(march, NO_FILTERS, "project", "2026-03"), None).data[0]
    assert steps.line.shape == "hv"
    assert [*zip(steps.x, steps.y, strict=True)] == [(1, 0), (2, 6), (10, 9), (32, 9)]
    days = [words and words.partition("<")[0] for words in steps.hovertext]
    assert days == [None, "2 March", "10 March", "31 March"]


def test_sentence_row_and_chart_give_one_verdict_on_a_budget(march: Store) -> None:
    """The month's pace passes it, that of the last 7 days, in which nothing ran, does not."""
    set_budget(march, Budgeted("label:person", "ben"), Decimal(10))
    with taken_as_now(NOW):
        found = months(march, NO_FILTERS, "person")
        second = "At the pace of March ben passes its $10 budget on 18 March."
        assert months_said(found, NO_FILTERS).second == second
        assert "may pass it on 18 March" in month_table(found, NO_FILTERS).html()
        assert spend_title(found)[0] == "At the faster pace the budget is spent on 18 March"


def test_the_month_before_adds_up_with_projects_that_spent_only_then(
    march: Store, tmp_path: Path
) -> None:
    gone = log_of("d", tmp_path, run_id="d", time="2026-02-11T12:00:00Z", total_cost_usd=7)
    ingest_paths(march, gone, project="old")
    with taken_as_now(NOW):
        table = month_table(months(march, NO_FILTERS), NO_FILTERS)
    shown = [[cell.plain for cell in row][:4] for row in table.cells]
    assert shown == [
        ["kernels", "2", "$9.00", "$50.00"],
        ["old", UNKNOWN, "$0", "$7.00"],
        ["All projects", "2", "$9.00", "$57.00"],
    ]


def test_a_budget_of_the_month_precedes_that_of_every_month(march: Store) -> None:
    set_budget(march, Budgeted("project", "kernels"), Decimal(31))
    set_budget(march, Budgeted("project", "kernels", "2026-02"), Decimal(40))
    with taken_as_now(NOW):
        now, before = (budgets_of_month(march, month)["kernels"] for month in ("", "2026-02"))
        assert now[:4] == (*map(Decimal, (31, 9, 22)), Decimal("10.5"))
        assert [*before[:4]] == [*map(Decimal, (40, 50, -10, 40))]
        [verdict] = kept_verdicts(march, choose({"label": ["person=anna"]}))
        assert verdict.found == 3
        assert not kept_verdicts(march, choose({"agent": ["codex"]}))
        [nothing_spent] = kept_verdicts(march, choose({}), month="2026-01")
        assert (nothing_spent.found, nothing_spent.word, nothing_spent.note) == (
            Decimal(0),
            "PASS",
            "",
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    {
        "codeharness=100/month": (Budgeted("project", "codeharness"), Decimal(100)),
        "a/b=$1.50": (Budgeted("project", "a/b"), Decimal("1.5")),
        "person=anna=20/2026-03": (Budgeted("label:person", "anna", "2026-03"), Decimal(20)),
        "project=x=y=1": (Budgeted("project", "x=y"), Decimal(1)),
    }.items(),
)
def test_a_budget_is_read_as_it_is_written(text: str, expected: tuple[Budgeted, Decimal]) -> None:
    assert parse_budget(text) == expected
    assert parse_budgeted(expected[0].written) == Budgeted(expected[0].dimension, expected[0].name)


@pytest.mark.parametrize("text", ["codeharness", "=5", "a=", "a=-1", "a=0", "a=1/2026-13", "a=b"])
def test_what_is_no_budget_says_how_one_is_written(text: str) -> None:
    with pytest.raises(UsageError, match=r"no budget|no project"):
        parse_budget(text)
