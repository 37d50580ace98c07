"""D6 and D11: what has no end, or holds up whoever opens it.

It is refused, bounded or passed by, and told in a sentence.
"""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli import claims
from ingest.pipeline import Options, ingest
from ingest.sources import walking as pipes
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from ingest.system import bounds, files
from ingest.system.bounds import TooMuch
from ingest.system.databases import read_tables
from ingest.system.files import held_folder
from schemas.errors import ExitCode, InputUnreadable
from tests.attack.endless_database import make_endless
from tests.conftest import ROOT, environment, record_text

LOW_BOUNDS = """
import sys
import ingest.sources.walking, ingest.sources.files
ingest.sources.walking.MOST_BYTES = 3_000_000
ingest.sources.walking.WRITER_SECONDS = 0.2
ingest.sources.files.IN_MEMORY_BYTES = 1_000_000
"""
COMMAND = f"""{LOW_BOUNDS}
from app.cli.main import main
sys.argv = ["tachograph", *sys.argv[1:]]
sys.exit(main())
"""
"""The command, with bounds that are met at once."""

SOURCES = f"""{LOW_BOUNDS}
from pathlib import Path
from ingest.sources.walking import read_paths
for found in read_paths(map(Path, sys.argv[1:])):
    print(f"{{found.size}} bytes" if isinstance(found, ingest.sources.files.Source) else found)
"""
"""What the command would read, in a fraction of the time it takes to start."""


def shell(line: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Of a line for a shell, so that pipes are those of a shell.

    `$COMMAND` and `$SOURCES` are the programs above.
    """
    line = line.replace("$COMMAND", '"$PYTHON" -c "$THE_COMMAND" ingest --db "$DB"').replace(
        "$SOURCES", '"$PYTHON" -c "$THE_SOURCES"'
    )
    variables = environment(
        PYTHON=sys.executable,
        THE_COMMAND=COMMAND,
        THE_SOURCES=SOURCES,
        RECORD=record_text(),
        **more,
    )
    return subprocess.run(
        ["bash", "-c", line],
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def db(store: Store) -> str:
    return store.location


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder for temporary files."""
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


def unreadable(*paths: str | Path) -> list[str]:
    return [
        found.message
        for found in read_paths(list(map(Path, paths)))
        if isinstance(found, InputUnreadable)
    ]


def test_d6_d11_devices_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/zero")
    assert unreadable("/dev/zero", tmp_path / "link") == [
        "cannot read /dev/zero: it is a device, not a file",
        f"cannot read {tmp_path / 'link'}: it is a device, not a file",
    ]


@pytest.mark.parametrize("path", ["/proc/self", "/sys"])
def test_d11_what_the_system_makes_up_is_refused_by_name_once(tmp_path: Path, path: str) -> None:
    if not os.path.lexists(path):
        pytest.skip(f"no {path} here")
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "log.json").write_text(record_text())
    [named] = unreadable(path)
    [inside] = unreadable(tmp_path)
    assert f"cannot read {path}: {path[:5].rstrip('/')} is a virtual file system" in named
    assert inside.startswith(
        f"cannot read {tmp_path / 'link'}: {path[:5].rstrip('/')} is a virtual file system"
    )


def test_d11_a_socket_is_refused_where_it_is_named_and_passed_by_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket may not be long
    (tmp_path / "log.json").write_text(record_text())
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("socket")
        assert unreadable("socket") == ["cannot read socket: it is a socket, not a file"]
        [found] = read_paths([tmp_path])
    assert isinstance(found, Source)
    assert found.path == tmp_path / "log.json"


def test_d11_a_pipe_nobody_writes_to_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(pipes, "WRITER_SECONDS", 0.1)
    assert unreadable(tmp_path / "pipe") == [
        f"cannot read {tmp_path / 'pipe'}: nothing was written to this pipe for 0.1 s"
    ]


def test_d11_a_pipe_whose_writer_is_slow_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow to come, and slow to say something: only that nobody is there is a reason to give up."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(pipes, "WRITER_SECONDS", 30)
    text = record_text().encode() * 2000

    def write() -> None:
        time.sleep(0.1)
        with (tmp_path / "pipe").open("wb", buffering=0) as pipe:
            monkeypatch.setattr(pipes, "WRITER_SECONDS", 0)
            for part in (text[:1000], text[1000:500_000], text[500_000:]):
                time.sleep(0.1)
                pipe.write(part)

    writer = threading.Thread(target=write)
    writer.start()
    [source] = read_paths([tmp_path / "pipe"])
    writer.join()
    assert isinstance(source, Source)
    assert source.data == text


def test_d6_pipes_of_a_shell_are_read(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("12345")
    lines = [
        "printf 1 | $SOURCES -",
        "printf 12 | $SOURCES /dev/stdin",
        "$SOURCES <(printf 123) <(printf 1234) /dev/fd/9 9< <(printf 12345)",
        "$SOURCES <(true) /dev/null",
        "$SOURCES - < /dev/null",
        '$SOURCES - < "$LOG"',
        '$SOURCES /dev/stdin < "$LOG"',
    ]
    found = shell("\n".join(lines), LOG=str(tmp_path / "log"))
    assert found.stderr == ""
    sizes = [int(line.removesuffix(" bytes")) for line in found.stdout.splitlines()]
    assert sizes == list(map(int, "1234500055"))


def test_d6_the_command_tells_what_is_endless_and_reads_the_rest(
    db: str, place: Path, tmp_path: Path
) -> None:
    (tmp_path / "log.json").write_text(record_text())
    done = shell(
        'yes | $COMMAND - /dev/zero "$LOG"',
        DB=db,
        TMPDIR=str(place),
        LOG=str(tmp_path / "log.json"),
    )
    assert (done.returncode, done.stdout) == (ExitCode.INPUT_UNREADABLE, "")
    assert "cannot read stdin: a pipe may have at most 3000000 bytes" in done.stderr
    assert "cannot read /dev/zero: it is a device" in done.stderr
    assert "1 document = 1 accepted" in done.stderr
    assert list(place.iterdir()) == []


def test_d6_extracting_claims_refuses_what_cannot_hold_texts() -> None:
    extract = f"{sys.executable} -m app.cli.main claims extract - < /dev/zero"
    done = shell(extract)
    assert (done.returncode, "Give a file of JSON lines" in done.stderr) == (3, True)
    assert "Traceback" not in done.stderr


def test_d6_extracting_claims_bounds_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(claims, "MOST_BYTES", 100)
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"id": 1, "text": "2x faster"}\n' + "x" * 101)
    done = CliRunner().invoke(claims.extract, [str(texts)])
    assert json.loads(done.stdout)["id"] == 1
    assert isinstance(done.exception, InputUnreadable)
    assert "a line of more than" in done.exception.message


def test_d6_a_pipe_stops_before_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.sources.files.IN_MEMORY_BYTES", 100)
    monkeypatch.setattr("ingest.sources.files.LEFT_FREE_BYTES", 1 << 60)
    monkeypatch.setattr("ingest.sources.files.LEFT_FREE_SHARE", 1.0)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}" * 100)))
    [error] = read_paths([Path("-")])
    assert isinstance(error, InputUnreadable)
    assert "would be left free" in error.message
    assert "Write it to a file" in error.hint


@pytest.fixture
def killed(place: Path) -> Path:
    """The folder that a killed process left, in which it was copying a pipe."""
    line = f'yes | "{sys.executable}" -c "$SOURCES" -'
    variables = environment(SOURCES=SOURCES.replace("3_000_000", "1 << 40"), TMPDIR=str(place))
    with subprocess.Popen(
        ["bash", "-c", line], env=variables, start_new_session=True, stderr=subprocess.DEVNULL
    ) as process:
        while not list(place.glob("tachograph-*/tmp*")):
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    [folder] = place.iterdir()
    return folder


def test_d6_what_a_killed_process_left_is_swept_by_the_next_call(
    killed: Path, place: Path, db: str
) -> None:
    """What a killed process left is swept even by a call with nothing to copy.

    What a living process holds stays, and so does what belongs to others.
    """
    (place / "tachograph-notes").mkdir()
    with held_folder(place, files.PREFIX) as alive:
        done = shell('$COMMAND "$LOG"', DB=db, TMPDIR=str(place), LOG=str(Path(__file__)))
        assert done.returncode == ExitCode.OK, done.stderr
        assert sorted(place.iterdir()) == sorted([alive, place / "tachograph-notes"])
    assert not killed.exists()


def test_d6_a_link_among_what_is_to_be_swept_leads_nowhere(place: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept").touch()
    (place / "tachograph-1-x").symlink_to(tmp_path / "mine")
    with held_folder(place, files.PREFIX):
        assert [path.name for path in (tmp_path / "mine").iterdir()] == ["kept"]


# SQLite's library reads a database of a stranger: no signal reaches Python before it returns


def database_with_view(path: Path) -> None:
    """A run's database, as far as its programs go, whose `attempt_log` never ends."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table programs (id, generation, combined_score, correct)")
        database.execute("insert into programs values ('a', 0, 1.0, 1)")
        endless = (
            "with recursive t(generation) as (select 0 union all select 0 from t) select "
            "generation from t"
        )
        database.execute(f"create view attempt_log as {endless}")
        database.commit()


def rejects(store: Store) -> list[tuple[str, str]]:
    with store.reading() as connection:
        return connection.execute("select reason, detail from rejects").fetchall()


def test_d11_a_view_without_end_costs_its_database_and_no_neighbour(
    store: Store, tmp_path: Path
) -> None:
    database_with_view(tmp_path / "evolution.sqlite")
    (tmp_path / "log.json").write_text(record_text())
    report = ingest(list(read_paths([tmp_path])), store, Options(jobs=1))
    assert [report.total(name) for name in ("accepted", "rejected", "ignored")] == [1, 1, 0]
    assert rejects(store) == [
        ("too_much", "reading stopped here: its attempt_log is a view, which may take any time")
    ]


def test_d11_a_database_that_keeps_the_library_busy_is_given_up(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "SECONDS", 1.0)
    monkeypatch.setattr(bounds, "SECONDS_PER_MEGABYTE", 0.0)
    make_endless(tmp_path / "evolution.sqlite")
    (tmp_path / "log.json").write_text(record_text())
    report = ingest(list(read_paths([tmp_path])), store, Options(jobs=1))
    assert [report.total(name) for name in ("accepted", "rejected", "ignored")] == [1, 1, 0]
    [(reason, detail)] = rejects(store)
    assert reason == "too_much"
    assert "more than 1 seconds of processor time" in detail


def test_d11_a_table_of_too_many_rows_is_given_up(tmp_path: Path) -> None:
    make_endless(tmp_path / "evolution.sqlite", megabytes=1)
    with pytest.raises(TooMuch, match="its table programs has more than 20 rows"):
        read_tables([tmp_path / "evolution.sqlite"], {"programs": ("id", "correct")}, 20)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")
@pytest.mark.parametrize(("jobs", "number"), [("1", signal.SIGINT), ("2", signal.SIGTERM)])
def test_d11_signals_end_an_ingest_while_a_library_is_busy(
    tmp_path: Path, place: Path, db: str, jobs: str, number: signal.Signals
) -> None:
    """SIGINT and SIGTERM did nothing: their handlers run when the library returns."""
    logs = tmp_path / "logs"
    logs.mkdir()
    make_endless(logs / "evolution.sqlite", megabytes=16)
    (logs / "log.json").write_text(record_text())
    command = [
        sys.executable,
        "-m",
        "app.cli.main",
        "ingest",
        str(logs),
        "--jobs",
        jobs,
        "--db",
        db,
    ]
    with subprocess.Popen(
        command, env=environment(TMPDIR=str(place)), cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as process:

        def readers() -> list[str]:
            found = []
            for each in Path("/proc").glob("[0-9]*/cmdline"):
                with suppress(OSError):
                    found.append(each.read_bytes().decode("utf-8", "replace"))
            return [line for line in found if str(place) in line]

        until = time.monotonic() + 100
        while not readers() and time.monotonic() < until and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(number)
        told = process.communicate()[1]
    assert (process.returncode, "nothing was written" in told) == (128 + number, True)
    while readers() and time.monotonic() < until:
        time.sleep(0.02)
    assert not readers(), "the process that read it ends with its parent"
