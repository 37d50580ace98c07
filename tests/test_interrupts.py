"""Ctrl-C and its kin at any moment.

What is said about it is true, and what was not there before is not there afterwards.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle, islice, product
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest

from ingest.store.database import Store, registered
from ingest.system.signals import inherited_block, interruptible, put_off, received
from tests.conftest import fetched, ingest_paths, record_text
from tests.fork_server import INTERRUPTED
from tests.forks import Forks, Running

RECORDS = 400

COMMANDS = ("ingest log.jsonl --jobs 1", "ingest log.jsonl --jobs 1", "rebuild", "reprice")
NOTES = {
    signal.SIGINT: "Interrupted",
    signal.SIGTERM: "Stopped by SIGTERM",
    signal.SIGHUP: "Stopped by SIGHUP",
}


def in_the_middle(
    forks: Forks, folder: Path, commands: list[str]
) -> Iterator[tuple[Path, Running]]:
    """Each command when it has run for a moment, and its store."""
    (folder / "log.jsonl").write_text(
        "\n".join(record_text(uuid=f"u{n}", session_id=f"s{n}") for n in range(RECORDS))
    )
    whole = folder / "whole.db"
    ingest_paths(Store(whole), folder / "log.jsonl")
    chance = random.Random(0)
    for number, use in enumerate(commands):
        store = folder / str(number) / "runs.db"
        store.parent.mkdir()
        if "ingest" not in use:
            shutil.copy(whole, store)
        running = forks.start(folder, *use.split(), "--db", store)
        select.select([running], [], [], chance.uniform(0.02, 0.35))
        yield store, running


def test_d12_what_is_said_of_a_signal_is_true_at_any_of_18_moments(
    forks: Forks, tmp_path: Path
) -> None:
    """Of every command that writes, by every signal that asks a process to end."""
    told: set[bool] = set()
    cases = list(islice(cycle(product(COMMANDS, NOTES)), 18))
    begun = in_the_middle(forks, tmp_path, [use for use, _ in cases])
    for (use, sent), (store, running) in zip(cases, begun, strict=True):
        running.send(sent)
        ended = running.wait()
        code, said = ended.code, ended.err
        was_written = (
            "everything was written" in said
            or "Ingested 1 file" in said
            or "Rebuilt " in said
            or "Repriced " in said
        )
        told.add(was_written)
        assert code in (0, 128 + sent, -sent, INTERRUPTED), (
            said
        )  # the last two: before the command began, or after it ended
        assert (NOTES[sent] in said) == (code == 128 + sent) or code == INTERRUPTED, said
        assert "Traceback" not in said, said
        assert store.exists() == (was_written or "ingest" not in use), said
        assert not store.exists() or count(store) == RECORDS
        assert [path.name for path in store.parent.iterdir()] == ["runs.db"] * store.exists(), said
    assert False in told


def test_d2_a_command_killed_at_any_of_8_moments_leaves_the_store_as_before_or_after(
    forks: Forks, tmp_path: Path
) -> None:
    """The next ingest works, and clears away what is left.

    Hundreds of kills: `make attack`.
    """
    cases = list(islice(cycle(COMMANDS), 8))
    begun = in_the_middle(forks, tmp_path, cases)
    for use, (store, running) in zip(cases, begun, strict=True):
        running.end()
        running.wait()
        assert store.exists() or "ingest" in use
        assert not store.exists() or count(store) == RECORDS
        forks.succeed(tmp_path, *COMMANDS[0].split(), "--db", store)
        assert count(store) == RECORDS
        assert [path.name for path in store.parent.iterdir()] == ["runs.db"]


def test_d12_a_signal_that_comes_twice_within_a_moment_is_one() -> None:
    """`timeout` signals the command and then its whole group.

    The second must not cut the cleaning short.
    """
    with interruptible():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        for number in (signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)
        assert received() is signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_d12_a_signal_that_is_ignored_stays_so() -> None:
    """As `nohup` asks for."""
    former = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with interruptible():
        os.kill(os.getpid(), signal.SIGHUP)
    signal.signal(signal.SIGHUP, former)


def count(store: Path) -> int:
    [(runs,)] = fetched(Store(store), "select count(*) from runs")
    return int(runs)


@pytest.mark.parametrize("sent", NOTES)
def test_a_commit_is_not_interrupted_but_followed_by_the_interrupt(sent: signal.Signals) -> None:
    done = False
    with interruptible():
        with pytest.raises(KeyboardInterrupt), put_off():
            os.kill(os.getpid(), sent)
            done = True
        assert received() is sent
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_a_store_that_was_not_made_in_the_end_is_not_there(
    store: Store, error: type[BaseException]
) -> None:
    with pytest.raises(error), store.writing():
        assert not store.exists(), "half a store has not the store's name"
        raise error
    assert list(Path(store.location).parent.iterdir()) == []
    assert not store.has_written
    with store.writing():
        pass
    assert store.has_written
    with pytest.raises(error), Store(store.location).writing():
        raise error
    assert count(Path(store.location)) == 0


def test_an_interrupt_while_duckdb_reads_a_table_of_python_is_one(store: Store) -> None:
    """DuckDB turns it into an error of its own.

    The source was rejected, and a second ingest did not read it.
    """

    class Interrupted:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        store.writing() as writer,
        registered(writer.connection, given=cast("pa.Table", Interrupted())),
    ):
        writer.connection.execute("select * from given")
    assert not store.exists()


def test_processes_of_ours_never_see_a_signal_that_asks_us_to_end() -> None:
    """From their first moment on, long before Python runs there; ours is interrupted as before."""
    asked = "import signal; print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())))"
    with inherited_block():
        done = subprocess.run(
            [sys.executable, "-c", asked], capture_output=True, text=True, check=True
        )
    assert done.stdout == f"{sorted(NOTES)}\n"
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & set(NOTES)
