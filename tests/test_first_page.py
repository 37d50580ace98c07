"""The first page of a report.

Period and change, shares that add up, budgets, notes, and that every format has it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from app.cli.main import cli
from app.cli.output import report_text
from app.queries.filters import NO_FILTERS, choose
from app.queries.reading import read_transaction
from app.reports import first_page
from app.reports.budgets import Budgets
from app.reports.cost_report import CostReport, ReportRequest, report
from app.reports.exports import EXPORTS
from app.reports.first_page import FirstPage, ReportPeriod, TopList, period_of
from app.text.formatting import usd
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.annotations import Change, annotate
from ingest.store.database import Store
from schemas.text import one_line
from tests.conftest import StoreOnce, ingest_paths, record_text

USAGE = {
    "inputTokens": 1,
    "outputTokens": 2,
    "cacheReadInputTokens": 3,
    "cacheCreationInputTokens": 4,
}
BUDGETS = (("max-total-usd", Decimal(50)), ("max-run-usd", Decimal(8)))
MARCH = {"since": "2026-03", "until": "2026-04"}


def run(day: str, number: int, usd: float, **changes: object) -> Source:
    """A run of `model-NUMBER` on a day, read from a stream that says when it began.

    Without a day nothing dates it but its file.
    """
    event = (
        f'{{"type":"user","timestamp":"{day}T12:00:00Z","session_id":"s{number}"}}\n' if day else ""
    )
    models = {f"model-{number}": USAGE | {"costUSD": usd}}
    body = record_text(
        uuid=f"u{number}", session_id=f"s{number}", total_cost_usd=usd, modelUsage=models, **changes
    )
    return Source(f"run {number}", f"{event}{body}\n".encode())


def fill_months(store: Store) -> None:
    """February: $10. March: $1 to $8 by eight models in as many repositories, one of them failed.

    One has no date.
    """
    failed = {"is_error": True, "result": "API Error: 500"}
    march = [
        run(f"2026-03-{number + 10}", number, number, **(failed if number == 1 else {}))
        for number in range(1, 9)
    ]
    ingest([*march, run("2026-02-20", 20, 10), run("", 21, 0.5)], store)
    for number in range(1, 9):
        annotate(store, [f"u{number}"], Change({"repo": f"repo-{number}"}))


@pytest.fixture(scope="module")
def months(store_once: StoreOnce) -> Iterator[Store]:
    """One transaction for all reports, which read it only."""
    with read_transaction(store_once("months", fill_months), copy_at=1) as transaction:
        yield transaction


def page(store: Store, since: str = "", until: str = "", budgets: Budgets = ()) -> FirstPage:
    given = {key: text for key, text in (("since", since), ("until", until)) if text}
    return report(
        store, ReportRequest(choose(given), first=first_page.FirstPageRequest(budgets=budgets))
    ).first


def march(store: Store, budgets: Budgets = ()) -> FirstPage:
    return page(store, MARCH["since"], MARCH["until"], budgets)


def figures(of: FirstPage) -> dict[str, tuple[str, str]]:
    return {one.label: (one.value, one.note) for one in of.figures}


def test_a_whole_month_is_compared_with_the_month_before(months: Store) -> None:
    found = march(months)
    assert dict(found.lines)["Period"] == "March 2026"
    assert figures(found)["Total best-known cost"][0] == "$36.00"
    assert figures(found)["Change vs. previous period"] == (
        "+$26.00",
        "February 2026: $10.00, 1 run",
    )
    assert figures(found)["Failure rate"] == ("1 of 8", "1 of 8 runs")
    assert (found.change_usd, found.change_share) == (Decimal(26), None), (
        "a percentage of one run would be chance"
    )


def test_any_other_period_is_compared_with_one_of_the_same_length(months: Store) -> None:
    """The 15th to the 18th against the 11th to the 14th: 5 + 6 + 7 + 8 against 1 + 2 + 3 + 4."""
    half = page(months, since="2026-03-15", until="2026-03-19")
    assert dict(half.lines)["Period"] == "2026-03-15 to 2026-03-18"
    assert figures(half)["Change vs. previous period"] == (
        "+$16.00",
        "2026-03-11 to 2026-03-14: $10.00, 4 runs",
    )


def test_nothing_is_before_the_first_run(months: Store) -> None:
    assert figures(page(months))["Change vs. previous period"] == ("no runs before", "")
    assert figures(page(months, until="2026-03"))["Change vs. previous period"] == (
        "no runs before",
        "",
    )
    february = figures(page(months, since="2026-02", until="2026-03"))
    assert february["Change vs. previous period"] == ("no runs before", "in January 2026")


def test_a_period_without_filters_is_that_of_the_runs_and_says_which_have_no_date(
    months: Store,
) -> None:
    assert dict(page(months).lines)["Period"] == "2026-02-20 to 2026-03-18; 1 run without a date"


def test_since_a_date_means_until_today(monkeypatch: pytest.MonkeyPatch, months: Store) -> None:
    monkeypatch.setenv(
        "SOURCE_DATE_EPOCH", str(int(datetime(2026, 3, 31, 15, tzinfo=UTC).timestamp()))
    )
    assert dict(page(months, since="2026-03").lines)["Period"] == "March 2026"
    assert dict(page(months, since="2026-03-21").lines)["Period"] == "2026-03-21 to 2026-03-31"


moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  the zone is the last argument


@given(moments, st.timedeltas(timedelta(milliseconds=1), timedelta(days=900)))
def test_a_period_and_the_one_before_leave_no_gap_and_no_month_is_compared_with_days(
    start: datetime, length: timedelta
) -> None:
    period = ReportPeriod(start, start + length, is_chosen=True)
    before = period.before()
    assert before is not None
    assert before.end == start
    assert before.start is not None
    assert start - before.start == length


@given(st.integers(1990, 2090), st.integers(1, 12), st.integers(1, 30))
def test_months_are_compared_with_as_many_months(year: int, month: int, months: int) -> None:
    end_year, end_month = divmod(year * 12 + month - 1 + months, 12)
    before = ReportPeriod(
        datetime(year, month, 1, tzinfo=UTC),
        datetime(end_year, end_month + 1, 1, tzinfo=UTC),
        is_chosen=True,
    ).before()
    assert before is not None
    assert before.start is not None
    assert before.end is not None
    between = (before.end.year - before.start.year) * 12 + before.end.month - before.start.month
    assert (between, before.start.day) == (months, 1)


@pytest.mark.parametrize(
    ("since", "until", "zone"),
    [
        ("9999-12-31", "", "UTC"),
        ("9999-12-31", "", "America/New_York"),
        ("9999-12-31T23:00-12:00", "", "UTC"),
        ("9999-12-01", "9999-12-31T23:59", "America/New_York"),
        ("0001-01-01", "0001-02-01", "Asia/Tokyo"),
    ],
)
def test_the_first_and_the_last_day_of_the_calendar_are_periods_too(
    since: str, until: str, zone: str, months: Store
) -> None:
    """A day after the last one, or these in another zone, are no dates.

    The report failed with an OverflowError.
    """
    chosen = choose({"since": since} | ({"until": until} if until else {}))
    found = report(months, ReportRequest(chosen, zone=zone)).first
    assert dict(found.lines)["Period"] != "unknown"
    assert figures(found)["Change vs. previous period"][0] in ("no runs before", "unknown")


def test_a_terminal_without_a_minus_sign_shows_a_hyphen(months: Store) -> None:
    """`?$7.00` could be any amount."""
    made = report(months, ReportRequest(choose({"since": "2026-03-01", "until": "2026-03-13"})))
    assert b"-$7.00" in report_text(made, 80, "ascii")


def test_a_period_that_ends_before_it_begins_is_compared_with_nothing() -> None:
    covers = {"first_at": None, "last_at": None}
    wrong = period_of(
        choose({"since": "2026-04", "until": "2026-03"}), covers, datetime(2026, 5, 1, tzinfo=UTC)
    )
    assert wrong.before() is None
    assert period_of(NO_FILTERS, covers, datetime(2026, 5, 1, tzinfo=UTC)).words() == "unknown"


def test_top_lists_name_five_and_add_up_to_the_total(months: Store) -> None:
    whole = page(months)
    for top, rest in zip(whole.tops, ("$10.50", "$6.00"), strict=True):
        assert isinstance(top, TopList)
        assert sum(one.usd for one in top.shares) == whole.totals["cost_usd"] == Decimal("46.5")
        assert sum(one.share or 0 for one in top.shares) == pytest.approx(1)
        others = next(one for one in top.shares if one.name.startswith("other"))
        assert f"${others.usd:.2f}" == rest
    models, repositories = whole.tops
    assert [one.name for one in models.shares] == [
        "model-20",
        "model-8",
        "model-7",
        "model-6",
        "model-5",
        "other (5)",
    ]
    assert [one.name for one in repositories.shares][:2] == ["repo-8", "repo-7"]
    assert [(one.name, one.usd) for one in repositories.shares][-1] == (
        "no project",
        Decimal("10.5"),
    )


@pytest.mark.parametrize(("labels", "is_named"), [({}, False), ({"repo": "vllm"}, True)])
def test_a_list_in_which_all_is_unknown_is_told_once(
    labels: dict[str, str], is_named: bool, store: Store, tmp_path: Path
) -> None:
    """`Top repositories: unknown 100%` said nothing.

    How a repository is told stands beneath the report instead.
    """
    (tmp_path / "run.json").write_text(record_text())
    ingest_paths(store, tmp_path / "run.json", **labels)
    done = CliRunner().invoke(cli, ["report", "--db", store.location])
    assert ("Top projects" in done.stdout, "No run names its project" in done.stderr) == (
        is_named,
        not is_named,
    )
    whole = report(store, ReportRequest())
    for name in ("md", "html", "xlsx"):
        body = EXPORTS[name].write_report(whole)
        assert ("Top projects" in (text_of(body) if name == "xlsx" else body.decode())) == is_named
    summary = json.loads(EXPORTS["json"].write_report(whole))["summary"]
    assert [one["name"] for one in summary["top_repositories"]] == [
        labels.get("repo", "no project")
    ], "programs get sums that add up"


def test_what_is_left_of_a_budget_is_said_with_pass_or_fail(months: Store) -> None:
    kept = march(months, BUDGETS)
    assert figures(kept)["Budget left"] == ("$14.00", "PASS, of $50.00")
    broken = march(months, (("max-total-usd", Decimal(30)),))
    assert figures(broken)["Budget left"] == ("−$6.00", "FAIL, of $30.00")
    assert "Budget left" not in figures(march(months))


def test_notes_say_what_the_costs_are_and_what_the_difference_is_to(sample_store: Store) -> None:
    notes = page(sample_store).notes
    assert notes[0].startswith("No date: 3 runs ($2.83).")
    assert notes[0].endswith("read them again with --trust-file-times.")
    assert notes[1] == "Reported costs are the agents' own estimates, not invoices."
    assert notes[2].startswith("List-price difference (list − reported): ")
    assert notes[2].endswith(" vs. $2.83 reported, 3 runs.")


@pytest.fixture(scope="module")
def whole(months: Store) -> CostReport:
    """Made once: it takes as long as all formats together."""
    first = first_page.FirstPageRequest("Agents in March", "Finance <b>& Co</b>", BUDGETS)
    return report(months, ReportRequest(choose(MARCH), ("repo",), first=first))


def test_the_summary_of_a_workbook_has_figures_of_agents_as_numbers(whole: CostReport) -> None:
    """They were texts, which no sheet adds up; signs and notes are of the format."""
    sheet = openpyxl.load_workbook(io.BytesIO(EXPORTS["xlsx"].write_report(whole)))["Summary"]
    [agent] = [row for row in sheet.iter_rows() if str(row[0].value).startswith("Claude Code ·")]
    started, _, cost, median = (cell.value for cell in agent[1:5])
    assert (started, cost, median) == (8, 36, 4.5)


def text_of(book: bytes) -> str:
    sheet = openpyxl.load_workbook(io.BytesIO(book))["Summary"]
    return "\n".join(
        str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell is not None
    )


@pytest.mark.parametrize("name", ["table", "md", "html", "xlsx", "json"])
def test_every_format_begins_with_the_page(whole: CostReport, name: str) -> None:
    body = report_text(whole, 100) if name == "table" else EXPORTS[name].write_report(whole)
    text = text_of(body) if name == "xlsx" else body.decode()
    text = text[max(text.find("<body>"), 0) :]
    said = (
        []
        if name == "json"
        else ["Claude Code completes 7 of 8 runs at a median of $4.50", "cost $36.00"]
    )
    words = [
        "Agents in March",
        "Finance",
        *said,
        *(["Budget left"] if name != "json" else []),
        "repo-8",
        "Reported costs are the agents",
    ]
    places = [text.index(word) for word in words]
    assert places == sorted(places)
    assert "<b>&" not in text if name == "html" else True


def test_the_table_of_agents_is_that_of_the_overview(months: Store) -> None:
    """Figures that no agent has are no column.

    Only the items of a top list with a bound have its sign.
    """
    found = march(months)
    [row] = found.agents
    table = found.agent_table
    [[name, *cells]] = table.cells
    assert str(name).startswith("Claude Code · model-")
    heads = [one_line(column.label) for column in table.columns]
    assert dict(zip(heads[1:], map(str, cells), strict=True)) == {
        "Started": "8", "Completed (of started)": "7 of 8", "Cost": usd(row.cost_usd),
        "per run (median)": "$4.50", "Wall time (completed)": "1m 00s",
    }  # fmt: skip
    assert {one.bounds for top in found.tops for one in top.shares} == {""}
    costs = [
        ("a", 60, None),
        ("b", 20, "upper_bound"),
        *((name, 2, None) for name in ("c", "d", "e")),
        ("f", 2, "lower_bound"),
    ]
    tops = first_page.top_shares(
        [*((name, Decimal(usd), kinds) for name, usd, kinds in costs), (None, Decimal(1), None)],
        Decimal(100),
        "no project",
    )
    assert tops[-1].name == "no project"
    assert [one.cost[0] for one in tops] == ["$", "≤", "$", "$", "$", "≥", "$"]
    assert sum(one.share or 0 for one in tops) == 1


def test_json_has_the_page_as_numbers(whole: CostReport) -> None:
    summary = json.loads(EXPORTS["json"].write_report(whole))["summary"]
    assert summary["cost"] == "best"
    assert (
        summary["cost_best_usd"],
        summary["change_usd"],
        summary["budget_left_usd"],
        summary["owner"],
    ) == (
        36,
        26,
        14,
        "Finance <b>& Co</b>",
    )
    assert summary["before"] == {
        "from": "2026-02-01T00:00:00Z",
        "to": "2026-03-01T00:00:00Z",
        "runs": 1,
        "cost_best_usd": 10,
    }
    assert [one["cost_best_usd"] for one in summary["top_repositories"]] == [8, 7, 6, 5, 4, 6]


@pytest.mark.xdist_group("browser")
def test_no_column_of_a_page_runs_off_a_screen_the_summary_fits_a_phone_and_nothing_is_torn_on_paper(  # noqa: E501
    whole: CostReport, browser: Browser, tmp_path: Path
) -> None:
    (file := tmp_path / "cost.html").write_bytes(EXPORTS["html"].write_report(whole))
    with browser.new_page(viewport={"width": 1280, "height": 900}) as shown:
        shown.goto(file.as_uri())
        shown.wait_for_function("document.querySelectorAll('.chart .main-svg').length >= 1")
        for width, places in ((1280, "header, .wide"), (390, "header")):
            shown.set_viewport_size({"width": width, "height": 900})
            shown.wait_for_function(
                "width => document.documentElement.scrollWidth <= width", arg=width
            )  # charts follow a little later
            assert not shown.evaluate(
                f"[...document.querySelectorAll('{places}')].filter(part => part.scrollWidth "
                "> part.clientWidth).length"
            )
        shown.set_viewport_size({"width": 1280, "height": 900})
        require_is_not_torn_on_paper(shown)


def require_is_not_torn_on_paper(shown: Page) -> None:
    """No heading or chart."""
    shown.emulate_media(media="print")
    styles = (
        "(part) => [getComputedStyle(part).breakBefore, getComputedStyle(part).breakInside, "
        "getComputedStyle(part).breakAfter]"
    )
    assert {
        tuple(shown.locator(part).first.evaluate(styles)[1:]) for part in (".head", "main h2")
    } == {("avoid", "avoid")}
    assert {
        shown.locator(part).first.evaluate(styles)[1]
        for part in (".chart", "main tr", ".totals div")
    } == {"avoid"}
    tall = shown.locator("header").evaluate("part => part.getBoundingClientRect().height")
    assert tall < 1000  # an A4 page has 1,010 pixels between its margins


def test_the_dates_of_a_report_are_those_of_its_zone(months: Store) -> None:
    """`--tz` moved the days of groups but not the ends of the period.

    March in Berlin began an hour late.
    """
    chosen = choose({"since": "2026-03", "until": "2026-04"})
    found = report(months, ReportRequest(chosen, zone="Europe/Berlin")).first
    assert dict(found.lines)["Period"] == "March 2026"
    assert found.before is not None
    assert found.before.words("Europe/Berlin") == "February 2026"
    assert found.period.as_dict()["from"] == datetime(2026, 2, 28, 23, tzinfo=UTC)
    assert found.period.as_dict()["to"] == datetime(2026, 3, 31, 22, tzinfo=UTC)
