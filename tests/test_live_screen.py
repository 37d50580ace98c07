"""A screen follows the store in a real browser.

New runs come by themselves, and nothing else on the page changes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.server.access import Access
from ingest.store.database import Store
from ingest.store.undo import undo
from tests.attack.test_web_uploads import answer_to_headers
from tests.attack.visitor import session
from tests.conftest import ingest_paths
from tests.pi_loop import PiLoop
from tests.serving import move, served, wait_until_drawn
from tests.watched import text, watched

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


def test_runs_come_by_themselves(page: Page, tmp_path: Path) -> None:
    """The first ones into no store and into one without runs, and more.

    On a read-only dashboard, which takes no upload.
    """
    store = Store(tmp_path / "store.duckdb")
    logs = [tmp_path / f"{number}.json" for number in range(3)]
    for number, log in enumerate(logs):
        log.write_text(text(number))
    with served(
        Path(store.location), tmp_path / "log", Access(read_only=True), TACHOGRAPH_LOOK_SECONDS="1"
    ) as (url, _):
        page.goto(f"{url}/runs")
        for log in logs[:2]:
            page.get_by_text("No runs yet").wait_for()
            page.get_by_text("follows the store").wait_for()
            ingest_paths(store, log)
            page.get_by_text("1 run.").wait_for()
            wait_until_drawn(page)
            if log is logs[0]:
                undo(store, 1)
                move(page, "runs")
        page.goto(f"{url}/runs?outcome=completed")
        wait_until_drawn(page)
        page.evaluate("window.loadedOnce = true")
        ingest_paths(store, logs[2])
        page.get_by_text("2 runs.").wait_for()
        assert page.evaluate("window.loadedOnce"), "the page is not loaded again"
        assert "outcome=completed" in page.url
        with session(url) as visitor:
            visitor.run("data", "view=upload")
            assert visitor.put("a.json", b"{}").status == 403
            assert answer_to_headers(url, f"/_stcore/upload_file/{visitor.id}/1").startswith(
                b"HTTP/1.1 403"
            )


def test_an_experiment_comes_by_itself_with_its_cost_and_the_chosen_one_stays(
    page: Page, tmp_path: Path
) -> None:
    """Log and session of a loop grow under `watch` while its page is open with an experiment.

    The experiment is beside the list.
    """
    place, loop = (
        tmp_path / "store.duckdb",
        PiLoop(tmp_path / "logs" / "project", tmp_path / "logs" / "session.jsonl"),
    )
    loop.experiment(100, "Baseline")
    loop.experiment(90, "Idea 2")
    with (
        watched(tmp_path / "logs", place),
        served(place, tmp_path / "log", TACHOGRAPH_LOOK_SECONDS="1") as (url, _),
    ):
        page.goto(f"{url}/loops?loop=benchmark")
        page.get_by_role("heading", name="Benchmark: 1 of 1 try kept").wait_for()
        wait_until_drawn(page)
        page.evaluate("window.loadedOnce = true")
        page.locator(".js-plotly-plot .points path.point").first.click(force=True)
        chosen = page.get_by_role("heading", name=re.compile("Experiment [12]: "))
        chosen.wait_for()
        for number in range(2, 5):
            loop.experiment(100 - 10 * number, f"Idea {number + 1}")
            page.get_by_role(
                "heading", name=f"Benchmark: {number} of {number} tries kept"
            ).wait_for()
            cost = loop.setup_usd + sum(loop.costs_usd)
            page.get_by_role("heading", name=f"${cost:.2f}").wait_for()
        wait_until_drawn(page)
        assert page.evaluate("window.loadedOnce"), "the page is not loaded again"
        assert chosen.count() == 1
