"""Where sources are found: folders of any depth, pipes that fill the disk."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest

from ingest.sources.files import Source
from ingest.sources.walking import IGNORE_FILE, Excluding, read_paths
from schemas.errors import InputUnreadable, UsageError
from tests.conftest import Run, record_text


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
    found = [one.path for one in read_paths([Path("a")]) if isinstance(one, Source)]
    subprocess.run(["rm", "-rf", tmp_path / "a"], check=True)  # which Python could not
    assert found == [Path("a/" * 1500, "log.json")]


def tree(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def left(folder: Path, excluding: Excluding, *paths: Path) -> list[str]:
    return [
        str(one.path.relative_to(folder))
        for one in read_paths(paths or [folder], excluding)
        if isinstance(one, Source) and one.path
    ]


def test_what_is_excluded_is_not_found_and_counted(tmp_path: Path) -> None:
    """As git reads its patterns.

    Names anywhere, paths from the folder that was given, folders as a whole, and all but.
    """
    folder = tree(
        tmp_path / "runs",
        "a.json",
        "a.tmp",
        "cache/b.json",
        "old/c.json",
        "new/old/c.json",
        "new/cache/keep.json",
    )
    excluding = Excluding(["*.tmp", "cache/", "/old", "# *.json"])
    assert left(folder, excluding) == ["a.json", "new/old/c.json"]
    assert excluding.count == 4
    (folder / IGNORE_FILE).write_text("*.json\n!keep.json\n")
    (folder / "new" / IGNORE_FILE).write_text("!c.json\n")
    assert left(folder, Excluding()) == ["a.tmp", "new/cache/keep.json", "new/old/c.json"], (
        "the nearest file decides"
    )
    assert left(folder, Excluding(["keep.*"])) == ["a.tmp", "new/old/c.json"], (
        "and the command before all"
    )
    assert left(folder, Excluding(["c.*"]), folder / "a.json", folder / "old" / "c.json") == [
        "a.json"
    ], "a file that is named is read"


def test_an_ignore_file_that_cannot_be_read_ends_nothing(tmp_path: Path) -> None:
    """It may come with the logs, from a stranger.

    A pipe, a folder, and a pattern that would take years.
    """
    folder = tree(tmp_path, "a/one.json", "b/two.json", "c/three.json", "c/four.json")
    os.mkfifo(folder / "a" / IGNORE_FILE)
    (folder / "b" / IGNORE_FILE).mkdir()
    (folder / "c" / IGNORE_FILE).write_text("*a*a*a*a*a*b\n")
    found = list(read_paths([folder]))
    assert [Path(one.name).name for one in found if isinstance(one, Source)] == [
        "one.json",
        "two.json",
        "four.json",
        "three.json",
    ]
    [error] = [one.message for one in found if isinstance(one, InputUnreadable)]
    assert error == (
        f"the pattern '*a*a*a*a*a*b' of {folder}/c/{IGNORE_FILE} has too many stars: it "
        "leaves nothing out."
    )


def test_a_change_that_is_heard_of_is_excluded_like_a_file_that_is_found(tmp_path: Path) -> None:
    folder = tree(tmp_path, "cache/deep/a.json", "new/b.json", "b.json")
    (folder / IGNORE_FILE).write_text("cache\n/b.json\n")
    out = {
        name: Excluding().leaves_out_below(str(folder), str(folder / name))
        for name in ("cache/deep/a.json", "new/b.json", "b.json")
    }
    assert out == {"cache/deep/a.json": True, "new/b.json": False, "b.json": True}
    assert not Excluding().leaves_out_below(str(folder), str(folder)), "the folder itself"
    assert Excluding(["b.*"]).leaves_out_below(str(folder / "b.json"), str(folder / "b.json")), (
        "a file that is watched"
    )


def test_an_ingest_says_what_it_left_out(tachograph: Run, tmp_path: Path) -> None:
    tree(tmp_path, "logs/a.tmp", "logs/b.tmp")
    (tmp_path / "logs" / "run.json").write_text(record_text())
    said = tachograph("ingest logs --exclude", "*.tmp").stderr
    assert "2 files, or folders of them, left out by --exclude or .tachographignore" in said
    assert "1 document = 1 accepted" in said
    assert tachograph("ingest logs --exclude", "*a*b*c").returncode == UsageError.exit_code
