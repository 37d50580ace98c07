"""Figures for print: a chart with its title, data and source in the picture, as SVG, PNG or PDF."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.base import INKS, PAPER, ink, safe
from app.queries.filters import NO_FILTERS, Filters
from ingest.system.command_lines import extra_command
from schemas.errors import UsageError
from schemas.text import join_known, one_line, plural

WIDTH = 900
"""Pixels of a picture: the width of two columns on paper at 120 dpi."""

PNG_SCALE = 3
"""Pixels of a PNG per pixel of the picture: 360 dpi on paper."""

FORMATS = ("svg", "png", "pdf")

_TITLE, _CAPTION, _LINES = 100, 140, 4
"""Characters of a line of the title and of what is below it, and the most lines of each."""

_LONGEST = 120
"""Seconds to wait for a page to be printed."""

_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
_NEEDS_BROWSER = "Install one (Debian: apt install chromium), or name it in BROWSER_PATH."

_ONE = Lock()
"""One page is printed at a time: a Chromium takes some 300 MB."""

_LINE, _PAD = 19.5, 12
"""Pixels of a line of these texts, and above and below them; Plotly places the first by its
baseline.
"""


@dataclass(frozen=True)
class Drawn:
    """A chart: its name, its finding, a line on how to read it, and its figure.

    `n` is the number of `what` drawn. The figure is for a light or dark page.
    """

    name: str
    title: str
    caption: str
    figure: go.Figure
    n: int
    what: str = "run"
    filters: Filters = NO_FILTERS

    @property
    def file_name(self) -> str:
        """The name of its file without extension: chart and filters, `cost-per-run-agent-codex`."""
        words = [
            self.name,
            *(
                f"{key}-{value}"
                for key, values in self.filters.chosen
                for value in values
                if key != "found"
            ),
        ]
        return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(words)).strip("-.")[:120]


_TAG = re.compile(r"<[^>]+>")
VALUE, ROW = "Value", "Row"
"""Columns of a chart's figures: those without a label, and the chart's row."""


def mark_table(drawn: Drawn) -> pa.Table:
    """Return the figures of a chart as a table of texts: a row per mark, as on pointing at it.

    Its columns are the mark's name, the row or the colour of the legend that it is in, and its
    figures; labels that few marks have stay with their values.
    """
    axis, found = drawn.figure.layout.yaxis, list[tuple[str, str, str, tuple[str, ...]]]()
    is_rows = axis.type != "log" and axis.tickvals is not None and axis.ticktext is not None
    rows = dict(zip(axis.tickvals, axis.ticktext, strict=True)) if is_rows else {}
    for trace in drawn.figure.data:
        texts = trace.hovertext if trace.hovertext is not None else trace.text
        ids = trace.customdata if trace.customdata is not None else range(len(texts or ()))
        for hover, y, one in zip(texts or (), trace.y, ids, strict=False):
            if hover is not None and y is not None:
                name, *lines = (_plain(line) for line in str(hover).split("<br>"))
                row = _plain(str(rows.get(round(y), "")).replace("<br>", " ")) or trace.name or ""
                figures = tuple(line.removeprefix(f"{row}: ") for line in lines)
                found.append((str(one), row, name, figures))
    found = list(dict.fromkeys(found))  # a claim and its measurement are two marks with one text
    labels = Counter(line.partition(": ")[0] for *_, lines in found for line in lines)
    often = {label for label, number in labels.items() if number > len(found) / 2}
    made = list[dict[str, str]]()
    for _, row, name, figures in found:
        made.append({ROW: row, drawn.what.capitalize(): name})
        for line in figures:
            label, colon, value = line.partition(": ")
            key, value = (label, value) if colon and label in often else (VALUE, line)
            made[-1][key] = join_known(" · ", made[-1].get(key), value)
    named = [one[ROW] for one in made]
    columns = dict.fromkeys(key for one in made for key in one)
    if len(set(named)) in (1, len(named)):  # each mark has a row of its own, or all share one
        columns.pop(ROW, None)
    return pa.table({key: [one.get(key, "") for one in made] for key in columns})


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub("", text))


def framed(drawn: Drawn, page: str | None) -> go.Figure:
    """Return the figure with texts above its plot: title, how to read it, n, filters and source.

    The figure of `drawn` is changed.

    Its `meta` is the height of these texts, which the dashboard cuts off.
    """
    figure, night = drawn.figure, page == "dark"
    source = f"Source: Tachograph {metadata.version('tachograph')}"
    source = " · ".join(
        (f"n = {plural(drawn.n, drawn.what)}", drawn.filters.as_words() or "no filters", source)
    )
    heads, small = (
        _wrapped(drawn.title, _TITLE),
        [*_wrapped(drawn.caption, _CAPTION), *_wrapped(source, _CAPTION)],
    )
    look = f"font-size:12px;color:{INKS['dark' if night else 'light']}"
    lines = [
        *(f"<b>{line}</b>" for line in heads),
        *(f'<span style="{look}">{line}</span>' for line in small),
    ]
    head = round(_LINE * len(lines)) + 2 * _PAD
    margin = figure.layout.margin.to_plotly_json()
    title = {
        "text": "<br>".join(lines),
        "x": 0,
        "xref": "container",
        "xanchor": "left",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"l": _PAD, "t": 2 * _PAD},
        "font": {"size": 15, "color": ink(page)},
    }
    size = {
        "height": float(figure.layout.height) + head,
        "margin": margin | {"t": margin.get("t", 0) + head},
    }
    return figure.update_layout(size, title=title, meta=head, paper_bgcolor=PAPER[night])


def _wrapped(text: str, width: int) -> list[str]:
    return [
        safe(line)
        for line in textwrap.wrap(one_line(text), width, max_lines=_LINES, placeholder=" …")
    ]


def download_options(drawn: Drawn, figure: go.Figure, format_: str) -> dict[str, Any]:
    """Return how the button above a framed figure saves it."""
    height, scale = int(figure.layout.height), PNG_SCALE if format_ == "png" else 1
    return {
        "format": format_,
        "filename": drawn.file_name,
        "width": WIDTH,
        "height": height,
        "scale": scale,
    }


def image(drawn: Drawn, format_: str, page: str | None = "light") -> bytes:
    """Return the chart as a file of FORMATS. Raises UsageError without Kaleido or a Chromium."""
    figure = framed(drawn, page)
    size = {
        "format": format_,
        "width": WIDTH,
        "height": int(figure.layout.height),
        "scale": PNG_SCALE if format_ == "png" else 1,
    }
    with _chromium():
        import kaleido  # type: ignore[import-not-found, import-untyped, unused-ignore]

        holder = kaleido.PageGenerator(
            mathjax=False
        )  # it would come from the network, and take two amounts in dollars for a formula
        # else a PDF is moved by a tenth of an inch, and cut off below
        holder.header += "<style>@page { margin: 0 }</style>"
        return bytes(kaleido.calc_fig_sync(figure, opts=size, kopts={"page_generator": holder}))


def printed(page: bytes) -> bytes:
    """Return a page of ours as PDF, as its style sheet prints it.

    Its scripts must have drawn its charts when it has loaded. Raises UsageError without a Chromium.
    """
    with _ONE, TemporaryDirectory(prefix="tachograph-") as folder:
        (file := Path(folder) / "page.html").write_bytes(page)
        made = file.with_suffix(".pdf")
        command = [
            browser(),
            "--headless",
            "--no-sandbox",  # it does not start for root, and the page is ours, without network
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile",
            f"--print-to-pdf={made}",
            file.as_uri(),
        ]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, check=False, timeout=_LONGEST)  # noqa: S603
        if not made.exists():
            raise UsageError("no Chromium or Chrome could print the page.", _NEEDS_BROWSER)
        return made.read_bytes()


@cache
def browser() -> str:
    """Return the path of the system's Chromium or Chrome, or "" if there is none."""
    named = os.environ.get("BROWSER_PATH", "")
    return next(filter(None, map(shutil.which, (named, *_BROWSERS))), "")


@contextmanager
def _chromium() -> Iterator[None]:
    """Turn what fails without Kaleido or a Chromium into a UsageError."""
    try:
        import kaleido  # type: ignore[import-not-found, import-untyped, unused-ignore] # noqa: F401
        from choreographer.browsers import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
            BrowserFailedError,
            ChromeNotFoundError,
        )
    except ImportError as error:
        raise UsageError(
            "a picture needs Kaleido, which is not installed.",
            f"Install it: {extra_command()}",
        ) from error
    try:
        yield
    except (ChromeNotFoundError, BrowserFailedError, TimeoutError) as error:
        raise UsageError(
            "no Chromium or Chrome could be started to draw it, or it took too long.",
            _NEEDS_BROWSER,
        ) from error
