"""Small commits leave no files, small files are merged, and old snapshots go.

A report can be made again.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ingest.store.database import Store
from ingest.store.lake.upkeep import compact, expire, status
from schemas.errors import UsageError
from tests.conftest import SAMPLES, Run, ingest_paths
from tests.lake.writers import begin, end, totals, write_logs


def silent(_: str) -> None:
    """What a test need not hear."""


def test_small_ingests_leave_no_files(lake: Store, tmp_path: Path) -> None:
    for number in range(5):
        ingest_paths(lake, write_logs(tmp_path / f"logs-{number}", number, 1))
    found = status(lake.location)
    assert found.files == 0
    assert next(table.rows for table in found.tables if table.name == "runs") == 5
    before = totals(lake)
    done = compact(lake.location, 30, silent)
    assert {table.files for table in done.after.tables if table.rows} == {1}
    assert totals(lake) == before


def test_compacting_merges_files_while_others_write(
    lake: Store, store: Store, tmp_path: Path
) -> None:
    folders = [
        write_logs(tmp_path / f"logs-{number}", 150 * number, 150, per_file=50)
        for number in range(4)
    ]
    for folder in folders[:3]:
        ingest_paths(lake, folder)
    process = begin(lake, "ingest", folders[3], "--wait", "100")
    done = compact(lake.location, 100, silent)
    assert end([process])[0][0] == 0
    assert next(table.files for table in done.before.tables if table.name == "runs") >= 3
    assert (
        next(
            table.files
            for table in compact(lake.location, 100, silent).after.tables
            if table.name == "runs"
        )
        == 1
    )
    ingest_paths(store, *folders)
    assert totals(lake) == totals(store)


def test_old_snapshots_go_and_the_runs_stay(lake: Store, tmp_path: Path) -> None:
    ingest_paths(lake, write_logs(tmp_path / "logs", 0, 150), SAMPLES)
    before = totals(lake)
    assert (
        expire(lake.location, timedelta(days=1), 30, silent).after.snapshots
        == status(lake.location).snapshots
    )
    assert expire(lake.location, timedelta(0), 30, silent).after.snapshots == 1
    assert totals(lake) == before
    with (
        pytest.raises(UsageError, match="it has no snapshot as old as"),
        Store(lake.location, at=datetime(2020, 1, 1, tzinfo=UTC)).reading(),
    ):
        pass


def test_a_report_can_be_made_again_with_the_same_bytes(
    lake: Store, tachograph: Run, tmp_path: Path
) -> None:
    kinds = ("json", "html", "xlsx", "parquet")
    tachograph("ingest", str(SAMPLES), "--db", lake.location)
    time.sleep(1.1)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    words = ("report", "--by", "model", "--since", "2000d", "--at", at, "--db", lake.location, "-o")
    for kind in kinds:
        assert tachograph(*words, f"first.{kind}").returncode == 0
    tachograph("ingest", str(SAMPLES.parent), "--db", lake.location)
    tachograph("rebuild --db", lake.location)
    tachograph("lake compact --db", lake.location)
    for kind in kinds:
        assert tachograph(*words, f"second.{kind}").returncode == 0
        assert (tmp_path / f"first.{kind}").read_bytes() == (
            tmp_path / f"second.{kind}"
        ).read_bytes()


def test_times_that_a_lake_cannot_show(lake: Store, tachograph: Run, tmp_path: Path) -> None:
    for at, store, sentence in (
        ("2020-01-01", lake.location, "it has no snapshot as old as 2020-01-01"),
        ("2999-01-01", lake.location, "is in the future"),
        ("soon", lake.location, "takes a date or time"),
        ("yesterday", str(tmp_path / "runs.duckdb"), "keeps no history"),
    ):
        ended = tachograph("report --at", at, "--db", store)
        assert ended.returncode == 2
        assert sentence in ended.stderr


def test_who_ingested_is_told_and_chosen(lake: Store, tachograph: Run) -> None:
    tachograph("ingest", str(SAMPLES), "--db", lake.location)
    sources = tachograph("sources --format csv --db", lake.location).stdout
    assert "ingested_by" in sources
    with lake.reading() as connection:
        [(who, version)] = connection.execute(
            "select distinct ingested_by, tool_version from sources"
        ).fetchall()
    assert "@" in who
    assert version
    assert (
        tachograph("runs --format csv --ingested-by", who, "--db", lake.location).stdout.count("\n")
        == 4
    )
    assert (
        "No run has ingested-by"
        in tachograph("runs --ingested-by nobody@nowhere --db", lake.location).stderr
    )
