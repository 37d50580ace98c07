"""What a visitor waits for on each screen of a dashboard over a large store, and for a search.

    python -m tests.bench.pages [RUNS] [FOLDER]

Makes a store of RUNS runs (a million) in FOLDER once, about 1 GB, and keeps it. A Chromium opens
each screen without a filter (cold), then with cost ranges that nobody asked for before (the best of
three), and searches. Prints seconds to the first content and to the whole page, and the memory of
the server. The goals are 1 s to the first content and 1 GiB.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import psutil
from playwright.sync_api import Page

from tests.bench.big_store import make
from tests.serving import chromium, served, wait_until_drawn

RUN = hashlib.md5(b"7", usedforsecurity=False).hexdigest()
SCREENS = ("", "runs", f"run?run={RUN}", "tasks", "speedups", "compare", "cost", "reports")
SEARCHES = ("zanzibar", "latency", "scheduler.py", "c81e728d", "quantization", "zanzibar trip")
"""Words that none, some or many texts have, parts of names, and several words."""


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    runs = int(arguments[0]) if arguments else 1_000_000
    folder = Path(*arguments[1:2] or [tempfile.gettempdir(), "tachograph-bench"])
    folder.mkdir(parents=True, exist_ok=True)
    store = Path(make(folder / f"{runs}.duckdb", runs).location)
    print(f"{runs:,} runs, {store.stat().st_size / 1e6:,.0f} MB, {os.cpu_count()} cores")
    with (
        served(store, store.with_suffix(".log")) as (address, process),
        chromium() as browser,
        browser.new_page(viewport={"width": 1280, "height": 900}) as page,
    ):
        opened(page, f"{address}/data")
        print(f"{'page':<24}{'cold: first':>12}{'whole':>8}{'chosen: first':>15}{'whole':>8}")
        for number, screen in enumerate(SCREENS):
            cold = opened(page, f"{address}/{screen}")
            chosen = (
                f"{address}/{screen}{'&' if '?' in screen else '?'}min-cost={0.3 + one / 1000:.3f}"
                for one in range(3 * number, 3 * number + 3)
            )
            best = min(opened(page, each) for each in chosen)
            name = screen.partition("?")[0] or "overview"
            print(f"{name:<24}{cold[0]:>12.2f}{cold[1]:>8.2f}{best[0]:>15.2f}{best[1]:>8.2f}")
        for words in SEARCHES:
            first, whole = opened(page, f"{address}/runs?search={quote(words)}")
            print(f"{f'search {words}':<24}{first:>12.2f}{whole:>8.2f}")
        server = psutil.Process(process)
        tree = [server, *server.children(recursive=True)]
        print(f"server: {sum(one.memory_info().rss for one in tree) / 2**20:,.0f} MiB")


def opened(page: Page, address: str) -> tuple[float, float]:
    """Seconds until the heading is there, and until nothing runs any more."""
    began = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("h1", timeout=60_000)
    first = time.perf_counter() - began
    wait_until_drawn(page)
    return first, time.perf_counter() - began


if __name__ == "__main__":
    main(sys.argv[1:])
