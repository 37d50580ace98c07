"""Charts of claimed and measured speedups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from app.charts.agents import leaves, pair_hover, strips, strips_of
from app.charts.base import GREY, band, colour, dots, figure, grid, path, safe, symbol
from app.queries import Row
from app.queries.agents import AgentFigures
from app.text.speedups import largest_claims
from schemas.units import Unit

MOST_PAIRS = 600
"""Pairs drawn; with more, every k-th."""

MANY = 60
"""Pairs from which on marks shrink and lines are too dense to distinguish."""

TOP, LOW, HIGH = 10.0, 0.66, 12.5
"""Larger claims are drawn at the upper edge; then the ends of the axis, which only measurements
extend.
"""

_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def beside(pairs: Sequence[Row], page: str | None) -> go.Figure:
    """Return one column per run, the smallest claim first.

    A ring at the claim, a dot at the measurement, a line between them.
    """
    claims = [float(one["claimed_speedup"]) for one in pairs]
    found = [float(one["measured_speedup"]) for one in pairs]
    top = max(TOP, *found)
    low, high = min(LOW, 0.95 * min(*found, *claims)), max(HIGH, 1.25 * top)
    many = len(pairs) > MANY
    size = max(3.0, 9 * math.sqrt(MANY / len(pairs))) if many else 9
    traces: list[Any] = []
    for is_dotted in (False, True):
        x: list[Any] = []
        y: list[Any] = []
        for place, one in enumerate(pairs):
            if (bool(one["scope_differs"]) and not many) is is_dotted:
                x += [place, place, None]
                y += [min(claims[place], top), found[place], None]
        style = {
            "color": GREY,
            "width": 0.7 if many else 1.3,
            "dash": "dot" if is_dotted else "solid",
        }
        traces.append(path(x, y, style))
    hover = [
        f"{pair_hover(one)}{'<br>another part' if one['scope_differs'] else ''}" for one in pairs
    ]
    colours = [colour(one["agent"], page) for one in pairs]
    shapes = [symbol(one["agent"]) for one in pairs]
    rings = [
        f"{shape}-open" if claim <= top else "triangle-up-open"
        for shape, claim in zip(shapes, claims, strict=True)
    ]
    look = {"color": colours, "size": size, "line": {"width": 1 if many else 1.6, "color": colours}}
    ids = [one["run_id"] for one in pairs]
    for values, marks in (([min(claim, top) for claim in claims], rings), (found, shapes)):
        traces.append(dots(list(range(len(pairs))), values, hover, ids, look | {"symbol": marks}))
    above = {
        "xref": "paper",
        "x": 1,
        "xanchor": "right",
        "yref": "paper",
        "y": 1,
        "yanchor": "bottom",
        "showarrow": False,
    }
    words = largest_claims(claims, top)
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    return figure(
        traces,
        page,
        shapes=[band(page)],
        annotations=[above | {"text": safe(words)}] if words else [],
        height=240,
        margin={"l": 4, "r": 8, "t": 22, "b": 4},
        xaxis={
            "showgrid": False,
            "showticklabels": False,
            "zeroline": False,
            "fixedrange": True,
            "range": [-0.8, len(pairs) - 0.2],
            "showline": True,
            "linecolor": grid(page),
        },
        yaxis={
            "type": "log",
            "range": [math.log10(low), math.log10(high)],
            "tickvals": ticks,
            "ticktext": [f"{tick:g}×" for tick in ticks],
            "gridcolor": grid(page),
            "zeroline": False,
            "fixedrange": True,
            "automargin": True,
        },
    )


def claims(rows: Sequence[AgentFigures], points: Sequence[Row], page: str | None) -> go.Figure:
    """Return only the claimed speedups, a row per agent and model with claims."""
    return strips(
        strips_of("claims", [row for row in leaves(rows) if row.claimed.known], points),
        Unit.RATIO,
        page,
    )
