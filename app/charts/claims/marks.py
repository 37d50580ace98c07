"""Marks, axes and hover text of ratios: coloured and sized by evidence, shaped by scope, open where there is doubt."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from app.charts.base import safe
from app.charts.palette import EVIDENCE_SIZES, SCOPES
from app.text.words.claims import EVIDENCE, evidence_words, words

Row = Mapping[str, Any]

GREY = "#7A7A7A"
_HOVER_WIDTH = 60
"""The most characters of a line of hover text."""

_MOST_TICKS = 5
_POWERS = range(-9, 13)
_TICKS = (
    [step / 50 for step in range(25, 101)],
    [step / 20 for step in range(10, 41)],
    [step / 10 for step in range(1, 41)],
    [base * 10.0**power for power in _POWERS for base in (1, 1.5, 2, 3, 5, 7)],
    [base * 10.0**power for power in _POWERS for base in (1, 2, 5)],
    [10.0**power for power in _POWERS],
    [1000.0**power for power in range(-3, 5)],
)
"""Places for the ticks of a ratio, from fine to coarse."""


def run_points(evidence: str, rows: Sequence[Row], x: Sequence[float], y: Sequence[float]) -> go.Scatter:
    """Points with their run ids as custom data, so that a click can open the run."""
    return go.Scatter(
        x=x,
        y=y,
        mode="markers",
        name=evidence_words(evidence),
        legendgroup=evidence,
        customdata=[[row["run_id"]] for row in rows],
        hoverinfo="text",
        showlegend=False,
        marker={
            "color": EVIDENCE[evidence],
            "size": EVIDENCE_SIZES[evidence],
            "symbol": [mark_of(row) for row in rows],
            "opacity": 1,
            "line": {"width": 1.5, "color": EVIDENCE[evidence]},
        },
    )


def mark_of(row: Row) -> str:
    """The mark of the scope; open for hedged and estimated claims."""
    is_open = row["evidence"] == "estimated" or row["hedged"]
    return SCOPES[row["scope"]] + ("-open" if is_open else "")


def legend_of(rows: Sequence[Row]) -> list[go.Scatter]:
    """The legend of the colours and shapes in use, as traces without points: a point has one of each, so none can represent either."""
    evidence = [kind for kind in EVIDENCE if any(row["evidence"] == kind for row in rows)]
    lines = [{"line": {"color": EVIDENCE[kind], "width": 8}, "legendgroup": kind, "name": evidence_words(kind)} for kind in evidence]
    colours = [go.Scatter(mode="lines", **line) for line in lines]
    shapes = [(words(scope), mark) for scope, mark in SCOPES.items() if any(row["scope"] == scope for row in rows)]
    shapes += [("qualified or projected", "circle-open")] if any(mark_of(row).endswith("-open") for row in rows) else []
    marks = [go.Scatter(mode="markers", marker={"color": GREY, "symbol": mark, "size": 10}, name=label) for label, mark in shapes]
    return [trace.update(x=[None], y=[None], showlegend=True, hoverinfo="skip") for trace in (*colours, *marks)]


def no_change(along: str) -> dict[str, Any]:
    """The line at 1×, across the whole plot."""
    across = {"x": "y", "y": "x"}[along]
    ends = {f"{along}0": 1, f"{along}1": 1, f"{across}0": 0, f"{across}1": 1, f"{across}ref": f"{across} domain"}
    return {"type": "line", "layer": "below", "line": {"color": GREY, "width": 1.5, "dash": "dash"}} | ends


def ratio_axis(values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis with 1× on it and round factors as ticks."""
    low, high = min([*values, 1.0]), max([*values, 1.0])
    margin = max(0.02, 0.06 * math.log10(high / low))
    ends = [math.log10(low) - margin, math.log10(high) + margin]
    choices = [[place for place in places if 10 ** ends[0] <= place <= 10 ** ends[1]] for places in _TICKS]
    ticks = next((ticks for ticks in choices if len(ticks) <= _MOST_TICKS), [1.0])
    texts = [f"{tick / 1000:,g}k×" if tick >= 1000 else f"{tick:g}×" for tick in ticks]  # short: phones are narrow
    return {"type": "log", "range": ends, "tickvals": ticks, "ticktext": texts, "automargin": True, "tickangle": 0}


def hover_lines(title: str, *lines: str) -> str:
    """Hover text with a title, wrapped at the width of a page."""
    first, *rest = [_broken(line) for line in (title, *lines) if line]
    return "<br>".join([f"<b>{first}</b>", *rest])


def _broken(line: str) -> str:
    if len(line) <= _HOVER_WIDTH:
        return safe(" ".join(line.split()))
    return "<br>".join(safe(part) for part in textwrap.wrap(line, _HOVER_WIDTH))
