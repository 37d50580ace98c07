"""Charts of groups beside a baseline: one per metric, a row per group, a dot per task on a logarithmic axis of ratios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from app.charts.agents import GREY, GRID, GRIDS, INK, INKS, colour, symbol
from app.charts.base import figure, inked, safe
from app.charts.log_axes import log_axis
from app.queries.comparison import Comparison
from app.queries.ratios import Ratio
from app.text.words.groups import Name, lacks, ratio_words, times
from schemas.units import Unit

ROW, MOST = 76, 400
"""Heights in pixels: of a row, and of a chart."""

MOST_DOTS = 1_500
"""Tasks of a row that are drawn; of more, every k-th by rank."""

PAPER, PAPERS = "#FBFAF7", {"dark": "#11171A"}
"""The colour of the page, behind words that lie over lines."""

_MARKS = {"": "", "≤": "triangle-left-open", "≥": "triangle-right-open", "?": "circle-open"}


def ratios(comparison: Comparison, metric: str, called: Sequence[Name], page: str | None, *, with_names: bool = True) -> go.Figure:
    """Each group's ratios of a metric. `with_names`: group and model stand at the left, else above each row at its right."""
    rows = [(place, one[metric]) for place, one in enumerate(comparison.ratios)]
    ink, muted, paper = INKS.get(page or "", INK), GREY, PAPERS.get(page or "", PAPER)
    traces, shapes, notes, values = list[Any](), list[dict[str, Any]](), list[dict[str, Any]](), [0.8, 1.25]
    for place, ratio in rows:
        at, name = len(rows) - 1 - place, called[place + 1]
        why = lacks(comparison, place, metric, called)
        label = {"xref": "paper", "showarrow": False, "font": {"size": 12.5, "color": ink}, "bgcolor": paper, "borderpad": 1}
        if not with_names:
            called_here = safe(" ".join(filter(None, (name.label, name.detail))))
            notes.append(label | {"x": 1, "xanchor": "right", "y": at + 0.36, "text": called_here, "font": {"size": 11, "color": muted}})
        if why:
            notes.append(label | {"x": 0.5, "y": at - 0.08, "text": safe(why), "font": {"size": 12.5, "color": muted}})
            continue
        figure_, more = ratio_words(ratio)
        notes.append(label | {"x": 0, "xanchor": "left", "y": at + 0.36, "text": f"<b>{figure_}</b>  {safe(more)}"})
        dots = _dots(ratio, at, name.agent, 0.7 if page == "dark" else 0.5)
        traces += dots
        values += [value for dot in dots for value in dot.x]
        shapes += _cross(ratio, at, ink)
        values += [value for value in (ratio.value, ratio.low, ratio.high) if value and value < 1e9]
    one = {"type": "line", "x0": 1, "x1": 1, "y0": -0.55, "y1": len(rows) - 0.45, "line": {"color": GREY, "width": 1.2, "dash": "dash"}}
    names = [f"<b>{safe(name.label)}</b><br>{safe(name.detail)}" if name.detail else f"<b>{safe(name.label)}</b>" for name in called[1:]]
    drawn = figure(
        traces or [go.Scatter(x=[None], y=[None], showlegend=False)], shapes=[one | {"layer": "below"}, *shapes], annotations=notes,
        height=min(MOST, 36 + ROW * len(rows)), margin={"l": 4, "r": 4, "t": 2, "b": 4},
        xaxis=log_axis(values, Unit.RATIO, narrow=True) | {"gridcolor": GRIDS.get(page or "", GRID), "automargin": True},
        yaxis={
            "range": [-0.55, len(rows) - 0.45], "tickvals": list(range(len(rows))), "ticktext": names[::-1], "showticklabels": with_names,
            "showgrid": False, "zeroline": False, "automargin": True, "fixedrange": True, "tickfont": {"size": 12},
        },
    )  # fmt: skip
    colours = [note["font"]["color"] for note in notes]
    inked(drawn, page)
    for note, chosen in zip(drawn.layout.annotations, colours, strict=True):
        note.font.color = chosen
    return drawn


def _dots(ratio: Ratio, at: int, agent: str | None, opacity: float) -> list[go.Scatter]:
    """The tasks of a row, spread within it; hollow where a bound leaves the ratio open."""
    placed = sorted((span.value, task, span.sign) for task, span in (ratio.tasks or {}).items() if 0 < span.value < 1e9)
    step = -(-len(placed) // MOST_DOTS) or 1
    found = []
    for bound, shape in _MARKS.items():
        dots = [(value, task, rank) for rank, (value, task, sign) in enumerate(placed[::step]) if sign == bound]
        if dots:
            found.append(
                go.Scatter(
                    mode="markers", x=[value for value, _, _ in dots], showlegend=False, hoverinfo="text",
                    y=[at - 0.08 + ((rank * 0.618034) % 1 - 0.5) * 0.46 for _, _, rank in dots],
                    marker={"symbol": shape or symbol(agent), "color": colour(agent), "size": 6.5, "opacity": opacity},
                    hovertext=[f"{safe(task)}<br>{times(value, bound) if bound != '?' else 'unknown'}" for value, task, _ in dots],
                )
            )  # fmt: skip
    return found


def _cross(ratio: Ratio, at: int, ink: str) -> list[dict[str, Any]]:
    """The median and its interval; a bound has no interval, and its bar is dotted."""
    line = {"color": ink, "width": 2}
    if not 0 < ratio.value < 1e9:
        return []
    bar = {"type": "line", "x0": ratio.value, "x1": ratio.value, "y0": at - 0.28, "y1": at + 0.12}
    if ratio.sign:
        return [bar | {"line": line | {"dash": "dot"}}]
    ends = (
        [{"type": "line", "x0": ratio.low, "x1": ratio.high, "y0": at - 0.08, "y1": at - 0.08, "line": line}]
        if ratio.low and ratio.high
        else []
    )
    return [bar | {"line": line}, *ends] if min(ratio.n) >= 5 else []
