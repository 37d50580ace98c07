"""A watcher under fire: thousands of files at once, kills, a disk that fills up.

Its store holds what one ingest would.
"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from tests.attack.test_kills import small_disk
from tests.watched import counts, counts_of_one_ingest, text, watched

pytestmark = pytest.mark.thorough

FILES, SECONDS = 10_000, 60


def test_ten_thousand_files_in_a_minute_while_the_watcher_is_killed_and_folders_move(
    tmp_path: Path,
) -> None:
    """Every tenth file is written in two halves; the watcher is killed ten times."""
    logs, store, chance = tmp_path / "logs", tmp_path / "s.duckdb", random.Random(7)
    logs.mkdir()
    began, number = time.monotonic(), 0
    for part in range(10):
        with watched(logs, store, "--wait", "1") as watcher:
            (folder := logs / f"part-{part}").mkdir()
            while number < FILES * (part + 1) // 10:
                body, file = text(number), folder / f"{number}.json"
                if number % 10 == 0:
                    file.write_text(body[: chance.randrange(1, len(body))])
                file.write_text(body)
                number += 1
                time.sleep(max(0.0, began + SECONDS * number / FILES - time.monotonic()))
            folder.rename(logs / f"moved-{part}")
            watcher.end(signal.SIGKILL)
    with watched(logs, store) as watcher:
        watcher.wait_for(
            lambda _: store.exists() and counts(store)[0] == FILES, "all runs", seconds=900
        )
        assert watcher.end() == 0
    assert counts(store) == counts_of_one_ingest(logs, tmp_path / "once.duckdb")


def test_a_full_disk_is_told_and_with_room_everything_comes_in(tmp_path: Path) -> None:
    """The disk of the store fills up; the logs lie elsewhere."""
    logs, disk = tmp_path / "logs", tmp_path / "disk"
    logs.mkdir()
    (logs / "0.json").write_text(text(0))
    with (
        small_disk(disk, 64 << 20),
        watched(logs, disk / "s.duckdb", TMPDIR=str(disk / "tmp")) as watcher,
    ):
        watcher.wait_for_runs(1)
        filler = disk / "filler"
        with filler.open("wb") as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(bytes(1 << 16))
                file.flush()
        for number in range(1, 50):
            (logs / f"{number}.json").write_text(text(number))
        watcher.wait_for(lambda seen: seen.errors, "an error")
        filler.unlink()
        watcher.wait_for_runs(50)
        assert watcher.end() == 0
        assert counts(disk / "s.duckdb") == counts_of_one_ingest(logs, tmp_path / "once.duckdb")
