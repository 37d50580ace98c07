"""Lakes for tests: each in its own database, with its data in its own folder or bucket."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from ingest.store.database import Store
from ingest.store.lake.access import packaged
from ingest.store.lake.upkeep import make_lake
from tests.lake.servers import (
    PASSWORD,
    ObjectStorage,
    PostgreSQL,
    object_storage,
    postgresql,
    program,
)

collect_ignore_glob = [] if packaged("ducklake") else ["test_*.py"]
"""Without the extra `lake` there is nothing to test."""

_numbers = count()

Made = Callable[[], str]


@pytest.fixture(scope="session")
def servers_folder() -> Iterator[Path]:
    """A folder that PostgreSQL may use, whoever runs it."""
    with tempfile.TemporaryDirectory(prefix="lake-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def server(servers_folder: Path) -> Iterator[PostgreSQL]:
    """PostgreSQL, and its password in the environment."""
    if not program("initdb"):
        pytest.fail("These tests need PostgreSQL: sudo apt-get install postgresql", pytrace=False)
    (servers_folder / "postgresql").mkdir()
    with (
        postgresql(servers_folder / "postgresql") as running,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("PGPASSWORD", PASSWORD)
        yield running


@pytest.fixture(scope="session")
def storage() -> Iterator[ObjectStorage]:
    """An object storage. Its keys are not in the environment yet."""
    with object_storage() as running:
        yield running


@pytest.fixture
def empty_database(server: PostgreSQL) -> str:
    """The location of a lake that does not exist yet."""
    return server.database(f"lake_{os.getpid()}_{next(_numbers)}")


@pytest.fixture
def lake(empty_database: str, tmp_path: Path) -> Store:
    """An empty lake, its data in a folder."""
    make_lake(empty_database, str(tmp_path / "data"))
    return Store(empty_database, wait_seconds=30)


@pytest.fixture
def in_bucket(storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new bucket, whose keys are in the environment."""
    for name, value in storage.environment().items():
        monkeypatch.setenv(name, value)
    return storage.bucket(f"bucket-{os.getpid()}-{next(_numbers)}")


@pytest.fixture
def stored_lake(empty_database: str, in_bucket: str) -> Store:
    """An empty lake, its data in an object storage."""
    make_lake(empty_database, in_bucket)
    return Store(empty_database, wait_seconds=30)


@pytest.fixture(
    params=["{folder}/catalog.ducklake", "sqlite:{folder}/catalog.sqlite"], ids=["duckdb", "sqlite"]
)
def local_lake(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty lake for one machine, its catalog in a file."""
    location = "ducklake:" + request.param.format(folder=tmp_path)
    make_lake(location)
    return Store(location, wait_seconds=30)
