"""What summaries claim, and on what evidence: across runs, per group, against cost, and each claim in a table."""

from dataclasses import replace

import streamlit as st

from app.queries import claims as claim_queries
from app.queries import runs as run_queries
from app.queries.filters.registry import CLAIM_FILTERS, FILTERS, MIN_CONFIDENCE
from app.queries.grouping import group
from app.screens import cache
from app.screens.parts import filter_bar, live, widgets
from app.text import grid_columns
from app.text.presentation import cards, code_span
from app.text.words.claims import hidden_words, partial_words
from schemas.rows.claim import ClaimKind

MEDIAN = "claimed_speedup_median"
FIGURES = ("runs_with_claim", "runs_benchmarked", MEDIAN, "claims")
GROUPS = ("model", "repo", "task", "experiment", "outcome", "agent", "agent-version")
LINES, POINTS, LISTED = 60, 1_000, 2_000

st.title("Claims", anchor=False)
st.caption("Claims extracted from agents' summaries. Not verified.")
filters, options = filter_bar.chosen(), cache.options()
how = f"{FILTERS[MIN_CONFIDENCE].name} 0 (under {filter_bar.MORE})"
if hidden := hidden_words(cache.ask(claim_queries.count_hidden, filters), how):
    st.caption(hidden)
row = cache.ask(run_queries.summary, filters, (), ("runs", *FIGURES, "runs_partial_claim")).to_pylist()[0]
is_known = (row["claims"] or 0) > LISTED and not any(map(filters.values, CLAIM_FILTERS))  # the runs know it; millions take long to count
kinds = {ClaimKind.QUANTIFIED: row["claims"]} if is_known else cache.ask(claim_queries.claims_by_kind, filters, LISTED + 1)
made = zip(cards(row, FIGURES), FIGURES, strict=True)
found, quantified = sum(kinds.values()), kinds.get(ClaimKind.QUANTIFIED, 0) or row["claims"]
widgets.card_grid([replace(card, note=partial_words(row) or card.note) if key == MEDIAN else card for card, key in made])
if not found:
    st.info("No performance claims found.", icon=":material/info:")
    live.end_page()

is_few, are_all = found <= LISTED, f"All claims ({found:,})" if found <= LISTED else "All claims"
with st.container(horizontal=True, vertical_alignment="center"):
    st.header(f"{quantified:,} quantified claim{'' if quantified == 1 else 's'}", anchor=False)
    every = st.toggle(are_all, not quantified, key="all-claims", bind="query-params", help="Include claims without a number.")
# which of millions of claims are the largest takes longer to find out than a screen should take unasked
name = "Claims" if is_few else f"Top {LISTED:,} by ratio"
with st.expander(name, icon=":material/table:", expanded=is_few, key=f"claims-list-{is_few}", on_change="rerun") as listed:
    if listed.open:
        claims = cache.ask(claim_queries.claims, filters, () if every or not quantified else (ClaimKind.QUANTIFIED,), LISTED)
        alt = "Each claim with its ratio, sentence, evidence, caveat and confidence, and its run. Click a row to read it in the summary."
        st.caption("Click a row to read the claim in its summary.")
        widgets.run_table(grid_columns.claim_grid(claims), claims, "claims-table", alt, "speedup")
if not is_few:
    st.caption(f"All claims: {code_span(cache.command('claims --format csv -o claims.csv'))}")

headlines = cache.ask(claim_queries.drawn_claims, filters, claim_queries.HEADLINES, POINTS)
if quantified:
    with st.container(border=True):
        pick = widgets.choice("Claims", {key: one.label for key, one in claim_queries.PICKS.items()}, "claims")
        is_drawn = pick == claim_queries.HEADLINES
        lines = headlines.slice(0, LINES) if is_drawn else cache.ask(claim_queries.drawn_claims, filters, pick, LINES)
        widgets.chart("claims-forest", lines, {})
else:
    st.info("None of these claims states a number.", icon=":material/info:")
if row["runs_with_claim"]:
    with st.container(border=True):
        by = widgets.choice("Group by", {word: group(word).label for word in GROUPS if word not in FILTERS or word in options}, "claims-by")
        widgets.chart("claims-evidence", widgets.worded(cache.ask(claim_queries.evidence_mix, filters, by), by), {})
    with st.container(border=True):
        rest = row["runs_with_claim"] - headlines.num_rows
        note = f"Showing the {headlines.num_rows:,} runs with the highest claims; {rest:,} more are not shown." if rest else ""
        widgets.chart("claims-cost", headlines, {}, whole=not rest, note=note)
