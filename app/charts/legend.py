"""One legend for all charts of a screen: the models in their colours and marks, in the order of every legend."""

from __future__ import annotations

import html
from collections.abc import Iterable

import plotly.graph_objects as go

from app.charts.base import LEGEND_ROW
from app.charts.palette import Look, Looks, in_legend
from schemas.text import visible

_SIGNS = {
    "circle": "●", "diamond": "◆", "square": "■", "triangle-up": "▲", "cross": "✚", "pentagon": "⬟", "star": "★", "x": "✖",
    "circle-open": "○",
}  # fmt: skip
"""The marks of points as characters."""

_STYLE = "display:flex;flex-wrap:wrap;gap:0.25rem 1.1rem;font-size:0.875rem;margin:0;padding:0;list-style:none"


def legend_html(models: Iterable[str | None], looks: Looks) -> str:
    """The models as a list, each behind its mark; empty for fewer than two entries."""
    entries: list[tuple[str, Look, list[str]]] = in_legend({model: [] for model in dict.fromkeys(models)}, looks)
    if len(entries) < 2:
        return ""
    items = [f'<li style="margin:0">{_mark(look)} {html.escape(visible(label))}</li>' for label, look, _ in entries]
    return f'<ul aria-label="Models" style="{_STYLE}">{"".join(items)}</ul>'


def _mark(look: Look) -> str:
    return f'<span aria-hidden="true" style="color:{look.colour}">{_SIGNS[look.symbol]}</span>'


def without_legend(drawn: go.Figure) -> go.Figure:
    """A figure whose models the legend of the screen names, without the room for one."""
    named = sum(bool(trace.showlegend) for trace in drawn.data)
    return drawn.update_layout(showlegend=False, height=drawn.layout.height - LEGEND_ROW * (named // 2))
