"""D8: a screen names what it waits for and goes on by itself.

It takes its error back once the store is free.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.serving import (
    ENTRY,
    PATIENCE_SECONDS,
    dashboard_port,
    move,
    wait_until_drawn,
    wait_until_up,
)

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

PATIENCE = """
import signal, sys
import app.screens.cache as cache
from streamlit.web.cli import main
cache.WAIT_SECONDS = 200.0
signal.signal(signal.SIGUSR1, lambda *_: setattr(cache, "WAIT_SECONDS", 0.5))
main(["run", *sys.argv[1:]])
"""
"""The dashboard with so much patience that no busy test misses what it says meanwhile, and with
hardly any after the signal.
"""

HOLDER = """
import sys, time
import duckdb
for _ in range(600):
    try:
        held = duckdb.connect(sys.argv[1])
        break
    except duckdb.IOException:  # the page reads it just now
        time.sleep(0.05)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def dashboard(
    tmp_path: Path, samples_read: Callable[..., Path]
) -> Iterator[tuple[str, Path, subprocess.Popen[bytes]]]:
    """The address of a dashboard, its store and its process."""
    store = Path(shutil.copy(samples_read(), tmp_path))
    port, log = dashboard_port(), tmp_path / "log"
    options = [
        f"--server.port={port}",
        "--server.headless=true",
        "--server.address=127.0.0.1",
        "--server.fileWatcherType=none",
    ]
    with log.open("wb") as output:
        environment = os.environ | {"TACHOGRAPH_DB": str(store)}
        command = [sys.executable, "-c", PATIENCE, str(ENTRY), *options]
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_until_up(f"http://127.0.0.1:{port}", process, log)
        yield f"http://127.0.0.1:{port}", store, process
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)
    assert "Traceback" not in log.read_text(), log.read_text()


WRITER = """
import sys
from ingest.store.database import Store
with Store(sys.argv[1]).writing():
    print("held", flush=True)
    sys.stdin.read()
"""
"""A long ingest."""


def held(store: Path, code: str = HOLDER) -> subprocess.Popen[str]:
    """Another process that has the store open for writing until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_d8_a_screen_says_what_it_waits_for_and_goes_on_by_itself(
    dashboard: tuple[str, Path, subprocess.Popen[bytes]], page: Page
) -> None:
    address, store, process = dashboard
    expect.set_options(timeout=PATIENCE_SECONDS * 1000)
    with held(store) as other:
        page.goto(address)
        expect(page.get_by_text(f"another process is writing (pid {other.pid}")).to_be_visible()
        other.communicate()
    expect(page.locator(".t-h1").first).to_be_visible()
    expect(page.get_by_text("Waiting up to")).to_have_count(0)
    wait_until_drawn(page)

    with held(store, WRITER) as other:
        move(page, "reports")
        expect(
            page.get_by_text(
                f"Waiting up to 200 s for {store}: another process is writing (pid "
                f"{other.pid}, tachograph)"
            )
        ).to_be_visible()
        other.communicate()
    expect(page.locator(".t-h1").first).to_be_visible()
    wait_until_drawn(page)

    process.send_signal(signal.SIGUSR1)
    with held(store) as other:
        move(page, "cost")
        expect(page.get_by_text(f"is locked by pid {other.pid}")).to_be_visible()
        expect(page.get_by_text("This page continues automatically")).to_be_visible()
        expect(page.get_by_text("--wait")).to_have_count(0)  # the dashboard has no such option
        expect(page.get_by_text("Waiting up to")).to_have_count(0)
        other.communicate()
    expect(page.locator(".t-h1").first).to_be_visible()
    expect(page.get_by_text("is locked by")).to_have_count(0)
