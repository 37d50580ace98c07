"""The real dashboard in a real browser: a visitor's way from an empty store to a run, by day and by night."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from ingest.store import Store
from tests.conftest import ROOT, SAMPLES, TOTAL_COST, record_text
from tests.reporting import READERS

pytestmark = pytest.mark.xdist_group("browser")
PATIENCE_SECONDS = 30


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_up(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    pytest.fail(f"the dashboard did not start:\n{log.read_text()}")


@pytest.fixture
def dashboard(store: Store, tmp_path: Path) -> Iterator[str]:
    """The dashboard's address. It runs in another folder than its files, as it does when it is installed."""
    port, log = free_port(), tmp_path / "dashboard.log"
    options = [f"--server.port={port}", "--server.headless=true", "--server.address=127.0.0.1", "--server.fileWatcherType=none"]
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app" / "dashboard.py"), *options]
    with log.open("wb") as output:
        environment = os.environ | {"TACHOGRAPH_DB": store.location}
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_until_up(f"http://127.0.0.1:{port}", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)
    assert "Traceback" not in log.read_text(), log.read_text()


class Complaints(list[str]):
    """What the browser has to say against a page: errors, and requests to anywhere but the dashboard."""

    def watch(self, page: Page, url: str) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.append(str(error)))
        page.on("request", lambda request: self._request(request, url))

    def _console(self, message: ConsoleMessage) -> None:
        # Streamlit looks for its server beneath a deep link's path first, which the browser logs as a 404
        if message.type == "error" and "_stcore/" not in message.location.get("url", ""):
            self.append(f"{message.text} {message.location}")

    def _request(self, request: Request, url: str) -> None:
        if not request.url.startswith((url, url.replace("http", "ws"), "data:", "blob:")):
            self.append(f"request to {request.url}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_from_an_empty_store_to_a_run(scheme: str, browser: Browser, dashboard: str, tmp_path: Path) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 900})  # type: ignore[arg-type]
    page, complaints = context.new_page(), Complaints()
    page.set_default_timeout(PATIENCE_SECONDS * 1000)
    expect.set_options(timeout=PATIENCE_SECONDS * 1000)
    complaints.watch(page, dashboard)
    page.goto(dashboard)
    expect(page.get_by_text("No runs yet")).to_be_visible()
    background = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert background == {"light": "rgb(251, 250, 247)", "dark": "rgb(17, 23, 26)"}[scheme], "the theme is read from app/.streamlit"

    page.get_by_role("link", name="Upload logs").click()
    expect(page.get_by_role("heading", name="Upload")).to_be_visible()
    page.locator("input[type=file]").set_input_files([*sorted(SAMPLES.iterdir()), cut_log(tmp_path)])
    expect(page.get_by_role("heading", name="What became of them")).to_be_visible()
    expect(page.get_by_role("heading", name="Rejected, and why")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("^Run "))).to_have_count(3)

    page.get_by_role("link", name="See the overview").click()
    cost = page.get_by_test_id("stMetric").filter(has_text="Reported cost").first
    expect(cost).to_contain_text("$2.8251")
    expect(page.get_by_test_id("stMetric").filter(has_text="Turns")).to_contain_text("110")
    expect(page.get_by_text("claude-sonnet-4-5 makes 98 % of the reported cost")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(4)

    page.goto(f"{dashboard}/run?run=5e0c031e-eef9-49db-91be-235c0b535201")
    expect(page.get_by_role("heading", name="Run 5e0c031e…")).to_be_visible()
    expect(page.get_by_test_id("stMetric").filter(has_text="Wall time").first).to_contain_text("4 min 14 s")
    expect(page.get_by_role("heading", name="Performance Impact")).to_be_visible()
    assert not page.get_by_test_id("stException").count()
    assert not complaints
    context.close()


def cut_log(folder: Path) -> Path:
    log = folder / "cut.json"
    log.write_text('{"type": "result", "duration_ms"')
    return log


def test_a_click_on_a_row_opens_its_run_with_its_claims_marked(sample_store: Store, browser: Browser, dashboard: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{dashboard}/runs")
    grid = page.get_by_test_id("stDataFrame").locator(".dvn-scroller")
    expect(grid).to_be_visible(timeout=PATIENCE_SECONDS * 1000)
    grid.click(position={"x": 120, "y": 52})
    expect(page.get_by_role("heading", name="Run 5e0c031e…")).to_be_visible(timeout=PATIENCE_SECONDS * 1000)
    assert page.url.endswith("/run?run=5e0c031e-eef9-49db-91be-235c0b535201")
    claim = page.locator("strong mark", has_text="3.17x speedup")
    expect(claim).to_have_attribute("title", re.compile("claimed 3.17× .* benchmarked"), timeout=PATIENCE_SECONDS * 1000)
    expect(claim).to_have_css("border-bottom-color", "rgb(0, 158, 115)")  # the browser leaves marks their colours
    page.close()


def test_a_hostile_record_does_nothing_in_a_browser(store: Store, browser: Browser, dashboard: str, tmp_path: Path) -> None:
    evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> [a](javascript:window.hacked=1) ![p](https://e.example/p.png)'
    usage = json.loads(record_text())["modelUsage"]["claude-opus-4-6"]
    log = tmp_path / "evil.json"
    log.write_text(record_text(result=evil, session_id=evil, stop_reason=evil, uuid="evil", modelUsage={evil: usage}))
    page, complaints = browser.new_page(), Complaints()
    complaints.watch(page, dashboard)
    page.goto(f"{dashboard}/upload")
    page.locator("input[type=file]").set_input_files(log)
    page.get_by_role("link", name="Run evil").click(timeout=PATIENCE_SECONDS * 1000)
    expect(page.get_by_role("heading", name="Run evil")).to_be_visible(timeout=PATIENCE_SECONDS * 1000)
    expect(page.get_by_text("onerror").first).to_be_attached(timeout=PATIENCE_SECONDS * 1000)
    page.get_by_role("link", name="Overview").first.click()
    expect(page.locator(".js-plotly-plot")).to_have_count(4, timeout=PATIENCE_SECONDS * 1000)
    assert page.evaluate("window.hacked") is None
    assert not complaints
    page.close()


def test_filters_stay_while_moving_about_and_the_way_back_leads_back(sample_store: Store, browser: Browser, dashboard: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE_SECONDS * 1000)
    page.goto(f"{dashboard}/")
    page.get_by_role("button", name="Model", exact=True).click()
    page.get_by_test_id("stMultiSelect").first.locator("input").click()
    page.get_by_role("option", name=re.compile("claude-opus-4-5")).click()
    page.wait_for_url("**/?model=claude-opus-4-5")
    page.keyboard.press("Escape")
    page.mouse.click(1000, 700)
    page.get_by_role("link", name="Duration").click()
    page.wait_for_url("**/duration?model=claude-opus-4-5")
    chip = page.get_by_test_id("stButton").filter(has_text="Model: claude-opus-4-5")
    expect(chip).to_be_visible()
    page.go_back()
    page.wait_for_url("**/?model=claude-opus-4-5")
    page.go_back()
    page.wait_for_url(f"{dashboard}/")
    expect(chip).to_have_count(0)
    page.close()


def test_a_report_is_downloaded_with_the_right_totals(sample_store: Store, browser: Browser, dashboard: str, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page.goto(f"{dashboard}/reports?format=xlsx")
    expect(page.get_by_role("heading", name="Dearest runs")).to_be_visible(timeout=PATIENCE_SECONDS * 1000)
    with page.expect_download(timeout=PATIENCE_SECONDS * 1000) as download:
        page.get_by_role("button", name="Download cost-report-by-model.xlsx").click()
    download.value.save_as(tmp_path / download.value.suggested_filename)
    page.close()
    totals = READERS["xlsx"]((tmp_path / "cost-report-by-model.xlsx").read_bytes())
    assert totals["runs"] == 3
    assert totals["cost_usd"] == Decimal(TOTAL_COST)
