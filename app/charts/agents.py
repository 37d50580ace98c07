"""Charts of runs by agent.

What runs cost and how long they took, claimed against measured speedups, and Pareto fronts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from app.charts.base import (
    LEFT,
    band,
    colour,
    figure,
    grid,
    ink,
    line,
    log_axis,
    row_axis,
    safe,
    symbol,
)
from app.queries.agents import ENOUGH, AgentFigures
from app.text.agents import median_cost
from app.text.formatting import (
    agent_name,
    model_name,
    one_bound,
    ordinal,
    percent,
    ratio,
    short,
    sign_of,
    usd,
)
from schemas.catalogue.metrics import BAND
from schemas.units import Unit

Row = Mapping[str, Any]

MOST_POINTS = 2_000
"""Runs up to which each is drawn; with more, rows are boxes."""

NEAR = 0.3
"""Log difference of two costs below which their names would overlap, so that one goes above its
point and one below.
"""

ROW, LEAST, MOST = 44, 74, 300


@dataclass(frozen=True)
class Strip:
    """One row of a chart: its name in two lines, its agent, and its runs.

    Runs are (value, kind, run id, title); kinds: filled, hollow and BOUNDS.

    `median` is the value of the bar and `label` its words at the right. `quantiles` (5, 25, 50, 75,
    95 %) replace runs if there are too many.
    """

    name: str
    agent: str | None
    runs: Sequence[tuple[float, str, str, str]] = ()
    median: float | None = None
    label: str = ""
    quantiles: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class StripContent:
    """Content of a strip chart.

    A column of `app.queries.agents.points`, its unit, the kind of its mark, how many values a row
    has, and the noun for what other logs lack.
    """

    key: str
    unit: Unit
    kind: Callable[[Row], str]
    known: Callable[[AgentFigures], int]
    lacks: str


def _of_cost(run: Row) -> str:
    return run["bound"] or "filled"


BOUNDS = {
    "upper_bound": ("triangle-left-open", "◁"),
    "lower_bound": ("triangle-right-open", "▷"),
    "estimate": ("diamond-tall-open", "◇"),
}
"""Kind of bound → its mark, in a chart and in words: an arrow points to where the true value lies.
Several kinds together are estimates.
"""


def bounds_legend(kinds: Iterable[str]) -> str:
    """Return `; ◁ an upper bound; ▷ a lower bound` for the kinds of BOUNDS among these, or ""."""
    found = set(kinds)
    known = [f"{sign} {one_bound(kind)}" for kind, (_, sign) in BOUNDS.items() if kind in found]
    return "".join(f"; {one}" for one in known)


CONTENTS = {
    "cost": StripContent("cost_usd", Unit.USD, _of_cost, lambda row: row.cost.known, "cost"),
    "time": StripContent(
        "duration_ms",
        Unit.MILLISECONDS,
        lambda run: "filled" if run["is_completed"] else "hollow",
        lambda row: row.wall_ms or 0,
        "time",
    ),
    "claims": StripContent(
        "claimed_speedup", Unit.RATIO, lambda _: "filled", lambda row: row.claimed.known, ""
    ),
}


def row_name(row: AgentFigures, rows: Sequence[AgentFigures]) -> str:
    """Return agent and model in two lines for a row of a chart; only the model for one agent."""
    if not row.is_model:
        return safe(agent_name(row.agent))
    short = model_name(row.model)
    short = safe(short if len(short) <= 20 else short[:19] + "…")
    is_only = len({other.agent for other in rows}) == 1 and len(rows) > 1
    return short if is_only else f"{safe(agent_name(row.agent))}<br>{short}"


def leaves(rows: Sequence[AgentFigures]) -> list[AgentFigures]:
    """Return the rows of charts.

    The models of an agent with several in the table, else its only model, else the agent itself.
    """
    found: list[AgentFigures] = []
    for row in rows:
        if row.is_all or row.is_model:
            continue
        models = [other for other in rows if other.is_model and other.agent == row.agent]
        many = [other for other in models if other.runs >= ENOUGH]
        with_figures = [
            other for other in models if other.cost.known or other.wall.known or other.claimed.known
        ]
        found += (
            with_figures
            if len(many) > 1
            else models
            if len(models) == 1 and models[0].model
            else [row]
        )
    return found


def largest(
    rows: Sequence[AgentFigures], known: Callable[[AgentFigures], int], most: int
) -> list[AgentFigures]:
    """Return the `most` rows with the most money, then the most `known` values, in the given order.

    Rows without a known value are left out.
    """
    found = [row for row in rows if known(row)]
    by_money = sorted(found, key=lambda row: (-(row.cost_usd or 0), -known(row)))[:most]
    return [row for row in found if row in by_money]


def strips_of(
    what: str,
    rows: Sequence[AgentFigures],
    points: Sequence[Row],
    boxes: Mapping[Any, Sequence[float]] | None = None,
) -> list[Strip]:
    """Return one of CONTENTS for started runs by agent or model, with a median from ENOUGH runs.

    `boxes`: quantiles by (agent, model, is a model) if there are too many points.
    """
    content, made = CONTENTS[what], []
    for row in rows:
        mine = [
            one
            for one in points
            if one["agent"] == row.agent and (not row.is_model or one["model"] == row.model)
        ]
        mine = [one for one in mine if one[content.key] and (one["is_started"] or what == "claims")]
        runs = [
            (float(one[content.key]), content.kind(one), one["run_id"], one["title"])
            for one in mine
        ]
        box = (boxes or {}).get((row.agent, row.model, row.is_model), ())
        if what == "cost":
            spread, label = row.cost, median_cost(row).text
        else:
            spread = row.wall if what == "time" else row.claimed
            label = short(spread.median or 0, content.unit)
        is_enough = spread.known >= ENOUGH
        made.append(
            Strip(
                row_name(row, rows),
                row.agent,
                runs,
                spread.median if is_enough else None,
                label if is_enough else "",
                box,
            )
        )
    return made


def strips(
    rows: Sequence[Strip], unit: Unit, page: str | None, *, through: Sequence[float] = ()
) -> go.Figure:
    """Return runs on a logarithmic axis, one row per agent or model, the first on top.

    The bar is the median. The axis includes `through`.
    """
    traces: list[Any] = []
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    kind_of_trace = go.Scattergl if sum(len(row.runs) for row in rows) > MOST_POINTS else go.Scatter
    for at, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        name = symbol(row.agent)
        for kind, shape in (
            ("hollow", f"{name}-open"),
            ("filled", name),
            *((kind, mark) for kind, (mark, _) in BOUNDS.items()),
        ):
            mine, sign = (
                sorted(run for run in row.runs if run[1] == kind and run[0] > 0),
                sign_of(kind),
            )
            if not mine:
                continue
            spread = [
                ((place * 0.618034) % 1 - 0.5) * 0.62 for place in range(len(mine))
            ]  # so that neighbours do not overlap
            dots = {
                "mode": "markers",
                "x": [run[0] for run in mine],
                "y": [at + offset for offset in spread],
                "marker": {
                    "symbol": shape,
                    "color": colour(row.agent, page),
                    "size": 6 if len(mine) > 40 else 7,
                    "opacity": 0.6,
                },
                "customdata": [[run[2]] for run in mine],
                "showlegend": False,
                "hoverinfo": "text",
                "hovertext": [f"{safe(run[3])}<br>{sign}{short(run[0], unit)}" for run in mine],
            }
            traces.append(kind_of_trace(**dots))
        if row.quantiles:
            low, first, middle, third, high = row.quantiles
            named = zip(("5%", "25%", "median", "75%", "95%"), row.quantiles, strict=True)
            quantiles = [f"{name}: {short(value, unit)}" for name, value in named]
            traces.append(
                go.Box(
                    orientation="h",
                    y=[at],
                    q1=[first],
                    median=[middle],
                    q3=[third],
                    lowerfence=[low],
                    upperfence=[high],
                    width=0.5,
                    marker={"color": colour(row.agent, page)},
                    fillcolor="rgba(0,0,0,0)",
                    showlegend=False,
                    hoverinfo="skip",
                    hovertext=["<br>".join([row.name.replace("<br>", " "), *quantiles])],
                )
            )
        if row.median is not None and row.median > 0:
            shapes.append(
                line(
                    row.median,
                    at - 0.38,
                    row.median,
                    at + 0.38,
                    colour=ink(page),
                    width=2,
                    layer="above",
                )
            )
        note = {"xref": "paper", "y": at, "showarrow": False, "font": {"size": 12}}
        notes += [note | {"x": 1, "xanchor": "right", "text": safe(row.label)}] if row.label else []
    values = [value for row in rows for value in (*(run[0] for run in row.runs), *row.quantiles)]
    axis = log_axis([*values, *through], unit, page, narrow=True)
    first, last = axis["range"]
    axis["range"] = [first, last + (last - first) * (0.24 if any(row.label for row in rows) else 0)]
    longest = max((len(line) for row in rows for line in row.name.split("<br>")), default=0)
    room = {
        "l": 18 + 6 * longest,
        "b": 29,
    }  # what the texts of the axes need: if they had to make it, the browser would draw twice
    return figure(
        traces,
        page,
        shapes=shapes,
        annotations=notes,
        height=min(MOST, max(LEAST, ROW * len(rows) + 30)),
        margin=LEFT | room,
        xaxis=axis,
        yaxis=row_axis([row.name for row in rows]),
    )


RANK_COLOURS = {
    "faster": ("#0F8A84", "#35A79E"),
    "same": ("#A9ABA6", "#737C7E"),
    "inside_noise": ("#A9ABA6", "#737C7E"),
    "slower": ("#B5352C", "#D9695F"),
}
"""Class of a comparable result → its colour on light and dark pages."""


def ranks(
    runs: Sequence[Row], groups: Sequence[tuple[int, int, str]], page: str | None
) -> go.Figure:
    """Return measured speedups in order: a dot beyond noise, a ring measured once, band ±5%.

    `groups` have words: first place, last place, words.
    """
    night, found = page == "dark", [float(run["measured_speedup"]) for run in runs]
    traces = []
    for kind, colours in RANK_COLOURS.items():
        for is_beyond in (False, True):
            mine = [
                (place, run)
                for place, run in enumerate(runs, 1)
                if run["measured_class"] == kind and run["is_beyond_noise"] is is_beyond
            ]
            if not mine:
                continue
            traces.append(
                go.Scatter(
                    mode="markers",
                    x=[place for place, _ in mine],
                    y=[run["measured_speedup"] for _, run in mine],
                    marker={
                        "symbol": "circle" if is_beyond else "circle-open",
                        "color": colours[night],
                        "size": 8,
                        "line": {"width": 1.5, "color": colours[night]},
                    },
                    customdata=[[run["run_id"]] for _, run in mine],
                    showlegend=False,
                    cliponaxis=False,
                    hoverinfo="text",
                    hovertext=[
                        f"{safe(run['title'])}<br>{ratio(run['measured_speedup'])}"
                        for _, run in mine
                    ],
                )
            )
    ends = f"1st of {len(runs):,}", ordinal(len(runs))
    axis = log_axis([*found, 0.8, 1.5], Unit.RATIO, page, narrow=True)
    return figure(
        traces,
        page,
        shapes=[band(page)],
        annotations=[_rank_note(runs, *one) for one in groups],
        height=240,
        margin={"l": 4, "r": 8, "t": 8, "b": 24},
        xaxis={
            "range": [0, len(runs) + 1],
            "tickvals": [1, len(runs)],
            "ticktext": ends,
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        yaxis=axis,
    )


def _rank_note(runs: Sequence[Row], first: int, last: int, words: str) -> dict[str, Any]:
    """Return the words beside the results from place `first` to `last`, where there is room.

    Below the middle of results around 1, right of slower ones, left of faster ones.
    """
    low, high = runs[first - 1]["measured_speedup"], runs[last - 1]["measured_speedup"]
    at, value, anchor, shift = first, low, "right", (-8, 6)
    if low <= 1 <= high:
        at, value, anchor, shift = (first + last) // 2, 1 / (1 + BAND), "center", (0, -4)
    elif high < 1:
        at, value, anchor, shift = last, high, "left", (8, -2)
    return {
        "x": at,
        "y": math.log10(value),
        "text": safe(words),
        "showarrow": False,
        "xanchor": anchor,
        "yanchor": "bottom" if anchor == "right" else "top",
        "xshift": shift[0],
        "yshift": shift[1],
        "font": {"size": 12},
    }


def pair_hover(run: Row) -> str:
    """Return the hover text of a run with a claim and a measurement."""
    claimed, measured = ratio(run["claimed_speedup"]), ratio(run["measured_speedup"])
    return f"{safe(run['title'])}<br>claimed: {claimed}<br>measured: {measured}"


@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """One agent × model: cost per run with bounds, and a share with its 95 % interval, 0 to 1."""

    row: AgentFigures
    cost: float
    share: float
    low: float
    high: float
    bounds: str
    is_ahead: bool


def pareto_points(rows: Sequence[AgentFigures]) -> tuple[str, list[ParetoPoint]]:
    """Return (meaning of the share, the agents × models with ENOUGH runs for cost and share).

    Bounds are never ahead.

    Share: runs measured faster among comparable ones if two rows have ENOUGH of these, else
    completed runs among known outcomes. A row is ahead (non-dominated) if no other row is at least
    as good in cost and share and better in one of them.
    """
    is_measured = sum(row.comparable >= ENOUGH for row in rows) > 1
    found = []
    for row in rows:
        part, of = (row.faster, row.comparable) if is_measured else (row.completed, row.known_ends)
        if row.cost.known >= ENOUGH and of >= ENOUGH and row.cost.median:
            found.append((row, row.cost.median, part / of, *wilson(part, of), row.median_bounds))
    known = [(cost, share) for _, cost, share, _, _, bounds in found if not bounds]
    made = []
    for row, cost, share, low, high, bounds in found:
        is_beaten = any(
            other[0] <= cost and other[1] >= share and other != (cost, share) for other in known
        )
        made.append(ParetoPoint(row, cost, share, low, high, bounds, not bounds and not is_beaten))
    return ("comparable runs measured faster" if is_measured else "completed runs"), made


def wilson(part: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927), for `of` above 0."""
    z, share = 1.959964, part / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def pareto(what: str, found: Sequence[ParetoPoint], page: str | None) -> go.Figure:
    """Return cost per run (x) against the share with its interval (y).

    A line joins the non-dominated. Hollow: a bound.
    """
    traces: list[Any] = []
    marks = {
        one.bounds: BOUNDS.get(one.bounds, BOUNDS["estimate"])[0] for one in found if one.bounds
    }
    ahead = sorted((one for one in found if one.is_ahead), key=lambda one: one.cost)
    if len(ahead) > 1:
        dotted = {"color": ink(page), "width": 1, "dash": "dot"}
        traces.append(
            go.Scatter(
                mode="lines",
                x=[one.cost for one in ahead],
                y=[one.share for one in ahead],
                line=dotted,
                hoverinfo="skip",
            )
        )
    rows = [one.row for one in found]
    for one in found:
        near = [
            other
            for other in found
            if other is not one and abs(math.log(other.cost / one.cost)) < NEAR
        ]
        is_lower = any(
            other.share > one.share or (other.share == one.share and other.cost > one.cost)
            for other in near
        )
        agent, name = one.row.agent, row_name(one.row, rows).replace("<br>", " ")
        traces.append(
            go.Scatter(
                mode="markers+text",
                x=[one.cost],
                y=[one.share],
                text=[name],
                textfont={"size": 12},
                showlegend=False,
                textposition="bottom center" if is_lower else "top center",
                marker={
                    "symbol": marks.get(one.bounds, symbol(agent)),
                    "color": colour(agent, page),
                    "size": 11,
                },
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [one.high - one.share],
                    "arrayminus": [one.share - one.low],
                    "color": colour(agent, page),
                    "thickness": 1.2,
                    "width": 4,
                },
                hoverinfo="text",
                hovertext=[
                    (
                        f"{name}<br>{usd(one.cost, one.bounds)} per run, {percent(one.share)} "
                        f"({percent(one.low)}–{percent(one.high)})"
                    )
                ],
            )
        )
    return figure(
        traces,
        page,
        height=330,
        margin={"l": 4, "r": 24, "t": 16, "b": 4},
        showlegend=False,
        xaxis=log_axis([one.cost for one in found], Unit.USD, page, title="cost per run (median)"),
        yaxis={
            "title": {"text": what},
            "tickformat": ",.0%",
            "range": [-0.1, 1.14],
            "gridcolor": grid(page),
            "zeroline": False,
            "fixedrange": True,
            "automargin": True,
        },
    )
