"""Where sources are found: folders of any depth, pipes that fill the disk."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest

from ingest.documents.contents import find_files, read_paths
from schemas.errors import InputUnreadable


def test_a_pipe_that_finds_no_room_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}" * 100)))
    monkeypatch.setattr("ingest.sources.files.IN_MEMORY_BYTES", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "full"))
    [error] = read_paths([Path("-")])
    assert isinstance(error, InputUnreadable)
    assert "cannot read stdin: No such file" in error.message
    assert "$TMPDIR" in error.hint


@pytest.mark.slow
def test_folders_may_be_deeper_than_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("a", dir_fd=here)
        below = os.open("a", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("log.json", os.O_CREAT, dir_fd=here))
    os.close(here)
    monkeypatch.chdir(tmp_path)
    found = list(find_files([Path("a")]))
    subprocess.run(["rm", "-rf", tmp_path / "a"], check=True)  # which Python could not
    assert found == [Path("a/" * 1500, "log.json")]
