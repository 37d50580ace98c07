"""What is written down is what the program does: the README's commands run, its lists are whole."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import duckdb
import pytest

from app.cli.main import cli
from app.queries.filters import FILTERS
from schemas.errors import ExitCode
from tests.conftest import ROOT, SAMPLES, Run

README = (ROOT / "README.md").read_text()
COMMANDS = cli.list_commands(click.Context(cli))
BLOCKS = re.findall(r"^```\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
LINES = [line.partition("#")[0].strip() for block in BLOCKS for line in block.splitlines() if line.startswith("tachograph ")]
FIRST_LINES = {line.split()[1]: line for line in reversed(LINES)}.values()
"""One of each command, which starts with nothing imported, as it does for its users."""
SERVES = ("dashboard",)


def test_the_readme_opens_with_the_two_commands() -> None:
    assert [line.split()[:2] for line in BLOCKS[0].splitlines()] == [["make", "run"], ["make", "test"]]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_stands_in_the_readme_and_helps_with_an_example(command: str) -> None:
    assert re.search(rf"^\| `tachograph {command}\b", README, re.MULTILINE)
    assert cli.commands[command].help
    assert f"tachograph {command}" in str(cli.commands[command].epilog)


@pytest.mark.parametrize("line", [line for line in LINES if line.split()[1] not in SERVES])
def test_the_readmes_commands_run(line: str, tachograph: Run, samples_read: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "logs").symlink_to(SAMPLES)
    shutil.copy(samples_read(), tmp_path)
    done = tachograph(*shlex.split(line)[1:], fresh=line in FIRST_LINES)
    assert (done.returncode, "Error" in done.stderr) == (0, False), done.stderr


def test_the_readme_names_every_filter_and_exit_code() -> None:
    assert not [key for key in FILTERS if f"--{key}" not in README]
    listed = re.search(r"Exit codes: (.*?)\.\n", README, re.DOTALL)
    assert listed
    assert re.findall(r"\b(\d) ", listed[1]) == [str(int(code)) for code in ExitCode]


def test_the_readmes_pictures_are_there_light_and_told_in_words() -> None:
    pictures = re.findall(r'<img src="(.*?)" width="49%" alt="(.{40,})">', README)
    assert len(pictures) == README.count("<img ") == 4
    assert sum((ROOT / file).stat().st_size for file, _ in pictures) < 1_000_000


def test_the_readmes_sql_runs(tachograph: Run, tmp_path: Path) -> None:
    tachograph("ingest", SAMPLES)
    [sql] = re.findall(r"^```sql\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    attach, query = sql.strip().split("\n", 1)
    with duckdb.connect() as connection:
        connection.execute(attach.replace("'tachograph.duckdb'", f"'{tmp_path / 'tachograph.duckdb'}'"))
        [(model, runs, usd)] = connection.execute(query).fetchall()
    assert (model, runs, str(usd)) == ("claude-sonnet-4-5", 3, "2.825104150")
