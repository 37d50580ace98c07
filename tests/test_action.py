"""The GitHub Action: its steps, from the file, executed with the runner's variables and files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT, SAMPLES
from tests.forked_program import forked_program
from tests.forks import Forks
from tests.workflow import Job, runner_environment

ACTION = ROOT / "action.yml"
STEPS: list[dict[str, Any]] = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
REPORT = {"Write the report"}
"""The step that takes most of the time."""

pytestmark = pytest.mark.slow


@pytest.fixture
def job(tmp_path: Path, forks: Forks) -> Iterator[Job]:
    """One in which Tachograph is installed already.

    To install it anew takes a minute and a package index. `tests/test_wheel.py` does.
    """
    workspace, tools = tmp_path / "workspace", tmp_path / "temp" / "tachograph" / "bin"
    workspace.mkdir()
    tools.mkdir(parents=True)
    (workspace / "agent logs").symlink_to(SAMPLES)
    with forked_program(tools / "tachograph", forks):
        yield Job(
            workspace,
            tmp_path / "temp",
            runner_environment(),
            skipped=frozenset(("Install Tachograph",)),
        )


def test_within_budget_and_beside_the_base_branch(
    job: Job, samples_read: Callable[..., Path]
) -> None:
    shutil.copy(samples_read(), job.workspace / "base.duckdb")
    job.run(
        ACTION,
        paths="agent logs\n",
        labels="branch=next\nteam=a b",
        budgets="max-total-usd = 50\nmin-runs = 1",
        base_store="base.duckdb",
    )
    assert job.code == 0, job.said
    sentence = "3 runs cost $2.83 vs. $2.83 of 3 runs in the baseline."
    assert job.outputs == {
        "store": str(job.temp / "tachograph.duckdb"),
        "report": str(job.temp / "tachograph-report.html"),
        "passed": "true",
        "comparison": sentence,
    }
    assert job.summary.startswith(
        f"**{sentence}**\n\n| Measure | Baseline | Compared | Ratio (95%) |"
    )
    assert "# Cost report\n" in job.summary
    assert "### ✅ PASS: 2 budgets met\n" in job.summary
    assert (job.temp / "tachograph-report.html").stat().st_size > 10_000
    assert [re.split("[@ ]", used)[0] for used in job.used] == [
        "actions/setup-python",
        "actions/upload-artifact",
    ]
    assert str(job.temp / "tachograph-report.html") in job.used[1]


def test_over_budget_the_report_is_uploaded_and_then_the_job_fails(job: Job) -> None:
    (job.workspace / "budgets.toml").write_text("max-total-usd = 2\n")
    job.run(ACTION, paths="agent logs", budgets="budgets.toml", base_store="none-yet.duckdb")
    assert (job.code, job.outputs["passed"], job.outputs["comparison"]) == (1, "false", "")
    assert "::error::A budget for coding agents is exceeded" in job.said
    assert "### ❌ FAIL: 1 of 1 budget not met\n" in job.summary
    assert len(job.used) == 2
    job.code, job.skipped = 0, job.skipped | REPORT
    job.run(ACTION, paths="agent logs", budgets="budgets.toml", fail_over="false", report_name="")
    assert (job.code, job.outputs["passed"], len(job.used)) == (0, "false", 3)


@pytest.mark.parametrize(
    ("inputs", "code"),
    [({"paths": "nowhere"}, 3), ({"paths": "agent logs", "budgets": "max-total = 2"}, 2)],
)
def test_what_cannot_be_read_fails_the_job_with_the_reason(
    inputs: dict[str, str], code: int, job: Job
) -> None:
    job.skipped |= REPORT
    job.run(ACTION, **inputs)
    assert (job.code, "Error" in job.said) == (code, True), job.said


def test_no_input_is_written_into_a_script_and_other_actions_are_pinned() -> None:
    """An input that is text of a script would be executed.

    A tag that moves could be anything tomorrow.
    """
    assert not [step["name"] for step in STEPS if "${{" in step.get("run", "")]
    assert not [
        step["uses"]
        for step in STEPS
        if "uses" in step and not re.fullmatch(r"actions/[\w-]+@v\d+\.\d+\.\d+", step["uses"])
    ]
    assert {step["shell"] for step in STEPS if "run" in step} == {"bash"}
