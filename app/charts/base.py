"""Common parts of charts.

Figure, colours for light and dark pages, axes, calendar positions, and hover texts.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import plotly.graph_objects as go

from app.queries import Row
from app.text.formatting import FORMS, UNKNOWN_NAME, exact
from schemas.agents import AGENTS
from schemas.catalogue.entry import Columns, Entry
from schemas.catalogue.metrics import BAND
from schemas.text import one_line
from schemas.units import Unit

HEIGHT = 380
FONT = '"Source Sans", sans-serif'
"""Of Streamlit's own pages."""

LEGEND_ROW = 20
"""Pixels of a row of the legend, which has two names on half a page."""

LONGEST_LINE, LONGEST_NAME = 26, 48
"""Characters of a line of a row's name, and of a model's name in a legend."""

INKS = {"light": "#4B565A", "dark": "#C4CCCA"}
"""Colour of axis texts, because Streamlit's own has a contrast of only 3.6:1 on a light page."""

GREY = "#7A7A7A"
PAPER = ("#FBFAF7", "#11171A")

_HOVERED = {"light": ("#FFFFFF", "#0F1719"), "dark": ("#1C2526", "#F0F2F1")}
"""Colours of hover text; by default it would be small and grey on many mark colours."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#C0649B", "#B07D00", "#3A93C8", "#8A7F00")
"""Okabe and Ito's colours for the colour-blind; the light ones darkened so that all keep 3:1
against light and dark pages. Grey is reserved for unknown models.
"""

TOP = 6
"""Models with a colour of their own if there are more than colours in PALETTE; the others share a
legend entry.
"""

TOKENS = {
    "cache_read_tokens": "#3A93C8",
    "cache_write_tokens": "#0072B2",
    "input_tokens": "#B07D00",
    "output_tokens": "#D55E00",
}

FAILED, PLAIN = "#B5352C", "#0F8A84"
FAILED_AT_NIGHT = "#D9695F"

ON_DEEP = "#FFFFFF"
"""Text colour on the first colour of PALETTE, which is too dark for the other one."""

MOST_PLACES, MOST_LABELS = 120, 16
"""Calendar positions up to which gaps are filled (more bars would be too thin), and labels below
them.
"""

LEFT = {"l": 4, "r": 4, "t": 4, "b": 4}
"""Margins of a figure with automatic margins for its axes."""


@dataclass(frozen=True)
class ModelLook:
    """The colour of a model, the hatching of its bars, and its position in legends.

    `is_other`: models beyond the first ones share it.
    """

    colour: str
    pattern: str = ""
    place: int = 0
    is_other: bool = False


Looks = Mapping[str | None, ModelLook]
_NOBODY = ModelLook(GREY, "", 1_001)
OTHER_LOOK = ModelLook("#8A8F91", "/", 1_000, is_other=True)


def figure(traces: list[Any], page: str | None = None, **layout: Any) -> go.Figure:
    """Return a figure with a transparent background and texts for a light or dark page.

    It has a legend only for several named traces.

    On a page all style is in the layout: with a template the browser draws every chart once more.
    The same holds for data without a revision, which may be constant, since a page makes a new
    chart for new data.
    """
    named = sum(bool(trace.showlegend) for trace in traces)
    ours: dict[str, Any] = {
        "height": HEIGHT + LEGEND_ROW * (named // 2),
        "margin": {"l": 8, "r": 16, "t": 16, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": named > 1,
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "yref": "container",  # below the title of the axis, however high the plot is
            "y": 0,
            "yanchor": "bottom",
            "font": {"size": 12},
            "traceorder": "normal",
            "title": {"text": ""},
        },
        "dragmode": False,
        "hoverlabel": {"align": "left", "font": {"size": 13}},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": PLAIN},
    }
    if page is None:
        return go.Figure(traces, ours | layout)  # all at once: an update of a figure takes 10 ms
    behind, written = _HOVERED[page]
    ours |= {
        "font": {"family": FONT, "size": 12, "color": INKS[page]},
        "datarevision": 1,
        "xaxis": {},
        "yaxis": {},
    } | layout
    ours["hoverlabel"] = ours["hoverlabel"] | {
        "bgcolor": behind,
        "bordercolor": grid(page),
        "font": {"size": 13, "color": written},
    }
    ours["margin"] = {"pad": 8} | ours["margin"]
    for key in [key for key in ours if key[1:5] == "axis"]:
        axis = ours[key]
        style = {"showgrid": False, "zeroline": False} if key[0] == "x" else {}
        title = {"standoff": 20 if key[0] == "x" else 24, "font": {"size": 14}} | axis.get(
            "title", {}
        )
        ours[key] = (
            style
            | {"automargin": True, "gridcolor": grid(page), "zerolinecolor": grid(page)}
            | axis
            | {"title": title}
        )
    drawn = go.Figure(traces, ours)
    drawn.layout.template = None
    return drawn


def nothing(why: str, page: str | None) -> go.Figure:
    """Return an empty figure that shows the reason."""
    axis = {"visible": False}
    note = {
        "text": safe(why),
        "showarrow": False,
        "x": 0.5,
        "y": 0.5,
        "xref": "paper",
        "yref": "paper",
    }
    return figure([], page, xaxis=axis, yaxis=axis, annotations=[note])


def ink(page: str | None) -> str:
    """Return the colour of important lines."""
    return "#E4E8E5" if page == "dark" else "#0F1719"


def grid(page: str | None) -> str:
    return "#2F3A3F" if page == "dark" else "#DEDACE"


def colour(agent: str | None, page: str | None) -> str:
    if agent not in AGENTS:
        return GREY
    return AGENTS[agent].night if page == "dark" else AGENTS[agent].colour


def symbol(agent: str | None) -> str:
    return AGENTS[agent].marker if agent in AGENTS else "circle"


def line(
    x0: Any,
    y0: Any,
    x1: Any,
    y1: Any,
    *,
    dash: str = "solid",
    width: float = 1,
    colour: str = GREY,
    **more: Any,
) -> dict[str, Any]:
    """Return a line as a shape of a figure, drawn below its marks."""
    style = {"color": colour, "width": width, "dash": dash}
    return {
        "type": "line",
        "x0": x0,
        "y0": y0,
        "x1": x1,
        "y1": y1,
        "line": style,
        "layer": "below",
    } | more


def dots(
    x: Sequence[Any], y: Sequence[Any], words: Sequence[str], ids: Sequence[Any], marker: Any
) -> go.Scatter:
    """Return marks with their words on hovering and the `ids` that a click chooses."""
    return go.Scatter(
        mode="markers",
        x=x,
        y=y,
        marker=marker,
        showlegend=False,
        cliponaxis=False,
        hoverinfo="text",
        hovertext=words,
        customdata=[[one] for one in ids],
    )


def path(x: Sequence[Any], y: Sequence[Any], line: dict[str, Any], **more: Any) -> go.Scatter:
    """Return a line through points, with nothing on hovering and none in the legend."""
    return go.Scatter(mode="lines", x=x, y=y, line=line, hoverinfo="skip", showlegend=False, **more)


def looks(models: Iterable[str | None]) -> dict[str | None, ModelLook]:
    """Return a look for each model, the most important first.

    Pass all models of a store, so that a model looks the same everywhere.
    """
    named = [model for model in dict.fromkeys(models) if model is not None]
    own = len(named) if len(named) <= len(PALETTE) else TOP
    return {None: _NOBODY} | {
        model: ModelLook(PALETTE[place], "", place) if place < own else OTHER_LOOK
        for place, model in enumerate(named)
    }


def in_legend(rows: Iterable[Row], models: Looks) -> list[tuple[str, ModelLook, list[Row]]]:
    """Return rows by model as legend entries (label, look, rows), in one order for all charts."""
    entries: dict[ModelLook, tuple[str, list[Row]]] = {}
    groups: dict[str | None, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["model"], []).append(row)
    for model, mine in groups.items():
        look = models.get(model, OTHER_LOOK)
        entries.setdefault(look, ("other" if look.is_other else model_name(model), []))[1].extend(
            mine
        )
    return [
        (label, look, mine)
        for look, (label, mine) in sorted(entries.items(), key=lambda entry: entry[0].place)
    ]


def model_name(model: Any) -> str:
    """Return a model's or group's name for a legend."""
    text = UNKNOWN_NAME if model is None else str(model)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def tick_name(text: str | None) -> str:
    """Return the name of a chart's row, in two lines if it is long, because phones are narrow."""
    whole = model_name(text)
    if len(whole) <= LONGEST_LINE:
        return safe(whole)
    found = re.match(r".*[-/_@ ·]", whole[:LONGEST_LINE])
    end = found.end() if found else LONGEST_LINE
    return f"{safe(whole[:end].rstrip())}<br>{safe(whole[end:])}"


def safe(text: str) -> str:
    """Escape a text from logs for a figure: Plotly renders tags and links."""
    return html.escape(one_line(text), quote=False)


def hover(title: str, figures: Mapping[str, tuple[Any, Unit]]) -> str:
    """Return hover text: a title, then each labelled figure, exact and formatted for people."""
    lines = [f"{safe(label)}: {exact(value, unit)}" for label, (value, unit) in figures.items()]
    return "<br>".join([f"<b>{safe(title)}</b>", *lines])


def figures_of(row: Row, of: Columns, *keys: str) -> dict[str, tuple[Any, Unit]]:
    """Return figures of a row (columns of the catalogue) for `hover`."""
    return {of[key].label: (row[key], of[key].unit) for key in keys}


def linear_axis(entry: Entry) -> dict[str, Any]:
    """Return Plotly's layout of the axis for a column of money, tokens or counts."""
    form = FORMS[entry.unit]
    return {
        "title": {"text": entry.label + form.axis},
        "type": "linear",
        "automargin": True,
        "rangemode": "tozero",
        **form.ticks,
    }


_TIMES: tuple[tuple[float, str], ...] = (
    (1, "1ms"),
    (10, "10ms"),
    (100, "0.1s"),
    (1_000, "1s"),
    (10_000, "10s"),
    (60_000, "1m"),
    (600_000, "10m"),
    (3_600_000, "1h"),
    (36_000_000, "10h"),
    (360_000_000, "100h"),
)
_FEW_TIMES: tuple[tuple[float, str], ...] = (
    (1_000, "1s"),
    (2_000, "2s"),
    (5_000, "5s"),
    (10_000, "10s"),
    (20_000, "20s"),
    (30_000, "30s"),
    (60_000, "1m"),
    (120_000, "2m"),
    (300_000, "5m"),
    (600_000, "10m"),
    (1_200_000, "20m"),
    (1_800_000, "30m"),
    (3_600_000, "1h"),
    (7_200_000, "2h"),
    (18_000_000, "5h"),
    (36_000_000, "10h"),
)


def log_axis(
    values: Sequence[float],
    unit: Unit,
    page: str | None = None,
    *,
    narrow: bool = False,
    title: str = "",
) -> dict[str, Any]:
    """Return Plotly's layout of a logarithmic axis for positive values, with ticks at 1-2-5 words.

    `10¢`, `$1`, `10m`, `2×`.

    `narrow`: ticks have room for five words only.
    """
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive), max(positive)
    pad = max(math.log10(high / low) * 0.05, 0.06)
    first, last = math.log10(low) - pad, math.log10(high) + pad
    span = last - first
    if unit is Unit.MILLISECONDS:
        ticks = list(_TIMES if span > 1.6 else _FEW_TIMES)
    else:
        factors = (1,) if span > 2.5 else (1, 2, 5)
        places = [
            factor * 10**power
            for power in range(math.floor(first), math.ceil(last) + 1)
            for factor in factors
        ]
        places += [0.7, 1.5, 3.0] if unit is Unit.RATIO and span < 0.7 else []
        ticks = [(place, FORMS[unit].tick(place)) for place in places]
    shown = [(at, name) for at, name in sorted(ticks) if first <= math.log10(at) <= last]
    most = 5 if narrow else 9
    shown = shown[:: -(-len(shown) // most)] if len(shown) > most else shown
    return {
        "type": "log",
        "range": [first, last],
        "tickvals": [at for at, _ in shown],
        "ticktext": [name for _, name in shown],
        "showgrid": True,
        "zeroline": False,
        "fixedrange": True,
        "gridcolor": grid(page),
        "automargin": True,
    } | ({"title": {"text": title}} if title else {})


def row_axis(names: Sequence[str], edge: float = 0.6, **more: Any) -> dict[str, Any]:
    """Return Plotly's layout of an axis of rows, the first name on top."""
    return {
        "range": [-edge, len(names) - 1 + edge],
        "tickvals": list(range(len(names))),
        "ticktext": list(names)[::-1],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "fixedrange": True,
        "tickfont": {"size": 12},
    } | more


def filled(groups: Sequence[str | None]) -> list[str | None]:
    """Return hours, days, weeks or months with gaps filled; a group without a period stays last."""
    named = [group for group in groups if group is not None]
    found = _all_periods(named)
    return [*found, *([None] if None in groups else [])] if found else list(groups)


def is_sparse(groups: Sequence[str]) -> bool:
    """Return whether gaps between these periods stay unfilled, because there are too many."""
    return _walk_of(groups) is not None and not _all_periods(groups)


def _all_periods(named: Sequence[str]) -> list[str]:
    """Return all periods from the first to the last.

    None if the groups are not periods, or far too many.
    """
    found: list[str] = []
    if walk := _walk_of(named):
        for period in walk(named[0]):
            found.append(period)
            if period >= named[-1]:
                return found
            if len(found) > MOST_PLACES:
                break
    return []


def _walk_of(named: Sequence[str]) -> Callable[[str], Iterator[str]] | None:
    return next(
        (
            walk
            for pattern, walk in _WALKS.items()
            if named and all(re.fullmatch(pattern, name) for name in named)
        ),
        None,
    )


def _hours(first: str) -> Iterator[str]:
    at = datetime.fromisoformat(first)
    while True:
        yield at.strftime("%Y-%m-%d %H:00")
        at += timedelta(hours=1)


def _days(first: str) -> Iterator[str]:
    at = date.fromisoformat(first)
    while True:
        yield at.isoformat()
        at += timedelta(days=1)


def _weeks(first: str) -> Iterator[str]:
    at = date.fromisoformat(f"{first}-1")
    while True:
        yield at.strftime("%G-W%V")
        at += timedelta(days=7)


def _months(first: str) -> Iterator[str]:
    year, month = map(int, first.split("-"))
    while True:
        yield f"{year:04d}-{month:02d}"
        year, month = year + month // 12, month % 12 + 1


_WALKS = {
    r"\d{4}-\d{2}-\d{2} \d{2}:00": _hours,
    r"\d{4}-\d{2}-\d{2}": _days,
    r"\d{4}-W\d{2}": _weeks,
    r"\d{4}-\d{2}": _months,
}


def labels(names: Sequence[str], most: int = MOST_LABELS) -> dict[str, Any]:
    """Return the axis of bars.

    A tick at each one, or at every nth counted from the last, so that the last has a label.
    """
    step = -(-len(names) // most) or 1
    places = list(range(len(names) - 1, -1, -step))[::-1]
    return {
        "tickvals": places,
        "ticktext": [names[place] for place in places],
        "tickangle": -45 if len(names) > most // 2 else 0,
        "title": {"text": ""},
        "automargin": True,
        "ticklabelstandoff": 6,
        "range": [-0.6, len(names) - 0.4],
    }


def band(page: str | None) -> dict[str, Any]:
    """Return the shape of the ±5% in which measured ratios count as the same."""
    return {
        "type": "rect",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": 1 / (1 + BAND),
        "y1": 1 + BAND,
        "line": {"width": 0},
        "layer": "below",
        "fillcolor": "#28333A" if page == "dark" else "#E7E4DA",
    }
