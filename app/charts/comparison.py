"""Chart of a group against a baseline.

A row per metric, a dot per task, on one logarithmic axis with `equal` in its middle.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from app.charts.base import INKS, colour, figure, ink, line, log_axis, row_axis, safe, symbol
from app.queries.comparison import Comparison
from app.queries.ratios import FEWEST, Ratio
from app.text.compare import Name, ratio_words, times
from schemas.catalogue.columns import METRICS_COMPARED
from schemas.text import plural
from schemas.units import Unit

ROW, FRAME = 80, 60

MOST_DOTS = 1_500
"""Tasks drawn in a row; with more, every k-th by rank."""

LARGEST = 1e9

MOST_DECADES = 2
"""Decades on either side up to which the axis has ticks at 1, 2 and 5."""

COLUMNS, STEP, HALF = 150, 0.065, 0.4
"""Dots side by side along the axis, the distance of two above one another, and the height of a row
above its middle.
"""

_MARKS = {"": "", "≤": "triangle-left-open", "≥": "triangle-right-open", "?": "circle-open"}


def drawn_rows(comparison: Comparison) -> dict[str, Ratio]:
    """Return the metrics whose ratios of FEWEST tasks or more the chart shows, top first."""
    return {
        key: one
        for key, one in comparison.ratios[0].items()
        if key in comparison.metrics and len(one.tasks or ()) >= FEWEST
    }


def ratios(
    comparison: Comparison, called: Sequence[Name], page: str | None, *, is_narrow: bool = False
) -> go.Figure:
    """Return the first group's ratios to the baseline, a row per metric."""
    rows, name = drawn_rows(comparison), called[1]
    reach = max(
        [
            abs(math.log10(span.value))
            for one in rows.values()
            for span in (one.tasks or {}).values()
            if 1 / LARGEST < span.value < LARGEST
        ],
        default=0.0,
    )
    axis = log_axis([10**-reach, 1, 10**reach], Unit.RATIO, page)
    if reach < MOST_DECADES and not is_narrow:
        axis["tickvals"] = [
            float(f"{step}e{power}")
            for power in range(-MOST_DECADES, MOST_DECADES)
            for step in (1, 2, 5)
            if abs(math.log10(float(f"{step}e{power}"))) <= reach + 0.05
        ]
    axis["ticktext"] = ["equal" if at == 1 else f"{at:,g}×" for at in axis["tickvals"]]
    traces, shapes = list[Any](), [line(1, -0.5, 1, len(rows) - 0.5, dash="dash", width=1.2)]
    muted = {"showarrow": False, "font": {"size": 12.5}, "yanchor": "bottom"}
    sides = ((-1, "right", f"{name.label} less ←"), (1, "left", f"→ {name.label} more"))
    notes: list[dict[str, Any]] = [
        muted
        | {
            "x": 0,
            "xshift": 12 * side,
            "xanchor": anchor,
            "y": len(rows) - 0.5,
            "text": safe(words),
        }
        for side, anchor, words in sides
    ]
    for place, one in enumerate(rows.values()):
        at = len(rows) - 1 - place
        traces += _dots(one, at, name.agent, reach, page)
        shapes += _cross(one, at, ink(page))
        words, ends = ratio_words(one)
        tasks = plural(len(one.tasks or ()), "task")
        text = f"<b>{words}</b>  {ends.strip('()')}<br>"
        text += f"<span style='color:{INKS[page or 'light']}'>{tasks}</span>"
        notes.append(
            {
                "xref": "paper",
                "x": 1,
                "xanchor": "left",
                "xshift": 10,
                "y": at,
                "align": "left",
                "showarrow": False,
                "font": {"size": 13, "color": ink(page)},
                "text": text,
            }
        )
    labels = [f"<b>{METRICS_COMPARED[metric].label}</b>" for metric in rows]
    return figure(
        traces,
        page,
        shapes=shapes,
        annotations=notes,
        height=FRAME + ROW * len(rows),
        margin={"l": 4, "r": 128, "t": 20, "b": 4},
        xaxis=axis,
        yaxis=row_axis(labels, 0.5),
    )


def _dots(
    ratio: Ratio, at: int, agent: str | None, reach: float, page: str | None
) -> list[go.Scatter]:
    """Return the tasks of a row, stacked where they are dense; hollow if bounds leave them open."""
    placed = sorted(
        (span.value, task, span.sign)
        for task, span in (ratio.tasks or {}).items()
        if 1 / LARGEST < span.value < LARGEST
    )
    every = placed[:: -(-len(placed) // MOST_DOTS) or 1]
    columns = [round(math.log10(value) / (2 * reach or 1) * COLUMNS) for value, _, _ in every]
    tallest = max(Counter(columns).values(), default=1)
    step, seen = min(STEP, 2 * HALF / tallest), Counter[int]()
    marks = dict[str, list[tuple[float, float, str]]]()
    for (value, task, sign), column in zip(every, columns, strict=True):
        seen[column] += 1
        rank = seen[column] // 2 * (1 if seen[column] % 2 else -1)
        marks.setdefault(sign, []).append((value, at + step * rank, task))
    return [
        go.Scatter(
            mode="markers",
            x=[value for value, _, _ in dots],
            y=[height for _, height, _ in dots],
            showlegend=False,
            hoverinfo="text",
            marker={
                "symbol": _MARKS[bound] or symbol(agent),
                "color": colour(agent, page),
                "size": 7,
                "opacity": 0.7 if page == "dark" else 0.5,
                "line": {"width": 1 if bound else 0},
            },
            hovertext=[
                f"{safe(task)}<br>{times(value, bound) if bound != '?' else 'unknown'}"
                for value, _, task in dots
            ],
        )
        for bound, dots in marks.items()
    ]


def _cross(ratio: Ratio, at: int, colour: str) -> list[dict[str, Any]]:
    """Return the median and its interval; a bound has no interval, and its bar is dotted."""
    if not 1 / LARGEST < ratio.value < LARGEST:
        return []
    style: dict[str, Any] = {"colour": colour, "width": 2.5, "layer": "above"}
    dash = "dot" if ratio.sign else "solid"
    bar = line(ratio.value, at - 0.33, ratio.value, at + 0.33, dash=dash, **style)
    has_interval = not ratio.sign and ratio.low and ratio.high
    return [bar, line(ratio.low, at, ratio.high, at, **style)] if has_interval else [bar]
