"""What the figures of all charts have in common."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from app.charts.palette import name
from app.text.formatting import exact
from schemas.catalogue.entry import Columns
from schemas.text import one_line
from schemas.units import Unit

HEIGHT = 380
LEGEND_ROW = 20
"""Pixels of a row of the legend; on half a page, a row has two names."""


LONGEST_LINE = 26
"""The most characters of a line of a name beside a row."""

_LINE = re.compile(r".*[-/_@ ·]")

INKS = {"light": "#4B565A", "dark": "#C4CCCA"}
"""Colour of axis texts: on a light page, Streamlit's own has a contrast of 3.6:1 only."""

_HOVERED = {"light": {"bgcolor": "#FFFFFF", "font": {"color": "#0F1719"}}, "dark": {"bgcolor": "#1C2526", "font": {"color": "#F0F2F1"}}}
"""Colours of hover text, which else takes those of its mark: small and grey on many."""


def figure(traces: list[Any], **layout: Any) -> go.Figure:
    """A figure with a transparent background, and a legend only for several named traces."""
    named = sum(bool(trace.showlegend) for trace in traces)
    ours = {
        "height": HEIGHT + LEGEND_ROW * (named // 2),
        "margin": {"l": 8, "r": 16, "t": 16, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": named > 1,
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "yref": "container",  # below the title of the axis, however high the plot is
            "y": 0,
            "yanchor": "bottom",
            "font": {"size": 12},
            "traceorder": "normal",
            "title": {"text": ""},
        },
        "dragmode": False,
        "hoverlabel": {"align": "left", "font": {"size": 13}},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#7A7A7A", "activecolor": "#0F8A84"},
    }
    return go.Figure(traces, ours | layout)  # all at once: an update of a figure takes 10 ms


def inked(drawn: go.Figure, page: str | None) -> go.Figure:
    """The figure with its texts on axes, at points and in annotations in a colour readable on a light or dark page."""
    ink = INKS.get(page or "")
    for axis in (*drawn.select_xaxes(), *drawn.select_yaxes()):
        axis.tickfont.color = axis.title.font.color = ink
    for trace in drawn.select_traces({"type": "scatter"}):
        trace.textfont.color = ink
    for bars in drawn.select_traces({"type": "bar"}):
        bars.outsidetextfont.color = ink
    for note in drawn.layout.annotations:
        note.font.color = ink
    return drawn.update_layout(hoverlabel=_HOVERED[page]) if page in _HOVERED else drawn


def tick_name(text: str | None) -> str:
    """A name beside a row of a chart. A long one has two lines, broken behind a sign where it has one: a phone is narrow."""
    whole = name(text)
    if len(whole) <= LONGEST_LINE:
        return safe(whole)
    found = _LINE.match(whole[:LONGEST_LINE])
    end = found.end() if found else LONGEST_LINE
    return f"{safe(whole[:end].rstrip())}<br>{safe(whole[end:])}"


def nothing(why: str) -> go.Figure:
    """An empty figure with the reason as its text."""
    axis = {"visible": False}
    return figure([], xaxis=axis, yaxis=axis).add_annotation(text=safe(why), showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")


def safe(text: str) -> str:
    """A text from logs, escaped for a figure: Plotly renders tags and links."""
    return html.escape(one_line(text), quote=False)


def hover(title: str, figures: Mapping[str, tuple[Any, Unit]]) -> str:
    """Hover text: a title, then each figure with its label, exact and formatted for people."""
    lines = [f"{safe(label)}: {exact(value, unit)}" for label, (value, unit) in figures.items()]
    return "<br>".join([f"<b>{safe(title)}</b>", *lines])


def figures_of(row: Mapping[str, Any], of: Columns, *keys: str) -> dict[str, tuple[Any, Unit]]:
    """Figures of a row for `hover`: columns of the catalogue."""
    return {of[key].label: (row[key], of[key].unit) for key in keys}
