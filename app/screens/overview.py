"""Many runs at a glance: what they cost, how long they took, which model made it so, and how that changed."""

import streamlit as st

from app import data, grids, queries, queries_screens
from app.charts import density, looks, over
from app.presentation import cards, plain
from app.screens import bar, parts
from schemas.measures import MEASURES

FIGURES = ("runs", "cost_usd", "duration_ms", "turns", "sessions", "error_rate", "parallelism", "cost_per_turn_usd")
STEPS = 60

st.title("Overview", anchor=False)
filters, page = bar.chosen(), st.context.theme.type
row, options = data.ask(queries.summary, filters, (), FIGURES).to_pylist()[0], data.options()
parts.card_grid(cards(row, FIGURES))
parts.claims_line(filters)
colours, is_few = looks(options.get("model", ())), row["runs"] <= data.MARKS

with st.container(border=True):
    drawn = data.ask(queries.model_rows, filters, data.MARKS if is_few else parts.BARS)
    parts.chart("cost-models", drawn, colours, whole=is_few, note="" if is_few else f"The {parts.BARS} dearest of {row['runs']:,} runs.")
if is_few:
    runs = data.ask(queries.runs, filters, data.MARKS)
for column, key in zip(st.columns(2), density.AXES, strict=True):
    with column.container(border=True, height="stretch"):
        if is_few:
            parts.chart(key, runs, colours)
        else:
            x, y = density.AXES[key]
            cells = data.ask(queries_screens.density, filters, x.column, y.column, density.CELLS)
            parts.drawing(density.finding(key, row), density.TITLES[key], density.cells(cells, key, page), key)
with st.container(border=True):
    with st.container(horizontal=True, gap="small"):
        key = parts.pick("What", {key: measure.label for key, measure in MEASURES.items()}, "show")
        along = parts.pick("Along", parts.axes(options), "along", width=240)
    measure = MEASURES[key]
    if along not in queries_screens.AXES:
        parts.groups(measure, along, filters, colours)
    elif is_few:
        points = data.ask(queries_screens.series, filters, measure, along)
        caption = f"A point per run; the line is the running median, from {over.LONG} runs on. {measure.meaning}"
        parts.drawing(over.finding(points, measure, along), caption, over.points(points, measure, along, colours, page), "along")
    else:
        bands = data.ask(queries_screens.bands, filters, measure, along, STEPS)
        caption = f"The median of the runs of each time, and where eight in ten of them lie. {measure.meaning}"
        parts.drawing(over.finding(bands, measure, along), caption, over.bands(bands, measure, along, page), "along")
# a million runs have more model rows than a screen should count unasked: the list is open where it is quick
with st.expander("Models", icon=":material/smart_toy:", expanded=is_few, key=f"models-{is_few}", on_change="rerun") as models:
    if models.open:
        found = data.ask(queries.models, filters, grids.MODEL_GROUPS, grids.MODEL_FIGURES)
        parts.table(grids.grid(found, grids.MODELS, model="Model"), "What each model cost and its tokens, dearest first")
st.caption(f"Store: {plain(data.store().location)}")
