"""Every run in a table, dearest first; a chosen one opens."""

import streamlit as st

from app import data, grids
from app.screens import bar, parts

st.title("Runs", anchor=False)
at, filters = data.snapshot(), bar.chosen()
[total] = data.summary(at, ("runs",), filters)["runs"].to_pylist()
runs = data.runs(at, filters)
rows = grids.grid(runs, grids.RUNS)
if runs.num_rows < total:
    st.info(f"These are the {runs.num_rows:,} dearest of {total:,} runs. All of them: `tachograph runs --format csv -o runs.csv`")
st.caption("Dearest first. Choose a row to open its run; a click on a header sorts.")
parts.run_table(rows, runs, "runs", "Every run with its reported cost, times, turns, model and outcome, dearest first")
