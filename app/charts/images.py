"""Figures for print: a chart with its title, the data behind it and its source in the picture, as SVG, PNG or PDF."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import plotly.graph_objects as go

from app.charts.base import INKS, PAPER, ink, safe
from app.queries.filters import NO_FILTERS, Filters
from ingest.system.command_lines import extra_command
from schemas.errors import UsageError
from schemas.text import one_line, plural

HEAD = 96
"""Pixels above the plot for the texts of the picture, which the style sheet of the dashboard cuts off (`stPlotlyChart`)."""

WIDTH = 900
"""Pixels of a picture: the width of two columns on paper at 120 dpi."""

PNG_SCALE = 3
"""Pixels of a PNG per pixel of the picture: 360 dpi on paper."""

FORMATS = ("svg", "png", "pdf")

_TITLE, _CAPTION, _LINES = 104, 140, 2
"""Characters of a line of the title and of what is below it, and the most lines of each."""


@dataclass(frozen=True)
class Drawn:
    """A chart: its name, its finding, a line on how to read it, the number of `what` drawn, and the figure on a light or dark page."""

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
        words = [self.name, *(f"{key}-{value}" for key, values in self.filters.chosen for value in values if key != "found")]
        return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(words)).strip("-.")[:120]


def framed(drawn: Drawn, page: str | None) -> go.Figure:
    """Return the figure with texts above its plot: title, how to read it, n, filters and source. The figure of `drawn` is changed."""
    figure, night = drawn.figure, page == "dark"
    source = f"Source: Tachograph {metadata.version('tachograph')}"
    source = " · ".join((f"n = {plural(drawn.n, drawn.what)}", drawn.filters.as_words() or "no filters", source))
    heads, small = _wrapped(drawn.title, _TITLE), [*_wrapped(drawn.caption, _CAPTION), *_wrapped(source, _CAPTION)[:1]]
    look = f"font-size:12px;color:{INKS['dark' if night else 'light']}"
    lines = [*(f"<b>{line}</b>" for line in heads), *(f'<span style="{look}">{line}</span>' for line in small)]
    height = float(figure.layout.height) + HEAD
    margin = figure.layout.margin.to_plotly_json()
    title = {
        "text": "<br>".join(lines), "x": 0, "xref": "container", "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top",
        "pad": {"l": 12, "t": HEAD - 12 - 19 * len(lines)}, "font": {"size": 15, "color": ink(page)},
    }  # fmt: skip
    return figure.update_layout(height=height, margin=margin | {"t": margin.get("t", 0) + HEAD}, title=title, paper_bgcolor=PAPER[night])


def _wrapped(text: str, width: int) -> list[str]:
    return [safe(line) for line in textwrap.wrap(one_line(text), width, max_lines=_LINES, placeholder=" …")]


def download_options(drawn: Drawn, figure: go.Figure, format_: str) -> dict[str, Any]:
    """Return how the button above a framed figure saves it."""
    height, scale = int(figure.layout.height), PNG_SCALE if format_ == "png" else 1
    return {"format": format_, "filename": drawn.file_name, "width": WIDTH, "height": height, "scale": scale}


def image(drawn: Drawn, format_: str, page: str | None = "light") -> bytes:
    """Return the chart as a file of FORMATS. Raises UsageError without Kaleido or a Chromium."""
    try:
        import kaleido  # type: ignore[import-not-found, import-untyped, unused-ignore]
        from choreographer.browsers import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
            BrowserFailedError,
            ChromeNotFoundError,
        )
    except ImportError as error:
        raise UsageError("a picture of a chart needs Kaleido, which is not installed.", f"Install it: {extra_command('charts')}") from error
    figure = framed(drawn, page)
    size = {"format": format_, "width": WIDTH, "height": int(figure.layout.height), "scale": PNG_SCALE if format_ == "png" else 1}
    try:  # MathJax would come from the network, and take two amounts in dollars for a formula
        return bytes(kaleido.calc_fig_sync(figure, opts=size, kopts={"mathjax": False}))
    except (ChromeNotFoundError, BrowserFailedError) as error:
        raise UsageError(
            "no Chromium or Chrome could be started to draw the picture.",
            "Install one (Debian: apt install chromium), or name it in BROWSER_PATH.",
        ) from error
