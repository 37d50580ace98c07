"""Charts of where many runs lie on two axes: cells of a grid, darker where more runs are. Rows as of `queries_screens.density`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import Axis, axis_layout
from app.charts.base import figure, inked, nothing
from app.charts.runs import API, COST, TURNS, WALL
from app.text.formatting import human
from schemas.unit_names import Unit

CELLS = 16
"""Cells to a power of ten: a few hundred in all, whatever the number of runs."""

AXES = {"wall-api": (WALL, API), "turns-cost": (TURNS, COST)}
"""The charts of one point per run that become grids, by their key in CHARTS."""

TITLES = {
    "wall-api": "Wall time against API time, a square for many runs, stronger where more are",
    "turns-cost": "Turns against reported cost, a square for many runs, stronger where more are",
}

SCALES = {"dark": [[0, "#1C3A3B"], [1, "#8FF0E4"]], "light": [[0, "#D9ECE9"], [1, "#06403D"]]}


def cells(table: pa.Table, key: str, page: str | None) -> go.Figure:
    """A square per cell with runs in it; both axes are logarithmic."""
    rows = table.to_pylist()
    if not rows:
        return nothing("No run has both figures.")
    x, y = AXES[key]
    values = {axis.column: [10 ** row[side] for row in rows] for axis, side in ((x, "x"), (y, "y"))}
    marks = go.Scattergl(
        x=values[x.column],
        y=values[y.column],
        mode="markers",
        marker={
            "symbol": "square",
            "size": 10,
            "color": [row["runs"] for row in rows],
            "colorscale": SCALES.get(page or "light", SCALES["light"]),
            "colorbar": {"title": {"text": "Runs"}, "thickness": 10, "tickformat": ",d", "outlinewidth": 0},
        },
        text=[_hover(row, x, y) for row in rows],
        hoverinfo="text",
        showlegend=False,
    )
    layouts: dict[str, Any] = {
        "xaxis": axis_layout(x, values[x.column], logarithmic=True),
        "yaxis": axis_layout(y, values[y.column], logarithmic=True),
    }
    return inked(figure([marks], **layouts), page)


def finding(key: str, row: Mapping[str, Any]) -> str:
    """The same finding as where every run is a point, from the figures over all of them."""
    if key == "wall-api":
        return f"API calls took {human(row['parallelism'], Unit.RATIO)} the wall time"
    return f"A turn costs {human(row['cost_per_turn_usd'], Unit.USD)} on average"


def _hover(row: dict[str, Any], x: Axis, y: Axis) -> str:
    about = "<br>".join(f"{axis.title}: about {human(10 ** row[side], axis.unit)}" for axis, side in ((x, "x"), (y, "y")))
    return f"<b>{row['runs']:,} runs</b><br>{about}"
