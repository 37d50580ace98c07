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
    dots,
    figure,
    grid,
    ink,
    line,
    log_axis,
    row_axis,
    safe,
    symbol,
)
from app.queries import Row
from app.queries.agents import ENOUGH, AgentFigures, Side, Valued
from app.text.agents import median_cost
from app.text.claims import metric_words
from app.text.formatting import (
    agent_name,
    model_name,
    one_bound,
    ordinal,
    ratio,
    short,
    sign_of,
    usd,
)
from schemas.catalogue.metrics import BAND
from schemas.units import Unit

MOST_POINTS = 2_000
"""Runs up to which each is drawn; with more, rows are boxes."""

LINE, LETTER, PLOT = 14, 6.5, (300, 220)
"""Pixels of a line of names, of a letter, and of the smallest plot that has names beside points."""

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
    short = short if len(short) <= 20 else short[:19] + "…"
    short = safe(model_name(short, effort=row.shown_effort))
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
    boxes: Mapping[Side, Sequence[float]] | None = None,
) -> list[Strip]:
    """Return one of CONTENTS for started runs by agent or model, with a median from ENOUGH runs.

    `boxes`: quantiles by side if there are too many points.
    """
    content, made = CONTENTS[what], []
    for row in rows:
        mine = [
            one
            for one in points
            if one["agent"] == row.agent
            and (not row.is_model or one["model"] == row.model)
            and (row.effort is None or one["effort"] == row.effort)
        ]
        mine = [one for one in mine if one[content.key] and (one["is_started"] or what == "claims")]
        runs = [
            (float(one[content.key]), content.kind(one), one["run_id"], one["title"])
            for one in mine
        ]
        box = (boxes or {}).get(row.side, ())
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
            marker = {
                "symbol": "circle" if is_beyond else "circle-open",
                "color": colours[night],
                "size": 8,
                "line": {"width": 1.5, "color": colours[night]},
            }
            traces.append(
                dots(
                    [place for place, _ in mine],
                    [run["measured_speedup"] for _, run in mine],
                    [
                        f"{safe(run['title'])}<br>{ratio(run['measured_speedup'])}"
                        for _, run in mine
                    ],
                    [run["run_id"] for _, run in mine],
                    marker,
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


FASTER, COMPLETED = "faster", "completed"


@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """One row: cost per run with bounds, and a value with its low and high end."""

    row: AgentFigures
    cost: float
    value: float
    low: float
    high: float
    bounds: str
    is_ahead: bool


@dataclass(frozen=True, slots=True)
class Pareto:
    """What cost is drawn against: a value of each row, its `unit`, and what its ends are."""

    what: str
    unit: Unit
    ends: str
    points: Sequence[ParetoPoint]

    @property
    def ahead(self) -> list[ParetoPoint]:
        """The rows that are ahead, the cheapest first."""
        return sorted((one for one in self.points if one.is_ahead), key=lambda one: one.cost)


def pareto_of(
    rows: Sequence[AgentFigures], valued: Sequence[Valued] = (), value: str = ""
) -> Pareto:
    """Return the rows with ENOUGH runs for cost and value.

    `value`: FASTER, the share of comparable runs; COMPLETED, that of known ends; or one of the
    metrics of `valued`. By default the first that two rows have ENOUGH of, in the order faster,
    metrics, completed. A row is ahead (non-dominated) if no other is at least as good in cost and
    value and better in one of them; a bound never is.
    """
    made = {one.metric: one for one in valued}
    usual = (
        name
        for name, known in (
            (FASTER, sum(row.comparable >= ENOUGH for row in rows)),
            *((name, len({row.side for row in rows} & {*one.of})) for name, one in made.items()),
        )
        if known > 1
    )
    value = value or next(usual, COMPLETED)
    found = []
    for row in rows:
        part, of = row.completed, row.known_ends
        if value == FASTER:
            part, of = row.faster, row.comparable
        if value in made:
            ends = made[value].of.get(row.side)
        else:
            low, high = wilson(part, of or 1)
            ends = (low, part / of, high) if of >= ENOUGH else None
        if ends and row.cost.known >= ENOUGH and row.cost.median:
            found.append((row, row.cost.median, ends[1], ends[0], ends[2], row.median_bounds))
    sign = -1 if value in made and made[value].is_less_better else 1
    known = [(cost, sign * middle) for _, cost, middle, _, _, bounds in found if not bounds]
    points = [
        ParetoPoint(
            *one,
            not one[-1]
            and not any(
                cost <= one[1] and good >= sign * one[2] and (cost, good) != (one[1], sign * one[2])
                for cost, good in known
            ),
        )
        for one in found
    ]
    if value in made:
        unit = Unit.SCORE if made[value].unit == "share" else Unit.MEASURED
        return Pareto(metric_words(value), unit, "middle half", points)
    what = "comparable runs measured faster" if value == FASTER else "completed runs"
    return Pareto(what, Unit.SHARE, "95 % interval", points)


def wilson(part: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927), for `of` above 0."""
    z, share = 1.959964, part / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def pareto(drawn: Pareto, page: str | None) -> go.Figure:
    """Return cost per run (x) against the value with its ends (y).

    A line joins the non-dominated. Hollow: a bound.
    """
    traces: list[Any] = []
    found, ahead = drawn.points, drawn.ahead
    marks = {
        one.bounds: BOUNDS.get(one.bounds, BOUNDS["estimate"])[0] for one in found if one.bounds
    }
    if len(ahead) > 1:
        dotted = {"color": ink(page), "width": 1, "dash": "dot"}
        traces.append(
            go.Scatter(
                mode="lines",
                x=[one.cost for one in ahead],
                y=[one.value for one in ahead],
                line=dotted,
                hoverinfo="skip",
            )
        )
    rows = [one.row for one in found]
    names = [row_name(one.row, rows).replace("<br>", " ") for one in found]
    is_share = drawn.unit is Unit.SHARE
    least = min((one.low for one in found), default=0.0)
    top = 1.0 if is_share else max((one.high for one in found), default=1.0)
    base = 0 if is_share or least < top / 2 else least
    room = top - base or abs(top) or 1
    axis = log_axis([one.cost for one in found], Unit.USD, page, title="cost per run (median)")
    ends = base - 0.1 * room, top + 0.1 * room
    for one, name in zip(found, names, strict=True):
        agent = one.row.agent
        value, low, high = (short(each, drawn.unit) for each in (one.value, one.low, one.high))
        traces.append(
            go.Scatter(
                mode="markers",
                x=[one.cost],
                y=[one.value],
                showlegend=False,
                marker={
                    "symbol": marks.get(one.bounds, symbol(agent)),
                    "color": colour(agent, page),
                    "size": 11,
                },
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [one.high - one.value],
                    "arrayminus": [one.value - one.low],
                    "color": colour(agent, page),
                    "thickness": 1,
                    "width": 4,
                },
                hoverinfo="text",
                hovertext=[
                    f"{name}<br>{usd(one.cost, one.bounds)} per run, {value} ({low}–{high})"
                ],
            )
        )
    return figure(
        traces,
        page,
        annotations=_names_beside(found, names, axis["range"], ends),
        height=MOST,
        margin={"l": 4, "r": 8, "t": 8, "b": 4},
        showlegend=False,
        xaxis=axis,
        yaxis={
            "title": {"text": drawn.what},
            "tickformat": "" if drawn.unit is Unit.MEASURED else ",.1~%",
            "range": ends,
            "gridcolor": grid(page),
            "zeroline": False,
            "fixedrange": True,
            "automargin": True,
        },
    )


def _names_beside(
    found: Sequence[ParetoPoint],
    names: Sequence[str],
    x_range: Sequence[float],
    y_range: Sequence[float],
) -> list[dict[str, Any]]:
    """Return the names of points beside them, towards the middle, over no other name or point."""
    wide, high = PLOT
    x_of = [(math.log10(one.cost) - x_range[0]) / (x_range[1] - x_range[0]) * wide for one in found]
    y_of = [(one.value - y_range[0]) / (y_range[1] - y_range[0]) * high for one in found]
    taken = [(y, x - 7, x + 7) for x, y in zip(x_of, y_of, strict=True)]
    notes = []
    for one, name, x, y in sorted(
        zip(found, names, x_of, y_of, strict=True), key=lambda place: place[-1]
    ):
        side, width = (1, LETTER * len(name)) if x < wide / 2 else (-1, LETTER * len(name))
        begin, end = sorted((x + side * 10, x + side * (10 + width)))
        free = (
            y + shift
            for shift in sorted(range(-int(y), int(high - y)), key=abs)
            if not any(
                abs(y + shift - other) < LINE and begin < last and first < end
                for other, first, last in taken
            )
        )
        level = next(free, y)
        taken.append((level, begin, end))
        notes.append(
            {
                "x": math.log10(one.cost),
                "y": one.value,
                "text": name,
                "showarrow": False,
                "xanchor": "left" if side > 0 else "right",
                "xshift": side * 10,
                "yshift": level - y,
                "font": {"size": 12},
            }
        )
    return notes
