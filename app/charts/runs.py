"""Charts of one figure of a run over another. Each is an entry of SCATTERS; the overview shows those of the chosen measure of cost.

A point per run, coloured by its main model, from rows of `app.queries.runs`; where there are too many, squares that are stronger where
more runs are, from rows of `app.queries.screens.density`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import Axis, axis_layout, axis_of, is_wide
from app.charts.base import Words, chart, figure, hover, inked, left_out, nothing, run_line, safe
from app.charts.palette import MANY, Look, Looks, in_legend, name
from app.text.formatting import human
from schemas.catalogue.columns import RUNS
from schemas.catalogue.cost_measures import LIST, REPORTED, CostMeasure
from schemas.catalogue.metrics import RUN_METRICS

CELLS = 16
"""Squares to a power of ten: a few hundred in all, whatever the number of runs."""

_SCALES = {"dark": [[0, "#1C3A3B"], [1, "#8FF0E4"]], "light": [[0, "#D9ECE9"], [1, "#06403D"]]}
_MARGIN = 1.25


@dataclass(frozen=True)
class Scatter:
    """One chart: the figures of its axes and its words.

    `title` is `Y vs. X`, `shows` says how to read the points. `both` is what a run must have to be drawn, `missing` what the others
    lack. `metric` is the figure of RUN_METRICS that is Σ y ÷ Σ x, and `finding` has it at its `{}`; without them the title is the heading.
    It rests on the runs that have the figure of this name themselves.
    Figures of one kind share a `common_scale`, with a dashed line where both are equal. `cost` is the key of the measure of cost that
    one of them is.
    """

    key: str
    x: Axis
    y: Axis
    title: str
    shows: str
    both: str
    missing: str
    metric: str = ""
    finding: str = ""
    common_scale: bool = False
    cost: str = ""

    def words(self, table: pa.Table) -> Words:
        """What its points say, and which runs are left out."""
        found = points(table, self)
        rows = [row for row in _known(table, self) if row[self.x.column] > 0 and not (self.metric and row[self.metric] is None)]
        x, y = (sum(row[axis.column] for row in rows) for axis in (self.x, self.y))
        return Words(self.said(y / x if x else None), left_out(found.unknown, found.zero, self.missing))

    def said(self, value: Any) -> str:
        """The finding, of a value of `metric`."""
        if value is None or not self.metric:
            return self.title
        return self.finding.format(human(value, RUN_METRICS[self.metric].unit))

    def draw(self, table: pa.Table, models: Looks) -> go.Figure:
        """A point per run."""
        found = points(table, self)
        if not found.rows:
            return nothing(f"No run has both {self.both}.")
        drawn = _scatter(found, self, models)
        return drawn.add_traces([_diagonal(found, self)]) if self.common_scale else drawn

    @property
    def squares_title(self) -> str:
        """The title of the chart with a square for many runs."""
        return f"{self.title}. Darker squares: more runs."

    def draw_squares(self, table: pa.Table, page: str | None) -> go.Figure:
        """A square per cell with runs in it; both axes are logarithmic."""
        rows = table.to_pylist()
        if not rows:
            return nothing("No run has both figures.")
        x, y = ([10 ** row[side] for row in rows] for side in ("x", "y"))
        marks = go.Scattergl(
            x=x,
            y=y,
            mode="markers",
            marker={
                "symbol": "square",
                "size": 10,
                "color": [row["runs"] for row in rows],
                "colorscale": _SCALES.get(page or "light", _SCALES["light"]),
                "colorbar": {"title": {"text": "Runs"}, "thickness": 10, "tickformat": ",d", "outlinewidth": 0},
            },
            text=[_square_hover(row, self) for row in rows],
            hoverinfo="text",
            showlegend=False,
        )
        layouts = {"xaxis": axis_layout(self.x, x, logarithmic=True), "yaxis": axis_layout(self.y, y, logarithmic=True)}
        return inked(figure([marks], **layouts), page)


SCATTERS: dict[str, Scatter] = {}
"""Every chart of two figures by its key."""


def scatter(one: Scatter) -> None:
    """Register a chart of two figures: on the overview and among all charts."""
    SCATTERS[one.key] = one
    title = f"{one.title} (dashed: equal)" if one.common_scale else one.title
    chart(one.key, title, one.shows, one.words)(one.draw)


scatter(
    Scatter(
        key="wall-api",
        x=axis_of(RUNS["duration_ms"]),
        y=axis_of(RUNS["duration_api_own_ms"]),
        title="API time vs. wall time",
        shows="One point per run: its wall time to the right, its time in API calls upwards; "
        "runs above the dashed line made calls in parallel",
        both="a wall time and an API time",
        missing="both times",
        metric="parallelism",
        finding="API time is {} wall time",
        common_scale=True,
    )
)
for _measure in (REPORTED, LIST):
    scatter(
        Scatter(
            key="turns-cost" if _measure is REPORTED else f"turns-{_measure.key}-cost",
            x=axis_of(RUNS["num_turns"]),
            y=axis_of(RUNS[_measure.column]),
            title=f"{_measure.label} vs. turns",
            shows=f"One point per run: its turns to the right, its {_measure.name} upwards",
            both=f"turns and a {_measure.name}",
            missing=f"turns and {_measure.noun}",
            metric=_measure.of("cost_per_turn_usd"),
            finding=f"Average {_measure.noun} per turn: {{}}",
            cost=_measure.key,
        )
    )


def scatters(measure: CostMeasure) -> dict[str, Scatter]:
    """The charts that the overview shows where cost is counted by this measure."""
    return {key: one for key, one in SCATTERS.items() if one.cost in ("", measure.key)}


@dataclass(frozen=True)
class Points:
    """The runs that are drawn, and the numbers of those that are not: with a figure unknown, or zero on a logarithmic axis."""

    rows: Sequence[dict[str, Any]]
    unknown: int
    zero: int
    logarithmic: tuple[bool, bool]


def points(table: pa.Table, of: Scatter) -> Points:
    """Which runs can be drawn on its axes."""
    axes, known = (of.x, of.y), _known(table, of)
    scales = [is_wide([float(row[axis.column]) for row in known]) for axis in axes]
    scales = [any(scales)] * 2 if of.common_scale else scales
    logarithmic = [axis for axis, is_logarithmic in zip(axes, scales, strict=True) if is_logarithmic]
    drawn = [row for row in known if all(row[axis.column] > 0 for axis in logarithmic)]
    return Points(drawn, table.num_rows - len(known), len(known) - len(drawn), (scales[0], scales[1]))


def _known(table: pa.Table, of: Scatter) -> list[dict[str, Any]]:
    """The runs that have both figures."""
    rows: list[dict[str, Any]] = table.select(
        ["run_id", "title", "model", of.x.column, of.y.column, *filter(None, (of.metric,))]
    ).to_pylist()
    return [row for row in rows if row[of.x.column] is not None and row[of.y.column] is not None]


def _scatter(found: Points, of: Scatter, models: Looks) -> go.Figure:
    x, y = of.x, of.y
    groups: dict[str | None, list[dict[str, Any]]] = {}
    for row in found.rows:
        groups.setdefault(row["model"], []).append(row)
    kind = go.Scattergl if len(found.rows) > MANY else go.Scatter
    traces = [_trace(kind, *entry, of) for entry in in_legend(groups, models)]
    shown = {axis: {x, y} if of.common_scale else {axis} for axis in (x, y)}
    layouts = [
        axis_layout(axis, [float(row[one.column]) for row in found.rows for one in shown[axis]], logarithmic=logarithmic)
        for axis, logarithmic in zip((x, y), found.logarithmic, strict=True)
    ]
    return figure(traces, xaxis=layouts[0], yaxis=layouts[1])


def _trace(kind: Any, label: str, look: Look, rows: Sequence[dict[str, Any]], of: Scatter) -> Any:
    return kind(
        x=[float(row[of.x.column]) for row in rows],
        y=[float(row[of.y.column]) for row in rows],
        name=safe(label),
        text=[_hover(row, of) for row in rows],
        customdata=[row["run_id"] for row in rows],
        hoverinfo="text",
        mode="markers",
        showlegend=True,
        marker={"color": look.colour, "symbol": look.symbol, "size": 9, "opacity": 0.8},
    )


def _hover(row: dict[str, Any], of: Scatter) -> str:
    figures = {axis.title.removesuffix(" (USD)"): (row[axis.column], axis.unit) for axis in (of.x, of.y)}
    return hover(name(row["model"]), figures) + f"<br>{safe(run_line(row))}"


def _diagonal(found: Points, of: Scatter) -> go.Scatter:
    """The line on which both figures are equal, over the range of both."""
    values = [float(row[axis.column]) for row in found.rows for axis in (of.x, of.y)]
    ends = [min(values) / _MARGIN if any(found.logarithmic) else 0.0, max(values) * _MARGIN]
    return go.Scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": "#7A7A7A", "width": 1, "dash": "dash"},
        hoverinfo="skip",
        showlegend=False,
    )


def _square_hover(row: Mapping[str, Any], of: Scatter) -> str:
    about = "<br>".join(f"{axis.title}: about {human(10 ** row[side], axis.unit)}" for axis, side in ((of.x, "x"), (of.y, "y")))
    return f"<b>{row['runs']:,} runs</b><br>{about}"
