"""How long runs take: the distribution of each time, who is slow, and which runs are far from what is usual."""

import streamlit as st

from app import data, grids, queries, queries_measures
from app.charts import distributions, looks
from app.filters import FILTERS
from app.grouping import group
from app.presentation import cards, plain
from app.screens import bar, parts
from schemas.measures import MEASURES, TIMES

FIGURES = ("duration_median_ms", "duration_ms", "duration_api_ms", "parallelism")
GROUPS = ("model", "outcome", "repo", "task", "experiment", "agent", "agent-version")
FAR, MOST = 5.0, 50

st.title("Duration", anchor=False)
filters, options = bar.chosen(), data.options()
row = data.ask(queries.summary, filters, (), ("runs", *FIGURES)).to_pylist()[0]
parts.card_grid(cards(row, FIGURES))
measure = MEASURES[parts.choice("Measure", {key: MEASURES[key].label for key in TIMES}, "time")]

on = data.ask(queries_measures.scale, filters, measure)
[whole] = data.ask(queries_measures.quantiles, filters, measure).to_pylist() or [None]
tables = [data.ask(queries_measures.bins, filters, measure, on)] if on else []
with st.container(border=True):
    marks = {"median": whole["p50"], "90 %": whole["p90"]} if whole else {}
    drawn = distributions.histogram(measure, on, distributions.outlines(tables, ["Runs"]), marks, st.context.theme.type)
    counted = sum(sum(table["runs"].to_pylist()) for table in tables)
    parts.drawing(
        distributions.spread_finding(measure, whole),
        f"Runs by {measure.label.lower()}. {measure.meaning}",
        drawn,
        "histogram",
        distributions.known_note(measure, whole, on, counted),
    )
with st.container(border=True):
    by = parts.choice("Grouped by", {word: group(word).label for word in GROUPS if word not in FILTERS or word in options}, "per")
    parts.groups(measure, by, filters, looks(options.get("model", ())))
far = data.ask(queries_measures.outliers, filters, measure, FAR, MOST)
if far.num_rows:
    st.header(f"Runs at {FAR:g} times the median of their model or more", anchor=False)
    parts.run_table(grids.outlier_grid(far, measure), far, "outliers", f"Runs whose {plain(measure.label.lower())} is far from the usual")
