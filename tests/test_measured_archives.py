"""Measured results in an archive mean what they mean in a folder.

Files beside them count, and so does `measure.toml`.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store, arrow
from tests.conftest import fetched, ingest_paths
from tests.golden_logs import text_of

SAMPLE = {"sampling_mode": "Linear", "iters": [1, 2, 4], "times": [200, 420, 760]}


def hyperfine(command: str) -> dict[str, Any]:
    return {
        "results": [
            {
                "command": command,
                "mean": 2.5,
                "stddev": 0.1,
                "median": 2.4,
                "user": 2.0,
                "system": 0.1,
                "min": 2,
                "max": 3,
            }
        ]
    }


FOLDERS: dict[str, Mapping[str, Any]] = {
    "asv": {
        name: text_of(f"measured/asv/version_2_with_definitions/{name}")
        for name in ("results/benchmarks.json", "results/box/0123abcd-py.json")
    },
    "criterion": {
        "target/criterion/a/new/estimates.json": text_of(
            "measured/criterion/whole/encode/estimates.json"
        ),
        "target/criterion/a/new/benchmark.json": {"full_id": "codec/encode/64"},
        "target/criterion/a/new/sample.json": SAMPLE,
    },
    "said": {
        "out/measure.toml": 'variant = "candidate"\n["b*.json"]\ntask = "sort"\n',
        "out/b1.json": hyperfine("sort 1"),
        "out/c.json": hyperfine("sort 2"),
    },
}
_ROWS = (
    "select * exclude (source_id, subject, batch), batch is null as is_alone from v_measurements "
    "order by all"
)


def filled(folder: Path, files: Mapping[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
        )
    return folder


def zipped(folder: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(
            folder.rglob("*.*"), reverse=True
        ):  # a file comes before those that it is read with
            file.write(path, path.relative_to(folder))
    return archive


def rows(store: Store) -> list[dict[str, Any]]:
    with store.reading() as connection:
        return [row | {"measured_at": None} for row in arrow(connection, _ROWS).to_pylist()]


@pytest.mark.slow
@pytest.mark.parametrize("files", FOLDERS.values(), ids=FOLDERS)
def test_an_archive_tells_what_its_folder_tells(tmp_path: Path, files: Mapping[str, Any]) -> None:
    folder = filled(tmp_path / "folder", files)
    as_files, as_archive = Store(tmp_path / "files.duckdb"), Store(tmp_path / "archive.duckdb")
    ingest_paths(as_files, folder)
    ingest_paths(as_archive, zipped(folder, tmp_path / "results.zip"))
    assert rows(as_files)
    assert rows(as_archive) == rows(as_files)


def test_what_nobody_understands_of_measure_toml_refuses_the_results_beside_it(
    store: Store, tmp_path: Path
) -> None:
    files = {
        "out/measure.toml": 'variant = "canditate"',
        "out/b1.json": hyperfine("sort 1"),
        "b2.json": hyperfine("sort 2"),
    }
    ingest_paths(store, zipped(filled(tmp_path / "folder", files), tmp_path / "results.zip"))
    [(detail,)] = fetched(store, "select detail from rejects")
    assert "measure.toml: variant cannot be 'canditate'" in detail
    assert "candidate" in detail
