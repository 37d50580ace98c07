"""D8: whoever waits for a store has a turn, and gives up only where nothing moves."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ingest.store.database import Store
from schemas.errors import StoreBusy
from tests.conftest import environment
from tests.test_durability import litter, runs

HOLD = """
import sys
from ingest.store.database import Store
with Store(sys.argv[1]).writing(): print('held', flush=True); sys.stdin.read()
"""
FOREIGN = (
    "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); "
    "sys.stdin.read()"
)


@contextmanager
def holder(store: Store, code: str = HOLD) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes to the store until its input ends."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", code, store.location],
        env=environment(),
        stdin=pipe,
        stdout=pipe,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


CROWD = """
import os, sys, time
from ingest.store.database import Store
store, children = Store(sys.argv[1], wait_seconds=9), []
def write():
    with store.writing() as writer:
        time.sleep(1.8)
        writer.connection.execute("insert into price_files values ('x', '', now(), map())")
def read():
    while not store.exists(): time.sleep(0.01)
    for _ in range(20):
        with store.reading() as connection:
            connection.execute("select count(*) from runs").fetchall()
for use in (write, read, write, write, write, read, write, write):
    child = os.fork()
    if not child:
        code = 1
        try:
            use()
            code = 0
        finally:
            os._exit(code)
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
"""


def test_d8_six_writers_and_two_readers_all_have_their_turn(store: Store) -> None:
    """Together they wait longer than each has patience for.

    Patience is for one that keeps the store, and it goes from hand to hand.

    Each has patience for five of the others, so that a busy machine may take its time for one.
    """
    command = [sys.executable, "-c", CROWD, store.location]
    crowd = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert (crowd.stdout, crowd.stderr) == (f"{[0] * 8}\n", "")
    with store.reading() as connection:
        assert connection.execute("select count(*) from price_files").fetchall() == [(6,)]
    assert litter(store) == []


READERS = """
import os, sys, time
from ingest.store.database import Store
for _ in range(3):
    if not os.fork():
        while not os.path.exists(sys.argv[1] + ".stop"):
            with Store(sys.argv[1]).reading(): time.sleep(0.2)
        os._exit(0)
print('held', flush=True)
for _ in range(3): os.wait()
"""


def test_readers_who_keep_coming_do_not_keep_a_writer_out(sample_store: Store) -> None:
    """One of them has the store at any time. A writer that waits keeps new ones out."""
    with holder(sample_store, READERS) as readers:
        with Store(sample_store.location, wait_seconds=20).writing():
            assert readers.poll() is None
        Path(f"{sample_store.location}.stop").touch()
        assert readers.wait(180) == 0


def test_the_lock_of_a_killed_process_is_free_at_once_and_swept(sample_store: Store) -> None:
    with holder(sample_store) as first:
        first.kill()
        first.wait()
        assert litter(sample_store) == ["runs.duckdb.lock"]
        with Store(sample_store.location, wait_seconds=0).reading():
            assert litter(sample_store) == [], "a reader removes what a dead writer left before it"


@pytest.mark.parametrize("code", [HOLD, FOREIGN])
@pytest.mark.parametrize("use", [Store.reading, Store.writing])
def test_whoever_gives_up_names_the_holder(sample_store: Store, code: str, use: object) -> None:
    """One of our writers, or a program that knows of no lock file: DuckDB names it."""
    with holder(sample_store, code) as other:
        with (
            pytest.raises(StoreBusy) as caught,
            use(Store(sample_store.location, wait_seconds=0.2)),  # type: ignore[operator]
        ):
            pass
        assert (
            f"is locked by pid {other.pid}, {'tachograph' if code is HOLD else 'python'}"
            in caught.value.message
        )
        assert "; timed out after 0.2 s" in caught.value.message


def test_where_files_cannot_be_locked_the_store_is_asked_again_and_again(
    sample_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk without locks."""

    def refused(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr("filelock.FileLock.acquire", refused)
    told: list[str] = []

    def let_go(said: str) -> None:
        told.append(said)
        assert other.stdin is not None
        other.stdin.close()

    with (
        holder(sample_store) as other,
        Store(sample_store.location, wait_seconds=20, on_wait=let_go).writing(),
    ):
        assert other.wait(20) == 0
    assert f"(pid {other.pid}, " in told[0]
    assert (runs(sample_store), litter(sample_store)) == (3, [])


def test_a_reader_who_may_not_write_beside_the_store_reads_all_the_same(
    sample_store: Store,
) -> None:
    folder = Path(sample_store.location).parent
    code = (
        "import sys; from ingest.store.database import Store\nwith Store(sys.argv[1], "
        "wait_seconds=20).reading() as c: print(c.sql('select count(*) from runs').fetchall())"
    )
    command = [sys.executable, "-c", code, sample_store.location]
    if os.geteuid() == 0:  # whom permissions do not bind
        command = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override", *command]
    with holder(sample_store) as first:
        folder.chmod(0o555)
        with subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, text=True
        ) as reader:
            first.communicate()
            assert reader.communicate(timeout=60)[0] == "[(3,)]\n"
        folder.chmod(0o755)
