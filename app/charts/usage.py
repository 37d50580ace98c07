"""Chart of usage along time: a bar per hour, day, week or month. Rows as of `app.queries.usage.along`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import plotly.graph_objects as go

from app.charts.axes import axis_layout, axis_of
from app.charts.base import figure, hover, inked, nothing, safe
from app.charts.palette import TOKENS, Look, Looks, in_legend
from app.charts.periods import MOST_PLACES, filled, labels
from app.queries.usage import Along
from app.text.words.costs import TOKEN_CLASSES
from app.text.words.usage import Shown
from schemas.catalogue.usage import USAGE
from schemas.units import Unit

Row = Mapping[str, Any]
Part = tuple[str, dict[str, Any], dict[str, Decimal]]
"""A part of every bar: its name, how it is marked, and its value per period."""


def bars(found: Along, shown: Shown, looks: Looks, page: str | None) -> go.Figure:
    """A bar per period, stacked by model or by class of tokens."""
    rows = found.table.to_pylist()
    parts = [part for part in (_models(rows, shown.column, looks) if shown.by_model else _classes(rows)) if any(part[2].values())]
    if not parts:
        return nothing("No usage with a known price and time." if shown.unit is Unit.USD else "No usage with tokens and a time.")
    periods = [period for period in filled(list(dict.fromkeys(row["period"] for row in rows))) if period is not None]
    places = {period: place for place, period in enumerate(periods)}
    totals = _sums(rows, shown.column)
    traces = [_bar(part, places, totals, shown.unit) for part in parts]
    x = labels([safe(period) for period in periods]) | {
        "title": {"text": ""},
        "automargin": True,
        "showgrid": False,
        "ticklabelstandoff": 6,
    }
    y = axis_layout(axis_of(USAGE[shown.column]), [], logarithmic=False)
    drawn = figure(traces, barmode="stack", bargap=_gap(len(periods)), xaxis=x | {"range": [-0.6, len(periods) - 0.4]}, yaxis=y)
    return inked(drawn, page)


def _gap(bars_drawn: int) -> float:
    return 0.3 if bars_drawn <= MOST_PLACES // 4 else 0.1


def _models(rows: Sequence[Row], column: str, looks: Looks) -> Iterable[Part]:
    by_model: dict[str | None, list[Row]] = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    for label, look, of_model in in_legend(by_model, looks):
        yield label, _marks(look), _sums(of_model, column)


def _marks(look: Look) -> dict[str, Any]:
    pattern = {"shape": look.pattern, "bgcolor": look.colour, "fgcolor": "#FFFFFF"}
    return {"color": look.colour, "line": {"width": 0}, "pattern": pattern}


def _classes(rows: Sequence[Row]) -> Iterable[Part]:
    for column, label in TOKEN_CLASSES.items():
        yield label, {"color": TOKENS[column], "line": {"width": 0}}, _sums(rows, column)


def _sums(rows: Iterable[Row], column: str) -> dict[str, Decimal]:
    """The sum of what is known per period; a period of which nothing is known has none."""
    sums: dict[str, Decimal] = {}
    for row in rows:
        if row[column] is not None:
            sums[row["period"]] = sums.get(row["period"], Decimal(0)) + row[column]
    return sums


def _bar(part: Part, places: Mapping[str, int], totals: Mapping[str, Decimal], unit: Unit) -> go.Bar:
    label, marks, values = part
    return go.Bar(
        x=[places[period] for period in values],
        y=[float(value) for value in values.values()],
        name=safe(label),
        marker=marks,
        hovertext=[hover(period, {label: (value, unit), "All": (totals[period], unit)}) for period, value in values.items()],
        hoverinfo="text",
        showlegend=True,
    )
