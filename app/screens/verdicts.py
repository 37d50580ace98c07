"""What runs claimed beside what benchmarks measured: across runs, per group, what a verified speedup cost, and what does not compare."""

import streamlit as st

from app.queries import measured as queries
from app.queries.grouping import group
from app.reports.measured_results import with_costs
from app.screens import cache
from app.screens.parts import filter_bar, live, widgets
from app.text import verdict_grids
from app.text.presentation import code_span, verdict_cards
from app.text.words.measured import EXAMPLE_TABLE, MEASURED_WITH, NOTHING_MATCHES, NOTHING_MEASURED, SHARES, TWO_DENOMINATORS, band_words
from schemas.catalogue.metrics_measured import QUADRANTS, VERDICT_METRICS

GROUPS = ("model", "agent", "evidence", "scope")
POINTS, LISTED = 1_000, 2_000

st.title("Verdicts", anchor=False)
st.caption("What agents claimed beside what benchmarks measured. Above 1×: better than the baseline.")
filters = filter_bar.chosen()
row = cache.ask(queries.totals, filters)
if row is None:
    is_empty = not cache.ask(queries.count)
    st.info(NOTHING_MEASURED if is_empty else NOTHING_MATCHES, icon=":material/info:")
    if is_empty:
        st.markdown(MEASURED_WITH)
        st.code(EXAMPLE_TABLE, language=None)
    st.code(cache.command("ingest RESULTS" if is_empty else "measurements --unjoined"), language=None)
    live.end_page()
widgets.card_grid(verdict_cards(row))
with st.container(border=True):
    widgets.chart("verdicts-pairs", cache.ask(queries.drawn, filters, POINTS), {})
if row["pairs"]:
    with st.container(border=True):
        by = widgets.choice("Group by", {word: group(word).label for word in GROUPS}, "verdicts-by")
        widgets.chart("verdicts-calibration", widgets.worded(cache.ask(queries.calibration, filters, by), by), {})
        calibrated = cache.ask(queries.summary, filters, (by,), tuple(VERDICT_METRICS), having="pairs")
        widgets.table(verdict_grids.group_grid(calibrated, verdict_grids.CALIBRATION, by), "Claimed and measured speedups of each group")
        st.caption(SHARES)

st.header("Cost per verified speedup", anchor=False, help=VERDICT_METRICS["cost_per_faster_usd"].meaning)
costs = with_costs(cache.ask(queries.summary, filters, ("agent", "model"), tuple(VERDICT_METRICS), having="runs_measured"))
widgets.table(verdict_grids.group_grid(costs, verdict_grids.COSTS), "Cost per verified speedup of each agent and model")
st.caption(TWO_DENOMINATORS)

if row["runs_compared"]:
    st.header("Claimed and measured", anchor=False)
    st.caption(f"{band_words()} Click a row to open the run.")
    compared = cache.ask(queries.verdicts, filters, queries.COMPARED, LISTED)
    alt = "Each run with its claimed and its measured speedup, the verdict, and what that makes of the claim."
    widgets.run_table(verdict_grids.verdict_grid(compared, verdict_grids.COMPARED), compared, "verdicts", alt)
if row["runs_compared"] < row["runs_measured"]:
    about = "A ratio is only made between values of the same metric, workload, model, machine and set-up."
    st.header("Without a measured ratio", anchor=False, help=about)
    widgets.table(verdict_grids.reason_grid(cache.ask(queries.reasons, filters)), "Why measured runs have no ratio, and how many runs")
    with st.expander("Runs without a measured ratio", icon=":material/table:"):
        rest = cache.ask(queries.verdicts, filters, queries.UNCOMPARED, LISTED)
        alt = "Each measured run without a ratio against the baseline, and why"
        widgets.run_table(verdict_grids.verdict_grid(rest, verdict_grids.UNCOMPARED), rest, "verdicts-uncompared", alt)
if any(row[key] for key in QUADRANTS):
    st.header("ISO-Bench quadrants", anchor=False, help="Measured against the reference, and judged by whether the bottleneck is the same.")
    labelled = cache.ask(queries.summary, filters, ("repo", "agent", "model"), tuple(VERDICT_METRICS), having="runs_labelled")
    widgets.table(verdict_grids.group_grid(labelled, verdict_grids.QUADRANTS), "Runs in each quadrant, by repository, agent and model")
st.caption(f"Measured values that belong to no run: {code_span(cache.command('measurements --unjoined'))}")
