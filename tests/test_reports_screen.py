"""The screen Reports: it covers the filtered runs, shows the file's content, and names its command.

It covers exactly these runs. The command makes the same file.
"""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from app.queries import runs as run_queries
from app.queries.filters import Filters, choose
from app.queries.reading import read_transaction
from app.reports import report_files
from app.reports.cost_report import ReportRequest, report
from app.reports.exports import EXPORTS, REPORTS
from app.reports.report_files import command, file_name, formats, written
from app.text.formatting import usd
from ingest.store.database import Store
from tests.conftest import TOTAL_COST, Run, StoreOnce, command_of
from tests.reporting import fill

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

Open = Callable[..., "AppTest"]


@pytest.fixture
def screen(screens: Open) -> Open:
    """The screen as a visitor of a store sees it."""

    def open_(store: Store, **query: str) -> AppTest:
        return screens(store.location, "screens/reports.py", **query)

    return open_


@pytest.fixture(scope="module")
def awkward(store_once: StoreOnce) -> Iterator[Store]:
    """A store full of awkward text and amounts, read in one transaction."""
    with read_transaction(store_once("awkward", fill), copy_at=1) as transaction:
        yield transaction


def totals(app: AppTest) -> dict[str, str]:
    """Each figure of the preview."""
    frame = next(grid.value for grid in app.dataframe if "figure" in grid.value)
    return {row["figure"]: row["value"] for row in frame.to_dict("records")}


def said(app: AppTest) -> str:
    """The HTML of the screen as text."""
    return re.sub(r"<[^>]+>", "", " ".join(element.proto.body for element in app.get("html")))


def printed(app: AppTest, store: Store) -> str:
    """The command that makes the same report, without the store, which it names at its end."""
    command = command_of(app)
    assert command.endswith(f" --db {store.location}")
    return command.removesuffix(f" --db {store.location}")


def test_the_preview_has_the_totals_of_the_file(read_samples: Store, screen: Open) -> None:
    app = screen(read_samples)
    assert totals(app)["Best-known cost"] == usd(Decimal(TOTAL_COST))
    assert "Claude Code completes 3 of 3 runs" in said(app)
    assert re.search(
        "Preview.*Cost report.*Claude Code.*Totals.*By model.*Models.*About this report",
        said(app),
        re.DOTALL,
    )
    assert any("Includes all 3 runs." in caption.value for caption in app.caption)
    assert printed(app, read_samples) == "tachograph report --by model -o cost-report-by-model.html"
    assert app.get("download_button")


def test_it_covers_the_filtered_runs_and_says_so(read_samples: Store, screen: Open) -> None:
    [name] = run_queries.runs(read_samples, Filters(), 1)["model"].to_pylist()
    [runs] = run_queries.summary(
        read_samples, choose({"model": name, "max-cost": "1"}), (), ("runs",)
    )["runs"].to_pylist()
    assert 0 < runs < 3
    app = screen(read_samples, **{"model": name, "max-cost": "1", "format": "csv"})
    assert totals(app)["Runs"] == str(runs)
    assert any(
        f"Includes {runs} of 3 runs (current filters)." in caption.value for caption in app.caption
    )
    assert (
        printed(app, read_samples)
        == f"tachograph report --by model --model {name} --max-cost 1 -o cost-report-by-model.csv"
    )


def test_a_model_without_a_price_is_told_and_can_be_corrected(
    read_samples: Store, screen: Open
) -> None:
    app = screen(read_samples, reprice="claude-haiku-9-9")
    assert "no list price for 'claude-haiku-9-9'" in app.error[0].value.replace("\\", "")
    app.selectbox(key="reprice").set_value("claude-opus-4-5").run()
    assert not app.exception
    assert not app.error
    assert "Repriced as claude-opus-4-5" in said(app)


def test_title_owner_and_budget_are_on_the_first_page_and_in_the_command(
    read_samples: Store, screen: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACHOGRAPH_BUDGETS", "max-total-usd=3 max-run-usd=0.5")
    app = screen(read_samples, owner="Finance")
    assert app.number_input(key="budget").value == 3
    app.text_input(key="report-title").set_value("Agents -- it's March").run()
    app.number_input(key="budget").set_value(2.5).run()
    assert "Total best-known cost$2.83" in said(app)
    assert "−$0.33" in said(app)
    assert re.search(r"Max cost per run\$1.21at most \$0.50FAIL", said(app))
    assert "Agents -- it's March" in html.unescape(said(app))
    words = shlex.split(command_of(app))
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, words[1:], standalone_mode=False).exception is None
    page = (tmp_path / "cost-report-by-model.html").read_text()
    assert "<dt>Prepared for</dt><dd>Finance</dd>" in page
    assert "−$0.33" in page


def test_groupings_are_two_at_most_and_none_is_fine(read_samples: Store, screen: Open) -> None:
    app = screen(read_samples)
    app.multiselect(key="grouping").set_value([]).run()
    assert not app.exception
    assert printed(app, read_samples) == "tachograph report -o cost-report.html"
    app.multiselect(key="grouping").set_value(["project", "day"]).run()
    assert printed(app, read_samples).endswith(
        "--by project,day -o cost-report-by-project-and-day.html"
    )


def test_every_format_is_offered_that_can_be_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_files, "browser", lambda: "")
    assert set(formats()) == set(EXPORTS)
    monkeypatch.setattr(report_files, "browser", lambda: "chromium")
    assert set(formats()) == set(REPORTS)
    assert all(export.about for export in EXPORTS.values())


def test_the_command_it_names_makes_the_same_file(
    filled: Path, tachograph: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    request = ReportRequest(
        choose({"label": "branch=main"}),
        ("label:branch", "day"),
        zone="Asia/Tokyo",
        reprice="claude-haiku-4-5",
    )
    words = shlex.split(command(request, EXPORTS["json"], "tachograph.duckdb"))
    assert tachograph(*words[1:], cwd=filled).returncode == 0
    monkeypatch.chdir(filled)
    assert Path(words[-1]).read_bytes() == written(
        Store("tachograph.duckdb"), request, EXPORTS["json"]
    )


@pytest.mark.parametrize(
    "word",
    ["label:../../etc/passwd", "label:a b;c", 'label:"\n', "label:" + "x" * 300, "label:ключ"],
)
def test_a_file_has_a_plain_name_whatever_a_label_is_called(word: str) -> None:
    name = file_name(ReportRequest(by=(word,)), EXPORTS["xlsx"])
    assert name.startswith("cost-report-by-label")
    assert name.endswith(".xlsx")
    assert not set(name) & set('/\\:;"\n ')
    assert len(name) < 80


@pytest.mark.slow
def test_a_long_section_is_cut_and_says_so(
    read_samples: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_files, "MOST_ROWS", 2)
    section = report(read_samples, ReportRequest(by=("run",))).section("groups")
    assert report_files.section_grid(section).rows.num_rows == 2
    assert report_files.cut_note(section) == "The first 2 of 3 rows; the file has all."


def test_over_very_many_runs_the_preview_waits_to_be_asked_for(
    read_samples: Store, screen: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.reports.report_files.AT_ONCE", 2)
    app = screen(read_samples)
    assert not app.dataframe
    app.toggle(key="preview").set_value(True).run()
    assert totals(app)["Runs"] == "3"
