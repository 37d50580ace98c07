"""Kills, full disks and crowds: a store is as before a command or as after it, never in between."""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
import pytest

from ingest.store.database import Store
from tests.conftest import record_text
from tests.forks import Forks
from tests.test_pipeline import content
from tests.test_undo import tables

pytestmark = pytest.mark.thorough

KILLS = 50
"""Of each command."""

WRITERS, RUNS = 20, 6
STEPS = (8_192, 100_000, 400_000, 1_500_000, 4_000_000)
"""Bytes that a full disk has left for a command."""

WRITING = (
    ("", "ingest {place}/few --jobs 1"),
    ("more.db", "ingest {place}/few --jobs 1"),
    ("both.db", "rebuild"),
    ("both.db", "reprice --prices {place}/prices.toml"),
    ("both.db", "undo 2 --yes"),
    ("both.db", "label few-1 team=a"),
)
"""The store that a command begins with, and the command."""


def write_logs(folder: Path, name: str, runs: int) -> Path:
    """Logs with a chain of totals, a claim, and a file that is cut off."""
    folder.mkdir(parents=True)
    lines = (
        record_text(
            uuid=f"{name}-{number}",
            session_id=f"{name}-{number // 3}",
            total_cost_usd=0.25 * (1 + number % 3),
            result="**3.17x speedup**: 100 ms → 31.5 ms per call, all 12 tests pass.",
        )
        for number in range(runs)
    )
    (folder / f"{name}.jsonl").write_text("\n".join(lines))
    (folder / f"{name}-cut.json").write_text(record_text(result=name)[:-200])
    for file in folder.iterdir():
        os.utime(file, (1.7e9, 1.7e9))  # the time of a file just written is not kept
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Path:
    """A folder with logs, prices, and stores of one ingest and of two."""
    place = tmp_path_factory.mktemp("kills")
    few, more = (write_logs(place / name, name, 12) for name in ("few", "more"))
    forks.succeed(place, "ingest", more, "--db", place / "more.db")
    shutil.copy(place / "more.db", place / "both.db")
    forks.succeed(place, "ingest", few, "--db", place / "both.db")
    (place / "prices.toml").write_text(
        '[[price]]\nmodel = "claude-opus-4-6"\ninput = 1.25\noutput = 2.5\n'
    )
    return place


def begun(folder: Path, base: Path) -> Path:
    """The place for a store in a new folder, where `base` is copied if it is a file."""
    (folder / "of").mkdir(parents=True)
    if base.is_file():
        shutil.copy(base, folder / "of" / "runs.db")
    return folder / "of" / "runs.db"


def state(store: Path) -> dict[str, Any]:
    """Every table, without the times at which something was ingested or annotated."""
    if not Store(store).exists():
        return {}
    found = tables(Store(store), ("store_meta", "ingests", "price_files"))
    times = (datetime, type(None))
    found["annotations"] = [
        tuple(value for value in row if not isinstance(value, times))
        for row in found["annotations"]
    ]
    return found


def left_beside(store: Path) -> list[str]:
    """Names beside the store and its write-ahead log, and in the folder for temporary files."""
    files = (*store.parent.iterdir(), *(store.parent.parent / "tmp").iterdir())
    return [file.name for file in files if file.name not in (store.name, f"{store.name}.wal")]


@pytest.mark.parametrize(("base", "use"), WRITING)
def test_d2_a_killed_command_leaves_the_store_as_before_or_after(
    forks: Forks, place: Path, tmp_path: Path, base: str, use: str
) -> None:
    """The next command completes it, and clears away what the killed one left."""
    words = use.format(place=place).split()
    store = begun(tmp_path / "undisturbed", place / base)
    before = state(store)
    took = forks.succeed(store.parent.parent, *words, "--db", store).seconds
    after, chance = state(store), random.Random(use)
    assert before != after or use == "rebuild"
    for number in range(KILLS):
        store = begun(tmp_path / str(number), place / base)
        folder = store.parent.parent
        running = forks.start(folder, *words, "--db", store)
        select.select([running], [], [], chance.uniform(0, took))
        running.send(signal.SIGKILL)
        running.wait()
        found = state(store)
        assert found in (before, after), number
        known = ["ingest", place / ("more" if base else "few")]
        forks.succeed(folder, *(words if found == before else known), "--db", store)
        assert state(store) == after, number
        assert left_beside(store) == [], number


@pytest.mark.parametrize("victim", ["worker", "parent"])
def test_d2_a_killed_worker_or_its_parent_leaves_nothing_half_written(
    forks: Forks, tmp_path: Path, victim: str
) -> None:
    """A worker's death is exit code 4 and a sentence; workers end with their parent."""
    logs, text = tmp_path / "logs", "Nothing to tell. " * 200_000
    logs.mkdir()
    for number in range(20):  # of fewer bytes no worker is started
        one = record_text(uuid=f"{number}", session_id=f"{number}", result=text)
        (logs / f"{number}.json").write_text(one)
    store = begun(tmp_path, tmp_path)
    running = forks.start(tmp_path, "ingest", logs, "--jobs", "2", "--db", store)
    workers: list[psutil.Process] = []
    while not workers:
        assert not running.has_ended, running.wait().story
        with suppress(psutil.Error):  # one that ends meanwhile
            children = psutil.Process(running.pid).children()
            workers = [one for one in children if "resource_tracker" not in str(one.cmdline())]
    os.kill(workers[0].pid if victim == "worker" else running.pid, signal.SIGKILL)
    ended = running.wait()
    assert psutil.wait_procs(workers, 60)[1] == []
    if victim == "worker":
        assert ended.code == 4, ended.story
        assert "worker process was killed or crashed" in ended.err
    assert state(store) == {}
    forks.succeed(tmp_path, "ingest", logs, "--db", store)
    assert len(state(store)["runs"]) == 20
    assert left_beside(store) == []


def test_d8_ingests_at_once_all_arrive_once_and_readers_see_whole_ones(
    forks: Forks, tmp_path: Path
) -> None:
    """Every fifth one is of logs that another one ingests too."""
    different = WRITERS - WRITERS // 5
    logs = [
        write_logs(tmp_path / "logs" / f"w{number}", f"w{number}", RUNS)
        for number in range(different)
    ]
    whole, store = tmp_path / "whole.db", begun(tmp_path, tmp_path)
    forks.succeed(tmp_path, "ingest", tmp_path / "logs", "--db", whole)
    running = [
        forks.start(tmp_path, "ingest", log, "--jobs", "1", "--db", store)
        for log in (*logs, *logs[different - WRITERS :])
    ]
    while not all(writer.has_ended for writer in running):
        reader = forks.run(
            tmp_path, "report", "--metrics", "runs", "--format", "jsonl", "--db", store
        )
        assert reader.code == 0 or "no store" in reader.err, reader.story
        assert reader.code or json.loads(reader.out)["runs"] % RUNS == 0
    ended = [writer.wait() for writer in running]
    assert [one.story for one in ended if one.code] == []
    assert sum(f"= {RUNS} accepted" in one.err for one in ended) == different
    assert content(Store(store)) == content(Store(whole))
    assert left_beside(store) == []


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[None]:
    """A disk of so many bytes at a folder, with a folder `tmp`; skips where none is allowed."""
    place.mkdir(parents=True)
    mount: list[str | Path] = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no tmpfs may be mounted here")
    try:
        (place / "tmp").mkdir()
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.parametrize(("base", "use"), WRITING)
def test_a_full_disk_is_a_sentence_and_the_store_is_as_before(
    forks: Forks, place: Path, tmp_path: Path, base: str, use: str
) -> None:
    """With room the same command succeeds, and nothing is left of the failed one."""
    words = use.format(place=place).split()
    store = begun(tmp_path / "undisturbed", place / base)
    before = state(store)
    forks.succeed(store.parent.parent, *words, "--db", store)
    after, has_failed = state(store), False
    for step in STEPS:
        disk = tmp_path / f"disk-{step}"
        with small_disk(disk, step + ((place / base).stat().st_size if base else 0)):
            store = begun(disk, place / base)
            ended = forks.run(disk, *words, "--db", store)
            if ended.code:
                has_failed = True
                assert (ended.code, ended.err[:7]) == (4, "Error: "), ended.story
                assert not any(sign in ended.err for sign in ("Traceback", '{"')), ended.story
                assert state(store) == before
                subprocess.run(["mount", "-o", f"remount,size={256 << 20}", disk], check=True)
                forks.succeed(disk, *words, "--db", store)
            assert state(store) == after
            assert left_beside(store) == []
    assert has_failed or use.startswith(("label", "undo"))  # which need next to nothing
