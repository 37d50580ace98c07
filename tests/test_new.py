"""What is new since the last look: its page for a terminal, a chat and programs."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from statistics import median

import pytest

from app.queries.daily import CHOSEN, Daily, daily, spent_since
from app.queries.filters import NO_FILTERS, choose
from app.queries.months import MonthBudget
from app.queries.reading import Undated
from app.queries.run_money import money_of_run
from app.reports.new import New, markdown
from app.text import daily as words
from ingest.store.database import Store
from tests.conftest import Run, StoreOnce, ingest_paths
from tests.test_daily import NOW, QUOTA, fill, write


@pytest.fixture(scope="module")
def worked(read_once: StoreOnce, tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("daily")
    return read_once("daily", lambda store: fill(folder, store))


def since(store: Store, ago: timedelta) -> Daily:
    return daily(store, choose({"since": (NOW - ago).isoformat()}), NOW)


@pytest.mark.parametrize("days", [1, 2])
def test_the_usual_cost_is_that_of_the_same_weekdays(worked: Store, days: int) -> None:
    found = since(worked, timedelta(days=days))
    first = NOW.replace(hour=0) - timedelta(days=days)
    usual = Decimal(0)
    for number in range(days + 1):
        day = first + timedelta(days=number)
        weeks = (f"{day - timedelta(days=7 * ago):%F}" for ago in range(1, 5))
        spends = (found.total[key].usd for key in weeks if key in found.total)
        part = Decimal(16 if not number else 8 if number == days else 24) / 24
        usual += median([usd for usd in spends if usd]) * part
    assert found.usual_weekdays_usd == pytest.approx(usual)
    assert since(worked, timedelta(days=9)).usual_weekdays_usd is None


def test_a_dear_run_says_which_part_of_its_cost_grew_most(worked: Store) -> None:
    found = since(worked, timedelta(days=20))
    for run_id, (part, more) in found.causes.items():
        money = money_of_run(worked, run_id)
        assert money.usual
        assert money.cost_usd
        grown = (money.of(part).usd or 0) - money.usual.usd[part]
        assert more == grown > 0
        assert money.cost_usd >= 2 * money.usual.cost_usd


def test_a_reason_is_new_if_the_project_had_none_such_before(store: Store, tmp_path: Path) -> None:
    day = timedelta(days=1)
    write(tmp_path, "old", NOW - 5 * day, "shop")
    write(tmp_path, "first", NOW - day / 2, "shop", **QUOTA)
    write(tmp_path, "only", NOW - day / 2, "site", **QUOTA)  # nothing ran there before
    ingest_paths(store, tmp_path)
    assert {row["repo"]: row["is_new"] for row in since(store, day).ends} == {
        "shop": True,
        "site": False,
    }
    write(tmp_path, "again", NOW - 4 * day, "shop", **QUOTA)
    ingest_paths(store, tmp_path)
    found = since(store, day)
    assert not any(row["is_new"] for row in found.ends)
    sentences = [look.sentence for look in words.looks(found, {}, NO_FILTERS)]
    assert not any("first time" in one for one in sentences)


def test_a_page_since_ever_has_all_runs_and_no_markup_of_a_project(
    store: Store, tmp_path: Path
) -> None:
    write(tmp_path, "one", NOW - timedelta(hours=1), "<img src=x> [a](b)")
    ingest_paths(store, tmp_path)
    filters = choose({"since": "0001-01-01"})
    page = markdown(New(daily(store, filters, NOW), {}, None, Undated(2), filters))
    assert "2 runs have no date and are in no period." in page
    assert page.splitlines()[0].endswith(r"**: 1 run of &lt;img src=x&gt; \[a\](b).")


def test_the_line_of_a_last_look_has_the_sums_of_its_page(worked: Store) -> None:
    looked = NOW - timedelta(days=2)
    found = since(worked, timedelta(days=2)).total[CHOSEN]
    assert spent_since(worked, NO_FILTERS, looked, NOW) == found


def test_the_page_is_since_the_last_look_and_a_look_at_another_time_is_none(
    worked: Store, tachograph: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def look(*more: str, hours: int) -> dict[str, object]:
        at = NOW + timedelta(hours=hours)
        monkeypatch.setenv("SOURCE_DATE_EPOCH", f"{at.timestamp():.0f}")
        done = tachograph("new", "--db", worked.location, "--format", "json", *more)
        assert done.returncode == 0, done.stderr
        found: dict[str, object] = json.loads(done.stdout)
        return found

    assert look(hours=0)["since"] == f"{NOW - timedelta(days=1):%FT%TZ}"
    assert look("--since", "7d", hours=1)["since"] == "2026-03-12T00:00:00Z"
    second = look(hours=2)
    assert (second["since"], second["runs"]) == (f"{NOW:%FT%TZ}", 0)
    (tmp_path / "tachograph" / "looks.json").write_text("no json")
    assert look(hours=3)["since"] == f"{NOW - timedelta(hours=21):%FT%TZ}"


def test_a_budget_has_the_day_on_which_it_ends(worked: Store) -> None:
    found = since(worked, timedelta(days=1))
    week = found.of("shop", "7 days").usd
    assert week
    spent, budget = week, week + week / 7 * 3
    kept = MonthBudget(budget, spent, budget - spent, budget)
    [look] = [one for one in words.looks(found, {"shop": kept}, NO_FILTERS) if "pace" in one.kind]
    assert look.sentence.endswith(f"it ends about {NOW + timedelta(days=3):%-d %B} at this pace")
    passed = kept._replace(budget=spent / 2, left=-spent / 2)
    [look] = [one for one in words.looks(found, {"shop": passed}, NO_FILTERS) if "pace" in one.kind]
    assert look.sentence.endswith("it is passed")
