"""A file of measured results that has grown counts once: as it was read last."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.queries import measured
from ingest.store.database import Store
from ingest.store.undo import undo
from schemas.errors import UsageError
from tests.conftest import fetched, ingest_paths

HEADER = "task,variant,metric,value,unit\n"
BEFORE, AFTER = "sort,baseline,latency,100,ms\n", "sort,candidate,latency,80,ms\n"


def values(store: Store) -> list[float]:
    found = fetched(store, "select value from v_measurements order by value")
    assert measured.count(store) == len(found)
    return [value for (value,) in found]


def test_a_table_that_has_grown_counts_once(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    for text, expected in (
        (HEADER + BEFORE, [100]),
        (HEADER + BEFORE + AFTER, [80, 100]),
        (HEADER + BEFORE + AFTER * 2, [80, 80, 100]),
    ):
        file.write_text(text)
        ingest_paths(store, tmp_path)
        assert values(store) == expected


def test_an_undo_brings_the_earlier_reading_back(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    for text in (HEADER + BEFORE, HEADER + BEFORE + AFTER):
        file.write_text(text)
        ingest_paths(store, tmp_path)
    with pytest.raises(UsageError, match="ingest 2 read files of ingest 1 again"):
        undo(store, 1)
    undo(store, 2)
    assert values(store) == [100]


def test_another_file_of_the_same_name_counts_beside_it(store: Store, tmp_path: Path) -> None:
    for folder, text in (("a", HEADER + BEFORE), ("b", HEADER + AFTER)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "results.csv").write_text(text)
        ingest_paths(store, tmp_path / folder)
    assert values(store) == [80, 100]
