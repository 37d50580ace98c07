"""All runs at a glance: what they cost, how long they took, and which model made it so."""

import streamlit as st

from app import data, grids
from app.charts import looks
from app.presentation import cards, plain
from app.screens import bar, parts

FIGURES = ("runs", "cost_usd", "duration_ms", "turns", "sessions", "error_rate", "parallelism", "cost_per_turn_usd")

st.title("Overview", anchor=False)
at, filters = data.snapshot(), bar.chosen()
row = data.summary(at, FIGURES, filters).to_pylist()[0]
models, runs = data.models(at, filters=filters), data.runs(at, filters)
colours = looks(data.options(at).get("model", ()))
parts.card_grid(cards(row, FIGURES))
whole = runs.num_rows == row["runs"]
if not whole:
    st.info(f"The charts show the {runs.num_rows:,} dearest runs, the figures and the table of models rest on all {row['runs']:,}.")
with st.container(border=True):
    parts.chart("cost-models", data.model_rows(at, filters), colours, whole=whole)
for column, key in zip(st.columns(2), ("wall-api", "turns-cost"), strict=True):
    with column.container(border=True, height="stretch"):
        parts.chart(key, runs, colours, whole=whole)
st.subheader("Models", anchor=False)
parts.table(grids.grid(models, grids.MODELS, model="Model"), "What each model cost and its tokens, dearest first")
st.caption(f"Store: {plain(at.location)}")
