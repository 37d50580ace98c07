"""How fast the dashboard is over a large store: each screen's script, and what a visitor waits for in a browser.

    python -m tests.bench.pages [RUNS] [FOLDER]

Makes a store of RUNS runs (a million) in FOLDER once, about 400 MB, and keeps it. Scripts run in AppTest, warm, forty times with other
filters each time, so that no cache knows the answer; then a real Chromium opens each screen. Prints a table: the goals are 0.5 s for the
script at the 95th percentile, 2 s to the first content, 1 GiB of memory.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles

import psutil
from playwright.sync_api import Page
from streamlit.testing.v1 import AppTest

from tests.bench.big_store import make
from tests.serving import ENTRY, chromium, served

SCREENS = ("overview", "runs", "run", "duration", "claims", "cost", "compare", "quality", "reports")
ROUNDS = 40
PATIENCE = 60_000
"""Milliseconds until a page counts as lost."""


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    runs = int(arguments[0]) if arguments else 1_000_000
    folder = Path(arguments[1]) if len(arguments) > 1 else Path(tempfile.gettempdir()) / "tachograph-bench"
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / f"{runs}.duckdb"
    make(store, runs)
    os.environ["TACHOGRAPH_DB"] = str(store)
    print(f"{runs:,} runs, {store.stat().st_size / 1e6:,.0f} MB, {os.cpu_count()} cores")
    print(f"{'screen':<10} {'script, median':>15} {'95th percentile':>16} {'first content':>14} {'whole page':>11}")
    scripts = {screen: script_seconds(screen) for screen in SCREENS}
    with served(store, store.with_suffix(".log")) as (address, process):
        server = psutil.Process(process)
        pages = dict(browser_seconds(address, SCREENS))
        memory = sum(process.memory_info().rss for process in [server, *server.children(recursive=True)])
    for screen in SCREENS:
        first, whole = pages[screen]
        slow = quantiles(scripts[screen], n=20, method="inclusive")[-1]
        print(f"{screen:<10} {median(scripts[screen]):>13.3f} s {slow:>14.3f} s {first:>12.2f} s {whole:>9.2f} s")
    print(f"memory of the server: {memory / 2**20:,.0f} MiB")


def script_seconds(screen: str) -> list[float]:
    """Seconds of each round, another cost range and another run each time."""
    app = AppTest.from_file(str(ENTRY), default_timeout=PATIENCE / 1000).run()
    app.switch_page(f"screens/{screen}.py").run()
    return [_round(app, number) for number in range(ROUNDS)]


def _round(app: AppTest, number: int) -> float:
    app.query_params["min-cost"] = f"{0.11 + number / 1000:.3f}"
    app.query_params["run"] = run_id(number)
    began = time.perf_counter()
    app.run()
    assert not app.exception, app.exception
    return time.perf_counter() - began


def browser_seconds(address: str, screens: Sequence[str]) -> Iterator[tuple[str, tuple[float, float]]]:
    """For each screen the seconds until its title is there, and until nothing runs any more; warm, the cost range never asked for."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        _open(page, f"{address}/")
        for number, screen in enumerate(screens):
            path = "" if screen == "overview" else screen
            yield screen, _open(page, f"{address}/{path}?min-cost={0.2 + number / 1000:.3f}&run={run_id(ROUNDS + number)}")


def run_id(number: int) -> str:
    """The id of that run of the store, for the one screen that shows a single run."""
    return hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()


def _open(page: Page, address: str) -> tuple[float, float]:
    began = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("h1", timeout=PATIENCE)
    first = time.perf_counter() - began
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=PATIENCE)
    return first, time.perf_counter() - began


if __name__ == "__main__":
    main(sys.argv[1:])
