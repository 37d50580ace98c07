"""The command, run as a user runs it.

Help, ingest and usage. stdout, stderr and exit code are told apart everywhere.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.cli.main import COMMANDS, cli
from app.cli.options import OUTPUT_FORMATS
from app.queries.filters import FILTERS
from ingest.store.database import Store
from schemas.errors import ExitCode
from tests.conftest import FILE, PATIENCE_SECONDS, SAMPLES, Run, environment, record_text
from tests.interrupted import interruptible


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_by_example(name: str) -> None:
    shown = CliRunner().invoke(cli, [name, "--help"])
    assert "Example" in shown.stdout
    assert f"tachograph {name}" in shown.stdout
    assert shown.exit_code == 0


@pytest.mark.parametrize("name", ["report", "runs", "models"])
def test_every_filter_is_an_option(name: str) -> None:
    shown = CliRunner().invoke(cli, [name, "--help"]).stdout
    assert [key for key in FILTERS if not re.search(rf"--{key}[ ,]", shown)] == []


@pytest.mark.parametrize("name", ["report", "runs", "models", "rejects", "sources"])
def test_every_export_is_a_choice(name: str) -> None:
    assert f"[{'|'.join(OUTPUT_FORMATS)}" in CliRunner().invoke(cli, [name, "--help"]).stdout


def test_starting_loads_nothing_heavy() -> None:
    """`tachograph --help` and completion must feel immediate."""
    heavy = "{'pydantic', 'pyarrow', 'duckdb', 'rich', 'simplejson', 'streamlit', 'plotly'}"
    code = f"import sys, app.cli.main; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


WITHOUT_PANDAS = """\
rebuild
report --by model --format html
runs --format xlsx -o runs.xlsx
claims --format csv
findings --format parquet -o findings.parquet
usage --by block
compare agent=claude-code model=claude-opus-4-6
label batch=a --agent claude-code --yes
"""


@pytest.mark.slow
def test_a_command_never_loads_pandas(filled: Path) -> None:
    """It is installed with Streamlit.

    Pyarrow would import it, half a second, for the first value that is given without its type.
    """
    code = """if True:
        import sys
        from app.cli.main import main
        for line in sys.stdin:
            sys.argv = ["tachograph", *line.split()]
            done = main()
            assert not done and "pandas" not in sys.modules, (line, done)
    """
    options: dict[str, Any] = {"input": WITHOUT_PANDAS, "capture_output": True, "text": True}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=filled, env=environment(), check=False, **options
    )
    assert done.returncode == 0, done.stderr


def test_the_version_is_the_distributions(tachograph: Run) -> None:
    done = tachograph("--version")
    assert done.stdout == f"tachograph {version('tachograph')}\n"
    assert done.stderr == ""
    assert done.returncode == 0


def test_ingest_tells_people_on_stderr_and_programs_on_stdout(tachograph: Run) -> None:
    done = tachograph("ingest", SAMPLES, "--json")
    counts = json.loads(done.stdout)
    assert counts.pop("seconds") > 0
    assert counts == {
        "sources": 3,
        "documents": 3,
        "accepted": 3,
        "duplicates": 0,
        "rejected": 0,
        "ignored": 0,
    }
    assert done.stdout.startswith('{"sources":3,"documents":3,')
    assert (
        "3 documents = 3 accepted + 0 duplicates + 0 rejected + 0 ignored (events and other "
        "JSON that is no run)"
    ) in done.stderr
    assert done.returncode == 0


def test_an_unreadable_path_is_told_and_the_others_go_on(tachograph: Run, tmp_path: Path) -> None:
    done = tachograph("ingest", tmp_path / "missing", SAMPLES)
    assert done.stdout == ""
    assert f"cannot read {tmp_path / 'missing'}: No such file" in done.stderr
    assert "3 accepted" in done.stderr
    assert done.returncode == 3


def test_rejects_are_told_with_place_and_reason(tachograph: Run, tmp_path: Path) -> None:
    """30 of them: the first 20, then how to see all.

    No control character of the file reaches the terminal.
    """
    broken = tmp_path / "broken.jsonl"
    broken.write_text(record_text() + "\n" + '{"type": "\x1b[31mresult", \n' * 30)
    done = tachograph("ingest", broken)
    assert f"  {broken}\n    line 2, " in done.stderr
    assert done.stderr.count("truncated: ") == 20
    assert "… and 10 more. List all: tachograph rejects" in done.stderr
    assert done.returncode == 0
    listed = tachograph("rejects")
    assert listed.stdout.count("truncated JSON") == 30
    assert "\x1b" not in listed.stdout
    assert listed.stderr == "30 rejects · tachograph.duckdb\n"


def test_a_file_name_that_is_no_utf8(tachograph: Run, tmp_path: Path) -> None:
    """Linux allows any bytes; the store holds text."""
    (tmp_path / os.fsdecode(b"\xff.json")).write_text(record_text())
    assert tachograph("ingest .").returncode == 0
    done = tachograph("sources --format jsonl")
    assert json.loads(done.stdout)["name"] == "\ufffd.json"
    assert done.returncode == 0


def test_strict_makes_a_reject_a_failure(tachograph: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"type":"result","total_cost_usd":')
    done = tachograph("ingest broken.json --strict")
    assert done.stdout == ""
    assert "1 rejected" in done.stderr
    assert done.returncode == 1


def test_nothing_but_rejects_says_what_to_ingest_and_how_to_get_it(
    tachograph: Run, tmp_path: Path
) -> None:
    """No failure to a script without --strict, since rejects are kept, but one to a reader."""
    (tmp_path / "broken.json").write_text('{"type":"result","total_cost_usd":')
    done = tachograph("ingest broken.json")
    assert (
        "\nNo runs ingested: 1 record rejected, none accepted.\nExpected: records of Claude "
        "Code, Codex, "
    ) in done.stderr
    assert "`claude -p … --output-format json > run.json`" in done.stderr
    assert done.returncode == 0
    again = tachograph("ingest broken.json").stderr
    assert "Nothing is new: the file is here already." in again
    assert "Expected" not in again


@pytest.mark.slow
def test_ctrl_c_writes_nothing(tmp_path: Path) -> None:
    """The log is a pipe, so that the command is known to be reading when it is interrupted."""
    os.mkfifo(tmp_path / "log")
    command = [sys.executable, "-m", "app.cli.main", "ingest", "log"]
    with interruptible(command, tmp_path) as process, (tmp_path / "log").open("w"):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert out == ""
    assert err == "Interrupted: nothing was written.\n"
    assert process.returncode == 130
    assert [file.name for file in tmp_path.iterdir()] == ["log"]


@pytest.mark.slow
def test_a_folder_without_permission(tachograph: Run, tmp_path: Path) -> None:
    """The command runs without the capabilities that override permission bits for root."""
    (closed := tmp_path / "closed").mkdir()
    (closed / "log.json").touch()
    closed.chmod(0)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "link").symlink_to(closed / "log.json")
    (tmp_path / "logs" / "nowhere").symlink_to("gone")
    (tmp_path / "logs" / "loop").symlink_to("loop")
    command = [sys.executable, "-m", "app.cli.main", "ingest", str(closed), "logs", str(SAMPLES)]
    elsewhere = [
        sys.executable,
        "-m",
        "app.cli.main",
        "report",
        "--db",
        str(closed / "runs.duckdb"),
    ]
    if os.geteuid() == 0:
        dropped = "-dac_override,-dac_read_search"
        drop = ["setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}"]
        command, elsewhere = drop + command, drop + elsewhere
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    store = subprocess.run(
        elsewhere, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    closed.chmod(0o700)
    assert f"{closed / 'runs.duckdb'} cannot be used as a store: Permission denied." in store.stderr
    assert store.returncode == 4
    assert f"cannot read {closed}: Permission denied" in done.stderr
    assert "cannot read logs/link: Permission denied" in done.stderr
    assert done.stderr.count("cannot read") == 2
    assert "3 accepted" in done.stderr
    assert done.returncode == 3


@pytest.mark.parametrize(
    "words",
    [
        ("report", "--nope"),
        ("nope",),
        ("report", "--by", "nope"),
        ("runs", "--format", "nope"),
        ("report", "--repo", "\udcff"),
        ("report", "--db", "\udcff"),
    ],
)
def test_what_makes_no_sense_exits_with_2(words: tuple[str, ...]) -> None:
    """In this process: click's own answers, and those of our options."""
    done = CliRunner().invoke(cli, words)
    assert done.stdout == ""
    assert "Error: " in done.stderr
    assert done.exit_code == 2


def test_a_wrong_filter_says_how_it_is_written(tachograph: Run) -> None:
    done = tachograph("runs --label main")
    assert done.stdout == ""
    assert (
        done.stderr
        == "Error: a label is written key=value, not 'main'.\nFor example: --label branch=main.\n"
    )
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("words", "closed", "code", "said"),
    [
        ("ingest -", 0, 3, "cannot read the standard input: it is closed."),
        ("claims extract -", 0, 3, "cannot read the standard input: it is closed."),
        ("models", 1, 2, "cannot write to standard output"),
        ("--help", 1, 2, "cannot write to standard output"),
        ("models -o cost.csv", 1, 0, "Wrote cost.csv"),
        ("models -o cost.csv", 2, 0, ""),
    ],
)
def test_a_stream_that_the_shell_closed(
    tachograph: Run, filled: Path, words: str, closed: int, code: int, said: str
) -> None:
    done = tachograph(words, preexec_fn=lambda: os.close(closed))
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == code


@pytest.mark.slow
def test_a_number_of_rows_beyond_all_counting_is_all_of_them(filled: Path) -> None:
    there = ["--format", "jsonl", "--db", str(filled / "tachograph.duckdb")]
    for words in (["runs", "--limit"], ["report", "--by", "run", "--runs"]):
        done = CliRunner().invoke(cli, [*words, "9" * 20, *there])
        assert done.stdout.count("\n") == 3
        assert done.exit_code == 0


def test_an_unexpected_error_is_a_sentence_and_a_private_file(
    tachograph: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column of the store is gone, which no message foresees.

    Exit code 1 would be a check that failed.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    tachograph("ingest", SAMPLES)
    with Store(tmp_path / FILE).writing() as writer:
        writer.connection.execute("alter table rejects drop column detail")
    (tmp_path / "new.json").write_text("{" + record_text(uuid="new")[1:-1])
    for words, is_told in (
        (("rejects",), True),
        (("ingest", "new.json", "--label", "token=HUSH"), True),
        (("--debug", "rejects"), False),
    ):
        done = tachograph(*words)
        assert done.returncode == ExitCode.INTERNAL_ERROR
        assert done.stderr.partition("\n")[0 if is_told else 2].count("Tachograph failed: ") == 1
        assert f"Nothing was written to {FILE}.\n" in done.stderr
        assert ("Traceback" in done.stderr) is not is_told
        file = Path(done.stderr.rpartition(" are in ")[2].strip())
        assert "Traceback" in file.read_text()
        assert "HUSH" not in file.read_text()
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_no_file_name_is_a_command_to_the_runner_of_github(
    tachograph: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever opens a pull request chooses the names of its files, and a step prints them."""
    for name in ("::error title=x::a.json", "##[error]b.json", "\u00a0::stop-commands::c.json"):
        (tmp_path / name).write_text("{" + record_text(session_id=name)[1:-1])
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    asked = (("rejects",), ("rejects", "--format", "csv"), ("sources",))
    said = [
        tachograph("ingest . ::warning::none"),
        *(tachograph(*words, fresh=True) for words in asked),
    ]  # whose stdout is a pipe
    for done in said:
        lines = (done.stdout + done.stderr).splitlines()
        assert not [line for line in lines if line.strip().startswith("::") or "##[" in line]
    assert "  : :error title=x::a.json" in said[0].stderr
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "\n::error title=x::a.json," in tachograph("rejects --format csv").stdout, (
        "exact elsewhere"
    )
