"""Every run in a table, in the order that matters; a chosen one opens."""

import streamlit as st

from app import data, grids, queries_screens
from app.filters import SEARCH
from app.screens import bar, parts

st.title("Runs", anchor=False)
filters = bar.chosen()
total = data.count(filters)
with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
    order = parts.pick("Order", {key: order.label for key, order in queries_screens.ORDERS.items()}, "order", width=260)
    shown = parts.columns_picker(grids.RUNS, grids.MORE_RUNS)
    pages = min(data.PAGES, -(-total // data.PAGE))
    number = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    parts.download_runs(filters)
runs = data.ask(queries_screens.runs, filters, order, data.PAGE, (number - 1) * data.PAGE)
for text in filters.values(SEARCH):
    found = data.ask(queries_screens.excerpts, tuple(runs["run_id"].to_pylist()), text)
    runs, shown = grids.with_excerpts(runs, found), ("excerpt", *shown)
rows = grids.grid(runs, shown)
first = (number - 1) * data.PAGE + 1
listed = data.PAGE * data.PAGES
cut = f" Listed are the first {listed:,} in this order; filters bring up others." if total > listed else ""
st.caption(
    f"Runs {first:,} to {first - 1 + runs.num_rows:,} of {total:,}. Choose a row to open its run; a click on a header sorts these.{cut}"
)
parts.run_table(rows, runs, "runs", "Runs with their reported cost, times, turns, model and outcome")
