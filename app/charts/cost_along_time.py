"""Chart of cumulative cost by date or order, an area per main model. Rows as of `queries_cost.spending`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import axis_layout
from app.charts.base import figure, hover, inked, nothing, run_line, safe
from app.charts.cost import COSTS, Key, key_of, look_of, model_name
from app.charts.palette import PLAIN, Looks
from app.queries.cost import TIME
from app.text.formatting import exact
from schemas.catalogue.cost_measures import REPORTED, CostMeasure
from schemas.unit_names import Unit

TITLES = {TIME: "Date (UTC)"}
FEW = 20
"""The most runs that have a tick each."""

ORDER = "Runs, in ingestion order"


@dataclass(frozen=True)
class Step:
    """One place on the axis: the cost of its runs by main model, and the total up to it."""

    x: datetime | int
    parts: Mapping[Key, Decimal]
    runs: int
    run: Mapping[str, Any] | None
    so_far: Decimal


def steps(table: pa.Table, looks: Looks) -> list[Step]:
    """The places on the axis, in order; `run` is set for a place with a single run."""
    places: dict[Any, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        places.setdefault(row["x"], []).append(row)
    found, so_far = [], Decimal(0)
    for x, rows in places.items():
        parts: dict[Key, Decimal] = {}
        for row in rows:
            key = key_of(row["model"], looks, is_other=row["is_other"])
            parts[key] = parts.get(key, Decimal(0)) + row["cost_usd"]
        so_far += sum(parts.values(), Decimal(0))
        runs = sum(row["runs"] for row in rows)
        found.append(Step(x, parts, runs, rows[0] if runs == 1 else None, so_far))
    return found


def spending(table: pa.Table, axis: str, looks: Looks, page: str | None, measure: CostMeasure = REPORTED) -> go.Figure:
    """Stacked areas in the order of legends. The line above them has the totals as hover text, its points are single runs."""
    found = steps(table, looks)
    if not found:
        return nothing(f"No run has both a {measure.name} and a date.")
    sums: dict[Key, Decimal] = {}
    for step in found:
        for key, cost in step.parts.items():
            sums[key] = sums.get(key, Decimal(0)) + cost
    traces = [_area(key, found, looks) for key in sorted(sums, key=lambda key: look_of(key, looks).place)]
    x = {"title": {"text": TITLES.get(axis, ORDER)}, "showgrid": False, "automargin": True}
    x |= _order_ticks(found) if axis != TIME else {}
    y = axis_layout(COSTS[measure.key], [], logarithmic=False)
    return inked(figure([*traces, _edge(found), _runs(found)], xaxis=x, yaxis=y), page)


def _order_ticks(found: Sequence[Step]) -> dict[str, Any]:
    """A tick for each of a few runs; none at the end of the last area, which is drawn one place further."""
    return {"tickformat": ",d"} | ({"tickvals": [step.x for step in found]} if len(found) <= FEW else {})


def _area(key: Key, found: Sequence[Step], looks: Looks) -> go.Scatter:
    so_far, heights = Decimal(0), []
    for step in found:
        so_far += step.parts.get(key, Decimal(0))
        heights.append(float(so_far))
    look = look_of(key, looks)
    return go.Scatter(
        x=_places(found),
        y=[*heights, heights[-1]],
        stackgroup="cost",
        mode="lines",
        line={"shape": "hv", "width": 0, "color": look.colour},
        fillcolor=look.colour,
        fillpattern={"shape": look.pattern, "bgcolor": look.colour, "fgcolor": "#FFFFFF", "size": 6},
        name=safe(model_name(key)),
        hoverinfo="skip",
        showlegend=True,
    )


def _places(found: Sequence[Step]) -> list[Any]:
    """The places of the steps, and one behind the last, so that its area is visible."""
    first: Any = found[0].x
    last: Any = found[-1].x
    return [*(step.x for step in found), last + max((last - first) / 50, timedelta(minutes=1) if isinstance(last, datetime) else 1)]


def _edge(found: Sequence[Step]) -> go.Scatter:
    return go.Scatter(
        x=_places(found),
        y=[float(step.so_far) for step in [*found, found[-1]]],
        mode="lines",
        line={"shape": "hv", "width": 1.5, "color": PLAIN},
        text=[_hover(step) for step in [*found, found[-1]]],
        hoverinfo="text",
        showlegend=False,
    )


def _runs(found: Sequence[Step]) -> go.Scatter:
    """A point per step that is a single run, to click on."""
    single = [step for step in found if step.run]
    return go.Scatter(
        x=[step.x for step in single],
        y=[float(step.so_far) for step in single],
        mode="markers",
        marker={"size": 5, "color": PLAIN},
        text=[_hover(step) for step in single],
        hoverinfo="text",
        customdata=[step.run["run_id"] for step in single if step.run] or None,
        showlegend=False,
    )


def _hover(step: Step) -> str:
    place = f"{step.x:%Y-%m-%d %H:%M}" if isinstance(step.x, datetime) else f"{step.x:,} runs"
    text = hover(f"Up to {place}", {"Cumulative": (step.so_far, Unit.USD)})
    added = "".join(f"<br>{safe(model_name(key))}: +{exact(cost, Unit.USD)}" for key, cost in step.parts.items())
    return f"{text}{added}<br>" + (safe(run_line(step.run)) if step.run else f"Runs: {step.runs:,}")
