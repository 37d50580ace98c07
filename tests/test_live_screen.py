"""A screen follows the store in a real browser: new runs come by themselves, and nothing else on the page changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.server.access import Access
from ingest.store.database import Store
from ingest.store.undo import undo
from tests.conftest import ingest_paths
from tests.serving import served, wait_until_drawn
from tests.watched import text

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_new_runs_come_by_themselves(sample_store: Store, page: Page, tmp_path: Path) -> None:
    """Also on a read-only dashboard; the page is not loaded again, and keeps its filter."""
    log = tmp_path / "new.json"
    with served(Path(sample_store.location), tmp_path / "log", Access(read_only=True), TACHOGRAPH_LOOK_SECONDS="1") as (url, _):
        page.goto(f"{url}/runs?outcome=completed")
        wait_until_drawn(page)
        page.evaluate("window.loadedOnce = true")
        before = int(page.locator("text=/^\\d+ runs?\\./").first.inner_text().split()[0])
        log.write_text(text(1))
        ingest_paths(sample_store, log)
        page.get_by_text(f"{before + 1} runs.").wait_for()
        assert page.evaluate("window.loadedOnce")
        assert "outcome=completed" in page.url


@pytest.mark.parametrize("is_made", [False, True], ids=["no store yet", "a store without runs"])
def test_the_first_runs_come_by_themselves(page: Page, tmp_path: Path, is_made: bool) -> None:
    store, log = Store(tmp_path / "store.duckdb"), tmp_path / "new.json"
    log.write_text(text(1))
    if is_made:
        ingest_paths(store, log)
        undo(store, 1)
    with served(Path(store.location), tmp_path / "log", TACHOGRAPH_LOOK_SECONDS="1") as (url, _):
        page.goto(f"{url}/runs")
        page.get_by_text("No runs yet").wait_for()
        page.get_by_text("follows the store").wait_for()
        ingest_paths(store, log)
        page.get_by_text("1 run.").wait_for()
