"""Engines are kept for the next user, who notices nothing of the one before."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from ingest.store import database
from ingest.store.commit import _fit_to
from ingest.store.database import Store
from ingest.store.opening import engines
from ingest.store.opening.engines import connected, end_idle

SETTINGS = (
    "select current_setting('memory_limit'), current_setting('preserve_insertion_order'), current_setting('timezone'), "
    "current_setting('threads'), current_database()"
)
OPEN = "import duckdb, sys; duckdb.connect(sys.argv[1]).close(); print('open')"


STRUCK_AT_ITS_END = """
import os, signal
from ingest.store.opening import engines

class Struck:
    def close(self):
        os.kill(os.getpid(), signal.SIGINT)

with engines.connected("tachograph"):
    pass
engines._idle.append(engines._Engine(Struck(), ""))
"""


@pytest.fixture(autouse=True)
def none_idle() -> Iterator[None]:
    end_idle()
    yield
    end_idle()


def idle() -> list[duckdb.DuckDBPyConnection]:
    return [engine.first for engine in engines._idle]


def test_the_next_user_has_the_engine_without_what_the_one_before_set_and_made(tmp_path: Path) -> None:
    with connected("tachograph") as connection:
        fresh = connection.execute(SETTINGS).fetchall()
        connection.execute(f"attach '{tmp_path / 'one.duckdb'}' as tachograph; use tachograph; set memory_limit = '100MB'")
        connection.execute("set preserve_insertion_order = false; set threads = 3")
        connection.execute("create temp table mine as select 1; set timezone = 'America/New_York'")
        connection.begin()
    [kept] = idle()
    with connected("tachograph") as connection:
        assert not idle(), "it is in use"
        assert connection.execute(SETTINGS).fetchall() == fresh
        assert connection.execute("select count(*) from duckdb_tables()").fetchall() == [(0,)]
        assert connection.execute("select count(*) from duckdb_databases() where not internal").fetchall() == [(1,)]
    assert idle() == [kept]


THREADS = "select current_setting('threads')"


@pytest.mark.parametrize(("many_bytes", "threads"), [(1, duckdb.execute(THREADS).fetchall()[0][0]), (1 << 40, 1)])
def test_a_large_store_is_read_with_all_cores(many_bytes: int, threads: int, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.writing():
        pass
    monkeypatch.setattr(database, "MANY_BYTES", many_bytes)
    with store.reading() as connection:
        assert connection.execute(THREADS).fetchall() == [(threads,)]
    with connected("tachograph") as connection:
        assert connection.execute(THREADS).fetchall() == [(1,)]


def test_other_processes_open_the_store_though_the_engine_is_kept(store: Store) -> None:
    with store.writing():
        pass
    with store.reading():
        pass
    assert idle()
    done = subprocess.run([sys.executable, "-c", OPEN, store.location], capture_output=True, text=True, check=False)
    assert done.stdout == "open\n", done.stderr


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError, GeneratorExit])
def test_after_an_error_the_engine_is_not_kept(error: type[BaseException]) -> None:
    with pytest.raises(error), connected("tachograph"):
        raise error
    assert not idle()


@pytest.mark.slow
def test_no_more_engines_are_kept_than_a_dashboard_uses() -> None:
    opened = [connected("tachograph") for _ in range(engines._KEPT + 2)]
    for one in opened:
        one.__enter__()
    for one in opened:
        one.__exit__(None, None, None)
    assert len(idle()) == engines._KEPT


def test_an_engine_for_another_folder_of_temporary_files_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with connected("tachograph"):
        pass
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with connected("tachograph") as connection:
        assert connection.execute("select current_setting('temp_directory')").fetchall() == [(str(tmp_path),)]
        assert not idle(), "the other one has ended"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of POSIX systems")
def test_a_fork_starts_an_engine_of_its_own() -> None:
    """The threads of its parent's would not be there."""
    with connected("tachograph"):
        pass
    child = os.fork()
    if not child:
        with connected("tachograph") as connection:
            os._exit(int(connection.execute("select 42").fetchall() != [(42,)]))
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.slow
def test_an_interrupt_while_a_process_ends_its_engines_is_no_error() -> None:
    """The command has ended and said so: a traceback of its end would contradict it."""
    done = subprocess.run([sys.executable, "-c", STRUCK_AT_ITS_END], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("records", "limit"), [(10, "858.3 MiB"), (1_000_000, "858.3 MiB"), (3_000_000, "2.5 GiB")])
def test_the_memory_of_a_commit_grows_with_the_number_of_records(records: int, limit: str, store: Store, tmp_path: Path) -> None:
    """It keeps something of each in memory: under a fixed limit, some million records could not be written at once."""
    with store.writing() as writer:
        _fit_to(writer.connection, tmp_path, records)
        assert writer.connection.execute("select current_setting('memory_limit')").fetchall() == [(limit,)]
