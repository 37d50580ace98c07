"""The command and what it stands on.

A store that is missing, held, newer or damaged, and the port of the dashboard.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pytest
from packaging.requirements import Requirement

from app.cli.doctor import _package, price_age
from ingest.prices.genai import newest_price
from ingest.system.command_lines import install_command
from schemas.errors import StoreError
from tests.conftest import PATIENCE_SECONDS, ROOT, SAMPLES, Run, environment
from tests.interrupted import interruptible


def test_a_missing_store_says_how_to_make_one(tachograph: Run) -> None:
    done = tachograph("report")
    assert done.stdout == ""
    assert done.stderr == (
        "Error: There is no store at tachograph.duckdb yet.\n"
        "Create it with `tachograph ingest PATH`, or choose another store with --db.\n"
    )  # fmt: skip
    assert done.returncode == 4


@pytest.mark.slow
def test_the_store_may_come_from_the_environment(filled: Path) -> None:
    elsewhere = environment(TACHOGRAPH_DB=str(filled / "tachograph.duckdb"))
    command = [sys.executable, "-m", "app.cli.main", "sources", "--format", "jsonl"]
    done = subprocess.run(
        command, cwd=ROOT, env=elsewhere, capture_output=True, text=True, check=False
    )
    assert done.stdout.count("\n") == 3
    assert done.returncode == 0


@contextmanager
def held(store: Path) -> Iterator[None]:
    """Another process has the store open for writing."""
    code = (
        f"import duckdb, time; c = duckdb.connect({str(store)!r}); print('held', flush=True); "
        "time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield
        finally:
            holder.kill()


def test_a_store_in_use_is_waited_for_and_then_given_up(tachograph: Run, filled: Path) -> None:
    with held(filled / "tachograph.duckdb"):
        done = tachograph("report --wait 0.5")
    assert done.stdout == ""
    assert "Waiting up to 0.5 s for tachograph.duckdb: another process is " in done.stderr
    assert "tachograph.duckdb is locked" in done.stderr
    assert "--wait SECONDS" in done.stderr
    assert done.returncode == 4


def test_a_store_of_a_newer_version_is_refused(tachograph: Run, filled: Path) -> None:
    with duckdb.connect(str(filled / "tachograph.duckdb")) as connection:
        connection.execute("update store_meta set schema_version = 999")
    done = tachograph("report")
    assert done.stdout == ""
    assert "was written by a newer Tachograph" in done.stderr
    assert done.returncode == 4


def test_rebuild_changes_no_figure(tachograph: Run, filled: Path) -> None:
    before = tachograph("report --by run --format csv").stdout
    done = tachograph("rebuild")
    assert done.stdout == ""
    assert done.stderr == "Rebuilt 3 runs in tachograph.duckdb\n"
    assert done.returncode == 0
    assert tachograph("report --by run --format csv").stdout == before


def full(size: int) -> Callable[[], None]:
    """No file may grow beyond a size: to whoever writes it that is a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_full_disk_is_told_and_leaves_no_store(tachograph: Run, tmp_path: Path) -> None:
    done = tachograph("ingest", SAMPLES, preexec_fn=full(50_000))
    assert "tachograph.duckdb failed: " in done.stderr
    assert "has room" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "size"), [("rebuild", 50_000), ("reprice", 500)])
def test_a_full_disk_leaves_the_store_as_it_was(
    tachograph: Run, filled: Path, command: str, size: int
) -> None:
    before = (filled / "tachograph.duckdb").read_bytes()
    done = tachograph(command, preexec_fn=full(size))
    assert "tachograph.duckdb failed: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 4
    assert (filled / "tachograph.duckdb").read_bytes() == before
    assert not [file.name for file in filled.iterdir() if file.suffix == ".rebuilding"]


@pytest.mark.parametrize("command", ["reprice", "rebuild", "check --min-runs 1", "models"])
def test_what_needs_a_store_makes_none(tachograph: Run, tmp_path: Path, command: str) -> None:
    done = tachograph(command)
    assert done.stderr.startswith("Error: There is no store at tachograph.duckdb yet.\n")
    assert done.returncode == 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["report", "doctor", "rebuild", "reprice", f"ingest {SAMPLES}"])
def test_a_name_that_no_store_may_have(tachograph: Run, tmp_path: Path, command: str) -> None:
    done = tachograph(command, "--db", "n" * 300)
    assert "cannot be used as a store: File name too long." in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 4
    assert list(tmp_path.iterdir()) == []


def test_doctor_finds_a_good_store_good(tachograph: Run, filled: Path) -> None:
    done = tachograph("doctor")
    assert "3 files, 3 runs, 6 model rows, 0 rejects" in done.stdout
    assert {line.split()[1] for line in done.stdout.splitlines() if line.startswith("problem")} <= {
        "prices"
    }, "which grow old by themselves"
    assert done.stderr == ""
    assert done.returncode == 0


def test_doctor_tells_old_prices_and_packages_of_other_versions() -> None:
    young, old = (price_age(date(2026, 1, day), date(2026, 5, 15)) for day in (15, 14))
    assert (
        young.advice,
        young.found.endswith("its newest price is of 2026-01-15, 120 days ago"),
    ) == ("", True)
    upgrade = install_command("--upgrade", "genai-prices")
    assert old.advice == f"Newer models have no list price: {upgrade}, then tachograph reprice."
    assert (datetime.now(UTC).date() - newest_price(datetime.now(UTC).date())).days >= 0
    assert (
        _package("duckdb", Requirement("duckdb>=99")).advice
        == f"Install it: {install_command('duckdb>=99')}"
    )
    assert _package("no-such-package", Requirement("no-such-package")).found == "not installed"


def test_doctor_finds_books_that_do_not_balance(tachograph: Run, filled: Path) -> None:
    """Each of the four; the store can still be read, so this is no failure of the command."""
    with duckdb.connect(str(filled / "tachograph.duckdb")) as connection:
        connection.execute(
            "update sources set ignored = 1; update sources set rejected = 1, documents = 9"
        )
        connection.execute(
            "delete from runs where cost_reported_usd = (select max(cost_reported_usd) from runs)"
        )
        connection.execute("update model_usage set cost_reported_usd = cost_reported_usd + 1")
    done = tachograph("doctor")
    problems = [
        line.split()[1]
        for line in done.stdout.splitlines()
        if line.startswith("problem") and "prices" not in line
    ]
    assert problems == ["documents", "runs", "rejects", "cost"]
    assert done.returncode == 0


def test_doctor_takes_a_missing_store_for_no_problem_and_a_foreign_file_for_one(
    tachograph: Run, tmp_path: Path
) -> None:
    missing = tachograph("doctor")
    assert "does not exist yet" in missing.stdout
    assert missing.returncode == 0
    (tmp_path / "notes.txt").write_text("no database")
    foreign = tachograph("doctor --db notes.txt")
    assert "problem  store" in foreign.stdout
    assert foreign.returncode == 4


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_a_taken_port_is_said_so(tachograph: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = tachograph("dashboard --port", str(port), "--headless")
    assert done.stdout == ""
    assert f"port {port} is already in use" in done.stderr
    assert done.returncode == 2


def answers(port: int, seconds: float = PATIENCE_SECONDS) -> bool:
    """Whether something serves on the port within the time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{port}/_stcore/health", timeout=2
            ) as response:
                return bool(response.status == 200)
        except OSError:
            time.sleep(0.1)
    return False


def dashboard(port: int) -> list[str]:
    return [sys.executable, *f"-m app.cli.main dashboard --port {port} --headless".split()]


IN_A_TERMINAL = "import pty, sys; pty.spawn(sys.argv[1:])"
IGNORING = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], "
    "sys.argv[1:])"
)
"""As a shell without a terminal starts what ends in `&`."""


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_says_only_that_the_dashboard_stopped(filled: Path) -> None:
    """It reaches both processes: the server's own said `Aborted!`."""
    port = free_port()
    with interruptible([sys.executable, "-c", IN_A_TERMINAL, *dashboard(port)], filled) as process:
        served = answers(port)
        out, _ = process.communicate("\x03", timeout=PATIENCE_SECONDS)
    assert served, out
    assert out.splitlines()[1:] == ["^CDashboard stopped."]


@pytest.mark.slow
def test_a_dashboard_that_was_told_to_ignore_ctrl_c_ends_in_order(filled: Path) -> None:
    """The server's process still takes the signal, and was taken down beneath its threads."""
    port = free_port()
    with interruptible([sys.executable, "-c", IGNORING, *dashboard(port)], filled) as process:
        served = answers(port)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert served, err
    assert f"http://127.0.0.1:{port} (Ctrl-C stops it)" in err
    assert (process.returncode, out, err.splitlines()[1:]) == (0, "", ["Dashboard stopped."])
    assert not answers(port, seconds=0.2)


def test_a_folder_is_no_store(tachograph: Run, tmp_path: Path) -> None:
    """Whoever serves it learns that at once, and not on every page."""
    (tmp_path / "runs").mkdir()
    for words in (
        ("dashboard", "--headless"),
        ("report",),
        ("ingest", SAMPLES),
        ("watch", "."),
        ("rebuild",),
        ("mcp",),
        ("doctor",),
    ):
        done = tachograph(*words, "--db", "runs")
        assert done.returncode == StoreError.exit_code, words
        assert "runs is a folder, and not a store." in done.stdout + done.stderr
        assert "--db runs/tachograph.duckdb" in done.stdout + done.stderr


def test_a_rebuild_says_which_files_to_read_again(tachograph: Run, tmp_path: Path) -> None:
    """An older version ignored files that this one knows.

    An ordinary ingest passes over them as unchanged.
    """
    (tmp_path / "notes.txt").write_text("nothing")
    tachograph("ingest", SAMPLES, "notes.txt")
    said = tachograph("rebuild").stderr
    assert (
        "1 file has rejects or no results, in which this version may find some: tachograph "
        "ingest --retry-rejects"
    ) in said
