"""Runs by agent along an axis, as several screens show them: what they cost, and how long they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.charts import agents as charts
from app.queries import agents as queries
from app.queries.agents import AgentFigures
from app.queries.filters import Filters
from app.screens import cache
from app.screens.parts import widgets
from app.text.sentences import overview as sentences
from schemas.catalogue.cost_measures import CostMeasure
from schemas.units import Unit

MOST_ROWS = 10
"""Rows of a chart; the table has all."""


def points(total: AgentFigures, filters: Filters, measure: CostMeasure) -> list[dict[str, Any]]:
    """The runs where they are few enough to draw one by one, else none."""
    is_few = total.runs <= charts.MOST_POINTS
    found: list[dict[str, Any]] = cache.ask(queries.points, filters, charts.MOST_POINTS, measure).to_pylist() if is_few else []
    return found


def cost(rows: Sequence[AgentFigures], filters: Filters, measure: CostMeasure, *, height: int = 0) -> None:
    """Cost per run by agent and model."""
    drawn = charts.cost_strips(
        charts.leaves(rows)[:MOST_ROWS], points(rows[0], filters, measure), _boxes(rows[0], filters, measure.column, "is_started")
    )
    about = f"{measure.label} per run, log scale; bar: median.{' ◁ an upper bound' if rows[0].bounded else ''}"
    widgets.titled(sentences.cost_title(rows), about, charts.strips(drawn, Unit.USD, st.context.theme.type), "agents-cost", height=height)


def time(rows: Sequence[AgentFigures], filters: Filters, measure: CostMeasure, *, height: int = 0, title: str = "") -> None:
    """Wall time per run by agent and model."""
    drawn = charts.time_strips(
        charts.leaves(rows)[:MOST_ROWS], points(rows[0], filters, measure), _boxes(rows[0], filters, "duration_ms", "is_completed")
    )
    about = "Wall time per run, log scale; filled: completed; bar: their median"
    drawing = charts.strips(drawn, Unit.MILLISECONDS, st.context.theme.type)
    widgets.titled(title or sentences.time_title(rows), about, drawing, "agents-time", height=height)


def _boxes(total: AgentFigures, filters: Filters, column: str, which: str) -> Mapping[Any, Sequence[float]]:
    """Quantiles by row where runs are too many to draw one by one."""
    if total.runs <= charts.MOST_POINTS:
        return {}
    found = cache.ask(queries.quantiles, filters, column, which).to_pylist()
    return {(row["agent"], row["model"], row["is_model"]): row["quantiles"] for row in found}
