"""Runs the steps of a composite GitHub Action as the runner does.

Each script with `bash -eo pipefail`, its variables, and its files.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_COMPARED = re.compile(r"([\w.-]+) (==|!=) '([^']*)'")
_SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")


@dataclass
class Job:
    """A job in which an action runs.

    `skipped`: names of steps that are not executed here; `used`: those of other actions that were
    due.
    """

    workspace: Path
    temp: Path
    environment: Mapping[str, str]
    skipped: frozenset[str] = frozenset()
    used: list[str] = field(default_factory=list)
    said: str = ""
    code: int = 0
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        return (self.temp / "summary.md").read_text()

    def run(self, action: Path, **inputs: str) -> None:
        """Run the action to its end, or to the first step that fails.

        Inputs are written with underscores.
        """
        described = yaml.safe_load(action.read_text())
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        assert given.keys() <= described["inputs"].keys()
        values = {"github.action_path": str(action.parent)}
        values |= {
            f"inputs.{name}": given.get(name, one.get("default"))
            for name, one in described["inputs"].items()
        }
        assert None not in values.values(), "a required input is missing"
        (self.temp / "summary.md").touch()
        for step in described["runs"]["steps"]:
            if not self.code and is_due(step.get("if", ""), values):
                self._step(step, values)
        self.outputs = {
            name: resolved(one["value"], values) for name, one in described["outputs"].items()
        }

    def _step(self, step: Mapping[str, Any], values: dict[str, str]) -> None:
        if "uses" in step:
            self.used.append(resolved(f"{step['uses']} {step['with']}", values))
        elif step["name"] not in self.skipped:
            (self.temp / "output").write_text("")
            done = subprocess.run(
                [*_SHELL, resolved(step["run"], values)],
                cwd=self.workspace,
                env={
                    **self.environment,
                    **self._variables(),
                    **{key: resolved(value, values) for key, value in step.get("env", {}).items()},
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            self.said += done.stdout
            self.code = done.returncode
            lines = (
                line.partition("=") for line in (self.temp / "output").read_text().splitlines()
            )
            values.update(
                {f"steps.{step.get('id')}.outputs.{key}": value for key, _, value in lines}
            )

    def _variables(self) -> dict[str, str]:
        """Those of the runner that the action uses."""
        return {
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
            "GITHUB_OUTPUT": str(self.temp / "output"),
            "RUNNER_TEMP": str(self.temp),
        }


def resolved(text: str, values: Mapping[str, str]) -> str:
    """The text with each `${{ … }}` replaced; what no step has set is empty."""
    return _EXPRESSION.sub(lambda found: values.get(found[1], ""), text)


def is_due(condition: str, values: Mapping[str, str]) -> bool:
    """Whether a step runs: comparisons with `&&` between them."""
    parts = (
        [_COMPARED.fullmatch(part.strip()) for part in condition.split("&&")] if condition else []
    )
    assert all(parts), f"not understood: {condition}"
    return all((values.get(part[1], "") == part[3]) == (part[2] == "==") for part in parts if part)


def runner_environment() -> dict[str, str]:
    """Our variables, without those of a runner that we may run in ourselves."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("GITHUB_", "RUNNER_", "TACHOGRAPH_"))
    }
