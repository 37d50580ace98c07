"""Charts of usage: along time, and of one session: its context, cost, tool calls and sub-agents.

Rows as of `app.queries.usage.along` and `app.queries.sessions.points`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from math import ceil
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.base import (
    FAILED,
    GREY,
    LEGEND_ROW,
    MOST_PLACES,
    PALETTE,
    PLAIN,
    TOKENS,
    Looks,
    figure,
    figures_of,
    filled,
    hover,
    in_legend,
    labels,
    linear_axis,
    model_name,
    nothing,
    safe,
    tick_name,
)
from app.queries.sessions import MAIN
from app.queries.usage import Along
from app.text.costs import TOKEN_CLASSES
from app.text.formatting import short
from app.text.usage import MOST_LANES, Content, drawn_rows
from schemas.catalogue.columns import RESPONSES, SESSIONS
from schemas.catalogue.usage import USAGE
from schemas.units import Unit

Row = Mapping[str, Any]

HEIGHT, LANE, BINS = 600, 30, 100
"""Pixels of a timeline and of a lane, and bins of the axis for counting tool calls."""


def bars(found: Along, shown: Content, looks: Looks, page: str | None) -> go.Figure:
    """Return a bar per hour, day, week or month, stacked by model or by class of tokens."""

    def sums(rows: Iterable[Row], column: str) -> dict[str, Decimal]:
        """Return the sum per period; NULL for periods without data."""
        total: dict[str, Decimal] = {}
        for row in rows:
            if row[column] is not None:
                total[row["period"]] = total.get(row["period"], Decimal(0)) + row[column]
        return total

    rows = found.table.to_pylist()
    parts = list[tuple[str, dict[str, Any], dict[str, Decimal]]]()
    if shown.by_model:
        for label, look, mine in in_legend(rows, looks):
            pattern = {"shape": look.pattern, "bgcolor": look.colour, "fgcolor": "#FFFFFF"}
            parts.append(
                (label, {"color": look.colour, "pattern": pattern}, sums(mine, shown.column))
            )
    else:
        parts = [
            (label, {"color": TOKENS[column]}, sums(rows, column))
            for column, label in TOKEN_CLASSES.items()
        ]
    parts = [part for part in parts if any(part[2].values())]
    if not parts:
        return nothing(
            "No usage with a known price and time."
            if shown.unit is Unit.USD
            else "No usage with tokens and a time.",
            page,
        )
    periods = [
        period
        for period in filled(list(dict.fromkeys(row["period"] for row in rows)))
        if period is not None
    ]
    places, totals = (
        {period: place for place, period in enumerate(periods)},
        sums(rows, shown.column),
    )
    traces = [
        go.Bar(
            x=[places[period] for period in values],
            y=[float(value) for value in values.values()],
            name=safe(label),
            marker=marks | {"line": {"width": 0}},
            hoverinfo="text",
            showlegend=True,
            hovertext=[
                hover(at, {label: (value, shown.unit), "All": (totals[at], shown.unit)})
                for at, value in values.items()
            ],
        )
        for label, marks, values in parts
    ]
    gap = 0.3 if len(periods) <= MOST_PLACES // 4 else 0.1
    x = labels([safe(period) for period in periods]) | {"showgrid": False}
    return figure(
        traces, page, barmode="stack", bargap=gap, xaxis=x, yaxis=linear_axis(USAGE[shown.column])
    )


def _along(axis: str) -> dict[str, Any]:
    title, kind = ("Time (UTC)", "date") if axis == "at" else ("Responses, in order", "linear")
    return {
        "title": {"text": title},
        "type": kind,
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }


def timeline(points: pa.Table, axis: str, page: str | None) -> go.Figure:
    """Return main conversation's context, cumulative cost and tool calls, by time or response.

    The context is at the top, the cost in the middle, the tool calls at the bottom.
    """
    rows = drawn_rows(points, axis)
    if not rows:
        return nothing("No response of this session has a time.", page)
    main = [row for row in rows if row["subagent"] == MAIN]
    others: list[Row | None] = []
    for lane in dict.fromkeys(row["subagent"] for row in rows if row["subagent"] != MAIN):
        others += [
            *(row for row in rows if row["subagent"] == lane),
            None,
        ]  # None is a gap in the line
    area = {
        "fill": "tozeroy",
        "fillcolor": "rgba(15,138,132,0.22)",
        "line": {"color": PLAIN, "width": 1.5, "shape": "hv"},
    }
    traces: list[Any] = [
        go.Scatter(
            x=[row and row[axis] for row in mine],
            y=[row and row["context_tokens"] for row in mine],
            mode="lines",
            name=label,
            text=[row and _hover(row) for row in mine],
            hoverinfo="text",
            showlegend=True,
            **look,
        )
        for label, mine, look in (
            ("context of the main conversation", main, area),
            (
                "contexts of sub-agents",
                others,
                {"line": {"color": PALETTE[3], "width": 1.2, "shape": "hv"}},
            ),
        )
        if mine
    ]
    column = (
        "cost_so_far_usd"
        if any(row["cost_so_far_usd"] is not None for row in rows)
        else "tokens_so_far"
    )
    known = [row for row in sorted(rows, key=lambda row: row[axis]) if row[column] is not None]
    traces.append(
        go.Scatter(
            x=[row[axis] for row in known],
            y=[float(row[column]) for row in known],
            yaxis="y2",
            mode="lines",
            showlegend=False,
            line={"color": PALETTE[0], "width": 2, "shape": "hv"},
            text=[_hover(row) for row in known],
            hoverinfo="text",
        )
    )
    calls = _calls(rows, axis)
    most = max((sum(pair) for pair in zip(*(bars.y for bars in calls), strict=True)), default=0)
    counts = {
        "title": {"text": SESSIONS["tool_calls"].label},
        "rangemode": "tozero",
        "tickformat": ",d",
        "dtick": 1 if most <= 6 else None,
        "domain": (0.0, 0.17),
        "automargin": True,
    }
    return figure(
        [*traces, *calls],
        page,
        xaxis=_along(axis) | {"anchor": "y3"},
        yaxis=linear_axis(RESPONSES["context_tokens"]) | {"domain": (0.52, 1.0)},
        yaxis2=linear_axis(RESPONSES[column]) | {"domain": (0.24, 0.45)},
        yaxis3=counts,
        barmode="stack",
        bargap=0,
        height=HEIGHT,
    )


def _calls(rows: Sequence[Row], axis: str) -> list[go.Bar]:
    """Return tool calls in BINS equal bins of the axis, failed ones downwards."""
    numbers = [row[axis].timestamp() if axis == "at" else float(row[axis]) for row in rows]
    first, last = min(numbers), max(numbers)
    if axis == "at":
        width = (last - first) / BINS or 1.0
    else:  # a whole number of responses
        first, width = first - 0.5, float(ceil((last - first + 1) / BINS))
    bins: dict[int, tuple[int, int]] = {}
    for number, row in zip(numbers, rows, strict=True):
        place = min(int((number - first) / width), BINS - 1)
        others, failures = bins.get(place, (0, 0))
        bins[place] = (
            others + row["tool_calls"] - row["failed_calls"],
            failures + row["failed_calls"],
        )
    middles = [first + (place + 0.5) * width for place in bins]
    look = {
        "x": [datetime.fromtimestamp(middle, UTC) for middle in middles]
        if axis == "at"
        else middles,
        "width": width * 1000 if axis == "at" else width,
        "yaxis": "y3",
        "hoverinfo": "text",
        "showlegend": True,
        "hovertext": [
            hover("Tool calls", {"Calls": (sum(pair), Unit.COUNT), "Failed": (pair[1], Unit.COUNT)})
            for pair in bins.values()
        ],
    }
    done, failed = zip(*bins.values(), strict=True)
    return [
        go.Bar(
            y=failed, name="failed calls", marker={"color": FAILED, "line": {"width": 0}}, **look
        ),
        go.Bar(y=done, name="tool calls", marker={"color": GREY, "line": {"width": 0}}, **look),
    ]


def lanes(points: pa.Table, axis: str, looks: Looks, page: str | None) -> go.Figure:
    """Return a lane for the main conversation and each sub-agent.

    A point per response in the colour of its model.
    """
    rows = drawn_rows(points, axis)
    names = list(dict.fromkeys(row["subagent"] for row in rows))
    shown = [*(lane for lane in names if lane == MAIN), *(lane for lane in names if lane != MAIN)][
        :MOST_LANES
    ]
    places = {lane: place for place, lane in enumerate(shown)}
    kept = [row for row in rows if row["subagent"] in places]
    x: list[Any] = []
    y: list[int | None] = []
    for lane, place in places.items():  # a line from its first response to its last
        ends = [row[axis] for row in kept if row["subagent"] == lane]
        x, y = [*x, min(ends), max(ends), None], [*y, place, place, None]
    traces = [
        go.Scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": GREY, "width": 1.5},
            hoverinfo="skip",
            showlegend=False,
        )
    ]
    for label, look, mine in in_legend(kept, looks):
        traces.append(
            go.Scatter(
                x=[row[axis] for row in mine],
                y=[places[row["subagent"]] for row in mine],
                mode="markers",
                name=safe(label),
                marker={
                    "color": look.colour,
                    "size": 9,
                    "symbol": "line-ns",
                    "line": {"color": look.colour, "width": 1.5},
                },
                text=[_hover(row) for row in mine],
                hoverinfo="text",
                showlegend=True,
            )
        )
    models = len({row["model"] for row in kept})
    return figure(
        traces,
        page,
        xaxis=_along(axis),
        height=110 + LEGEND_ROW * (models // 2) + LANE * max(len(places), 2),
        yaxis={
            "tickvals": list(places.values()),
            "ticktext": [tick_name(lane) for lane in places],
            "range": [len(places) - 0.4, -0.6],
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
            "title": {"text": ""},
        },
    )


def _hover(row: Row) -> str:
    time = f"{row['at']:%Y-%m-%d %H:%M:%S} · " if row["at"] else ""
    what = model_name(row["model"]) if row["responses"] == 1 else f"{row['responses']:,} responses"
    text = hover(
        f"{time}{what}",
        figures_of(
            row, RESPONSES, "context_tokens", "output_tokens", "cost_list_usd", "cost_so_far_usd"
        ),
    )
    lane = "" if row["subagent"] == MAIN else f"<br>{safe(row['subagent'])}"
    tools = row["tools"] or ([short(row["tool_calls"], Unit.COUNT)] if row["tool_calls"] else [])
    failed = f" ({row['failed_calls']:,} failed)" if row["failed_calls"] else ""
    return f"{text}{lane}" + (
        f"<br>Tool calls: {', '.join(map(safe, tools))}{failed}" if tools else ""
    )
