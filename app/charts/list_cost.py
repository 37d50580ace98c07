"""Charts of list prices: reported and list-price cost, the causes of the difference, cache savings. Rows as of `app.queries.cost`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import Axis, axis_layout, axis_of, is_wide
from app.charts.base import figure, figures_of, hover, inked, nothing, tick_name
from app.charts.palette import ON_COLOUR, OTHER_LOOK, PLAIN, SEVERITIES, Looks
from app.charts.periods import filled, labels
from app.queries.cost import Groups
from app.text.formatting import human
from app.text.words.costs import comparable, group_names
from schemas.catalogue.columns import GROUPS
from schemas.rows.cost import CAUSES, CostCause
from schemas.unit_names import Unit

ROW = 34
HOVER_WIDTH = 60
BOTH = Axis("cost_usd", "Cost (USD)", Unit.USD)
DELTA = Axis("cost_delta_usd", "List-price difference (USD)", Unit.USD)  # the caption says what is subtracted: a phone is narrow
LISTED = axis_of(GROUPS["cost_list_usd"])
SIGNED = {"zeroline": True, "zerolinecolor": "#7A7A7A", "rangemode": "normal", "tickprefix": "", "tickformat": "$,~f"}
"""Layout of an axis with negative amounts: `−$20`."""

SIDES = {"reported": ("Reported cost", "circle"), "listed": ("List-price cost", "circle-open")}
SAVED, LOST = "rgba(122,122,122,0.45)", "#D55E00"


def prices(found: Groups, looks: Looks | None, page: str | None) -> go.Figure:
    """Two points per group, over its runs with both costs: filled for the reported cost, open for the list-price cost."""
    key = found.table.column_names[0]
    rows = comparable(found)
    if not rows:
        return nothing("No run has both a reported and a list-price cost.")
    values = [float(row[side]) for row in rows for side in SIDES]
    names = group_names(rows, key)
    colours = [looks.get(row[key], OTHER_LOOK).colour if looks else PLAIN for row in rows]
    traces: list[Any] = [_between(place, row) for place, row in enumerate(rows)]
    traces += [_points(rows, names, side, colours) for side in SIDES] + [_named(*side) for side in SIDES.values()]
    x = axis_layout(BOTH, [value for value in values if value > 0], logarithmic=is_wide(values) and min(values) > 0)
    drawn = figure(traces, xaxis=x, yaxis=_places(names))
    return inked(drawn.update_layout(height=130 + ROW * max(len(rows), 4)), page)


def _between(place: int, row: Mapping[str, Any]) -> go.Scatter:
    ends = [float(row[side]) for side in SIDES]
    return go.Scatter(x=ends, y=[place, place], mode="lines", line={"color": "#7A7A7A", "width": 2}, hoverinfo="skip", showlegend=False)


def _points(rows: Sequence[Mapping[str, Any]], names: Sequence[str], side: str, colours: Sequence[str]) -> go.Scatter:
    return go.Scatter(
        x=[float(row[side]) for row in rows],
        y=list(range(len(rows))),
        mode="markers",
        marker={"color": colours, "symbol": SIDES[side][1], "size": 11, "line": {"width": 2, "color": colours}},
        cliponaxis=False,  # a point at $0 is on the axis
        text=[_both_hover(group, row) for group, row in zip(names, rows, strict=True)],
        hoverinfo="text",
        showlegend=False,
    )


def _named(label: str, symbol: str) -> go.Scatter:
    """An entry of the legend, in grey: it applies to all models."""
    look = {"color": "#7A7A7A", "symbol": symbol, "size": 11, "line": {"width": 2, "color": "#7A7A7A"}}
    return go.Scatter(x=[None], y=[None], mode="markers", marker=look, name=label, showlegend=True, hoverinfo="skip")


def _both_hover(group: str, row: Mapping[str, Any]) -> str:
    both = dict(row) | {"cost_usd": row["reported"], "cost_list_usd": row["listed"]}
    runs = {"Runs with both": (row["cost_delta_usd_known"], Unit.COUNT)}
    return hover(group, figures_of(both, GROUPS, "cost_usd", "cost_list_usd", "cost_delta_usd") | runs)


def causes(table: pa.Table, page: str | None) -> go.Figure:
    """A bar per cause: to the right where list prices are higher than what agents report, to the left where they are lower."""
    rows = [row for row in table.to_pylist() if row["cost_delta_usd"]]
    if not rows:
        return nothing("All priced runs match list prices.")
    words = [CAUSES[CostCause(row["cause"])] for row in rows]
    traces = [
        go.Bar(
            x=[float(row["cost_delta_usd"]) for row, word in zip(rows, words, strict=True) if word.severity == severity],
            y=[place for place, word in enumerate(words) if word.severity == severity],
            orientation="h",
            name={"info": "Expected", "warning": "Needs review"}[severity],
            marker={"color": SEVERITIES[severity]},
            text=[human(row["cost_delta_usd"], Unit.USD) for row, word in zip(rows, words, strict=True) if word.severity == severity],
            textposition="auto",
            textangle=0,
            insidetextfont={"color": ON_COLOUR},
            hovertext=[_cause_hover(row) for row, word in zip(rows, words, strict=True) if word.severity == severity],
            hoverinfo="text",
            showlegend=True,
        )
        for severity in ("info", "warning")
    ]
    drawn = figure(
        [trace for trace in traces if trace.y],
        xaxis=axis_layout(DELTA, [], logarithmic=False) | SIGNED | {"range": _with_room([float(row["cost_delta_usd"]) for row in rows])},
        yaxis=_places([word.label for word in words]),
        bargap=0.35,
    )
    return inked(drawn.update_layout(height=130 + ROW * max(len(rows), 4)), page)


def _with_room(values: Sequence[float]) -> list[float]:
    """The ends of an axis with zero on it and space for the figures beside short bars."""
    low, high = min(0.0, *values), max(0.0, *values)
    room = (high - low) * 0.3
    return [low - room if low < 0 else low, high + room if high > 0 else high]


def _cause_hover(row: Mapping[str, Any]) -> str:
    word = CAUSES[CostCause(row["cause"])]
    figures = hover(word.label, figures_of(row, GROUPS, "cost_delta_usd", "cost_usd", "cost_list_usd", "runs"))
    return f"{figures}<br>{'<br>'.join(wrap(word.meaning, HOVER_WIDTH))}"


def caching(found: Groups, page: str | None) -> go.Figure:
    """A bar per group: its list-price cost, and what caching saved."""
    key = found.table.column_names[0]
    rows = [row for row in found.table.to_pylist() if row["cost_uncached_usd"]]
    if not rows:
        return nothing("No run has a list-price cost.")
    groups = filled([row[key] for row in rows]) if found.in_order else [row[key] for row in rows]
    names = group_names(rows, key)
    texts = [_saved_hover(group, row) for group, row in zip(names, rows, strict=True)]
    listed = [float(min(row["cost_uncached_usd"], row["cost_uncached_usd"] - row["cache_saved_usd"])) for row in rows]
    parts = {
        "List-price cost": (listed, PLAIN),
        "Cache savings": ([float(max(row["cache_saved_usd"], 0)) for row in rows], SAVED),
        "Negative cache savings": ([float(max(-row["cache_saved_usd"], 0)) for row in rows], LOST),
    }
    places = [groups.index(row[key]) for row in rows]
    traces = [
        go.Bar(
            x=places if found.in_order else values,
            y=values if found.in_order else places,
            orientation="v" if found.in_order else "h",
            name=label,
            marker={"color": colour},
            hovertext=texts,
            hoverinfo="text",
            showlegend=True,
        )
        for label, (values, colour) in parts.items()
        if any(values)
    ]
    named, money = _places(group_names([{key: group} for group in groups], key)), axis_layout(LISTED, [], logarithmic=False)
    named = named | {"autorange": True} | labels(named["ticktext"]) if found.in_order else named
    drawn = figure(traces, barmode="stack", bargap=0.3, xaxis=named if found.in_order else money, yaxis=money if found.in_order else named)
    return inked(drawn if found.in_order else drawn.update_layout(height=130 + 28 * max(len(rows), 4)), page)


def _saved_hover(group: str, row: Mapping[str, Any]) -> str:
    listed = dict(row) | {"cost_list_usd": row["cost_uncached_usd"] - row["cache_saved_usd"]}
    keys = ("cost_list_usd", "cost_uncached_usd", "cache_saved_usd", "cost_cache_write_usd", "cache_hit_ratio")
    return hover(group, figures_of(listed, GROUPS, *keys))


def _places(names: Sequence[str]) -> dict[str, Any]:
    """The axis of names beside horizontal bars and lines, the first on top."""
    return {
        "tickvals": list(range(len(names))),
        "ticktext": [tick_name(text) for text in names],
        "autorange": "reversed",
        "automargin": True,
        "showgrid": False,
        "zeroline": False,  # the first place is 0: a line through it looks like an axis
        "ticklabelstandoff": 6,
        "title": {"text": ""},
    }
