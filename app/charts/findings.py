"""Chart of findings: how often each rule found something. Rows as of `queries.claims.findings_by_rule`."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import count_axis
from app.charts.base import figure, figures_of, hover, inked, tick_name
from app.charts.palette import SEVERITIES
from schemas.catalogue.columns import RULES
from schemas.text import plural

ROW = 30
COUNTED = ("error", "warning")
"""The severities that the title counts; information is no reason to look."""


def rules(table: pa.Table, page: str | None) -> go.Figure:
    """A bar per rule, in the colour of its severity, most severe on top."""
    rows = list(reversed(table.to_pylist()))
    names = [row["rule"] for row in rows]
    traces = [
        _severity(severity, [(place, row) for place, row in enumerate(rows) if row["severity"] == severity]) for severity in SEVERITIES
    ]
    places = {"tickvals": list(range(len(rows))), "ticktext": [tick_name(name) for name in names], "automargin": True, "showgrid": False}
    x = count_axis("Runs", max((row["runs"] for row in rows), default=0))
    drawn = figure([trace for trace in traces if trace.x], xaxis=x, yaxis=places | {"title": {"text": ""}}, bargap=0.35)
    return inked(drawn.update_layout(height=130 + ROW * max(len(rows), 3)), page)


def _severity(severity: str, rows: list[tuple[int, dict[str, Any]]]) -> go.Bar:
    return go.Bar(
        x=[row["runs"] for _, row in rows],
        y=[place for place, _ in rows],
        orientation="h",
        name=severity,
        marker={"color": SEVERITIES[severity]},
        hovertext=[_hover(row) for _, row in rows],
        hoverinfo="text",
        showlegend=True,
    )


def _hover(row: dict[str, Any]) -> str:
    return hover(row["rule"], figures_of(row, RULES, "runs", "findings", "cost_usd"))


def finding(table: pa.Table, touched: int, examined: int) -> str:
    """The title: how many errors and warnings there are, in how many runs of those examined."""
    if not table.num_rows:
        return "No findings"
    rows = table.to_pylist()
    said = ", ".join(plural(sum(row["findings"] for row in rows if row["severity"] == severity), severity) for severity in COUNTED)
    return f"{said} in {plural(touched, 'run')} (of {examined:,} examined)"
