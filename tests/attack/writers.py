"""Many ingests at once into one store, with readers, open dashboards and a busy machine.

Nothing lost, nothing twice, all succeed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.attack import kills, logs
from tests.attack.hashes import differences
from tests.attack.kills import STORE
from tests.attack.lab import Lab
from tests.forks import Ended, Running
from tests.serving import chromium, served

RUNS = 6
"""Runs in the logs of each writer."""

BUSY_SECONDS = 900
"""Busy loops end by themselves after so long, should nobody end them."""

CHECKED = (
    "all exit with 0; hash of all columns as after one ingest of all logs; each reader saw whole "
    "ingests only; no error on a page"
)


def attack(lab: Lab, writers: int, *, busy: int = 0, dashboards: int = 0) -> None:
    """So many ingests at once, beside busy loops, two readers and dashboards.

    Every fifth ingest is of logs that another one ingests too.
    """
    tally = lab.tally(
        f"{writers} writers, 2 readers, {dashboards} dashboards, {busy} busy loops", CHECKED
    )
    room = lab.room("writers")
    different = [
        logs.write_logs(room / "logs" / f"w{number}", f"w{number}", RUNS)
        for number in range(writers - writers // 5)
    ]
    sources = [*different, *different[: writers // 5]]
    whole = room / STORE
    lab.forks.succeed(room, *kills.ingest(room / "logs"), "--db", whole)
    with (
        tally.attempt(
            f"{writers} ingests at once, {busy} busy loops, {dashboards} dashboards (seed "
            f"{lab.seed})"
        ) as folder,
        ExitStack() as stack,
    ):
        store = folder / "of" / STORE
        store.parent.mkdir()
        pages = _pages(stack, folder, store, dashboards)
        stack.enter_context(busy_loops(busy))
        ended, seen = _crowd(lab, folder, store, sources, pages)
        _check_writers(ended, len(different))
        assert all(runs % RUNS == 0 for runs in seen), (
            f"a reader saw a part of an ingest: {sorted(set(seen))}"
        )
        found, wanted = lab.hasher.state(store), lab.hasher.state(whole)
        assert found.is_like(wanted), (
            f"the store is not as after one ingest of all: {differences(found, wanted)}"
        )
        left = [
            path.name
            for path in (*store.parent.iterdir(), *(folder / "tmp").iterdir())
            if path.name not in (STORE, f"{STORE}.wal")
        ]
        assert not left, f"left over: {left}"
    tally.attempts = writers


def _crowd(
    lab: Lab, folder: Path, store: Path, sources: Sequence[Path], pages: Sequence[Page]
) -> tuple[list[Ended], list[int]]:
    """Start all writers, read until they have ended.

    Returns how they ended, and the numbers of runs that readers saw.
    """
    running = [lab.forks.start(folder, *kills.ingest(source), "--db", store) for source in sources]
    seen: list[int] = []
    while not all(one.has_ended for one in running):
        readers = [
            lab.forks.start(
                folder, "report", "--metrics", "runs", "--format", "jsonl", "--db", store
            )
            for _ in range(2)
        ]
        for page in pages:
            page.reload()
        seen += [_runs_seen(reader) for reader in readers]
    return [one.wait() for one in running], seen


def _runs_seen(reader: Running) -> int:
    """The number of runs a reader found, 0 where there was no store yet."""
    ended = reader.wait()
    if "no store" in ended.err:
        return 0
    assert ended.code == 0, f"a reader failed: {ended.story}"
    return int(json.loads(ended.out)["runs"])


def _check_writers(ended: Sequence[Ended], different: int) -> None:
    failed = [one.story for one in ended if one.code]
    assert not failed, f"{len(failed)} of {len(ended)} writers failed: {failed[0]}"
    counts = [one.err for one in ended]
    accepted = sum(f"= {RUNS} accepted" in told for told in counts)
    assert accepted == different, (
        f"{accepted} ingests were told that their runs are new, not {different}: {counts}"
    )


def _pages(stack: ExitStack, folder: Path, store: Path, dashboards: int) -> list[Page]:
    """Dashboards over the store, each open in a browser."""
    if not dashboards:
        return []
    browser: Browser = stack.enter_context(chromium())
    pages = []
    for number in range(dashboards):
        log = folder / f"dashboard-{number}.log"
        stack.callback(_require_no_traceback, log)
        address, _ = stack.enter_context(served(store, log))
        pages.append(browser.new_page())
        pages[-1].goto(address)
    return pages


def _require_no_traceback(log: Path) -> None:
    told = log.read_text()
    assert "Traceback" not in told, told[-3000:]


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that do nothing but take time.

    They end with the block, and after BUSY_SECONDS in any case.
    """
    code = (
        f"import time; end = time.monotonic() + {BUSY_SECONDS}\nwhile time.monotonic() < end: pass"
    )
    loops = [subprocess.Popen([sys.executable, "-S", "-c", code]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
