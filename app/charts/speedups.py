"""Charts of claimed and measured speedups: pairs, their factors, and classes of measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from app.charts.agents import Row, Strip, leaves, pair_hover, strips, strips_of
from app.charts.base import GREY, LEFT, PAPER, band, colour, figure, grid, ink, line, safe, symbol
from app.queries.agents import AgentFigures
from app.queries.measured import UNCOMPARED, Checks
from app.text.formatting import agent_name
from app.text.speedups import few_medians, largest_claims
from schemas.catalogue.metrics import MEASURED_CLASSES
from schemas.units import Unit

MOST_PAIRS = 600
"""Pairs drawn; with more, every k-th."""

MANY = 60
"""Pairs from which on marks shrink and lines are too dense to distinguish."""

TOP, LOW, HIGH = 10.0, 0.66, 12.5
"""Larger claims are drawn at the upper edge; then the ends of the axis, which only measurements
extend.
"""

CLASSES = ("faster", "same", "inside_noise", "slower", "breaks", *UNCOMPARED)
COLOURS = {
    "faster": ("#0F8A84", "#35A79E"),
    "same": ("#A9ABA6", "#737C7E"),
    "inside_noise": ("#C4C6C1", "#565F62"),
    "slower": ("#B5352C", "#D9695F"),
    "breaks": ("#6B4A8A", "#9C7FBD"),
    "no_baseline": ("#CFCABC", "#4B575D"),
    "other_setup": ("#E3DFD3", "#333F45"),
    "failed_unknown": ("#8E9192", "#5C6A70"),
    "machine": ("#D8D3C6", "#3A464B"),
}
"""Colours of segments on light and dark pages, as in the style sheet; the last one is hatched."""

_DEEP = ("faster", "slower", "breaks", "failed_unknown")
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def beside(pairs: Sequence[Row], page: str | None) -> go.Figure:
    """Return one column per run, the smallest claim first.

    A ring at the claim, a dot at the measurement, a line between them.
    """
    claims, found = (
        [float(one["claimed_speedup"]) for one in pairs],
        [float(one["measured_speedup"]) for one in pairs],
    )
    top = max(TOP, *found)
    low, high = min(LOW, 0.95 * min(*found, *claims)), max(HIGH, 1.25 * top)
    many, size = (
        len(pairs) > MANY,
        9 if len(pairs) <= MANY else max(3.0, 9 * math.sqrt(MANY / len(pairs))),
    )
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
        traces.append(
            go.Scatter(mode="lines", x=x, y=y, line=style, hoverinfo="skip", showlegend=False)
        )
    hover = [
        f"{pair_hover(one)}{', another part' if one['scope_differs'] else ''}" for one in pairs
    ]
    colours, dots = [colour(one["agent"]) for one in pairs], [symbol(one["agent"]) for one in pairs]
    rings = [
        f"{shape}-open" if claim <= top else "triangle-up-open"
        for shape, claim in zip(dots, claims, strict=True)
    ]
    for values, shapes in (([min(claim, top) for claim in claims], rings), (found, dots)):
        traces.append(
            go.Scatter(
                mode="markers",
                x=list(range(len(pairs))),
                y=values,
                showlegend=False,
                hoverinfo="text",
                hovertext=hover,
                cliponaxis=False,
                customdata=[[one["run_id"]] for one in pairs],
                marker={
                    "color": colours,
                    "symbol": shapes,
                    "size": size,
                    "line": {"width": 1 if many else 1.6, "color": colours},
                },
            )
        )
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
    of = f" of {pairs[0]['found']:,}" if pairs[0]["found"] > len(pairs) else ""
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    return figure(
        traces,
        page,
        shapes=[band(page)],
        annotations=[above | {"text": safe(words)}] if words else [],
        height=330,
        margin={"l": 4, "r": 8, "t": 22, "b": 4},
        xaxis={
            "title": {
                "text": (
                    f"{len(pairs):,}{of} {'run' if len(pairs) == 1 else 'runs'}, smallest claim "
                    "first"
                )
            },
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


def factors(checks: Sequence[Checks], pairs: Sequence[Row], page: str | None) -> go.Figure:
    """Return claimed ÷ measured of each run.

    A row per agent and part, filled if both cover the same part.
    """
    rows = [row for row in checks if not row.is_all]
    is_one = len({row.agent for row in rows}) == 1
    made = []
    for row in rows:
        kind = "hollow" if row.is_other_part else "filled"
        mine = [
            one
            for one in pairs
            if one["agent"] == row.agent and bool(one["scope_differs"]) is row.is_other_part
        ]
        runs = [
            (one["claimed_speedup"] / one["measured_speedup"], kind, one["run_id"], one["title"])
            for one in mine
        ]
        part = f"{'another' if row.is_other_part else 'same'} part"
        name = (
            f"{part}<br>n {row.checked:,}"
            if is_one
            else f"{safe(agent_name(row.agent))}<br>{part}, n {row.checked:,}"
        )
        label = few_medians(row)
        made.append(Strip(name, row.agent, runs, row.factor.median if label else None, label))
    drawn = strips(made, Unit.RATIO, page, through=(1.0,))
    return drawn.add_shape(line(1, 0, 1, 1, dash="dash", yref="paper")).update_layout(
        xaxis_title_text="claimed ÷ measured"
    )


def claims(rows: Sequence[AgentFigures], points: Sequence[Row], page: str | None) -> go.Figure:
    """Return only the claimed speedups, a row per agent and model with claims."""
    return strips(
        strips_of("claims", [row for row in leaves(rows) if row.claimed.known], points),
        Unit.RATIO,
        page,
    )


def outcomes(rows: Sequence[AgentFigures], page: str | None) -> go.Figure:
    """Return the classes of measured runs.

    One bar per agent, a segment per class with its number if there is room.
    """
    most, night = max(row.runs_measured for row in rows), page == "dark"
    names = [
        f"<b>{safe(agent_name(row.agent))}</b><br>{row.runs_measured:,} measured of {row.runs:,}"
        for row in rows
    ]
    hatched = {
        "shape": "/",
        "size": 5,
        "solidity": 0.25,
        "fgcolor": "#8E9192",
        "bgcolor": "rgba(0,0,0,0)",
    }
    traces = []
    for name in CLASSES:
        numbers = [row.measured[name] for row in rows]
        if not any(numbers):
            continue
        on = ("#0B1215" if night else "#FFFFFF") if name in _DEEP else ink(page)
        traces.append(
            go.Bar(
                orientation="h",
                x=numbers,
                y=names,
                width=0.62,
                showlegend=False,
                customdata=[[row.agent, name] for row in rows],
                text=[f"{number:,}" if number > 0.03 * most else "" for number in numbers],
                textposition="inside",
                textangle=0,
                insidetextanchor="middle",
                insidetextfont={"color": on, "size": 13},
                hoverinfo="text",
                hovertext=[f"{number:,} {MEASURED_CLASSES[name]}" for number in numbers],
                marker={
                    "color": COLOURS[name][night],
                    "pattern": hatched if name == "machine" else {},
                    "line": {"width": 1, "color": PAPER[night]},
                },
            )
        )
    return figure(
        traces,
        page,
        barmode="stack",
        height=26 + 44 * len(rows),
        margin=LEFT,
        xaxis={"visible": False, "fixedrange": True, "range": [0, most * 1.005]},
        yaxis={
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
            "fixedrange": True,
            "ticksuffix": "  ",
        },
    )
