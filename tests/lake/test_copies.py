"""A whole store goes from a file into a lake and back, and goes on where it was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ingest.store import copying
from ingest.store.copying import copy_store
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from schemas.errors import StoreVersionMismatch, UsageError
from tests.conftest import SAMPLES, Run, ingest_paths
from tests.lake.writers import write_logs


def test_there_and_back(sample_store: Store, lake: Store, tachograph: Run, tmp_path: Path) -> None:
    tachograph("star --repo vllm --yes --db", sample_store.location)
    there = tachograph("copy", sample_store.location, lake.location)
    back = tachograph("copy", lake.location, "back.duckdb")
    assert (there.returncode, back.returncode) == (0, 0), there.stderr + back.stderr
    assert "all 3 runs" in there.stderr
    assert "(0 copied now)" in tachograph("copy", sample_store.location, lake.location).stderr
    assert copy_store(sample_store, str(tmp_path / "back.duckdb"), 5).copied_rows == 0
    assert tachograph("rebuild --db back.duckdb").returncode == 0


def test_an_interrupted_copy_is_no_store_and_goes_on(
    lake: Store, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest_paths(store, write_logs(tmp_path / "logs", 0, 200), SAMPLES)
    monkeypatch.setattr(copying, "_PART_ROWS", 50)
    whole = copying._copy_part
    parts: list[int] = []

    def interrupted(*arguments: Any, **named: Any) -> int:
        if len(parts) == 5:
            raise KeyboardInterrupt
        parts.append(whole(*arguments, **named))
        return parts[-1]

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(copying, "_copy_part", interrupted)
        copy_store(store, lake.location, 5)
    with pytest.raises(StoreVersionMismatch, match="is an incomplete copy"), lake.reading():
        pass
    with pytest.raises(StoreVersionMismatch, match="is an incomplete copy"):
        ingest_paths(lake, SAMPLES)
    with pytest.raises(StoreVersionMismatch, match="is an incomplete copy"):
        rebuild(lake)
    done = copy_store(store, lake.location, 5)
    assert done.copied_rows == done.rows - sum(parts)
    assert done.runs == 203


def test_a_store_with_other_runs_is_left_alone(
    sample_store: Store, lake: Store, tmp_path: Path
) -> None:
    ingest_paths(lake, write_logs(tmp_path / "logs", 0, 5))
    with pytest.raises(UsageError, match="has runs of its own"):
        copy_store(sample_store, lake.location, 5)
    with pytest.raises(UsageError, match="onto itself"):
        copy_store(lake, lake.location, 5)
    with lake.reading() as connection:
        assert connection.execute("select count(*) from runs").fetchall() == [(5,)]
