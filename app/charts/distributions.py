"""Charts of how a measure is distributed: outlines over bins, and boxes of quantiles. Rows: `app.queries.comparisons.distributions`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import axis_layout, axis_of, count_axis, is_wide
from app.charts.base import figure, hover, inked, left_out, nothing, safe, tick_name
from app.charts.palette import COHORTS, PLAIN, Looks, name
from app.queries.comparisons.distributions import Scale
from app.text.formatting import human
from schemas.catalogue.entry import Figure
from schemas.text import plural
from schemas.unit_names import Unit

ROW = 34
FEW = 5
"""The fewest runs of a group that a finding mentions; smaller ones are only drawn."""


@dataclass(frozen=True)
class Outline:
    """One distribution: rows of `app.queries.comparisons.distributions.bins`, with its label and colour in the legend."""

    bins: pa.Table
    label: str
    colour: str


def histogram(measure: Figure, on: Scale | None, outlines: Sequence[Outline], marks: Mapping[str, float], page: str | None) -> go.Figure:
    """How many runs lie where; several outlines show shares instead, since cohorts differ in size. `marks` are named values."""
    if on is None:
        return nothing(f"No run has a {measure.label.lower()}.")
    edges = on.edges()
    traces = [_outline(outline, edges, measure, share=len(outlines) > 1) for outline in outlines]
    x = axis_layout(axis_of(measure), edges, logarithmic=on.logarithmic)
    shares = {"title": {"text": "Share of runs"}, "rangemode": "tozero", "tickformat": ",.0%"}
    counts = count_axis("Runs", max((count for trace in traces for count in trace.y), default=0))
    drawn = figure(traces, xaxis=x, yaxis=shares if len(outlines) > 1 else counts)
    for label, value in marks.items():
        _mark(drawn, label, value, logarithmic=on.logarithmic)
    return inked(drawn, page)


def _mark(drawn: go.Figure, label: str, value: float, *, logarithmic: bool) -> None:
    """A named line at a value, unless a logarithmic axis has no place for it."""
    if value > 0 or not logarithmic:
        drawn.add_vline(value, line={"color": "#7A7A7A", "width": 1, "dash": "dot"})
        place = math.log10(value) if logarithmic else value  # Plotly places annotations of a logarithmic axis by their logarithm
        drawn.add_annotation(x=place, y=1.0, yref="paper", yanchor="bottom", text=safe(label), showarrow=False, font={"size": 12})


def _outline(outline: Outline, edges: Sequence[float], measure: Figure, *, share: bool) -> go.Scatter:
    """Steps over the bins; hovering a bin says what lies in it."""
    counts = [0] * (len(edges) - 1)
    for row in outline.bins.to_pylist():
        counts[row["bin"]] = row["runs"]
    whole = sum(counts) or 1
    heights = [count / whole if share else count for count in counts]
    texts = [
        hover(f"{human(low, measure.unit)} to {human(high, measure.unit)}", {outline.label: (count, Unit.COUNT)})
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
    ]
    return go.Scatter(
        x=list(edges),
        y=[*heights, heights[-1]],
        line={"shape": "hv", "color": outline.colour, "width": 2},
        fill="tozeroy",
        opacity=0.9,
        name=safe(outline.label),
        showlegend=True,
        mode="lines",
        text=[*texts, texts[-1]],
        hoverinfo="text",
    )


def boxes(measure: Figure, quantiles: pa.Table, looks: Looks | None, page: str | None) -> go.Figure:
    """A box per group: the middle half of its runs, the median, and lines to the middle nine tenths; highest median on top."""
    rows = sorted(quantiles.to_pylist(), key=lambda row: row["p50"])
    if not rows:
        return nothing(f"No run has a {measure.label.lower()}.")
    values = [row[key] for row in rows for key in ("p05", "p95") if row[key] > 0]
    logarithmic = is_wide(values) and all(row["p05"] > 0 for row in rows)
    traces = [_box(place, row, looks) for place, row in enumerate(rows)]
    names = {"tickvals": list(range(len(rows))), "ticktext": [_called(row) for row in rows], "automargin": True, "showgrid": False}
    x = axis_layout(axis_of(measure), values, logarithmic=logarithmic)
    drawn = figure([*traces, _medians(rows, measure)], xaxis=x, yaxis=names | {"title": {"text": ""}, "range": [-0.7, len(rows) - 0.3]})
    return inked(drawn.update_layout(height=110 + ROW * max(len(rows), 3), showlegend=False), page)


def _box(place: int, row: Mapping[str, Any], looks: Looks | None) -> go.Box:
    colour = looks[row["group"]].colour if looks and row["group"] in looks else PLAIN
    return go.Box(
        y=[place],
        q1=[row["p25"]],
        median=[row["p50"]],
        q3=[row["p75"]],
        lowerfence=[row["p05"]],
        upperfence=[row["p95"]],
        orientation="h",
        width=0.55,
        line={"color": colour, "width": 1.5},
        fillcolor=colour,
        opacity=0.55,
        hoverinfo="skip",
        showlegend=False,
    )


def _medians(rows: Sequence[Mapping[str, Any]], measure: Figure) -> go.Scatter:
    """A mark at each median, to hover over: boxes of given quantiles tell bare numbers only."""
    return go.Scatter(
        x=[row["p50"] for row in rows],
        y=list(range(len(rows))),
        mode="markers",
        marker={"size": 11, "symbol": "line-ns-open", "color": "#7A7A7A", "line": {"width": 2}},
        text=[_summary(row, measure) for row in rows],
        hoverinfo="text",
        showlegend=False,
    )


def _summary(row: Mapping[str, Any], measure: Figure) -> str:
    figures = {
        "Median": (row["p50"], measure.unit),
        "p25": (row["p25"], measure.unit),
        "p75": (row["p75"], measure.unit),
        "p5": (row["p05"], measure.unit),
        "p95": (row["p95"], measure.unit),
        "Runs": (row["known"], Unit.COUNT),
    }
    lines = [f"{label}: {human(value, unit)}" for label, (value, unit) in figures.items()]
    return "<br>".join([f"<b>{safe(_called(row))}</b>", *lines])


def _called(row: Mapping[str, Any]) -> str:
    return tick_name(row["group"])


def spread_finding(measure: Figure, whole: Mapping[str, Any] | None) -> str:
    """What a distribution shows, from the row of quantiles over all runs."""
    if whole is None or not whole["known"]:
        return measure.label
    if whole["known"] < FEW:
        return f"{measure.label}: median {human(whole['p50'], measure.unit)} of {plural(whole['known'], 'run')}"
    if measure.better == "higher":
        return f"{measure.label}: median {human(whole['p50'], measure.unit)}, p5 {human(whole['p05'], measure.unit)}"
    return f"{measure.label}: median {human(whole['p50'], measure.unit)}, p90 {human(whole['p90'], measure.unit)}"


def groups_finding(measure: Figure, quantiles: pa.Table) -> str:
    """Which named group is highest and which lowest, where there are enough runs of both, and what that leaves out."""
    drawn = [row for row in quantiles.to_pylist() if row["known"]]
    named = [row for row in drawn if row["group"] is not None]
    rows = sorted((row for row in named if row["known"] >= FEW), key=lambda row: row["p50"])
    if len(rows) < 2:
        return f"{measure.label} by group"
    low, high = (f"{name(row['group'])} (median {human(row['p50'], measure.unit)})" for row in (rows[0], rows[-1]))
    ends = ("Longest", "shortest") if measure.unit is Unit.MILLISECONDS else ("Highest", "lowest")
    fewest = f" with {FEW} or more runs" if len(rows) < len(named) else ""
    groups = "named groups" if len(named) < len(drawn) else "groups"
    return f"{ends[0]}: {high}; {ends[1]}: {low}" + (f", among {groups}{fewest}" if len(rows) < len(drawn) else "")


def known_note(measure: Figure, whole: Mapping[str, Any] | None, on: Scale | None, drawn: int) -> str:
    """What a histogram leaves out."""
    if whole is None:
        return ""
    unknown, zero = whole["runs"] - whole["known"], whole["known"] - drawn
    return left_out(unknown, zero if on and on.logarithmic else 0, f"a {measure.label.lower()}")


def outlines(tables: Sequence[pa.Table], labels: Sequence[str]) -> list[Outline]:
    """One distribution in the plain colour, two in those of cohorts."""
    colours = (PLAIN,) if len(tables) == 1 else COHORTS
    return [Outline(*one) for one in zip(tables, labels, colours, strict=False)]
