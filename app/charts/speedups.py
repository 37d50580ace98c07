"""Charts of claimed and measured speedups: pair by pair, by what to divide a claim, and what became of measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from app.charts.agents import GREY, GRID, GRIDS, INK, INKS, Row, Strip, claim_strips, colour, leaves, strips, symbol
from app.charts.base import figure, inked, safe
from app.queries.agents import AgentFigures
from app.queries.measured import UNCOMPARED, Checks
from app.text import brief
from app.text.html_parts import agent_name
from app.text.sentences.speedups import few_medians, largest_claims
from schemas.catalogue.metrics import BAND, MEASURED_CLASSES
from schemas.units import Unit

MOST_PAIRS = 600
"""Pairs that are drawn; of more, every k-th."""

MANY = 60
"""Pairs from which on marks shrink, and lines are no more told apart."""

TOP, LOW, HIGH = 10.0, 0.66, 12.5
"""Claims above the first lie on the upper edge; the ends of the axis, further only where something was measured there."""

CLASSES = ("faster", "same", "slower", "breaks", *UNCOMPARED)
COLOURS = {
    "faster": ("#0F8A84", "#35A79E"),
    "same": ("#A9ABA6", "#737C7E"),
    "slower": ("#B5352C", "#D9695F"),
    "breaks": ("#6B4A8A", "#9C7FBD"),
    "no_baseline": ("#CFCABC", "#4B575D"),
    "other_setup": ("#E3DFD3", "#333F45"),
    "failed_unknown": ("#8E9192", "#5C6A70"),
    "machine": ("#D8D3C6", "#3A464B"),
}
"""Segments by day and by night, as in the style sheet; the last is hatched."""

PAPER = ("#FBFAF7", "#11171A")
_DEEP = ("faster", "slower", "breaks", "failed_unknown")
_BANDS = {"dark": "#28333A"}


def beside(pairs: Sequence[Row], page: str | None) -> go.Figure:
    """One column per run, the smallest claim first: a ring at the claim, a dot at the measurement, a line between them."""
    claims, found = [float(one["claimed_speedup"]) for one in pairs], [float(one["measured_speedup"]) for one in pairs]
    top = max(TOP, *found)
    low, high = min(LOW, 0.95 * min(*found, *claims)), max(HIGH, 1.25 * top)
    many, size = len(pairs) > MANY, 9 if len(pairs) <= MANY else max(3.0, 9 * math.sqrt(MANY / len(pairs)))
    traces: list[Any] = []
    for is_dotted in (False, True):
        x: list[Any] = []
        y: list[Any] = []
        for place, one in enumerate(pairs):
            if (bool(one["scope_differs"]) and not many) is is_dotted:
                x += [place, place, None]
                y += [min(claims[place], top), found[place], None]
        line = {"color": GREY, "width": 0.7 if many else 1.3, "dash": "dot" if is_dotted else "solid"}
        traces.append(go.Scatter(mode="lines", x=x, y=y, line=line, hoverinfo="skip", showlegend=False))
    hover = [
        f"{safe(one['title'])}<br>claimed {brief.ratio(one['claimed_speedup'])}, measured {brief.ratio(one['measured_speedup'])}"
        f"{', another part' if one['scope_differs'] else ''}"
        for one in pairs
    ]
    colours, places = [colour(one["agent"]) for one in pairs], list(range(len(pairs)))
    marks = [f"{symbol(one['agent'])}-open" if claim <= top else "triangle-up-open" for one, claim in zip(pairs, claims, strict=True)]
    for values, shapes in (([min(claim, top) for claim in claims], marks), (found, [symbol(one["agent"]) for one in pairs])):
        traces.append(
            go.Scatter(
                mode="markers", x=places, y=values, showlegend=False, hoverinfo="text", hovertext=hover, cliponaxis=False,
                customdata=[[one["run_id"]] for one in pairs],
                marker={"color": colours, "symbol": shapes, "size": size, "line": {"width": 1.6 if not many else 1, "color": colours}},
            )
        )  # fmt: skip
    band = {
        "type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": 1 / (1 + BAND), "y1": 1 + BAND, "line": {"width": 0}, "layer": "below",
        "fillcolor": _BANDS.get(page or "", "#E7E4DA"),
    }  # fmt: skip
    notes = []
    if said := largest_claims(claims, top):
        notes.append(
            {
                "xref": "paper",
                "x": 1,
                "xanchor": "right",
                "yref": "paper",
                "y": 1,
                "yanchor": "bottom",
                "text": safe(said),
                "showarrow": False,
            }
        )
    of = f" of {pairs[0]['found']:,}" if pairs[0]["found"] > len(pairs) else ""
    ticks = [
        tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000) if low <= tick <= high
    ]
    grid = GRIDS.get(page or "", GRID)
    drawn = figure(
        traces, shapes=[band], annotations=notes, height=330, margin={"l": 4, "r": 8, "t": 22, "b": 4},
        xaxis={
            "title": {"text": f"{len(pairs):,}{of} {'run' if len(pairs) == 1 else 'runs'}, smallest claim first"}, "showgrid": False,
            "showticklabels": False, "zeroline": False, "fixedrange": True, "range": [-0.8, len(pairs) - 0.2], "showline": True,
            "linecolor": grid,
        },
        yaxis={
            "type": "log", "range": [math.log10(low), math.log10(high)], "tickvals": ticks, "ticktext": [f"{tick:g}×" for tick in ticks],
            "gridcolor": grid, "zeroline": False, "fixedrange": True, "automargin": True,
        },
    )  # fmt: skip
    return inked(drawn, page)


def factors(checks: Sequence[Checks], pairs: Sequence[Row], page: str | None) -> go.Figure:
    """Claimed ÷ measured of each run: a row per agent and part, filled where claim and benchmark cover the same part."""
    rows = [row for row in checks if not row.is_all]
    is_one = len({row.agent for row in rows}) == 1
    made = []
    for row in rows:
        mine = [one for one in pairs if one["agent"] == row.agent and bool(one["scope_differs"]) is row.is_other_part]
        runs = [
            (one["claimed_speedup"] / one["measured_speedup"], "hollow" if row.is_other_part else "filled", one["run_id"], one["title"])
            for one in mine
        ]
        part = f"{'another' if row.is_other_part else 'same'} part"
        name = f"{part}<br>n {row.checked:,}" if is_one else f"{safe(agent_name(row.agent))}<br>{part}, n {row.checked:,}"
        label = few_medians(row)
        made.append(Strip(name, row.agent, runs, row.factor.median if label else None, label))
    drawn = strips(made, Unit.RATIO, page, through=(1.0,))
    equal = {
        "type": "line",
        "x0": 1,
        "x1": 1,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": {"color": GREY, "width": 1, "dash": "dash"},
        "layer": "below",
    }
    return drawn.add_shape(equal).update_layout(xaxis_title_text="claimed ÷ measured")


def claims(rows: Sequence[AgentFigures], points: Sequence[Row], page: str | None) -> go.Figure:
    """The claimed speedups alone, a row per agent and model that claims any."""
    drawn = [row for row in leaves(rows) if row.claimed.known]
    return strips(claim_strips(drawn, points), Unit.RATIO, page)


def outcomes(rows: Sequence[AgentFigures], page: str | None) -> go.Figure:
    """What became of measured runs: one bar per agent, a segment per class with its number where it is wide enough."""
    most, night = max(row.runs_measured for row in rows), page == "dark"
    ink, traces = INKS.get(page or "", INK), []
    names = [f"<b>{safe(agent_name(row.agent))}</b><br>{row.runs_measured:,} measured of {row.runs:,}" for row in rows]
    for name in CLASSES:
        numbers = [row.measured[name] for row in rows]
        if not any(numbers):
            continue
        on = ("#0B1215" if night else "#FFFFFF") if name in _DEEP else ink
        pattern = {"shape": "/", "size": 5, "solidity": 0.25, "fgcolor": "#8E9192", "bgcolor": "rgba(0,0,0,0)"} if name == "machine" else {}
        traces.append(
            go.Bar(
                orientation="h", x=numbers, y=names, width=0.62, showlegend=False, customdata=[[row.agent, name] for row in rows],
                text=[f"{number:,}" if number > 0.03 * most else "" for number in numbers], textposition="inside",
                insidetextanchor="middle",
                textangle=0, insidetextfont={"color": on, "size": 13}, hoverinfo="text",
                hovertext=[f"{number:,} {MEASURED_CLASSES[name]}" for number in numbers],
                marker={"color": COLOURS[name][night], "pattern": pattern, "line": {"width": 1, "color": PAPER[night]}},
            )
        )  # fmt: skip
    drawn = figure(
        traces, barmode="stack", height=26 + 44 * len(rows), margin={"l": 4, "r": 4, "t": 4, "b": 4},
        xaxis={"visible": False, "fixedrange": True, "range": [0, most * 1.005]},
        yaxis={"autorange": "reversed", "showgrid": False, "zeroline": False, "automargin": True, "fixedrange": True, "ticksuffix": "  "},
    )  # fmt: skip
    return inked(drawn, page)
