"""What watching takes: from a record's last write to its row and page, and the cost of idling.

The page is the open one; the cost is that of an idle watcher.

python -m tests.bench.watching row 200 # p50 and p95 to the row, one record a second python -m
tests.bench.watching page 50 # the same to the figure on an open page, with a browser python -m
tests.bench.watching idle 100000 # CPU and memory of a watcher over so many files that nobody
changes; `--poll 5` to poll
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import psutil

from ingest.store.database import Store
from tests.conftest import record_text
from tests.serving import chromium, served, wait_until_drawn

PAUSE_SECONDS = 1.0
IDLE_SECONDS = 60.0
FOLDER_FILES = 100


@contextmanager
def watching(logs: Path, store: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """`tachograph watch --json` over a folder, from the moment when its first ingest is done."""
    command = [
        sys.executable,
        "-m",
        "app.cli.main",
        "watch",
        str(logs),
        "--db",
        str(store),
        "--json",
        *options,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        print("first ingest:", process.stdout.readline().strip())
        try:
            yield process
        finally:
            process.terminate()


def write(logs: Path, number: int) -> float:
    """Write a record; the time after its last byte."""
    with (logs / f"run-{number}.json").open("w") as file:
        file.write(record_text(uuid=f"{number:032x}", session_id=f"session-{number}"))
    return time.time()


def quantiles(what: str, seconds: Sequence[float]) -> None:
    """Print p50 and p95."""
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    print(
        f"{what}: n {len(seconds)}, p50 {cuts[9]:.2f} s, p95 {cuts[18]:.2f} s, max "
        f"{max(seconds):.2f} s"
    )
    print(
        "load", " ".join(f"{each:.1f}" for each in os.getloadavg()), "on", os.cpu_count(), "cores"
    )


def to_row(count: int, place: Path) -> None:
    """From the last byte of a record to the line that says it is committed."""
    logs, latencies = place / "logs", []
    logs.mkdir()
    write(logs, 0)
    with watching(logs, place / "s.duckdb") as process:
        assert process.stdout
        for number in range(1, count + 1):
            written = write(logs, number)
            said = json.loads(process.stdout.readline())
            latencies.append(datetime.fromisoformat(said["at"]).timestamp() - written)
            time.sleep(PAUSE_SECONDS)
    quantiles("to the row", latencies)


def to_page(count: int, place: Path) -> None:
    """From the last byte of a record to the number of runs on an open page."""
    logs, latencies, store = place / "logs", [], place / "s.duckdb"
    logs.mkdir()
    write(logs, 0)
    os.environ.pop("TACHOGRAPH_LOOK_SECONDS", None)  # `tests.conftest` switches looks off
    with ExitStack() as stack:
        process = stack.enter_context(watching(logs, store))
        url, _ = stack.enter_context(served(store, place / "log"))
        page = stack.enter_context(chromium()).new_page()
        page.goto(f"{url}/runs")
        wait_until_drawn(page)
        for number in range(1, count + 1):
            written = write(logs, number)
            page.get_by_text(f"{number + 1} runs.").wait_for(timeout=30_000)
            latencies.append(time.time() - written)
            time.sleep(PAUSE_SECONDS)
        assert process.poll() is None
    quantiles("to the open page", latencies)


def idle(count: int, place: Path, options: Sequence[str]) -> None:
    """CPU and memory of a watcher over files that nobody changes."""
    logs, store = place / "logs", place / "s.duckdb"
    for number in range(count):
        folder = logs / f"{number // FOLDER_FILES:05}"
        if number % FOLDER_FILES == 0:
            folder.mkdir(parents=True)
        (folder / f"{number}.json").write_text(
            record_text(uuid=f"{number:032x}", session_id=f"session-{number}")
        )
    began = time.monotonic()
    with watching(logs, store, *options) as process:
        print(f"first ingest of {count:,} files after {time.monotonic() - began:.0f} s")
        time.sleep(10)
        of = psutil.Process(process.pid)
        before, began = of.cpu_times(), time.monotonic()
        time.sleep(IDLE_SECONDS)
        after, took = of.cpu_times(), time.monotonic() - began
        cpu = after.user + after.system - before.user - before.system
        memory = [
            of.memory_info().rss,
            *(child.memory_info().rss for child in of.children(recursive=True)),
        ]
        print(
            f"idle over {count:,} files: {max(cpu, 0) / took:.2%} of a core, "
            f"{sum(memory) / 2**20:.0f} MB in {len(memory)} processes"
        )
    assert Store(store).exists()


def main() -> None:
    """Measure one of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("row", "page", "idle"))
    parser.add_argument("count", type=int)
    parser.add_argument("--poll", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.what == "idle":
            idle(given.count, Path(folder), ("--poll", given.poll) if given.poll else ())
        else:
            (to_row if given.what == "row" else to_page)(given.count, Path(folder))


if __name__ == "__main__":
    main()
