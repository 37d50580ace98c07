"""The other tests of attacks in this folder as lines of the table, such as foreign hosts and origins, framing, uploads without rights."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

from tests.attack.lab import Lab
from tests.attack.tally import Failure
from tests.conftest import ROOT

HERE = Path(__file__).parent
_SMALL = ("kills", "workers", "disk_full", "writers", "hostile_pages", "inputs", "broken_logs", "hashes", "table")
OURS = {f"test_{name}.py" for name in _SMALL}
"""Small versions of what the table has at full size, and tests of the harness itself."""


def attack(lab: Lab) -> None:
    """Run each file of tests; an attempt is a test."""
    for file in sorted(HERE.glob("test_*.py")):
        if file.name not in OURS:
            _run(lab, file)


def _run(lab: Lab, file: Path) -> None:
    subject = (ast.get_docstring(ast.parse(file.read_text())) or file.stem).splitlines()[0]
    tally = lab.tally(f"{file.relative_to(ROOT)}", subject)
    tally.folder.mkdir(parents=True)
    told, started = tally.folder / "results.xml", time.monotonic()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(file),
        f"--junitxml={told}",
        f"--basetemp={tally.folder / 'tmp'}",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    tally.seconds = time.monotonic() - started
    if not told.exists():
        tally.failures.append(Failure(tally.attack, done.stdout[-2000:] + done.stderr[-2000:], " ".join(command), tally.folder))
        return
    for case in ElementTree.parse(told).iter("testcase"):
        if case.find("skipped") is None:
            tally.attempts += 1
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failures.append(Failure(tally.attack, case.get("name", ""), f"pytest {file} -k {case.get('name')}", tally.folder))
