"""The recipes of docs/architecture.md work as they are written: each is applied to a copy of the project, which then has the new thing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture_picture import PAGE, ROOMS, ROOT
from tests.conftest import SAMPLES, environment, record_text

pytestmark = pytest.mark.slow

PATIENCE_SECONDS = 120
TEXT = PAGE.read_text()
RECIPES = dict(re.findall(r"^### (.*?)\n(.*?)(?=^##|\Z)", TEXT, re.DOTALL | re.MULTILINE))
BLOCK = re.compile(r"^```(?:python|toml)\n# (?P<file>\S+?)(?:, in (?P<list>\w+))?\n(?P<code>.*?)^```", re.DOTALL | re.MULTILINE)
OVERVIEW = """
from streamlit.testing.v1 import AppTest
import app
app = AppTest.from_file(app.__path__[0] + "/dashboard.py", default_timeout=120).run()
print(*(heading.value for heading in app.header), *(error.value for error in app.exception), sep="\\n")
"""


class Copy:
    """A copy of the project's packages, changed by recipes; its commands run on a store of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for room in ROOMS:
            shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__", "pictures"))

    def apply(self, recipe: str) -> None:
        """Do what the recipe says."""
        blocks = list(BLOCK.finditer(RECIPES[recipe]))
        assert blocks
        for block in blocks:
            file = self.folder / block["file"]
            text = file.read_text() if file.exists() else ""
            file.write_text(_in_list(text, block["list"], block["code"]) if block["list"] else f"{text}\n\n{block['code']}".lstrip())

    def python(self, *arguments: str | Path) -> str:
        """What Python prints with the copy in front of everything installed."""
        variables = environment(PYTHONPATH=str(self.folder), TACHOGRAPH_DB=str(self.folder / "runs.duckdb"))
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(
            command, cwd=self.folder, env=variables, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tachograph(self, *arguments: str | Path) -> str:
        """What the command prints."""
        return self.python("-m", "app.cli.main", *arguments)

    def rows(self, *arguments: str) -> list[dict[str, object]]:
        """The rows that a command answers with."""
        found: list[dict[str, object]] = json.loads(self.tachograph(*arguments, "--format", "json"))
        return found


def _in_list(text: str, name: str, entry: str) -> str:
    """The text with an entry at the beginning of a list that opens on a line of its own."""
    opening = re.search(rf"^{name} = \[\n", text, re.MULTILINE)
    assert opening, name
    return text[: opening.end()] + entry + text[opening.end() :]


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_every_recipe_has_a_test() -> None:
    tested = {"A format", "A chart", "An export", "A finding", "A claim rule", "A figure"}
    assert RECIPES.keys() == tested


def test_a_format(copy: Copy) -> None:
    copy.apply("A format")
    record = {"acme_run": "a1", "ok": True, "usd": "0.5", "seconds": 12.5, "summary": "Parsing is 2x faster.", "mood": "fine"}
    log = copy.folder / "acme.jsonl"
    log.write_text("\n".join(json.dumps(line) for line in (record, {"acme_run": "a2", "seconds": "soon"})))
    counts = json.loads(copy.tachograph("ingest", log, "--json"))
    assert (counts["accepted"], counts["rejected"], counts["ignored"]) == (1, 1, 0)
    [run] = copy.rows("runs")
    assert {name: run[name] for name in ("run_id", "agent", "outcome", "cost_own_usd", "duration_ms", "claimed_speedup")} == {
        "run_id": "a1", "agent": "acme", "outcome": "completed", "cost_own_usd": 0.5, "duration_ms": 12_500, "claimed_speedup": 2,
    }  # fmt: skip
    copy.tachograph("rebuild")
    assert copy.rows("runs") == [run]


def test_a_chart(copy: Copy) -> None:
    copy.apply("A chart")
    copy.tachograph("ingest", SAMPLES)
    shown = copy.python("-c", OVERVIEW).splitlines()
    assert "Output tokens and reported cost" in shown, shown
    assert "API calls took 1.23× the wall time" in shown, "the others are still there"


def test_an_export(copy: Copy) -> None:
    copy.apply("An export")
    copy.tachograph("ingest", SAMPLES)
    assert "|tsv]" in copy.tachograph("report", "--help").replace("\n", "").replace(" ", "")
    copy.tachograph("runs", "-o", "runs.tsv")
    header, *rows = [line.split("\t") for line in (copy.folder / "runs.tsv").read_text().splitlines()]
    assert {row[header.index("run_id")].strip('"') for row in rows} == {row["run_id"] for row in copy.rows("runs")}
    assert copy.tachograph("report", "--by", "model", "--format", "tsv").startswith("model\truns\t")


def test_a_finding(copy: Copy) -> None:
    copy.apply("A finding")
    denied = [{"tool_name": "Bash", "tool_use_id": f"t{number}", "tool_input": {}} for number in range(3)]
    (copy.folder / "run.json").write_text(record_text(permission_denials=denied))
    copy.tachograph("ingest", copy.folder / "run.json")
    [found] = copy.rows("findings", "--rule", "many_denials")
    assert (found["severity"], found["message"], found["actual"]) == ("info", "3 tool calls were denied permission.", "3")


def test_a_claim_rule(copy: Copy) -> None:
    texts = copy.folder / "texts.jsonl"
    texts.write_text(json.dumps({"id": 1, "text": "Vmsize: 200 -> 100"}))
    before = json.loads(copy.tachograph("claims", "extract", texts))
    copy.apply("A claim rule")
    after = json.loads(copy.tachograph("claims", "extract", texts))
    assert (before["claims"], [(claim["metric"], claim["ratio"]) for claim in after["claims"]]) == ([], [("memory", 2)])


def test_the_page_names_files_that_are_there() -> None:
    """A file is named whole, or by its name alone beside another of its folder."""
    for line in TEXT.partition("## How to add")[0].splitlines():
        folder = ROOT
        for name in re.findall(r"`([\w./]+\.(?:py|sql))`", line):
            folder = (ROOT / name).parent if "/" in name else folder
            assert (folder / Path(name).name).exists(), name
