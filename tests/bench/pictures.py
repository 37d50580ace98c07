"""The picture of the README: the Overview of the sample logs, as a new user sees it.

    python -m tests.bench.pictures [FOLDER]

Writes `overview.webp` into FOLDER (`app/assets/pictures`), 1440 pixels wide, and prints its size.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from ingest.store.database import Store
from tests.conftest import ROOT, ingest_paths
from tests.serving import chromium, served, wait_until_drawn

WIDTH, HEIGHT = 1440, 850
QUALITY = 84
SETTLED = 1_500
"""Milliseconds after which charts have drawn themselves."""


def main(arguments: Sequence[str]) -> None:
    """Take the picture."""
    folder = Path(arguments[0]) if arguments else ROOT / "app" / "assets" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        ingest_paths(Store(Path(work) / "tachograph.duckdb"), ROOT / "sample_logs")
        with (
            served(Path("tachograph.duckdb"), Path(work) / "log") as (address, _),
            chromium() as browser,
        ):
            page = browser.new_page(
                color_scheme="light", viewport={"width": WIDTH, "height": HEIGHT}
            )
            page.goto(address)
            wait_until_drawn(page)
            page.wait_for_timeout(SETTLED)
            picture = Image.open(io.BytesIO(page.screenshot()))
    file = folder / "overview.webp"
    picture.save(file, quality=QUALITY, method=6)
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
