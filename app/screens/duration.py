"""How long runs take: the distribution of each time, who is slow, and which runs are far from what is usual."""

import streamlit as st

from app.charts import distributions, looks
from app.queries import runs as run_queries
from app.queries.comparisons import distributions as distribution_queries
from app.queries.filters.registry import FILTERS
from app.queries.grouping import group
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import grid_columns
from app.text.presentation import cards, plain
from schemas.catalogue.columns import MEASURES, TIMES

FIGURES = ("duration_median_ms", "duration_ms", "duration_api_ms", "parallelism")
GROUPS = ("model", "outcome", "repo", "task", "experiment", "agent", "agent-version")
FAR, MOST = 5.0, 50

st.title("Duration", anchor=False)
filters, options = filter_bar.chosen(), cache.options()
row = cache.ask(run_queries.summary, filters, (), ("runs", *FIGURES)).to_pylist()[0]
widgets.card_grid(cards(row, FIGURES))
measure = MEASURES[widgets.choice("Metric", {key: MEASURES[key].label for key in TIMES}, "time")]

on = cache.ask(distribution_queries.scale, filters, measure)
[whole] = cache.ask(distribution_queries.quantiles, filters, measure).to_pylist() or [None]
tables = [cache.ask(distribution_queries.bins, filters, measure, on)] if on else []
with st.container(border=True):
    marks = {"median": whole["p50"], "p90": whole["p90"]} if whole else {}
    drawn = distributions.histogram(measure, on, distributions.outlines(tables, ["Runs"]), marks, st.context.theme.type)
    counted = sum(sum(table["runs"].to_pylist()) for table in tables)
    widgets.drawing(
        distributions.spread_finding(measure, whole),
        f"Runs by {measure.label[0].lower()}{measure.label[1:]}. {measure.meaning}",
        drawn,
        "histogram",
        distributions.known_note(measure, whole, on, counted),
    )
with st.container(border=True):
    by = widgets.choice("Group by", {word: group(word).label for word in GROUPS if word not in FILTERS or word in options}, "per")
    widgets.groups(measure, by, filters, looks(cache.models()))
far = cache.ask(distribution_queries.outliers, filters, measure, FAR, MOST)
if far.num_rows:
    st.header(f"Slow outliers (≥{FAR:g}× model median)", anchor=False)
    widgets.run_table(
        grid_columns.outlier_grid(far, measure),
        far,
        "outliers",
        f"Runs whose {plain(measure.label.lower())} is at least {FAR:g} times the median of their model",
    )
