"""Agents' SQLite databases: with the log beside them, in archives, growing, damaged."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.sources.databases import session_documents
from ingest.sources.document import Document
from ingest.store.database import Store
from tests.conftest import fetched, ingest_paths
from tests.documents import rejects_of
from tests.golden_logs import text_of

pytestmark = pytest.mark.slow

CRUSH = text_of("crush/sub_agents_count_once/crush.db.sql")
SPENT = [("crush", 5, 1.6)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A project's folder with a database in use, so that all rows are in its write-ahead log."""
    folder = tmp_path / "project" / ".crush"
    folder.mkdir(parents=True)
    connection = sqlite3.connect(folder / "crush.db")
    connection.execute("pragma journal_mode = wal")
    connection.executescript(CRUSH)
    yield tmp_path / "project"
    connection.close()


def spent(store: Store) -> list[tuple[str, int, float]]:
    return fetched(
        store, "select agent, count(*), sum(cost_own_usd)::double from runs group by all"
    )


def test_a_database_in_use_is_read_with_its_log_and_left_as_it_is(
    place: Path, store: Store
) -> None:
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    report = ingest_paths(store, place)
    assert (spent(store), report.total("rejected")) == (SPENT, 0)
    assert before == {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert fetched(store, "select distinct cwd from runs") == [(str(place),)]


def test_an_archive_has_the_log_too(place: Path, tmp_path: Path, store: Store) -> None:
    archive = shutil.make_archive(str(tmp_path / "copy"), "gztar", place)
    report = ingest_paths(store, Path(archive))
    assert (spent(store), report.total("rejected")) == (SPENT, 0)


def test_a_later_state_of_a_session_replaces_the_earlier_one(place: Path, store: Store) -> None:
    ingest_paths(store, place)
    connection = sqlite3.connect(place / ".crush" / "crush.db")
    connection.execute("update sessions set cost = cost + 1 where title = 'Faster tokenizer'")
    connection.execute(
        "insert into messages select 'm9', session_id, role, parts, model, created_at + 9, "
        "updated_at, finished_at + 9, provider, 0 from messages where id = 'm3'"
    )
    connection.commit()
    ingest_paths(store, place)
    connection.close()
    assert spent(store) == [("crush", 5, 2.6)]


def test_what_is_no_whole_database_is_a_reject_in_words(
    place: Path, tmp_path: Path, store: Store
) -> None:
    (tmp_path / "alone").mkdir()
    shutil.copy(place / ".crush" / "crush.db-wal", tmp_path / "alone" / "crush.db-wal")
    damaged = tmp_path / "damaged.db"
    connection = sqlite3.connect(damaged)
    connection.executescript(CRUSH)
    connection.close()
    data = damaged.read_bytes()
    damaged.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    for name in ("sessions", "messages"):  # as a view, which may take any time
        connection = sqlite3.connect(tmp_path / f"{name}.db")
        connection.executescript(CRUSH)
        connection.execute(f"alter table {name} rename to other")
        connection.execute(f"create view {name} as select * from other")
        connection.close()
    ingest_paths(store, tmp_path / "alone", damaged, *tmp_path.glob("*s.db"))
    assert spent(store) == []
    [(_, other), (_, alone)] = sorted(rejects_of(store))
    assert alone == ("a write-ahead log of Crush or OpenCode without crush.db, its database")
    assert other.startswith(
        "a database of Crush or OpenCode that cannot be read: SQLite cannot read it: "
    )


def test_a_copy_under_another_name_is_called_by_its_columns(tmp_path: Path) -> None:
    older = text_of("crush/opencode_in_go/opencode.db.sql")
    for script, agent in ((CRUSH, "crush"), (older, "opencode")):
        connection = sqlite3.connect(tmp_path / f"{agent}.sqlite")
        connection.executescript(script)
        connection.close()
        [first, *_] = session_documents(tmp_path / f"{agent}.sqlite", f"{agent}.sqlite")
        assert isinstance(first, Document)
        assert json.loads(first.text)["database_of"] == agent
