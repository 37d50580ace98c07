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
chosen = st.dataframe(
    rows,
    key="runs",
    hide_index=True,
    column_config=parts.column_config(rows),
    placeholder="–",
    height=grids.grid_height(rows),
    on_select="rerun",
    selection_mode=["single-row", "single-cell"],
    alt="Every run with its reported cost, times, turns, model and outcome, dearest first",
)
run_id = grids.chosen_run(runs, chosen["selection"])
if run_id is not None:
    st.switch_page("screens/run.py", query_params={"run": run_id} | bar.parameters())
