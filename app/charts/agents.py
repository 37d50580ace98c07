"""Charts of runs by agent: what runs cost and how long they took, claimed against measured speedups, and who dominates whom."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from app.charts.base import figure, inked, safe
from app.charts.log_axes import log_axis
from app.queries.agents import ENOUGH, AgentFigures
from app.text import brief
from app.text.html_parts import agent_name
from schemas.agents import AGENTS
from schemas.text import one_line
from schemas.units import Unit

INKS = {"dark": "#E4E8E5"}
INK = "#0F1719"
GRIDS = {"dark": "#2F3A3F"}
GRID = "#DEDACE"
GREY = "#7A7A7A"

_MARGIN = {"l": 4, "r": 4, "t": 4, "b": 4}

MOST_POINTS = 2_000
"""Runs that are drawn one by one; above, each row is a box."""

NEAR = 0.3
"""Difference of the logarithms of two costs whose names would lie over one another: one stands above its point, one below."""

ROW, LEAST, MOST = 34, 230, 400
"""Heights in pixels: of a row, and of a chart."""

_WRITE: dict[Unit, Callable[[Any], str]] = {Unit.USD: brief.usd, Unit.MILLISECONDS: brief.duration, Unit.RATIO: brief.ratio}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Strip:
    """One row of a chart: its name in two lines, its agent, and runs as (value, kind, run id, title), kind being filled, hollow or bound.

    `median` is the value of the bar and `label` its words at the right; `empty` says why there is nothing. `quantiles` (5, 25, 50, 75,
    95 %) take the place of too many runs.
    """

    name: str
    agent: str | None
    runs: Sequence[tuple[float, str, str, str]] = ()
    median: float | None = None
    label: str = ""
    empty: str = ""
    quantiles: Sequence[float] = field(default=())


def colour(agent: str | None) -> str:
    """The colour of an agent, the same in every chart."""
    return AGENTS[agent].colour if agent in AGENTS else GREY


def symbol(agent: str | None) -> str:
    """The shape of an agent's points."""
    return AGENTS[agent].marker if agent in AGENTS else "circle"


def row_name(row: AgentFigures, rows: Sequence[AgentFigures]) -> str:
    """Agent and model in two lines, as they stand beside the rows of charts; of a single agent's models the model alone."""
    if not row.is_model:
        return safe(agent_name(row.agent))
    short = "model not rec." if row.model is None else row.model.removeprefix("claude-")
    short = safe(short if len(short) <= 20 else short[:19] + "…")
    is_only = len({other.agent for other in rows}) == 1 and len(rows) > 1
    return short if is_only else f"{safe(agent_name(row.agent))}<br>{short}"


def strips(rows: Sequence[Strip], unit: Unit, page: str | None, *, through: Sequence[float] = ()) -> go.Figure:
    """Runs along a logarithmic axis (with `through` on it), one row per agent or model, the first on top, with a bar at the median."""
    traces: list[Any] = []
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    ink, total = INKS.get(page or "", INK), sum(len(row.runs) for row in rows)
    kind_of_trace = go.Scattergl if total > MOST_POINTS else go.Scatter
    for place, row in enumerate(rows):
        at = len(rows) - 1 - place
        for kind in ("hollow", "filled", "bound"):
            mine = sorted(run for run in row.runs if run[1] == kind and run[0] > 0)
            traces += [kind_of_trace(**_dots(mine, at, kind, row, unit))] if mine else []
        if row.quantiles:
            low, first, middle, third, high = row.quantiles
            traces.append(
                go.Box(
                    orientation="h", y=[at], q1=[first], median=[middle], q3=[third], lowerfence=[low], upperfence=[high], width=0.5,
                    marker={"color": colour(row.agent)}, fillcolor="rgba(0,0,0,0)", showlegend=False, hoverinfo="skip",
                )
            )  # fmt: skip
        if row.median is not None and row.median > 0:
            shapes.append(
                {"type": "line", "x0": row.median, "x1": row.median, "y0": at - 0.38, "y1": at + 0.38, "line": {"color": ink, "width": 2}}
            )
        if row.label:
            notes.append(
                {"x": 1, "xref": "paper", "xanchor": "right", "y": at, "text": safe(row.label), "showarrow": False, "font": {"size": 12}}
            )
        if row.empty:
            notes.append({"x": 0.4, "xref": "paper", "y": at, "text": safe(row.empty), "showarrow": False, "font": {"size": 12}})
    values = [value for row in rows for value in (*(run[0] for run in row.runs), *row.quantiles)]
    axis = log_axis([*values, *through], unit, narrow=True)
    spread = axis["range"][1] - axis["range"][0]
    axis["range"] = [axis["range"][0], axis["range"][1] + spread * (0.24 if any(row.label for row in rows) else 0)]
    drawn = figure(
        traces, shapes=shapes, annotations=notes, height=min(MOST, max(LEAST, ROW * len(rows) + 46)), margin=_MARGIN,
        xaxis=axis | {"gridcolor": GRIDS.get(page or "", GRID), "automargin": True},
        yaxis={
            "range": [-0.6, len(rows) - 0.4], "tickvals": list(range(len(rows))), "ticktext": [row.name for row in reversed(rows)],
            "showgrid": False, "zeroline": False, "automargin": True, "fixedrange": True, "tickfont": {"size": 12},
        },
    )  # fmt: skip
    return inked(drawn, page)


def _dots(runs: Sequence[tuple[float, str, str, str]], at: int, kind: str, row: Strip, unit: Unit) -> dict[str, Any]:
    """The points of a row, spread within it so that neighbours along the axis do not cover one another."""
    name = symbol(row.agent)
    symbols = {"filled": name, "hollow": f"{name}-open", "bound": "triangle-left-open"}
    write = _WRITE[unit]
    signs = {"bound": "≤ "}
    return {
        "mode": "markers", "x": [run[0] for run in runs], "y": [at + ((place * 0.618034) % 1 - 0.5) * 0.62 for place in range(len(runs))],
        "marker": {"symbol": symbols[kind], "color": colour(row.agent), "size": 6 if len(runs) > 40 else 7, "opacity": 0.6},
        "customdata": [[run[2]] for run in runs], "showlegend": False, "hoverinfo": "text",
        "hovertext": [f"{safe(run[3])}<br>{signs.get(kind, '')}{write(run[0])}" for run in runs],
    }  # fmt: skip


def cost_strips(rows: Sequence[AgentFigures], points: Sequence[Row], boxes: Mapping[Any, Sequence[float]]) -> list[Strip]:
    """What runs that started cost, by agent or model. `boxes`: quantiles by (agent, model, is a model) where there are too many points."""
    made = []
    for row, mine in _by_row(rows, points):
        runs = [
            (float(one["cost_usd"]), "bound" if one["bound"] else "filled", one["run_id"], one["title"])
            for one in mine
            if one["is_started"] and one["cost_usd"] is not None
        ]
        is_enough = row.cost.known >= ENOUGH
        empty = "" if row.cost.known else "never started" if not row.started else "no cost in its logs"
        label = brief.median_cost(row) if is_enough else ""
        median, box = row.cost.median if is_enough else None, boxes.get((row.agent, row.model, row.is_model), ())
        made.append(Strip(row_name(row, rows), row.agent, runs, median, label, empty, box))
    return made


def time_strips(rows: Sequence[AgentFigures], points: Sequence[Row], boxes: Mapping[Any, Sequence[float]]) -> list[Strip]:
    """How long runs that started took: filled those that completed, whose median is the bar."""
    made = []
    for row, mine in _by_row(rows, points):
        runs = [
            (float(one["duration_ms"]), "filled" if one["is_completed"] else "hollow", one["run_id"], one["title"])
            for one in mine
            if one["is_started"] and one["duration_ms"] is not None
        ]
        is_enough, box = row.wall.known >= ENOUGH, boxes.get((row.agent, row.model, row.is_model), ())
        empty = "" if runs or box else "never started" if not row.started else "no time in its logs"
        label = brief.duration(row.wall.median or 0) if is_enough else ""
        made.append(Strip(row_name(row, rows), row.agent, runs, row.wall.median if is_enough else None, label, empty, box))
    return made


def claim_strips(rows: Sequence[AgentFigures], points: Sequence[Row]) -> list[Strip]:
    """The claimed speedups of runs."""
    made = []
    for row, mine in _by_row(rows, points):
        runs = [(float(one["claimed_speedup"]), "filled", one["run_id"], one["title"]) for one in mine if one["claimed_speedup"]]
        is_enough = row.claimed.known >= ENOUGH
        label = brief.ratio(row.claimed.median or 0) if is_enough else ""
        made.append(
            Strip(row_name(row, rows), row.agent, runs, row.claimed.median if is_enough else None, label, "" if runs else "no claim")
        )
    return made


def turn_strips(rows: Sequence[AgentFigures], points: Sequence[Row]) -> list[Strip]:
    """What a turn costs, by run."""
    made = []
    for row, mine in _by_row(rows, points):
        costs = [one for one in mine if one["is_started"] and one["per_turn_usd"]]
        runs = [(float(one["per_turn_usd"]), "bound" if one["bound"] else "filled", one["run_id"], one["title"]) for one in costs]
        middle = statistics.median(run[0] for run in runs) if len(runs) >= ENOUGH else None
        is_bound = 2 * sum(run[1] == "bound" for run in runs) > len(runs)
        label = "" if middle is None else f"{'≤ ' if is_bound else ''}{brief.usd(middle)}"
        made.append(Strip(row_name(row, rows), row.agent, runs, middle, label, "" if runs else "no turns or no cost"))
    return made


def _by_row(rows: Sequence[AgentFigures], points: Sequence[Row]) -> list[tuple[AgentFigures, list[Row]]]:
    return [(row, [one for one in points if one["agent"] == row.agent and (not row.is_model or one["model"] == row.model)]) for row in rows]


def leaves(rows: Sequence[AgentFigures]) -> list[AgentFigures]:
    """The rows of charts: the models of an agent that has several in the table, else its only model, else the agent itself."""
    found: list[AgentFigures] = []
    for row in rows:
        if row.is_all or row.is_model:
            continue
        models = [other for other in rows if other.is_model and other.agent == row.agent]
        many = [other for other in models if other.runs >= ENOUGH]
        with_figures = [other for other in models if other.cost.known or other.wall.known or other.claimed.known]
        found += with_figures if len(many) > 1 else models if len(models) == 1 and models[0].model else [row]
    return found


def panels(runs: Sequence[Row], titles: Sequence[str], agent: str | None, page: str | None) -> go.Figure:
    """Cost, wall time and claimed speedup of a few runs as bars side by side, one row per run; `titles` stand above the three."""
    columns: tuple[tuple[str, Unit, str, str], ...] = (
        ("cost_usd", Unit.USD, "Cost", brief.NOT_RECORDED),
        ("duration_ms", Unit.MILLISECONDS, "Wall time", brief.NOT_RECORDED),
        ("claimed_speedup", Unit.RATIO, "Claimed speedup", "no number"),
    )
    places, names = list(range(len(runs)))[::-1], ("x", "x2", "x3")
    traces, notes = [], []
    for number, (key, unit, what, lacks) in enumerate(columns, 1):
        signs = ["≤ " if key == "cost_usd" and run["bound"] else "" for run in runs]
        words = [lacks if run[key] is None else f"{sign}{_WRITE[unit](run[key])}" for run, sign in zip(runs, signs, strict=True)]
        traces.append(
            go.Bar(
                orientation="h", x=[float(run[key] or 0) for run in runs], y=places, text=words, textposition="outside", width=0.5,
                marker={"color": colour(agent)}, customdata=[[run["run_id"]] for run in runs], xaxis=names[number - 1], cliponaxis=False,
                hoverinfo="skip", showlegend=False,
            )
        )  # fmt: skip
        note = {
            "xref": f"{names[number - 1]} domain",
            "x": 0,
            "xanchor": "left",
            "yref": "paper",
            "y": 1,
            "yanchor": "bottom",
            "showarrow": False,
        }
        notes.append(note | {"text": f"<b>{safe(titles[number - 1])}</b><br>{what}", "align": "left"})
    most = [max((float(run[key] or 0) for run in runs), default=0) or 1 for key, *_ in columns]
    axis = {"visible": False, "fixedrange": True}
    drawn = figure(
        traces, annotations=notes, height=min(640, 60 + 54 * len(runs)), margin={"l": 4, "r": 60, "t": 44, "b": 4}, bargap=0.4,
        xaxis=axis | {"domain": [0, 0.28], "range": [0, most[0] * 1.15]},
        xaxis2=axis | {"domain": [0.36, 0.64], "range": [0, most[1] * 1.15]},
        xaxis3=axis | {"domain": [0.72, 1], "range": [0, most[2] * 1.15]},
        yaxis={
            "tickvals": places, "ticktext": [wrapped(run["title"]) for run in runs], "automargin": True, "fixedrange": True,
            "showgrid": False, "zeroline": False,
        },
    )  # fmt: skip
    return inked(drawn, page)


def wrapped(title: str) -> str:
    """A title in at most two lines of 44 characters."""
    lines = textwrap.wrap(one_line(title), 44, max_lines=2, placeholder=" …") or [""]
    return "<br>".join(map(safe, lines))


def claimed_against_measured(points: Sequence[Row], page: str | None) -> go.Figure:
    """Claimed along, measured upwards, one point per run: hollow where another part was measured; dashed: equal; line: no change."""
    runs = [one for one in points if (one["claimed_speedup"] or 0) > 0 and (one["measured_speedup"] or 0) > 0]
    traces = []
    for agent in dict.fromkeys(one["agent"] for one in runs):
        for is_other in (True, False):
            mine = [one for one in runs if one["agent"] == agent and bool(one["scope_differs"]) is is_other]
            if not mine:
                continue
            name = symbol(agent)
            traces.append(
                go.Scatter(
                    mode="markers", x=[one["claimed_speedup"] for one in mine], y=[one["measured_speedup"] for one in mine],
                    showlegend=False,
                    marker={"symbol": f"{name}-open" if is_other else name, "color": colour(agent), "size": 8},
                    customdata=[[one["run_id"]] for one in mine], hoverinfo="text",
                    hovertext=[
                        f"{safe(one['title'])}<br>claimed {brief.ratio(one['claimed_speedup'])},"
                        f" measured {brief.ratio(one['measured_speedup'])}"
                        for one in mine
                    ],
                )
            )  # fmt: skip
    claimed = [one["claimed_speedup"] for one in runs] + [1.0]
    found = [one["measured_speedup"] for one in runs] + [0.75, 1.5]
    low, high = min(*claimed, *found), max(*claimed, *found)
    grid = GRIDS.get(page or "", GRID)
    shapes = [
        {
            "type": "line",
            "x0": low,
            "y0": low,
            "x1": high,
            "y1": high,
            "line": {"color": GREY, "width": 1, "dash": "dash"},
            "layer": "below",
        },
        {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 1, "y1": 1, "line": {"color": GREY, "width": 1}, "layer": "below"},
    ]
    drawn = figure(
        traces, shapes=shapes, height=270, margin={"l": 4, "r": 8, "t": 4, "b": 4},
        xaxis=log_axis(claimed, Unit.RATIO, narrow=True) | {"title": {"text": "claimed"}, "gridcolor": grid, "automargin": True},
        yaxis=log_axis(found, Unit.RATIO, narrow=True) | {"title": {"text": "measured"}, "gridcolor": grid, "automargin": True},
    )  # fmt: skip
    return inked(drawn, page)


@dataclass(frozen=True, slots=True)
class Standing:
    """One agent × model among the others: cost per run with its quartiles, and a share with its 95 % interval, 0 to 1."""

    row: AgentFigures
    cost: float
    share: float
    low: float
    high: float
    is_bound: bool
    is_ahead: bool


def standings(rows: Sequence[AgentFigures]) -> tuple[str, list[Standing]]:
    """(what the share counts, the agents × models whose cost and share rest on ENOUGH runs). Bounds are never ahead of anybody.

    Verified speedups among comparable runs where two rows have ENOUGH of these, else completed runs among known ends. One is ahead
    (non-dominated) if no other costs at most as much and has at least the share, one of both being better.
    """
    is_verified = sum(row.comparable >= ENOUGH for row in rows) > 1
    found = []
    for row in rows:
        part, of = (row.faster, row.comparable) if is_verified else (row.completed, row.known_ends)
        if row.cost.known >= ENOUGH and of >= ENOUGH and row.cost.median:
            low, high = wilson(part, of)
            found.append((row, row.cost.median, part / of, low, high, bool(row.median_bounds)))
    known = [(cost, share) for _, cost, share, _, _, is_bound in found if not is_bound]
    made = [
        Standing(row, cost, share, low, high, is_bound, not is_bound and not any(_beats(other, (cost, share)) for other in known))
        for row, cost, share, low, high, is_bound in found
    ]
    return ("verified speedups of comparable runs" if is_verified else "completed runs"), made


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[0] and one[1] >= other[1] and one != other


def wilson(part: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927), for `of` above 0."""
    z, share = 1.959964, part / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def pareto(what: str, found: Sequence[Standing], page: str | None) -> go.Figure:
    """Cost per run along, the share upwards with its interval; a line joins those that no other dominates. Hollow: an upper bound."""
    traces: list[Any] = []
    ahead = sorted((one for one in found if one.is_ahead), key=lambda one: one.cost)
    ink = INKS.get(page or "", INK)
    if len(ahead) > 1:
        line = {"color": ink, "width": 1, "dash": "dot"}
        traces.append(go.Scatter(mode="lines", x=[one.cost for one in ahead], y=[one.share for one in ahead], line=line, hoverinfo="skip"))
    rows = [one.row for one in found]
    for one in found:
        near = [other for other in found if other is not one and abs(math.log(other.cost / one.cost)) < NEAR]
        is_lower = any(other.share > one.share or (other.share == one.share and other.cost > one.cost) for other in near)
        agent, name = one.row.agent, row_name(one.row, rows).replace("<br>", " ")
        sign = "≤ " if one.is_bound else ""
        traces.append(
            go.Scatter(
                mode="markers+text", x=[one.cost], y=[one.share], text=[name], textfont={"size": 12}, showlegend=False,
                textposition="bottom center" if is_lower else "top center",
                marker={"symbol": "triangle-left-open" if one.is_bound else symbol(agent), "color": colour(agent), "size": 11},
                error_y={
                    "type": "data", "symmetric": False, "array": [one.high - one.share], "arrayminus": [one.share - one.low],
                    "color": colour(agent), "thickness": 1.2, "width": 4,
                },
                hoverinfo="text",
                hovertext=[f"{name}<br>{sign}{brief.usd(one.cost)} per run, {one.share:.0%} ({one.low:.0%}–{one.high:.0%})"],
            )
        )  # fmt: skip
    grid = GRIDS.get(page or "", GRID)
    drawn = figure(
        traces, height=330, margin={"l": 4, "r": 24, "t": 16, "b": 4},
        showlegend=False,
        xaxis=log_axis([one.cost for one in found], Unit.USD)
        | {"title": {"text": "cost per run (median)"}, "gridcolor": grid, "automargin": True},
        yaxis={
            "title": {"text": what}, "tickformat": ",.0%", "range": [-0.1, 1.14], "gridcolor": grid, "zeroline": False, "fixedrange": True,
            "automargin": True,
        },
    )  # fmt: skip
    return inked(drawn, page)
