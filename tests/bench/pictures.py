"""The pictures of the README: the sample logs in the dashboard, as a new user sees them.

    python -m tests.bench.pictures [FOLDER]

Writes one WebP per picture into FOLDER (`app/assets/pictures`), 1280 pixels wide, and prints their sizes.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page

from ingest.store.database import Store
from tests.conftest import ROOT, ingest_paths
from tests.serving import chromium, served, wait_until_drawn

WIDTH, HEIGHT = 1280, 1000
MENU = 16
"""How far below the upper edge the heading stands, in pixels; its own margin clears the menu, which lies over what is scrolled."""

QUALITY = 84
SETTLED = 1_500
"""Milliseconds after which charts and grids have drawn themselves."""


@dataclass(frozen=True)
class Picture:
    """One picture: where it is taken, by day or night, and the heading it begins with, else the top of the page."""

    name: str
    path: str
    scheme: Literal["light", "dark"]
    heading: str = ""


PICTURES = (
    Picture("overview", "/", "light"),
    Picture("run", "/run?run=5e0c031e-eef9-49db-91be-235c0b535201", "light", "Summary"),
    Picture("cost", "/cost", "dark"),
    Picture("verdicts", "/verdicts", "dark"),
)


def main(arguments: Sequence[str]) -> None:
    """Take all pictures."""
    folder = Path(arguments[0]) if arguments else ROOT / "app" / "assets" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        ingest_paths(Store(Path(work) / "tachograph.duckdb"), ROOT / "sample_logs")
        with served(Path("tachograph.duckdb"), Path(work) / "log") as (address, _), chromium() as browser:
            for picture in PICTURES:
                file = folder / f"{picture.name}.webp"
                take(browser, address, picture).save(file, quality=QUALITY, method=6)
                print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


def take(browser: Browser, address: str, picture: Picture) -> Image.Image:
    """One picture in a session of its own."""
    with browser.new_context(color_scheme=picture.scheme, viewport={"width": WIDTH, "height": HEIGHT}) as context:
        page = context.new_page()
        page.goto(address + picture.path)
        wait_until_drawn(page)
        page.wait_for_timeout(SETTLED)
        if picture.heading:
            scroll_to(page, picture.heading)
        return Image.open(io.BytesIO(page.screenshot()))


def scroll_to(page: Page, heading: str) -> None:
    """Bring the first heading of that name to the top, just below the menu."""
    page.get_by_role("heading", name=heading, exact=True).first.evaluate("element => element.scrollIntoView({block: 'start'})")
    page.get_by_test_id("stMain").evaluate(f"element => element.scrollBy(0, {-MENU})")
    page.wait_for_timeout(SETTLED)


if __name__ == "__main__":
    main(sys.argv[1:])
