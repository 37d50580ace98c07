"""What happens to an ingest happens to all of it.

Killed, interrupted, two at once, or while the dashboard reads.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from app.queries import quality as quality_queries
from app.queries import runs as run_queries
from app.queries.filters import Filters
from ingest.store.database import Store
from schemas.errors import StoreMissing
from tests.conftest import environment, ingest_paths, record_text
from tests.forks import Forks, Running

pytestmark = pytest.mark.slow

FEW, MANY = 60, 345
"""Records that one process reads, and that are enough for several (as three files of more than 4
MB).
"""

Start = Callable[..., Running]

LONG = "Nothing to tell. " * 2_200


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("few")
    for number in range(FEW):
        (folder / f"{number}.json").write_text(
            record_text(uuid=f"few-{number}", session_id=f"few-{number}"), encoding="utf-8"
        )
    return folder


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    made = [
        record_text(uuid=f"many-{number}", session_id=f"many-{number}", result=LONG)
        for number in range(MANY)
    ]
    for number in range(3):
        (folder / f"{number}.jsonl").write_text("\n".join(made[number::3]), encoding="utf-8")
    return folder


@pytest.fixture
def start(forks: Forks, tmp_path: Path) -> Start:
    """Begins an ingest: `start(store, folder)`."""

    def begun(store: Store, *arguments: str | Path) -> Running:
        return forks.start(
            tmp_path.parent,
            "ingest",
            "--db",
            store.location,
            "--json",
            *arguments,
            environment=environment(),
        )

    return begun


def runs(store: Store) -> int:
    try:
        return int(run_queries.summary(store, Filters(), metrics=["runs"])["runs"].to_pylist()[0])
    except StoreMissing:
        return 0


def litter(store: Store) -> list[str]:
    return sorted(
        path.name
        for path in Path(store.location).parent.iterdir()
        if path.name != Path(store.location).name
    )


@pytest.mark.parametrize(
    ("sent", "exit_code", "to_group"),
    [(signal.SIGINT, 130, False), (signal.SIGTERM, 143, False), (signal.SIGTERM, 143, True)],
)
def test_d12_an_ingest_asked_to_end_writes_nothing_and_leaves_nothing(
    store: Store, many: Path, start: Start, sent: signal.Signals, exit_code: int, to_group: bool
) -> None:
    """Also where its workers are asked too, as `timeout` and supervisors do.

    They leave it to their parent.
    """
    running = start(store, many, "--jobs", "2")
    while not running.has_ended and not litter(store):  # its spool: the reading has begun
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        (os.killpg if to_group else os.kill)(running.pid, sent)
    ended = running.wait()
    if ended.code:  # it may have been quicker than we
        assert (ended.code, "nothing was written" in ended.err) == (exit_code, True), ended.story
        assert runs(store) == 0
    assert litter(store) == []


def test_two_ingests_at_once_both_arrive(store: Store, few: Path, many: Path, start: Start) -> None:
    processes = [start(store, folder) for folder in (few, many)]
    reports = [json.loads(process.wait().out) for process in processes]
    assert [report["accepted"] for report in reports] == [FEW, MANY]
    assert runs(store) == FEW + MANY


def test_the_same_logs_twice_at_once_count_once(store: Store, few: Path, start: Start) -> None:
    processes = [start(store, few) for _ in range(2)]
    reports = [json.loads(process.wait().out) for process in processes]
    assert sorted(report["accepted"] for report in reports) == [0, FEW]
    assert all(
        report["documents"] == report["accepted"] + report["duplicates"] == FEW
        for report in reports
    )
    assert runs(store) == FEW


def test_an_ingest_and_a_reader_that_asks_all_the_time_get_along(
    sample_store: Store, few: Path, start: Start
) -> None:
    """As an open dashboard does."""
    seen: list[int] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            seen.append(runs(sample_store))

    readers = [threading.Thread(target=ask) for _ in range(2)]
    for reader in readers:
        reader.start()
    ended = start(sample_store, few).wait()
    done.set()
    for reader in readers:
        reader.join()
    assert ended.code == 0, ended.story
    assert json.loads(ended.out)["accepted"] == FEW
    assert set(seen) <= {3, 3 + FEW}


def test_rejects_are_retried_on_demand(store: Store, tmp_path: Path, start: Start) -> None:
    """As after an upgrade that reads more.

    Here the file itself was mended by hand, under the same name.
    """
    log = tmp_path / "log.jsonl"
    log.write_text(record_text(uuid="a") + "\n" + record_text(uuid="b", num_turns="many"))
    ingest_paths(store, log)
    assert (runs(store), quality_queries.every_reject(store).num_rows) == (1, 1)
    assert json.loads(start(store, "--retry-rejects").wait().out)["rejected"] == 1
    assert (
        runs(store),
        quality_queries.every_reject(store).num_rows,
        quality_queries.every_source(store)["accepted"].to_pylist(),
    ) == (
        1,
        1,
        [1],
    )
