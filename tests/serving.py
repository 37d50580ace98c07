"""The real dashboard and the real browser, for tests and benchmarks."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from app.server.access import Access
from app.server.serve import command

ENTRY = Path(__file__).parent.parent / "app" / "dashboard.py"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP *.example 127.0.0.1",
]
"""The names of strangers lead to this machine, as those of an attacker's name server do."""

PATIENCE_SECONDS = 180
"""How long a test waits for what it needs: nothing waits so long but on a very busy machine, or in
vain.
"""

ANSWER_SECONDS = 10
"""After how long a test asks again: a click came to nothing, or a script began and ended without a
sign.
"""
OPEN = Access()
"""Everybody looks and uploads."""


class NoBrowser(Exception):
    """The system has no Chromium."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, with a new profile. Raises NoBrowser."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        raise NoBrowser(
            "the browser tests need Chromium: `apt-get install chromium`, or install Google Chrome"
        )
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield found
        found.close()


@contextmanager
def served(
    store: Path, log: Path, access: Access = OPEN, host: str = "127.0.0.1", **environment: str
) -> Iterator[tuple[str, int]]:
    """The server that `tachograph dashboard` starts, over the store.

    Its address and the id of its process, which ends with the block.

    It runs in another folder than its files, as it does when it is installed.
    """
    port = dashboard_port()
    with log.open("wb") as output:
        settings = os.environ | {"TACHOGRAPH_DB": str(store)} | access.environment() | environment
        process = subprocess.Popen(
            command(host, port, access),
            cwd=log.parent,
            env=settings,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_up(f"http://127.0.0.1:{port}", process, log)
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def free_port(wanted: int = 0) -> int:
    """A port that nobody listens on: the wanted one, or any.

    Raises OSError where somebody listens on it.
    """
    with socket.socket() as probe:
        probe.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, bool(wanted)
        )  # what is left of closed connections does not matter
        probe.bind(("127.0.0.1", wanted))
        return int(probe.getsockname()[1])


_dashboard_port = cache(free_port)


def dashboard_port() -> int:
    """The port of the dashboard before, if that has ended.

    A browser keeps the scripts of an address compiled.
    """
    with suppress(OSError):
        return free_port(_dashboard_port())
    return free_port()


def wait_until_up(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return as soon as the dashboard answers. Raises RuntimeError with what it logged."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    raise RuntimeError(f"the dashboard did not start:\n{log.read_text()}")


MOVE = """([address, most]) => new Promise((begun, failed) => {
    const app = document.querySelector("[data-testid=stApp]")
    setTimeout(() => failed(new Error(`no script began at ${address}`)), most)
    new MutationObserver((_, observer) => {
        if (app.dataset.testScriptState === "notRunning") return
        observer.disconnect()
        begun()
    }).observe(app, {attributeFilter: ["data-test-script-state"]})
    history.pushState({}, "", address)
    dispatchEvent(new PopStateEvent("popstate"))
})"""


def move(page: Page, path: str) -> None:
    """Go to another screen as links and the browser's history do; return once its script began.

    To load the page anew takes the browser five times as long: it compiles 9 MB of scripts.
    """
    wait_until_drawn(page)  # while a script runs, the next one begins without a sign
    from playwright.sync_api import Error  # noqa: PLC0415  with the driver of the browser

    try:
        page.evaluate(MOVE, [f"/{path}", ANSWER_SECONDS * 1000])
    except Error:  # on a busy machine a script may begin and end without a sign
        page.goto(urllib.parse.urljoin(page.url, f"/{path}"))


def leave(page: Page) -> None:
    """Leave the dashboard, and forget what it put into the browser.

    Whoever comes next is a new visitor.

    Its scripts stay compiled: a new load in the same page takes a third of the first. The page must
    go by itself; one that is sent to another address gets a new process, which has nothing
    compiled.
    """
    page.context.clear_cookies()
    if page.url.startswith("http"):
        page.evaluate("localStorage.clear(), sessionStorage.clear(), location = 'about:blank'")
        page.wait_for_url("about:blank")


def wait_until_drawn(page: Page) -> None:
    """Return as soon as the screen's script has ended and nothing of it is still to come."""
    page.wait_for_selector("h1", timeout=PATIENCE_SECONDS * 1000)
    page.wait_for_selector(
        "[data-testid=stApp][data-test-script-state=notRunning]", timeout=PATIENCE_SECONDS * 1000
    )
    page.wait_for_selector(
        "[data-testid=stSkeleton]", state="detached", timeout=PATIENCE_SECONDS * 1000
    )
