"""Many write at once, and nothing is written twice or lost.

Each writer is a process of its own, as on a machine of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread

import pytest

from app.queries.reading import fetch, read_transaction
from ingest.store.database import Store, Writer
from ingest.store.lake.place import Lake
from ingest.store.opening import TransactionLost, Wait
from schemas.errors import StoreBusy
from tests.conftest import SAMPLES, ingest_paths
from tests.examples import size
from tests.lake.writers import begin, end, totals, write_logs


def test_writers_of_overlapping_logs_leave_what_one_alone_leaves(
    lake: Store, store: Store, tmp_path: Path
) -> None:
    writers = size(6, thorough=20)
    folders = [
        write_logs(tmp_path / f"logs-{number}", first=40 * number, runs=80)
        for number in range(writers)
    ]
    processes = [
        begin(lake, "ingest", folder, SAMPLES, "--json", "--wait", "200") for folder in folders
    ]
    seen, readers_errors = _polled(lake, processes)
    ended = end(processes)
    assert [code for code, _, _ in ended] == [0] * writers, [errors for _, _, errors in ended]
    assert not readers_errors
    assert seen == sorted(seen)  # a reader never sees less than before
    assert sum(json.loads(out)["accepted"] for _, out, _ in ended) == 40 * (writers + 1) + 3
    ingest_paths(store, *folders, SAMPLES)
    assert totals(lake) == totals(store)


def _polled(
    store: Store, processes: Sequence[subprocess.Popen[str]]
) -> tuple[list[int], list[object]]:
    """The numbers of runs that a reader sees meanwhile, and the errors of three.

    One of this process and two that ask by commands.
    """
    seen: list[int] = []
    errors: list[object] = []
    is_over = Event()

    def ask() -> None:
        with store.reading() as connection:
            seen.append(connection.execute("select count(*) from v_runs").fetchall()[0][0])

    def ask_by_command() -> None:
        errors.extend(
            said for said in end([begin(store, "report", "--format", "json")]) if said[0] != 0
        )

    readers = [
        Thread(target=_poll, args=(reader, is_over, errors))
        for reader in (ask, ask_by_command, ask_by_command)
    ]
    for thread in readers:
        thread.start()
    while any(process.poll() is None for process in processes):
        time.sleep(0.2)
    is_over.set()
    for thread in readers:
        thread.join()
    return seen, errors


def _poll(reader: Callable[[], None], is_over: Event, errors: list[object]) -> None:
    while not is_over.is_set():
        try:
            reader()
        except Exception as error:
            errors.append(error)
        time.sleep(0.2)


def _without_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind a pool of connections that keeps no session."""
    monkeypatch.setattr(Lake, "_lock", lambda *_: None)


def test_the_later_of_two_commits_is_refused_and_done_again(
    lake: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both find the same run missing.

    Without the lock only the row that both touch keeps it from being written twice.
    """
    _without_lock(monkeypatch)
    logs = write_logs(tmp_path / "logs", 0, 5)
    tries = []

    def slow(writer: Writer) -> None:
        tries.append(writer.connection.execute("select count(*) from runs").fetchall()[0][0])
        if len(tries) == 1:
            ingest_paths(Store(lake.location), logs)
        writer.connection.execute("update store_meta set last_ingest = last_ingest + 1")

    said: list[str] = []
    Store(lake.location, on_wait=said.append).write(slow)
    assert tries == [0, 5]
    assert "another writer was first" in said[0]
    with pytest.raises(TransactionLost, match="nothing was written"), lake.writing():
        ingest_paths(Store(lake.location), SAMPLES)


def test_a_writer_gives_up_after_many_turns(lake: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_lock(monkeypatch)
    monkeypatch.setattr(Wait, "MOST_LOST", 2)

    def beaten(_: Writer) -> None:
        with Store(lake.location).writing():
            pass

    with pytest.raises(StoreBusy, match="committed 2 times"):
        lake.write(beaten)


def test_a_writer_waits_for_the_lock_and_says_for_whom(lake: Store) -> None:
    said: list[str] = []
    with (
        lake.writing(),
        pytest.raises(StoreBusy, match=r"locked by pid \d+ on 127.0.0.1; timed out"),
    ):
        Store(lake.location, wait_seconds=1, on_wait=said.append).write(lambda _: None)
    assert "is writing (pid" in said[0]
    Store(lake.location, wait_seconds=1).write(lambda _: None)


def test_an_ingest_of_what_is_known_leaves_no_snapshot(lake: Store, tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs", 0, 5)
    for file in logs.iterdir():
        os.utime(
            file, (1_790_000_000, 1_790_000_000)
        )  # of a file that is just written no time of modification is noted
    ingest_paths(lake, logs, team="kernels")

    def snapshots() -> int:
        with lake.reading() as connection:
            return int(
                connection.execute(
                    "select count(*) from ducklake_snapshots('tachograph')"
                ).fetchall()[0][0]
            )

    before = snapshots()
    ingest_paths(lake, logs, team="kernels")
    assert snapshots() == before


_BUDGET = "insert into budgets values ('project', 'tachograph', null, 5, now(), 'somebody')"


def test_a_transaction_sees_no_rows_that_others_add_to_an_empty_table(lake: Store) -> None:
    ingest_paths(lake, SAMPLES)
    names = "select name from budgets"
    with read_transaction(lake) as transaction:
        assert fetch(transaction, names).num_rows == 0
        lake.write(lambda writer: writer.connection.execute(_BUDGET))
        assert fetch(transaction, names).num_rows == 0
    with read_transaction(lake) as transaction:
        assert fetch(transaction, names).num_rows == 1
        assert fetch(transaction, "from runs").num_rows == 3
