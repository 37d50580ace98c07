"""What happens to an ingest happens to all of it: killed, interrupted, two at once, or while the dashboard reads."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from app.queries import runs as run_queries
from app.queries.filters import Filters
from ingest.store.database import Store
from schemas.errors import StoreMissing
from tests.conftest import SAMPLES, environment, ingest_paths, record_text

pytestmark = pytest.mark.slow

FEW, MANY = 60, 345
"""Records that one process reads, and that are enough for several (as three files of more than 4 MB)."""

LONG = "Nothing to tell. " * 2_200


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("few")
    for number in range(FEW):
        (folder / f"{number}.json").write_text(record_text(uuid=f"few-{number}", session_id=f"few-{number}"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    made = [record_text(uuid=f"many-{number}", session_id=f"many-{number}", result=LONG) for number in range(MANY)]
    for number in range(3):
        (folder / f"{number}.jsonl").write_text("\n".join(made[number::3]), encoding="utf-8")
    return folder


def start(store: Store, *arguments: str | Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "app.cli.main", "ingest", "--db", store.location, "--json", *map(str, arguments)]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def runs(store: Store) -> int:
    try:
        return int(run_queries.summary(store, Filters(), metrics=["runs"])["runs"].to_pylist()[0])
    except StoreMissing:
        return 0


def litter(store: Store) -> list[str]:
    return sorted(path.name for path in Path(store.location).parent.iterdir() if path.name != Path(store.location).name)


def seconds(store: Store, folder: Path, jobs: str) -> float:
    """How long an ingest takes that nobody kills."""
    started = time.monotonic()
    with start(store, folder, "--jobs", jobs) as process:
        assert process.wait() == 0, process.stderr and process.stderr.read()
    return time.monotonic() - started


def test_a_kill_of_several_processes_leaves_the_store_as_before_or_after(tmp_path: Path, many: Path) -> None:
    """The other two of fifty kills: the workers end with their parent, and what they left is cleared by the next ingest."""
    store = Store(tmp_path / "runs.duckdb")
    longest = seconds(store, many, "2")
    chance = random.Random(0)
    for _ in range(2):
        Path(store.location).unlink()
        with start(store, many, "--jobs", "2") as process:
            time.sleep(chance.uniform(0.3, longest))
            process.kill()
        assert runs(store) in (0, MANY)
        ingest_paths(store, SAMPLES)
    with start(store, many) as process:
        assert process.wait() == 0
    assert runs(store) == 3 + MANY
    assert litter(store) == []


@pytest.mark.parametrize(
    ("sent", "exit_code", "to_group"), [(signal.SIGINT, 130, False), (signal.SIGTERM, 143, False), (signal.SIGTERM, 143, True)]
)
def test_d12_an_ingest_asked_to_end_writes_nothing_and_leaves_nothing(
    store: Store, many: Path, sent: signal.Signals, exit_code: int, to_group: bool
) -> None:
    """Also where its workers are asked too, as `timeout` and supervisors do: they leave it to their parent."""
    with start(store, many, "--jobs", "2") as process:
        while process.poll() is None and not litter(store):  # its spool: the reading has begun
            time.sleep(0.01)
        (os.killpg if to_group else os.kill)(process.pid, sent)
        _, told = process.communicate(timeout=60)
    if process.returncode:  # it may have been quicker than we
        assert (process.returncode, b"nothing was written" in told) == (exit_code, True), told
        assert runs(store) == 0
    assert litter(store) == []


def test_two_ingests_at_once_both_arrive(store: Store, few: Path, many: Path) -> None:
    processes = [start(store, folder) for folder in (few, many)]
    reports = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
    assert [report["accepted"] for report in reports] == [FEW, MANY]
    assert runs(store) == FEW + MANY


def test_the_same_logs_twice_at_once_count_once(store: Store, few: Path) -> None:
    processes = [start(store, few) for _ in range(2)]
    reports = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
    assert sorted(report["accepted"] for report in reports) == [0, FEW]
    assert all(report["documents"] == report["accepted"] + report["duplicates"] == FEW for report in reports)
    assert runs(store) == FEW


def test_an_ingest_and_a_reader_that_asks_all_the_time_get_along(sample_store: Store, few: Path) -> None:
    """As an open dashboard does."""
    seen: list[int] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            seen.append(runs(sample_store))

    readers = [threading.Thread(target=ask) for _ in range(2)]
    for reader in readers:
        reader.start()
    with start(sample_store, few) as process:
        out, told = process.communicate(timeout=60)
    done.set()
    for reader in readers:
        reader.join()
    assert process.returncode == 0, told
    assert json.loads(out)["accepted"] == FEW
    assert set(seen) <= {3, 3 + FEW}


def test_what_a_killed_ingest_left_is_cleared_by_the_next(store: Store, few: Path) -> None:
    left = Path(f"{store.location}.ingest-999999999-x")
    left.mkdir()
    (left / "runs-small0-0-0.parquet").write_bytes(b"half")
    ingest_paths(store, few)
    assert litter(store) == []


def test_rejects_are_retried_on_demand(store: Store, tmp_path: Path) -> None:
    """As after an upgrade that reads more: here the file itself was mended by hand, under the same name."""
    log = tmp_path / "log.jsonl"
    log.write_text(record_text(uuid="a") + "\n" + record_text(uuid="b", num_turns="many"))
    ingest_paths(store, log)
    assert (runs(store), run_queries.rejects(store).num_rows) == (1, 1)
    with start(store, "--retry-rejects") as process:
        assert json.loads(process.communicate()[0])["rejected"] == 1
    assert (runs(store), run_queries.rejects(store).num_rows, run_queries.sources(store)["accepted"].to_pylist()) == (1, 1, [1])
