"""Ways to install it: the image without a Docker daemon, and completion in a real shell.

The image is tested as far as it can be without the daemon.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml
from click.shell_completion import get_completion_class
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.cli.completion import NAME, VARIABLE
from app.cli.main import cli, load
from ingest.system.command_lines import extra_command
from schemas.rows.run import Outcome
from tests.conftest import ROOT

DOCKERFILE = ROOT / "app" / "docker" / "Dockerfile"
INSTRUCTIONS = [
    (word, rest.strip())
    for word, _, rest in (
        line.partition(" ")
        for line in re.sub(r"\\\n\s*", "", DOCKERFILE.read_text()).splitlines()
        if line and not line.startswith("#")
    )
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def of(word: str) -> list[str]:
    """What follows an instruction of the Dockerfile, each time."""
    return [rest for name, rest in INSTRUCTIONS if name == word]


def copied() -> list[str]:
    """The files and folders of a clone that the image is built from."""
    return [
        source
        for rest in of("COPY")
        if not rest.startswith("--from")
        for source in rest.split()[:-1]
    ]


def test_the_image_is_built_from_what_is_there_and_nothing_else() -> None:
    """What it copies exists and is let through, all else of a clone stays out.

    Both stages have one base of a known digest.
    """
    ignored = [
        line
        for line in Path(f"{DOCKERFILE}.dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert ignored[0] == "*"
    assert {line[1:] for line in ignored if line.startswith("!")} == set(copied())
    assert not [source for source in copied() if not (ROOT / source).exists()]
    assert [line for line in ignored if fnmatch.fnmatch("app/runs.duckdb", line)][1:] == [
        "**/*.duckdb"
    ]
    [base] = of("ARG")
    assert re.fullmatch(r"PYTHON=python:3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", base)
    assert {rest.split(" AS ")[0] for rest in of("FROM")} == {"${PYTHON}"}
    [extras] = re.findall(r"'\.\[(.*)\]'", " ".join(of("RUN")))
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()


@pytest.mark.slow
def test_the_command_for_what_an_extra_needs_runs_as_printed(tmp_path: Path) -> None:
    """With no index: the tests have all of it already, and our own package is on none."""
    line = f"{extra_command()} --dry-run --no-index --quiet"
    done = subprocess.run(
        line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_one_command_brings_what_any_command_needs() -> None:
    """All but a lake, which needs an older DuckDB."""
    extras = PROJECT["optional-dependencies"]
    [every] = map(Requirement, extras["all"])
    assert every.extras == extras.keys() - {"all", "dev", "lake", "lake-dev"}
    assert shlex.split(extra_command())[-1] == "tachograph[all]"
    for page in ("README.md", "docs/install.md", "docs/mcp.md", "docs/measure.md"):
        assert "[all]'" in (ROOT / page).read_text(), page


def test_a_version_that_was_tested_is_known_of_every_package_that_is_needed() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = {canonicalize_name(one.name): one for one in map(Requirement, lines[1:])}
    assert len(pins) == len(lines) - 1
    extras = {
        name: of for name, of in PROJECT["optional-dependencies"].items() if "lake" not in name
    }
    for needed in map(Requirement, [*PROJECT["dependencies"], *chain(*extras.values())]):
        if needed.name != "tachograph":
            [pin] = pins[canonicalize_name(needed.name)].specifier
            assert pin.operator == "=="
            assert needed.specifier.contains(pin.version), needed


def test_what_github_and_a_commit_run_are_targets_of_make() -> None:
    """And every Python that the package is said to run on."""
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]
    [repository] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    commands = [
        *(step["run"] for job in jobs.values() for step in job["steps"] if "run" in step),
        *(hook["entry"] for hook in repository["hooks"]),
    ]
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"make test", "make lake-test", "make style"} == set(commands)
    assert {command.removeprefix("make ") for command in commands} <= set(targets)
    assert jobs["test"]["strategy"]["matrix"]["python"] == [
        line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: Python ::" in line
    ]


@pytest.mark.parametrize("form", ["unreadable-log", "wrong-figure"])
def test_a_form_asks_for_what_mends_it(form: str) -> None:
    """Its identifiers are unique, else GitHub shows no form; its commands exist."""
    text = (ROOT / f".github/ISSUE_TEMPLATE/{form}.yml").read_text()
    fields = yaml.safe_load(text)["body"]
    named = [field["id"] for field in fields]
    assert len({*named}) == len(named)
    assert {"doctor", "record"} <= {*named}
    assert {field["type"] for field in fields} <= {"input", "textarea"}
    for command in re.findall(r"`tachograph (\w+)", text):
        assert load(command)


def test_an_environment_without_pip_is_filled_by_uv(tmp_path: Path) -> None:
    """As `uv tool install` makes one."""
    folder = tmp_path / "its own"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    code = (
        "from ingest.system.command_lines import install_command; print(install_command('mcp>=2'))"
    )
    done = subprocess.run(
        [folder / "bin" / "python", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shlex.split(done.stdout) == [
        "uv",
        "pip",
        "install",
        "--python",
        str(folder / "bin" / "python"),
        "mcp>=2",
    ]


@pytest.mark.parametrize(
    ("target", "words"), [("wheel", "pip wheel"), ("run", "pip install"), ("check", "pip install")]
)
def test_make_says_what_takes_a_minute_before_pip_is_silent(
    target: str, words: str, tmp_path: Path
) -> None:
    """And only what tests needs the tools of tests."""
    planned = subprocess.run(
        ["make", "-n", target, f"VENV={tmp_path / 'none'}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    before, installs, _ = planned.partition(words)
    assert installs
    assert before.rstrip().splitlines()[-2].startswith("echo ")
    assert ("[dev]" in planned) == (target == "check")
    assert ("--constraint constraints.txt" in planned) == (target != "wheel")


def test_the_image_runs_without_rights_and_keeps_the_store_in_its_volume() -> None:
    [user], [volume], [settings] = of("USER"), of("VOLUME"), of("ENV")
    variables = dict(word.split("=", 1) for word in shlex.split(settings))
    assert int(user.split(":")[0]) >= 1000
    assert f"--owner={user.split(':')[0]}" in of("RUN")[1]
    assert Path(variables["TACHOGRAPH_DB"]).parent == Path(volume)
    assert [name for name, _ in INSTRUCTIONS].index("USER") > [
        name for name, rest in INSTRUCTIONS
    ].index("ENV")


def test_what_the_image_starts_is_a_command_and_its_health_is_that_of_the_dashboard() -> None:
    [entry], [words], [port], [health] = (
        of(word) for word in ("ENTRYPOINT", "CMD", "EXPOSE", "HEALTHCHECK")
    )
    command = [*json.loads(entry), *json.loads(words)]
    assert command[0] == next(iter(PROJECT["scripts"]))
    context = load(command[1]).make_context(command[1], command[2:])
    assert str(context.params["port"]) == port
    code = json.loads(health.partition("CMD ")[2])[2]
    compile(code, "health", "exec")
    assert f"http://localhost:{port}/_stcore/health" in code, "which tests/test_wheel.py asks"


def completions(*words: str) -> list[str]:
    """What bash offers for the last word."""
    kind = get_completion_class("bash")
    assert kind
    return [
        item.value
        for item in kind(cli, {}, NAME, VARIABLE).get_completions(list(words[:-1]), words[-1])
    ]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("rebu", ["rebuild"]),
        ("runs --outcome ", [*Outcome]),
        ("runs --evidence b", ["benchmarked"]),
        ("runs --agent claude", ["claude-code", "claude-managed-agents"]),
        ("runs --excluded o", ["only"]),
        ("runs --since last", ["last-night", "last-24-hours", "last-week", "last-month"]),
        ("report --by model,outc", ["model,outcome"]),
        ("report --metrics cost_usd,cost_per_comp", ["cost_usd,cost_per_completed_usd"]),
        ("usage --tz Europe/Berl", ["Europe/Berlin"]),
        ("report --format x", ["xlsx"]),
        ("runs --repo v", []),
    ],
)
def test_values_of_closed_lists_are_completed(words: str, offered: list[str]) -> None:
    """A time that is offered is one that the filter takes; names of a store are not looked up."""
    assert completions(*words.split(" ")) == offered
    if "--since" in words:
        load("runs").make_context("runs", ["--since", offered[0]])


def test_bash_completes_a_command(tmp_path: Path) -> None:
    """The script that is printed, sourced by a real bash."""
    (tmp_path / NAME).write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m app.cli.main "$@"\n'
    )
    (tmp_path / NAME).chmod(0o755)
    (tmp_path / "script").write_text(CliRunner().invoke(cli, ["completion", "bash"]).stdout)
    code = (
        "source ./script; COMP_WORDS=(tachograph runs --outc); COMP_CWORD=2; "
        '_tachograph_completion tachograph; echo "${COMPREPLY[*]}"'
    )
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("--outcome\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script_and_a_line_on_the_page(shell: str) -> None:
    assert VARIABLE in CliRunner().invoke(cli, ["completion", shell]).stdout
    assert f"tachograph completion {shell}" in (ROOT / "docs" / "install.md").read_text()
