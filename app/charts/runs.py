"""Charts of runs: one point per run, coloured by its main model. Rows as of `queries.runs`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import Axis, axis_layout, axis_of, is_wide
from app.charts.base import Words, chart, figure, hover, left_out, nothing, safe
from app.charts.looks import Look, Looks, name
from app.text.formatting import human
from schemas.catalogue.columns import RUNS
from schemas.unit_names import Unit

MANY = 2_000
"""Above so many points, the graphics card draws them: as page elements they would take seconds."""

WALL, API, TURNS, COST = (axis_of(RUNS[key]) for key in ("duration_ms", "duration_api_ms", "num_turns", "cost_own_usd"))
_MARGIN = 1.25


@dataclass(frozen=True)
class Points:
    """The runs that can be drawn, and how many cannot: a figure is unknown, or zero on a logarithmic axis."""

    rows: Sequence[dict[str, Any]]
    unknown: int
    zero: int
    logarithmic: tuple[bool, bool]
    alike: bool


def points(table: pa.Table, x: Axis, y: Axis, *, alike: bool = False) -> Points:
    """Which runs can be drawn on these axes; `alike` axes are both logarithmic or both not."""
    rows = table.select(["run_id", "model", x.column, y.column]).to_pylist()
    known = [row for row in rows if row[x.column] is not None and row[y.column] is not None]
    scales = [is_wide([float(row[axis.column]) for row in known]) for axis in (x, y)]
    scales = [any(scales)] * 2 if alike else scales
    axes = [axis for axis, logarithmic in zip((x, y), scales, strict=True) if logarithmic]
    drawn = [row for row in known if all(row[axis.column] > 0 for axis in axes)]
    return Points(drawn, len(rows) - len(known), len(known) - len(drawn), (scales[0], scales[1]), alike)


def _wall_words(table: pa.Table) -> Words:
    found = points(table, WALL, API, alike=True)
    rows = [row for row in _both(table, "duration_ms", "duration_api_ms") if row["duration_ms"] > 0]
    wall, api = sum(row["duration_ms"] for row in rows), sum(row["duration_api_ms"] for row in rows)
    finding = f"API calls took {human(api / wall, Unit.RATIO)} the wall time" if wall else "Wall time and API time"
    return Words(finding, left_out(found.unknown, found.zero, "both times"))


def _turn_words(table: pa.Table) -> Words:
    found = points(table, TURNS, COST)
    rows = [row for row in _both(table, "num_turns", "cost_own_usd") if row["num_turns"] > 0]
    turns, cost = sum(row["num_turns"] for row in rows), sum((row["cost_own_usd"] for row in rows), Decimal(0))
    finding = f"A turn costs {human(cost / turns, Unit.USD)} on average" if turns else "Turns and reported cost"
    return Words(finding, left_out(found.unknown, found.zero, "turns and cost"))


def _both(table: pa.Table, first: str, second: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.select([first, second]).to_pylist()
    return [row for row in rows if row[first] is not None and row[second] is not None]


@chart(
    "wall-api",
    "Wall time against API time; dashed where both are the same",
    "One point per run: its wall time to the right, its time in API calls upwards; runs above the dashed line made calls in parallel",
    _wall_words,
)
def wall_api(table: pa.Table, models: Looks) -> go.Figure:
    """API time over wall time, with the line where both are the same."""
    found = points(table, WALL, API, alike=True)
    if not found.rows:
        return nothing("No run has both a wall time and an API time.")
    return _scatter(found, WALL, API, models).add_traces([_diagonal(found)])


@chart("turns-cost", "Turns against reported cost", "One point per run: its turns to the right, its reported cost upwards", _turn_words)
def turns_cost(table: pa.Table, models: Looks) -> go.Figure:
    """Reported cost over turns."""
    found = points(table, TURNS, COST)
    if not found.rows:
        return nothing("No run has both turns and a reported cost.")
    return _scatter(found, TURNS, COST, models)


def _scatter(found: Points, x: Axis, y: Axis, models: Looks) -> go.Figure:
    groups: dict[str | None, list[dict[str, Any]]] = {}
    for row in found.rows:
        groups.setdefault(row["model"], []).append(row)
    kind = go.Scattergl if len(found.rows) > MANY else go.Scatter
    traces = [_trace(kind, model, rows, (x, y), models[model]) for model, rows in groups.items()]
    shown = {axis: {x, y} if found.alike else {axis} for axis in (x, y)}
    layouts = [
        axis_layout(axis, [float(row[one.column]) for row in found.rows for one in shown[axis]], logarithmic=logarithmic)
        for axis, logarithmic in zip((x, y), found.logarithmic, strict=True)
    ]
    return figure(traces, xaxis=layouts[0], yaxis=layouts[1])


def _trace(kind: Any, model: str | None, rows: Sequence[dict[str, Any]], axes: tuple[Axis, Axis], look: Look) -> Any:
    x, y = axes
    return kind(
        x=[float(row[x.column]) for row in rows],
        y=[float(row[y.column]) for row in rows],
        name=safe(name(model)),
        text=[_hover(row, axes) for row in rows],
        customdata=[row["run_id"] for row in rows],
        hoverinfo="text",
        mode="markers",
        showlegend=True,
        marker={"color": look.colour, "symbol": look.symbol, "size": 9, "opacity": 0.8},
    )


def _hover(row: dict[str, Any], axes: tuple[Axis, Axis]) -> str:
    figures = {axis.title.removesuffix(" (USD)"): (row[axis.column], axis.unit) for axis in axes}
    return hover(name(row["model"]), figures) + f"<br>Run: {safe(row['run_id'])}"


def _diagonal(found: Points) -> go.Scatter:
    """The line on which API time equals wall time, over the range of both."""
    values = [float(row[axis.column]) for row in found.rows for axis in (WALL, API)]
    ends = [min(values) / _MARGIN if any(found.logarithmic) else 0.0, max(values) * _MARGIN]
    return go.Scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": "#7A7A7A", "width": 1, "dash": "dash"},
        hoverinfo="skip",
        showlegend=False,
    )
