"""The session of a run along time: its context, cost and tool calls, its sub-agents, and its responses."""

import pyarrow as pa
import streamlit as st

from app.charts import session as charts
from app.charts.palette import looks
from app.queries import sessions as queries
from app.screens import cache
from app.screens.parts import widgets
from app.text import usage_grids
from app.text.words import sessions as words

POINTS, LISTED, FEW = 2_000, 10_000, 300
"""Points that are drawn, responses that are listed, and those that are listed unasked."""


def show(run_id: str) -> None:
    """The section of a run's page; nothing where its session has no responses."""
    lanes = cache.ask(queries.lanes, run_id)
    if not lanes.num_rows:
        return
    about = words.session_words(lanes)
    with st.expander(f"**Session** {about}", key="session", on_change="rerun") as details:
        if details.open:
            _drawn(run_id, lanes)


def _drawn(run_id: str, lanes: pa.Table) -> None:
    """The charts, and the list of responses."""
    points, page = cache.ask(queries.points, run_id, POINTS), st.context.theme.type
    with st.container(border=True):
        axes = words.axes(points)
        axis = widgets.choice("Along", axes, "session-along") if len(axes) > 1 else next(iter(axes))
        caption, note = words.timeline_caption(points), words.timeline_note(points, axis)
        widgets.titled(
            words.timeline_finding(points), " ".join(filter(None, (caption, note))), charts.timeline(points, axis, page), "session-timeline"
        )
    if lanes.num_rows > 1:
        with st.container(border=True):
            drawn = charts.lanes(points, axis, looks(cache.models()), page)
            widgets.titled(
                words.lanes_finding(lanes), " ".join(filter(None, (words.LANES, words.lanes_note(lanes)))), drawn, "session-lanes"
            )
            widgets.table(
                usage_grids.lane_grid(lanes), "Responses, tokens, cost and tool calls of the main conversation and each sub-agent"
            )
    _responses(run_id, lanes)


def _responses(run_id: str, lanes: pa.Table) -> None:
    """The list of responses, open where there are few."""
    count = sum(lanes["responses"].to_pylist())
    title, is_few = f"Responses · {count:,}", count <= FEW
    with st.expander(title, icon=":material/table:", expanded=is_few, key="session-responses", on_change="rerun") as details:
        if details.open:
            listed = cache.ask(queries.timeline, run_id, LISTED)
            widgets.table(
                usage_grids.response_grid(listed), "Each response with its tokens, cost, tools and whether its output count is final"
            )
            if note := words.responses_note(listed.num_rows, count):
                st.caption(note)
