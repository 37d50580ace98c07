"""What a report holds, against figures worked out by hand; groupings by time and label.

One moment of the store.
"""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from app.cli.main import cli
from app.queries import runs as run_queries
from app.queries.filters import FILTERS, FilterKind, Filters, choose
from app.queries.grouping import group, groups, known_zone
from app.queries.reading import read_transaction
from app.reports import REPORT_RUNS
from app.reports.cost_report import CostReport, ReportRequest, report
from app.reports.exports import EXPORTS
from app.text.columns import columns
from app.text.formatting import usd
from app.text.text_tables import MOST_COLUMNS, broken
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.catalogue.columns import GROUPS
from schemas.errors import StoreBusy, UsageError
from tests.conftest import TOTAL_COST, Run, StoreOnce, environment, record_text
from tests.examples import a_share


def at(time: str, uuid: str, cost: float | None, **changes: object) -> str:
    """A record within a stream that says when it began; it ended an hour later."""
    event = f'{{"type":"user","timestamp":"{time}","session_id":"{uuid}"}}\n'
    return (
        event
        + record_text(
            uuid=uuid,
            session_id=uuid,
            total_cost_usd=... if cost is None else cost,
            duration_ms=3_600_000,
            **changes,
        )
        + "\n"
    )


def fill_five(store: Store) -> None:
    """Completed 1, 2 and 3 USD, failed 4 USD, and one of unknown cost, an hour each.

    Two of them end around midnight UTC.
    """
    failed = {"is_error": True, "result": "API Error: 500"}
    logs = {
        "red": at("2026-03-01T22:30:00Z", "a", 1) + at("2026-03-01T23:30:00Z", "b", 2),
        "=1+1": at("2026-03-29T12:00:00Z", "c", 3) + at("2026-03-29T13:00:00Z", "d", 4, **failed),
    }
    for team, text in logs.items():
        ingest([Source(team, text.encode())], store, Options((("team", team),)))
    ingest(
        [
            Source(
                "silent",
                record_text(uuid="e", session_id="e", total_cost_usd=..., modelUsage={}).encode(),
            )
        ],
        store,
    )


@pytest.fixture(scope="module")
def five(read_once: StoreOnce) -> Store:
    return read_once("five", fill_five)


def totals(made: CostReport) -> dict[str, object]:
    [row] = made.section("totals").table.to_pylist()
    return dict(row)


def test_both_costs_of_a_completed_run(five: Store) -> None:
    """10 USD over 3 completed runs with a cost, failed attempts included.

    6 USD over the same 3 without.
    """
    found = totals(report(five, ReportRequest()))
    assert (found["completed"], found["cost_usd"], found["cost_usd_known"]) == (4, Decimal(10), 4)
    assert (found["cost_per_completed_usd"], found["cost_per_completed_usd_known"]) == (
        Decimal("3.333333333"),
        4,
    )
    assert (found["cost_completed_mean_usd"], found["cost_completed_mean_usd_known"]) == (
        Decimal(2),
        3,
    )
    assert (
        found["cost_p90_usd"],
        found["cost_per_hour_usd"],
        found["cost_per_hour_usd_known"],
    ) == (Decimal("3.7"), Decimal("2.5"), 4)


def test_a_dear_run_that_took_no_time_has_its_rate(store: Store) -> None:
    """999,999,999 USD in a millisecond.

    The rate of an hour has more digits than any amount that is kept.
    """
    ingest(
        [
            Source(
                "dear",
                record_text(total_cost_usd=999_999_999, duration_ms=1, duration_api_ms=1).encode(),
            )
        ],
        store,
    )
    assert (
        round(Decimal(str(totals(report(store, ReportRequest()))["cost_per_hour_usd"])))
        == 999_999_999 * 3_600_000
    )


def test_shares_of_groups_are_of_all_groups(five: Store) -> None:
    rows = report(five, ReportRequest(by=("outcome",))).section("groups").table.to_pylist()
    assert {row["outcome"]: row["cost_share"] for row in rows} == {
        "completed": 0.6,
        "api_error": 0.4,
    }


@pytest.mark.parametrize(
    ("words", "zone", "expected"),
    [
        (("day",), "UTC", [("2026-03-01", 1), ("2026-03-02", 2), ("2026-03-29", 7)]),
        (("day",), "Europe/Berlin", [("2026-03-02", 3), ("2026-03-29", 7)]),
        (("day",), "America/New_York", [("2026-03-01", 3), ("2026-03-29", 7)]),
        (("week",), "UTC", [("2026-W09", 1), ("2026-W10", 2), ("2026-W13", 7)]),
        (("month",), "Asia/Kolkata", [("2026-03", 10)]),
    ],
)
def test_days_weeks_and_months_are_those_of_the_zone_and_in_order(
    five: Store, words: tuple[str, ...], zone: str, expected: list[tuple[str, int]]
) -> None:
    rows = run_queries.summary(five, Filters(), words, ("cost_usd",), zone).to_pylist()
    assert [
        (row[words[0]], row["cost_usd"]) for row in rows if row["cost_usd"] is not None
    ] == expected


@pytest.mark.parametrize(
    ("zone", "near"),
    [("Europe/Berln", "Europe/Berlin"), ("UTC+1", "UTC"), ("../etc/passwd", "IANA"), ("", "IANA")],
)
def test_a_zone_that_does_not_exist_names_those_that_come_near(zone: str, near: str) -> None:
    with pytest.raises(UsageError, match=near):
        known_zone(zone)


def test_a_label_groups_and_its_key_is_bound(five: Store) -> None:
    rows = run_queries.summary(five, Filters(), ("label:team",), ("runs",)).to_pylist()
    assert {row["label:team"]: row["runs"] for row in rows} == {"red": 2, "=1+1": 2, None: 1}
    hostile = "label:'; drop table runs; --"
    assert run_queries.summary(five, Filters(), (hostile,), ("runs",)).column_names[0] == hostile
    assert "drop" not in group(hostile).sql


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys", [*((key,) for key in a_share(FILTERS, 5)), tuple(FILTERS)], ids=str
)
def test_every_filter_filters_every_section(five: Store, keys: tuple[str, ...]) -> None:
    """A condition is about runs: a table of something else that it is put on may lack a column."""
    values = {
        FilterKind.LABELS: "team=red",
        FilterKind.TIME: "2026-03-02",
        FilterKind.PERIOD: "this week",
        FilterKind.USD: "2",
        FilterKind.FACTOR: "2",
        FilterKind.PROBABILITY: "0.2",
    }
    chosen = (FilterKind.CHOICE, FilterKind.FLAG)
    filters = choose(
        {
            key: next(reversed(FILTERS[key].words), "")
            if FILTERS[key].kind in chosen
            else values.get(FILTERS[key].kind, "red")
            for key in keys
        }
    )
    made = report(five, ReportRequest(filters, ("outcome",), reprice="claude-opus-4-6"))
    counted = sum(row["runs"] for row in made.section("groups").table.to_pylist())
    assert (
        totals(made)["runs"]
        == made.header.coverage["runs"]
        == counted
        == run_queries.runs(five, filters).num_rows
    )


def test_a_page_has_the_totals_and_groups_of_the_whole_report(five: Store) -> None:
    """It reads fewer columns, but those of its filters and groups."""
    failed, found = choose({"failure": ["limit"]}), choose({"search": ["e"]})
    for filters, by in ((failed, ()), (found, ()), (Filters(), ("failure", "whose", "model"))):
        asked = ReportRequest(filters, by)
        page = report(
            Store(five.location), replace(asked, sections=("totals", "groups"), has_key_totals=True)
        )
        whole = report(Store(five.location), asked)
        assert page.main.answer.shown == whole.main.answer.shown
        shown = [name for name in page.main.answer.shown if name in page.main.table.column_names]
        assert page.main.table.select(shown) == whole.main.table.select(shown)
        assert page.first.notes == whole.first.notes


def test_a_cheap_model_without_a_price_is_told_of_an_expensive_run(store: Store) -> None:
    """--min-cost and --main-model are about the run: its helper costs less and is another model."""
    usage = {
        "inputTokens": 10,
        "outputTokens": 10,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
        "webSearchRequests": 0,
    }
    models = {"claude-opus-4-6": usage | {"costUSD": 9}, "house-model": usage | {"costUSD": 1}}
    ingest([Source("two", record_text(total_cost_usd=10, modelUsage=models).encode())], store)
    for words in ({"min-cost": "5"}, {"main-model": "claude-opus-4-6"}):
        unpriced = report(store, ReportRequest(choose(words))).section("unpriced").table.to_pylist()
        assert [(row["model-id"], row["cost_usd"]) for row in unpriced] == [("house-model", 1)]


def test_a_label_may_be_called_like_the_count_beside_another(store: Store) -> None:
    """`label:x_known` is a column of words, no number of runs."""
    ingest([Source("one", record_text().encode())], store, Options((("x", "1"), ("x_known", "2"))))
    made = report(store, ReportRequest(by=("label:x", "label:x_known")))
    assert [column.label for column in columns(made.section("groups").table, GROUPS)][:3] == [
        "Label x",
        "Label x_known",
        "Runs",
    ]
    assert EXPORTS["md"].write_report(made)


def test_two_labels_and_a_day_keep_their_values_apart(five: Store) -> None:
    chosen = groups(("label:a", "day", "label:b"), "Europe/Berlin")
    assert [dict(one.parameters) for one in chosen] == [
        {"g0_key": "a"},
        {"g1_zone": "Europe/Berlin"},
        {"g2_key": "b"},
    ]


@pytest.mark.parametrize("word", ["colour", "label:", "label", "Day"])
def test_a_grouping_that_does_not_exist_lists_those_that_do(word: str) -> None:
    with pytest.raises(UsageError, match=r"unknown dimension(?s:.)*label:KEY"):
        groups((word,))


def test_the_header_says_what_the_figures_cover(five: Store) -> None:
    lines = dict(
        report(
            five, ReportRequest(choose({"label": "team=red"}), zone="Europe/Berlin")
        ).header.lines()
    )
    assert lines["Runs"] == "2 of 5 in the store"
    assert lines["Filters"] == "--label team=red"
    assert lines["Period"] == "2026-03-01 23:30 Europe/Berlin to 2026-03-02 01:30 Europe/Berlin"
    assert "3 files, last ingested" in lines["Store"]
    assert "0 records rejected" in lines["Store"]


@pytest.mark.slow
def test_no_run_is_a_report_of_nothing(five: Store) -> None:
    for by in ((), ("model",)):
        made = report(five, ReportRequest(choose({"model": "nope"}), by))
        assert totals(made)["runs"] == 0
        assert dict(made.header.lines())["Period"] == "unknown"
        for export in EXPORTS.values():
            assert isinstance(export.write_report(made), bytes)


def test_the_most_expensive_runs_say_how_much_of_the_cost_they_are(five: Store) -> None:
    section = report(five, ReportRequest(runs=2)).section("runs")
    assert section.table["run_id"].to_pylist() == ["d", "c"]
    assert section.note == "Top 2 of 5 runs account for 70% of cost."


def test_models_say_what_is_reported_without_a_model(store: Store) -> None:
    ingest(
        [
            Source(
                "two",
                (
                    record_text()
                    + record_text(uuid="b", session_id="b", total_cost_usd=3, modelUsage=...)
                ).encode(),
            )
        ],
        store,
    )
    made = report(store, ReportRequest())
    assert "$3.00 of 1 run has no model attribution." in made.section("models").note
    sheets = openpyxl.load_workbook(io.BytesIO(EXPORTS["xlsx"].write_report(made)))
    assert "$3.00 of 1 run has no model attribution." in [
        cell.value for cell in sheets["Models"]["A"]
    ]


@pytest.mark.slow
def test_a_report_is_of_one_moment(sample_store: Store) -> None:
    """Whoever would write meanwhile waits, and what was begun is read to its end."""
    with read_transaction(sample_store) as transaction:
        before = run_queries.summary(transaction, Filters(), metrics=("runs",))
        with pytest.raises(StoreBusy):
            ingest(
                [Source("late", record_text(uuid="late").encode())],
                Store(sample_store.location, wait_seconds=0.05),
            )
        assert run_queries.summary(transaction, Filters(), metrics=("runs",)) == before
    ingest([Source("late", record_text(uuid="late").encode())], sample_store)


def test_the_terminal_shows_what_matters_the_whole_report_with_all_and_brief_its_groups(
    tachograph: Run, filled: Path
) -> None:
    short, whole = (
        tachograph("report --by model"),
        tachograph("report --by model --all"),
    )
    assert (short.returncode, whole.returncode) == (0, 0)
    headings = [
        "Cost report",
        "Totals",
        "By model",
        "Models",
        "Most expensive runs",
        "About this report",
    ]
    assert [line for line in whole.stdout.splitlines() if line in headings] == headings
    assert [line for line in short.stdout.splitlines() if line in headings] == headings[:3]
    assert "add --all" in short.stderr
    assert "add --all" not in whole.stderr
    assert "Cost per hour" in whole.stdout
    assert "Cost per hour" not in short.stdout
    assert usd(Decimal(TOTAL_COST)) in whole.stdout
    brief = CliRunner().invoke(
        cli, ["report", "--by", "model", "--brief", "--db", str(filled / "tachograph.duckdb")]
    )
    assert brief.stdout.splitlines()[-1].startswith("Total")
    assert "Cost report" not in brief.stdout


def test_a_list_of_runs_is_as_long_as_the_format_is_for(sample_store: Store) -> None:
    assert REPORT_RUNS == EXPORTS["md"].runs < EXPORTS["xlsx"].runs


def test_a_workbook_is_nothing_for_a_terminal(filled: Path) -> None:
    """Its bytes would only confuse it."""
    controlling, terminal = pty.openpty()
    command = [sys.executable, "-m", "app.cli.main", "report", "--format", "xlsx"]
    done = subprocess.run(
        command,
        cwd=filled,
        env=environment(),
        stdout=terminal,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(terminal)
    os.close(controlling)
    assert done.stderr == "Error: xlsx is binary.\nWrite it to a file: -o FILE.xlsx\n"
    assert done.returncode == 2


@pytest.mark.parametrize("width", ["80", "100"])
def test_a_terminal_of_usual_width_has_seven_columns_at_most_and_names_the_others(
    tachograph: Run, filled: Path, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    lines = tachograph("report --by model --all", cwd=filled).stdout.splitlines()
    rules = [place for place, line in enumerate(lines) if line.startswith("──")]
    assert rules
    assert (
        max(
            len(line.split("  ")) - line.split("  ").count("")
            for place in rules
            for line in [lines[place + 1]]
        )
        <= MOST_COLUMNS
    )
    assert max(map(len, lines)) <= int(width)
    assert [line for line in lines if line.startswith("Hidden columns: ")]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("claude-sonnet-latest", ["claude-sonnet-latest"]),
        ("AlphaBravoCompany/hauler-ui-and-more", ["AlphaBravoCompany/", "hauler-ui-and-more"]),
        ("Over by $0.86; on 2026-03-19.", ["Over by $0.86; on", "2026-03-19."]),
        ("x" * 50, [f"{'x' * 9}…{'x' * 10}"]),
    ],
)
def test_a_name_is_broken_behind_a_sign_or_cut_and_never_within_a_word(
    name: str, lines: list[str]
) -> None:
    assert broken(name, 20).split("\n") == lines


@given(st.text(alphabet="ab-/ .", max_size=60), st.integers(4, 30))
def test_a_broken_name_fits_and_loses_nothing_but_blanks_and_what_is_cut(
    name: str, width: int
) -> None:
    lines = broken(name, width).split("\n")
    assert max(map(len, lines)) <= max(width, len(name) if len(name) <= width else 0)
    if "…" not in broken(name, width):
        assert "".join(lines).replace(" ", "") == name.replace(" ", "")
