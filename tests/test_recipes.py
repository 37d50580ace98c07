"""The recipes of docs/architecture.md work as they are written: each is applied to a copy of the project, which then has the new thing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from tests.conftest import ROOT, SAMPLES, record_text
from tests.project_copy import JSON, RECIPES, TEXT, Copy

pytestmark = pytest.mark.slow

OVERVIEW = """
from streamlit.testing.v1 import AppTest
import app
app = AppTest.from_file(app.__path__[0] + "/dashboard.py", default_timeout=120).run()
print(*(element.proto.body for element in app.get("html")), *(error.value for error in app.exception), sep="\\n")
"""


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_every_recipe_has_a_test() -> None:
    tested = {
        "An agent",
        "A measuring tool",
        "A chart",
        "An export",
        "A finding",
        "A claim rule",
        "A figure of a run",
        "A figure of a group",
    }
    assert RECIPES.keys() == tested


def test_an_agent(copy: Copy) -> None:
    copy.apply("An agent")
    record = {"acme_run": "a1", "ok": True, "usd": "0.5", "seconds": 12.5, "summary": "Parsing is 2x faster.", "mood": "fine"}
    log = copy.folder / "acme.jsonl"
    log.write_text("\n".join(json.dumps(line) for line in (record, {"acme_run": "a2", "seconds": "soon"})))
    told, runs, _, rebuilt = copy.tachograph_each(("ingest", log, "--json"), ("runs", *JSON), ("rebuild",), ("runs", *JSON))
    counts = json.loads(told)
    assert (counts["accepted"], counts["rejected"], counts["ignored"]) == (1, 1, 0)
    [run] = json.loads(runs)
    assert {name: run[name] for name in ("run_id", "agent", "outcome", "cost_own_usd", "duration_ms", "claimed_speedup")} == {
        "run_id": "a1", "agent": "acme", "outcome": "completed", "cost_own_usd": 0.5, "duration_ms": 12_500, "claimed_speedup": 2,
    }  # fmt: skip
    assert json.loads(rebuilt) == [run]


def test_a_measuring_tool(copy: Copy) -> None:
    copy.apply("A measuring tool")
    (copy.folder / "acme.json").write_text('{"acme_bench": "sort", "ms": [2.0, 4.0, 9.0]}')
    _, listed = copy.tachograph_each(("ingest", copy.folder / "acme.json"), ("measurements", *JSON))
    [row] = json.loads(listed)
    assert {name: row[name] for name in ("format", "benchmark", "metric", "statistic", "value", "unit", "better", "n", "samples")} == {
        "format": "acme-bench", "benchmark": "sort", "metric": "time", "statistic": "median", "value": 4.0, "unit": "ms", "better": "lower",
        "n": 3, "samples": [2.0, 4.0, 9.0],
    }  # fmt: skip


def test_a_chart(copy: Copy) -> None:
    copy.apply("A chart")
    copy.tachograph("ingest", SAMPLES)
    shown = copy.python("-c", OVERVIEW)
    assert "More output costs more" in shown, shown
    assert "$2.83" in shown, "the others are still there"


def test_an_export(copy: Copy) -> None:
    copy.apply("An export")
    _, described, _, runs, report = copy.tachograph_each(
        ("ingest", SAMPLES),
        ("report", "--help"),
        ("runs", "-o", "runs.yaml"),
        ("runs", *JSON),
        ("report", "--by", "model", "--format", "yaml"),
    )
    assert "|yaml]" in described.replace("\n", "").replace(" ", "")
    rows = [json.loads(line.removeprefix("- ")) for line in (copy.folder / "runs.yaml").read_text().splitlines()]
    assert rows == json.loads(runs)
    assert report.startswith('- {"model": ')


def test_a_finding(copy: Copy) -> None:
    copy.apply("A finding")
    denied = [{"tool_name": "Bash", "tool_use_id": f"t{number}", "tool_input": {}} for number in range(3)]
    (copy.folder / "run.json").write_text(record_text(permission_denials=denied))
    _, findings = copy.tachograph_each(("ingest", copy.folder / "run.json"), ("findings", "--rule", "many_denials", *JSON))
    [found] = json.loads(findings)
    assert (found["severity"], found["message"], found["actual"]) == ("info", "3 tool calls were denied permission.", "3")


def test_a_claim_rule(copy: Copy) -> None:
    texts = copy.folder / "texts.jsonl"
    texts.write_text(json.dumps({"id": 1, "text": "Pss: 200 -> 100"}))
    before = json.loads(CliRunner().invoke(cli, ["claims", "extract", str(texts)]).stdout)
    copy.apply("A claim rule")
    after = json.loads(copy.tachograph("claims", "extract", texts))
    assert (before["claims"], [(claim["metric"], claim["ratio"]) for claim in after["claims"]]) == ([], [("memory", 2)])


def test_a_figure_of_a_group(copy: Copy) -> None:
    """A figure of a run: `tests/test_catalogue.py`."""
    copy.apply("A figure of a group")
    _, described, groups, runs = copy.tachograph_each(
        ("ingest", SAMPLES),
        ("report", "--help"),
        ("report", "--by", "model", "--metrics", "turns_max", "--brief", *JSON),
        ("runs", *JSON),
    )
    assert "turns_max" in described
    assert [group["turns_max"] for group in json.loads(groups)] == [max(run["num_turns"] for run in json.loads(runs))]


def test_the_page_names_files_that_are_there() -> None:
    """A file is named whole, or by its name alone beside another of its folder."""
    for line in TEXT.partition("## How to add")[0].splitlines():
        folder = ROOT
        for name in re.findall(r"`([\w./]+\.(?:py|sql))`", line):
            folder = (ROOT / name).parent if "/" in name else folder
            assert (folder / Path(name).name).exists(), name
