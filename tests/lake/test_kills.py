"""A writer, the catalog or the object storage dies in the middle.

The lake is as before or as after, and the next ingest completes it.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.store.database import Store
from ingest.store.lake.upkeep import make_lake
from tests.conftest import ingest_paths
from tests.examples import size
from tests.lake.servers import ObjectStorage, PostgreSQL, postgresql
from tests.lake.writers import begin, end, runs, totals, write_logs

RUNS = 60
WRITERS = 6
"""That run at once, to be killed."""

LONGEST_SECONDS = 4.0
"""An ingest takes less on an idle machine."""


@pytest.fixture
def chance() -> random.Random:
    return random.Random(17)


def test_killed_writers_leave_all_or_nothing(
    lake: Store, store: Store, tmp_path: Path, chance: random.Random
) -> None:
    folders = [
        write_logs(tmp_path / f"logs-{number}", RUNS * number, RUNS)
        for number in range(size(WRITERS, thorough=102))
    ]
    for first in range(0, len(folders), WRITERS):
        processes = [
            begin(lake, "ingest", folder, "--wait", "100")
            for folder in folders[first : first + WRITERS]
        ]
        for process in processes:
            time.sleep(chance.uniform(0, LONGEST_SECONDS / 2))
            process.kill()
            assert runs(lake) % RUNS == 0
        end(processes)
    ended = end([begin(lake, "ingest", *folders, "--wait", "100")])
    assert ended[0][0] == 0, ended
    ingest_paths(store, *folders)
    assert totals(lake) == totals(store)


@pytest.fixture
def own_server(servers_folder: Path) -> Iterator[PostgreSQL]:
    """A PostgreSQL to be killed."""
    folder = servers_folder / f"killed-{time.monotonic_ns()}"
    folder.mkdir()
    with postgresql(folder) as running:
        yield running


ABORTED = -signal.SIGABRT
"""DuckDB 1.5.5 ends the process where its extension cannot roll back, since PostgreSQL is gone.
Nothing is half written then either.
"""


def test_a_killed_catalog_leaves_all_or_nothing(
    server: PostgreSQL, own_server: PostgreSQL, store: Store, tmp_path: Path, chance: random.Random
) -> None:
    lake = Store(own_server.database("killed"))
    make_lake(lake.location, str(tmp_path / "data"))
    folders = [
        write_logs(tmp_path / f"logs-{number}", RUNS * number, RUNS)
        for number in range(size(3, thorough=10))
    ]
    for folder in folders:
        process = begin(lake, "ingest", folder)
        time.sleep(chance.uniform(1, LONGEST_SECONDS))
        own_server.kill()
        [(code, _, errors)] = end([process])
        assert code in (0, 4, ABORTED), errors
        assert "Traceback" not in errors
        own_server.start()
        assert runs(lake) % RUNS == 0
    assert end([begin(lake, "ingest", *folders)])[0][0] == 0
    ingest_paths(store, *folders)
    assert totals(lake) == totals(store)


def test_readers_go_on_with_a_catalog_that_was_restarted(
    server: PostgreSQL, own_server: PostgreSQL, tmp_path: Path
) -> None:
    lake = Store(own_server.database("restarted"))
    make_lake(lake.location, str(tmp_path / "data"))
    assert runs(lake) == 0
    own_server.kill()
    own_server.start()
    assert runs(lake) == 0
    assert end([begin(lake, "ingest", write_logs(tmp_path / "logs", 0, RUNS))])[0][0] == 0
    assert runs(lake) == RUNS


def test_an_object_storage_that_goes_away_leaves_all_or_nothing(
    stored_lake: Store, storage: ObjectStorage, store: Store, tmp_path: Path, chance: random.Random
) -> None:
    folders = [
        write_logs(tmp_path / f"logs-{number}", 3 * RUNS * number, 3 * RUNS)
        for number in range(size(3, thorough=10))
    ]
    for folder in folders:
        process = begin(stored_lake, "ingest", folder)
        time.sleep(chance.uniform(0.5, LONGEST_SECONDS))
        storage.go_away()
        [(code, _, errors)] = end([process])
        assert code in (0, 4), errors
        assert "Traceback" not in errors
        storage.come_back()
        assert runs(stored_lake) % (3 * RUNS) == 0
    assert end([begin(stored_lake, "ingest", *folders)])[0][0] == 0
    ingest_paths(store, *folders)
    assert totals(stored_lake) == totals(store)
