"""What is written down is what the program does.

The commands of the README and of docs/ run, their lists are whole.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from statistics import fmean, stdev

import duckdb
import pytest
import yaml

from app.cli.main import COMMANDS, load
from app.cli.options import OUTPUT_FORMATS
from app.queries.filters import FILTERS
from ingest.context.small_files import MEASURE_FILE
from ingest.measurements.given import KEYS, SaidBeside, parse_given
from ingest.measurements.tools import TOOLS
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from schemas.catalogue.metrics import LIMITS
from schemas.claims import Evidence, Scope
from schemas.errors import ExitCode, RejectReason
from schemas.rows.run import RecordKind, TokensBasis
from tests import agents_table, claude_lines, conftest
from tests.conftest import ROOT, SAMPLES, Run, StoreOnce, ingest_paths
from tests.documents import lines
from tests.examples import a_share

README = (ROOT / "README.md").read_text()
PAGES = {
    path.name: path.read_text()
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
BLOCKS = {
    page: re.findall(r"^```(?:bash)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    for page, text in PAGES.items()
}
LINES = [
    (page, line.partition(" #")[0].strip())
    for page, blocks in BLOCKS.items()
    for block in blocks
    for line in block.splitlines()
    if line.startswith("tachograph ")
]
FIRST_LINES = tuple({line.split()[1]: (page, line) for page, line in reversed(LINES)}.values())
FRESH = a_share(FIRST_LINES, 8)
"""Of the first line of each command some, which start with nothing imported, as they do for users:
each takes a second longer.
"""
SERVES = ("dashboard", "watch", "measure")
AGENTS_STARTED = ("claude", "codex")


def timed(*seconds: float) -> str:
    """What hyperfine writes of a command that took so long."""
    result = {
        "command": "python -c 'import vllm'",
        "mean": fmean(seconds),
        "stddev": stdev(seconds),
        "times": seconds,
    }
    return json.dumps({"results": [result]})


RESULTS = {
    "results.csv": "agent,model,usd\ncodex,gpt-5,0.25\ncodex,gpt-5,0.5\n",
    "before.json": timed(2.41, 2.45, 2.39),
    "after.json": timed(1.98, 2.01, 1.97),
    "autoresearch.jsonl": "\n".join(
        json.dumps(line)
        for line in (
            {
                "type": "config",
                "name": "Faster product search",
                "metricName": "time_ms",
                "bestDirection": "lower",
            },
            *(
                {
                    "run": number,
                    "metric": 99 - number,
                    "status": "keep",
                    "description": f"Idea {number}",
                }
                for number in range(1, 5)
            ),
        )
    ),
    "labels.csv": (
        "repo,commit,agent,hard,target\nvllm,0f1e2d3c,codex,beats,same_target\nvllm,1a2b3c4d,"
        "codex,worse,different_target\n"
    ),
}
"""Files that commands of the page on measured results name."""


@pytest.fixture(scope="module")
def one_measured(store_once: StoreOnce) -> Store:
    """A store of the three sample runs, one of them measured, and a run of another model.

    To be copied.
    """

    def fill(store: Store) -> None:
        ingest_paths(store, SAMPLES)
        ingest([Source("another.json", conftest.record_text().encode())], store)
        for name, said in (
            ("before.json", "variant=baseline"),
            ("after.json", "variant=candidate,run=5e0c031e"),
        ):
            file = Path(store.location).with_name(name)
            file.write_text(RESULTS[name])
            ingest(read_paths([file]), store, Options(measure=parse_given([said, "scope=micro"])))
        ingest([Source("autoresearch.jsonl", RESULTS["autoresearch.jsonl"].encode())], store)

    return store_once("one-measured", fill)


def test_the_readme_opens_with_the_two_commands() -> None:
    assert [line.split()[:2] for line in BLOCKS["README.md"][0].splitlines()] == [
        ["make", "run"],
        ["make", "test"],
    ]


def test_the_readme_is_one_page_and_leads_to_the_others() -> None:
    assert len(README.splitlines()) <= 75, "a page"
    assert not [page for page in PAGES if page != "README.md" and f"](docs/{page})" not in README]


@pytest.mark.parametrize("page", PAGES)
def test_links_to_files_lead_somewhere(page: str) -> None:
    folder = ROOT if page == "README.md" else ROOT / "docs"
    links = {
        link.partition("#")[0] for link in re.findall(r"\]\((?!https?:|#)(.*?)\)", PAGES[page])
    }
    assert not [link for link in links if not (folder / link).exists()]


@pytest.mark.parametrize("closed", [RejectReason, Evidence, Scope, RecordKind, TokensBasis])
def test_the_page_of_words_has_every_word_of_a_closed_list(closed: type[StrEnum]) -> None:
    """A reader meets them in tables and exports before any page explains them."""
    assert not [word for word in closed if f"`{word}`" not in PAGES["words.md"]]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_on_the_page_of_commands_and_helps_with_an_example(command: str) -> None:
    assert re.search(rf"^\| `tachograph {command}\b", PAGES["commands.md"], re.MULTILINE)
    summary = str(load(command).help).partition("\n\n")[0].replace("\n", " ")
    assert summary == COMMANDS[command][1], "the list of commands has another summary"
    assert f"tachograph {command}" in str(load(command).epilog)


@pytest.mark.parametrize(
    ("line", "page"),
    {line: page for page, line in reversed(LINES) if line.split()[1] not in SERVES}.items(),
)
def test_the_commands_of_every_page_run(
    page: str,
    line: str,
    tachograph: Run,
    one_measured: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "logs").symlink_to(SAMPLES)
    shutil.copy(one_measured.location, tmp_path)
    for name, text in RESULTS.items():
        (tmp_path / name).write_text(text)
    sessions = tmp_path / conftest.SESSIONS / "projects"
    sessions.mkdir(parents=True)
    (sessions / f"{claude_lines.SESSION}.jsonl").write_text(lines(*claude_lines.SESSION_LOG))
    if " landed " in line:
        for words in ("init -q -b main .", "commit -q --allow-empty -m first"):
            settings = ("-c", "user.name=a", "-c", "user.email=a@b.c")
            subprocess.run(["git", *settings, *words.split()], cwd=tmp_path, check=True)
        (tmp_path / "widget").symlink_to(".")
    if " -- " in line:
        monkeypatch.setenv("PATH", f"{programs(tmp_path / 'bin')}:{os.environ['PATH']}")
    done = tachograph(*shlex.split(line)[1:], fresh=(page, line) in FRESH)
    assert (done.returncode, "Error" in done.stderr) == (0, False), f"{page}: {done.stderr}"


def programs(folder: Path) -> Path:
    """The agents that commands start, which print a record and do nothing."""
    folder.mkdir()
    for name in AGENTS_STARTED:
        (folder / name).write_text(f"#!/bin/sh\ncat <<'END'\n{conftest.record_text()}\nEND\n")
        (folder / name).chmod(0o755)
    return folder


def test_the_page_on_ci_names_every_input_of_the_action() -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    [rows] = re.findall(r"<!-- inputs -->\n(.*?)<!-- /inputs -->", PAGES["ci.md"], re.DOTALL)
    assert re.findall(r"^\| `(.*?)`", rows, re.MULTILINE) == list(inputs)


@pytest.mark.parametrize("line", sorted({line for _, line in LINES if line.split()[1] in SERVES}))
def test_the_commands_that_serve_have_options_that_exist(line: str) -> None:
    """Commands that serve would not end, so only their options are read.

    The rest is tested with the server and the watcher.
    """
    words = shlex.split(line)[1:]
    load(words[0]).make_context(words[0], words[1:])


def test_the_page_of_commands_names_every_filter_and_exit_code() -> None:
    assert not [key for key in FILTERS if f"--{key}" not in PAGES["commands.md"]]
    listed = re.search(r"Exit codes: (.*?)\.\n", PAGES["commands.md"], re.DOTALL)
    assert listed
    assert re.findall(r"(?:^|, )(\d+) ", listed[1].replace("\n", " ")) == [
        str(int(code)) for code in ExitCode
    ]


def test_the_pages_name_every_format_and_limit() -> None:
    assert not [name for name in OUTPUT_FORMATS if f"`{name}`" not in PAGES["reports.md"]]
    assert not [key for key in LIMITS if f"`--{key}`" not in PAGES["budgets.md"]]


def test_the_version_is_one_everywhere() -> None:
    """Breaks if a release forgets the changelog, or a page installs an older wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    [newest, *_] = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    named = re.compile(r"tachograph(?:-|@v)(\d+\.\d+\.\d+)")
    assert {newest, *(one for page in PAGES.values() for one in named.findall(page))} == {project}


def test_the_readmes_pictures_are_there_light_and_told_in_words() -> None:
    pictures = re.findall(r'<img src="(.*?)" width="100%" alt="(.{40,})">', README)
    assert len(pictures) == README.count("<img ") == 1
    assert sum((ROOT / file).stat().st_size for file, _ in pictures) < 1_000_000


def test_the_sql_of_the_docs_runs(tachograph: Run, tmp_path: Path) -> None:
    tachograph("ingest", SAMPLES)
    [sql] = re.findall(r"^```sql\n(.*?)^```", PAGES["guarantees.md"], re.DOTALL | re.MULTILINE)
    attach, query = sql.strip().split("\n", 1)
    with duckdb.connect() as connection:
        connection.execute(
            attach.replace("'tachograph.duckdb'", f"'{tmp_path / 'tachograph.duckdb'}'")
        )
        [(model, runs, usd)] = connection.execute(query).fetchall()
    assert (model, runs, str(usd)) == ("claude-sonnet-4-5", 3, "2.825104150")


def test_the_table_of_agents_is_that_of_the_list() -> None:
    assert agents_table.written(PAGES["inputs.md"]) == PAGES["inputs.md"], (
        "write it anew: python -m tests.agents_table --write"
    )


def quoted(name: str) -> list[str]:
    """The code words in a named table on the page on measured results.

    They are in its first or last column.
    """
    [rows] = re.findall(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", PAGES["measured.md"], re.DOTALL)
    cells = [line.strip("|").split("|") for line in rows.splitlines()[2:]]
    return [
        word
        for line in cells
        for word in re.findall(r"`([^`]+)`", line[-1] if name == "measurements" else line[0])
    ]


def test_the_page_on_measured_results_names_every_tool_and_key() -> None:
    assert sorted(quoted("measurements")) == sorted(tool.name for tool in TOOLS), (
        "every tool has a row in docs/measured.md"
    )
    assert sorted(quoted("measure-keys")) == sorted(KEYS)


def test_the_example_of_measured_results_is_measured_faster(
    tachograph: Run, samples_read: Callable[..., Path], tmp_path: Path
) -> None:
    """Mean time before, divided by that after."""
    shutil.copy(samples_read(), tmp_path)
    for name in ("before.json", "after.json"):
        (tmp_path / name).write_text(RESULTS[name])
    for page, line in LINES:
        if page == "measured.md" and line.startswith("tachograph ingest") and ",task=" in line:
            tachograph(*shlex.split(line)[1:])
    [verdict] = json.loads(tachograph("verdicts --format json").stdout)
    assert (verdict["verdict"], round(verdict["measured_speedup"], 4)) == (
        "faster",
        round(7.25 / 5.96, 4),
    )


def test_the_example_of_a_measure_file_makes_sense(tmp_path: Path) -> None:
    [text] = re.findall(r"^```toml\n(.*?)^```", PAGES["measured.md"], re.DOTALL | re.MULTILINE)
    (tmp_path / MEASURE_FILE).write_text(text)
    assert SaidBeside().of(tmp_path / "after-2.json") == {
        "task": "startup",
        "variant": "candidate",
        "run": "5e0c031e",
    }
