"""Which tests a run takes: each slow one in one quarter, the same for a commit, and those of changed files always."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import quarters
from tests.conftest import ROOT
from tests.quarters import QUARTERS, Choice

TESTS = [f"tests/test_{file}.py::test_that[{case}]" for file in ("undo", "reports") for case in range(400)]


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    dates = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}  # so that hashes are always the same
    command = ["git", *settings, *arguments]
    return subprocess.run(command, cwd=folder, env=os.environ | dates, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, **files: str) -> str:
    """Write the files as tests, commit them, and return the hash."""
    (folder / "tests").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "tests" / f"{name}.py").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-m", "changed")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    git(tmp_path, "init")
    commit(tmp_path, test_a="", test_b="")
    return tmp_path


def test_each_test_is_in_one_quarter_and_quarters_are_alike_in_size() -> None:
    taken = [[test for test in TESTS if Choice(quarter).takes(test)] for quarter in range(1, QUARTERS + 1)]
    assert sorted(test for quarter in taken for test in quarter) == sorted(TESTS)
    assert min(map(len, taken)) > len(TESTS) / QUARTERS / 1.5
    assert all(Choice(None).takes(test) for test in TESTS)


@pytest.mark.slow
def test_a_commit_always_has_the_same_quarter_and_others_have_others(tree: Path) -> None:
    found = set()
    for number in range(8):
        hashed = commit(tree, test_a=str(number))
        chosen = quarters.of_tree(tree)
        assert chosen == quarters.of_tree(tree)
        assert chosen.quarter == 1 + int(hashed, 16) % QUARTERS
        found.add(chosen.quarter)
    assert len(found) > 1


def test_changed_files_run_whole_committed_or_not(tree: Path) -> None:
    commit(tree, test_a="changed")
    assert quarters.of_tree(tree).changed == ["tests/test_a.py"]
    (tree / "tests" / "test_b.py").write_text("changed")
    (tree / "tests" / "test_c.py").write_text("new")
    (tree / "other.py").write_text("no test")
    chosen = quarters.of_tree(tree)
    assert chosen.changed == ["tests/test_a.py", "tests/test_b.py", "tests/test_c.py"]
    assert all(chosen.takes(f"tests/test_b.py::test_{number}") for number in range(20))


def test_without_git_there_is_a_quarter_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert quarters.of_tree(tmp_path).quarter in range(1, QUARTERS + 1)


NAMED = "tests/attack/test_hashes.py"


def run_named(*options: str) -> list[str]:
    """The ids of the tests of NAMED that pass."""
    command = [sys.executable, "-m", "pytest", "-rp", "-p", "no:cacheprovider", NAMED, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return re.findall(r"^PASSED (\S+)", done.stdout, re.MULTILINE)


@pytest.mark.slow
def test_what_is_named_runs_whole_and_workers_take_the_same_quarter() -> None:
    everything = run_named()
    asked = Choice(quarter=quarters.quarter_of(everything[0]))
    expected = [test for test in everything if asked.takes(test)]
    assert len(expected) < len(everything)
    assert sorted(run_named(f"--quarter={asked.quarter}", "-n", "2")) == sorted(expected)
