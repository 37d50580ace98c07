"""Tests as lines of the table, at full size.

The other attacks of this folder, such as foreign origins, and laws on whole stores.

All run with `--hypothesis-profile=thorough`: every case of which the suite runs a share
(`tests.examples`), and ten times as many examples.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

from tests.attack.lab import Failure, Lab
from tests.conftest import ROOT

HERE = Path(__file__).parent
_SMALL = ("attacks", "hostile_pages")
OURS = {f"test_{name}.py" for name in _SMALL}
"""Small versions of what the table has at full size."""


_LAWS = (
    "borrowed_texts",
    "bulkheads",
    "chains",
    "claude_streams",
    "docs",
    "growing_transcripts",
    "no_text",
    "orders_of_logs",
    "pipeline",
    "response_prices",
    "sessions_across_files",
    "textless_exports",
    "undo",
    "usage",
    "verdicts",
)
LAWS = tuple(HERE.parent / f"test_{name}.py" for name in _LAWS)
"""Tests outside of this folder whose examples take a second each: the suite has time for some of
them.
"""

FULL_SIZE = {"TACHOGRAPH_ATTACK_FILES": "10000"}
"""Variables without which a test is left out, or small, in the suite."""


def attack(lab: Lab) -> None:
    """Run each file of tests of this folder that the table has not at full size.

    An attempt is a test.
    """
    for file in sorted(HERE.glob("test_*.py")):
        if file.name not in OURS:
            _run(lab, file)


def attack_laws(lab: Lab) -> None:
    """Run each file of LAWS; an attempt is a test."""
    for file in LAWS:
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
        "--hypothesis-profile=thorough",
        str(file),
        f"--junitxml={told}",
        f"--basetemp={tally.folder / 'tmp'}",
    ]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | FULL_SIZE, capture_output=True, text=True, check=False
    )
    tally.seconds = time.monotonic() - started
    if not told.exists():
        tally.failures.append(
            Failure(
                tally.attack,
                done.stdout[-2000:] + done.stderr[-2000:],
                " ".join(command),
                tally.folder,
            )
        )
        return
    for case in ElementTree.parse(told).iter("testcase"):
        if case.find("skipped") is None:
            tally.attempts += 1
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failures.append(
                Failure(
                    tally.attack,
                    case.get("name", ""),
                    f"pytest {file} -k {case.get('name')}",
                    tally.folder,
                )
            )
