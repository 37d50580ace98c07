"""Ctrl-C at any moment: what is said about it is true, and what was not there before is not there afterwards."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ingest.interrupts import inherited_block, put_off
from ingest.store import Store
from tests.conftest import environment, record_text

RECORDS = 400

ZYGOTE = """
import os, sys
import app.ingesting
from app.cli import main
for line in sys.stdin:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writing, 2)
        sys.argv = ["tachograph", *line.split()]
        os.write(1, f"{os.getpid()}\\n".encode())
        code = 130
        try:
            code = main()
        finally:
            os._exit(code)  # an interrupt behind `main` is not ours
    os.close(writing)
    with os.fdopen(reading) as told:
        said = told.read()
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), repr(said), flush=True)
"""
"""The command in a fork of itself, with everything imported: so that the signal hits the ingest and not Python's start."""


@pytest.mark.slow
def test_what_is_said_of_an_interrupt_is_true_at_any_of_16_moments(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text("\n".join(record_text(uuid=f"u{n}", session_id=f"s{n}") for n in range(RECORDS)))
    chance, told = random.Random(0), set()
    command, pipe = [sys.executable, "-c", ZYGOTE], subprocess.PIPE
    with subprocess.Popen(command, env=environment(), cwd=tmp_path, text=True, stdin=pipe, stdout=pipe) as zygote:
        assert zygote.stdin is not None
        assert zygote.stdout is not None
        for number in range(16):
            print(f"ingest log.jsonl --jobs 1 --db {number}.db", file=zygote.stdin, flush=True)
            child = int(zygote.stdout.readline())
            time.sleep(chance.uniform(0.02, 0.35))
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGINT)
            code, said = zygote.stdout.readline().split(" ", 1)
            was_written = "all was written" in said or "Read 1 source" in said
            told.add(was_written)
            assert code in ("0", "130"), said
            assert "Traceback" not in said
            assert (tmp_path / f"{number}.db").exists() == was_written, said
            assert not was_written or count(tmp_path / f"{number}.db") == RECORDS
        zygote.stdin.close()
    assert False in told


def count(store: Path) -> int:
    with Store(store).reading() as connection:
        [(runs,)] = connection.execute("select count(*) from runs").fetchall()
    return int(runs)


def test_a_commit_is_not_interrupted_but_followed_by_the_interrupt() -> None:
    done = False
    with pytest.raises(KeyboardInterrupt), put_off():
        os.kill(os.getpid(), signal.SIGINT)
        done = True
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_a_store_that_was_not_made_in_the_end_is_not_there(store: Store, error: type[BaseException]) -> None:
    with pytest.raises(error), store.writing():
        assert store.exists()
        raise error
    assert list(Path(store.location).parent.iterdir()) == []
    assert not store.has_written
    with store.writing():
        pass
    assert store.has_written
    with pytest.raises(error), Store(store.location).writing():
        raise error
    assert count(Path(store.location)) == 0


def test_processes_of_ours_never_see_ctrl_c() -> None:
    """From their first moment on, long before Python runs there; ours is interrupted as before."""
    asked = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
    with inherited_block():
        done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
