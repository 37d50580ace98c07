"""Charts of groups against a baseline.

One per metric, a row per group, a dot per task on a logarithmic axis of ratios.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from app.charts.base import GREY, PAPER, colour, figure, ink, line, log_axis, row_axis, safe, symbol
from app.queries.comparison import Comparison
from app.queries.ratios import Ratio
from app.text.compare import Name, lacks, ratio_words, times
from schemas.units import Unit

ROW, MOST = 76, 400

MOST_DOTS = 1_500
"""Tasks drawn in a row; with more, every k-th by rank."""

LARGEST = 1e9

_MARKS = {"": "", "≤": "triangle-left-open", "≥": "triangle-right-open", "?": "circle-open"}


def ratios(
    comparison: Comparison,
    metric: str,
    called: Sequence[Name],
    page: str | None,
    *,
    with_names: bool = True,
) -> go.Figure:
    """Return each group's ratios of a metric.

    `with_names`: names are at the left, else above each row at its right.
    """
    rows = [one[metric] for one in comparison.ratios]
    traces, shapes, notes, values = (
        list[Any](),
        list[dict[str, Any]](),
        list[dict[str, Any]](),
        [0.8, 1.25],
    )
    for place, ratio in enumerate(rows):
        at, name = len(rows) - 1 - place, called[place + 1]
        why = lacks(comparison, place, metric, called)
        label = {
            "xref": "paper",
            "showarrow": False,
            "font": {"size": 12.5, "color": ink(page)},
            "borderpad": 1,
            "bgcolor": PAPER[page == "dark"],
        }
        if not with_names:
            words = safe(" ".join(filter(None, (name.label, name.detail))))
            notes.append(
                label
                | {
                    "x": 1,
                    "xanchor": "right",
                    "y": at + 0.36,
                    "text": words,
                    "font": {"size": 11, "color": GREY},
                }
            )
        if why:
            notes.append(
                label
                | {
                    "x": 0.5,
                    "y": at - 0.08,
                    "text": safe(why),
                    "font": {"size": 12.5, "color": GREY},
                }
            )
            continue
        words, more = ratio_words(ratio)
        notes.append(
            label
            | {"x": 0, "xanchor": "left", "y": at + 0.36, "text": f"<b>{words}</b>  {safe(more)}"}
        )
        dots = _dots(ratio, at, name.agent, 0.7 if page == "dark" else 0.5)
        traces += dots
        shapes += _cross(ratio, at, ink(page))
        values += [value for dot in dots for value in dot.x]
        values += [
            value for value in (ratio.value, ratio.low, ratio.high) if value and value < LARGEST
        ]
    names = [
        f"<b>{safe(name.label)}</b><br>{safe(name.detail)}"
        if name.detail
        else f"<b>{safe(name.label)}</b>"
        for name in called[1:]
    ]
    return figure(
        traces or [go.Scatter(x=[None], y=[None], showlegend=False)],
        page,
        shapes=[line(1, -0.55, 1, len(rows) - 0.45, dash="dash", width=1.2), *shapes],
        annotations=notes,
        height=min(MOST, 36 + ROW * len(rows)),
        margin={"l": 4, "r": 4, "t": 2, "b": 4},
        xaxis=log_axis(values, Unit.RATIO, page, narrow=True),
        yaxis=row_axis(names, 0.55, showticklabels=with_names),
    )


def _dots(ratio: Ratio, at: int, agent: str | None, opacity: float) -> list[go.Scatter]:
    """Return the tasks of a row, spread within it; hollow if bounds leave the ratio open."""
    placed = sorted(
        (span.value, task, span.sign)
        for task, span in (ratio.tasks or {}).items()
        if 0 < span.value < LARGEST
    )
    step = -(-len(placed) // MOST_DOTS) or 1
    found = []
    for bound, shape in _MARKS.items():
        dots = [
            (value, task, rank)
            for rank, (value, task, sign) in enumerate(placed[::step])
            if sign == bound
        ]
        if dots:
            found.append(
                go.Scatter(
                    mode="markers",
                    x=[value for value, _, _ in dots],
                    showlegend=False,
                    hoverinfo="text",
                    y=[at - 0.08 + ((rank * 0.618034) % 1 - 0.5) * 0.46 for _, _, rank in dots],
                    marker={
                        "symbol": shape or symbol(agent),
                        "color": colour(agent),
                        "size": 6.5,
                        "opacity": opacity,
                    },
                    hovertext=[
                        f"{safe(task)}<br>{times(value, bound) if bound != '?' else 'unknown'}"
                        for value, task, _ in dots
                    ],
                )
            )
    return found


def _cross(ratio: Ratio, at: int, colour: str) -> list[dict[str, Any]]:
    """Return the median and its interval; a bound has no interval, and its bar is dotted."""
    if not 0 < ratio.value < LARGEST or (not ratio.sign and min(ratio.n) < 5):
        return []
    style: dict[str, Any] = {"colour": colour, "width": 2, "layer": "above"}
    bar = line(
        ratio.value,
        at - 0.28,
        ratio.value,
        at + 0.12,
        dash="dot" if ratio.sign else "solid",
        **style,
    )
    has_interval = not ratio.sign and ratio.low and ratio.high
    return (
        [bar, line(ratio.low, at - 0.08, ratio.high, at - 0.08, **style)] if has_interval else [bar]
    )
