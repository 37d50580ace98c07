"""What a dashboard's first visitor waits for, beside Streamlit's least for a number and a chart.

    python -m tests.bench.first_visit [STORE] [ROUNDS]

Each round starts the server of the dashboard over STORE (the sample logs by default), opens it in a
browser that knows nothing, and does the same with a Streamlit page of one metric and one Plotly
chart. Prints seconds from the navigation to the first answer, to the first chart, and until nothing
changes any more; the ratio of both pages; seconds of CPU of the server in its start and in the
visit; and what the browser loads. The machine's load is printed too, since a busy machine makes all
of them longer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from statistics import median

import psutil
from playwright.sync_api import Browser, Page, Response

from ingest.pipeline import ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from tests.serving import chromium, free_port, served, wait_until_drawn, wait_until_up

SAMPLES = Path(__file__).parent.parent.parent / "sample_logs" / "claude_code"
PATIENCE = 60_000
"""Milliseconds until a page counts as lost."""

LEAST = """
import plotly.graph_objects as go
import streamlit as st

st.title("Runs")
st.metric("Runs", 3)
st.plotly_chart(go.Figure(go.Bar(x=[1, 2, 3], y=[3, 1, 2])))
"""
"""The page to compare with."""

CHART = ".js-plotly-plot .main-svg"
WATCH = """
const painted = (name, selector) => new MutationObserver((_, observer) => {
    if (!document.querySelector(selector)) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => { window[name] = performance.now() / 1000 }))
}).observe(document, {subtree: true, childList: true})
painted("firstAnswer", "h1")
painted("firstChart", ".js-plotly-plot .main-svg .point, .js-plotly-plot .main-svg .lines")
"""
"""Notes in the page when heading and chart were painted: from outside both are seen only when the
page has time to answer.
"""

Server = Callable[[], AbstractContextManager[tuple[str, int]]]
"""Starts a server; gives its address and process id."""


@dataclass(frozen=True)
class Visit:
    """Seconds since the navigation, seconds of CPU of the server, and what the browser loaded."""

    first_answer: float
    first_chart: float
    settled: float
    cpu_start: float
    cpu_visit: float
    requests: float
    megabytes: float


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    rounds = int(arguments[1]) if len(arguments) > 1 else 5
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        store = Path(arguments[0]) if arguments else _sample_store(Path(folder))
        servers: dict[str, Server] = {
            "dashboard": lambda: served(store, Path(folder) / "dashboard.log"),
            "least page": lambda: _least(Path(folder)),
        }
        print(
            f"{rounds} rounds on {os.cpu_count()} cores; load {os.getloadavg()[0]:.2f} before",
            flush=True,
        )
        visits: dict[str, list[Visit]] = {name: [] for name in servers}
        for _ in range(rounds):
            for name, server in servers.items():
                visits[name].append(first_visit(browser, server))
    print(f"load {os.getloadavg()[0]:.2f} after")
    _print(visits)


def first_visit(browser: Browser, server: Server) -> Visit:
    """Start a server and visit it in a new context of the browser, with an empty cache."""
    loaded: list[Response] = []
    with server() as (address, process):
        cpu_start = _cpu_at_rest(process)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.add_init_script(WATCH)
        page.on("response", partial(list.append, loaded))
        began = time.perf_counter()
        page.goto(f"{address}/", wait_until="commit")
        page.wait_for_selector(
            f"{CHART} .point, {CHART} .lines", state="attached", timeout=PATIENCE
        )
        _settle(page)
        settled = time.perf_counter() - began
        first_answer, first_chart = page.evaluate("[window.firstAnswer, window.firstChart]")
        cpu_visit = _cpu(process) - cpu_start
        size = sum(_size(response) for response in loaded)
        context.close()
    return Visit(first_answer, first_chart, settled, cpu_start, cpu_visit, len(loaded), size / 1e6)


def _settle(page: Page) -> None:
    """Return once the script ended and no chart was added for as long as a person would notice."""
    wait_until_drawn(page)
    drawn = -1
    while drawn != (drawn := page.locator(CHART).count()):
        page.wait_for_timeout(100)


def _size(response: Response) -> int:
    """Bytes on the wire."""
    return int(response.request.sizes()["responseBodySize"])


def _cpu_at_rest(process: int) -> float:
    """Seconds of CPU once the server has ended what it does unasked.

    The visitor comes to a server that is up.
    """
    taken = -1.0
    while taken != (taken := _cpu(process)):
        time.sleep(0.5)
    return taken


def _cpu(process: int) -> float:
    """Seconds of CPU that the server has taken."""
    times = psutil.Process(process).cpu_times()
    return times.user + times.system


def _sample_store(folder: Path) -> Path:
    store = folder / "samples.duckdb"
    ingest(read_paths([SAMPLES]), Store(store))
    return store


@contextmanager
def _least(folder: Path) -> Iterator[tuple[str, int]]:
    """Streamlit alone with the page LEAST."""
    script, log, port = folder / "least.py", folder / "least.log", free_port()
    script.write_text(LEAST)
    options = (
        "--server.headless=true",
        "--browser.gatherUsageStats=false",
        "--server.fileWatcherType=none",
        f"--server.port={port}",
    )
    with log.open("wb") as output:
        command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_until_up(f"http://127.0.0.1:{port}", process, log)
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


def _print(visits: Mapping[str, Sequence[Visit]]) -> None:
    """A line for each page: medians, best to worst of the times; and the ratio of the two."""
    names = [field.name for field in fields(Visit)]
    print(f"{'median (best–worst)':<12} " + " ".join(f"{name:>18}" for name in names))
    middles = []
    for page, found in visits.items():
        columns = list(zip(*map(astuple, found), strict=True))
        middles.append([median(column) for column in columns])
        print(
            f"{page:<19} "
            + " ".join(
                f"{median(column):>7.2f} ({min(column):.2f}–{max(column):.2f})"
                for column in columns
            )
        )
    ratios = [ours / least for ours, least in zip(*middles, strict=True)]
    print(f"{'ratio':<19} " + " ".join(f"{ratio:>18.2f}" for ratio in ratios))


if __name__ == "__main__":
    main(sys.argv[1:])
