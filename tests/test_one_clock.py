"""One clock: what was spent in a period is one figure, whoever adds it up, and periods add up.

The store is drawn: runs with and without responses, of one session, undated, bounded, reported.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.charts.registry import Question
from app.queries.agents import agents
from app.queries.cost import list_prices
from app.queries.filters import NO_FILTERS, PERIODS, Filters, choose, moment, period, taken_as_now
from app.queries.models import model_costs, models
from app.queries.months import ALL_MONTHS, by_month, months
from app.queries.reading import read_transaction, undated
from app.queries.runs import summary
from app.queries.sessions import sessions
from app.queries.spending import is_split
from app.queries.usage import UsageRequest, usage
from app.reports.budgets import Check, check
from app.reports.cost_report import ReportRequest, report
from app.reports.first_page import CHANGE
from app.reports.focus import FocusExport, focus
from app.text.formatting import usd
from app.text.months import months_said
from app.text.overview import few_runs, runs_table
from ingest.store.database import Store
from schemas.catalogue.cost_measures import ALL_IN, BEST
from schemas.errors import UsageError
from schemas.rows.price import PriceFileRow
from tests.conftest import StoreOnce, ingest_paths
from tests.examples import written_down
from tests.using import at, log_of, response

RUNS = ("listed", "reported", "bounded", "again", "alone", "undated", "nothing")
"""Runs by what is special about them; `again` is of the session of `reported`."""

FIRST = at("2026-01-30 00:00")
MINUTES = st.integers(0, 4 * 24 * 60)
NANODOLLARS = st.integers(0, 10**10).map(lambda number: Decimal(number) / 10**9)
RESPONSES = st.lists(
    st.fixed_dictionaries(
        {
            "run_id": st.sampled_from(RUNS[:3]),
            "at": st.none() | MINUTES.map(lambda minutes: FIRST + timedelta(minutes=minutes)),
            "cost_list_usd": st.none() | NANODOLLARS,
            "cost_reported_usd": st.none() | NANODOLLARS,
            "output_tokens": st.none() | st.integers(0, 99),
            "output_is_final": st.booleans(),
        }
    ),
    max_size=9,
)


@pytest.fixture
def seven_runs(seven_runs_once: Store, tmp_path: Path) -> Store:
    """A store of its own, since each test changes it."""
    return Store(shutil.copy(seven_runs_once.location, tmp_path / "seven.duckdb"))


@pytest.fixture(scope="module")
def seven_runs_once(store_once: StoreOnce) -> Store:
    def fill(store: Store) -> None:
        folder = Path(store.location).parent
        times = dict(
            zip(RUNS, (f"2026-02-0{day % 3 + 1}T12:00:00Z" for day in range(7)), strict=True)
        )
        ingest_paths(
            store,
            *(
                log_of(
                    "reported" if name == "again" else name,
                    folder,
                    run_id=name,
                    time=None if name == "undated" else times[name],
                    total_cost_usd=number / 7,
                )
                for number, name in enumerate(RUNS)
            ),
        )
        rates = PriceFileRow(name="", text="", read_at=FIRST, machines={"": "3"})
        with store.writing() as writer:
            writer.insert("price_files", [rates])

    return store_once("one-clock", fill)


def figures(store: Store, filters: Filters) -> dict[str, Decimal]:
    """What was spent, as each place that adds it up says it."""

    def column(by: tuple[str, ...]) -> Decimal:
        table = summary(store, filters, by, ("runs", "cost_best_usd"))
        return _sum(table["cost_best_usd"].to_pylist())

    of_usage = usage(store, UsageRequest(filters, ("session",)))
    listed = {row["session"]: row["cost_best_usd"] for row in of_usage.table.to_pylist()}
    shown = sessions(store, filters).to_pylist()
    for row in shown:  # the sessions that the screen lists are those of the command
        listed["reported" if row["run_id"] == "again" else row["run_id"]] = row["cost_best_usd"]
    [verdict] = check(
        store, filters, {"max-total-usd": Decimal(1)}, measure=BEST, allow_empty=True
    ).verdicts
    files = focus(store, filters)
    return {
        "usage": _sum(of_usage.total["cost_best_usd"].to_pylist()),
        "sessions": _sum([*listed.values()]),
        "report": column(()),
        "by day": column(("day",)),
        "by agent": column(("agent",)),
        "by month": _sum([row.spend.usd for row in by_month(store, filters)]),
        "months of projects": _sum([row.spend.usd for row in months(store, filters).costs]),
        "overview": _sum([agents(store, filters)[0].cost_usd]),
        "models": _sum(model_costs(store, filters, BEST)["cost_usd"].to_pylist()),
        "budget": verdict.found or Decimal(0),
        "FOCUS": files.total_usd - _sum(_machines(files)) + (files.undated.usd or 0),
    }


def all_in(store: Store, filters: Filters) -> dict[str, Decimal]:
    """What was spent with the machines, as each place that adds it up says it."""
    by_day = summary(store, filters, ("day",), ("cost_all_usd",))
    limits = {"max-total-usd": Decimal(1)}
    [verdict] = check(store, filters, limits, measure=ALL_IN, allow_empty=True).verdicts
    return {
        "report": _sum(summary(store, filters, (), ("cost_all_usd",))["cost_all_usd"].to_pylist()),
        "by day": _sum(by_day["cost_all_usd"].to_pylist()),
        "by month": _sum([row.spend.usd for row in by_month(store, filters, ALL_IN)]),
        "overview": _sum([agents(store, filters, ALL_IN)[0].cost_usd]),
        "budget": verdict.found or Decimal(0),
    }


def _machines(files: FocusExport) -> list[Decimal]:
    rows = files.table.select(["BilledCost", "x_CostBasis"]).to_pylist()
    return [row["BilledCost"] for row in rows if row["x_CostBasis"] == "machine"]


def assert_models_add_up(store: Store, filters: Filters) -> None:
    """The reported costs by model, and those held against list prices, are the report's."""
    metrics = ("cost_usd", "cost_delta_usd", "cost_compared_usd")
    [whole] = summary(store, filters, (), metrics).to_pylist()
    rows, prices = models(store, filters), list_prices(store, filters)
    [total] = models(store, filters, by=()).to_pylist()
    if is_split(store, filters):  # a cost that the test has changed is not that of whole models
        assert _sum(rows["cost_usd"].to_pylist()) == (whole["cost_usd"] or 0)
    assert _sum(rows["cost_usd"].to_pylist()) == (total["cost_usd"] or 0)
    assert _sum(row.reported_usd for row in prices) == (whole["cost_compared_usd"] or 0)
    assert _sum(row.delta_usd for row in prices) == (whole["cost_delta_usd"] or 0)


def _sum(values: Iterable[Decimal | None]) -> Decimal:
    return sum(filter(None, values), Decimal(0))


@settings(written_down(), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RESPONSES, st.lists(NANODOLLARS, min_size=3, max_size=3), st.lists(MINUTES, max_size=3))
@example(
    [
        {"run_id": name, "at": moment, "cost_list_usd": cost, "output_is_final": False}
        for name in RUNS[:3]
        for moment in (None, at("2026-01-31 22:00"), at("2026-02-01 07:00"), at("2026-02-01 08:00"))
        for cost in (None, Decimal("0.333333333"))
    ],
    [Decimal("0.000000001"), Decimal(1), Decimal("7.777777777")],
    [46 * 60 + 30, 55 * 60],
)
def test_every_sum_of_a_period_is_one_figure_and_periods_add_up(
    seven_runs: Store, responses: list[dict[str, Any]], costs: list[Decimal], cuts: list[int]
) -> None:
    with seven_runs.writing() as writer:
        writer.connection.execute("delete from responses")
        rows = [
            response(one["run_id"], number, None, **one) for number, one in enumerate(responses)
        ]
        writer.insert("responses", rows)
        for name, cost in zip(RUNS, costs, strict=False):
            writer.connection.execute(
                "update runs set cost_list_usd = $cost, tokens_basis = $basis, cost_own_usd = "
                "if($name = 'reported', $cost / 3, null)::decimal(18, 9) where run_id = $name",
                {
                    "name": name,
                    "cost": cost,
                    "basis": "lower_bound" if name == "bounded" else "exact",
                },
            )
    ends = [(FIRST + timedelta(minutes=minutes)).isoformat() for minutes in sorted(cuts)]
    periods = [
        choose({"since": since, "until": until})
        for since, until in zip([None, *ends], [*ends, None], strict=True)
    ]
    with read_transaction(seven_runs) as transaction:
        whole = figures(transaction, NO_FILTERS)
        [expected] = summary(transaction, NO_FILTERS, (), ("cost_best_usd",))[
            "cost_best_usd"
        ].to_pylist()
        assert set(whole.values()) == {expected}, whole
        parts = [figures(transaction, one) for one in periods] if ends else [whole]
        for part in parts:
            assert len(set(part.values())) == 1, part
        for period in [NO_FILTERS, *periods]:
            assert_models_add_up(transaction, period)
        found = months(transaction, NO_FILTERS, "project", "2026-02")
        of_report = summary(transaction, NO_FILTERS, ("month", "project"), ("cost_best_usd",))
        of_month = {
            row["project"]: row["cost_best_usd"]
            for row in of_report.to_pylist()
            if row["month"] == found.month
        }
        assert {
            row.names[0]: row.spend.usd for row in found.chosen if row.spend.usd is not None
        } == {name: cost for name, cost in of_month.items() if cost is not None}
        in_days = [row.spend.usd for row in found.days if row.spend.usd]
        assert sum(in_days) == sum(filter(None, of_month.values()))
        machine = ("cost_machine_usd",)
        for period in periods if ends else ():
            held = summary(transaction, period, (), machine)["cost_machine_usd"].to_pylist()
            assert _sum(_machines(focus(transaction, period))) == _sum(held)
        [held] = summary(transaction, NO_FILTERS, (), machine)["cost_machine_usd"].to_pylist()
        assert held == Decimal("0.35"), "seven runs of a minute at $3 an hour"
        with_machines = all_in(transaction, NO_FILTERS)
        assert len(set(with_machines.values())) == 1, with_machines
        in_parts = [all_in(transaction, one) for one in periods] if ends else [with_machines]
        for part in in_parts:
            assert len(set(part.values())) == 1, part
        [dateless] = summary(
            transaction, choose({"time": "without a date"}), (), ("cost_all_usd",)
        )["cost_all_usd"].to_pylist()
        assert (
            sum(part["report"] for part in in_parts) + ((dateless or 0) if ends else 0)
            == with_machines["report"]
        )
        lost = undated(transaction, NO_FILTERS).usd or 0
        assert sum(part["report"] for part in parts) + (lost if ends else 0) == expected


def test_a_bound_is_in_the_sum_of_every_period_that_has_a_part_of_it(seven_runs: Store) -> None:
    moments = [at(f"2026-02-0{day} 10:00") for day in (1, 2)]
    with seven_runs.writing() as writer:
        writer.connection.execute("delete from responses")
        writer.insert(
            "responses",
            [response("bounded", number, None, at=one) for number, one in enumerate(moments)],
        )
        writer.connection.execute(
            "update runs set tokens_basis = 'lower_bound', cost_own_usd = null, cost_list_usd = 1 "
            "where run_id = 'bounded'"
        )
    first = choose({"until": "2026-02-02", "session": "bounded"})
    assert sessions(seven_runs, first)["cost_best_bounds"].to_pylist() == ["lower_bound"]
    [total] = usage(seven_runs, UsageRequest(first)).total.to_pylist()
    assert (total["cost_best_usd"], total["cost_best_bounds"]) == (Decimal("0.5"), "lower_bound")
    assert agents(seven_runs, first)[0].bounds == "lower_bound"


def test_a_search_chooses_the_runs_of_every_month(seven_runs: Store) -> None:
    """What a search found was lost where the period was taken off the filters."""
    with seven_runs.writing() as writer:
        writer.connection.execute("delete from responses")
        writer.insert("responses", [response("listed", 0, None, at=at("2026-01-31 10:00"))])
    with read_transaction(seven_runs) as transaction:
        found = transaction.searched(choose({"search": "listed"}))
        table = summary(transaction, found, ("month",), ("cost_best_usd",))
        assert sum(table["cost_best_usd_known"].to_pylist()) == 1


def test_a_period_has_the_money_of_runs_that_ended_later_and_none_of_their_numbers(
    seven_runs: Store,
) -> None:
    with seven_runs.writing() as writer:
        writer.connection.execute("delete from responses")
        writer.insert("responses", [response("listed", 0, None, at=at("2026-01-31 10:00"))])
    night = choose({"until": "2026-02-01"})
    metrics = ("runs", "completed", "cost_best_usd", "cost_best_median_usd")
    [row] = summary(seven_runs, night, (), metrics).to_pylist()
    assert (row["runs"], row["completed"], row["cost_best_median_usd"]) == (0, 0, None)
    assert row["cost_best_usd"] is not None
    assert agents(seven_runs, night)[1].agent == "claude-code"


def test_a_few_runs_of_a_period_show_its_money_beside_their_own(seven_runs: Store) -> None:
    """The heading had the money of the period, the row below it that of the whole run."""
    times = ("2026-01-31 10:00", "2026-02-01 10:00")
    answers = [response("listed", number, None, at=at(time)) for number, time in enumerate(times)]
    with seven_runs.writing() as writer:
        writer.connection.execute("delete from responses")
        writer.insert("responses", answers)
    asked = Question(
        lambda query, *given: query(seven_runs, *given), choose({"since": "2026-02-01"})
    )
    [row] = [run for run in asked.few if run["run_id"] == "listed"]
    assert row["spent_usd"] * 2 == row["cost_usd"]
    assert asked.rows[0].cost_usd == _sum(run["spent_usd"] for run in asked.few)
    table = runs_table(asked.rows[0], asked.few, asked.filters).html()
    assert f"{usd(row['spent_usd'])} of {usd(row['cost_usd'])}" in table
    said = few_runs(asked.rows, asked.few).heading
    assert said.startswith("Six runs of Claude Code ended in the period after ")
    assert said.endswith(f"; **{usd(asked.rows[0].cost_usd)}** was spent in it.")


@pytest.mark.parametrize("allow_empty", [False, True])
def test_money_of_a_period_in_which_no_run_ended_is_judged_and_reported(
    seven_runs: Store, *, allow_empty: bool
) -> None:
    """It passed a budget as if nothing were there, and no report showed it."""
    with seven_runs.writing() as writer:
        writer.connection.execute("delete from responses")
        writer.connection.execute("update runs set cost_reported_usd = null, cost_own_usd = null")
        writer.insert("responses", [response("listed", 0, None, at=at("2026-01-31 10:00"))])
    night = choose({"since": "2026-01-31", "until": "2026-02-01"})
    [spent] = summary(seven_runs, night, (), ("cost_best_usd",))["cost_best_usd"].to_pylist()

    def judged(allowed: Decimal, key: str = "max-total-usd") -> Check:
        return check(seven_runs, night, {key: allowed}, allow_empty=allow_empty)

    assert judged(spent).passed
    beyond = judged(spent - Decimal("0.001"))
    [verdict] = beyond.verdicts
    assert (beyond.passed, verdict.passed, verdict.word) == (False, False, "FAIL")
    assert "no run ended in the period" in verdict.note
    assert judged(Decimal(1), "max-error-rate").passed is allow_empty
    first = report(seven_runs, ReportRequest(night)).first
    assert (first.cost, first.answer.partition(" ")[0]) == (spent, usd(spent))
    assert any("at list prices, not invoices" in note for note in first.notes)
    day_after = choose({"since": "2026-02-01", "until": "2026-02-02"})
    after = report(seven_runs, ReportRequest(day_after)).first
    change = next(one for one in after.figures if one.label == CHANGE)
    assert usd(spent) in change.note
    assert "0 runs" not in months_said(months(seven_runs, night, month=ALL_MONTHS), night).heading


@pytest.mark.parametrize("name", PERIODS)
def test_a_period_by_its_name_is_that_from_its_begin_to_its_end(
    name: str, seven_runs: Store
) -> None:
    with taken_as_now(datetime(2026, 2, 2, 9, 30, tzinfo=UTC)):
        named = choose({"time": name})
        found = summary(seven_runs, named, (), ("runs",))["runs"][0].as_py()
    begins = {
        "today": 2,
        "yesterday": 3,
        "last night": 0,
        "last 24 hours": 3,
        "this month": 6,
        "without a date": 1,
    }
    assert found == begins.get(name, found)
    if name == "last night":
        assert named.as_words() == "--time 'last night'"


@pytest.mark.parametrize(
    ("hours", "begin", "end"),
    [
        ("", "2026-03-18 18:00", "2026-03-19 08:00"),
        ("22:00-06:30", "2026-03-18 22:00", "2026-03-19 06:30"),
        ("00:30–5", None, None),
        ("00:30 - 05", "2026-03-19 00:30", "2026-03-19 05:00"),
        ("late-early", None, None),
    ],
)
def test_a_night_has_the_hours_that_are_set(
    hours: str, begin: str | None, end: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACHOGRAPH_NIGHT", hours)
    with taken_as_now(datetime(2026, 3, 19, 9, tzinfo=UTC)):
        if begin is None or end is None:
            with pytest.raises(UsageError, match="Write them as 20:00-07:00"):
                choose({"time": "last night"})
        else:
            assert period("last night") == (at(begin), at(end))
            assert moment("last night") == at(begin)
