"""Charts of usage: along time, and of one session: its context, cost, tool calls and sub-agents.

Rows as of `app.queries.usage.along` and `app.queries.sessions.points`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.base import (
    FAILED,
    GREY,
    INKS,
    LEGEND_ROW,
    MOST_PLACES,
    PALETTE,
    TOKENS,
    Looks,
    figure,
    figures_of,
    filled,
    hover,
    in_legend,
    ink,
    labels,
    linear_axis,
    model_name,
    nothing,
    path,
    safe,
    tick_name,
)
from app.queries import Row
from app.queries.run_money import PAUSE_MS
from app.queries.sessions import MAIN
from app.queries.usage import Along
from app.text.costs import TOKEN_CLASSES
from app.text.formatting import duration, short
from app.text.usage import MOST_LANES, Content, axis_of
from schemas.catalogue.columns import RESPONSES
from schemas.catalogue.usage import USAGE
from schemas.units import Unit

HEIGHT, LANE, MOST_PAUSES = 340, 30, 2
"""Pixels of a timeline and of a lane, and pauses named in a timeline."""

CONTEXT = {"light": "#3E6F8E", "dark": "#6FA3C4"}


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
    title, kind = ("Time (UTC)", "date") if axis == "at" else ("response", "linear")
    return {
        "title": {"text": title},
        "type": kind,
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }


def timeline(points: pa.Table, page: str | None) -> go.Figure:
    """Return the context of each response of a session, red where it is paid again.

    Below: the cost so far, or the tokens if no price is known.
    """
    rows = points.to_pylist()
    main = [row for row in rows if row["subagent"] == MAIN and row["context_tokens"]]
    again = [row for row in main if row["again"]]
    others: list[Row | None] = []
    for lane in dict.fromkeys(row["subagent"] for row in rows if row["subagent"] != MAIN):
        others += [
            *(row for row in rows if row["subagent"] == lane),
            None,
        ]  # None is a gap in the line
    area = {
        "mode": "lines",
        "fill": "tozeroy",
        "fillcolor": "rgba(62,111,142,0.14)",
        "line": {"color": CONTEXT["dark" if page == "dark" else "light"], "width": 1.8},
    }
    traces: list[Any] = [
        go.Scatter(
            x=[row and row["place"] for row in mine],
            y=[row and row["context_tokens"] for row in mine],
            name=label,
            text=[row and _hover(row) for row in mine],
            hoverinfo="text",
            showlegend=False,
            **look,
        )
        for label, mine, look in (
            ("context of the main conversation", main, area),
            (
                "contexts of sub-agents",
                others,
                {"mode": "lines", "line": {"color": PALETTE[3], "width": 1.2}},
            ),
            ("paid again", again, {"mode": "markers", "marker": {"color": FAILED, "size": 7}}),
        )
        if mine
    ]
    column = (
        "cost_so_far_usd"
        if any(row["cost_so_far_usd"] is not None for row in rows)
        else "tokens_so_far"
    )
    known, untitled = [row for row in rows if row[column] is not None], {"title": {"text": ""}}
    traces.append(
        go.Scatter(
            x=[row["place"] for row in known],
            y=[float(row[column]) for row in known],
            yaxis="y2",
            mode="lines",
            showlegend=False,
            line={"color": ink(page), "width": 1.6},
            text=[_hover(row) for row in known],
            hoverinfo="text",
        )
    )
    return figure(
        traces,
        page,
        xaxis=_along("place") | {"anchor": "y2", "range": (0.5, rows[-1]["place"] + 0.5)},
        yaxis=linear_axis(RESPONSES["context_tokens"]) | untitled | {"domain": (0.44, 1.0)},
        yaxis2=linear_axis(RESPONSES[column]) | untitled | {"domain": (0.0, 0.34)},
        annotations=[
            *_pauses(main, page),
            {
                "text": "Cost so far" if column == "cost_so_far_usd" else "Tokens so far",
                "font": {"color": INKS["dark" if page == "dark" else "light"]},
                "x": 0,
                "y": 0.345,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "left",
                "yanchor": "bottom",
                "showarrow": False,
            },
        ],
        height=HEIGHT,
    )


def _pauses(main: Sequence[Row], page: str | None) -> list[dict[str, Any]]:
    """Return a note on each of the longest pauses after which a cache has expired."""
    paused = [row for row in main if (row["pause_ms"] or 0) > PAUSE_MS]
    longest = sorted(paused, key=lambda row: -row["pause_ms"])[:MOST_PAUSES]
    return [
        {
            "x": row["place"],
            "y": row["context_tokens"],
            "text": f"pause of {duration(row['pause_ms'])}",
            "ax": 55 if row["place"] < main[-1]["place"] / 3 else -50,
            "ay": -26,
            "arrowwidth": 1,
            "arrowhead": 0,
            "arrowcolor": GREY,
            "font": {"color": ink(page), "size": 12},
        }
        for row in longest
    ]


def lanes(points: pa.Table, looks: Looks, page: str | None) -> go.Figure:
    """Return a lane for the main conversation and each sub-agent.

    A point per response in the colour of its model.
    """
    axis = axis_of(points)
    rows = [row for row in points.to_pylist() if row[axis] is not None]
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
    traces = [path(x, y, {"color": GREY, "width": 1.5})]
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
