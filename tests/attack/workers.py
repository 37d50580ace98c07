"""Ingests that read with several processes.

One of the workers is killed, or the parent of all of them.

A killed worker ends the ingest with exit code 4 and nothing written. The workers of a killed parent
end by themselves.
"""

from __future__ import annotations

import random
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.attack import kills, logs
from tests.attack.hashes import State, differences
from tests.attack.kills import STORE
from tests.attack.lab import Lab, Tally
from tests.forks import Running

WORKER_DIED = 4
PATIENCE_SECONDS = 60
"""Workers begin within this time, and end within it after their parent."""


def attack(lab: Lab, strikes: int, lines: int = 0) -> None:
    """Kill a worker `strikes` times and the parent as often, of an ingest of some files.

    Of one file of so many lines too, if any.
    """
    room = lab.room("workers")
    sources = {"five files of 4 MB": logs.write_long_logs(room / "long", "long", files=5, runs=12)}
    if lines:
        sources[f"one file of {lines:,} lines"] = logs.write_lines(
            room / "lines" / "lines.jsonl", "line", lines
        )
    for words, source in sources.items():
        done = _undisturbed(lab, source)
        for who, how in (("worker", _kill_worker), ("parent", _kill_parent)):
            tally = lab.tally(f"SIGKILL: {who} that reads {words}", CHECKED[who])
            _attack_one(lab, tally, source, done, how, strikes)


CHECKED = {
    "worker": "exit code 4 and its reason, nothing written, nothing left over; then a good ingest",
    "parent": (
        "its workers end, as before or after by the hash of all columns; then a good ingest, "
        "nothing left over"
    ),
}


def _undisturbed(lab: Lab, source: Path) -> tuple[State, float]:
    """What one process makes of the source, and how long several take for it."""
    folder = lab.room("undisturbed")
    lab.forks.succeed(folder, *kills.ingest(source), "--db", folder / STORE)
    ended = lab.forks.succeed(
        folder, "ingest", source, "--jobs", "2", "--db", folder / "timed.duckdb"
    )
    return lab.hasher.state(folder / STORE), ended.seconds


def _attack_one(
    lab: Lab,
    tally: Tally,
    source: Path,
    usual: tuple[State, float],
    how: Callable[..., bool],
    times: int,
) -> None:
    chance, (done, seconds) = lab.chance(tally.attack), usual
    for _ in range(times):
        delay = chance.uniform(0, seconds / 2)
        with tally.attempt(
            f"ingest {source} --jobs 2; {how.__name__} {delay:.3f} s after the workers began "
            f"(seed {lab.seed})"
        ) as folder:
            store = folder / "of" / STORE
            store.parent.mkdir()
            running = lab.forks.start(folder, "ingest", source, "--jobs", "2", "--db", store)
            is_done = how(running, delay, chance)
            found = lab.hasher.state(store)
            wanted = done if is_done else State()
            assert found.is_like(wanted), (
                f"the store is not as it should be: {differences(found, wanted)}"
            )
            lab.forks.succeed(folder, *kills.ingest(source), "--db", store)
            assert lab.hasher.state(store).is_like(done), (
                "the next ingest does not end as an undisturbed one"
            )
            left = [
                path.name
                for path in (*store.parent.iterdir(), *(folder / "tmp").iterdir())
                if path.name != STORE
            ]
            assert not left, f"the next call left {left}"


def _kill_worker(running: Running, delay: float, chance: random.Random) -> bool:
    """Kill one of the workers. Returns whether all was written, since the ingest was quicker."""
    workers = _workers(running)
    select.select([running], [], [], delay)
    if workers:
        _kill(chance.choice(workers))
    ended = running.wait(PATIENCE_SECONDS)
    assert ended.code in (0, WORKER_DIED), ended.story
    assert "Traceback" not in ended.err, ended.story
    assert ended.code == 0 or "worker process was killed or crashed" in ended.err, ended.story
    return ended.code == 0


def _kill_parent(running: Running, delay: float, chance: random.Random) -> bool:
    """Kill the command itself. Returns whether all was written, since it was quicker."""
    workers = _workers(running)
    select.select([running], [], [], delay)
    running.send(signal.SIGKILL)
    ended = running.wait()
    _, alive = psutil.wait_procs(workers, PATIENCE_SECONDS)
    running.end()
    assert not alive, f"{len(alive)} workers live on after their parent"
    return ended.code == 0


def _workers(running: Running) -> list[psutil.Process]:
    """Its worker processes, once they have begun; none where it ended before."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and not running.has_ended:
        try:
            children = psutil.Process(running.pid).children()
            found = [
                child for child in children if "resource_tracker" not in " ".join(child.cmdline())
            ]
        except psutil.Error:
            continue
        if len(found) >= 2:
            return found
        time.sleep(0.01)
    assert running.has_ended, "no workers began"
    return []


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return
