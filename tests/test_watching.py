"""`tachograph watch`: which changes are ingested when, and a real watcher over real files."""

from __future__ import annotations

import os
import signal
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.store.opening import OwnFiles
from ingest.watching import (
    BACK_OFF_SECONDS,
    WITHOUT_EVENTS,
    Pending,
    changes,
    file_system,
    sole_watcher,
)
from schemas.errors import StoreBusy
from tests.conftest import Run
from tests.watched import counts, counts_of_one_ingest, text, watched

pytestmark = pytest.mark.slow  # each starts a watcher

MOUNTS = (
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw",
    "40 22 0:35 / /srv/share rw shared:2 - nfs4 host:/share rw",
    r"41 22 0:36 / /srv/my\040logs rw shared:3 - fuse.sshfs host:/logs rw",
)


def test_what_changes_during_an_ingest_comes_next() -> None:
    pending = Pending()
    pending.changed(["a", "b"])
    assert pending.take(10.0) == ["a", "b"]
    assert pending.take(99.0) == []
    pending.changed(["a"])
    pending.ingested(100.0, 0.1)
    assert pending.take(100.0) == ["a"]


def test_what_is_written_while_the_roots_are_ingested_comes_next(tmp_path: Path) -> None:
    """The first ingest may take minutes, in which agents go on writing."""
    root, late = str(tmp_path), tmp_path / "burst" / "late.json"
    found = changes([root], None)
    assert next(found) == {root}
    late.parent.mkdir()
    late.write_text("{}")
    assert any(paths & {str(late), str(late.parent)} for paths in islice(found, 600))


def test_after_a_failure_the_same_paths_wait_longer_each_time() -> None:
    pending, at = Pending(), 0.0
    pending.changed("a")
    for pause in BACK_OFF_SECONDS:
        assert pending.take(at) == ["a"]
        pending.failed(at, ["a"])
        assert pending.take(at + pause - 0.1) == []
        at += pause


def test_a_file_that_cannot_be_read_is_tried_again_and_given_up_until_it_changes() -> None:
    pending, at = Pending(), 0.0
    pending.changed("a")
    for pause in (*BACK_OFF_SECONDS, 0.0):
        assert pending.take(at) == ["a"]
        pending.ingested(at, 0.1, ["a"])
        at += pause
    assert not pending
    pending.changed("a")
    assert pending.take(at) == ["a"]


ENDS = st.sampled_from(("ingested", "failed", "unread"))


@given(st.lists(st.tuples(st.sampled_from("abcde"), ENDS), max_size=40))
def test_whatever_changed_is_taken_after_its_last_change(story: list[tuple[str, str]]) -> None:
    """Without exception: a change during an ingest, a failure or a retry waits for the next."""
    pending, now, dirty = Pending(), 0.0, set[str]()
    for path, end in (*story, *[("a", "ingested")] * 8):
        pending.changed([path])
        dirty.add(path)
        now += 60.0
        taken = pending.take(now)
        if end == "failed":
            pending.failed(now, taken)
        else:
            dirty.difference_update(taken if end == "ingested" else ())
            pending.ingested(now, 0.1, taken if end == "unread" else ())
    assert not dirty


def test_file_systems_of_other_machines_are_polled() -> None:
    kinds = [
        file_system(path, MOUNTS)
        for path in ("/srv/share/logs", "/srv/shared", "/srv/my logs/x", "/")
    ]
    assert kinds == ["nfs4", "ext4", "fuse.sshfs", "ext4"]
    assert [kind.partition(".")[0] in WITHOUT_EVENTS for kind in kinds] == [
        True,
        False,
        True,
        False,
    ]


def test_a_dashboard_beside_a_watcher_serves_nothing_without_watching(
    tachograph: Run, tmp_path: Path
) -> None:
    """It used to go on serving, so that what was written to its folder never came.

    As of `watch`, the second one ends.
    """
    (tmp_path / "logs").mkdir()
    with sole_watcher(str(tmp_path / "runs.duckdb"), "/var/logs"):
        done = tachograph("dashboard --watch logs --db runs.duckdb --headless")
    assert (done.returncode, done.stdout) == (4, "")
    assert "has a watcher already" in done.stderr
    assert "Dashboard of" not in done.stderr


def test_a_second_watcher_is_told_whose_the_store_is(tmp_path: Path) -> None:
    location = str(tmp_path / "s.duckdb")
    with sole_watcher(location, "/var/logs"):
        assert tmp_path / "s.duckdb.watching" in OwnFiles(os.path.realpath(location)), (
            "it is no log"
        )
        with (
            pytest.raises(StoreBusy, match=rf"pid {os.getpid()} on .* of /var/logs"),
            sole_watcher(location, "x"),
        ):
            pass
    assert not list(tmp_path.iterdir())


def test_a_watcher_comes_to_what_one_ingest_would(tmp_path: Path) -> None:
    """A burst, a record in two halves, a rotated log, a renamed folder, what is no log.

    The store and our own output lie beside them.
    """
    logs, store = tmp_path / "logs", tmp_path / "logs" / "s.duckdb"
    logs.mkdir()
    (logs / "first.json").write_text(text(0))
    with watched(logs, store) as watcher:
        watcher.wait_for_runs(1)
        (logs / "half.json").write_text(text(1)[:200])
        (logs / "burst").mkdir()
        for number in range(100, 160):
            (logs / "burst" / f"{number}.json").write_text(text(number))
        (logs / "notes.txt").write_text("no log")
        watcher.wait_for_runs(61)
        with (logs / "half.json").open("a") as file:
            file.write(text(1)[200:])
        (logs / "first.json").rename(logs / "first.json.1")
        (logs / "first.json").write_text(text(2))
        (logs / "burst").rename(logs / "moved")
        (logs / "moved" / "deep" / "er").mkdir(parents=True)
        (logs / "moved" / "deep" / "er" / "last.json").write_text(text(3))
        watcher.wait_for_runs(64)
        assert watcher.end() == 0
        assert watcher.errors == []
    assert counts(store) == counts_of_one_ingest(logs, tmp_path / "once.duckdb")
    assert not list(logs.glob("s.duckdb.*"))


def test_a_killed_watcher_leaves_a_store_that_the_next_one_goes_on_with(tmp_path: Path) -> None:
    """Polling, as on a network disk; the store is held by somebody else for a while."""
    logs, store = tmp_path / "logs", tmp_path / "s.duckdb"
    logs.mkdir()
    (logs / "0.json").write_text(text(0))
    with watched(logs, store, "--poll", "0.2") as watcher:
        watcher.wait_for_runs(1)
        (logs / "1.json").write_text(text(1))
        assert watcher.end(signal.SIGKILL) == -signal.SIGKILL
    (logs / "2.json").write_text(text(2))
    with watched(logs, store, "--poll", "0.2", "--wait", "0.2") as watcher:
        watcher.wait_for(lambda _: counts(store)[0] == 3, "the runs of both")
        (logs / "3.json").write_text(text(3))
        assert watcher.end(signal.SIGINT) == 0
    assert counts(store)[0] >= 3


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with watched(tmp_path / "nowhere", tmp_path / "s.duckdb") as watcher:
        assert watcher.process.wait(60) == 3
    assert "no such file or folder" in (tmp_path / "watcher.err").read_text()


def test_what_is_excluded_is_not_ingested_when_it_changes(tmp_path: Path) -> None:
    """Neither by the option nor by an ignore file that came later; what is not excluded is."""
    logs, store = tmp_path / "logs", tmp_path / "runs.duckdb"
    (logs / "cache").mkdir(parents=True)
    (logs / "a.tmp").write_text(text(0))
    with watched(logs, store, "--exclude", "*.tmp") as watcher:
        (logs / "first.json").write_text(text(1))
        watcher.wait_for_runs(1)
        (logs / ".tachographignore").write_text("cache/\n")
        for number, name in enumerate(("b.tmp", "cache/c.json", "last.json"), 2):
            (logs / name).write_text(text(number))
        watcher.wait_for_runs(2)
    assert counts(store)[0] == 2
