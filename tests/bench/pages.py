"""How fast the dashboard is over a large store.

Each screen's questions to the store, a search, and what a visitor waits for in a browser.

    python -m tests.bench.pages [RUNS] [FOLDER]

Makes a store of RUNS runs (a million) in FOLDER once, about 1 GB, and keeps it. A screen's
questions are recorded from its script, then asked again without it: *warm* with another cost range
each time, as far as they are about chosen runs; *cold* all of them without a filter, as the first
visitor after an ingest does. Searches are for words of texts, each in a request of its own. Then a
real Chromium opens each screen. Prints a table: the goals are 0.3 s for a request and for a search
at the 95th percentile, 1 s to the first content, 1 GiB of memory. Beside the clock stands the time
of processors, for a machine that does other things too.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles

import psutil
from playwright.sync_api import Page
from streamlit.testing.v1 import AppTest

from app.queries import runs as run_queries
from app.queries.filters import SEARCH, Filters
from app.queries.reading import ReadTransaction
from ingest.store.database import Store
from tests.bench.big_store import make
from tests.bench.questions import Question, Times, recorded, timed
from tests.serving import ENTRY, chromium, served

SCREENS = ("overview", "runs", "run", "tasks", "speedups", "compare", "cost", "reports")
ROUNDS, COLD_ROUNDS = 20, 5
MIN_COST = "min-cost"

SEARCHES = (
    "zanzibar",
    "latency",
    "torch.arange",
    "scheduler.py",
    "task-17",
    "0d8262_616",
    "c81e728d",
    "Implemented",
    "quantization",
    "5b3f",
    "run 77777.",
    "zanzibar trip",
)
"""Words that none, some or many texts have, names, parts of names, and needles of several words."""

SCRIPT_SECONDS = 600.0
PATIENCE = 60_000
"""Milliseconds until a page counts as lost."""


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    runs = int(arguments[0]) if arguments else 1_000_000
    folder = (
        Path(arguments[1])
        if len(arguments) > 1
        else Path(tempfile.gettempdir()) / "tachograph-bench"
    )
    folder.mkdir(parents=True, exist_ok=True)
    store = make(folder / f"{runs}.duckdb", runs)
    os.environ["TACHOGRAPH_DB"] = store.location
    size = Path(store.location).stat().st_size
    print(
        f"{runs:,} runs, {size / 1e6:,.0f} MB, {os.cpu_count()} cores; seconds, of "
        "processors in brackets"
    )
    print(
        f"{'request':<10} {'warm, median':>18} {'95th percentile':>18} {'cold, median':>18} "
        f"{'95th percentile':>18}"
    )
    for screen in SCREENS:
        print(
            f"{screen:<10} {_words(warm(store, screen))} {_words(cold(store, screen))}", flush=True
        )
    print(f"{'search':<10} {_words(searches(store))}")
    _print_pages(store)


def _words(times: Sequence[Times]) -> str:
    """Median and 95th percentile of the clock, with the time of processors."""
    columns = [[one.wall for one in times], [one.cpu for one in times]]
    rows = [(median(column), quantiles(column, n=20, method="inclusive")[-1]) for column in columns]
    return " ".join(f"{wall:>9.3f} ({cpu:6.3f})" for wall, cpu in zip(*rows, strict=True))


def warm(store: Store, screen: str, rounds: int = ROUNDS) -> list[Times]:
    """The questions of a screen about chosen runs, with another choice in each round."""
    asked = [
        question for question in questions_of(screen, {MIN_COST: "0.11"}) if question.is_filtered
    ]
    return [
        _asked(
            store,
            [question.with_filter(MIN_COST, f"{0.2 + number / 1000:.3f}") for question in asked],
        )
        for number in range(rounds)
    ]


def cold(store: Store, screen: str, rounds: int = COLD_ROUNDS) -> list[Times]:
    """All questions of a screen."""
    asked = questions_of(screen, {})
    return [_asked(store, asked) for _ in range(rounds)]


def searches(store: Store) -> list[Times]:
    """Each search, up to the number of runs that it found."""
    return [timed(store, _counted(text)) for text in SEARCHES]


def _counted(text: str) -> Callable[[ReadTransaction], object]:
    def count(transaction: ReadTransaction) -> object:
        found = transaction.searched(Filters(((SEARCH, (text,)),)))
        return run_queries.summary(transaction, found, (), ("runs",))

    return count


def _asked(store: Store, questions: Sequence[Question]) -> Times:
    return timed(
        store, lambda transaction: [question.put_to(transaction) for question in questions]
    )


def questions_of(screen: str, parameters: dict[str, str]) -> list[Question]:
    """What the screen's script asks, with these parameters in its address."""
    app = AppTest.from_file(str(ENTRY), default_timeout=SCRIPT_SECONDS)
    for key, value in {"run": run_id(0), **parameters}.items():
        app.query_params[key] = value
    with recorded() as asked:
        app.switch_page(f"screens/{screen}.py").run()
    assert not app.exception, app.exception
    return asked


def _print_pages(store: Store) -> None:
    location = Path(store.location)
    with served(location, location.with_suffix(".log")) as (address, process):
        server = psutil.Process(process)
        print(f"{'page':<10} {'first content':>18} {'whole page':>18}")
        for screen, (first, whole) in browser_seconds(address, SCREENS):
            print(f"{screen:<10} {first:>18.2f} {whole:>18.2f}", flush=True)
        memory = sum(
            process.memory_info().rss for process in [server, *server.children(recursive=True)]
        )
    print(f"memory of the server: {memory / 2**20:,.0f} MiB")


def browser_seconds(
    address: str, screens: Sequence[str]
) -> Iterator[tuple[str, tuple[float, float]]]:
    """For each screen the seconds until its title is there, and until nothing runs any more.

    Warm, the cost range never asked for.
    """
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        _open(page, f"{address}/")
        for number, screen in enumerate(screens):
            path = "" if screen == "overview" else screen
            yield (
                screen,
                _open(
                    page,
                    f"{address}/{path}?{MIN_COST}={0.3 + number / 1000:.3f}&run={run_id(number)}",
                ),
            )


def run_id(number: int) -> str:
    """The id of that run of the store, for the one screen that shows a single run."""
    return hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()


def _open(page: Page, address: str) -> tuple[float, float]:
    began = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("h1", timeout=PATIENCE)
    first = time.perf_counter() - began
    page.wait_for_selector(
        "[data-testid=stApp][data-test-script-state=notRunning]", timeout=PATIENCE
    )
    return first, time.perf_counter() - began


if __name__ == "__main__":
    main(sys.argv[1:])
