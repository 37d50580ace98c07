"""Charts of a report: what groups and models cost. Rows as of `queries.summary` and `queries.models`, which are in order already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import axis_layout, axis_of
from app.charts.base import figure, figures_of, hover, safe
from app.charts.palette import ON_DEEP, PALETTE, name
from app.charts.periods import filled, labels
from app.text.formatting import human
from schemas.catalogue.columns import GROUPS
from schemas.catalogue.cost_measures import REPORTED, CostMeasure
from schemas.text import plural
from schemas.units import Unit

MOST_BARS = 24
"""The most bars that fit on a printed page."""

LEAST_SEEN = 500
"""A bar of less than this part of the longest one is too short to be seen."""

_ROW = 26
_SPACED = {"automargin": True, "ticklabelstandoff": 6}


def cost_bars(table: pa.Table, keys: Sequence[str], *, in_order: bool = False, measure: CostMeasure = REPORTED) -> go.Figure | None:
    """A bar per row with its cost, named by the `keys`; upright where rows follow one another in time. None without a cost."""
    rows = [row for row in table.to_pylist() if row[measure.total] is not None]
    if not rows:
        return None
    drawn = rows[-MOST_BARS:] if in_order else rows[:MOST_BARS]
    names = [_name(row, keys) for row in drawn]
    if not in_order:
        return _lying(drawn, names, measure)
    if len(keys) > 1:  # several groups share a period
        return _upright(drawn, names, range(len(names)), names, measure)
    periods = filled([row[keys[0]] for row in drawn])
    ticks = [_name({keys[0]: period}, keys) for period in periods]
    return _upright(drawn, names, [periods.index(row[keys[0]]) for row in drawn], ticks, measure)


def bars_note(table: pa.Table, *, in_order: bool = False, measure: CostMeasure = REPORTED) -> str:
    """The note on groups that are not drawn; empty if all are."""
    costs = table[measure.total].to_pylist()
    silent, known = sum(cost is None for cost in costs), sum(cost is not None for cost in costs)
    said = [f"Showing the {'last' if in_order else 'top'} {MOST_BARS} of {known:,} groups."] if known > MOST_BARS else []
    return " ".join(said + ([f"Not shown: {plural(silent, 'group')} without a {measure.name}."] if silent else []))


def _name(row: dict[str, Any], keys: Sequence[str]) -> str:
    return safe(" · ".join(name(row[key]) for key in keys))


def _lying(rows: Sequence[dict[str, Any]], names: Sequence[str], measure: CostMeasure) -> go.Figure:
    """Horizontal bars, most expensive group on top, with the amounts at their ends."""
    costs = [float(row[measure.total]) for row in rows]
    bars = go.Bar(x=costs, y=list(range(len(rows))), orientation="h", **_marks(rows, names, measure))
    small = _small_amounts(rows, measure.total)
    groups = {
        "tickvals": list(range(len(rows))),
        "ticktext": list(names),
        "autorange": "reversed",
        "title": {"text": ""},
    } | _SPACED
    drawn = figure([bars, small], xaxis=axis_layout(axis_of(GROUPS[measure.total]), [], logarithmic=False), yaxis=groups)
    return drawn.update_layout(height=90 + _ROW * len(rows), bargap=0.3)


def _small_amounts(rows: Sequence[dict[str, Any]], cost: str) -> go.Scatter:
    """The amounts of bars that are too short to be seen: Plotly writes none at a bar without a length."""
    most = max(row[cost] for row in rows)
    small = [(place, row) for place, row in enumerate(rows) if row[cost] * LEAST_SEEN < most]
    return go.Scatter(
        x=[float(row[cost]) for _, row in small],
        y=[place for place, _ in small],
        text=[human(row[cost], Unit.USD) for _, row in small],
        mode="text",
        textposition="middle right",
        hoverinfo="skip",
        showlegend=False,
    )


def _upright(
    rows: Sequence[dict[str, Any]], names: Sequence[str], places: Sequence[int], ticks: Sequence[str], measure: CostMeasure
) -> go.Figure:
    bars = go.Bar(x=list(places), y=[float(row[measure.total]) for row in rows], **_marks(rows, names, measure, upright=True))
    groups = labels(ticks, MOST_BARS) | {"title": {"text": ""}, "range": [-0.6, len(ticks) - 0.4]} | _SPACED
    money = axis_layout(axis_of(GROUPS[measure.total]), [], logarithmic=False)
    return figure([bars], xaxis=groups, yaxis=money).update_layout(height=320, bargap=0.3)


def _marks(rows: Sequence[dict[str, Any]], names: Sequence[str], measure: CostMeasure, *, upright: bool = False) -> dict[str, Any]:
    cost = measure.total
    most = max(row[cost] for row in rows)
    return {
        "marker": {"color": PALETTE[0]},
        "text": [human(row[cost], Unit.USD) if row[cost] * LEAST_SEEN >= most or upright else "" for row in rows],
        "textposition": "auto",
        "insidetextfont": {"color": ON_DEEP},
        "hovertext": [_hover(row, label, cost) for row, label in zip(rows, names, strict=True)],
        "hoverinfo": "text",
        "showlegend": False,
    }


def _hover(row: dict[str, Any], label: str, cost: str) -> str:
    return hover(label, figures_of(row, GROUPS, cost, "runs"))
