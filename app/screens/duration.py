"""How long runs take: the distribution of each time, who is slow, and which runs are far from what is usual."""

import streamlit as st

from app import data, grids
from app.charts import distributions, looks
from app.filters import FILTERS
from app.grouping import group
from app.presentation import cards, plain
from app.screens import bar, parts
from schemas.measures import MEASURES, TIMES

FIGURES = ("duration_median_ms", "duration_ms", "duration_api_ms", "parallelism")
GROUPS = ("model", "outcome", "repo", "task", "experiment", "agent", "agent-version")

st.title("Duration", anchor=False)
at, filters = data.snapshot(), bar.chosen()
row = data.summary(at, ("runs", *FIGURES), filters).to_pylist()[0]
parts.card_grid(cards(row, FIGURES))

key = parts.choice("Measure", {key: MEASURES[key].label for key in TIMES}, "measure")
measure = MEASURES[key]
on = data.scale(at, key, filters)
[whole] = data.quantiles(at, key, None, filters).to_pylist() or [None]
with st.container(border=True):
    marks = {"median": whole["p50"], "90 %": whole["p90"]} if whole else {}
    tables = [data.bins(at, key, on, filters)] if on else []
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
    known = data.options(at)
    by = parts.choice("Grouped by", {word: group(word).label for word in GROUPS if word not in FILTERS or word in known}, "by")
    quantiles = data.quantiles(at, key, by, filters)
    colours = looks(known.get("model", ())) if by == "model" else None
    parts.drawing(
        distributions.groups_finding(measure, quantiles),
        "Box: the middle half of the runs, with the median; lines: the middle nine tenths. The 20 most frequent groups.",
        distributions.boxes(measure, quantiles, colours, st.context.theme.type),
        "boxes",
    )
far = data.outliers(at, key, filters)
if far.num_rows:
    st.subheader(f"Runs at {data.FAR_TIMES:g} times the median of their model or more", anchor=False)
    parts.run_table(grids.outlier_grid(far, measure), far, "outliers", f"Runs whose {plain(measure.label.lower())} is far from the usual")
