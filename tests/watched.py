"""A real `tachograph watch` in a process of its own, for tests and attacks.

What it says, and what its store holds in the end.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ingest.pipeline import Options, ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from tests.conftest import environment, record_text
from tests.forks import command

PATIENCE_SECONDS = 60.0
COUNTED = (
    "select count(*), count(distinct run_id), sum(cost_own_usd), count(distinct session_id) from "
    "runs"
)
REJECTED = "select count(*) from rejects"


def text(number: int) -> str:
    """A record like no other."""
    return record_text(
        uuid=f"{number:08x}-0000-4000-8000-000000000000", session_id=f"session-{number}"
    )


class Watched:
    """A watcher over `logs`, by its process and the lines of `--json`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.process.stdout or ():
            self.said.append(json.loads(line))

    @property
    def runs(self) -> int:
        """Runs that it said came in."""
        return sum(int(line.get("accepted", 0)) for line in self.said)

    @property
    def errors(self) -> list[str]:
        """Errors that it said."""
        return [str(line["error"]) for line in self.said if "error" in line]

    def wait_for(self, is_so: Any, what: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Return as soon as a function of this is true. Fails after so many seconds."""
        deadline = time.monotonic() + seconds
        while not is_so(self):
            assert self.process.poll() is None, (
                f"the watcher ended with {self.process.returncode}, before {what}"
            )
            assert time.monotonic() < deadline, f"waited in vain for {what}: {self.said}"
            time.sleep(0.02)

    def wait_for_runs(self, count: int) -> None:
        """Return as soon as so many runs came in."""
        self.wait_for(lambda watched: watched.runs >= count, f"{count} runs")

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it by a signal; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def watched(logs: Path, store: Path, *options: str, **variables: str) -> Iterator[Watched]:
    """A watcher, killed at the end of the block if it still runs."""
    words = command("watch", logs, "--db", store, "--json", "--jobs", "1", *options)
    said = store.with_name("watcher.err").open("a")
    with (
        said,
        subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=said, text=True, env=environment(**variables)
        ) as process,
    ):
        try:
            yield Watched(process)
        finally:
            process.kill()


def counts(store: Path) -> tuple[Any, ...]:
    """Runs, their cost and sessions, and rejects."""
    with Store(store).reading() as connection:
        return (
            *connection.execute(COUNTED).fetchall()[0],
            *connection.execute(REJECTED).fetchall()[0],
        )


def counts_of_one_ingest(logs: Path, place: Path) -> tuple[Any, ...]:
    """The same for a new store into which the logs are ingested at once."""
    ingest(read_paths([logs]), Store(place), Options(jobs=1))
    return counts(place)


def ends(pid: int) -> bool:
    """Whether a process ends within a while."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
