"""The store: versions, strangers, locks, rebuild."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from app.queries import quality as quality_queries
from app.queries import runs as run_queries
from app.queries.filters import Filters
from ingest.store import opening
from ingest.store.database import Store
from ingest.store.rebuild import RebuildReport, rebuild
from schemas.errors import (
    ExitCode,
    NotAStore,
    StoreBusy,
    StoreError,
    StoreMissing,
    StoreVersionMismatch,
)
from schemas.store_version import SCHEMA_VERSION
from tests.conftest import SAMPLES, fetched, ingest_paths, record_text

HOLDER = (
    "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); "
    "sys.stdin.read()"
)


def set_version(store: Store, version: int) -> None:
    with duckdb.connect(store.location) as connection:
        connection.execute(f"update store_meta set schema_version = {version}")


def everything(store: Store) -> dict[str, pa.Table]:
    with store.reading() as connection:
        return {
            table: connection.sql(f"select * from {table} order by all").to_arrow_table()
            for table in ("sources", "runs", "model_usage", "rejects")
        }


def test_no_store_says_how_to_make_one(store: Store) -> None:
    with pytest.raises(StoreMissing, match="tachograph ingest PATH") as caught:
        run_queries.summary(store, Filters())
    assert caught.value.exit_code is ExitCode.STORE_UNUSABLE
    assert not store.exists()


def test_a_file_that_is_no_database_is_refused(store: Store) -> None:
    Path(store.location).write_text("notes\n" * 2000)
    for use in (store.reading, store.writing):
        with pytest.raises(NotAStore, match="not a valid DuckDB database"), use():
            pass
    assert Path(store.location).read_text() == "notes\n" * 2000


@pytest.mark.parametrize("name", ["runs.json", "runs.csv"])
def test_a_file_that_duckdb_would_read_as_data_is_refused(tmp_path: Path, name: str) -> None:
    log = tmp_path / name
    log.write_text('{"a": 1}\n')
    for use in (Store(str(log)).reading, Store(str(log)).writing):
        with pytest.raises(NotAStore, match="not a valid DuckDB database"), use():
            pass
    assert log.read_text() == '{"a": 1}\n'


def test_somebody_elses_database_is_refused_and_left_alone(store: Store) -> None:
    with duckdb.connect(store.location) as connection:
        connection.execute("create table theirs as select 1 as one")
    for use in (store.reading, store.writing):
        with pytest.raises(NotAStore, match="not a Tachograph store"), use():
            pass
    with duckdb.connect(store.location) as connection:
        assert connection.execute("select table_name from duckdb_tables()").fetchall() == [
            ("theirs",)
        ]


def test_a_store_of_a_newer_version_asks_for_an_upgrade(sample_store: Store) -> None:
    set_version(sample_store, 99)
    for use in (sample_store.reading, sample_store.writing):
        with (
            pytest.raises(StoreVersionMismatch, match=r"tables of version 99(?s:.)*Upgrade"),
            use(),
        ):
            pass


@pytest.mark.slow
def test_a_store_of_an_older_version_asks_for_a_rebuild_which_mends_it(sample_store: Store) -> None:
    before = everything(sample_store)
    set_version(sample_store, 0)
    with pytest.raises(StoreVersionMismatch, match="tachograph rebuild"):
        run_queries.summary(sample_store, Filters())
    assert rebuild(sample_store) == RebuildReport(runs=3, rejects=0)
    assert everything(sample_store) == before


def test_a_store_of_a_newer_version_is_not_rebuilt(sample_store: Store) -> None:
    """It would lose what the newer program keeps, and all say that it went well."""
    set_version(sample_store, SCHEMA_VERSION + 1)
    before = Path(sample_store.location).read_bytes()
    with pytest.raises(StoreVersionMismatch, match="newer Tachograph"):
        rebuild(sample_store)
    assert Path(sample_store.location).read_bytes() == before


@pytest.mark.slow
def test_kept_tables_of_another_form_are_taken_over_as_far_as_they_go(sample_store: Store) -> None:
    """Version 3 had a table `measurements` with columns that ours lacks, and without some of ours.

    The missing columns are ones that ours must have.
    """
    before = everything(sample_store)
    with sample_store.writing() as writer:
        for change in (
            "alter table ingests drop column path_tz",
            "alter table sources add column colour varchar",
            "drop table measurements",
            "create table measurements (run_id varchar, baseline double, candidate double)",
            "insert into measurements values ('x', 1, 2), ('y', 1, 2)",
        ):
            writer.connection.execute(change)
    set_version(sample_store, 3)
    done = rebuild(sample_store)
    assert (done.runs, done.rejects, done.left, done.unread) == (3, 0, {"measurements": 2}, 0)
    assert everything(sample_store) == before


def test_a_store_in_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match="does not exist"),
        Store(tmp_path / "no" / "s.duckdb").writing(),
    ):
        pass


@pytest.mark.slow
def test_a_quote_in_the_path_is_a_quote(tmp_path: Path) -> None:
    store = Store(tmp_path / "it's.duckdb")
    ingest_paths(store, SAMPLES)
    assert run_queries.summary(store, Filters())["runs"].to_pylist() == [3]


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["missing", "no-folder", "broken"])
def test_a_new_store_needs_no_cache(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    """Its tables are the same whether an empty store was kept, cannot be, or was damaged."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    if cache == "no-folder":
        folder.write_text("a file")
    elif cache == "broken":
        ingest_paths(Store(str(tmp_path / "first.duckdb")), SAMPLES)
        [kept] = (folder / "tachograph").iterdir()
        kept.write_bytes(kept.read_bytes()[:5000])
    ingest_paths(store, SAMPLES)
    assert fetched(store, "select count(*) from v_verdicts") == [(3,)]


def test_a_store_held_by_another_process_is_waited_for_then_told(sample_store: Store) -> None:
    told: list[str] = []
    impatient = Store(sample_store.location, wait_seconds=0.8, on_wait=told.append)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, sample_store.location],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreBusy, match=rf"locked by pid {holder.pid}, python(?s:.)*--wait"):
            run_queries.summary(impatient, Filters())
        assert [said.partition(": ")[2].partition(",")[0] for said in told] == [
            f"another process is writing (pid {holder.pid}"
        ]
        holder.communicate()
    assert run_queries.summary(impatient, Filters())["runs"].to_pylist() == [3]


@pytest.mark.slow
def test_readers_and_a_writer_in_one_process_get_along(sample_store: Store) -> None:
    """The dashboard's threads read while an upload writes.

    Each waits its turn and sees whole transactions.
    """
    seen: list[int] = []
    failures: list[BaseException] = []

    def read() -> None:
        try:
            seen.extend(
                run_queries.summary(sample_store, Filters())["runs"].to_pylist()[0]
                for _ in range(15)
            )
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    with sample_store.writing() as writer:
        writer.connection.execute(
            "insert into runs by name select * replace ('copy' as run_id) from runs limit 1"
        )
    for reader in readers:
        reader.join()
    assert not failures
    assert set(seen) <= {3, 4}
    assert len(seen) == 60


def test_an_error_in_a_transaction_rolls_it_back(sample_store: Store) -> None:
    before = everything(sample_store)
    with pytest.raises(ZeroDivisionError), sample_store.writing() as writer:
        writer.connection.execute("delete from runs")
        raise ZeroDivisionError
    assert everything(sample_store) == before


def test_memory_that_does_not_suffice_is_told_as_such(sample_store: Store) -> None:
    with (
        pytest.raises(StoreError, match="failed to allocate") as raised,
        sample_store.writing() as writer,
    ):
        writer.connection.execute("set memory_limit = '20MB'")
        writer.connection.execute(
            "create table lists as select list(i) as all from range(10000000) as _(i)"
        ).fetchall()
    assert "set memory_limit" not in raised.value.message.lower(), "advice for those who write SQL"
    assert raised.value.hint == "Memory is short: ingest fewer files at a time."


@pytest.mark.slow
def test_rebuild_turns_what_can_no_longer_be_read_into_a_reject(sample_store: Store) -> None:
    with sample_store.writing() as writer:
        bad = record_text(num_turns=-1)
        writer.connection.execute("update runs set raw = $raw where num_turns = 24", {"raw": bad})
    assert rebuild(sample_store) == RebuildReport(runs=2, rejects=1)
    [reject] = quality_queries.every_reject(sample_store).to_pylist()
    assert "num_turns" in reject["detail"]
    card = next(
        card
        for card in quality_queries.every_source(sample_store).to_pylist()
        if card["source_id"] == reject["source_id"]
    )
    assert (card["documents"], card["accepted"], card["rejected"]) == (1, 0, 1)


@pytest.mark.slow
def test_a_failed_rebuild_leaves_the_store_and_no_litter(
    sample_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(sample_store)
    monkeypatch.setattr("ingest.store.rebuild.read_batch", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        rebuild(sample_store)
    assert everything(sample_store) == before
    assert [path.name for path in Path(sample_store.location).parent.iterdir()] == ["runs.duckdb"]


def test_the_views_work_for_anyone_who_opens_the_file(sample_store: Store) -> None:
    """With DuckDB's own shell, say, under whatever alias."""
    with duckdb.connect() as connection:
        connection.execute(f"attach '{sample_store.location}' as elsewhere (read_only)")
        assert connection.sql(
            "select count(*), round(max(parallelism), 3) from elsewhere.v_runs"
        ).fetchall() == [(3, 1.257)]


def test_the_store_owns_its_files_and_no_other_that_is_called_alike(tmp_path: Path) -> None:
    """Also through links, of the store, of its folder and to it."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "runs").touch()
    (tmp_path / "link.db").symlink_to("real/runs")
    (tmp_path / "folder").symlink_to("real")
    own = [
        "",
        ".wal",
        ".wal.checkpoint",
        ".rebuilding",
        ".rebuilding.wal",
        ".ingest-12-ab_c",
        ".ingest-12-ab_c/runs-small0-0-0.parquet",
    ]
    own += [".making-12-0f", ".making-12-0f.wal", ".lock", ".watching"]
    other = [
        ".jsonl",
        "1/a.json",
        "-old/a.json",
        ".walrus",
        ".rebuilding-notes.json",
        ".ingest-notes/a.json",
        "/a.json",
        ".json\n",
    ]
    other += [".making-notes", ".making-12-0f.json", ".lock/a.json", ".lock2"]
    for location in ("real/runs", "link.db", "folder/../real/runs", "folder/runs"):
        store = Store(tmp_path / location)
        for folder in ("real", "folder"):
            assert [end for end in own if not store.owns(tmp_path / folder / f"runs{end}")] == []
            assert [end for end in other if store.owns(tmp_path / folder / f"runs{end}")] == []
        assert store.owns(tmp_path / "link.db")
        assert not store.owns(tmp_path / "link.db.wal")


@pytest.mark.slow
def test_a_store_behind_a_link_is_the_one_the_link_leads_to(
    sample_store: Store, tmp_path: Path
) -> None:
    before = everything(sample_store)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "link.db").symlink_to(sample_store.location)
    linked = Store(tmp_path / "links" / "link.db")
    set_version(sample_store, 0)
    rebuild(linked)
    assert Path(linked.location).is_symlink()
    assert everything(sample_store) == everything(linked) == before
    (tmp_path / "log.json").write_text(record_text())
    assert [source.name for source in ingest_paths(linked, tmp_path).sources] == [
        str(tmp_path / "log.json")
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["links", "log.json", "runs.duckdb"]


LAKES_READ = 68
"""The storage version of DuckDB 1.5, in the header of a file."""


def test_the_duckdb_that_lakes_need_reads_a_new_store(store: Store) -> None:
    """Its storage version, and the SQL of its views.

    DuckDB 2.0 writes `if(…)` as a function that 1.5 does not have.
    """
    with store.writing():
        pass
    header = Path(store.location).read_bytes()[:20]
    assert header[8:12] == b"DUCK"
    assert int.from_bytes(header[12:], "little") <= LAKES_READ
    views = fetched(
        store, "select view_name from duckdb_views() where not internal and contains(sql, '\"if\"')"
    )
    assert not views


def test_a_store_of_a_newer_duckdb_is_told_as_such() -> None:
    """In the words of DuckDB 1.5.5, to which 2.0 was shown."""
    said = (
        "IO Error: Trying to read a database file with version number 999, but we can only read "
        "versions between 64 and 68.\nThe database file was created with an newer version of "
        "DuckDB."
    )
    told = opening._unusable(opening.StorePlace("runs.duckdb"), duckdb.IOException(said))
    assert isinstance(told, StoreVersionMismatch)
    assert str(told).startswith(
        "runs.duckdb was written by a newer DuckDB than the one that is installed here"
    )
    assert "`tachograph rebuild --db runs.duckdb`" in told.hint


THREADS = "select current_setting('threads')"


@pytest.mark.parametrize(
    ("many_bytes", "threads"), [(1, duckdb.execute(THREADS).fetchall()[0][0]), (1 << 40, 1)]
)
def test_a_large_store_is_read_with_all_cores(
    many_bytes: int, threads: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.writing():
        pass
    monkeypatch.setattr(opening, "MANY_BYTES", many_bytes)
    assert fetched(store, THREADS) == [(threads,)]
