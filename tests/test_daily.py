"""Daily work: its sums, sentences and lists against another computation over the same runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from app.queries.daily import CHOSEN, LAST_WEEK, MONTH, WEEK, Daily, daily, is_daily
from app.queries.filters import NO_FILTERS, choose, taken_as_now
from app.queries.measured import measured_in
from app.queries.months import MonthBudget
from app.queries.reading import fetch
from app.queries.run_money import UsualRun, money_of_run, usual_runs
from app.queries.spending import Spend, together
from app.text import daily as words
from app.text.formatting import usd
from app.text.table import money_cell
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from tests.conftest import StoreOnce, ingest_paths, page_text, record
from tests.test_verdicts import line, stored, table
from tests.test_verdicts import run as claim
from tests.using import add, response

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

NOW = datetime(2026, 3, 19, 8, tzinfo=UTC)
QUOTA = {"is_error": True, "api_error_status": 429, "result": "API Error: 429 usage limit"}


def write(folder: Path, name: str, time: datetime, project: str, **changes: Any) -> None:
    """A log of one run that ended then."""
    first = {"type": "system", "subtype": "init", "session_id": name, "cwd": f"/home/me/{project}"}
    first["timestamp"] = f"{time - timedelta(seconds=9):%FT%TZ}"
    last = record(uuid=name, session_id=name, timestamp=f"{time:%FT%TZ}", **changes)
    text = "".join(f"{json.dumps(line)}\n" for line in (first, last))
    (folder / f"{name}.jsonl").write_text(text)


def fill(folder: Path, store: Store) -> None:
    """120 runs of 45 days, some dear, failed or of unknown cost; one spends over two days."""
    random = Random(19)
    for number in range(120):
        time = NOW - timedelta(minutes=random.randint(1, 45 * 24 * 60))
        cost: dict[str, Any] = {"total_cost_usd": round(random.uniform(0.5, 9), 4)}
        cost |= random.choice([{}, {}, {}, QUOTA])
        if number % 9 == 0:
            cost |= {"total_cost_usd": ..., "modelUsage": ...}
        project = random.choice(["shop", "site", "shop", "tmp"])
        write(
            folder, f"r{number}", time, project, **cost, duration_ms=random.randint(1, 9) * 60_000
        )
    write(folder, "long", NOW - timedelta(minutes=5), "shop")
    ingest_paths(store, folder)
    hours = ("2026-03-17 22:00", "2026-03-18 23:00", "2026-03-19 07:00")
    add(store, [response("long", place, hour) for place, hour in enumerate(hours)])


@pytest.fixture(scope="module")
def worked(read_once: StoreOnce, tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("daily")
    return read_once("daily", lambda store: fill(folder, store))


@cache
def paid_in(store: Store) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """Every run, and by run its responses."""
    sql = "select run_id, repo, dated_at, is_started, cost_best_usd from v_runs"
    by_run: dict[str, list[dict[str, Any]]] = {}
    for one in fetch(store, 'select run_id, "at", cost_list_usd from responses').to_pylist():
        by_run.setdefault(one["run_id"], []).append(one)
    return fetch(store, sql).to_pylist(), by_run


@pytest.fixture
def clock() -> Iterator[None]:
    with taken_as_now(NOW):
        yield


def by_hand(store: Store, begin: datetime, end: datetime) -> dict[str | None, Spend]:
    """The money of responses and of other runs, added up one by one."""
    found = dict[str | None, Spend]()
    runs, responses = paid_in(store)
    for run in runs:
        paid = [(one["at"], one["cost_list_usd"]) for one in responses.get(run["run_id"], ())]
        paid = paid or [(run["dated_at"], run["cost_best_usd"])]
        costs = [cost for at, cost in paid if begin <= at < end and cost is not None]
        is_here = run["is_started"] and begin <= run["dated_at"] < end
        if not run["is_started"] or not (costs or is_here):
            continue
        was = found.get(run["repo"], Spend())
        money = was.usd if not costs else sum(costs, was.usd or Decimal(0))
        known = was.known + (is_here and run["cost_best_usd"] is not None)
        found[run["repo"]] = Spend(money, "", was.runs + is_here, known)
    return found


PERIODS: dict[str, dict[str, str]] = {
    "last 24 hours": {},
    "last night": {"time": "last night"},
    "this month": {"time": "this month in Europe/Berlin"},
    "": {"since": "2026-03-02", "until": "2026-03-09T12:00"},
}


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("name", PERIODS)
def test_every_sum_of_money_is_that_of_its_responses_and_runs(worked: Store, name: str) -> None:
    """Breaks if a run counts at another time, twice, or in a project that is not its own."""
    found = daily(worked, choose(PERIODS[name]), NOW)
    begin = {"last 24 hours": NOW - timedelta(days=1), "last night": NOW - timedelta(hours=14)}
    ends = {
        CHOSEN: (found.begin, found.end),
        WEEK: (datetime(2026, 3, 16, tzinfo=found.begin.tzinfo), NOW),
        LAST_WEEK: (datetime(2026, 3, 9, tzinfo=UTC), datetime(2026, 3, 16, tzinfo=UTC)),
        MONTH: (datetime(2026, 3, 1, tzinfo=found.begin.tzinfo), NOW),
    }
    assert found.begin == begin.get(name, found.begin)
    for key, (first, last) in ends.items():
        if key == LAST_WEEK and name == "this month":
            continue
        hand = by_hand(worked, first, last)
        shown = {one: spends[key] for one, spends in found.spends.items() if key in spends}
        assert {one: spend._replace(bounds="") for one, spend in shown.items()} == hand, key
        whole = together(hand.values())
        assert found.total[key]._replace(bounds="") == whole
    costs = [by_hand(worked, day, day + timedelta(days=1)) for day in found.days[:-1]]
    per_day = [together(one.values()).usd for one in costs]
    assert [found.total[f"{day:%F}"].usd for day in found.days[:-1]] == per_day
    rows = words.project_rows(found)
    sums = [row.of(CHOSEN).usd or 0 for row in rows if not row.kind]
    assert sums == sorted(sums, reverse=True)
    assert sum(sums) == (found.total[CHOSEN].usd or 0)


@pytest.mark.usefixtures("clock")
def test_the_heading_compares_with_the_median_of_earlier_days(worked: Store) -> None:
    found = daily(worked, NO_FILTERS, NOW)
    day = datetime(2026, 3, 18, tzinfo=UTC)
    before = [
        by_hand(worked, one, one + timedelta(days=1))
        for one in (day - timedelta(days=ago) for ago in range(1, 31))
    ]
    usual = median(filter(None, (together(one.values()).usd for one in before)))
    spend = found.total[CHOSEN]
    said = words.daily(found, NO_FILTERS)
    assert spend.usd is not None
    known = f", cost known for {spend.known}" if spend.known < spend.runs else ""
    against = known or f", {float(spend.usd / usual):.1f}× a usual day ({usd(usual)})"
    assert said.heading.startswith(f"The last 24 hours cost **{usd(spend.usd, spend.bounds)}**: ")
    assert said.heading.endswith(f"{against}.")
    assert len(said.heading.replace("**", "")) <= 130
    failed = sum(row["runs"] for row in found.ends if row["is_completed"] is False)
    assert not failed or f"{failed} of {spend.runs} failed: quota" in said.second


@pytest.mark.usefixtures("clock")
def test_a_run_is_held_against_the_usual_run_of_its_page(worked: Store) -> None:
    """Breaks if Overview and the page of a run tell two multiples of one run."""
    found = daily(worked, choose({"time": "this month"}), NOW)
    for run in found.recent[:5]:
        usual = money_of_run(worked, run["run_id"]).usual
        mine = usual_runs(worked, [run["run_id"]]).get(run["run_id"])
        assert found.usual.get(run["run_id"]) == mine
        own = usual and UsualRun(usual.by, usual.runs, usual.cost_usd, usual.duration_ms)
        assert (own and own._replace(cost_usd=Decimal(0))) == (
            mine and mine._replace(cost_usd=Decimal(0))
        )
        assert not own or not mine or abs(own.cost_usd - mine.cost_usd) < Decimal("1e-8")
    looks = words.looks(
        found, {"shop": MonthBudget(Decimal(1), Decimal(2), Decimal(-1), Decimal(1))}, NO_FILTERS
    )
    assert len(looks) <= words.MOST_LOOKS
    assert looks[0].kind == "failed"


def a_day(**changes: Any) -> Daily:
    """A day of two runs of one project for $8, before it four days with spend."""
    spend = Spend(Decimal(8), "", 2, 2)
    total = dict.fromkeys((CHOSEN, WEEK, LAST_WEEK, MONTH, "7 days"), spend)
    days = [NOW.replace(hour=0) - timedelta(days=ago) for ago in range(29, -1, -1)]
    total |= {f"{day:%F}": Spend() for day in days} | {f"{days[-1]:%F}": spend}
    ended = {
        "repo": "shop",
        "is_started": True,
        "is_completed": True,
        "reason": None,
        "is_new": False,
    }
    made = Daily(
        "last 24 hours",
        NOW - timedelta(days=1),
        NOW,
        NOW,
        {"shop": total},
        total,
        days,
        "day",
        [Decimal(one) for one in (1, 2, 3, 5)],
        [ended | {"runs": 2, "run_id": "a", "dated_at": NOW}],
        (),
        {},
        (),
        days[-4],
        (),
    )
    return replace(made, **changes)


@pytest.mark.usefixtures("clock")
def test_states_have_their_own_sentences() -> None:
    """No usual day, a usual day, an unknown cost, a failure, nothing at all, a budget."""
    found = a_day()
    said = words.daily(found, NO_FILTERS)
    assert said.heading == "The last 24 hours cost **$8.00**: 2 runs of shop."
    assert said.second == "The four days with spend before it cost $1.00 to $5.00."
    said = words.daily(a_day(earlier=[*found.earlier, Decimal(4)]), NO_FILTERS)
    assert said.heading.endswith("2 runs of shop, 2.7× a usual day ($3.00).")
    assert said.second == "All 2 completed."
    unknown = {**found.total, CHOSEN: Spend(Decimal(8), "", 5, 2)}
    failed = {**found.ends[0], "is_completed": False, "reason": "quota"}
    some = a_day(total=unknown, spends={"shop": unknown}, ends=[*found.ends, failed])
    said = words.daily(some, NO_FILTERS)
    assert said.heading.endswith("5 runs of shop, cost known for 2.")
    assert said.second == "2 of 5 failed: quota or usage limit used up."
    assert str(money_cell(unknown[CHOSEN])) == "$8.00 · 2 of 5"
    assert words.looks(some, {}, NO_FILTERS)[0].sentence.startswith("2 runs of shop failed: quota")
    nothing = {**found.total, CHOSEN: Spend()}
    said = words.daily(a_day(total=nothing, spends={}, ends=[]), NO_FILTERS)
    assert said.heading == "**Nothing ran** in the last 24 hours; this week has cost $8.00."
    rows = words.project_rows(found)
    budgets = {"shop": MonthBudget(Decimal(20), Decimal(8), Decimal(12), Decimal(11))}
    assert "Budget for March" in words.project_table(found, rows, budgets, NO_FILTERS).html()
    assert "Budget" not in words.project_table(found, rows, {}, NO_FILTERS).html()
    assert words.budget_cell(rows, rows[0], budgets).note == "$12.00 of $20 left"
    [pace] = [one for one in words.looks(found, budgets, NO_FILTERS) if one.kind == "over pace"]
    assert pace.sentence == (
        "shop spent 40% of its March budget in 1 day: it ends about 29 March at this pace"
    )


@pytest.mark.usefixtures("clock")
def test_a_past_period_has_only_its_own_columns_runs_and_news(worked: Store) -> None:
    """Breaks if the cheapest of far too dear runs is named, or what came after the period."""
    costs = {"a": 32, "b": 6, "c": 25}
    plain: dict[str, Any] = {"repo": "shop", "agent": "codex", "model": "m", "bounds": None}
    plain |= {
        "reason": None,
        "dated_at": NOW,
        "is_in_period": True,
        "is_carried_over": False,
        "duration_ms": None,
    }
    recent = [plain | {"run_id": key, "cost_best_usd": usd} for key, usd in costs.items()]
    usual = {
        key: UsualRun(("model",), 5, Decimal(usd), None, None, None, {}, {})
        for key, usd in {"a": "1.6", "b": "0.13", "c": "12"}.items()
    }
    stopped = {**a_day().ends[0], "is_completed": False, "reason": "interrupted"}
    total = {**a_day().total, **dict.fromkeys((WEEK, LAST_WEEK, MONTH), Spend())}
    found = a_day(recent=recent, usual=usual, ends=[stopped], total=total, name="")
    looks = words.looks(found, {}, NO_FILTERS)
    assert [look.sentence.partition(" cost ")[2][:12] for look in looks[:2]] == [
        "$32.00, 20× ",
        "$6.00, 46× t",
    ]
    assert looks[2:] == [words.Look("waiting", "Only interrupted runs failed, nothing waits")]
    table = words.project_table(found, words.project_rows(found), {}, NO_FILTERS)
    assert [one.label for one in table.columns] == ["Project", "Chosen time"]
    early = choose({"since": "2026-03-02", "until": "2026-03-03"})
    assert all(
        one.first_at < datetime(2026, 3, 3, tzinfo=UTC) for one in daily(worked, early, NOW).new
    )


def test_a_store_opens_on_daily_work_by_its_tasks_and_dates(store: Store, tmp_path: Path) -> None:
    """Breaks if undated runs, old ones or those of tasks open on daily work."""
    write(tmp_path, "new", NOW, "shop")
    ingest_paths(store, tmp_path)
    assert is_daily(store, NOW + timedelta(minutes=9)) is True
    assert is_daily(store, NOW + timedelta(days=31)) is False
    with store.writing() as writer:
        writer.connection.execute("update runs set task = 't'")
    assert is_daily(store, NOW) is False
    with store.writing() as writer:
        writer.connection.execute("update runs set ended_at = null, started_at = null")
    assert is_daily(store, NOW) is None


def test_credits_stand_in_the_place_of_dollars(store: Store) -> None:
    """Breaks if a subscription's day is "not recorded", or credits are beside their own dollars."""
    ingest_paths(store, Path(__file__).parent / "logs/copilot")
    april = choose({"since": "2026-04-25", "until": "2026-04-26"})
    spent = daily(store, april, datetime(2026, 11, 1, tzinfo=UTC))
    heading = "The chosen time cost **2 premium requests**: 1 run of vllm."
    assert words.daily(spent, NO_FILTERS).heading == heading
    assert str(money_cell(spent.total[CHOSEN])) == "2 premium requests"
    assert ">2 premium requests<" in words.run_rows(spent, NO_FILTERS).html()
    odd = replace(spent, recent=[{**run, "credits_unit": "<b>"} for run in spent.recent])
    assert "<b>2 &lt;b&gt;</b>" in words.run_lines(odd, NO_FILTERS), "a unit may come from a map"
    july = choose({"since": "2026-07-16", "until": "2026-07-17"})
    spent = daily(store, july, datetime(2026, 11, 1, tzinfo=UTC))
    assert str(money_cell(spent.total[CHOSEN])) == "$0.26"
    several = together([Spend(credits=(("credits", 0.5),)), Spend(Decimal(2), "", 2, 2)] * 2)
    assert str(money_cell(several)) == "$4.00 · 1 credit"


def test_results_measured_in_the_period_are_looked_at(store: Store) -> None:
    """Breaks if results of another time count, or are called surer than they are."""
    lines = [
        line(variant, value, task=task)
        for task, values in {"sort": (10, 5), "other": (10, 10)}.items()
        for variant, value in zip(("baseline", "candidate"), values, strict=True)
    ]
    stored(store, claim(), claim(task="other", uuid="b"), table(*lines))
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    assert not measured_in(store, NO_FILTERS, now - 2 * hour, now - hour)
    [row] = measured_in(store, NO_FILTERS, now - hour, now + hour)
    assert (row["runs"], row["faster"], row["beyond_noise"]) == (2, 1, 0)
    looks = words.looks(a_day(measured=[row]), {}, NO_FILTERS)
    [look] = [look for look in looks if look.kind == "measured"]
    assert look.sentence == "2 runs were measured: 1 faster, none beyond noise"


def test_smaller_projects_without_spend_have_a_dash_on_a_phone() -> None:
    rows = [words.ProjectRow(name, name, {}) for name in "abcd"]
    found = a_day(spends={row.label: {CHOSEN: Spend()} for row in rows})
    assert ">1 more project: – in March<" in words.project_cards(found, rows, {}, NO_FILTERS)


@pytest.mark.slow
def test_the_screen_shows_daily_work_and_the_study_by_its_address(
    worked: Store, screens: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", f"{NOW.timestamp():.0f}")
    app = screens(worked.location)
    found = daily(worked, NO_FILTERS, NOW)
    heading = words.daily(found, NO_FILTERS).heading.replace("**", "")
    text = page_text(app).replace(" :", ":")
    assert heading in text
    assert "Needs a look" in text
    assert "Last runs" in text
    assert "Last night cost" in page_text(screens(worked.location, time="last night"))
    assert "Needs a look" not in page_text(screens(worked.location, view="study"))
    few = screens(worked.location, view="study", time="last 24 hours")
    assert not few.exception, "a few runs to which nothing can be added"


def test_a_verdict_that_a_new_measurement_changed_is_named(store: Store) -> None:
    """The class before is that by the values measured before."""
    ever = datetime(2020, 1, 1, tzinfo=UTC)

    def measured(candidate: int, machine: str) -> bytes:
        values = {"baseline": 10, "candidate": candidate}
        return table(*(line(one, value, machine=machine) for one, value in values.items()))

    stored(store, claim(), measured(20, "old"))
    begin = datetime.now(UTC)
    [row] = measured_in(store, NO_FILTERS, ever, begin)
    assert (row["faster"], row["changed"]) == (0, [])
    ingest([Source("again", measured(5, "new"))], store, Options())
    [row] = measured_in(store, NO_FILTERS, begin, datetime.now(UTC))
    assert (row["faster"], row["changed"]) == (1, [("slower", "faster")])
    [look] = [
        one for one in words.looks(a_day(measured=[row]), {}, NO_FILTERS) if "meas" in one.kind
    ]
    assert look.sentence.endswith("; 1 verdict changed, from slower to faster")
