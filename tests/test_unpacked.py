"""Sidecars in archives and uploads say what they say in a folder."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.context.sidecars import sidecars_among, unpacked
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from tests.conftest import record_text
from tests.golden_logs import LOGS
from tests.using import uploaded

COLUMNS = (
    "task, repo, base_commit, head_commit, task_status, first_edit_ms, patch_files, "
    "patch_insertions, started_at::varchar, time_source"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two items of a run; the records are before and behind their sidecars in order of names."""
    beside = LOGS / "sidecars/beside_a_run/known_by_name_and_content/of_a_run"
    for number, record in enumerate(("a.json", "z.json")):
        made = tmp_path / "run" / f"vllm_core-000{number}"
        shutil.copytree(beside, made, ignore=shutil.ignore_patterns("out.json"))
        (made / record).write_text(record_text(uuid=f"u{number}", session_id=f"s{number}"))
    return tmp_path / "run"


def rows(store: Store) -> list[Any]:
    with store.reading() as connection:
        runs = connection.execute(f"select {COLUMNS} from runs order by all").fetchall()
        return [
            runs,
            connection.execute(
                "select path, insertions, deletions from patch_files order by all"
            ).fetchall(),
        ]


def in_zip(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for file in sorted(folder.rglob("*.*")):
            archive.write(file, file.relative_to(folder.parent))
    return buffer.getvalue()


def in_tar(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(folder, "run")
    return buffer.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("pack", [in_zip, in_tar])
def test_an_archive_says_what_its_folder_says(
    pack: Callable[[Path], bytes], folder: Path, tmp_path: Path
) -> None:
    stores = [Store(str(tmp_path / name)) for name in ("of_folder.duckdb", "of_archive.duckdb")]
    (tmp_path / "logs.bin").write_bytes(pack(folder))
    for store, path in zip(stores, (folder, tmp_path / "logs.bin"), strict=True):
        report = ingest(read_paths([path]), store)
        assert (report.total("accepted"), report.total("rejected"), report.total("ignored")) == (
            2,
            0,
            8,
        )
    assert rows(stores[1]) == rows(stores[0])
    assert rows(stores[1])[0][0][0] == "vllm_core-0007"


def again(name: str, data: bytes) -> bytes:
    """A tar with another archive in it, and nothing else."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


@pytest.mark.parametrize("pack", [in_zip, in_tar])
def test_so_does_an_archive_in_an_archive(
    pack: Callable[[Path], bytes], folder: Path, store: Store, tmp_path: Path
) -> None:
    (tmp_path / "logs.tar").write_bytes(again("run.bin", pack(folder)))
    report = ingest(read_paths([tmp_path / "logs.tar"]), store)
    assert (report.total("accepted"), report.total("rejected"), report.total("ignored")) == (
        2,
        0,
        8,
    )
    assert [(row[0], row[-1]) for row in rows(store)[0]] == [("vllm_core-0007", "sidecar")] * 2


def test_a_folder_that_is_uploaded_says_it_too(folder: Path, store: Store, tmp_path: Path) -> None:
    sources = [
        Source(str(file.relative_to(tmp_path)), file.read_bytes())
        for file in sorted(folder.rglob("*.*"))
    ]
    with unpacked(sidecars_among(sources)) as folders:
        ingest(sources, store, Options(unpacked=folders))
        assert len(folders) == 2
    other = Store(str(tmp_path / "other.duckdb"))
    ingest(read_paths([folder]), other)
    assert rows(store) == rows(other)
    assert not any(place.exists() for place in folders.values())


def test_the_dashboard_unpacks_them(
    folder: Path, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACHOGRAPH_DB", store.location)
    uploads = [
        uploaded(str(file.relative_to(tmp_path)), file.read_bytes())
        for file in sorted(folder.rglob("*.*"))
    ]
    from app.screens import cache  # noqa: PLC0415  with Streamlit, which takes a second

    cache.ingest_uploads(uploads, lambda *_: None)
    assert [run[0] for run in rows(store)[0]] == ["vllm_core-0007"] * 2


@pytest.mark.parametrize(
    "name",
    [
        "../../journal.json",
        "/journal.json",
        "..!journal.json",
        "\0/journal.json",
        "é" * 300 + "/journal.json",
    ],
)
def test_a_strangers_name_leads_nowhere(name: str, tmp_path: Path) -> None:
    with unpacked(sidecars_among([Source(name, b"{}")])) as folders:
        [place] = folders.values()
        assert (place / "journal.json").read_bytes() == b"{}"
        assert place.resolve() == place
        assert "tachograph-" in str(place)


def test_what_only_has_the_name_is_no_sidecar(store: Store) -> None:
    """A record may be called `journal.json`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("run/journal.json", record_text())
    report = ingest([Source("logs.zip", buffer.getvalue())], store)
    assert (report.total("accepted"), report.total("ignored")) == (1, 0)
