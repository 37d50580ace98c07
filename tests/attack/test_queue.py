"""D8: whoever waits for a store has a turn, in order of arrival, and gives up only where nothing moves."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from ingest.store.database import Store
from ingest.store.opening.queue import Kind, Queue, Ticket
from schemas.errors import StoreBusy
from tests.conftest import environment
from tests.test_durability import litter, runs

WORKER = """
import sys
from ingest.store.database import Store
from schemas.errors import StoreBusy
"""

HOLD = WORKER + "with Store(sys.argv[1]).writing(): print('held', flush=True); sys.stdin.read()"
FOREIGN = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


@contextmanager
def holder(store: Store, code: str = HOLD) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes to the store until its input ends."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code, store.location], env=environment(), stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


CROWD = """
import os, sys, time
from ingest.store.database import Store
store, children = Store(sys.argv[1], wait_seconds=3), []
def write():
    with store.writing() as writer:
        time.sleep(0.6)
        writer.connection.execute("insert into price_files values ('x', '', now())")
def read():
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


def test_d8_six_writers_and_two_readers_all_have_their_turn(sample_store: Store) -> None:
    """Together they wait longer than each has patience for: patience is for one that keeps the store, and it goes from hand to hand."""
    crowd = subprocess.run(
        [sys.executable, "-c", CROWD, sample_store.location], env=environment(), capture_output=True, text=True, check=True
    )
    assert (crowd.stdout, crowd.stderr) == (f"{[0] * 8}\n", "")
    with sample_store.reading() as connection:
        assert connection.execute("select count(*) from price_files").fetchall() == [(6,)]
    assert litter(sample_store) == []


def test_a_reader_waits_for_one_writer_and_the_next_writer_for_the_readers_that_came_meanwhile(store: Store) -> None:
    queue = Queue(store.location)
    with ExitStack() as stack:

        def take(*kinds: Kind) -> list[Ticket]:
            return [ticket for kind in kinds if (ticket := stack.enter_context(queue.ticket(kind)))]

        def ahead() -> list[int]:
            return [ticket.position().ahead for ticket in tickets]

        tickets = take("reader", "writer", "reader", "writer", "writer", "reader")
        assert ahead() == [0, 1, 1, 4, 5, 1]
        tickets.pop(0).leave()
        assert ahead() == [0, 1, 3, 4, 1], "the first writer"
        tickets.pop(0).leave()
        assert ahead() == [0, 2, 3, 0], "the readers that waited for it"
        tickets += take("reader")
        assert ahead() == [0, 2, 4, 0, 1], "one more reader waits for the writer that is first now, and that does not wait for it"
        tickets.pop(0).leave()
        tickets.pop(2).leave()
        assert ahead() == [0, 2, 1], "the second writer"
        tickets.pop(0).leave()
        assert ahead() == [1, 0], "then the reader that waited for it"
    assert queue.is_empty()
    assert litter(store) == []


def test_the_ticket_of_a_killed_process_is_free_at_once_and_swept(sample_store: Store) -> None:
    with holder(sample_store) as first:
        first.kill()
        first.wait()
        assert len(litter(sample_store)) == 1
        with Store(sample_store.location, wait_seconds=0).reading():
            assert litter(sample_store) == [], "a reader removes what a dead writer left before it"


def test_whoever_gives_up_names_the_holder_and_how_many_wait(sample_store: Store) -> None:
    queue = Queue(sample_store.location)
    with holder(sample_store, FOREIGN) as other, queue.ticket("reader"), queue.ticket("reader"):
        with pytest.raises(StoreBusy) as caught, Store(sample_store.location, wait_seconds=0.2).reading():
            pass
        assert f"is locked by pid {other.pid}, python" in caught.value.message
        assert "and 2 more are waiting; timed out after 0.2 s" in caught.value.message


def test_whoever_waits_first_tells_the_others_who_keeps_the_store(sample_store: Store) -> None:
    """A program that knows of no queue: its lock shows to whoever asks for it, and only the first does."""
    given_up: list[str] = []

    def wait() -> None:
        with pytest.raises(StoreBusy) as caught, Store(sample_store.location, wait_seconds=0.5).writing():
            pass
        given_up.append(caught.value.message)

    with holder(sample_store, FOREIGN) as other:
        waiters = [threading.Thread(target=wait) for _ in range(3)]
        for waiter in waiters:
            waiter.start()
        for waiter in waiters:
            waiter.join()
        assert len(given_up) == 3
        assert all(f"is locked by pid {other.pid}, python" in message for message in given_up), given_up
    assert [name for name in litter(sample_store) if "queue" in name] == []


def test_where_files_cannot_be_locked_the_store_is_asked_again_and_again(sample_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: without the module there is no queue."""
    monkeypatch.setattr("ingest.system.file_locks.fcntl", None)
    told: list[str] = []

    def let_go(said: str) -> None:
        told.append(said)
        assert other.stdin is not None
        other.stdin.close()

    with holder(sample_store) as other, Store(sample_store.location, wait_seconds=20, on_wait=let_go).writing():
        assert other.wait(20) == 0
    assert f"(pid {other.pid}, " in told[0]
    assert (runs(sample_store), litter(sample_store)) == (3, [])


def test_a_reader_who_may_not_write_beside_the_store_reads_all_the_same(sample_store: Store) -> None:
    folder = Path(sample_store.location).parent
    code = WORKER + "with Store(sys.argv[1], wait_seconds=20).reading() as c: print(c.sql('select count(*) from runs').fetchall())"
    command = [sys.executable, "-c", code, sample_store.location]
    if os.geteuid() == 0:  # whom permissions do not bind
        command = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override", *command]
    with holder(sample_store) as first:
        folder.chmod(0o555)
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as reader:
            first.communicate()
            assert reader.communicate(timeout=60)[0] == "[(3,)]\n"
        folder.chmod(0o755)


def test_a_location_without_a_file_has_no_queue() -> None:
    queue = Queue(None)
    assert queue.is_empty()
    with queue.ticket("writer") as ticket:
        assert ticket is None
