"""D2: a kill while a store is made leaves no file that stays or that later commands refuse."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from ingest.store.database import Store
from ingest.store.pricing import reprice
from ingest.store.rebuild import rebuild
from schemas.errors import NotAStore, StoreBusy, StoreMissing
from tests.conftest import SAMPLES, ingest_paths
from tests.test_durability import litter, runs

HEADERS = 12_288


@pytest.fixture(scope="session")
def headers(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What DuckDB has written of a new database before anything is in it."""
    file = tmp_path_factory.mktemp("headers") / "new.duckdb"
    duckdb.connect(str(file)).close()
    assert file.stat().st_size == HEADERS
    return file.read_bytes()


@pytest.mark.parametrize("size", [0, HEADERS])
def test_d2_a_file_with_no_more_than_headers_is_no_store(
    store: Store, headers: bytes, size: int
) -> None:
    """Such as `touch` makes, or DuckDB's own shell in which nothing was done."""
    Path(store.location).write_bytes(headers[:size])
    with pytest.raises(StoreMissing), store.reading():
        pass
    for use in (rebuild, reprice):
        with pytest.raises(StoreMissing):
            use(store)
    assert Path(store.location).read_bytes() == headers[:size], "who only looks changes nothing"
    ingest_paths(store, SAMPLES)
    assert (runs(store), litter(store)) == (3, [])


@pytest.mark.parametrize("content", [b"\n", b"notes\n" * 50, b"DUCK" * 1_024, b"\0" * HEADERS])
def test_d2_a_small_file_that_is_none_of_duckdbs_is_refused_and_never_touched(
    store: Store, content: bytes
) -> None:
    Path(store.location).write_bytes(content)
    for use in (store.reading, store.writing):
        with pytest.raises(NotAStore), use():
            pass
    assert Path(store.location).read_bytes() == content
    assert litter(store) == []


def test_d2_headers_whose_log_holds_the_content_are_a_store(
    store: Store, headers: bytes, tmp_path: Path
) -> None:
    """A kill between a commit and the checkpoint behind it left it so."""
    whole = tmp_path / "other" / "whole.duckdb"
    whole.parent.mkdir()
    ingest_paths(Store(whole), SAMPLES)
    code = (
        f"import duckdb, os; c = duckdb.connect(); c.execute(\"attach '{store.location}' as "
        f"t\"); c.execute(\"attach '{whole}' as w\");c.execute('set checkpoint_threshold = "
        "\\'1GB\\'; copy from database w to t'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert Path(store.location).stat().st_size == HEADERS
    assert Path(f"{store.location}.wal").stat().st_size > HEADERS
    assert runs(store) == 3


KILLED = """
import os, signal, sys, threading, time
from ingest.store.database import Store
def kill():
    while not [name for name in os.listdir(os.path.dirname(sys.argv[1])) if ".making-" in name or ".rebuilding" in name]:
        time.sleep(0.0002)
    time.sleep(float(sys.argv[3]))
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=kill).start()
with Store(sys.argv[1]).writing() if sys.argv[2] == "making" else Store(sys.argv[1]).replacing():
    time.sleep(9)
"""  # noqa: E501


@pytest.mark.parametrize(
    ("what", "use"),
    [
        ("making", lambda store: ingest_paths(store, SAMPLES)),
        ("making", rebuild),
        ("rebuilding", rebuild),
        ("rebuilding", reprice),
    ],
    ids=["ingest", "rebuild", "rebuild-again", "reprice"],
)
def test_what_a_killed_maker_left_is_swept_by_whoever_writes_next(
    sample_store: Store, tmp_path: Path, what: str, use: Callable[[Store], object]
) -> None:
    kept = tmp_path / "kept"
    if what == "making":
        Path(sample_store.location).rename(kept)
    assert (
        subprocess.run(
            [sys.executable, "-c", KILLED, sample_store.location, what, "0.01"], check=False
        ).returncode
        == -signal.SIGKILL
    )
    left = litter(sample_store)
    assert any(f".{what}" in name for name in left)
    assert f"{Path(sample_store.location).name}.lock" in left
    if what == "making":
        assert not sample_store.exists()
        kept.rename(sample_store.location)
    Path(f"{sample_store.location}.ingest-1-x").mkdir()
    use(sample_store)
    assert litter(sample_store) == []


def test_the_leftovers_of_a_maker_that_lives_are_left_alone(store: Store) -> None:
    code = (
        "import sys; from ingest.store.database import Store\nwith Store(sys.argv[1]).writing(): "
        "print('in', flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", code, store.location], stdin=pipe, stdout=pipe
    ) as maker:
        assert maker.stdout is not None
        maker.stdout.readline()
        before = litter(store)
        with (
            pytest.raises(StoreBusy, match=f"locked by pid {maker.pid}"),
            Store(store.location, wait_seconds=0.1).writing(),
        ):
            pass
        assert litter(store) == before
        maker.communicate()
    assert (runs(store), litter(store)) == (0, [])


def test_a_store_that_came_meanwhile_is_never_replaced(
    store: Store, samples_read: Callable[..., Path]
) -> None:
    """By a process that knows of no lock file, or where files cannot be locked."""
    with pytest.raises(StoreBusy, match="meanwhile: nothing was written"), store.writing():
        shutil.copy(samples_read(), store.location)
    assert not store.has_written
    assert (runs(store), litter(store)) == (3, [])
