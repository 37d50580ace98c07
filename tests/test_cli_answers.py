"""The commands that answer from the store.

One figure in every format, tables that fit, files written whole.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from app.reports.exports import EXPORTS
from ingest.store.database import Store
from schemas.errors import UsageError
from tests.conftest import Run, environment, ingest_paths, record_text
from tests.examples import a_share


@pytest.mark.slow
def test_a_file_is_what_stdout_would_have_been_and_its_name_chooses_the_format(
    tachograph: Run, filled: Path
) -> None:
    """At one time, which SOURCE_DATE_EPOCH sets, the same store gives the same bytes."""
    there = ["--db", str(filled / "tachograph.duckdb")]
    for name, export in a_share(EXPORTS.items(), 2):
        target = filled / f"cost{export.suffix}"
        runner = CliRunner(env={"SOURCE_DATE_EPOCH": "1763647200"})
        command, said = (
            ("report", "3 runs") if name == "html" else ("runs", "3 rows")
        )  # a report takes five times as long
        printed = runner.invoke(cli, [command, "--format", name, *there])
        done = runner.invoke(cli, [command, "-o", str(target), *there])
        assert target.read_bytes() == printed.stdout_bytes
        assert done.stdout == ""
        assert done.stderr.startswith(f"Wrote {target}: {said}, ")
        assert done.exit_code == 0


def test_a_report_by_group_ends_with_a_total_for_people_only(tachograph: Run, filled: Path) -> None:
    table = tachograph("report --by model,outcome --label branch=main --brief")
    assert table.stdout.splitlines()[-1].split()[:3] == ["Total", "3", "$2.83"]
    assert table.stderr.startswith("3 runs · --label branch=main · tachograph.duckdb\n")
    assert table.returncode == 0
    lines = tachograph("report --by model,outcome --format csv").stdout.splitlines()
    assert lines[0].startswith(
        "model,outcome,runs,runs_known,never_started_runs,never_started_runs_known,cost_usd,"
        "cost_usd_known,"
    )
    assert "Total" not in lines[-1]


def test_an_unknown_figure_is_counted_and_no_zero(tachograph: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(
        record_text()
        + "\n"
        + record_text(uuid="2", total_cost_usd=..., modelUsage=..., num_turns=...)
    )
    ingest_paths(Store(tmp_path / "tachograph.duckdb"), tmp_path / "log.jsonl")
    done = tachograph("report --metrics turns --brief")
    assert done.stdout.splitlines() == ["Runs   2", "Turns  3  based on 1 of 2"]
    assert done.stderr == "2 runs · tachograph.duckdb\n"
    assert done.returncode == 0


@pytest.mark.parametrize("width", [40, 80, 100, 160, 300])
def test_a_table_fits_the_terminal(filled: Path, width: int) -> None:
    """Nothing is wider than asked for; every column is drawn or named as one without room."""
    done = CliRunner(env={"COLUMNS": str(width)}).invoke(
        cli, ["runs", "--db", str(filled / "tachograph.duckdb")]
    )
    assert max(map(len, done.stdout.splitlines())) <= width
    shown = [word for word in ("Turns", "Labels", "Source") if word in done.stdout]
    named = [
        word
        for word in ("Turns", "Labels", "Source")
        if word in done.stderr.partition("Hidden columns: ")[2]
    ]
    assert shown + named == ["Turns", "Labels", "Source"]
    assert done.exit_code == 0


def test_runs_are_short_in_tables_and_whole_for_programs(tachograph: Run, filled: Path) -> None:
    rows = [
        json.loads(line) for line in tachograph("runs --limit 2 --format jsonl").stdout.splitlines()
    ]
    assert [len(row["run_id"]) for row in rows] == [36, 36]
    assert rows[0]["labels"] == {"branch": "main"}
    table = tachograph("runs --limit 2")
    assert rows[0]["run_id"] not in table.stdout
    assert rows[0]["run_id"][:8] in table.stdout
    assert table.stderr.startswith("the 2 most expensive of 3 runs · tachograph.duckdb\n")
    assert table.returncode == 0


def test_models_say_in_80_columns_why_costs_differ_and_what_no_model_accounts_for(
    tachograph: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (filled / "nameless.json").write_text(
        record_text(uuid="b", session_id="b", total_cost_usd=3, modelUsage=...)
    )
    tachograph("ingest nameless.json")
    done = tachograph("models")
    header = " ".join(done.stdout.partition("─")[0].split())
    for words in ("Model", "Runs", "List-price", "difference", "Reported", "Cause of"):
        assert words in header, done.stdout
    assert all(word in done.stdout for word in ("regional", "endpoint"))
    assert done.stderr.startswith("4 runs · ")
    assert "\n$3.00 of 1 run has no model attribution.\n" in done.stderr


def test_no_runs_are_no_error(tachograph: Run, filled: Path) -> None:
    done = tachograph("runs --model nope")
    assert done.stdout == ""
    assert done.stderr == "0 runs · --model nope · tachograph.duckdb\nNo run has model 'nope'.\n"
    assert done.returncode == 0


def test_an_output_folder_that_is_missing(tachograph: Run, filled: Path) -> None:
    done = tachograph("report -o missing/cost.csv")
    assert done.stdout == ""
    assert done.stderr == (
        "Error: cannot write to missing/cost.csv: the folder missing does not exist.\nCreate "
        "the folder first.\n"
    )
    assert done.returncode == 2


@pytest.mark.parametrize("length", [250, 300])
def test_a_name_that_no_file_may_have(tachograph: Run, filled: Path, length: int) -> None:
    """Too long for the file, or only for the one it is written to first."""
    done = tachograph("models -o", f"{'n' * (length - 4)}.csv")
    assert done.stderr.endswith(".csv: File name too long.\nChoose another file with -o.\n")
    assert done.returncode == 2


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(
    tachograph: Run, filled: Path
) -> None:
    target = filled / "cost.csv"
    target.write_text("old\n" * 1000)
    target.chmod(0o640)
    before = set(filled.iterdir())
    assert tachograph("models -o", target).returncode == 0
    assert "old" not in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o640
    assert set(filled.iterdir()) == before


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(filled: Path) -> None:
    """`tachograph runs | head -1`: the pipe is closed before anything is written."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "app.cli.main", "runs", "--format", "csv"]
    done = subprocess.run(
        command,
        cwd=filled,
        env=environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_ascii(filled: Path) -> None:
    command = [sys.executable, "-m", "app.cli.main", "report", "--by", "region"]
    variables = environment(PYTHONIOENCODING="ascii")
    done = subprocess.run(command, cwd=filled, env=variables, capture_output=True, check=False)
    assert b"$2.83" in done.stdout
    assert done.stdout.isascii()
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("tachograph.duckdb", ("report",)),
        ("logs/../tachograph.duckdb", ("runs",)),
        ("tachograph.duckdb.wal", ("claims",)),
        ("link.json", ("compare", "repo=a", "repo=b")),
    ],
)
def test_no_answer_is_written_over_the_store(
    filled: Path, name: str, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(filled)
    (filled / "logs").mkdir()
    (filled / "link.json").symlink_to("tachograph.duckdb")
    before = (filled / "tachograph.duckdb").read_bytes()
    done = CliRunner().invoke(cli, [*command, "-o", name, "--format", "json"])
    assert isinstance(done.exception, UsageError)
    assert "it is the store" in str(done.exception)
    assert (filled / "tachograph.duckdb").read_bytes() == before
    assert (filled / "link.json").is_symlink()
