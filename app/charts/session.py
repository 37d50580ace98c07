"""Charts of one session along time: its context, cost, tool calls and sub-agents. Rows as of `app.queries.sessions.points`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import ceil
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import axis_layout, axis_of, count_axis
from app.charts.base import LEGEND_ROW, figure, figures_of, hover, inked, nothing, safe, tick_name
from app.charts.palette import OUTCOMES, PALETTE, PLAIN, Looks, in_legend, name
from app.text.formatting import human
from app.text.words.sessions import MAIN, MOST_LANES, along_words, drawn_rows
from schemas.catalogue.columns import RESPONSES, SESSIONS
from schemas.units import Unit

Row = Mapping[str, Any]

HEIGHT, LANE, BINS = 600, 30, 100
_CONTEXT, _COST, _CALLS = (0.52, 1.0), (0.24, 0.45), (0.0, 0.17)
"""Where the three plots are, as parts of the height."""

_GREY, _FAILED = "#7A7A7A", OUTCOMES["execution_error"]


def timeline(points: pa.Table, axis: str, page: str | None) -> go.Figure:
    """The context of the main conversation above, cumulative cost in the middle, tool calls below, along time or responses."""
    rows = drawn_rows(points, axis)
    if not rows:
        return nothing("No response of this session has a time.")
    column = "cost_so_far_usd" if any(row["cost_so_far_usd"] is not None for row in rows) else "tokens_so_far"
    calls = _calls(rows, axis)
    traces = [*_contexts(rows, axis), _so_far(rows, axis, column), *calls]
    context, so_far = (axis_layout(axis_of(RESPONSES[key]), [], logarithmic=False) for key in ("context_tokens", column))
    most = max((sum(pair) for pair in zip(*(bars.y for bars in calls), strict=True)), default=0)
    drawn = figure(
        traces,
        xaxis=_x(axis) | {"anchor": "y3"},
        yaxis=context | {"domain": _CONTEXT},
        yaxis2=so_far | {"domain": _COST},
        yaxis3=count_axis(SESSIONS["tool_calls"].label, most) | {"domain": _CALLS, "automargin": True},
        barmode="stack",
        bargap=0,
    )
    return inked(drawn.update_layout(height=HEIGHT), page)


def lanes(points: pa.Table, axis: str, looks: Looks, page: str | None) -> go.Figure:
    """A lane for the main conversation and each sub-agent: a point per response in the colour of its model."""
    rows = drawn_rows(points, axis)
    names = list(dict.fromkeys(row["subagent"] for row in rows))
    shown = [*(lane for lane in names if lane == MAIN), *(lane for lane in names if lane != MAIN)][:MOST_LANES]
    places = {lane: place for place, lane in enumerate(shown)}
    kept = [row for row in rows if row["subagent"] in places]
    by_model: dict[str | None, list[Row]] = {}
    for row in kept:
        by_model.setdefault(row["model"], []).append(row)
    spans = _spans(kept, places, axis)
    traces = [spans, *(_lane(label, look.colour, of_model, places, axis) for label, look, of_model in in_legend(by_model, looks))]
    y = {"tickvals": list(places.values()), "ticktext": [tick_name(lane) for lane in places], "range": [len(places) - 0.4, -0.6]}
    y |= {"automargin": True, "showgrid": False, "zeroline": False, "title": {"text": ""}}
    drawn = figure(traces, xaxis=_x(axis), yaxis=y)
    return inked(drawn.update_layout(height=110 + LEGEND_ROW * (len(by_model) // 2) + LANE * max(len(places), 2)), page)


def _x(axis: str) -> dict[str, Any]:
    kind = "date" if axis == "at" else "linear"
    return {"title": {"text": along_words(axis)}, "type": kind, "showgrid": False, "zeroline": False, "automargin": True}


def _contexts(rows: Sequence[Row], axis: str) -> list[go.Scatter]:
    """The context of the main conversation as an area, those of sub-agents as lines."""
    main = [row for row in rows if row["subagent"] == MAIN]
    others: list[Row | None] = []
    for lane in dict.fromkeys(row["subagent"] for row in rows if row["subagent"] != MAIN):
        others += [*(row for row in rows if row["subagent"] == lane), None]
    area = {"fill": "tozeroy", "fillcolor": "rgba(15,138,132,0.22)", "line": {"color": PLAIN, "width": 1.5, "shape": "hv"}}
    lines = {"line": {"color": PALETTE[3], "width": 1.2, "shape": "hv"}}
    drawn = [_context("context of the main conversation", main, axis, area)] if main else []
    return [*drawn, _context("contexts of sub-agents", others, axis, lines)] if others else drawn


def _context(label: str, rows: Sequence[Row | None], axis: str, look: Mapping[str, Any]) -> go.Scatter:
    """A line with a gap at each None."""
    return go.Scatter(
        x=[row and row[axis] for row in rows],
        y=[row and row["context_tokens"] for row in rows],
        mode="lines",
        name=label,
        text=[row and _hover(row) for row in rows],
        hoverinfo="text",
        showlegend=True,
        **look,
    )


def _so_far(rows: Sequence[Row], axis: str, column: str) -> go.Scatter:
    known = [row for row in sorted(rows, key=lambda row: row[axis]) if row[column] is not None]
    return go.Scatter(
        x=[row[axis] for row in known],
        y=[float(row[column]) for row in known],
        yaxis="y2",
        mode="lines",
        line={"color": PALETTE[0], "width": 2, "shape": "hv"},
        text=[_hover(row) for row in known],
        hoverinfo="text",
        showlegend=False,
    )


def _calls(rows: Sequence[Row], axis: str) -> list[go.Bar]:
    """Tool calls in BINS even parts of the axis, those that failed below the others."""
    numbers = [_number(row[axis]) for row in rows]
    first, width = _parts(min(numbers), max(numbers), axis)
    bins: dict[int, tuple[int, int]] = {}
    for number, row in zip(numbers, rows, strict=True):
        place = min(int((number - first) / width), BINS - 1)
        others, failures = bins.get(place, (0, 0))
        bins[place] = others + row["tool_calls"] - row["failed_calls"], failures + row["failed_calls"]
    x = [_place(first + (place + 0.5) * width, axis) for place in bins]
    wide = width * 1000 if axis == "at" else width
    texts = [hover("Tool calls", {"Calls": (sum(pair), Unit.COUNT), "Failed": (pair[1], Unit.COUNT)}) for pair in bins.values()]
    look = {"x": x, "width": wide, "yaxis": "y3", "hovertext": texts, "hoverinfo": "text", "showlegend": True}
    done, failed = zip(*bins.values(), strict=True)
    return [
        go.Bar(y=failed, name="failed calls", marker=_flat(_FAILED), **look),
        go.Bar(y=done, name="tool calls", marker=_flat(_GREY), **look),
    ]


def _parts(first: float, last: float, axis: str) -> tuple[float, float]:
    """Where the first part starts, and how wide each is: of responses, a whole number of them."""
    if axis == "at":
        return first, (last - first) / BINS or 1.0
    return first - 0.5, float(ceil((last - first + 1) / BINS))


def _flat(colour: str) -> dict[str, Any]:
    return {"color": colour, "line": {"width": 0}}


def _number(x: datetime | int) -> float:
    return x.timestamp() if isinstance(x, datetime) else float(x)


def _place(number: float, axis: str) -> datetime | float:
    return datetime.fromtimestamp(number, UTC) if axis == "at" else number


def _spans(rows: Sequence[Row], places: Mapping[str, int], axis: str) -> go.Scatter:
    """A line in each lane from its first response to its last."""
    x: list[Any] = []
    y: list[int | None] = []
    for lane, place in places.items():
        ends = [row[axis] for row in rows if row["subagent"] == lane]
        x, y = [*x, min(ends), max(ends), None], [*y, place, place, None]
    return go.Scatter(x=x, y=y, mode="lines", line={"color": _GREY, "width": 1.5}, hoverinfo="skip", showlegend=False)


def _lane(label: str, colour: str, rows: Sequence[Row], places: Mapping[str, int], axis: str) -> go.Scatter:
    return go.Scatter(
        x=[row[axis] for row in rows],
        y=[places[row["subagent"]] for row in rows],
        mode="markers",
        name=safe(label),
        marker={"color": colour, "size": 9, "symbol": "line-ns", "line": {"color": colour, "width": 1.5}},
        text=[_hover(row) for row in rows],
        hoverinfo="text",
        showlegend=True,
    )


def _hover(row: Row) -> str:
    """One response, or several of a lane."""
    time = f"{row['at']:%Y-%m-%d %H:%M:%S} · " if row["at"] else ""
    what = name(row["model"]) if row["responses"] == 1 else f"{row['responses']:,} responses"
    text = hover(f"{time}{what}", figures_of(row, RESPONSES, "context_tokens", "output_tokens", "cost_list_usd", "cost_so_far_usd"))
    lane = "" if row["subagent"] == MAIN else f"<br>{safe(row['subagent'])}"
    tools = row["tools"] or ([human(row["tool_calls"], Unit.COUNT)] if row["tool_calls"] else [])
    failed = f" ({row['failed_calls']:,} failed)" if row["failed_calls"] else ""
    return f"{text}{lane}" + (f"<br>Tool calls: {', '.join(map(safe, tools))}{failed}" if tools else "")
