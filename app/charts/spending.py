"""Charts of a report: costs of groups and models, and their embedding in HTML without network.

The HTML file is self-contained.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.base import (
    FAILED,
    FAILED_AT_NIGHT,
    INKS,
    ON_DEEP,
    PALETTE,
    PLAIN,
    figure,
    figures_of,
    filled,
    hover,
    labels,
    line,
    linear_axis,
    model_name,
    safe,
)
from app.charts.images import Drawn
from app.queries import Row
from app.queries.daily import Daily
from app.queries.grouping import group
from app.queries.months import Months, Names, bounds_of_month
from app.text.formatting import FORMS, NAMELESS, usd, whole_usd
from app.text.months import forecast
from schemas.catalogue.columns import GROUPS
from schemas.catalogue.cost_measures import REPORTED, CostMeasure
from schemas.text import in_json, one_line, plural
from schemas.units import Unit

PROJECT_COLOURS = {
    "light": ("#0B6E69", "#C08A2B", "#8A5A83"),
    "dark": ("#35A79E", "#C08A2B", "#B98AB3"),
}
OTHER_PROJECTS = "#8A8F91"

MODEL_KEYS = ("model", "provider", "region")
MOST_BARS = 24
"""Bars that fit on a printed page."""

LEAST_SEEN = 500
"""A bar is invisible if it is shorter than the longest one divided by this."""


@dataclass(frozen=True)
class Embedded:
    """A chart embedded in a page: `figure` is JSON escaped for a script element.

    `alt` is the text alternative; `height` is in pixels.
    """

    figure: str
    alt: str
    note: str
    height: int


def packed_plotly() -> bytes:
    """Return the source of Plotly for browsers with only the charts that have two axes.

    These are all of ours: 0.5 MB, packed by gzip.
    """
    return (resources.files("app.charts") / "plotly-cartesian.min.js.gz").read_bytes()


def plotly_script() -> str:
    """Return the same source unpacked: 1.5 MB, where the whole of Plotly has 4.8 MB."""
    return gzip.decompress(packed_plotly()).decode()


def packed_figures(drawn: Sequence[tuple[Drawn, Drawn]], tables: Sequence[str]) -> bytes:
    """Return charts as JSON, packed by gzip.

    `{"light": [figure, …], "dark": […], "tables": [HTML, …]}`.
    """
    pages: dict[str, Any] = {
        page: [json.loads(str(pair[place].figure.to_json())) for pair in drawn]
        for place, page in enumerate(("light", "dark"))
    }
    pages["tables"] = tables
    return gzip.compress(json.dumps(pages, separators=(",", ":")).encode(), mtime=0)


def report_charts(
    groups: pa.Table, by: tuple[str, ...], models: pa.Table, measure: CostMeasure = REPORTED
) -> Mapping[str, Embedded]:
    """Return the charts of a report by the key of their section.

    A single bar is left out, because it repeats its table.
    """
    # most models have no region; they have a reported cost and one at list prices, and no
    # best-known one
    names = [
        " · ".join(row[key] for key in MODEL_KEYS if row[key]) or None
        for row in models.select(MODEL_KEYS).to_pylist()
    ]
    named = models.set_column(0, "model", pa.array(names, pa.string()))
    of_models = measure if measure.total in models.column_names else REPORTED
    found = {
        "groups": _embedded(groups, by, "per group", measure, in_order=group(by[0]).in_order)
        if by
        else None,
        "models": _embedded(named, ("model",), "per model", of_models),
    }
    return {key: chart for key, chart in found.items() if chart}


def _embedded(
    table: pa.Table,
    keys: tuple[str, ...],
    per: str,
    measure: CostMeasure,
    *,
    in_order: bool = False,
) -> Embedded | None:
    if table.num_rows < 2 or measure.total not in table.column_names:
        return None
    drawn = cost_bars(table, keys, in_order=in_order, measure=measure)
    if drawn is None:
        return None
    drawn.update_layout(
        font={"family": "system-ui, sans-serif", "size": 12, "color": INKS["light"]}
    )
    text = (
        in_json(str(drawn.to_json()))
        .replace("&", "\\u0026")
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
    )
    costs = table[measure.total].to_pylist()
    unknown, known = sum(cost is None for cost in costs), sum(cost is not None for cost in costs)
    note = (
        [f"Showing the {'last' if in_order else 'top'} {MOST_BARS} of {known:,} groups."]
        if known > MOST_BARS
        else []
    )
    note += [f"Not shown: {plural(unknown, 'group')} without a {measure.name}."] if unknown else []
    return Embedded(
        text,
        one_line(f"{measure.label} {per}, one bar each."),
        one_line(" ".join(note)),
        int(drawn.layout.height),
    )


def cost_bars(
    table: pa.Table, keys: Sequence[str], *, in_order: bool = False, measure: CostMeasure = REPORTED
) -> go.Figure | None:
    """Return a bar per row with its cost, named by the `keys`.

    Vertical if rows are in order of time. None without a cost.
    """
    cost = measure.total
    rows = [row for row in table.to_pylist() if row[cost] is not None]
    if not rows:
        return None
    rows = rows[-MOST_BARS:] if in_order else rows[:MOST_BARS]

    def name(row: Row) -> str:
        return safe(" · ".join(model_name(row[key]) for key in keys))

    names, costs, most = (
        [name(row) for row in rows],
        [float(row[cost]) for row in rows],
        max(row[cost] for row in rows),
    )
    money, places = linear_axis(GROUPS[cost]), list(range(len(rows)))
    amounts = [usd(row[cost]) for row in rows]
    is_small = [not in_order and row[cost] * LEAST_SEEN < most for row in rows]
    marks = {
        "marker": {"color": PALETTE[0]},
        "text": ["" if small else amount for amount, small in zip(amounts, is_small, strict=True)],
        "textposition": "auto",
        "insidetextfont": {"color": ON_DEEP},
        "hovertext": [
            hover(label, figures_of(row, GROUPS, cost, "runs"))
            for row, label in zip(rows, names, strict=True)
        ],
        "hoverinfo": "text",
        "showlegend": False,
    }
    if in_order:
        ticks = names
        if len(keys) == 1:  # of several keys, several groups share a period
            periods = filled([row[keys[0]] for row in rows])
            ticks, places = (
                [name({keys[0]: period}) for period in periods],
                [periods.index(row[keys[0]]) for row in rows],
            )
        bars = go.Bar(x=places, y=costs, **marks)
        return figure([bars], xaxis=labels(ticks, MOST_BARS), yaxis=money, height=320, bargap=0.3)
    bars = go.Bar(x=costs, y=places, orientation="h", **marks)
    small = go.Scatter(  # Plotly writes no amount at a bar without a length
        x=[value for value, small in zip(costs, is_small, strict=True) if small],
        y=[place for place, small in zip(places, is_small, strict=True) if small],
        text=[amount for amount, small in zip(amounts, is_small, strict=True) if small],
        mode="text",
        textposition="middle right",
        hoverinfo="skip",
        showlegend=False,
    )
    groups = {
        "tickvals": places,
        "ticktext": names,
        "autorange": "reversed",
        "title": {"text": ""},
        "automargin": True,
        "ticklabelstandoff": 6,
    }
    return figure([bars, small], xaxis=money, yaxis=groups, height=90 + 26 * len(rows), bargap=0.3)


def per_day(found: Daily, page: str | None) -> go.Figure:
    """Return the money of each of the last days by project, with a line at a usual day."""
    colours = PROJECT_COLOURS["dark" if page == "dark" else "light"]
    keys = [f"{day:%F}" for day in found.days]
    sums = {
        project: sum(spends[key].usd or 0 for key in keys if key in spends)
        for project, spends in found.spends.items()
    }
    ranked = sorted(
        (project for project in sums if sums[project]), key=lambda one: (-sums[one], one or "")
    )
    shown, others = ranked[: len(colours)], ranked[len(colours) :]
    groups = [(project or NAMELESS["project"], [project]) for project in shown]
    groups += [("other projects", others)] if others else []
    bars = []
    for (name, projects), colour in zip(groups, (*colours, OTHER_PROJECTS), strict=False):
        money = [sum(found.of(one, key).usd or Decimal(0) for one in projects) for key in keys]
        hovers = [
            hover(f"{day:%-d %B}", {name: (one, Unit.USD)})
            for day, one in zip(found.days, money, strict=True)
        ]
        bars.append(
            go.Bar(
                x=list(range(len(keys))),
                y=[float(one) for one in money],
                name=safe(name),
                marker={"color": colour},
                hovertext=hovers,
                hoverinfo="text",
                showlegend=True,
            )
        )
    lines, usual = [], found.usual_day_usd
    if usual:  # which the title and the caption explain: the bars leave no room for words
        lines = [line(0, float(usual), 1, float(usual), dash="dot", xref="paper", layer="above")]
    last = len(keys) - 1
    ticked = range(last % 7, last, 7)
    ticks = {
        "tickvals": [*ticked, last],
        "ticktext": [*(f"{found.days[place]:%-d %b}" for place in ticked), "today"],
        "tickangle": 0,
        "range": [-0.6, last + 0.6],
    }
    y = {**FORMS[Unit.USD].ticks, "rangemode": "tozero", "nticks": 5}
    layout = {"xaxis": ticks, "yaxis": y, "height": 250, "barmode": "stack", "bargap": 0.25}
    return figure(bars, page, **layout, shapes=lines)


def month_so_far(found: Months, page: str | None) -> go.Figure:
    """Return the money of a month added up, its budgets as a line, and the forecast as a band."""
    names: list[Names] = [(one,) for one in found.budgets]
    names = names or sorted({row.names for row in found.days}, key=str)
    begin, end = bounds_of_month(found.month)
    last = (end - begin).days + 1
    so_far, x, y, hover = Decimal(0), [1.0], [0.0], list[str | None]([None])

    def words(day: int) -> str:
        return f"{day} {begin:%B}<br>spent so far: {usd(so_far)}"

    for day in sorted({row.month for row in found.days if row.month}):
        spent = [
            row.spend.usd or 0 for row in found.days if row.month == day and row.names in names
        ]
        so_far += sum(spent, Decimal(0))
        x.append(float(day[8:]))
        y.append(float(so_far))
        hover.append(words(int(day[8:])))
    now = 1 + (found.now - begin).total_seconds() / 86_400 if found.is_running else float(last)
    today = min(int(now), last - 1)
    steps = go.Scatter(
        x=[*(min(one, now) for one in x), now],
        y=[*y, float(so_far)],
        mode="lines",
        line={"shape": "hv", "color": PLAIN, "width": 2},
        hoverinfo="text",
        hovertext=[*hover, words(today) if today > x[-1] else None],
    )
    traces, lines, notes = [steps], [], []

    def note(text: str, place: float, colour: str) -> None:
        notes.append(
            {"text": text, "x": last, "y": place, "xanchor": "left", "align": "left"}
            | {"showarrow": False, "font": {"color": colour, "size": 13}, "xshift": 6}
        )

    if at_both := found.forecast(names):
        low, high = (float(one) for one in at_both)
        band = {"fill": "toself", "fillcolor": "rgba(15, 138, 132, 0.16)", "line": {"width": 0}}
        corners = {"x": [now, last, last, now], "y": [float(so_far), high, low, float(so_far)]}
        traces.append(go.Scatter(**corners, **band, mode="lines", hoverinfo="skip"))
        note(f"forecast<br>{forecast(found, names).text}", high, INKS[page or "light"])
    if found.budgets:
        allowed = sum((one.budget for one in found.budgets.values()), Decimal(0))
        red = FAILED_AT_NIGHT if page == "dark" else FAILED
        lines.append(
            line(1, float(allowed), last, float(allowed), dash="dash", colour=red, width=1.5)
        )
        word = "budgets" if len(found.budgets) > 1 else "budget"
        note(f"{word} {whole_usd(allowed)}", float(allowed), red)
    notes.append(
        {"text": usd(so_far), "x": now, "y": float(so_far), "showarrow": False}
        | {"xanchor": "right", "yanchor": "bottom", "font": {"size": 13}}
    )
    ticks = {"tickvals": [1, 8, 15, 22, last - 1], "range": [0.5, last + 0.2], "tickangle": 0}
    money = {**FORMS[Unit.USD].ticks, "rangemode": "tozero", "nticks": 6}
    margin = {"l": 8, "r": 104, "t": 16, "b": 8}
    layout = {"xaxis": ticks, "yaxis": money, "height": 260, "margin": margin}
    return figure(traces, page, **layout, shapes=lines, annotations=notes)
