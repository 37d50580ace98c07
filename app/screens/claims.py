"""What summaries claim, and on what evidence: across runs, per group, against cost, and each claim in a table."""

import streamlit as st

from app import data, grids, queries, queries_claims
from app.charts.base import counted
from app.filters import FILTERS
from app.grouping import group
from app.presentation import cards
from app.screens import bar, parts

FIGURES = ("runs_with_claim", "runs_benchmarked", "claimed_speedup_median", "claims")
GROUPS = ("model", "repo", "task", "experiment", "outcome", "agent", "agent-version")
DRAWN, LISTED = 60, 2_000

st.title("Claims", anchor=False)
st.caption("What agents say of their own work. Nothing here was measured by Tachograph.")
filters, options = bar.chosen(), data.options()
row = data.ask(queries.summary, filters, (), ("runs", *FIGURES)).to_pylist()[0]
found, runs = data.ask(queries_claims.count_claims, filters)
quantified, _ = data.ask(queries_claims.count_claims, filters, ("quantified",))
parts.card_grid(cards(row, FIGURES))
if not found:
    st.info("No summary of these runs claims to have made anything faster, smaller or cheaper.", icon=":material/info:")
    st.stop()

if quantified:
    with st.container(border=True):
        pick = parts.choice("Claims", {key: one.label for key, one in queries_claims.PICKS.items()}, "claims")
        parts.chart("claims-forest", data.ask(queries_claims.drawn_claims, filters, pick, DRAWN), {})
else:
    st.info("None of these claims states a figure.", icon=":material/info:")
if row["runs_with_claim"]:
    with st.container(border=True):
        by = parts.choice("Grouped by", {word: group(word).label for word in GROUPS if word not in FILTERS or word in options}, "claims-by")
        parts.chart("claims-evidence", data.ask(queries_claims.evidence_mix, filters, by), {})
    with st.container(border=True):
        headlines = data.ask(queries_claims.drawn_claims, filters, "headlines", data.MARKS)
        parts.chart("claims-cost", headlines, {}, whole=headlines.num_rows < data.MARKS)
st.header(f"{counted(found, 'claim')} of {counted(runs, 'run')}, {quantified:,} in figures, as written", anchor=False)
claims = data.ask(queries_claims.claims, filters, (), LISTED)
if claims.num_rows < found:
    st.caption(f"The {claims.num_rows:,} with the largest ratios of {found:,}. All of them: `tachograph claims --format csv -o claims.csv`")
parts.run_table(
    grids.claim_grid(claims), claims, "claims-table", "Each claim with its words, ratio, evidence and scope; a chosen row opens its run"
)
