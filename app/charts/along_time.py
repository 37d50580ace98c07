"""Charts of a metric by date or order: a point per run, or a band where there are too many. Rows as of `app.queries.screens`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from statistics import median
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import axis_layout, axis_of, is_wide
from app.charts.base import figure, hover, inked, left_out, nothing, run_line, safe
from app.charts.palette import MANY, PLAIN, Look, Looks, in_legend, name
from app.text.formatting import human
from schemas.catalogue.entry import Figure
from schemas.unit_names import Unit

LONG = 30
"""The fewest runs for a trend line and a finding."""

CHANGED = 1.25
"""The smallest ratio between the medians of both halves that is reported as a change."""

FEW = 20
"""The most runs in ingestion order that have a tick each."""

TITLES = {"time": "Date (UTC)", "received": "Runs, in ingestion order"}
READ = "Ingested (UTC)"


def points(table: pa.Table, measure: Figure, axis: str, looks: Looks, page: str | None) -> go.Figure:
    """A point per run, coloured by its main model, and the running median where there are enough runs."""
    rows = table.to_pylist()
    if not rows:
        return nothing(f"No run has both a {measure.label.lower()} and a date.")
    logarithmic = is_wide([row["value"] for row in rows])
    drawn = [row for row in rows if row["value"] > 0] if logarithmic else rows
    kind = go.Scattergl if len(drawn) > MANY else go.Scatter
    groups: dict[str | None, list[dict[str, Any]]] = {}
    for row in drawn:
        groups.setdefault(row["model"], []).append(row)
    traces: list[Any] = [_model(kind, *entry, measure) for entry in in_legend(groups, looks)]
    traces += [_trend(kind, drawn)] if len(drawn) >= LONG else []
    return inked(
        figure(
            traces,
            xaxis=_time_axis(TITLES[axis], is_date=axis == "time") | _few_ticks(axis, drawn),
            yaxis=_value_axis(measure, drawn, logarithmic=logarithmic),
        ),
        page,
    )


def bands(table: pa.Table, measure: Figure, axis: str, page: str | None) -> go.Figure:
    """The median of each part of the axis, and a band from p10 to p90."""
    rows = table.to_pylist()
    if not rows:
        return nothing(f"No run has both a {measure.label.lower()} and a date.")
    x = [row["x"] for row in rows]
    texts = [_band_hover(row, measure) for row in rows]
    line = {"width": 0, "color": PLAIN}
    traces = [
        go.Scatter(x=x, y=[row["low"] for row in rows], mode="lines", line=line, hoverinfo="skip", showlegend=False),
        go.Scatter(
            x=x,
            y=[row["high"] for row in rows],
            mode="lines",
            line=line,
            fill="tonexty",
            fillcolor="rgba(15,138,132,0.22)",
            hoverinfo="skip",
            name="p10–p90",
            showlegend=True,
        ),
        go.Scatter(
            x=x,
            y=[row["middle"] for row in rows],
            mode="lines+markers",
            line={"color": PLAIN, "width": 2},
            marker={"size": 5},
            text=texts,
            hoverinfo="text",
            name="median",
            showlegend=True,
        ),
    ]
    value = axis_layout(axis_of(measure), [row["high"] for row in rows], logarithmic=False)
    return inked(figure(traces, xaxis=_time_axis(READ if axis == "received" else TITLES[axis], is_date=True), yaxis=value), page)


def finding(table: pa.Table, measure: Figure, axis: str) -> str:
    """Whether the later half of the runs differs from the earlier; the ingestion order tells nothing of that, it may be that of names."""
    values = table["value" if "value" in table.column_names else "middle"].to_pylist()
    if not values:
        return measure.label
    if len(values) < LONG or axis != "time":
        each = "" if " per " in measure.label else " per run"
        return f"{measure.label}{each} (median {human(median(values), measure.unit)})"
    first, second = median(values[: len(values) // 2]), median(values[len(values) // 2 :])
    words = f"from {human(first, measure.unit)} to {human(second, measure.unit)}"
    if min(first, second) > 0 and max(first, second) / min(first, second) >= CHANGED:
        return f"{measure.label} {'rose' if second > first else 'fell'} {words} (medians of the first and second half)"
    return f"{measure.label} stayed about the same (median {human(median(values), measure.unit)})"


def undrawn_note(table: pa.Table, measure: Figure, axis: str, runs: int) -> str:
    """How many of the runs are not drawn; along time these are also those that only a file dates."""
    drawn = sum(table["runs"].to_pylist()) if "runs" in table.column_names else table.num_rows
    lacks = f"a {measure.label.lower()}{' or a recorded date' if axis == 'time' else ''}"
    return left_out(runs - drawn, 0, lacks)


def _model(kind: Any, label: str, look: Look, rows: Sequence[dict[str, Any]], measure: Figure) -> Any:
    return kind(
        x=[row["x"] for row in rows],
        y=[row["value"] for row in rows],
        mode="markers",
        name=safe(label),
        marker={"color": look.colour, "symbol": look.symbol, "size": 8, "opacity": 0.75},
        text=[_hover(row, measure) for row in rows],
        customdata=[row["run_id"] for row in rows],
        hoverinfo="text",
        showlegend=True,
    )


def _hover(row: dict[str, Any], measure: Figure) -> str:
    at = f"<br>{row['x']:%Y-%m-%d %H:%M}" if isinstance(row["x"], datetime) else ""
    text = f"<b>{safe(name(row['model']))}</b><br>{safe(measure.label)}: {human(row['value'], measure.unit)}{at}"
    return f"{text}<br>Outcome: {safe(row['outcome'].replace('_', ' '))}<br>{safe(run_line(row))}"


def _trend(kind: Any, rows: Sequence[dict[str, Any]]) -> Any:
    return kind(
        x=[row["x"] for row in rows],
        y=[row["trend"] for row in rows],
        mode="lines",
        line={"color": "#7A7A7A", "width": 2},
        name="moving median",
        hoverinfo="skip",
        showlegend=True,
    )


def _band_hover(row: dict[str, Any], measure: Figure) -> str:
    middle, low, high = (human(row[key], measure.unit) for key in ("middle", "low", "high"))
    at = f"{row['x']:%Y-%m-%d %H:%M}"
    return f"{hover(at, {'Runs': (row['runs'], Unit.COUNT)})}<br>Median: {middle}<br>p10–p90: {low} to {high}"


def _time_axis(title: str, *, is_date: bool) -> dict[str, Any]:
    return {"title": {"text": title}, "type": "date" if is_date else "linear", "showgrid": False, "automargin": True}


def _few_ticks(axis: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A tick per run where few runs are shown in ingestion order: an axis with half runs would be wrong."""
    return {"tickvals": [row["x"] for row in rows]} if axis == "received" and len(rows) <= FEW else {}


def _value_axis(measure: Figure, rows: Sequence[dict[str, Any]], *, logarithmic: bool) -> dict[str, Any]:
    return axis_layout(axis_of(measure), [row["value"] for row in rows], logarithmic=logarithmic)
