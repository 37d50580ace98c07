"""Every printed command runs as printed, and on the store that its reader looks at.

Screens and messages print commands.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from app.queries.comparison import NOTHING
from app.queries.comparison import command as compare_command
from app.queries.filters import Filters, choose, parse
from ingest.store import opening
from ingest.store.database import Store
from ingest.system.command_lines import command_line
from schemas.store_version import SCHEMA_VERSION
from tests.conftest import FILE, SAMPLES, Run, ingest_paths

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

_COMMANDS = (
    "ingest|report|runs|models|claims|findings|check|compare|rejects|sources|reprice|rebuild|doctor"
)
_PRINTED = re.compile(rf"\btachograph (?:{_COMMANDS}) [^`\n]*")
SCREENS = (
    "overview",
    "runs",
    "tasks",
    "speedups",
    "compare",
    "cost",
    "reports",
    "data",
    "data?view=upload",
)
PRICES = '[[price]]\nmodel = "a-model"\ninput = 1\noutput = 2\n'


def printed(texts: list[str]) -> list[str]:
    """The commands in texts, each with what a reader puts in for its placeholders."""
    return [line.strip() for text in texts for line in _PRINTED.findall(text)]


def texts_of(app: AppTest) -> list[str]:
    """Everything on a screen that may hold a command."""
    shown = [*app.code, *app.markdown, *app.caption, *app.info, *app.error]
    return [str(element.value) for element in shown] + [
        str(getattr(element, "help", "") or "") for element in app.get("file_uploader")
    ]


def opened(screens: Callable[..., AppTest], store: Path, screen: str) -> AppTest:
    """A screen by its address."""
    name, _, view = screen.partition("?view=")
    return screens(str(store), f"screens/{name}.py", **({"view": view} if view else {}))


def runs_here(line: str, folder: Path, tachograph: Run) -> None:
    """The command as a reader types it in `folder`, with a path and a price file of his own."""
    (folder / "prices.toml").write_text(PRICES)
    logs = folder / "logs"
    for name in ("before", "after"):
        (logs / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(next(iter(SAMPLES.glob("*"))), logs / name)
    words = [
        {"PATH": str(SAMPLES), "RESULTS": str(SAMPLES), "FILE": "prices.toml"}.get(word, word)
        for word in shlex.split(line)[1:]
    ]
    done = tachograph(*words, cwd=folder)
    assert done.returncode == 0, (line, done.stderr)
    assert not (folder / FILE).exists(), f"{line}: it made a store of its own"


@pytest.fixture
def elsewhere(tmp_path: Path, samples_read: Callable[..., Path]) -> Path:
    """A store that a command does not take by itself, in a folder with a blank in its name."""
    folder = tmp_path / "my stores"
    folder.mkdir()
    shutil.copy(samples_read(), folder / "runs.duckdb")
    return folder / "runs.duckdb"


def test_the_commands_of_screens_run(
    elsewhere: Path, tmp_path: Path, screens: Callable[..., AppTest], tachograph: Run
) -> None:
    ingest_paths(Store(str(elsewhere)), SAMPLES, prompt="new")
    here = tmp_path / "here"
    here.mkdir()
    of_screens = {
        screen: printed(texts_of(opened(screens, elsewhere, screen))) for screen in SCREENS
    }
    assert {"reports", "compare", "data?view=upload"} <= {
        screen for screen, lines in of_screens.items() if lines
    }
    for line in sorted({line for lines in of_screens.values() for line in lines}):
        assert f"--db {shlex.quote(str(elsewhere))}" in line
        runs_here(line, here, tachograph)


def test_an_empty_dashboard_says_how_to_fill_its_own_store(
    tmp_path: Path, screens: Callable[..., AppTest], tachograph: Run
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    lines = dict.fromkeys(printed(texts_of(screens(str(tmp_path / "none.duckdb")))))
    for line in lines:
        if "~" not in line:  # the reader's own home
            runs_here(line, here, tachograph)
    assert (tmp_path / "none.duckdb").exists()


def test_the_commands_in_errors_of_a_store_run(
    elsewhere: Path, tmp_path: Path, tachograph: Run
) -> None:
    place = str(elsewhere)
    told = [
        opening.StorePlace(place).missing(),
        opening.failed(place, OSError(28, "No space left on device")),
        opening.other_version(place, SCHEMA_VERSION - 1),
    ]
    lines = printed([error.hint for error in told])
    assert len(lines) == len(told)
    here = tmp_path / "here"
    here.mkdir()
    for line in lines:
        runs_here(line, here, tachograph)


def test_the_commands_that_ingest_and_report_print_run(tmp_path: Path, tachograph: Run) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "broken.json").write_text('{"type": "result", "total_cost_usd": 1, "num_turns": ')
    first = tachograph("ingest", tmp_path / "broken.json", "--db", tmp_path / "x.duckdb", cwd=here)
    again = tachograph("ingest", tmp_path / "broken.json", "--db", tmp_path / "x.duckdb", cwd=here)
    empty = tachograph("report --db", tmp_path / "x.duckdb", cwd=here)
    assert (empty.stdout, empty.returncode) == ("", 0)
    lines = printed([first.stderr, again.stderr, empty.stderr])
    assert {line.split()[1] for line in lines} == {"rejects", "ingest"}
    for line in lines:
        runs_here(line, here, tachograph)


@pytest.mark.parametrize(
    "chosen",
    [
        {"main-model": "claude-opus-4-6"},
        {"label": ["branch=a b", "team=x'y"]},
        {"search": "--wait `x` $HOME"},
        {},
    ],
)
def test_compare_reads_back_the_filters_of_its_command(chosen: dict[str, str | list[str]]) -> None:
    filters: Filters = choose(chosen)
    words = shlex.split(compare_command((filters, filters), NOTHING, FILE))
    assert words[:2] == ["tachograph", "compare"]
    assert [parse(word) for word in words[2:4]] == [filters, filters]
    assert words[4:] == ["--pair", NOTHING]


def test_the_default_store_needs_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACHOGRAPH_DB", raising=False)
    assert (
        command_line("runs", FILE)
        == command_line("runs", str(tmp_path / FILE))
        == "tachograph runs"
    )
    monkeypatch.setenv("TACHOGRAPH_DB", "other.duckdb")
    assert command_line("runs", FILE) == f"tachograph runs --db {FILE}"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("report", "--outcome", "complete"), "Did you mean completed?"),
        (("claims", "--evidence", "benchmark"), "Did you mean benchmarked?"),
        (("report", "--by", "modle"), "Did you mean model?"),
        (("report", "--metrics", "turn"), "Did you mean turns"),
        (("report", "--format", "xslx"), "Did you mean xlsx?"),
        (("findings", "--rule", "zero_costs"), "Did you mean zero_cost"),
        (("findings", "--severity", "warn"), "Did you mean warning?"),
        (("runs", "--agnet", "pi"), "Did you mean --agent"),
        (("check", "--min-verified-speedups", "1"), "is called --min-faster since 1.1.0."),
        (("measure", "x", "--fail-if", "over-claimed"), "is called promised-more since 1.1.0."),
        (("compare", "outcome=complete", "model=x"), "Did you mean completed?"),
        (("compare", "modell=x", "model=x"), "Did you mean model"),
    ],
)
def test_a_word_outside_of_a_closed_list_is_an_error_that_names_the_nearest(
    words: tuple[str, ...], meant: str, filled: Path, tachograph: Run
) -> None:
    done = tachograph(*words, cwd=filled)
    assert (done.returncode, done.stdout) == (2, "")
    assert meant in done.stderr


def test_a_name_that_no_run_has_is_noted_with_those_that_come_near(
    filled: Path, tachograph: Run
) -> None:
    done = tachograph("runs --model sonnet --repo x", cwd=filled)
    assert (done.returncode, done.stdout) == (0, "")
    assert "No run has model 'sonnet'. Did you mean claude-sonnet-4-5?\n" in done.stderr
    assert "No run has project 'x'.\n" in done.stderr
    assert "No run has" not in tachograph("runs --model claude-sonnet-4-5", cwd=filled).stderr


def test_a_number_that_is_none_is_called_a_number() -> None:
    done = CliRunner().invoke(cli, ["dashboard", "--port", "80x"])
    assert done.exit_code == 2
    assert "Invalid value for '--port': '80x' is not a whole number from 1 to 65535." in done.stderr
