"""A textless export has no word of a session unless it is requested, and has every figure."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from app.charts.registry import CHARTS
from app.cli.main import COMMANDS, cli, load
from app.queries.filters import NO_FILTERS, SEARCH, Filters
from app.queries.reading import exported, read_transaction
from app.queries.usage import UsageRequest
from app.reports import report_files, results, usage
from app.reports.cost_report import CostReport, ReportRequest, report
from app.reports.exports import EXPORTS
from app.reports.shared import question
from app.text.answers import Answer
from ingest.store.database import Store
from schemas.catalogue.rules import FINDING_RULES
from schemas.catalogue.usage import USAGE_DIMENSIONS
from tests.claude_lines import SESSION
from tests.conftest import StoreOnce
from tests.examples import a_share
from tests.test_no_text import FILES, WORD, put, read, with_the_word

KINDS = ("quantified", "qualitative")


def _used_by(word: str) -> Callable[[Store, Filters], Answer]:
    return lambda store, filters: usage.usage(store, UsageRequest(filters, (word,)))


OF_SESSIONS = {
    name: text
    for name, text in FILES.items()
    if "projects" in name or "sessions" in name or "torn" in name
}
ANSWERS: dict[str, Callable[[Store, Filters], Answer]] = {
    "runs": lambda store, filters: results.runs(store, filters, None),
    "models": results.models,
    "claims": lambda store, filters: results.claims(store, filters, KINDS, None),
    "findings": lambda store, filters: results.findings(store, filters, (), (), None),
    "rejects": lambda store, _: results.rejects(store),
    "sources": lambda store, _: results.sources(store),
    "ingests": lambda store, _: results.ingests(store),
    "verdicts": lambda store, filters: results.verdicts(store, filters, None, every=True),
    "groups of verdicts": lambda store, filters: results.verdict_groups(store, filters, ("agent",)),
    "measurements": lambda store, filters: results.measurements(store, filters, None),
}
ANSWERS |= {f"usage by {word}": _used_by(word) for word in a_share(USAGE_DIMENSIONS, 4)}
REPORTED = ReportRequest(by=("agent",), runs=100)


def shown(body: bytes, suffix: str) -> str:
    """All that a file says."""
    if suffix == ".xlsx":
        with zipfile.ZipFile(io.BytesIO(body)) as book:
            return "".join(book.read(name).decode(errors="replace") for name in book.namelist())
    return (
        str(pq.read_table(io.BytesIO(body)).to_pylist()) if suffix == ".parquet" else body.decode()
    )


@pytest.fixture(scope="module")
def store(read_once: StoreOnce) -> Store:
    """Sessions only."""

    def fill(store: Store) -> None:
        logs = Path(store.location).parent / "logs"
        put(logs, OF_SESSIONS)
        read(store, logs, keeps_text=True)

    return read_once("said-in-sessions", fill)


def test_no_column_that_a_query_may_read_has_a_word(store: Store) -> None:
    """Whatever table or view an export asks, also one that nobody has written yet."""
    assert {"runs", "rejects", "v_runs"} <= {table for table, _ in with_the_word(store)}
    assert with_the_word(exported(store)) == []


@pytest.mark.parametrize("name", list(ANSWERS))
def test_no_table_has_a_word_in_any_format(store: Store, name: str) -> None:
    answer = ANSWERS[name](exported(store), NO_FILTERS)
    for export in EXPORTS.values():
        assert WORD not in shown(export.write(answer), export.suffix), export.name


@pytest.fixture(scope="module")
def reports(store: Store) -> tuple[CostReport, CostReport]:
    """What is handed on, and what stays."""
    return report(exported(store), REPORTED), report(store, REPORTED)


@pytest.mark.parametrize("export", EXPORTS.values(), ids=lambda export: export.name)
def test_no_report_has_a_word(reports: tuple[CostReport, CostReport], export: Any) -> None:
    textless, whole = (shown(export.write_report(made), export.suffix) for made in reports)
    assert WORD not in textless
    assert WORD in whole or not export.is_whole, "the test must be able to fail"


def test_a_file_of_a_report_is_the_one_that_is_handed_on(store: Store) -> None:
    assert WORD not in shown(report_files.written(store, REPORTED, EXPORTS["json"]), ".json")


@pytest.mark.parametrize("name", ["runs", "claims", "rejects"])
def test_there_are_words_to_leave_out(store: Store, name: str) -> None:
    """Otherwise the tests above say nothing. They are on screens and in a terminal."""
    assert WORD in str(ANSWERS[name](store, NO_FILTERS).table.to_pylist())


def test_a_finding_about_a_summary_says_what_its_rule_looks_for(store: Store) -> None:
    [said], [found] = (
        ANSWERS["findings"](one, NO_FILTERS).table.to_pylist() for one in (store, exported(store))
    )
    assert "“3.2x faster”" in said["message"]
    assert (found["rule"], found["message"], found["expected"]) == (
        said["rule"],
        FINDING_RULES[said["rule"]].meaning,
        None,
    )


def test_figures_and_names_are_the_same(store: Store) -> None:
    said = {
        "title",
        "prompt",
        "result",
        "errors",
        "failure_message",
        "claimed_quote",
        "claimed_subject",
    }
    with_texts, without = (
        ANSWERS["runs"](one, NO_FILTERS).table.to_pylist() for one in (store, exported(store))
    )
    for one, other in zip(with_texts, without, strict=True):
        assert {name: value for name, value in one.items() if name not in said} == {
            name: value for name, value in other.items() if name not in said
        }
    assert {row["title"] for row in without} == {"shop 2026-03-02 08:00", "shop 2026-05-01 12:00"}


@pytest.mark.parametrize("name", ["runs", "claims", "usage by day"])
def test_a_search_finds_the_same_runs(store: Store, name: str) -> None:
    """It looks into texts that are not handed on."""
    filters = Filters(((SEARCH, ("faster",)),))
    found = ANSWERS[name](exported(store, filters), filters)
    assert found.table.num_rows == ANSWERS[name](store, filters).table.num_rows > 0
    assert "--search faster" in found.heading


@pytest.mark.slow
def test_what_is_no_session_is_handed_on_as_before(tmp_path: Path) -> None:
    put(tmp_path / "logs", {name: text for name, text in FILES.items() if name not in OF_SESSIONS})
    store = Store(tmp_path / "a.duckdb")
    read(store, tmp_path / "logs", keeps_text=True)
    for name in ("runs", "claims", "findings", "rejects"):
        assert (
            ANSWERS[name](exported(store), NO_FILTERS).table
            == ANSWERS[name](store, NO_FILTERS).table
        )


ARGUMENTS = {"show": (SESSION,), "compare": ("agent=claude-code", "agent=codex")}
HAS_OPTION = [
    name for name in COMMANDS if any(option.name == "with_text" for option in load(name).params)
]
EXPORTING = [name for name in HAS_OPTION if name not in ("mcp", "copy")]
DRAWING = ("share", "chart")
TELLING = ("runs", "report", "claims", "rejects", "show")
"""`mcp` writes no file, and `copy` has no -o: tests/test_mcp.py and tests/test_handed_on.py have
what they say.
"""


def test_every_command_that_writes_files_leaves_texts_out() -> None:
    writing = [
        name
        for name in COMMANDS
        if any("-o" in option.opts for option in load(name).params)
        and name != "map"  # which reads no store
    ]
    assert writing == EXPORTING


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [*TELLING, *a_share((name for name in EXPORTING if name not in (*TELLING, *DRAWING)), 4)],
)
def test_no_command_writes_a_word_unasked(store: Store, tmp_path: Path, name: str) -> None:
    """A terminal shows texts. Whatever goes into a file, also as a table, has none."""

    def said(*options: str) -> str:
        done = CliRunner().invoke(
            cli, [name, *ARGUMENTS.get(name, ()), "--db", store.location, *options]
        )
        assert done.exit_code == 0, done.stderr
        return done.stdout

    path = tmp_path / "file.txt"
    said("--format", "table", "-o", str(path))
    assert WORD not in path.read_text(encoding="utf-8")
    assert WORD not in said("--format", "json")
    if name in TELLING:
        assert WORD in said("--format", "json", "--with-text")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["overview", "cost", "failures", SESSION])
def test_no_page_to_mail_has_a_word_unasked(store: Store, tmp_path: Path, what: str) -> None:
    def page(*options: str) -> str:
        path = tmp_path / "page.html"
        done = CliRunner().invoke(
            cli,
            ["share", what, "--db", store.location, "-o", str(path), *options],
            catch_exceptions=False,
        )
        assert done.exit_code == 0, done.stderr
        return path.read_text(encoding="utf-8")

    assert WORD not in page()
    if what == SESSION:
        assert WORD in page("--with-text")


@pytest.mark.slow
def test_no_chart_has_a_word_unasked(store: Store) -> None:
    with read_transaction(exported(store)) as transaction:
        drawn = [
            chart.draw(question(transaction, NO_FILTERS))
            for chart in CHARTS.values()
            if not chart.needs
        ]
    assert any(drawn)
    assert not [
        one.name
        for one in drawn
        if one and WORD in f"{one.title} {one.caption} {one.figure.to_json()}"
    ]


def test_a_list_in_a_terminal_has_its_titles(store: Store) -> None:
    assert WORD in CliRunner().invoke(cli, ["runs", "--db", store.location]).stdout
