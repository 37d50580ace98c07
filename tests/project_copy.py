"""A copy of the project that the recipes of docs/architecture.md change."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.architecture_picture import PAGE, ROOMS, ROOT
from tests.conftest import environment

PATIENCE_SECONDS = 120
TEXT = PAGE.read_text()
RECIPES = dict(re.findall(r"^### (.*?)\n(.*?)(?=^##|\Z)", TEXT, re.DOTALL | re.MULTILINE))
BLOCK = re.compile(
    r"^```(?:python|toml)\n# (?P<file>\S+?)(?:, in (?P<list>[\w.]+))?\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


EACH = """
import json, sys
from click.testing import CliRunner
from app.cli.main import cli
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, (words, done.output, done.exception)
    print(json.dumps(done.stdout))
"""
"""Runs commands one after the other, and prints what each prints as a line of JSON."""

JSON = ("--format", "json")


class Copy:
    """A copy of the project's packages, changed by recipes.

    What Python has compiled comes along: else the first command compiles all of it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for room in ROOMS:
            shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("pictures"))

    def apply(self, recipe: str) -> None:
        """Do what the recipe says."""
        blocks = list(BLOCK.finditer(RECIPES[recipe]))
        assert blocks
        for block in blocks:
            file = self.folder / block["file"]
            text = file.read_text() if file.exists() else ""
            file.write_text(
                _in_list(text, block["list"], block["code"])
                if block["list"]
                else f"{text}\n\n{block['code']}".lstrip()
            )

    def python(self, *arguments: str | Path) -> str:
        """What Python prints with the copy in front of everything installed."""
        variables = environment(PYTHONPATH=str(self.folder), COLUMNS="400")
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tachograph_each(self, *commands: Sequence[str | Path]) -> list[str]:
        """What each of several commands prints.

        All run in one process: to start one takes longer than most commands.
        """
        printed = self.python(
            "-c", EACH, json.dumps([[str(word) for word in words] for words in commands])
        )
        return [json.loads(line) for line in printed.splitlines()]


def _in_list(text: str, name: str, entry: str) -> str:
    """The text with an entry at the beginning of a list, or of what is imported from a module."""
    opening = re.search(
        rf"^({name}(: .*)? = (\[|by_key\(|{{|\()|from {name} import \()\n", text, re.MULTILINE
    )
    assert opening, name
    return text[: opening.end()] + entry + text[opening.end() :]
