"""Logs of Inspect AI whose archive is damaged, or packed in an unusual way."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import zstandard

from ingest.store.database import Store
from tests.conftest import ingest_paths
from tests.documents import runs_in_store
from tests.golden_logs import LOGS, lay_shared

LOG = LOGS / "inspect_ai/an_archive_is_one_log/finished.eval"
FIRST, SECOND = "RUN-finished/1/1", "RUN-finished/2/1"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    lay_shared("inspect_ai", tmp_path)
    return tmp_path / "an_archive_is_one_log" / LOG.name


def test_of_members_with_one_name_the_later_one_counts(store: Store, archive: Path) -> None:
    name = "samples/1_epoch_1.json"
    fewer = (LOG / name).read_text().replace('"input_tokens": 200', '"input_tokens": 7')
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(archive, "a") as packed:
        packed.writestr(name, fewer)
    ingest_paths(store, archive)
    assert [run["input_tokens"] for run in runs_in_store(store)] == [7, 200]


def test_a_damaged_member_is_a_reject_and_the_others_are_runs(store: Store, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w") as packed:
        for path in (one for one in LOG.rglob("*") if one.is_file()):
            packed.write(path, path.relative_to(LOG))
    text = archive.read_bytes()
    place = text.index(b"Parsing is 2x", text.index(b"samples/1_epoch_1.json"))
    archive.write_bytes(text[:place] + b"Parsing is 9x" + text[place + 13 :])
    assert ingest_paths(store, archive).total("rejected") == 1
    assert [run["run_id"] for run in runs_in_store(store)] == [SECOND]


def test_members_compressed_with_zstandard(store: Store, archive: Path) -> None:
    """The method that Inspect uses since 0.3.206; `zipfile` reads it from Python 3.14 on only."""
    with zipfile.ZipFile(archive, "w") as packed:
        for path in (one for one in LOG.rglob("*") if one.is_file()):
            packed.writestr(str(path.relative_to(LOG)), zstandard.compress(path.read_bytes()))
        for entry in packed.infolist():
            entry.compress_type = 93
    ingest_paths(store, archive)
    assert [run["run_id"] for run in runs_in_store(store)] == [FIRST, SECOND]


def test_a_truncated_archive_is_rejected(store: Store, archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:-30])
    assert (ingest_paths(store, archive).total("rejected"), runs_in_store(store)) == (1, [])
