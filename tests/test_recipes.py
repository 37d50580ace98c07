"""The recipes of docs/architecture.md work as they are written.

All are followed in one copy of the project.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import openpyxl
import pytest
from click.testing import CliRunner

from app.cli.main import cli
from tests.conftest import ROOT, SAMPLES, record_text
from tests.project_copy import JSON, RECIPES, TEXT, Copy

pytestmark = pytest.mark.slow

LABEL, HEADER, MEANING = (
    "Output tokens per turn",
    "Output per turn",
    "Output tokens divided by turns.",
)
MEMORY = json.dumps({"id": 1, "text": "Pss: 200 -> 100"})
SCREENS = """
import json, os, sys
from streamlit.testing.v1 import AppTest

def opened(store, screen, **query):
    os.environ["TACHOGRAPH_DB"] = store
    app = AppTest.from_file("app/dashboard.py", default_timeout=120)
    for key, value in query.items():
        app.query_params[key] = value
    app.switch_page(f"screens/{screen}.py") if screen != "overview" else None
    app.run()
    assert not app.exception, app.exception
    return app

runs = opened("more.duckdb", "runs", order="turn-output")
runs.multiselect(key="columns").set_value(["title", "output_per_turn", "run_id"]).run()
run_id = runs.dataframe[0].value["run_id"].iloc[0]
print(json.dumps({
    "grid": json.loads(runs.dataframe[0].proto.columns)["output_per_turn"],
    "sorted": list(runs.dataframe[0].value["output_per_turn"]),
    "page": [one.proto.body for one in opened("more.duckdb", "run", run=run_id).get("html")],
    "overview": " ".join(one.proto.body for one in opened("samples.duckdb", "overview").get("html")),
}))
"""  # noqa: E501


class House(NamedTuple):
    """A copy of the project, and what each of its commands printed."""

    copy: Copy
    printed: Mapping[str, str]

    def rows(self, command: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.printed[command])
        return found


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """All commands run in one process: to import all of a copy takes longer than they do."""
    copy = Copy(tmp_path_factory.mktemp("house"))
    for recipe in RECIPES:
        copy.apply(recipe)
    copy.python("-m", "ingest.store.ddl")
    record = {
        "acme_run": "a1",
        "ok": True,
        "usd": "0.5",
        "seconds": 12.5,
        "summary": "Parsing is 2x faster.",
        "mood": "fine",
    }
    denied = [
        {"tool_name": "Bash", "tool_use_id": f"t{number}", "tool_input": {}} for number in range(3)
    ]
    failed = (
        next(SAMPLES.glob("002*"))
        .read_text()
        .replace('"is_error":false', '"is_error":true')
        .replace('"uuid":"', '"uuid":"0')
    )
    files = {
        "acme.jsonl": "\n".join(
            json.dumps(line) for line in (record, {"acme_run": "a2", "seconds": "soon"})
        ),
        "acme.json": '{"acme_bench": "sort", "ms": [2.0, 4.0, 9.0]}',
        "denied.json": record_text(permission_denials=denied),
        "failed.json": failed,
        "texts.jsonl": MEMORY,
    }
    for name, text in files.items():
        (copy.folder / name).write_text(text)
    commands = {
        "ingest acme": ("ingest", "acme.jsonl", "--json", "--db", "acme.duckdb"),
        "runs of acme": ("runs", *JSON, "--db", "acme.duckdb"),
        "rebuild": ("rebuild", "--db", "acme.duckdb"),
        "runs after it": ("runs", *JSON, "--db", "acme.duckdb"),
        "ingest others": ("ingest", "acme.json", "denied.json", "--db", "others.duckdb"),
        "measurements": ("measurements", *JSON, "--db", "others.duckdb"),
        "findings": ("findings", "--rule", "many_denials", *JSON, "--db", "others.duckdb"),
        "claims": ("claims", "extract", "texts.jsonl"),
        "ingest": ("ingest", SAMPLES, "--db", "samples.duckdb"),
        "help": ("report", "--help"),
        "runs": ("runs", *JSON, "--db", "samples.duckdb"),
        "runs as YAML": ("runs", "-o", "runs.yaml", "--db", "samples.duckdb"),
        "report as YAML": ("report", "--by", "model", "--format", "yaml", "--db", "samples.duckdb"),
        "groups": (
            "report",
            "--by",
            "model",
            "--metrics",
            "turns_max",
            "--brief",
            *JSON,
            "--db",
            "samples.duckdb",
        ),
        "ingest more": ("ingest", SAMPLES, "failed.json", "--db", "more.duckdb"),
        "table": ("runs", "--format", "md", "--db", "more.duckdb"),
        "csv": ("runs", "--format", "csv", "--db", "more.duckdb"),
        "workbook": ("runs", "-o", "runs.xlsx", "--db", "more.duckdb"),
        "median": (
            "report",
            "--metrics",
            "output_per_turn_median",
            "--format",
            "jsonl",
            "--db",
            "more.duckdb",
        ),
        "all metrics": ("report", "--all", "--db", "more.duckdb"),
    }
    return House(copy, dict(zip(commands, copy.tachograph_each(*commands.values()), strict=True)))


@pytest.fixture(scope="module")
def screens(house: House) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(house.copy.python("-c", SCREENS).splitlines()[-1])
    return told


def test_every_recipe_has_a_test() -> None:
    assert RECIPES.keys() == {
        "An agent",
        "A measuring tool",
        "A chart",
        "An export",
        "A finding",
        "A claim rule",
        "A figure of a run",
        "A figure of a group",
    }


def test_an_agent(house: House) -> None:
    counts = json.loads(house.printed["ingest acme"])
    assert (counts["accepted"], counts["rejected"], counts["ignored"]) == (1, 1, 0)
    [run] = house.rows("runs of acme")
    assert {
        name: run[name]
        for name in ("run_id", "agent", "outcome", "cost_own_usd", "duration_ms", "claimed_speedup")
    } == {
        "run_id": "a1",
        "agent": "acme",
        "outcome": "completed",
        "cost_own_usd": 0.5,
        "duration_ms": 12_500,
        "claimed_speedup": 2,
    }
    assert house.rows("runs after it") == [run]


def test_a_measuring_tool(house: House) -> None:
    [row] = house.rows("measurements")
    assert {
        name: row[name]
        for name in "format benchmark metric statistic value unit better n samples".split()
    } == {
        "format": "acme-bench",
        "benchmark": "sort",
        "metric": "time",
        "statistic": "median",
        "value": 4.0,
        "unit": "ms",
        "better": "lower",
        "n": 3,
        "samples": [2.0, 4.0, 9.0],
    }


def test_a_chart(screens: dict[str, Any]) -> None:
    assert "More output costs more" in screens["overview"]
    assert "$2.83" in screens["overview"], "the others are still there"


def test_an_export(house: House) -> None:
    assert "|yaml|" in house.printed["help"].replace("\n", "").replace(" ", "")
    rows = [
        json.loads(line.removeprefix("- "))
        for line in (house.copy.folder / "runs.yaml").read_text().splitlines()
    ]
    assert rows == house.rows("runs")
    assert house.printed["report as YAML"].startswith('- {"model": ')


def test_a_finding(house: House) -> None:
    [found] = house.rows("findings")
    assert (found["severity"], found["message"], found["actual"]) == (
        "info",
        "3 tool calls were denied permission.",
        "3",
    )


def test_a_claim_rule(house: House) -> None:
    before = json.loads(CliRunner().invoke(cli, ["claims", "extract", "-"], input=MEMORY).stdout)
    after = json.loads(house.printed["claims"])
    assert (before["claims"], [(claim["metric"], claim["ratio"]) for claim in after["claims"]]) == (
        [],
        [("memory", 2)],
    )


def test_a_figure_of_a_group(house: House) -> None:
    assert "turns_max" in house.printed["help"]
    assert [group["turns_max"] for group in house.rows("groups")] == [
        max(run["num_turns"] for run in house.rows("runs"))
    ]


def test_a_figure_of_a_run_is_one_entry_for_the_view_commands_and_exports(house: House) -> None:
    with duckdb.connect(str(house.copy.folder / "more.duckdb"), read_only=True) as connection:
        [(total, of_columns)] = connection.execute(
            "select sum(output_per_turn), sum(output_tokens / num_turns) from v_runs"
        ).fetchall()
        meanings = connection.execute(
            "select meaning from v_columns where column_name = 'output_per_turn'"
        ).fetchall()
    assert total == of_columns > 0
    assert meanings == [(MEANING,)]
    assert LABEL in " ".join(house.printed["table"].splitlines()[0].split())
    rows = [*csv.DictReader(io.StringIO(house.printed["csv"]))]
    assert float(rows[0]["output_per_turn"]) == int(rows[0]["output_tokens"]) / int(
        rows[0]["num_turns"]
    )
    sheet = openpyxl.load_workbook(house.copy.folder / "runs.xlsx").worksheets[0]
    header = {cell.value: cell.column for cell in sheet[1]}
    assert sheet.cell(2, header[LABEL]).number_format == "#,##0"
    row = json.loads(house.printed["median"])
    values = sorted(float(run["output_per_turn"]) for run in rows)
    assert row["output_per_turn_median"] == pytest.approx((values[1] + values[2]) / 2)
    assert f"{LABEL} per run (p50)" in house.printed["all metrics"]
    assert "output_per_turn_median" in house.printed["help"]


def test_a_figure_of_a_run_is_one_entry_for_the_screens(screens: dict[str, Any]) -> None:
    """The grid of runs and its order, and the run's own page."""
    assert (screens["grid"]["label"], screens["grid"]["help"]) == (HEADER, MEANING)
    assert screens["sorted"] == sorted(screens["sorted"], reverse=True)
    assert any(
        f'<dt title="{MEANING}"' in text and f">{LABEL}</dt>" in text for text in screens["page"]
    )


def test_the_page_names_files_that_are_there() -> None:
    """A file is named whole, or by its name alone beside another of its folder."""
    for line in TEXT.partition("## How to add")[0].splitlines():
        folder = ROOT
        for name in re.findall(r"`([\w./]+\.(?:py|sql))`", line):
            folder = (ROOT / name).parent if "/" in name else folder
            assert (folder / Path(name).name).exists(), name
