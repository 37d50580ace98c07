"""Charts inside a self-contained HTML file: figures as JSON, and Plotly's script, which draws them without a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import plotly.graph_objects as go
import pyarrow as pa
from plotly.offline import get_plotlyjs

from app.charts.base import INKS
from app.charts.spending import bars_note, cost_bars
from app.queries.grouping import group
from schemas.catalogue.cost_measures import REPORTED, CostMeasure
from schemas.text import in_json, one_line

MODEL_KEYS = ("model", "provider", "region")


@dataclass(frozen=True)
class Embedded:
    """A chart of a page: `figure` is JSON, escaped for a script element; `alt` is the text alternative; `height` is in pixels."""

    figure: str
    alt: str
    note: str
    height: int


def plotly_script() -> str:
    """The whole of Plotly for browsers, 4.8 MB."""
    return str(get_plotlyjs())


def report_charts(groups: pa.Table, by: tuple[str, ...], models: pa.Table, measure: CostMeasure = REPORTED) -> Mapping[str, Embedded]:
    """The charts of a report by the key of their section; a chart of fewer than two bars says no more than its table."""
    in_order = bool(by) and group(by[0]).in_order
    # models have a reported cost and one at list prices, and no best-known one
    of_models = measure if measure.total in models.column_names else REPORTED
    found = {
        "groups": _bars(groups, by, "per group", measure, in_order=in_order) if by else None,
        "models": _bars(_model_names(models), ("model",), "per model", of_models),
    }
    return {key: chart for key, chart in found.items() if chart}


def _bars(table: pa.Table, keys: tuple[str, ...], per: str, measure: CostMeasure, *, in_order: bool = False) -> Embedded | None:
    if table.num_rows < 2 or measure.total not in table.column_names:
        return None
    drawn, note = cost_bars(table, keys, in_order=in_order, measure=measure), bars_note(table, in_order=in_order, measure=measure)
    return _embedded(drawn, f"{measure.label} {per}, one bar each.", note) if drawn else None


def _model_names(table: pa.Table) -> pa.Table:
    """The table with models named with provider and region, where known: most models have no region."""
    named = [" · ".join(row[key] for key in MODEL_KEYS if row[key]) or None for row in table.select(MODEL_KEYS).to_pylist()]
    return table.set_column(0, "model", pa.array(named, pa.string()))


def _embedded(drawn: go.Figure, alt: str, note: str) -> Embedded:
    ink = {"color": INKS["light"]}
    drawn.update_layout(font={"family": "system-ui, sans-serif", "size": 12} | ink)
    text = in_json(str(drawn.to_json())).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return Embedded(text, one_line(alt), one_line(note), int(drawn.layout.height))
